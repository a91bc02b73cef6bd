"""The rules of MORBAK: counts, published facts, every action and refusal on every kind of cell, passes and draws."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from firmware.games import morbak
from firmware.games.morbak import Outcome, Refusal, Rules, Side, State
from firmware.games.morbak_position import ALL_CELLS, completed

PERFT = json.loads((Path(__file__).parent / "tables" / "morbak_perft.json").read_text())["positions"]
SIDES: list[Side] = ["a", "b"]


def at(board: str, rest: str = "a 7:7 1:1", block: bool = True) -> State:
    """The position with these cells (`c4b` is a b on c4), all others empty."""
    cells = ["."] * 49
    for token in board.split():
        cells[morbak.parse_cell(token[:2])] = token[2]
    rows = "/".join("".join(cells[first : first + 7]) for first in range(42, -1, -7))
    return morbak.parse_position(f"{rows} {rest}", Rules(block=block))


def play(state: State, *texts: str) -> State:
    """The position after these actions."""
    for text in texts:
        state = morbak.apply(state, morbak.parse_action(text))
    return state


def refusal(state: State, text: str) -> Refusal | None:
    """The code that an action is refused with, or None when it is legal."""
    try:
        play(state, text)
    except morbak.IllegalAction as error:
        return error.code
    return None


def wins(state: State) -> list[str]:
    """The cells that the side to move wins by lighting."""
    lights = [action for action in morbak.legal(state) if action.kind == "light"]
    return sorted(action.text for action in lights if morbak.outcome(morbak.apply(state, action)))


# --- counts


@pytest.mark.parametrize("case", PERFT, ids=lambda case: case["position"])
def test_counts_of_action_sequences_are_those_of_the_table(case: dict[str, Any], prove: bool) -> None:
    """Every position of the table has its published counts, to depth 3; in full (to depth 5) in a proof."""
    state = morbak.parse_position(case["position"])
    counts = case["counts"][: 5 if prove else 3]
    assert counts == [morbak.perft(state, depth) for depth in range(1, len(counts) + 1)]


@pytest.mark.parametrize("rules", morbak.PROFILES.values(), ids=morbak.PROFILES)
def test_four_actions_from_the_start_have_5762400_sequences(rules: Rules) -> None:
    """perft(4) is 5762400 under both profiles."""
    assert 5_762_400 == morbak.perft(morbak.initial(rules), 4)


@pytest.mark.parametrize("case", PERFT, ids=lambda case: case["position"])
def test_the_split_by_first_action_sums_to_the_count(case: dict[str, Any]) -> None:
    """divide names every legal action, a forced pass too, and its counts sum to perft."""
    state = morbak.parse_position(case["position"])
    split = morbak.divide(state, 2)
    assert [action.text for action in morbak.legal(state)] == list(split)
    assert case["counts"][1] == sum(split.values())


def test_a_count_of_depth_zero_is_one_and_none_is_below() -> None:
    """perft(0) is 1 even in a finished game; a negative depth, and a split of depth 0, are errors."""
    finished = at("a1a b1a c1a d1a", "b 7:7 1:1")
    assert [1, 0, 0] == [morbak.perft(finished, depth) for depth in range(3)]
    with pytest.raises(ValueError, match="depth = -1: must be 0 or more"):
        morbak.perft(finished, -1)
    with pytest.raises(ValueError, match="depth = 0: must be 1 or more"):
        morbak.divide(finished, 0)


# --- lines


def test_exactly_88_sets_of_four_cells_are_lines() -> None:
    """Of all 211876 sets of four cells 88 complete a line, and through each cell run as many as published."""
    fours = [sum(1 << cell for cell in four) for four in itertools.combinations(range(49), 4)]
    lines = [four for four in fours if completed(four)]
    assert 88 == len(lines)
    assert lines == [completed(line) for line in lines]
    rows = [[3, 4, 5, 7, 5, 4, 3], [4, 6, 8, 10, 8, 6, 4], [5, 8, 11, 13, 11, 8, 5], [7, 10, 13, 16, 13, 10, 7]]
    through = [sum(line >> cell & 1 for line in lines) for cell in range(49)]
    assert [*rows, rows[2], rows[1], rows[0]] == [through[first : first + 7] for first in range(0, 49, 7)]
    assert 352 == sum(through)


def test_three_cells_stop_all_lines_of_the_corner() -> None:
    """No line through a1 is possible without a2, b1 and b2."""
    corner, stops = 1, sum(1 << morbak.parse_cell(name) for name in ("a2", "b1", "b2"))
    assert completed(ALL_CELLS) & corner
    assert not completed(ALL_CELLS & ~stops) & corner


def test_a_permutation_ends_three_threats_of_the_published_example() -> None:
    """After b lights e2 it threatens b5, e4 and f1; a permuting e2 ends all three."""
    state = play(at("c4b d3b e3y d5y e1b c3a d4a", "b 5:5 1:1"), "e2")
    assert ["b5", "e4", "f1"] == wins(morbak.pass_turn(state))
    assert [] == wins(play(state, "xe2"))


def test_a_neutralisation_ends_two_threats_of_the_published_example() -> None:
    """When b then lights e6 it threatens b3 and f7; a neutralising d5 ends both."""
    state = play(at("c4b d3b e3y d5y e1b c3a d4a", "b 5:5 1:1"), "e2", "xe2", "e6")
    assert ["b3", "f7"] == wins(morbak.pass_turn(state))
    assert [] == wins(play(state, "!d5"))


def test_a_line_of_permuted_and_blocked_cells_wins_and_all_lines_are_shown() -> None:
    """One action may complete several lines, longer than four too; every cell of them is in the outcome."""
    state = play(at("a1A b1x c1a e1a f1a g1a d2a d3x d4A e2b"), "d1")
    line = (0, 1, 2, 3, 4, 5, 6, 10, 17, 24)  # a1 to g1, and d2 d3 d4
    assert Outcome("a", "line", line) == morbak.outcome(state)
    assert [] == morbak.legal(state)


def test_a_neutralised_cell_is_in_no_line() -> None:
    """Four in a row with a neutralised cell among them are no line."""
    assert morbak.outcome(play(at("a1a b1* c1a d1a"), "e1")) is None


@pytest.mark.parametrize("mover", SIDES)
@pytest.mark.parametrize("board", ["a1a b1a c1a d1a", "a7b b7b c7b d7b", "a1a b1a c1a d1a a7b b7b c7b d7b"])
def test_a_position_with_a_line_is_finished_whoever_is_to_move(board: str, mover: Side) -> None:
    """No action is left; if both sides have a line, the side that has just moved has won."""
    state = at(board, f"{mover} 7:7 1:1")
    holders = {token[2] for token in board.split()}
    winner = holders.pop() if len(holders) == 1 else morbak.OPPONENT[mover]
    outcome = morbak.outcome(state)
    assert outcome is not None
    assert (winner, "line", 4) == (outcome.result, outcome.reason, len(outcome.line))
    assert [] == morbak.legal(state)
    assert {Refusal.FINISHED} == {morbak.meaning(state, cell) for cell in range(49)}
    assert [Refusal.FINISHED] * 2 == [refusal(state, "e4"), refusal(state, "--")]
    with pytest.raises(morbak.IllegalAction, match="finished"):
        morbak.pass_turn(state)


# --- actions

EFFECTS = {
    "d4": ("d4.", "d4a", "b 7:7 1:1"),
    "xd4": ("d4b", "d4x", "b 6:7 1:1"),
    "#d4": ("d4a", "d4A", "b 6:7 1:1"),
    "!d4": ("d4B", "d4*", "b 7:7 0:1"),
}


@pytest.mark.parametrize("text", EFFECTS)
def test_each_action_changes_its_cell_and_what_it_costs(text: str) -> None:
    """Light, permute, block, neutralise, each from its only cell, seen from both sides."""
    before, after, rest = EFFECTS[text]
    assert at(after, rest) == play(at(before), text)
    swap = str.maketrans("abABxy", "baBAyx")
    mirrored = f"{rest[0].translate(swap)} {rest[4:1:-1]} {rest[8:5:-1]}"
    state = at("d4" + before[2].translate(swap), "b 7:7 1:1")
    assert at("d4" + after[2].translate(swap), mirrored) == play(state, text)


@pytest.mark.parametrize("character", ["x", "A"])
def test_neutralising_works_on_permuted_and_blocked_cells_alike(character: str) -> None:
    """Both become neutralised, and nothing is given back for them."""
    assert at("d4*", "a 3:7 1:0") == play(at(f"d4{character}", "b 3:7 1:1"), "!d4")


def expected_refusal(cell: str, kind: str, block: bool, pool: int, left: int) -> Refusal | None:
    """The rule that side a breaks on a cell of that character; written as the list of all cases."""
    if kind == "light":
        return {".": None, "*": Refusal.NEUTRALISED}.get(cell, Refusal.OCCUPIED)
    if cell in ".*":
        return Refusal.EMPTY if cell == "." else Refusal.NEUTRALISED
    if kind == "block":
        spent = Refusal.BLOCK_OFF if not block else None if pool else Refusal.NO_POOL
        own = {"a": spent, "A": Refusal.OWN_BLOCKED, "x": Refusal.OWN_PERMUTED}
        return own.get(cell, Refusal.NOT_YOURS)
    if cell in "aAx":
        return Refusal.NOT_OPPONENTS
    if kind == "permute":
        spent = None if pool else Refusal.NO_POOL
        return {"b": spent, "B": Refusal.OTHER_BLOCKED, "y": Refusal.OTHER_PERMUTED}[cell]
    return Refusal.NOT_SPECIAL if cell == "b" else None if left else Refusal.NO_NEUTRALISATION


TOUCHES = {".": "", "b": "x", "a": "#", "B": "!", "y": "!"}
KINDS = {"light": "", "permute": "x", "block": "#", "neutralise": "!"}
OPTIONS = list(itertools.product([True, False], [0, 1, 7], [0, 1]))


@pytest.mark.parametrize("side", SIDES)
def test_every_action_on_every_kind_of_cell_is_legal_or_refused_with_its_code(side: Side) -> None:
    """All kinds of cell, action, option and budget: the code of each, and no code is left unmet."""
    met = {Refusal.FINISHED, Refusal.MUST_MOVE}
    swap = str.maketrans("abABxy", "abABxy" if side == "a" else "baBAyx")
    for cell, (block, pool, left) in itertools.product(".abABxy*", OPTIONS):
        state = at(f"d4{cell.translate(swap)}", f"{side} {pool}:{pool} {left}:{left}", block)
        for kind, prefix in KINDS.items():
            code = expected_refusal(cell, kind, block, pool, left)
            assert code == refusal(state, prefix + "d4"), (cell, kind, block, pool, left)
            assert (code is None) == (morbak.parse_action(prefix + "d4") in morbak.legal(state))
            met |= {code} if code else set()
        assert Refusal.MUST_MOVE == refusal(state, "--")
    assert set(Refusal) == met


@pytest.mark.parametrize("side", SIDES)
def test_a_touch_means_the_one_action_of_its_cell_or_the_reason_why_not(side: Side) -> None:
    """Own special and neutralised cells refuse; the others mean one kind, or nothing of it is left (case G27)."""
    swap = str.maketrans("abABxy", "abABxy" if side == "a" else "baBAyx")
    dead = {"A": Refusal.OWN_BLOCKED, "x": Refusal.OWN_PERMUTED, "*": Refusal.NEUTRALISED}
    kinds = {prefix: kind for kind, prefix in KINDS.items()}
    for cell, (block, pool, left) in itertools.product(".abABxy*", OPTIONS):
        state = at(f"d4{cell.translate(swap)}", f"{side} {pool}:{pool} {left}:{left}", block)
        expected: object = dead.get(cell)
        if expected is None:
            prefix = TOUCHES[cell]
            code = expected_refusal(cell, kinds[prefix], block, pool, left)
            expected = code or morbak.parse_action(prefix + "d4")
        assert expected == morbak.meaning(state, 24)


def test_a_cell_off_the_board_has_no_meaning_and_no_name() -> None:
    """Numbers below 0 and above 48 are errors, never another cell."""
    for cell in (-1, 49):
        with pytest.raises(ValueError, match=f"cell {cell} is not on the board"):
            morbak.meaning(morbak.initial(), cell)
        with pytest.raises(ValueError, match=f"cell {cell} is not on the board"):
            morbak.cell_name(cell)


# --- passes and draws

FULL = "aba*aba/bab*bab/aba*aba/b*b*b*b/aba*aba/bab*bab/aba*aba"


def test_a_side_without_action_passes_while_the_other_has_one() -> None:
    """The pass is its only action, a pass at will is refused, and the turn goes to the other side."""
    state = morbak.parse_position(f"{FULL} a 0:1 0:0")
    assert [morbak.PASS] == morbak.legal(state)
    assert morbak.outcome(state) is None
    assert morbak.parse_position(f"{FULL} b 0:1 0:0") == play(state, "--")
    assert Refusal.MUST_MOVE == refusal(play(state, "--"), "--")
    assert Refusal.NO_POOL == morbak.meaning(state, 0)


def test_a_refusal_says_the_action_its_code_and_the_rule() -> None:
    """The text of the error is one sentence for people; the action and the code are its parts."""
    with pytest.raises(morbak.IllegalAction) as caught:
        play(morbak.initial(), "xd4")
    assert "xd4 is refused (empty): an empty cell can only be lit" == str(caught.value)
    assert (morbak.parse_action("xd4"), Refusal.EMPTY) == (caught.value.action, caught.value.code)
    assert len(Refusal) == len({code.rule for code in Refusal})


def test_neither_side_with_an_action_is_a_draw() -> None:
    """A full board alone is none: nothing must be left for either side."""
    assert Outcome("draw", "stalemate", ()) == morbak.outcome(morbak.parse_position(f"{FULL} a 0:0 1:1"))
    assert morbak.outcome(morbak.parse_position(f"{FULL} a 1:0 0:0")) is None
    stale = morbak.parse_position(f"{FULL} a 0:0 1:1")
    assert [] == morbak.legal(stale)
    assert [Refusal.FINISHED] * 2 == [refusal(stale, "--"), refusal(stale, "a1")]


def test_the_block_option_decides_a_stalemate() -> None:
    """With blocks off a pool is worth nothing on a full board without a cell to permute."""
    text = f"{FULL.replace('b', '*')} a 1:0 1:1"
    assert {"block"} == {action.kind for action in morbak.legal(morbak.parse_position(text))}
    assert Outcome("draw", "stalemate", ()) == morbak.outcome(morbak.parse_position(text, Rules(block=False)))


def test_a_lost_turn_changes_the_side_to_move_and_nothing_else() -> None:
    """A time-out passes the turn though actions are legal; twice over it is the same position."""
    state = play(morbak.initial(), "d4", "xd4")
    assert morbak.format_position(state).replace(" a ", " b ") == morbak.format_position(morbak.pass_turn(state))
    assert state == morbak.pass_turn(morbak.pass_turn(state))
