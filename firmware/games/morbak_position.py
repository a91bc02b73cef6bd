"""Positions of MORBAK: the rule options, the state on bit masks, what it shows, and its one-line text.

`firmware.games.morbak` hands the public part of this on; import it from there.

A state is seen from the side to move. Five disjoint masks say what each cell is to that side, and name at once the one
action it allows there; whatever is in none of them is neutralised:

    empty -> light    own -> block    other -> permute    other_special -> neutralise    own_special -> nothing

Bit `cell` stands for cell `row * 7 + column`, row-major from a1.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from firmware.games.morbak_actions import CELLS, SIZE, UnreadableText, shown

Side = Literal["a", "b"]

OPPONENT: Final[dict[Side, Side]] = {"a": "b", "b": "a"}
ALL_CELLS: Final = (1 << CELLS) - 1
MOST: Final = CELLS  # the range of the rule options: 0 to this

_WEST: Final = sum(0b0001111 << row * SIZE for row in range(SIZE))  # columns a-d: a row or rising line begins there
_EAST: Final = sum(0b1111000 << row * SIZE for row in range(SIZE))  # columns d-g: and a falling one there


class Rules(NamedTuple):
    """The options of a game: permutations and blocks a side, whether blocking exists, neutralisations a side."""

    pool: int = 7
    block: bool = True
    neutralisations: int = 1


STANDARD: Final = Rules()
LITE: Final = Rules(pool=6)
PROFILES: Final[dict[str, Rules]] = {"standard": STANDARD, "lite": LITE}


class State(NamedTuple):
    """A position, seen from `side`, which is to move.

    `own`, `other`: cells that are lit and neither permuted nor blocked. `own_special`, `other_special`: cells that
    are. `blocked`: which special cells are blocked. `pool`, `neutralisations`: what is left. `line`: the cells of
    the winner's completed lines, 0 while there is none. `block`: whether blocking exists.
    """

    side: Side
    empty: int
    own: int
    other: int
    own_special: int
    other_special: int
    blocked: int
    pool: int
    other_pool: int
    neutralisations: int
    other_neutralisations: int
    line: int
    block: bool


def check_rules(rules: Rules) -> None:
    """Accept rules whose options are in range; raises ValueError naming the first that is not."""
    for name, value in (("pool", rules.pool), ("neutralisations", rules.neutralisations)):
        if type(value) is not int or not 0 <= value <= MOST:
            raise ValueError(f"{name} = {value!r}: must be a whole number from 0 to {MOST}")
    if type(rules.block) is not bool:
        raise ValueError(f"block = {rules.block!r}: must be true or false")


def initial(rules: Rules = STANDARD, starter: Side = "a") -> State:
    """The empty board with `starter` to move. Raises ValueError for rules out of range and for another side."""
    check_rules(rules)
    if starter not in OPPONENT:
        raise ValueError(f"starter = {starter!r}: must be a or b")
    pool, block, neutralisations = rules
    return State(starter, ALL_CELLS, 0, 0, 0, 0, 0, pool, pool, neutralisations, neutralisations, 0, block)


def turned(state: State) -> State:
    """The same position with the other side to move."""
    (side, empty, own, other, own_special, other_special, blocked,
     pool, other_pool, neutralisations, other_neutralisations, line, block) = state  # fmt: skip
    return State(
        OPPONENT[side], empty, other, own, other_special, own_special, blocked,
        other_pool, pool, other_neutralisations, neutralisations, line, block,
    )  # fmt: skip


def completed(colour: int) -> int:
    """The cells of every completed line of one colour (shift-and, a direction each); 0 when there is none."""
    row, column = colour & colour >> 1, colour & colour >> 7
    rising, falling = colour & colour >> 8, colour & colour >> 6
    row &= row >> 2 & _WEST
    column &= column >> 14
    rising &= rising >> 16 & _WEST
    falling &= falling >> 12 & _EAST
    if not (row or column or rising or falling):
        return 0
    line = 0
    for first, step in ((row, 1), (column, 7), (rising, 8), (falling, 6)):
        line |= first | first << step | first << 2 * step | first << 3 * step
    return line


def winning_line(state: State) -> int:
    """The cells of the winner's completed lines; were both sides to have some, the side that has just moved won."""
    return completed(state.other | state.other_special) or completed(state.own | state.own_special)


def cells_in(mask: int) -> list[int]:
    """The cells of a mask, ascending."""
    return [cell for cell in range(CELLS) if mask >> cell & 1]


def mover(state: State) -> Side:
    """The side to move."""
    return state.side


def pools(state: State) -> tuple[int, int]:
    """Permutations and blocks left: (a, b)."""
    left = state.pool, state.other_pool
    return left if state.side == "a" else left[::-1]


