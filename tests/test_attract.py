"""Attract: weather, and once a minute a miniature that comes out of it and goes back into it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from firmware.attract import CYCLE_US, LEVEL, WEATHER_US
from firmware.lights import Lights
from firmware.miniature import FALL_US, RISE_US, miniature
from firmware.palette import DEFAULT, scale
from firmware.scenes import Weather
from firmware.snapshot import RISE_GAP_US, Snapshot, Touch
from sim.flashes import Flashes, seen
from tests.light import LIGHTS, MS, S, at, frames, leading

ATTRACT = Snapshot()
WEATHER = Weather(DEFAULT)
FRAME_US = 33_333
CYCLES = range(6)


def begin_us(cycle: int) -> int:
    """When the miniature of a cycle begins."""
    return cycle * CYCLE_US + WEATHER_US


def course(cycle: int, step_us: int = FRAME_US) -> list[tuple[int, bytes]]:
    """A miniature with a second of weather before and after it."""
    start_us = begin_us(cycle)
    return list(frames(ATTRACT, start_us - S, start_us + miniature(cycle).end_us + S, step_us))


def test_a_miniature_plays_in_each_minute() -> None:
    """37 s of weather, then a miniature, then weather until the minute is over; and so on for ever."""
    for cycle in (*CYCLES, 1_000):
        start_us, end_us = cycle * CYCLE_US, begin_us(cycle) + miniature(cycle).end_us
        calm = [start_us, start_us + 20 * S, start_us + 37 * S - 1, end_us, start_us + 60 * S - 1]
        assert [bytes(WEATHER(t_us)) for t_us in calm] == [LIGHTS.frame(ATTRACT, t_us) for t_us in calm]
        assert LIGHTS.frame(ATTRACT, begin_us(cycle) + 3 * S) != bytes(WEATHER(begin_us(cycle) + 3 * S))


def test_the_cells_of_a_miniature_shine_in_their_colours() -> None:
    """When its position has come up each lit cell has its side's colour at 42 %, and the weather lies beside it."""
    for cycle in CYCLES:
        small, t_us = miniature(cycle), begin_us(cycle) + RISE_US
        cells, frame, calm = small.scenes[0].snapshot.cells, LIGHTS.frame(ATTRACT, t_us), bytes(WEATHER(t_us, 23))
        for number, char in enumerate(cells):
            if char == ".":
                assert at(calm, number) == at(frame, number)
            else:
                assert LEVEL == pytest.approx(leading(at(frame, number)) / 255, abs=0.01)
                assert DEFAULT.side(char).index(255) == at(frame, number).index(max(at(frame, number)))  # type: ignore[arg-type]


def test_a_miniature_shows_what_play_would() -> None:
    """Every scene is the frame of play, or of its result, at 42 % of its light, wherever a cell is lit."""
    for cycle in CYCLES:
        small = miniature(cycle)
        for scene in small.scenes[1:]:
            for age_us in (scene.start_us, scene.start_us + 180 * MS):
                whole = LIGHTS.frame(small.scene(age_us), age_us)
                frame = LIGHTS.frame(ATTRACT, begin_us(cycle) + age_us)
                for number in range(49):
                    if any(at(whole, number)):
                        full = leading(at(whole, number))
                        assert max(3, LEVEL * full) == pytest.approx(leading(at(frame, number)), abs=1)


def test_attract_is_never_dark_and_never_as_bright_as_play() -> None:
    """At every time of six minutes each cell is at 3/255 or more and at less than half of the full light."""
    for cycle in CYCLES:
        for _, frame in course(cycle, 100 * MS):
            levels = [leading(at(frame, number)) for number in range(49)]
            assert 3 <= min(levels)
            assert max(levels) <= 0.43 * 255


def test_a_miniature_comes_out_of_the_weather_and_goes_back() -> None:
    """In both changes no byte moves by more than nine from a frame to the next, where it begins and ends by four."""
    for cycle in CYCLES:
        start_us, end_us = begin_us(cycle), begin_us(cycle) + miniature(cycle).end_us
        for first_us, last_us in ((start_us, start_us + RISE_US), (end_us - FALL_US, end_us)):
            steps = [
                max(abs(one - two) for one, two in zip(sooner, later, strict=True))
                for (_, sooner), (_, later) in pairwise(
                    frames(ATTRACT, first_us - 200 * MS, last_us + 500 * MS, FRAME_US)
                )
            ]
            assert max(steps) <= 9
            assert max(steps[:6] + steps[-6:]) <= 4


