"""The rules of MORBAK: pure functions from (state, action) to state, on integer bit masks.

An action moves one bit from one mask to another; then the two sides change places (see `morbak_position` for the
masks). This file is the one to import: the names below with `as` are its own too.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from firmware.games.morbak_actions import BLOCK, LIGHT, NEUTRALISE, PERMUTE, on_board
from firmware.games.morbak_actions import CELLS as CELLS
from firmware.games.morbak_actions import PASS as PASS
from firmware.games.morbak_actions import SIZE as SIZE
from firmware.games.morbak_actions import Action as Action
from firmware.games.morbak_actions import IllegalAction as IllegalAction
from firmware.games.morbak_actions import Kind as Kind
from firmware.games.morbak_actions import Refusal as Refusal
from firmware.games.morbak_actions import UnreadableText as UnreadableText
from firmware.games.morbak_actions import cell_name as cell_name
from firmware.games.morbak_actions import format_action as format_action
from firmware.games.morbak_actions import parse_action as parse_action
from firmware.games.morbak_actions import parse_cell as parse_cell
from firmware.games.morbak_position import LITE as LITE
from firmware.games.morbak_position import MOST as MOST
from firmware.games.morbak_position import OPPONENT as OPPONENT
from firmware.games.morbak_position import PROFILES as PROFILES
from firmware.games.morbak_position import STANDARD as STANDARD
from firmware.games.morbak_position import Rules as Rules
from firmware.games.morbak_position import Side as Side
from firmware.games.morbak_position import State as State
from firmware.games.morbak_position import cells as cells
from firmware.games.morbak_position import cells_in, completed, turned
from firmware.games.morbak_position import check_rules as check_rules
from firmware.games.morbak_position import format_position as format_position
from firmware.games.morbak_position import initial as initial
from firmware.games.morbak_position import mover as mover
from firmware.games.morbak_position import neutralisations as neutralisations
from firmware.games.morbak_position import parse_position as parse_position
from firmware.games.morbak_position import pools as pools
from firmware.games.morbak_position import problems as problems


class Outcome(NamedTuple):
    """How a game ended. `line`: every cell of the winner's completed lines, ascending; empty for a draw."""

    result: Literal["a", "b", "draw"]
    reason: Literal["line", "stalemate"]
    line: tuple[int, ...]


# The byte tables of a kind: the actions on eight cells at a look-up, so that a list of a whole position takes seven.
_Tables = tuple[tuple[tuple[Action, ...], ...], ...]


def _tables(actions: tuple[Action, ...]) -> _Tables:
    groups = [actions[first : first + 8] for first in range(0, CELLS, 8)]
    return tuple(
        tuple(tuple(action for bit, action in enumerate(group) if byte >> bit & 1) for byte in range(1 << len(group)))
        for group in groups
    )


_LIGHTS: Final = _tables(LIGHT)
_PERMUTES: Final = _tables(PERMUTE)
_BLOCKS: Final = _tables(BLOCK)
_NEUTRALISES: Final = _tables(NEUTRALISE)

_BITS: Final = {-1: 0} | {cell: 1 << cell for cell in range(CELLS)}  # -1: the cell of a pass
_new = tuple.__new__  # a third cheaper than State(...), whose check of the arguments is not needed here


def _listed(tables: _Tables, mask: int) -> list[Action]:
    t0, t1, t2, t3, t4, t5, t6 = tables
    b0, b1, b2, b3, b4, b5, b6 = mask.to_bytes(7, "little")
    return [*t0[b0], *t1[b1], *t2[b2], *t3[b3], *t4[b4], *t5[b5], *t6[b6]]


def legal(state: State) -> list[Action]:
    """Every action of the side to move, in a fixed order: lights, permutations, blocks, neutralisations.

    `[PASS]` when it has none but the opponent has; empty when the game is over.
    """
    _, empty, own, other, _, other_special, _, pool, _, neutralisations, _, line, block = state
    if line:
        return []
    actions = _listed(_LIGHTS, empty)
    if pool:
        actions += _listed(_PERMUTES, other)
        if block:
            actions += _listed(_BLOCKS, own)
    if neutralisations and other_special:
        actions += _listed(_NEUTRALISES, other_special)
    return actions or ([PASS] if _count(turned(state)) else [])


