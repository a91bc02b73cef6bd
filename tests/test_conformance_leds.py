"""The suite for drivers of LEDs: ours pass it, and drivers that are wrong in one way each do not."""

# ruff: noqa: ARG005 - what replaces a method takes its arguments

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from inspect import isfunction

import msgspec
import pytest

from hal import conformance, conformance_boards, conformance_leds, ws2812
from hal.conformance import Broken
from hal.conformance_boards import BOARDS, BoardBench, BoardCheck
from hal.conformance_leds import LEDS, LedBench, LedCheck, Shown
from hal.pixels import Limiter, LimiterState
from hal.ports import Leds
from hal.profile import Profile, load, shipped
from hal.wiring import EdgeStripsSection
from hal.ws2812 import Ws2812Leds
from sim.board import SimBoard
from sim.clock import VirtualClock
from sim.faults import Faults
from sim.strip import Strip

COUNT = 12
SIM = load(shipped("sim"))
Transfer = Callable[[bytes], None]
Driver = Callable[[Transfer], Leds]


class Eyes:
    """Looks at a strip on a virtual clock."""

    def __init__(self, strip: Strip, clock: VirtualClock) -> None:
        self.strip, self.clock = strip, clock
        self._seen: list[Shown] = []
        strip.on_latch.append(lambda t_us, frame: self._seen.append(Shown(t_us, frame)))

    def transfer(self, data: bytes) -> None:
        """A bus that blocks while bytes are on the wire."""
        self.strip.transfer(data, self.clock.now_us())
        self.clock.advance_to(self.strip.busy_until_us)

    def shown(self) -> list[Shown]:
        """What was latched since the last look; lets enough time pass for all to arrive."""
        self.clock.advance_to(max(self.clock.now_us(), self.strip.busy_until_us) + 400)
        self.strip.settle(self.clock.now_us())
        seen, self._seen = self._seen, []
        return seen


def ours(transfer: Transfer) -> Leds:
    """The driver of this project, as every place that opens it does."""
    return Ws2812Leds(transfer, COUNT).blank()


def simulator(driver: Driver = ours, faults: Faults = Faults()) -> LedBench:  # noqa: B008
    """A driver on the simulated strip, whose wire brings red first so that it reads like the frame."""
    clock = VirtualClock()
    strip = Strip(range(COUNT), order="RGB", spi_hz=ws2812.SPI_HZ, faults=faults)
    eyes = Eyes(strip, clock)
    return LedBench(
        COUNT,
        lambda: driver(eyes.transfer),
        eyes.shown,
        clock.now_us,
        crash=lambda _: None,
        misread=lambda: strip.violations + strip.early_writes,
    )


@pytest.mark.parametrize("check", LEDS, ids=conformance.name)
def test_our_driver_passes_on_the_simulated_strip(check: LedCheck) -> None:
    """The driver that the simulated board uses keeps every promise."""
    check(simulator())


@pytest.mark.parametrize("check", LEDS, ids=conformance.name)
def test_our_driver_passes_on_a_line_that_idles_high(check: LedCheck) -> None:
    """So it does on a line that idles high, whose pulses between frames are the line's own (case A19)."""
    check(simulator(faults=Faults(idle_high=True))._replace(misread=None))


def test_every_check_promises_something_and_is_in_the_suite() -> None:
    """Each public check of the modules is in its suite, with a promise of one sentence."""
    for module, suite in ((conformance_leds, LEDS), (conformance_boards, BOARDS)):
        defined = [
            function
            for name, function in vars(module).items()
            if isfunction(function) and not name.startswith("_") and function.__annotations__.get("return") == "None"
        ]
        assert set(defined) == set(suite)
        assert all(check.__doc__ for check in suite)
        assert len({conformance.name(check) for check in suite}) == len(suite)


# -- drivers that are wrong --------------------------------------------------------------------------------------------


class Wrong:
    """A right driver, for others to get one thing wrong."""

    def __init__(self, transfer: Transfer) -> None:
        self.right = ours(transfer)

    def write(self, frame: bytes) -> None:
        if len(frame) != 3 * COUNT:
            raise ValueError("a frame of another length")
        self.right.write(self.wire(frame))

    def wire(self, frame: bytes) -> bytes:
        return frame

    def close(self) -> None:
        self.right.close()


class OffByOne(Wrong):
    """Each light goes to the next LED."""

    def wire(self, frame: bytes) -> bytes:
        return frame[-3:] + frame[:-3]


class Reversed(Wrong):
    """The chain is fed from its end."""

    def wire(self, frame: bytes) -> bytes:
        return b"".join(frame[at : at + 3] for at in range(len(frame) - 3, -1, -3))