def test_no_miniature_flashes() -> None:
    """In six miniatures, with the weather about them, rises of a cell are 340 ms apart or more."""
    for cycle in CYCLES:
        flashes = seen(course(cycle, 16_667))
        assert flashes.worst <= 3
        assert flashes.gap_us() >= RISE_GAP_US


@pytest.mark.parametrize("step", range(12))
def test_a_touch_during_a_miniature_does_not_flash(step: int) -> None:
    """Whenever and wherever in a miniature a finger comes, on the way to the lobby nothing flashes too often."""
    small = miniature(step % 6)
    acted = [scene for scene in small.scenes if scene.snapshot.last_cell is not None]
    scene = acted[step * 5 % len(acted)]
    cell, press_us = scene.snapshot.last_cell, begin_us(step % 6) + scene.start_us + step * 97 * MS
    assert cell is not None
    touched = ATTRACT._replace(touches=(Touch(cell, press_us, None, press_us + 340 * MS, None),))
    lobby = touched._replace(phase="lobby", phase_us=press_us + 120 * MS)
    flashes = Flashes()
    for shown, start_us, end_us in (
        (ATTRACT, press_us - 3 * S, press_us),
        (touched, press_us, press_us + 120 * MS),
        (lobby, press_us + 120 * MS, press_us + 4 * S),
    ):
        for t_us, frame in frames(shown, start_us, end_us):
            flashes.see(t_us, frame)
    assert flashes.worst <= 3


@pytest.mark.parametrize("cycle", CYCLES)
def test_a_miniature_ends_when_somebody_touches(cycle: int) -> None:
    """From the first contact on only the answer to the finger lies over the weather, calm as it was; then the lobby."""
    small, press_us = miniature(cycle), begin_us(cycle) + 8 * S
    touched = ATTRACT._replace(touches=(Touch(small.cells[0], press_us, None, None, None),))
    for t_us, frame in frames(touched, press_us, press_us + 2 * S, 50 * MS):
        calm = bytearray(WEATHER(t_us, 23))
        calm[small.cells[0] * 3 : small.cells[0] * 3 + 3] = scale(DEFAULT.white, 0.4)
        assert bytes(calm) == frame


def test_hands_that_drum_on_a_miniature_do_not_flash() -> None:
    """Touches that become no tap, as close as their light may follow each other, keep every cell to the flash limit."""
    flashes, start_us = Flashes(), begin_us(0)
    for t_us in range(start_us, start_us + 16 * S, 16_667):
        drum = (t_us - start_us) // (700 * MS)
        press_us = start_us + drum * 700 * MS
        touch = Touch(miniature(0).cells[drum % 5], press_us, None, press_us + 340 * MS, None)
        shown = ATTRACT._replace(touches=(touch,) if t_us < press_us + 350 * MS else ())
        flashes.see(t_us, LIGHTS.frame(shown, t_us))
    assert flashes.worst <= 3
    assert flashes.gap_us() >= RISE_GAP_US


def test_the_start_of_attract_chooses_the_miniature() -> None:
    """Its minutes are counted from the beginning of the phase, and which miniature is first follows from it."""
    later = ATTRACT._replace(phase_us=1_234 * S)
    small = miniature(1_234)
    frame = LIGHTS.frame(later, 1_234 * S + WEATHER_US + RISE_US)
    lit = {number for number in range(49) if leading(at(frame, number)) > 90}
    assert {number for number, char in enumerate(small.scenes[0].snapshot.cells) if char != "."} == lit


def test_attract_is_pure_in_time() -> None:
    """Other lights, in another order of times, draw the same bytes."""
    times = [cycle * CYCLE_US + second * 1_300 * MS for cycle in (0, 3, 700) for second in range(46)]
    once = [LIGHTS.frame(ATTRACT, t_us) for t_us in times]
    other = Lights()
    assert once == [other.frame(Snapshot(), t_us) for t_us in reversed(times)][::-1]