def apply(state: State, action: Action) -> State:
    """The position after a legal action, the other side to move. Raises IllegalAction with the reason code.

    PASS is legal only when it is forced; a turn lost on time is `pass_turn`.
    """
    (side, empty, own, other, own_special, other_special, blocked,
     pool, other_pool, neutralisations, other_neutralisations, line, block) = state  # fmt: skip
    kind, cell, _ = action
    bit = _BITS[cell]
    if line:
        raise IllegalAction(action, Refusal.FINISHED)
    if kind == "light" and empty & bit:
        empty ^= bit
        own |= bit
        line = completed(own | own_special)
    elif kind == "permute" and pool and other & bit:
        other ^= bit
        own_special |= bit
        pool -= 1
        line = completed(own | own_special)
    elif kind == "block" and pool and block and own & bit:
        own ^= bit
        own_special |= bit
        blocked |= bit
        pool -= 1
    elif kind == "neutralise" and neutralisations and other_special & bit:
        other_special ^= bit
        blocked &= ~bit
        neutralisations -= 1
    elif kind != "pass" or legal(state) != [PASS]:
        raise IllegalAction(action, _refusal(state, action))
    return _new(State, (
        OPPONENT[side], empty, other, own, other_special, own_special, blocked,
        other_pool, pool, other_neutralisations, neutralisations, line, block,
    ))  # fmt: skip


def pass_turn(state: State) -> State:
    """The position after a move time-out: the turn is lost, nothing else changes.

    Raises IllegalAction (`finished`) when the game is over.
    """
    if outcome(state):
        raise IllegalAction(PASS, Refusal.FINISHED)
    return turned(state)


def outcome(state: State) -> Outcome | None:
    """How the game ended, or None while it goes on.

    Should a position that no game can reach hold lines of both sides, the side that has just moved has won.
    """
    if state.line:
        moved = OPPONENT[state.side]
        winner = moved if state.line & (state.other | state.other_special) else state.side
        return Outcome(winner, "line", tuple(cells_in(state.line)))
    return None if state.empty or legal(state) else Outcome("draw", "stalemate", ())


def meaning(state: State, cell: int) -> Action | Refusal:
    """The one action that a touch of the side to move on that cell means, or why there is none.

    Raises ValueError for a number that is no cell.
    """
    bit = _BITS[on_board(cell)]
    if (state.own | state.own_special) & bit:
        action = BLOCK[cell]
    elif state.other & bit:
        action = PERMUTE[cell]
    elif state.other_special & bit:
        action = NEUTRALISE[cell]
    else:
        action = LIGHT[cell]
    return action if action in legal(state) else _refusal(state, action)


def _refusal(state: State, action: Action) -> Refusal:
    """The rule that an illegal action breaks; of several the first: the end, the cell, block off, what is left."""
    kind, bit = action.kind, _BITS[action.cell]
    own = (state.own | state.own_special) & bit
    if outcome(state):
        return Refusal.FINISHED
    if kind == "pass":
        return Refusal.MUST_MOVE
    if state.empty & bit:
        return Refusal.EMPTY
    if not (own or (state.other | state.other_special) & bit):
        return Refusal.NEUTRALISED
    if kind == "light":
        return Refusal.OCCUPIED
    if kind == "block":
        return _block_refusal(state, bit) if own else Refusal.NOT_YOURS
    return Refusal.NOT_OPPONENTS if own else _capture_refusal(state, kind, bit)


def _block_refusal(state: State, bit: int) -> Refusal:
    if state.own_special & bit:
        return Refusal.OWN_BLOCKED if state.blocked & bit else Refusal.OWN_PERMUTED
    return Refusal.NO_POOL if state.block else Refusal.BLOCK_OFF


def _capture_refusal(state: State, kind: Kind, bit: int) -> Refusal:
    if kind == "neutralise":
        return Refusal.NO_NEUTRALISATION if state.other_special & bit else Refusal.NOT_SPECIAL
    if state.other_special & bit:
        return Refusal.OTHER_BLOCKED if state.blocked & bit else Refusal.OTHER_PERMUTED
    return Refusal.NO_POOL


def _count(state: State) -> int:
    """How many actions `legal` lists, a forced pass not counted."""
    if state.line:
        return 0
    count = state.empty.bit_count()
    if state.pool:
        count += state.other.bit_count() + (state.own.bit_count() if state.block else 0)
    if state.neutralisations:
        count += state.other_special.bit_count()
    return count


def perft(state: State, depth: int) -> int:
    """The number of action sequences of that length; a forced pass counts as one, a finished game has none.

    Raises ValueError for a depth below 0.
    """
    if depth < 0:
        raise ValueError(f"depth = {depth}: must be 0 or more")
    if depth == 0:
        return 1
    if depth == 1:
        return _count(state) or len(legal(state))
    return sum(perft(apply(state, action), depth - 1) for action in legal(state))


def divide(state: State, depth: int) -> dict[str, int]:
    """`perft` split by first action: action text -> count. Raises ValueError for a depth below 1."""
    if depth < 1:
        raise ValueError(f"depth = {depth}: must be 1 or more")
    return {action.text: perft(apply(state, action), depth - 1) for action in legal(state)}
