"""The board while somebody wipes it: a pale stroke goes over it and back, as a cloth does; it feels nothing.

Under the stroke lies a ground at the dimmest visible level; column by column it is wiped away as the time passes, so
what is left of it tells how long the board stays deaf.
"""

from __future__ import annotations

from firmware.grounds import COLUMNS, ROWS, Ground
from firmware.palette import DARK, Colour, scale
from firmware.rhythm import swing
from firmware.snapshot import Countdown

STROKE_US = 6_000_000  # there and back: five strokes in 30 s, and no cell rises twice within a second
LEVEL = 0.3
REACH = 1.6  # columns to either side
LEAN = 0.2  # columns that each row lies behind the one before: a hand's stroke is not quite upright
MARGIN = REACH + LEAN * (ROWS // 2)  # from there on no row is lit
STEPS = 64


def cleaning(pale: Colour, time: Countdown) -> Ground:
    """The ground of a board that is wiped from the start of a time to its end, in one pale colour."""
    shades = [scale(pale, LEVEL * (step / STEPS) ** 2) for step in range(STEPS + 1)]
    leans = [(row - ROWS // 2) * LEAN for row in range(ROWS)]
    length_us = max(1, time.end_us - time.start_us)

    def shade(away: float, rests: bool) -> Colour:
        step = round(STEPS * (1 - away / REACH))
        return shades[max(0, step)] if rests or step > 0 else DARK

    def ground(t_us: int) -> bytearray:
        age_us = t_us - time.start_us
        at = (COLUMNS - 1 + 2 * MARGIN) * swing(age_us / STROKE_US) - MARGIN
        wiped = age_us * COLUMNS // length_us
        cells = (shade(abs(column + lean - at), column >= wiped) for lean in leans for column in range(COLUMNS))
        return bytearray().join(cells)

    return ground
