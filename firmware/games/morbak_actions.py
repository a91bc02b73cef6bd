"""The actions of MORBAK and their texts, and the two errors: an action the rules refuse, a text nobody can read.

`firmware.games.morbak` hands all of this on; import it from there.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal, NamedTuple, Self

Kind = Literal["light", "permute", "block", "neutralise", "pass"]

SIZE: Final = 7
CELLS: Final = SIZE * SIZE

_NAMES: Final = tuple(f"{'abcdefg'[cell % SIZE]}{cell // SIZE + 1}" for cell in range(CELLS))
_CELLS: Final = {form: cell for cell, name in enumerate(_NAMES) for form in (name, name.upper())}


class Action(NamedTuple):
    """One turn. Take actions from `legal`, `meaning` or `parse_action`: there is one object for each of the 197."""

    kind: Kind
    cell: int
    text: str


class Refusal(StrEnum):
    """Why an action is refused: the reason code, with its rule in words.

    The first six are all that a touch can meet before the end of a game.
    """

    OWN_PERMUTED = "own_permuted", "a permuted cell of one's own cannot be lost and needs no block; play another cell"
    OWN_BLOCKED = "own_blocked", "this cell of one's own is blocked already; play another cell"
    NEUTRALISED = "neutralised", "a neutralised cell is out of play for good; play another cell"
    NO_POOL = "no_pool", "no permutation or block is left; play another action"
    NO_NEUTRALISATION = "no_neutralisation", "no neutralisation is left; play another action"
    BLOCK_OFF = "block_off", "this game is played without blocks; play another action"
    FINISHED = "finished", "the game is over; start a new one"
    EMPTY = "empty", "an empty cell can only be lit"
    OCCUPIED = "occupied", "only an empty cell can be lit"
    NOT_YOURS = "not_yours", "only a cell of one's own can be blocked"
    NOT_OPPONENTS = "not_opponents", "only a cell in the opponent's colour can be permuted or neutralised"
    OTHER_PERMUTED = "other_permuted", "a permuted cell cannot be permuted again, only neutralised"
    OTHER_BLOCKED = "other_blocked", "a blocked cell cannot be permuted, only neutralised"
    NOT_SPECIAL = "not_special", "only a cell that the opponent has permuted or blocked can be neutralised"
    MUST_MOVE = "must_move", "only a side without any action passes; play one of the legal actions"

    rule: str

    def __new__(cls, code: str, rule: str) -> Self:
        """The string is the code; the rule is a sentence for people."""
        member = str.__new__(cls, code)
        member._value_, member.rule = code, rule
        return member


class IllegalAction(ValueError):
    """A readable action that the rules refuse; `code` names the rule it breaks."""

    def __init__(self, action: Action, code: Refusal) -> None:
        super().__init__(f"{action.text} is refused ({code}): {code.rule}")
        self.action, self.code = action, code


class UnreadableText(ValueError):
    """A text that is no cell, no action or no position."""


def shown(text: str) -> str:
    """A text as errors show it: quoted, on one line, at most 80 characters of it."""
    return repr(text) if len(text) <= 80 else f"{text[:80]!r}..."


def _interned(kind: Kind, prefix: str) -> tuple[Action, ...]:
    return tuple(Action(kind, cell, prefix + name) for cell, name in enumerate(_NAMES))


LIGHT: Final = _interned("light", "")
PERMUTE: Final = _interned("permute", "x")
BLOCK: Final = _interned("block", "#")
NEUTRALISE: Final = _interned("neutralise", "!")
PASS: Final = Action("pass", -1, "--")

_ACTIONS: Final = {PASS.text: PASS} | {
    prefix + form: actions[cell]
    for prefix, actions in (("", LIGHT), ("x", PERMUTE), ("#", BLOCK), ("!", NEUTRALISE))
    for form, cell in _CELLS.items()
}


def on_board(cell: int) -> int:
    """The same number, if it is that of a cell. Raises ValueError."""
    if not 0 <= cell < CELLS:
        raise ValueError(f"cell {cell} is not on the board: cells are numbered 0 (a1) to {CELLS - 1} (g7)")
    return cell


def cell_name(cell: int) -> str:
    """The name of a cell, a1 to g7. Raises ValueError for a number that is no cell."""
    return _NAMES[on_board(cell)]


def parse_cell(text: str) -> int:
    """The number of a cell from its name, in lower or upper case. Raises UnreadableText."""
    cell = _CELLS.get(text.strip())
    if cell is None:
        raise UnreadableText(f"{shown(text)} is no cell: cells are a1 to g7")
    return cell


def parse_action(text: str) -> Action:
    """The action that a text (`d4` `xd4` `#d4` `!d4` `--`) stands for. Raises UnreadableText."""
    action = _ACTIONS.get(text.strip())
    if action is None:
        raise UnreadableText(f"{shown(text)} is no action: actions are d4, xd4, #d4, !d4 (any cell a1 to g7) and --")
    return action