class LastLost(Wrong):
    """The last LED is forgotten."""

    def wire(self, frame: bytes) -> bytes:
        return frame[:-3] + bytes(3)


class ColoursSwapped(Wrong):
    """Red and green change places."""

    def wire(self, frame: bytes) -> bytes:
        return b"".join(bytes((frame[at + 1], frame[at], frame[at + 2])) for at in range(0, len(frame), 3))


class SecondGamma(Wrong):
    """A gamma of its own (case A7)."""

    def wire(self, frame: bytes) -> bytes:
        return bytes(round((value / 255) ** 2.2 * 255) for value in frame)


class OwnBrightness(Wrong):
    """The library's brightness at one half (case A31)."""

    def wire(self, frame: bytes) -> bytes:
        return bytes(value * 129 >> 8 for value in frame)


class Brighter(Wrong):
    """Makes up for dim LEDs, above the current limit."""

    def wire(self, frame: bytes) -> bytes:
        return bytes(min(255, value * 2) for value in frame)


class OneBehind(Wrong):
    """Shows each frame when the next one comes."""

    def __init__(self, transfer: Transfer) -> None:
        super().__init__(transfer)
        self._held = bytes(3 * COUNT)

    def wire(self, frame: bytes) -> bytes:
        held, self._held = self._held, frame
        return held


class Late(Wrong):
    """Waits for a pause between frames before it sends one, 20 ms of it (case B8)."""

    def __init__(self, transfer: Transfer) -> None:
        def slow(data: bytes) -> None:
            transfer(bytes(6_000))
            transfer(data)

        super().__init__(slow)


class NeverTwice(Wrong):
    """Leaves a frame out that the chain shows already."""

    def __init__(self, transfer: Transfer) -> None:
        super().__init__(transfer)
        self._last = b""

    def write(self, frame: bytes) -> None:
        if frame != self._last:
            super().write(frame)
            self._last = frame


class PixelByPixel(Wrong):
    """Sends the whole chain for each LED that is set (case B6)."""

    def write(self, frame: bytes) -> None:
        for led in range(1, COUNT + 1):
            super().write(frame[: 3 * led].ljust(len(frame), b"\0"))


class AnyLength(Wrong):
    """Pads and cuts whatever comes."""

    def write(self, frame: bytes) -> None:
        self.right.write(frame[: 3 * COUNT].ljust(3 * COUNT, b"\0"))


class NoDarkClose(Wrong):
    """Leaves the last frame on the chain."""

    def close(self) -> None:
        pass


class NoLatch:
    """Sends the bits of a frame and not the silence that shows it."""

    def __init__(self, transfer: Transfer) -> None:
        self._transfer, self._open = transfer, True
        transfer(ws2812.encode(bytes(3 * COUNT)))

    def write(self, frame: bytes) -> None:
        if len(frame) != 3 * COUNT:
            raise ValueError("a frame of another length")
        self._transfer(ws2812.encode(frame, idles_high=False).strip(b"\0"))

    def close(self) -> None:
        if self._open:
            self._open = False
            self.write(bytes(3 * COUNT))


class LightsUp(Wrong):
    """Greets with all colours when it opens."""

    def __init__(self, transfer: Transfer) -> None:
        super().__init__(transfer)
        self.right.write(b"\x40" * (3 * COUNT))
        self.right.write(bytes(3 * COUNT))


def leaves_what_was_there(transfer: Transfer) -> Leds:
    """Opens the bus and sends nothing."""
    return Ws2812Leds(transfer, COUNT)


def short_symbols(transfer: Transfer) -> Leds:
    """Sends a 1 as a pulse that no data sheet allows."""
    return Ws2812Leds(lambda data: transfer(data.replace(b"\xdb\x6d\xb6", b"\x9f\x6d\xb6")), COUNT).blank()


WRONG: dict[Driver, str] = {
    OffByOne: "each_led_is_at_its_place",
    Reversed: "each_led_is_at_its_place",
    LastLost: "each_led_is_at_its_place",
    ColoursSwapped: "each_colour_is_at_its_place",
    SecondGamma: "every_level_arrives",
    OwnBrightness: "every_level_arrives",
    Brighter: "every_level_arrives",
    OneBehind: "every_frame_is_shown_alone",
    Late: "a_frame_is_shown_at_once",
    NeverTwice: "the_same_frame_is_sent_again",
    PixelByPixel: "every_frame_is_shown_alone",
    AnyLength: "a_frame_of_another_length_is_refused",
    NoDarkClose: "closing_leaves_the_chain_dark",
    NoLatch: "frames_on_each_others_heels_are_each_latched",
    LightsUp: "opening_leaves_the_chain_dark",
    leaves_what_was_there: "opening_leaves_the_chain_dark",
    short_symbols: "the_wire_keeps_its_times",
}


