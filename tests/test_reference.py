"""The engine and the slow second checker agree, on random plies, over all rule options."""

from __future__ import annotations

import random

import pytest

from firmware.games import morbak
from firmware.games.morbak import Rules, Side, State
from tests.reference import CHARACTERS, LINES, NAMES, PREFIXES, Game

SIDES: list[Side] = ["a", "b"]
EVERY_TEXT = [prefix + name for prefix in PREFIXES.values() for name in NAMES] + ["--"]


def some_rules(rng: random.Random) -> Rules:
    """Any rules, scarce ones oftener."""
    pool, left = rng.choice([0, 1, 2, 6, 7, rng.randrange(50)]), rng.choice([0, 1, 1, 1, 2, rng.randrange(50)])
    return Rules(pool, rng.random() < 0.7, left)


def some_position(rng: random.Random, rules: Rules) -> str:
    """A start of a game, or any well-formed text, full boards and short budgets oftener."""
    if rng.random() < 0.5:
        return morbak.format_position(morbak.initial(rules, rng.choice(SIDES)))
    cells = rng.choices(list(CHARACTERS), [rng.choice([0, 1, 30]), 20, 20, 3, 3, 3, 3, rng.choice([4, 30])], k=49)
    rows = "/".join("".join(cells[first : first + 7]) for first in range(0, 49, 7))
    pools, left = ([rng.choice([0, 0, 1, rng.randrange(50)]) for _ in range(2)] for _ in range(2))
    return f"{rows} {rng.choice(SIDES)} {pools[0]}:{pools[1]} {left[0]}:{left[1]}"


def outcome_of(state: State) -> tuple[str, str, list[str]] | None:
    """The engine's outcome in the words of the checker."""
    outcome = morbak.outcome(state)
    return outcome and (outcome.result, outcome.reason, sorted(morbak.cell_name(cell) for cell in outcome.line))


def refusal_of(state: State, text: str) -> str:
    """The code the engine refuses an action with; empty when it accepts it."""
    try:
        morbak.apply(state, morbak.parse_action(text))
    except morbak.IllegalAction as error:
        return error.code
    return ""


def compare(state: State, game: Game, rng: random.Random) -> None:
    """Everything the two say of one position is the same."""
    assert [] == morbak.problems(state)
    assert game.text() == morbak.format_position(state)
    assert game.ending == outcome_of(state)
    assert sorted(game.legal()) == sorted(action.text for action in morbak.legal(state))
    touches = [morbak.meaning(state, cell) for cell in range(49)]
    assert [game.touch(name) for name in NAMES] == [str(getattr(touch, "text", touch)) for touch in touches]
    for text in rng.choices(EVERY_TEXT, k=8):
        assert game.refusal(text) == refusal_of(state, text), text


def play(rng: random.Random) -> int:
    """One random game in both, compared at each ply; the number of plies."""
    rules = some_rules(rng)
    text = some_position(rng, rules)
    state, game = morbak.parse_position(text, rules), Game.from_text(text, rules.block)
    plies = 0
    compare(state, game, rng)
    while actions := morbak.legal(state):
        if rng.random() < 0.03:
            state, action = morbak.pass_turn(state), morbak.PASS
        else:
            action = rng.choice(actions)
            state = morbak.apply(state, action)
        game.play(action.text)
        plies += 1
        compare(state, game, rng)
    return plies


@pytest.mark.long
def test_the_engine_agrees_with_the_second_checker_on_random_plies(seed: int, prove: bool) -> None:
    """Legal lists, positions, outcomes, the meaning of all 49 cells and reason codes are the same in both."""
    rng = random.Random(seed)
    plies, games = 0, 0
    while plies < (100_000 if prove else 10_000):
        plies += play(rng)
        games += 1
    print(f"{plies} plies of {games} games, seed {seed}")


def test_there_are_88_lines_of_four() -> None:
    """28 horizontal, 28 vertical and 32 diagonal lines, each once."""
    assert 88 == len(LINES) == len({tuple(sorted(line)) for line in LINES})
    assert 28 == sum(len({name[1] for name in line}) == 1 for line in LINES)
    assert 28 == sum(len({name[0] for name in line}) == 1 for line in LINES)
