"""The board while it is wiped: a pale stroke that goes to and fro, and a ground that tells how much time is left."""

from __future__ import annotations

from firmware.cleaning import LEVEL, STROKE_US
from firmware.orders import CLEAN_US
from firmware.palette import DARK, DEFAULT, scale
from firmware.snapshot import RISE_GAP_US, Countdown, MenuLight, Pattern, Snapshot
from sim.flashes import seen
from tests.light import LIGHTS, MS, S, at, frames, leading
from tests.scene import NO_LIMITS, playing
from tests.test_orders import order

START_US = 7 * S
WIPED = Snapshot(phase="paused", cells=("abxyAB*" * 7)[:49], cleans=Countdown(START_US, START_US + CLEAN_US))
ROW = range(21, 28)  # the middle row
GROUND = scale(DEFAULT.mist, 0)


def way(from_us: int, until_us: int) -> list[int]:
    """The columns over which the stroke goes, on the middle row."""
    found: list[int] = []
    for _, frame in frames(WIPED, START_US + from_us, START_US + until_us, 20 * MS):
        lit = [leading(at(frame, cell)) for cell in ROW]
        if max(lit) > 2 * leading(at(LIGHTS.frame(WIPED, START_US), 0)) and lit.index(max(lit)) not in found[-1:]:
            found.append(lit.index(max(lit)))
    return found


def test_the_stroke_goes_over_the_board_and_back() -> None:
    """From a to g and back every six seconds, over every column, and never brighter than a third."""
    assert ([*range(7)], [*range(6, -1, -1)]) == (way(0, STROKE_US // 2), way(STROKE_US // 2, STROKE_US))
    most = max(leading(at(frame, cell)) for _, frame in frames(WIPED, START_US, START_US + STROKE_US) for cell in ROW)
    assert leading(scale(DEFAULT.mist, 0.8 * LEVEL)) < most <= leading(scale(DEFAULT.mist, LEVEL))


def test_what_is_left_of_the_ground_tells_the_time() -> None:
    """Between strokes every column that is still to come shows at the dimmest level, those before it are dark."""
    for stroke in range(5):
        frame = LIGHTS.frame(WIPED, START_US + stroke * STROKE_US)
        wiped = stroke * STROKE_US * 7 // CLEAN_US
        assert [DARK] * wiped + [GROUND] * (7 - wiped) == [at(frame, cell) for cell in ROW]
    assert bytes(147) == LIGHTS.frame(WIPED, START_US + CLEAN_US)


def test_it_keeps_the_flash_limit_and_shows_nothing_else() -> None:
    """No cell rises twice within 340 ms; position, menu and refusals wait, only a part that has failed still shows."""
    flashes = seen(frames(WIPED, START_US, START_US + CLEAN_US))
    assert (True, True) == (flashes.worst <= 1, flashes.gap_us() >= RISE_GAP_US)
    busy = WIPED._replace(
        phase="menu",
        menu=(MenuLight(24, "a", True, True),),
        patterns=(Pattern(24, "refused", START_US),),
        ghosts=1 << 24,
    )
    assert list(frames(WIPED, START_US, START_US + S)) == list(frames(busy, START_US, START_US + S))
    failed = LIGHTS.frame(WIPED._replace(fault_us=START_US), START_US + S)
    assert DEFAULT.fault in [at(failed, corner) for corner in (0, 6, 42, 48)]


def test_it_shows_for_as_long_as_the_board_is_deaf() -> None:
    """From an operator's order on for 30 s, then the paused game is back in its own light."""
    scene = playing(limits=NO_LIMITS)
    scene.moves("d4")
    assert [None] == order(scene, "clean")
    cleans = scene.table.snapshot.cleans
    assert CLEAN_US == cleans.end_us - cleans.start_us
    scene.wait(cleans.end_us - scene.now_us - S)
    assert cleans == scene.table.snapshot.cleans
    scene.wait(2 * S)
    assert (None, "paused") == (scene.table.snapshot.cleans, scene.table.snapshot.phase)
