"""Three corners held together: whether there is a diode at each cell, and whether a driver guesses. Pure.

Without diodes three corners of a rectangle read as four (case D1). A driver that hides the fourth cannot know which
of the four nobody holds, so with three others held it hides the wrong one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from hal.guide import Ask, Script, Touch, mask, name

# What was told: every cell has its diode, not every one has, somebody hides what cannot be known, or nothing.
Diodes = Literal["there", "missing", "guessed", "not tried"]
TRIES = 2


def corners(size: tuple[int, int], bit_of: Callable[[int], int]) -> Script[Diodes]:
    """Have the corners of the board held by threes. `bit_of`: the bit of a scan's mask that is a cell's."""
    rows, columns = size
    four = (0, columns - 1, (rows - 1) * columns, rows * columns - 1)
    for held in (four[:3], four[1:]):
        read = yield from _read(held, mask(map(bit_of, held)), columns, rows * columns)
        if read == mask(map(bit_of, four)):
            return "missing"
        if read.bit_count() == len(held) and not read & ~mask(map(bit_of, four)):
            if read != mask(map(bit_of, held)):
                return "guessed"
        else:
            return "not tried"
    return "there"


def _read(held: tuple[int, ...], wanted: int, columns: int, cells: int) -> Script[int]:
    """What is read of these cells, asked for again if one is missing; 0 where nothing was."""
    read = 0
    for _ in range(TRIES):
        text = f"Hold {', '.join(name(cell, columns) for cell in held)} together for a second. (Enter: skip)"
        answer = yield Ask("touch", text, bytes(3 * cells), held)
        if not isinstance(answer, Touch):
            return 0
        read = answer.places
        if read & wanted == wanted:
            break
    return read
