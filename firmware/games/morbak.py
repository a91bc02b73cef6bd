"""The rules of MORBAK: pure functions from (state, action) to state, on integer bit masks.

An action moves one bit from one mask to another; then the two sides change places (see `morbak_position` for the
masks). This file is the one to import: the names below with `as` are its own too.
"""

from __future__ import annotations

from struct import Struct
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


# One name a table: a list takes 1.2 us with the look-ups written out, 2.0 us with a loop over the tables.
_L0, _L1, _L2, _L3, _L4, _L5, _L6 = _tables(LIGHT)
_P0, _P1, _P2, _P3, _P4, _P5, _P6 = _tables(PERMUTE)
_B0, _B1, _B2, _B3, _B4, _B5, _B6 = _tables(BLOCK)
_N0, _N1, _N2, _N3, _N4, _N5, _N6 = _tables(NEUTRALISE)
_bytes = Struct("<4Q").pack  # four masks, eight bytes each: seven with cells, one always 0

_BITS: Final = {-1: 0} | {cell: 1 << cell for cell in range(CELLS)}  # -1: the cell of a pass
_new = tuple.__new__  # 0.14 us, State(...) 0.33 us


def _listed(lights: int, permutes: int, blocks: int, neutralises: int) -> list[Action]:
    """The actions on the cells of four masks, a kind each."""
    (
        l0, l1, l2, l3, l4, l5, l6, _,
        p0, p1, p2, p3, p4, p5, p6, _,
        b0, b1, b2, b3, b4, b5, b6, _,
        n0, n1, n2, n3, n4, n5, n6, _,
    ) = _bytes(lights, permutes, blocks, neutralises)  # fmt: skip
    return [
        *_L0[l0], *_L1[l1], *_L2[l2], *_L3[l3], *_L4[l4], *_L5[l5], *_L6[l6],
        *_P0[p0], *_P1[p1], *_P2[p2], *_P3[p3], *_P4[p4], *_P5[p5], *_P6[p6],
        *_B0[b0], *_B1[b1], *_B2[b2], *_B3[b3], *_B4[b4], *_B5[b5], *_B6[b6],
        *_N0[n0], *_N1[n1], *_N2[n2], *_N3[n3], *_N4[n4], *_N5[n5], *_N6[n6],
    ]  # fmt: skip


def legal(state: State) -> list[Action]:
    """Every action of the side to move, in a fixed order: lights, permutations, blocks, neutralisations.

    `[PASS]` when it has none but the opponent has; empty when the game is over.
    """
    _, empty, own, other, _, other_special, _, pool, _, neutralisations, _, line, block = state
    if line:
        return []
    actions = _listed(
        empty,
        other if pool else 0,
        own if pool and block else 0,
        other_special if neutralisations else 0,
    )
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
