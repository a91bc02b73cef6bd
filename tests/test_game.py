"""One game: what stands, what it cost, and how it is taken back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.clock import Limits
from firmware.game import OTHER, Ending, Game, Undone
from firmware.games import morbak
from firmware.snapshot import Side

S = 1_000_000


def begun(rules: morbak.Rules = morbak.STANDARD, limits: Limits = Limits()) -> Game:  # noqa: B008
    game = Game(rules, limits, "a")
    game.run(0)
    return game


def play(game: Game, *texts: str, every_us: int = S) -> int:
    """Play actions one second apart; returns the time."""
    t_us = game.clocks.since_us
    for text in texts:
        t_us += every_us
        game.play(morbak.parse_action(text), t_us)
    return t_us


def test_each_move_has_its_time() -> None:
    """The time of a move runs from the beginning of its turn; a pause does not count."""
    game = begun()
    game.play(morbak.parse_action("d4"), 3 * S)
    game.pause(5 * S)
    game.run(90 * S)
    game.play(morbak.parse_action("xd4"), 94 * S)
    assert [3 * S, 6 * S] == game.times_us
    assert (3 * S, 6 * S) == game.clocks.used_us


def test_an_action_the_rules_refuse_changes_nothing() -> None:
    """An illegal action raises and leaves moves, clocks and position as they were."""
    game = begun()
    play(game, "d4")
    before = (game.state, list(game.moves), game.clocks)
    with pytest.raises(morbak.IllegalAction):
        game.play(morbak.parse_action("d4"), 9 * S)
    assert before == (game.state, game.moves, game.clocks)


def test_a_takeback_brings_everything_back() -> None:
    """Position, pools and both clocks are those of the turn's beginning, and what was undone is kept."""
    game = begun()
    play(game, "d4", "xd4", "!d4", "c3")
    positions = []
    for t_us in (100 * S, 200 * S):
        assert game.take_back(t_us)
        positions.append(morbak.format_position(game.state))
    assert ["b 7:6 0:1", "a 7:6 1:1"] == [position[56:] for position in positions]
    assert [Undone(3, (morbak.parse_action("c3"),)), Undone(2, (morbak.parse_action("!d4"),))] == game.undone
    assert ((S, S), "a", 200 * S, 0) == (
        game.clocks.used_us,
        game.clocks.running,
        game.clocks.since_us,
        game.clocks.move_used_us,
    )


def test_takebacks_reach_the_first_action_and_no_further() -> None:
    """Every action can be taken back in turn, down to the empty board; then there is none."""
    game = begun()
    play(game, "d4", "xd4", "c3")
    assert [True, True, True, False] == [game.take_back(50 * S) for _ in range(4)]
    assert (morbak.initial(morbak.STANDARD, "a"), [], (0, 0)) == (game.state, game.moves, game.clocks.used_us)


def test_a_takeback_never_crosses_a_time_out() -> None:
    """After a missed turn nothing before it can be taken back; what came after it can."""
    game = begun(limits=Limits(None, 5 * S))
    play(game, "d4")
    game.time_up(6 * S)
    assert not game.take_back(7 * S)
    play(game, "c3")
    assert game.take_back(9 * S)
    assert not game.take_back(9 * S)
    assert (2, [1]) == (len(game.moves), game.timeouts)


def test_a_result_cannot_be_taken_back() -> None:
    """A game that is over stays as it ended, by line, resignation or agreement."""
    for end in (lambda game: game.resign("a", 9 * S), lambda game: game.agree(9 * S)):
        game = begun()
        play(game, "d4")
        end(game)
        assert not game.take_back(10 * S)


def test_resigning_loses_and_agreeing_draws() -> None:
    """Whoever resigns has lost, whoever's turn it is; an agreed draw is one."""
    for side in ("a", "b"):
        game = begun()
        game.resign(side, S)
        assert (Ending(OTHER[side], "resignation"), None) == (game.ending, game.clocks.running)
    game = begun()
    game.agree(S)
    assert Ending("draw", "agreement") == game.ending


@given(st.lists(st.integers(0, 10_000), max_size=60), st.integers(0, 30))
def test_takebacks_undo_exactly(choices: list[int], undo: int) -> None:
    """After n actions and k takebacks the game is the one that n - k actions make, clocks included."""
    game, before = begun(limits=Limits(None, None)), []
    t_us = 0
    for choice in choices:
        if game.ending is not None:
            break
        before.append((game.state, list(game.moves), game.clocks.used_us))
        t_us += choice
        actions = morbak.legal(game.state)
        game.play(actions[choice % len(actions)], t_us)
    if game.ending is not None:
        return
    for _ in range(min(undo, len(before))):
        assert game.take_back(t_us)
        state, moves, used_us = before.pop()
        assert (state, moves, used_us) == (game.state, game.moves, game.clocks.used_us)


def test_sides_are_two() -> None:
    """Each side's opponent is the other one."""
    sides: list[Side] = ["a", "b"]
    assert ["b", "a"] == [OTHER[side] for side in sides]
