"""What every driver of LEDs must do: the suite that ours pass, and that anyone's driver can be held to.

A `LedBench` is a driver with somebody who looks at its chain. `leds(bench)` gives the checks one after the other, as
`hal.conformance` does for the key matrix:

    for check in conformance_leds.leds(bench):
        check()  # raises Broken, one sentence that says what the driver did wrong

In pytest: `@pytest.mark.parametrize("check", conformance_leds.LEDS, ids=conformance.name)`, then `check(bench)`.
Whole boards are held to their profile's order and current by `hal.conformance_boards`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from random import Random
from typing import NamedTuple

from hal import ws2812
from hal.conformance import Broken
from hal.ports import Leds

# Random frames that a check sends; they are the same every time.
_FRAMES = 20


class Shown(NamedTuple):
    """A frame that the chain took over (latched) at `t_us`: three bytes an LED, in the order of chain and wire."""

    t_us: int
    frame: bytes


class LedBench(NamedTuple):
    """A driver on a chain that is watched.

    `open`: opens the driver anew. `shown`: takes what the chain has latched since it was last asked, oldest first,
    once all that was sent has arrived. `now_us`: the clock of `Shown.t_us`. `late_us`: how much longer than its time
    on the wire a frame may take. `loss`: by how much a level may be lower than asked for, where the part in between
    has a table of its own. `crash`: leaves an open driver as the end of its process would. `misread`: how often the
    wire has left the data sheet so far.
    """

    led_count: int
    open: Callable[[], Leds]
    shown: Callable[[], list[Shown]]
    now_us: Callable[[], int]
    late_us: int = 1_000
    loss: int = 0
    crash: Callable[[Leds], None] | None = None
    misread: Callable[[], int] | None = None

    @property
    def dark(self) -> bytes:
        """A frame without light."""
        return bytes(3 * self.led_count)


LedCheck = Callable[[LedBench], None]


def leds(bench: LedBench) -> Iterator[partial[None]]:
    """Every check of a driver of `Leds`, ready to be called; its promise is the `__doc__` of its `func`."""
    return (partial(check, bench) for check in LEDS)


def opening_leaves_the_chain_dark(bench: LedBench) -> None:
    """Once open, the chain shows darkness, whatever it showed before, and has shown nothing else (case A28)."""
    bench.shown()
    with _opened(bench, look=False):
        seen = bench.shown()
    if not seen:
        raise Broken("opening shows nothing: what a crash has left on the chain stays lit")
    for _, frame in seen:
        _expect(bench, bench.dark, frame, "opening")


def each_led_is_at_its_place(bench: LedBench) -> None:
    """Each LED alone lights at its own place of the chain, the first and the last too (case A19)."""
    with _opened(bench) as driver:
        for led in range(bench.led_count):
            _send(bench, driver, bytes(3 * led) + b"\xff\xff\xff" + bytes(3 * (bench.led_count - led - 1)))


def each_colour_is_at_its_place(bench: LedBench) -> None:
    """The three bytes of an LED go out in the order they are given; colour order is applied before."""
    with _opened(bench) as driver:
        for place in range(3):
            _send(bench, driver, bytes(255 * (at == place) for at in range(3)) * bench.led_count)


def every_level_arrives(bench: LedBench) -> None:
    """All 256 levels arrive as they were asked for: no brightness, no gamma, no limit of the driver's (cases A7, A31).

    Where the bench allows for a loss a level may be lower, never higher, and never fall on the way up.
    """
    with _opened(bench) as driver:
        ramp = [_send(bench, driver, bytes([level]) * (3 * bench.led_count))[0] for level in range(256)]
    if sorted(ramp) != ramp:
        level = next(at for at in range(255) if ramp[at] > ramp[at + 1])
        raise Broken(f"level {level + 1} shows as {ramp[level + 1]}, darker than level {level} as {ramp[level]}")
    if ramp[0] != 0 or ramp[1] == 0:
        raise Broken(f"level 0 shows as {ramp[0]} and level 1 as {ramp[1]}: one is dark and the other is not")


def every_frame_is_shown_alone(bench: LedBench) -> None:
    """Each frame is shown once, whole and by itself; the next one replaces it, byte for byte."""
    random = Random(3)  # always the same frames
    with _opened(bench) as driver:
        for _ in range(_FRAMES):
            _send(bench, driver, random.randbytes(3 * bench.led_count))


def a_frame_is_shown_at_once(bench: LedBench) -> None:
    """A frame shows within its time on the wire and what the bench allows, without a second one to push it."""
    longest_us = ws2812.wire_us(bench.led_count) + bench.late_us
    with _opened(bench) as driver:
        for level in range(1, 6):
            sent_us = bench.now_us()
            driver.write(bytes([40 * level]) * (3 * bench.led_count))
            seen = bench.shown()
            if not seen:
                raise Broken("a frame is held back until another one comes")
            if (took_us := seen[0].t_us - sent_us) > longest_us:
                raise Broken(f"a frame shows {took_us} us after it was written, {longest_us} us are allowed")


def frames_on_each_others_heels_are_each_latched(bench: LedBench) -> None:
    """Frames written one right after the other are each shown, none joined to the next (cases A8, A33)."""
    random = Random(5)  # always the same frames
    frames = [random.randbytes(3 * bench.led_count) for _ in range(_FRAMES)]
    with _opened(bench) as driver:
        for frame in frames:
            driver.write(frame)
        seen = bench.shown()
    if len(seen) != len(frames):
        raise Broken(f"of {len(frames)} frames written without a pause {len(seen)} are shown: they lack a latch")
    for sent, (_, frame) in zip(frames, seen, strict=True):
        _expect(bench, sent, frame, "without a pause")


def the_same_frame_is_sent_again(bench: LedBench) -> None:
    """A frame that is already shown goes out again, so that a fault on the wire heals (case A20)."""
    frame = bytes(range(1, 4)) * bench.led_count
    with _opened(bench) as driver:
        _send(bench, driver, frame)
        _send(bench, driver, frame)


def a_frame_of_another_length_is_refused(bench: LedBench) -> None:
    """A frame with an LED too few or too many raises ValueError, and the chain goes on showing the last one (A8)."""
    with _opened(bench) as driver:
        _send(bench, driver, b"\x11" * (3 * bench.led_count))
        for leds_sent in (0, bench.led_count - 1, bench.led_count + 1):
            with suppress(ValueError):
                driver.write(b"\x77" * (3 * leds_sent))
                raise Broken(f"a frame for {leds_sent} LEDs is taken by a chain of {bench.led_count}")
        if seen := bench.shown():
            raise Broken(f"a frame that was refused is shown all the same: {seen[-1].frame[:6].hex()}..")


def closing_leaves_the_chain_dark(bench: LedBench) -> None:
    """Close leaves the chain dark, may be called twice, and the chain can then be opened again (case A28)."""
    for _ in range(2):
        with _opened(bench) as driver:
            _send(bench, driver, b"\xff" * (3 * bench.led_count))
            driver.close()
            driver.close()
            seen = bench.shown()
        if not seen:
            raise Broken("closing leaves the last frame on the chain")
        _expect(bench, bench.dark, seen[-1].frame, "closing")


def a_start_after_a_crash_blanks_first(bench: LedBench) -> None:
    """After a process that ended without closing, the first thing a new one shows is darkness (case A28).

    Checked where the bench can let a driver's process end.
    """
    if bench.crash is None:
        return
    driver = bench.open()
    driver.write(b"\xff" * (3 * bench.led_count))
    bench.crash(driver)
    opening_leaves_the_chain_dark(bench)


def the_wire_keeps_its_times(bench: LedBench) -> None:
    """No pulse leaves the data sheet and no frame runs into another, where the bench can tell (cases A15, A33)."""
    if bench.misread is None:
        return
    before, random = bench.misread(), Random(7)  # always the same frames
    with _opened(bench) as driver:
        for _ in range(_FRAMES):
            driver.write(random.randbytes(3 * bench.led_count))
        bench.shown()
    if wrong := bench.misread() - before:
        raise Broken(f"{wrong} pulses or pauses are outside of what a WS2812 reads")


LEDS: tuple[LedCheck, ...] = (
    opening_leaves_the_chain_dark,
    each_led_is_at_its_place,
    each_colour_is_at_its_place,
    every_level_arrives,
    every_frame_is_shown_alone,
    a_frame_is_shown_at_once,
    frames_on_each_others_heels_are_each_latched,
    the_same_frame_is_sent_again,
    a_frame_of_another_length_is_refused,
    closing_leaves_the_chain_dark,
    a_start_after_a_crash_blanks_first,
    the_wire_keeps_its_times,
)


@contextmanager
def _opened(bench: LedBench, *, look: bool = True) -> Iterator[Leds]:
    """The driver, open; what opening showed is looked away from unless it is what is checked."""
    driver = bench.open()
    try:
        if look:
            bench.shown()
        yield driver
    finally:
        with suppress(Exception):  # what a check has found is told, not what follows from it
            driver.close()
            bench.shown()


def _send(bench: LedBench, driver: Leds, frame: bytes) -> bytes:
    """Write one frame and see it alone; returns what was seen."""
    driver.write(frame)
    seen = bench.shown()
    if len(seen) != 1:
        raise Broken(f"one frame was written and {len(seen)} are shown")
    _expect(bench, frame, seen[0].frame, "a frame")
    return seen[0].frame


def _expect(bench: LedBench, sent: bytes, seen: bytes, what: str) -> None:
    if len(seen) == len(sent) and all(0 <= asked - got <= bench.loss for asked, got in zip(sent, seen, strict=True)):
        return
    wrong = [at for at, pair in enumerate(zip(sent, seen, strict=False)) if not 0 <= pair[0] - pair[1] <= bench.loss]
    led = wrong[0] // 3 if wrong else min(len(sent), len(seen)) // 3
    asked, got = (data[3 * led : 3 * led + 3].hex() or "nothing" for data in (sent, seen))
    raise Broken(f"{what}: LED {led} of the chain shows {got} where {asked} was sent; {len(wrong)} bytes differ")
