"""Miniatures are legal games, teach all there is to do, and favour no cell of the board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from firmware.attract import CYCLE_US, WEATHER_US
from firmware.games import morbak
from firmware.miniature import HOLD_US, RESULT_US, SCRIPTS, TAP_US, Miniature, miniature
from tests.light import S

# What a board shows in a day on which nobody comes.
DAY = 24 * 3600 * S // CYCLE_US


class Turn(NamedTuple):
    """A touch of a miniature and what came of it."""

    text: str
    side: str | None
    held_us: int
    filled_us: int | None
    line: tuple[int, ...]


def turns(small: Miniature) -> Iterator[Turn]:
    """Every action, as the rules take the touch that shows in the position that shows; fails where they refuse it."""
    starter = next(touch.side for scene in small.scenes for touch in scene.snapshot.touches)
    state = _standing(small.scenes[0].snapshot.cells, starter)
    for before, after in pairwise(small.scenes[1:]):
        for touch in before.snapshot.touches:
            action = morbak.meaning(state, touch.cell)
            assert isinstance(action, morbak.Action)
            assert (state.side, morbak.cells(state)) == (touch.side, before.snapshot.cells)
            state = morbak.apply(state, action)
            shown = after.snapshot
            assert (morbak.cells(state), touch.cell, after.start_us) == (shown.cells, shown.last_cell, shown.last_us)
            filled_us = None if touch.full_us is None else touch.full_us - touch.rise_us
            yield Turn(action.text, touch.side, after.start_us - before.start_us, filled_us, shown.line)
    assert morbak.outcome(state)


def _standing(cells: str, side: str | None) -> morbak.State:
    rows = "/".join(cells[first : first + 7] for first in range(42, -1, -7))
    return morbak.parse_position(f"{rows} {side} 7:7 1:1")


def test_every_script_is_a_game_that_a_line_ends() -> None:
    """The actions of a script are legal one after the other from the empty board, and only the last wins."""
    for script in SCRIPTS:
        state = morbak.initial()
        for text in script.replace("|", " ").split():
            assert morbak.outcome(state) is None
            state = morbak.apply(state, morbak.parse_action(text))
        outcome = morbak.outcome(state)
        assert outcome is not None
        assert ("line", 4) == (outcome.reason, len(outcome.line))


def test_every_miniature_is_played_by_the_rules(prove: bool) -> None:
    """Turned, mirrored, moved, by either side: each touch means the action that comes of it, and the last one wins."""
    for number in range(0, DAY, 1 if prove else 17):
        played = list(turns(miniature(number)))
        assert 5 <= len(played) <= 7
        assert [4] == [len(turn.line) for turn in played if turn.line] == [len(played[-1].line)]


def test_the_scripts_teach_every_action() -> None:
    """Among six that follow each other are lights of both sides, permutations, a block, neutralisations and wins."""
    played = [turn for number in range(6) for turn in turns(miniature(number))]
    assert {"a", "b"} == {turn.side for turn in played}
    assert {"x", "#", "!"} == {turn.text[0] for turn in played if len(turn.text) == 3}
    assert 6 == sum(bool(turn.line) for turn in played)


def test_a_scarce_action_fills_and_a_light_does_not() -> None:
    """Permute, block and neutralise show the hold filling until they are done; a light shows a short touch."""
    for number in range(6):
        for turn in turns(miniature(number)):
            scarce = len(turn.text) == 3
            assert ((HOLD_US, HOLD_US) if scarce else (TAP_US, None)) == (turn.held_us, turn.filled_us)


def test_a_miniature_takes_about_twenty_seconds() -> None:
    """Each lasts 15 to 22 s, its end included, and so fits into its minute with time for the weather to come back."""
    lengths = [miniature(number).end_us for number in range(DAY)]
    assert 15 * S <= min(lengths)
    assert max(lengths) <= 22 * S < CYCLE_US - WEATHER_US
    assert all(small.end_us - small.scenes[-1].start_us > RESULT_US for small in map(miniature, range(6)))


def test_scenes_follow_each_other_in_time() -> None:
    """Each scene shows from its own time until before the next; the last one stays."""
    for small in map(miniature, range(6)):
        starts = [scene.start_us for scene in small.scenes]
        assert sorted(set(starts)) == starts
        for scene, later in pairwise(small.scenes):
            assert scene.snapshot is small.scene(scene.start_us) is small.scene(later.start_us - 1)
        assert small.scenes[-1].snapshot is small.scene(starts[-1]) is small.scene(small.end_us)


def test_miniatures_do_not_repeat_within_the_hour() -> None:
    """In any hour all miniatures differ, and each from the one before it in its script."""
    games = [tuple(scene.snapshot.cells for scene in miniature(number).scenes) for number in range(DAY)]
    assert DAY == 1440
    assert [60] * (DAY - 59) == [len(set(games[first : first + 60])) for first in range(DAY - 59)]
    kinds = [[turn.text[:-2] for turn in turns(miniature(number))] for number in range(7)]
    assert all(one != two for one, two in pairwise(kinds))


def test_no_cell_is_favoured() -> None:
    """In a day every cell shines in some miniature, and none in more than four of ten (case F8)."""
    count = Counter(cell for number in range(DAY) for cell in miniature(number).cells)
    assert set(range(49)) == set(count)
    assert max(count.values()) <= 0.4 * DAY


def test_neither_side_nor_direction_is_favoured() -> None:
    """In an hour each side wins about half of the games, and about half of the lines lie along rows."""
    ends = [miniature(number).scenes[-1].snapshot for number in range(60)]
    assert 20 <= sum(end.winner == "a" for end in ends) <= 40
    assert 20 <= sum(end.line[1] - end.line[0] == 1 for end in ends) <= 40
