"""Wiring: which way round the matrix lies under the cells, and the optional parts around it. Data only, pure."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

# A pin as a profile writes it: see hal/pins.py.
Written = int | Annotated[str, Meta(min_length=1, max_length=80)]
Degrees = Literal[0, 90, 180, 270]


class ButtonsSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[buttons]`: push buttons from a pin to ground, each optional. `start`: starts, pauses and goes on."""

    start: Written | None = None


class BuzzerSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[buzzer]`: a passive buzzer (a piezo) on a pin, optional; `volume_pct` 0 keeps it still."""

    pin: Written | None = None
    volume_pct: Annotated[int, Meta(ge=0, le=100)] = 50


class EdgeStripsSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[edge_strips]`: LEDs along the edges of sides a and b, for what is left and for clocks; 0 where there are none.

    They come after the cells' LEDs in the chain, side a's first, each from its own player's left to right.
    """

    a: Annotated[int, Meta(ge=0, le=32)] = 0
    b: Annotated[int, Meta(ge=0, le=32)] = 0


def turned(rows: int, columns: int, rotate_deg: Degrees, mirror: bool) -> tuple[int, ...]:
    """The cell at each place of the wiring, places counted row by row; `rows`, `columns` are those of the cells.

    The wiring is mirrored first (left becomes right, as a board that is wired from beneath), then turned clockwise
    as seen from above with side a, and so row 1, at the bottom.
    """
    wired_rows, wired_columns = wired_size(rows, columns, rotate_deg)
    cells = []
    for up in range(wired_rows):
        for right in range(wired_columns):
            x, y, width, height = right, up, wired_columns, wired_rows
            if mirror:
                x = width - 1 - x
            for _ in range(rotate_deg // 90):
                x, y, width, height = y, width - 1 - x, height, width
            cells.append(y * columns + x)
    return tuple(cells)


def wired_size(rows: int, columns: int, rotate_deg: Degrees) -> tuple[int, int]:
    """How many rows and columns the wiring has under rows x columns cells."""
    return (columns, rows) if rotate_deg in (90, 270) else (rows, columns)
