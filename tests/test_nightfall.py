"""The countdown: night goes round the board once, the position stays readable, any touch brings the day back."""

from __future__ import annotations

from itertools import pairwise

import pytest

from firmware.grounds import PAUSED_HIGH, PAUSED_LOW, ring
from firmware.lights import Lights
from firmware.nightfall import FALL_US, STAR_HIGH, STAR_LOW, STAR_US
from firmware.palette import DARK, DEFAULT, luminance, scale
from firmware.scenes import RING
from firmware.snapshot import RISE_GAP_US, Countdown, Side, Snapshot, Touch
from sim.flashes import Flashes, seen
from tests.light import LIGHTS, MS, S, at, board, cell, course, frames, leading

START_US, END_US = 4 * S, 24 * S
CELLS = board(a1="a", c1="b", b2="x", c2="y", d3="A", e3="B", f4="*", d4="a", e5="a", f6="b", g6="b", c7="y", d7="A")
FULL = ("abxyAB*" * 7)[:49]
PLAY = Snapshot(phase="play", cells=CELLS, mover="a")
LATE = PLAY._replace(countdown=Countdown(START_US, END_US))
PAUSED = PLAY._replace(phase="paused")
STONES = [number for number, char in enumerate(CELLS) if char != "."]


def test_the_rings_lie_round_the_middle() -> None:
    """Three rings of 24, 16 and 8 cells, each from the middle of a's side and clockwise, with neighbours in a row."""
    assert [24, 16, 8] == [len(ring(radius)) for radius in (3, 2, 1)]
    assert [3, 10, 17] == [ring(radius)[0] for radius in (3, 2, 1)]
    assert set(range(49)) - {24} == {number for radius in (1, 2, 3) for number in ring(radius)}
    for one, two in pairwise((*RING, RING[0])):
        assert abs(one % 7 - two % 7) + abs(one // 7 - two // 7) == 1
    assert (2, 0, 42, 45, 48, 6) == (RING[1], RING[3], RING[9], RING[12], RING[15], RING[21])


def test_before_it_begins_the_board_is_in_play() -> None:
    """Up to the start of the countdown every frame is that of play."""
    assert list(frames(PLAY, 0, START_US, 50 * MS)) == list(frames(LATE, 0, START_US, 50 * MS))


@pytest.mark.parametrize("mover", ["a", "b", None])
@pytest.mark.parametrize("cells", ["." * 49, CELLS, FULL])
def test_at_its_end_the_board_looks_as_paused(cells: str, mover: Side | None) -> None:
    """At the end, and for as long as it takes to be parked, the frames are those of a paused board, to the byte."""
    late, paused = LATE._replace(cells=cells, mover=mover), PAUSED._replace(cells=cells, mover=mover)
    assert list(frames(paused, END_US, END_US + 7 * S, 50 * MS)) == list(frames(late, END_US, END_US + 7 * S, 50 * MS))
    last, end = LIGHTS.frame(late, END_US - 1), LIGHTS.frame(paused, END_US)
    assert max(abs(one - two) for one, two in zip(last, end, strict=True)) <= 1


@pytest.mark.parametrize("mover", ["a", "b"])
def test_the_lights_of_the_ring_go_out_one_by_one(mover: Side) -> None:
    """Round an empty board 24 pale lights come up and go out again, clockwise from the mover's edge, evenly in time."""
    late = LATE._replace(cells="." * 49, mover=mover)
    low, high = (leading(scale(DEFAULT.mist, level)) for level in (STAR_LOW, STAR_HIGH))
    levels = [leading(at(LIGHTS.frame(late, START_US + 1_300 * MS), number)) for number in RING]
    assert low <= min(levels) < low + 2 < high - 2 < max(levels) <= high
    gone = {n: gone_us(late, n) for n in RING}
    home = RING.index(3 if mover == "a" else 45)
    assert [*RING[home:], *RING[:home]] == sorted(RING, key=gone.__getitem__)
    order = sorted(gone.values())
    assert all(680 * MS <= later - sooner <= 780 * MS for sooner, later in pairwise(order))
    assert START_US + 2 * S < order[0] < START_US + 3 * S
    assert END_US - S < order[-1] <= END_US


def gone_us(late: Snapshot, number: int) -> int:
    """When a light of the ring has gone out for good."""
    lit = [t_us for t_us, frame in frames(late, START_US + S, END_US + S, 10 * MS) if any(at(frame, number))]
    return lit[-1] + 10 * MS


def test_the_ring_takes_no_cell_of_the_position() -> None:
    """A cell that is not empty keeps its colour all the time: its leading channel, and 3/255 or more."""
    for t_us, frame in frames(LATE, START_US, END_US + S, 50 * MS):
        day = LIGHTS.frame(PLAY, t_us)
        for number in STONES:
            assert 3 <= leading(at(frame, number)) <= leading(at(day, number)) + 1
            assert at(day, number).index(max(at(day, number))) == at(frame, number).index(max(at(frame, number)))


@pytest.mark.parametrize("number", STONES)
def test_night_comes_to_each_cell_of_the_position_once(number: int) -> None:
    """A cell goes on as in play until night comes, then is as on a paused board within a second, for good."""
    times = range(START_US, END_US, 20 * MS)
    colours = course(LATE, number, START_US, END_US, 20 * MS)
    day = course(PLAY, number, START_US, END_US, 20 * MS)
    night = course(PAUSED, number, START_US, END_US, 20 * MS)
    wakes = [t_us for t_us, now, then in zip(times, colours, day, strict=True) if now == then]
    sleeps = [t_us for t_us, now, then in zip(times, colours, night, strict=True) if now == then]
    assert wakes == list(range(START_US, wakes[-1] + 1, 20 * MS))
    assert sleeps == list(range(sleeps[0], END_US, 20 * MS))
    assert 0 < sleeps[0] - wakes[-1] <= FALL_US + 40 * MS


def test_the_board_darkens_from_the_movers_edge_round_to_it() -> None:
    """Half-way the half of the board that the hand has passed sleeps, the other is awake; the middle goes last."""
    late = LATE._replace(cells="a" * 49)
    frame = LIGHTS.frame(late, (START_US + END_US) // 2 + 600 * MS)
    left, right = ([y * 7 + x for y in range(7) for x in columns] for columns in ((0, 1, 2), (4, 5, 6)))
    assert max(leading(at(frame, number)) for number in left) <= PAUSED_HIGH * 255 + 1
    assert {255} == {leading(at(frame, number)) for number in right}
    assert 255 == leading(at(LIGHTS.frame(late, END_US - S), 24))
    night = LIGHTS.frame(late, END_US)
    assert PAUSED_LOW * 255 - 1 <= leading(at(night, 24)) <= PAUSED_HIGH * 255 + 1


def test_the_movers_tide_lives_until_night_comes() -> None:
    """Inside the ring an empty cell shows the mover's tide before its hour and nothing after it."""
    for t_us, frame in frames(LATE, START_US, END_US - FALL_US, 100 * MS):
        day = LIGHTS.frame(PLAY, t_us)
        for name in ("b4", "d2", "e4"):
            number = cell(name)
            assert at(frame, number) in (at(day, number), DARK) or leading(at(frame, number)) <= 6
    first, last = LIGHTS.frame(LATE, START_US + 3 * S), LIGHTS.frame(LATE, END_US - 1)
    assert at(first, cell("e4")) in DEFAULT.a_tide
    assert DARK == at(last, cell("e4"))


def test_a_board_without_an_empty_border_counts_too() -> None:
    """Where no cell is empty the night alone tells the time: a different number of cells sleeps at each second."""
    late = LATE._replace(cells="a" * 49)
    awake = [sum(leading(at(LIGHTS.frame(late, START_US + second * S), n)) == 255 for n in range(49))
             for second in range(21)]  # fmt: skip
    assert sorted(awake, reverse=True) == awake
    assert (49, 49, 0) == (awake[0], awake[1], awake[-1])
    assert all(one > two for one, two in pairwise(awake[3:]))


@pytest.mark.parametrize("touch_ms", range(100, 20_900, 1_300))
def test_a_touch_brings_the_day_back_without_a_flash(touch_ms: int) -> None:
    """Whenever it is touched the board is in play again at once, and no cell flashes on the way, or in sleep after."""
    touch_us = START_US + touch_ms * MS
    touched = PLAY._replace(touches=(Touch(cell("b4"), touch_us, None, touch_us + 340 * MS, "a"),))
    flashes = Flashes()
    for shown, start_us, end_us in (
        (LATE, START_US - S, min(touch_us, END_US)),
        (PAUSED, END_US, touch_us),
        (touched, touch_us, touch_us + 3 * S),
    ):
        for t_us, frame in frames(shown, start_us, end_us):
            flashes.see(t_us, frame)
    assert flashes.worst <= 1
    assert flashes.gap_us() >= RISE_GAP_US
    assert LIGHTS.frame(touched, touch_us + 340 * MS) == LIGHTS.frame(PLAY, touch_us + 340 * MS)


@pytest.mark.parametrize("cells", ["." * 49, CELLS, FULL])
def test_the_whole_countdown_keeps_the_flash_limit(cells: str) -> None:
    """From play over the countdown into sleep no cell rises twice within 340 ms, and no ring light flashes more than
    once."""
    late = LATE._replace(cells=cells)
    flashes = seen([*frames(late, 0, END_US), *frames(PAUSED._replace(cells=cells), END_US, END_US + 7 * S)])
    assert flashes.worst <= 1
    assert flashes.gap_us() >= RISE_GAP_US


def test_it_works_in_any_colours() -> None:
    """With sides of green and violet the ring still shows, the position stays visible and the end is that of paused."""
    palette = DEFAULT._replace(a=b"\x30\xff\x60", b=b"\xa0\x20\xff", mist=b"\xff\xf0\xc0")
    lights = Lights(palette)
    assert max(range(3), key=at(lights.frame(LATE, START_US + 1_500 * MS), 1).__getitem__) == 0
    for t_us in range(START_US, END_US, 200 * MS):
        assert min(leading(at(lights.frame(LATE, t_us), number)) for number in STONES) >= 3
    assert lights.frame(PAUSED, END_US) == lights.frame(LATE, END_US)


@pytest.mark.parametrize("length_us", [1, 500 * MS, 2 * S, 60 * S])
def test_a_countdown_may_take_any_time(length_us: int) -> None:
    """However short or long, it begins in play and ends asleep."""
    late = PLAY._replace(countdown=Countdown(0, length_us))
    assert [147] * 9 == [len(LIGHTS.frame(late, t_us)) for t_us in range(0, 9 * 70 * MS, 70 * MS)]
    assert LIGHTS.frame(PAUSED, length_us) == LIGHTS.frame(late, length_us)


@pytest.mark.parametrize("number", RING)
def test_a_star_glimmers_and_is_at_its_height_when_it_goes_out(number: int) -> None:
    """It swings by less than a tenth of luminance every 4.4 s, and from its last height only falls."""
    late = LATE._replace(cells="." * 49)
    gone = gone_us(late, number)
    light = [luminance(colour) for colour in course(late, number, START_US + 1_400 * MS, gone, 10 * MS)]
    assert 0.085 < max(light) - luminance(scale(DEFAULT.mist, STAR_LOW)) < 0.095
    height = max(range(max(0, len(light) - 200), len(light)), key=light.__getitem__)
    assert 90 <= len(light) - height <= 120  # its height is a plateau of some steps
    assert sorted(light[height:], reverse=True) == light[height:]
    assert max(abs(one - two) for one, two in pairwise(light)) < 0.008
    assert all(abs(one - two) < 0.004 for one, two in zip(light[: -100 - 440], light[440:-100], strict=True))
    assert 4_400 * MS == STAR_US
