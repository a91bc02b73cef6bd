"""How a cell that cannot be touched stays playable: by two edge cells together, one of its row and one of its column.

Cells that lie on an edge themselves have no such pair; they are played with the cursor of the menu. Where one contact
is bad others may be: no pair that contacts may form by themselves plays anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from firmware.gesture import Chord
from firmware.grounds import COLUMNS, ROWS

# Two fingers come down together; two contacts that fail do not.
TOGETHER_US = 1_000_000


def detours(masked: Iterable[int], hold_us: int, doubted: frozenset[int] = frozenset()) -> dict[frozenset[int], Chord]:
    """For each masked cell inside the board its four pairs of edge cells; the chord is named by the cell's number.

    Edge cells that are `doubted`, since their contacts have been stuck, stand for no other.
    """
    return {
        pair: Chord(str(cell), hold_us, TOGETHER_US) for cell in masked for pair in _pairs(cell) if not pair & doubted
    }


def _pairs(cell: int) -> Iterator[frozenset[int]]:
    row, column = divmod(cell, COLUMNS)
    if 0 < row < ROWS - 1 and 0 < column < COLUMNS - 1:
        for side, end in product((0, COLUMNS - 1), (0, ROWS - 1)):
            yield frozenset((row * COLUMNS + side, end * COLUMNS + column))


def cell_of(name: str) -> int | None:
    """The masked cell that the chord of this name plays; None for a chord of another meaning."""
    return int(name) if name.isdigit() else None
