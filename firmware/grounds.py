"""Grounds: what the whole board shows for as long as a snapshot lasts, a function from time to a frame."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from firmware.palette import DARK, GAMMA
from firmware.rhythm import PHASES, Rhythm, swing

ROWS = COLUMNS = 7
CELLS = ROWS * COLUMNS
FRAME_BYTES = CELLS * 3
OFFSETS = tuple(range(0, FRAME_BYTES, 3))

# A paused board: a third of its light, 6 s. At 25 % the dimmest cell (neutralised) is still visible.
PAUSED_US = 6_000_000
PAUSED_LOW, PAUSED_HIGH = 0.25, 0.41

# What the empty cells show by step of time, as whole frames in integers.
TIDE_STEP_US = 200_000
NO_TIDE = (0,)

Ground = Callable[[int], bytearray]
Shown = dict[int, Rhythm]  # cells that are not empty, and how they shine


def ring(radius: int) -> tuple[int, ...]:
    """The cells at that distance round the middle of the board, clockwise from the middle of side a's edge."""
    middle, low, high = COLUMNS // 2, COLUMNS // 2 - radius, COLUMNS // 2 + radius
    way = [(x, low) for x in range(middle, low, -1)] + [(low, y) for y in range(low, high)]
    way += [(x, high) for x in range(low, high)] + [(high, y) for y in range(high, low, -1)]
    way += [(x, low) for x in range(high, middle, -1)]
    return tuple(y * COLUMNS + x for x, y in way)


def still(shown: Shown) -> Ground:
    """A dark board but for some cells."""
    return flowing(shown, NO_TIDE)


def flowing(shown: Shown, tide: tuple[int, ...]) -> Ground:
    """Cells by their rhythms, the others as the tide has it; whole frames as integers, so that merging is two steps.

    All cells of one rhythm have one colour at a time, so a colour is looked up once a rhythm, not once a cell.
    """
    base, empty = bytearray(FRAME_BYTES), bytearray(b"\xff" * FRAME_BYTES)
    places: defaultdict[Rhythm, list[slice]] = defaultdict(list)
    for cell, rhythm in shown.items():
        place = slice(OFFSETS[cell], OFFSETS[cell] + 3)
        base[place], empty[place] = rhythm.values[0], DARK
        if len(rhythm.values) > 1:
            places[rhythm].append(place)
    fixed, open_water = int.from_bytes(base), int.from_bytes(empty)
    moving = tuple((rhythm.period_us, rhythm.values, tuple(cells)) for rhythm, cells in places.items())

    def ground(t_us: int) -> bytearray:
        water = tide[t_us // TIDE_STEP_US % len(tide)]
        frame = bytearray((water & open_water | fixed).to_bytes(FRAME_BYTES))
        for period_us, values, cells in moving:
            colour = values[t_us % period_us * PHASES // period_us]
            for cell in cells:
                frame[cell] = colour
        return frame

    return ground


def shaded(ground: Ground) -> Ground:
    """A ground under the slow breath of a paused board."""

    def shade(t_us: int) -> bytearray:
        return ground(t_us).translate(SHADES.at(t_us))

    return shade


def _shade(level: float) -> bytes:
    """Every byte at `level` of its light."""
    return bytes(round(byte * level ** (1 / GAMMA)) for byte in range(256))


SHADES = Rhythm(
    PAUSED_US,
    tuple(_shade(PAUSED_LOW + (PAUSED_HIGH - PAUSED_LOW) * swing(phase / PHASES)) for phase in range(PHASES)),
)
