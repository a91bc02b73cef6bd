"""Light that comes once, as a sequence in time, and what a cell may do to the eye under any sequence of touches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.palette import DARK, DEFAULT, luminance, scale
from firmware.previews import Previews
from firmware.scenes import EDGES
from firmware.snapshot import Pattern, Phase, Side, Snapshot, Touch
from sim.flashes import Flashes, seen
from tests.light import FRAME_US, LIGHTS, MS, S, at, board, course, frames, leading

D4 = 24
STATES = ".abxyAB*"


def play(char: str = ".", **more: object) -> Snapshot:
    """Side a's turn; d4 as given."""
    return Snapshot(phase="play", cells=board(d4=char), mover="a")._replace(**more)  # type: ignore[arg-type]


def light(snapshot: Snapshot, start_us: int, end_us: int, step_us: int = MS) -> list[float]:
    """The luminance of d4 over a time."""
    return [luminance(colour) for colour in course(snapshot, D4, start_us, end_us, step_us)]


# -- touches ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mover", ["a", "b"])
@pytest.mark.parametrize("char", STATES)
def test_a_preview_is_the_movers_colour_at_40_percent(char: str, mover: Side) -> None:
    """On any cell a touch that plays shows 40 % of the mover's colour from its rise until it goes out."""
    shown = play(char, mover=mover, touches=(Touch(D4, 100 * MS, None, 440 * MS, mover),))
    calm = play(char, mover=mover)
    assert course(calm, D4, 0, 100 * MS) == course(shown, D4, 0, 100 * MS)
    assert {scale(DEFAULT.side(mover), 0.4)} == set(course(shown, D4, 100 * MS, 440 * MS))
    assert course(calm, D4, 440 * MS, 2 * S) == course(shown, D4, 440 * MS, 2 * S)


def test_a_held_touch_fills_to_the_full_colour() -> None:
    """A hold rises evenly from 40 % at its rise to 100 % when it is complete, and stays there."""
    shown = play("b", touches=(Touch(D4, 0, 800 * MS, None, "a"),))
    levels = [leading(colour) / 255 for colour in course(shown, D4, 0, 801 * MS, 100 * MS)]
    assert [0.4, 0.475, 0.55, 0.625, 0.7, 0.775, 0.85, 0.925, 1.0] == pytest.approx(levels, abs=0.01)
    assert {DEFAULT.a} == set(course(shown, D4, 800 * MS, 5 * S))


@pytest.mark.parametrize("mover", ["a", None])
def test_a_touch_that_cannot_play_is_answered_in_white(mover: Side | None) -> None:
    """A touch that means nothing here, or that is nobody's, is white at 40 %."""
    shown = play(mover=mover, touches=(Touch(D4, 0, None, None, None),))
    assert {scale(DEFAULT.white, 0.4)} == set(course(shown, D4, 0, S))


def test_of_two_touches_on_a_cell_the_later_shows() -> None:
    """A press while the light of an earlier one still lasts takes over from its own rise on."""
    older, newer = Touch(D4, 0, None, 600 * MS, None), Touch(D4, 400 * MS, None, None, "a")
    for touches in ((older, newer), (newer, older)):
        colours = course(play(touches=touches), D4, 0, S, 100 * MS)
        assert [scale(DEFAULT.white, 0.4)] * 4 + [scale(DEFAULT.a, 0.4)] * 6 == colours


@pytest.mark.parametrize(("before", "after"), [(".", "a"), ("b", "x"), ("a", "A"), ("y", "*"), ("B", "*")])
def test_a_touch_passes_into_its_bloom_without_a_fall(before: str, after: str) -> None:
    """From the rise of a hold to the height of the bloom it became the light only grows, whoever still holds."""
    touch = Touch(D4, 0, 800 * MS, None, "a")
    held = light(play(before, touches=(touch,)), 0, 800 * MS)
    done = play(after, mover="b", touches=(touch,), last_cell=D4, last_us=800 * MS)
    assert sorted(held) == held
    assert light(done, 800 * MS, 801 * MS)[0] > held[-1]


# -- bloom and patterns -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("char", "peak"), [("a", DEFAULT.a_pale), ("y", DEFAULT.b_pale), ("*", DEFAULT.mist)])
def test_the_last_action_blooms_once(char: str, peak: bytes) -> None:
    """The cell of the last action is pale at once and has fallen to what it is 400 ms later; no other cell changes."""
    shown, calm = play(char, last_cell=D4, last_us=5 * MS), play(char)
    assert course(calm, D4, 0, 5 * MS, MS) == course(shown, D4, 0, 5 * MS, MS)
    assert peak == at(LIGHTS.frame(shown, 5 * MS), D4)
    falling = light(shown, 5 * MS, 405 * MS)
    assert all(later <= sooner + 0.002 for sooner, later in pairwise(falling))
    assert course(calm, D4, 405 * MS, 3 * S) == course(shown, D4, 405 * MS, 3 * S)
    assert [] == [
        n for n in range(49) if n != D4 and at(LIGHTS.frame(shown, 6 * MS), n) != at(LIGHTS.frame(calm, 6 * MS), n)
    ]