@pytest.mark.parametrize("driver", WRONG, ids=lambda driver: driver.__name__)
def test_a_wrong_driver_is_rejected(driver: Driver) -> None:
    """A driver that is wrong in one way is rejected by the check for it, in a sentence."""
    broken = rejected(simulator(driver))
    assert WRONG[driver] in broken
    assert broken[WRONG[driver]].count("\n") == 0


def rejected(bench: LedBench) -> dict[str, str]:
    """What the checks say of a driver, by name."""
    found = {}
    for check in conformance_leds.leds(bench):
        try:
            check()
        except Broken as broken:
            found[conformance.name(check)] = str(broken)
    return found


def test_a_driver_that_is_late_by_a_queue_is_rejected() -> None:
    """A driver that shows nothing until it is written to again is named so."""

    class Held(Wrong):
        """Keeps the latest frame back."""

        def __init__(self, transfer: Transfer) -> None:
            super().__init__(transfer)
            self.queue: deque[bytes] = deque()

        def write(self, frame: bytes) -> None:
            if len(frame) != 3 * COUNT:
                raise ValueError("a frame of another length")
            self.queue.append(frame)
            if len(self.queue) > 1:
                self.right.write(self.queue.popleft())

    assert "held back until another one comes" in rejected(simulator(Held))["a_frame_is_shown_at_once"]


# -- whole boards ------------------------------------------------------------------------------------------------------


def board(profile: Profile, wired: Profile | None = None) -> BoardBench:
    """The simulated board by a profile, on a chain as another one has it."""
    clock = VirtualClock()
    made = SimBoard(wired or profile, clock)
    chain = Strip(range(profile.led_count), order="RGB", spi_hz=profile.leds.spi_hz)
    eyes = Eyes(chain, clock)
    made.strip.transfer = lambda data, t_us: chain.transfer(data, t_us)  # type: ignore[method-assign]
    return BoardBench(profile, lambda: made, eyes.shown, clock.now_us)


WIDE = SIM._replace(
    leds=msgspec.structs.replace(SIM.leds, per_cell=2, colour_order="BRG"),
    edge_strips=EdgeStripsSection(a=7, b=7),
    chain=tuple(reversed(range(49))),
)


@pytest.mark.parametrize("profile", [SIM, WIDE], ids=["as shipped", "two LEDs a cell"])
@pytest.mark.parametrize("check", BOARDS, ids=conformance.name)
def test_the_simulated_board_passes(check: BoardCheck, profile: Profile) -> None:
    """A board lights its cells by its profile, within its budget, and goes dark."""
    check(board(profile))


def leds(**values: object) -> Profile:
    """The simulated board with other LEDs than its profile says."""
    return SIM._replace(leds=msgspec.structs.replace(SIM.leds, **values))


@pytest.mark.parametrize(
    "wired",
    [SIM._replace(chain=(48, *range(48))), SIM._replace(chain=SIM.chain[::-1]), leds(colour_order="RGB")],
    ids=["off by one", "reversed", "colours"],
)
def test_a_board_wired_otherwise_is_rejected(wired: Profile) -> None:
    """A chain that runs otherwise than its profile says, or takes colours otherwise, is told from the right one."""
    with pytest.raises(Broken, match=r"cell \d+ in red lights bytes"):
        conformance_boards.each_cell_lights_its_own_leds(board(SIM, wired))


def test_a_board_without_its_limiter_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """A board that lets every frame through asks for too much in its first one."""
    monkeypatch.setattr(Limiter, "step", lambda self, chain, t_us, state: (chain, LimiterState(t_us, 0)))
    with pytest.raises(Broken, match="frame 1 of white draws 2634 mA, the budget is 2100 mA"):
        conformance_boards.no_frame_asks_too_much(board(SIM))


def test_a_board_that_is_held_too_low_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limiter that never lets go is told too: light is what the board is for."""
    original = Limiter.step
    monkeypatch.setattr(
        Limiter, "step", lambda self, chain, t_us, state: original(self, chain, t_us, state._replace(halved=True))
    )
    with pytest.raises(Broken, match=r"white draws 10\d\d mA in the end, of 2100 mA"):
        conformance_boards.no_frame_asks_too_much(board(SIM))


def test_a_board_that_stays_lit_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """A board that closes without darkness is named."""
    monkeypatch.setattr(Ws2812Leds, "close", lambda self: None)
    with pytest.raises(Broken, match="a closed board"):
        conformance_boards.closing_leaves_the_board_dark(board(SIM))
