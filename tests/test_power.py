"""The supply: how a machine says that it sags, what the board does then, and that no scene ever asks too much."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from firmware.lights import Lights
from firmware.snapshot import Countdown, MenuLight, Pattern, Pips, Snapshot, Touch
from hal.board import SUPPLY_HELD_US, SUPPLY_PERIOD_US, MatrixBoard
from hal.errors import PartError
from hal.pixels import Limiter, Pixels
from hal.profile import Profile, load, shipped
from hal.supply import HWMON, THROTTLED, Supply
from hal.wiring import EdgeStripsSection
from tests.light import MS, S
from tests.test_board import Chain, Contacts

SIM = load(shipped("sim"))
WHITE = b"\xff" * 147
FRAME_US = 16_667


def profile(supply_ma: int = 3_000, per_cell: int = 1, edges: tuple[int, int] = (0, 0)) -> Profile:
    """The simulated board with another supply, several LEDs a cell, strips at its edges."""
    return SIM._replace(
        power=msgspec.structs.replace(SIM.power, supply_ma=supply_ma),
        leds=msgspec.structs.replace(SIM.leds, per_cell=per_cell),
        edge_strips=EdgeStripsSection(a=edges[0], b=edges[1]),
    )


def drawn_ma(chain: bytes) -> float:
    """What a GRB chain draws by the model of case H6, worked out anew: 16, 11, 15 mA, 1 mA idle, x 1.25."""
    green, red, blue = (sum(chain[at::3]) for at in range(3))
    return 1.25 * (len(chain) / 3 + (16 * red + 11 * green + 15 * blue) / 255)


# -- what the machine says ---------------------------------------------------------------------------------------------


def sensor(root: Path, alarm: str, *, name: str = "rpi_volt", file: str = "in0_lcrit_alarm") -> None:
    """A voltage sensor of the kernel's, below a root."""
    folder = root / HWMON / "hwmon2"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "name").write_text(f"{name}\n")
    (folder / file).write_text(f"{alarm}\n")


def throttled(root: Path, mask: str) -> None:
    """The firmware's word, below a root."""
    (root / THROTTLED).parent.mkdir(parents=True, exist_ok=True)
    (root / THROTTLED).write_text(mask)


@pytest.mark.parametrize("file", ["in0_lcrit_alarm", "in1_lcrit_alarm"])
@pytest.mark.parametrize(("alarm", "low"), [("0", False), ("1", True)])
def test_the_kernels_sensor_tells_a_sag(tmp_path: Path, file: str, alarm: str, low: bool) -> None:
    """The alarm of the sensor rpi_volt is under-voltage, whatever its channel's number (case H7)."""
    sensor(tmp_path, alarm, file=file)
    assert (True, low) == ((supply := Supply(tmp_path)).known, supply.low())


def test_another_sensor_is_not_asked(tmp_path: Path) -> None:
    """A sensor of another name says nothing about the supply."""
    sensor(tmp_path, "1", name="cpu_thermal")
    assert (False, False) == ((supply := Supply(tmp_path)).known, supply.low())


@pytest.mark.parametrize(
    ("mask", "known", "low"),
    [
        ("0", True, False),
        ("0x1", True, True),
        ("50005\n", True, True),
        ("throttled=0x50005", True, True),
        ("0x50000", True, False),  # it was low once, and is not now
        ("0x4", True, False),  # throttled, which is heat
        ("", False, False),
        ("garbage", False, False),
    ],
)
def test_the_firmwares_word_tells_a_sag(tmp_path: Path, mask: str, known: bool, low: bool) -> None:
    """Bit 0 of get_throttled is under-voltage now; its other bits, and what is no mask, are not (cases A35, H7)."""
    throttled(tmp_path, mask)
    assert (known, low) == ((supply := Supply(tmp_path)).known, supply.low())


def test_a_machine_without_either_cannot_tell(tmp_path: Path) -> None:
    """Where there is nothing to ask, nothing is said, and the health has no such part."""
    assert (False, False) == ((supply := Supply(tmp_path)).known, supply.low())
    assert {"matrix", "leds"} == set(MatrixBoard(SIM, Contacts(), Chain(), supply).health())


# -- what the board does -----------------------------------------------------------------------------------------------


def shown_ma(board: MatrixBoard, chain: Chain, start_us: int, end_us: int) -> list[float]:
    """The current of each frame while the board shows white."""
    first = len(chain.frames)
    for t_us in range(start_us, end_us, FRAME_US):
        board.show(WHITE, t_us)
    return [drawn_ma(frame) for frame in chain.frames[first:]]