@pytest.mark.parametrize("char", STATES)
def test_a_refusal_is_white_and_back_twice_in_a_second(char: str) -> None:
    """White at once and again after 500 ms, back to the cell's own light in between and at the end, then nothing."""
    shown, calm = play(char, patterns=(Pattern(D4, "refused", 0),)), play(char)
    colours, own = course(shown, D4, 0, 2 * S, MS), course(calm, D4, 0, 2 * S, MS)
    white = [time_ms for time_ms, colour in enumerate(colours) if colour == DEFAULT.white]
    assert [*range(141), *range(500, 641)] == white
    assert (own[380:500], own[880:]) == (colours[380:500], colours[880:])


def test_a_refusal_rises_at_its_start_and_half_a_second_later() -> None:
    """On a dark cell a refusal is two rises, 500 ms apart, and two falls."""
    shown = play(patterns=(Pattern(D4, "refused", 200 * MS),))
    flashes = seen(frames(shown, 0, 2 * S, MS))
    assert {D4: [200 * MS, 700 * MS]} == dict(flashes.rises)
    assert 2 == len(flashes.falls[D4])


@pytest.mark.parametrize("char", STATES)
@pytest.mark.parametrize("mover", ["a", "b"])
def test_hold_wanted_fills_from_dark_and_falls_back(char: str, mover: Side) -> None:
    """The cell goes dark, fills to the mover's colour in 450 ms, and is what it was at 700 ms."""
    shown = play(char, mover=mover, patterns=(Pattern(D4, "hold", 0, mover),))
    filling = light(shown, 0, 450 * MS)
    assert DARK == at(LIGHTS.frame(shown, 0), D4)
    assert sorted(filling) == filling
    assert DEFAULT.side(mover) == at(LIGHTS.frame(shown, 450 * MS), D4)
    assert course(play(char, mover=mover), D4, 700 * MS, 2 * S) == course(shown, D4, 700 * MS, 2 * S)


# -- low time, ghosts, faults -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mover", ["a", "b"])
def test_low_time_warms_the_movers_edge(mover: Side) -> None:
    """From `low_us` on the empty cells of the mover's edge swing in his colour at 1 Hz, from `urgent_us` on at 2 Hz."""
    edge, shown = EDGES[mover], play(mover=mover, low_us=1 * S, urgent_us=6 * S)
    assert course(play(mover=mover), edge[0], 0, S) == course(shown, edge[0], 0, S)
    assert 5 == peaks(course(shown, edge[3], 1 * S, 6 * S, 10 * MS))
    assert 10 == peaks(course(shown, edge[3], 6 * S, 11 * S, 10 * MS))
    for _, frame in frames(shown, 1 * S, 11 * S, 50 * MS):
        assert 1 == len({at(frame, number) for number in edge})


def peaks(colours: list[bytes]) -> int:
    """How often the light comes up through the middle between its least and its greatest."""
    lights = [luminance(colour) for colour in colours]
    middle = (min(lights) + max(lights)) / 2
    return sum(sooner < middle <= later for sooner, later in pairwise(lights))


@pytest.mark.parametrize("mover", ["a", "b"])
def test_low_time_can_never_count_as_a_flash(mover: Side) -> None:
    """It stays visible, its swing stays below 0.10 of luminance, tide included, and no change of it counts."""
    shown = play(mover=mover, low_us=500 * MS, urgent_us=3_250 * MS)
    colours = course(shown, EDGES[mover][0], 0, 12 * S, 10 * MS)
    lights = [luminance(colour) for colour in colours]
    assert max(lights) - min(lights) < 0.07
    assert min(leading(colour) for colour in colours) >= 3
    flashes = seen(frames(shown, 0, 12 * S))
    assert (0, {}) == (flashes.worst, dict(flashes.reds))


def test_low_time_does_not_jump_when_it_becomes_urgent() -> None:
    """Wherever in its swing the 2 Hz begin, the light goes on from where it was."""
    for urgent_ms in range(2_000, 3_000, 90):
        levels = [leading(c) for c in course(play(low_us=0, urgent_us=urgent_ms * MS), 0, S, 4 * S, 10 * MS)]
        assert max(abs(later - sooner) for sooner, later in pairwise(levels)) <= 4


