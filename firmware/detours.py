"""How a cell that cannot be touched stays playable: by two edge cells together, one of its row and one of its column.

Cells that lie on an edge themselves have no such pair; they are played with the cursor of the menu.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from firmware.gesture import Chord
from firmware.grounds import COLUMNS, ROWS


def detours(masked: Iterable[int], hold_us: int) -> dict[frozenset[int], Chord]:
    """For each masked cell inside the board its four pairs of edge cells; the chord is named by the cell's number."""
    return {
        frozenset((row * COLUMNS + side, end * COLUMNS + column)): Chord(str(row * COLUMNS + column), hold_us)
        for row, column in (divmod(cell, COLUMNS) for cell in masked)
        if 0 < row < ROWS - 1 and 0 < column < COLUMNS - 1
        for side, end in product((0, COLUMNS - 1), (0, ROWS - 1))
    }


def cell_of(name: str) -> int | None:
    """The masked cell that the chord of this name plays; None for a chord of another meaning."""
    return int(name) if name.isdigit() else None