def test_light_is_halved_while_the_supply_sags_and_a_minute_longer(tmp_path: Path) -> None:
    """White keeps to the budget, to half of it within a second of a sag, and comes back without a step a minute after
    the last sag; the health says so meanwhile (cases G17, H7).
    """
    throttled(tmp_path, "0x0")
    chain = Chain()
    board = MatrixBoard(SIM, Contacts(), chain, Supply(tmp_path))
    assert 2_000 < max(shown_ma(board, chain, 0, 3 * S)) <= 2_100
    assert board.health()["power"] == (True, "the supply's voltage holds")
    throttled(tmp_path, "0x50005")
    sagging = shown_ma(board, chain, 3 * S, 10 * S)
    assert max(sagging[SUPPLY_PERIOD_US // FRAME_US + 2 :]) <= 1_050
    assert min(sagging) > 1_000
    power = board.health()["power"]
    assert (False, True) == (power.ok, "light is at half of its current" in power.text)
    throttled(tmp_path, "0x50000")
    recovering = shown_ma(board, chain, 10 * S, 72 * S)
    assert max(recovering[: (SUPPLY_HELD_US - 2 * S) // FRAME_US]) <= 1_050
    assert 2_000 < recovering[-1] <= 2_100
    assert max(after - before for before, after in pairwise(recovering)) < 0.05 * 2_100
    assert board.health()["power"] == (True, "the supply's voltage holds again")


def test_a_sag_at_power_up_halves_the_first_frames(tmp_path: Path) -> None:
    """Where the voltage is low from the start no frame passes half of the budget, even after LEDs that failed."""
    throttled(tmp_path, "0x50005")
    chain = Chain()
    board = MatrixBoard(SIM, Contacts(), chain, Supply(tmp_path))
    assert max(shown_ma(board, chain, 0, S // 2)) <= 1_050
    chain.fault = PartError("unplugged")
    assert board.show(WHITE, S // 2) is False
    chain.fault = None
    assert max(shown_ma(board, chain, S // 2 + FRAME_US, S - FRAME_US)) <= 1_050


@pytest.mark.parametrize("supply_ma", [131, 200, 262, 3_000])
def test_half_of_a_small_budget_still_shows_what_is_lit(supply_ma: int) -> None:
    """Halved, the lowest visible level of every cell stays: a sagging supply never makes the board dark."""
    limiter = Limiter(profile(supply_ma))
    state = limiter.start._replace(halved=True)
    for t_us in range(0, S, FRAME_US):
        out, state = limiter.step(WHITE, t_us, state)
        assert min(out) >= 3
        assert drawn_ma(out) <= max(0.35 * supply_ma, drawn_ma(b"\3" * 147)) + 1e-6
    assert state.halved


# -- several LEDs a cell, strips at the edges --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "dark_ma", "white_ma"),
    [
        ({"led_type": "ws2812b"}, 1, 43),
        ({"led_type": "ws2812b-v5"}, 1, 37),
        ({"led_type": "unknown"}, 1, 61),
        ({"channel_ma": (5.0, 4.0, 3.0), "idle_ma": 0.5}, 0.5, 12.5),
        ({"led_type": "unknown", "idle_ma": 2.0}, 2, 62),
    ],
)
def test_what_an_led_draws_is_data(told: dict[str, Any], dark_ma: float, white_ma: float) -> None:
    """The type of LED says what one draws, and whoever has measured his own says it channel by channel: nobody is asked
    for a figure an LED (cases H4, H5). A quarter is added.
    """
    power = msgspec.structs.replace(SIM.power, **({"channel_ma": None, "idle_ma": None} | told))
    limiter = Limiter(SIM._replace(power=power))
    assert [1.25 * 49 * dark_ma, 1.25 * 49 * white_ma] == [limiter.current_ma(bytes(147)), limiter.current_ma(WHITE)]


def test_every_led_of_the_chain_counts() -> None:
    """The model counts each LED under a cell and each of the strips, lit and idle."""
    wide = profile(per_cell=4, edges=(7, 9))
    assert wide.led_count == 4 * 49 + 16
    assert len(wide.lights) == wide.led_count
    limiter = Limiter(wide)
    assert limiter.current_ma(bytes(3 * wide.led_count)) == 1.25 * wide.led_count
    assert limiter.current_ma(b"\xff" * (3 * wide.led_count)) == 1.25 * 43 * wide.led_count


def test_the_leds_of_a_cell_show_its_colour_and_strips_theirs() -> None:
    """Each LED under a cell gets its colour, in chain order; the strips follow, dark unless a frame has them."""
    wide = profile(per_cell=3, edges=(2, 1))._replace(chain=(48, *range(48)))
    pixels = Pixels(wide._replace(leds=msgspec.structs.replace(wide.leds, gamma=1.0, colour_order="RGB")))
    frame = bytes(range(100, 247))
    chain = pixels.chain(frame)
    assert frame[-3:] * 3 + frame[:3] * 3 == chain[:18]
    assert chain[-9:] == bytes(9)
    assert frame == pixels.cells(chain)
    assert chain[:-9] + b"abcdefghi" == pixels.chain(frame + b"abcdefghi")
    with pytest.raises(ValueError, match="a frame of 150 bytes where 147 are wanted"):
        pixels.chain(frame + b"abc")


def test_the_wire_of_a_wide_board_is_read_back_by_cell() -> None:
    """What the LEDs got is told by cell, first frame or none, and after the end, whatever else is on the chain."""
    board, frame = MatrixBoard(profile(per_cell=3, edges=(2, 1)), Contacts(), Chain()), b"\xff\0\0" + bytes(144)
    assert bytes(147) == board.wire()
    board.show(frame, 0)
    assert frame == board.wire()
    board.close()
    assert bytes(147) == board.wire()


# -- every scene -------------------------------------------------------------------------------------------------------

PHASES = ("attract", "lobby", "play", "paused", "menu", "result", "safe", "replay")


def scene(rng: Random, t_us: int) -> Snapshot:
    """Anything that the table could hand to the lights at this time, and much that it never would."""
    some_us = lambda: t_us - rng.randrange(3 * S)  # noqa: E731
    side = lambda: rng.choice(("a", "b"))  # noqa: E731
    cells = rng.sample(range(49), 6)
    return Snapshot(
        phase=rng.choice(PHASES),
        phase_us=some_us(),
        cells="".join(rng.choices("abxyAB*.", weights=[rng.random() for _ in range(8)], k=49)),
        mover=side(),
        last_cell=cells[0],
        last_us=some_us(),
        touches=tuple(Touch(cell, some_us(), t_us + S, None, side()) for cell in cells[: rng.randrange(4)]),
        patterns=(Pattern(cells[5], rng.choice(("refused", "hold")), some_us(), side()),),
        low_us=some_us(),
        starter=side(),
        lot_us=some_us(),
        winner=side(),
        line=tuple(cells[:4]),
        fault_us=some_us() if rng.random() < 0.2 else None,
        menu=tuple(MenuLight(cell, side(), rng.random() < 0.5, rng.random() < 0.5) for cell in cells),
        asked_us=some_us(),
        pips=Pips((rng.randrange(8), rng.randrange(8)), (1, 1), t_us + S) if rng.random() < 0.3 else None,
        countdown=Countdown(t_us, t_us + 20 * S) if rng.random() < 0.2 else None,
    )


BOARDS = {
    "as shipped": profile(),
    "a phone charger": profile(supply_ma=500),
    "hardly enough": profile(supply_ma=131),
    "three LEDs a cell and strips": profile(supply_ma=2_000, per_cell=3, edges=(14, 14)),
}


@pytest.mark.long
@pytest.mark.parametrize("name", BOARDS)
def test_no_scene_and_no_transition_passes_the_budget(name: str, seed: int, prove: bool) -> None:
    """100,000 random scenes, each cut into the next at a random moment, sags included: no frame passes the budget, nor
    half of it while the supply sags, and none rises by more than the supply's slew and what may always come at once.
    """
    found, rng = BOARDS[name], Random(f"{seed} {name}")
    pixels, limiter, lights = Pixels(found), Limiter(found), Lights()
    budget_ma, least_ma = found.power.budget_ua / 1000, drawn_ma(b"\3" * (3 * found.led_count))
    free_ma = max(1.25 * 42 * found.leds.per_cell, least_ma - 1.25 * found.led_count, budget_ma / 10)
    t_us, state, last_ma, last_us, halved = 5 * S, limiter.start, 1.25 * found.led_count, 5 * S, False
    for _ in range(25_000 if prove else 250):
        snapshot = scene(rng, t_us)
        if rng.random() < 0.05:
            halved = not halved
            state = state._replace(halved=halved)
        for _ in range(rng.randrange(1, 4)):
            chain, state = limiter.step(pixels.chain(lights.frame(snapshot, t_us)), t_us, state)
            ma = drawn_ma(chain)
            assert ma <= (max(budget_ma / 2, least_ma) if halved else budget_ma) + 1e-6
            assert ma <= max(last_ma, 0) + free_ma + 20 * (t_us - last_us) / MS + 1e-6
            last_ma, last_us = ma, t_us
            t_us += rng.choice((1, 2_000, FRAME_US, 33_333, 400_000))