@pytest.mark.parametrize("char", STATES)
def test_a_ghost_swings_to_white_at_a_third_once_a_second(char: str) -> None:
    """An ambiguous cell starts from its own light and is white at a third each half second between."""
    shown = play(char, ghosts=1 << D4, ghosts_us=0)
    assert at(LIGHTS.frame(play(char), 0), D4) == at(LIGHTS.frame(shown, 0), D4)
    assert {scale(DEFAULT.white, 1 / 3)} == {at(LIGHTS.frame(shown, second * S + 500 * MS), D4) for second in range(9)}
    assert 1 >= seen(frames(shown, 0, 10 * S)).worst - (char in "xyAB")


def test_a_ghost_that_flickers_does_not_flash() -> None:
    """Ghosts that come and go every 60 ms leave less than a flash behind."""
    flashes = Flashes()
    for t_us in range(0, 5 * S, 20 * MS):
        since_us = t_us - t_us % (120 * MS)
        flashes.see(t_us, LIGHTS.frame(play(ghosts=(t_us - since_us < 60 * MS) << D4, ghosts_us=since_us), t_us))
    assert 0 == flashes.worst


def test_a_fault_is_violet_at_half_a_hertz() -> None:
    """The corner swings from its own light to violet and back in 2 s, in every phase."""
    for phase in get_args(Phase):
        shown = Snapshot(phase=phase, fault_us=0)
        assert [DEFAULT.fault] * 3 == [at(LIGHTS.frame(shown, t_us * S), 0) for t_us in (1, 3, 5)]
        assert [at(LIGHTS.frame(shown._replace(fault_us=None), t_us * S), 0) for t_us in (0, 2, 4)] == [
            at(LIGHTS.frame(shown, t_us * S), 0) for t_us in (0, 2, 4)
        ]


# -- any sequence of touches ---------------------------------------------------------------------------------------


class Act(NamedTuple):
    """One touch of d4: how long after the last it is pressed, how long it is held, whether it is cancelled by another
    cell, and whether the turn changes elsewhere before it."""

    wait_ms: int
    held_ms: int
    cancelled: bool
    turn: bool


QUICK_MS, ANY_MS = st.integers(20, 120), st.integers(20, 1_200)
ACTS = st.lists(
    st.builds(Act, QUICK_MS | ANY_MS, QUICK_MS | ANY_MS, st.booleans(), st.booleans()), min_size=4, max_size=14
)
# What the mover's touch makes of a cell (rules): the side whose turn it is, its characters before and after.
TAKES: dict[Side, dict[str, str]] = {
    "a": {".": "a", "b": "x", "a": "A", "y": "*", "B": "*"},
    "b": {".": "b", "a": "y", "b": "B", "x": "*", "A": "*"},
}


def script(acts: list[Act], char: str) -> Iterator[tuple[int, Snapshot]]:
    """Snapshots with the times from which they hold: the rules of touch on one cell, spaced by `Previews`."""
    now_us, previews, shown = 0, Previews(), play(char)
    yield now_us, shown
    for act in acts:
        turned = act.turn and act.wait_ms >= 300  # an action elsewhere takes a touch and the guard
        mover: Side = "b" if (shown.mover == "a") == turned else "a"
        shown = shown._replace(mover=mover)
        now_us += act.wait_ms * MS
        after, scarce = TAKES[mover].get(char), char != "."
        previews.prune(now_us)
        previews.press(D4, now_us, now_us + 800 * MS if after and scarce else None, mover if after else None)
        yield now_us, shown._replace(touches=previews.touches, patterns=previews.patterns)
        acts_now = after is not None and not act.cancelled and (not scarce or act.held_ms >= 800)
        now_us += (800 if scarce and acts_now else act.held_ms) * MS
        previews.prune(now_us)
        if acts_now and after:
            char, bloom_us = after, previews.bloom(D4, now_us)
            shown = shown._replace(cells=board(d4=char), last_cell=D4, last_us=bloom_us)
            yield now_us, shown._replace(touches=previews.touches, patterns=previews.patterns)
            now_us += 250 * MS  # the turn guard
            continue
        if act.cancelled:
            previews.end(D4, now_us)
        else:
            previews.refuse(Pattern(D4, "hold" if after else "refused", now_us, mover if after else None))
        yield now_us, shown._replace(touches=previews.touches, patterns=previews.patterns)
    yield now_us + 3 * S, shown


@settings(max_examples=50)
@given(ACTS, st.sampled_from(STATES))
def test_no_sequence_of_touches_flashes_more_than_three_times_a_second(acts: list[Act], char: str) -> None:
    """However a cell is touched, as long as the spacing is kept, no second has more than three flashes of it."""
    flashes = Flashes()
    for (start_us, shown), (end_us, _) in pairwise(script(acts, char)):
        for t_us in range(start_us, end_us, FRAME_US):
            flashes.see(t_us, LIGHTS.frame(shown, t_us))
    assert flashes.worst <= 3