def neutralisations(state: State) -> tuple[int, int]:
    """Neutralisations left: (a, b)."""
    left = state.neutralisations, state.other_neutralisations
    return left if state.side == "a" else left[::-1]


def cells(state: State) -> str:
    """49 characters in cell order a1 b1 .. g7, one a cell, as in the position text."""
    picture = ["*"] * CELLS
    for character, mask in _layers(state).items():
        for cell in cells_in(mask):
            picture[cell] = character
    return "".join(picture)


def _layers(state: State) -> dict[str, int]:
    seen = state if state.side == "a" else turned(state)
    blocked = state.blocked
    return {
        ".": seen.empty, "a": seen.own, "b": seen.other,
        "A": seen.own_special & blocked, "B": seen.other_special & blocked,
        "x": seen.own_special & ~blocked, "y": seen.other_special & ~blocked,
    }  # fmt: skip


def problems(state: State) -> list[str]:
    """Every broken invariant as a sentence; empty for a sound state. A position no game can reach is no problem."""
    masks, left = _named(state, "empty", "blocked"), _named(state, "pool", "other_neutralisations")
    found = [f"{name} holds a bit that is no cell" for name, mask in masks if not 0 <= mask <= ALL_CELLS]
    found += [
        f"{name} and {twin} share cells"
        for place, (name, mask) in enumerate(masks[:5])
        for twin, other in masks[place + 1 : 5]
        if mask & other
    ]
    if state.blocked & ~(state.own_special | state.other_special):
        found.append("blocked holds cells that are not special")
    found += [f"{name} = {value} is outside 0 to {MOST}" for name, value in left if not 0 <= value <= MOST]
    if state.side not in OPPONENT:
        found.append(f"side = {state.side!r} is neither a nor b")
    if state.line != winning_line(state):
        found.append("line is not the cells of the winner's completed lines")
    return found


def _named(state: State, first: str, last: str) -> list[tuple[str, int]]:
    names = State._fields[State._fields.index(first) : State._fields.index(last) + 1]
    return [(name, getattr(state, name)) for name in names]


def format_position(state: State) -> str:
    """The one-line text of a position; `parse_position` reads it back."""
    picture = cells(state)
    rows = "/".join(picture[first : first + SIZE] for first in range(CELLS - SIZE, -1, -SIZE))
    (pool_a, pool_b), (neutralisations_a, neutralisations_b) = pools(state), neutralisations(state)
    return f"{rows} {state.side} {pool_a}:{pool_b} {neutralisations_a}:{neutralisations_b}"


def parse_position(text: str, rules: Rules = STANDARD) -> State:
    """The position of a one-line text, reachable or not; of the rules only `block` counts, the rest is in the text.

    White space at the ends is dropped. Raises UnreadableText, and ValueError for rules out of range.
    """
    check_rules(rules)
    fields = text.strip().split(" ")
    if len(fields) != 4:
        raise UnreadableText(f"position {shown(text)} must be four fields: cells, side, pools, neutralisations")
    picture = _picture(fields[0])
    side = fields[1]
    if side not in OPPONENT:
        raise UnreadableText(f"side to move {shown(side)} must be a or b")
    return _state(picture, side, (*_pair("pools", fields[2]), *_pair("neutralisations", fields[3])), rules.block)


def _picture(text: str) -> str:
    rows = text.split("/")
    if len(rows) != SIZE:
        raise UnreadableText(f"cells {shown(text)} must be {SIZE} rows separated by /, not {len(rows)}")
    for number, row in zip(range(SIZE, 0, -1), rows, strict=True):
        if len(row) != SIZE or set(row) - set(".abABxy*"):
            raise UnreadableText(f"row {number} {shown(row)} must be {SIZE} characters out of . a b A B x y *")
    return "".join(reversed(rows))


def _pair(name: str, text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(0|[1-9][0-9]?):(0|[1-9][0-9]?)", text)
    if match is None or max(int(match[1]), int(match[2])) > MOST:
        raise UnreadableText(f"{name} {shown(text)} must be two numbers a:b, each from 0 to {MOST}")
    return int(match[1]), int(match[2])


def _state(picture: str, side: Side, left: tuple[int, int, int, int], block: bool) -> State:
    mask = {character: sum(1 << cell for cell in range(CELLS) if picture[cell] == character) for character in ".abABxy"}
    special_a, special_b, blocked = mask["A"] | mask["x"], mask["B"] | mask["y"], mask["A"] | mask["B"]
    seen = State("a", mask["."], mask["a"], mask["b"], special_a, special_b, blocked, *left, 0, block)
    state = seen if side == "a" else turned(seen)
    return state._replace(line=winning_line(state))
