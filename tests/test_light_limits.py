"""What the whole board shows stays visible on the dimmest board there may be, and within the current of the supply."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import msgspec
import pytest

from firmware.attract import WEATHER_US
from firmware.lights import Lights
from firmware.miniature import miniature
from firmware.snapshot import Countdown, MenuLight, Snapshot
from hal.pixels import Limiter, Pixels
from hal.profile import VISIBLE, Profile, load, shipped
from tests.light import LIGHTS, MS, S, at, board, frames

SIM = load(shipped("sim"))
BUSY = ("abxyAB." * 7)[:49]
GAME = board(a1="a", c1="b", b2="x", c2="y", d3="A", e3="B", f4="*", d4="a", e5="a", f6="a", g6="b", c7="y")
PLAY = Snapshot(phase="play", cells=GAME, mover="a")
LATE = PLAY._replace(countdown=Countdown(0, 20 * S))
MENU = tuple(MenuLight(cell, "a" if cell < 7 else "b", cell % 7 == 1, False, cell % 2 == 0)
             for cell in (*range(7), *range(42, 49)))  # fmt: skip

# Everything that fills the board for a time: a snapshot, and from when to when it shows.
RUNS: dict[str, tuple[Snapshot, int, int]] = {
    "countdown, a": (LATE, 0, 22 * S),
    "countdown, b": (LATE._replace(mover="b", cells=BUSY), 0, 22 * S),
    "countdown, empty": (LATE._replace(cells="." * 49), 0, 22 * S),
    "countdown, full": (LATE._replace(cells="a" * 49), 0, 22 * S),
    "cleaning": (Snapshot(phase="paused", cleans=Countdown(0, 30 * S)), 0, 30 * S),
    "replay": (PLAY._replace(phase="replay"), 0, 13 * S),
    "its end": (PLAY._replace(phase="replay", winner="a", line=(16, 24, 32, 40), last_cell=24), 0, 13 * S),
    "menu": (Snapshot(phase="menu", menu=MENU), 0, S),
} | {
    f"miniature {number}": (
        Snapshot(phase_us=number * S),
        number * S + WEATHER_US - S,
        number * S + WEATHER_US + miniature(number).end_us + S,
    )
    for number in range(6)
}


def dim(pct: int, gamma: float) -> Profile:
    """The simulated board at another brightness and gamma."""
    return SIM._replace(leds=msgspec.structs.replace(SIM.leds, brightness_pct=pct, gamma=gamma))


def always_lit(snapshot: Snapshot) -> list[int]:
    """The cells that mean something as long as the snapshot lasts."""
    if snapshot.phase == "menu":
        return [light.cell for light in snapshot.menu]
    return [number for number, char in enumerate(snapshot.cells) if char != "." or snapshot.phase == "attract"]


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize(("pct", "gamma"), [(5, 3.0), (5, 2.2), (100, 2.2)])
def test_whatever_means_something_is_visible_on_the_dimmest_board(name: str, pct: int, gamma: float) -> None:
    """At 5 % brightness and a gamma of 3 each cell that is lit, and in attract each cell, keeps 3 on the wire."""
    pixels, (snapshot, start_us, end_us) = Pixels(dim(pct, gamma)), RUNS[name]
    lit = always_lit(snapshot)
    for _, frame in frames(snapshot, start_us, end_us, 70 * MS):
        wire = pixels.cells(pixels.chain(frame))
        assert lit == [number for number in lit if max(at(wire, number)) >= VISIBLE]


@pytest.mark.parametrize("name", RUNS)
def test_no_scene_is_held_back_by_the_current_limit(name: str) -> None:
    """After the ramp of its first frames every frame goes out as it is, and the supply has room left."""
    snapshot, start_us, end_us = RUNS[name]
    pixels, limiter = Pixels(SIM), Limiter(SIM)
    state, most_ma = limiter.start, 0.0
    for number, (t_us, frame) in enumerate(frames(snapshot, start_us, end_us)):
        chain = pixels.chain(frame)
        sent, state = limiter.step(chain, t_us, state)
        assert number < 5 or sent == chain
        most_ma = max(most_ma, limiter.current_ma(chain))
    assert most_ma < SIM.power.budget_ua / 1000


@pytest.mark.parametrize("touch_ms", range(1_000, 20_000, 3_700))
def test_waking_up_dips_for_two_frames_at_most(touch_ms: int) -> None:
    """A touch at any time of a countdown over a full board brings it back in one frame, and two for the ramp."""
    late = LATE._replace(cells=BUSY)
    pixels, limiter = Pixels(SIM), Limiter(SIM)
    state, dimmed = limiter.start, []
    for t_us, frame in waking(late, touch_ms * MS):
        chain = pixels.chain(frame)
        sent, state = limiter.step(chain, t_us, state)
        dimmed += [t_us] if sent != chain and t_us > 500 * MS else []
    assert len(dimmed) <= 2
    assert all(touch_ms * MS <= t_us <= (touch_ms + 40) * MS for t_us in dimmed)


def waking(late: Snapshot, touch_us: int) -> Iterator[tuple[int, bytes]]:
    yield from frames(late, 0, touch_us)
    yield from frames(late._replace(countdown=None), touch_us, touch_us + S)


@pytest.mark.parametrize("name", RUNS)
def test_the_same_inputs_give_the_same_bytes(name: str) -> None:
    """Other lights, asked in the other order of times, draw the same frames; and they do move."""
    snapshot, start_us, end_us = RUNS[name]
    shown = list(frames(snapshot, start_us, end_us, 130 * MS))
    other = Lights()
    assert shown == [(t_us, other.frame(Snapshot(*snapshot), t_us)) for t_us, _ in reversed(shown)][::-1]
    assert name == "menu" or any(one != two for (_, one), (_, two) in pairwise(shown))
    assert LIGHTS.frame(snapshot, start_us) == shown[0][1]
