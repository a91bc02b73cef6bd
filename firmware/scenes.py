"""Light that fills the board: the tide of a turn, the edges, the lot, the weather of a board that waits for players."""

from __future__ import annotations

from collections.abc import Iterator
from math import sin, tau
from typing import NamedTuple

from firmware.grounds import CELLS, COLUMNS, OFFSETS, ROWS, Ground, ring
from firmware.moments import Layer
from firmware.palette import DARK, GAMMA, Colour, Palette, mix, scale
from firmware.rhythm import Rhythm, breath, glow
from firmware.snapshot import Side

EDGES: dict[Side, tuple[int, ...]] = {"a": tuple(range(COLUMNS)), "b": tuple(range(CELLS - COLUMNS, CELLS))}
# The second row of each side, from its middle outwards: where neutralisations are counted.
SECOND_ROW: dict[Side, tuple[int, ...]] = {"a": (10, 9, 11, 8, 12, 7, 13), "b": (38, 39, 37, 40, 36, 41, 35)}
CORNERS = (0, COLUMNS - 1, CELLS - COLUMNS, CELLS - 1)

# One crest on the board at a time: its level by step. 48 steps and 7 from row to row have no common divisor, so the
# rows change one after the other and never all at once.
TIDE_SHAPE = bytes([0] * 18 + [1] * 7 + [2] * 5 + [3] * 6 + [2] * 5 + [1] * 7)
TIDE_ROW_STEPS = 7

LOBBY_EDGE = (0.25, 0.6, 4_000_000)
RESULT_EDGE = (0.015, 0.045, 6_000_000)

LOT_US = 2_000_000
LOT_CHASE_US = 1_400_000
LOT_BRAKE = 0.6  # 1 would be no braking, 0.5 an even one; a little less, so that the last step does not stand still
LOT_SETTLE_US = 90_000  # from one cell of the starter's edge to the next
LOT_RISE_US, LOT_FALL_US = 50_000, 380_000
# The cells round the board, clockwise from the middle of a's edge; the middle of b's edge lies half-way.
RING = ring(COLUMNS // 2)

# A game played again: two lights half a ring apart walk round the board, so that either side has one before him.
WALK_STEPS = 480
WALK_US = 12_000_000  # from one of them to the other
WALK_LEVEL = 0.2
WALK_DARK = 0.005  # dimmer than this would be the floor, for half of the way
WALK_RISE, WALK_FALL = 0.08, 0.3  # of that time: a soft head, and a tail of three cells

WEATHER_STEPS = 1024
SKY_STEPS = 256
SKY_LEVEL = 0.3
# How far the weather can give way: from all of its light in even steps for the eye to a quarter of it.
CALM_STEPS = 24
CALM_LEVEL = 0.25


def tide(palette: Palette, side: Side) -> tuple[int, ...]:
    """The empty board on a side's turn by step: frames as integers, a crest walking towards the side's edge."""
    levels = palette.tide(side)
    return tuple(int.from_bytes(_tide_frame(levels, side, step)) for step in range(len(TIDE_SHAPE)))


def _tide_frame(levels: tuple[Colour, ...], side: Side, step: int) -> bytes:
    away = range(ROWS) if side == "a" else reversed(range(ROWS))  # rows from the side's edge
    shape = (TIDE_SHAPE[(step + row * TIDE_ROW_STEPS) % len(TIDE_SHAPE)] for row in away)
    return b"".join(levels[level] * COLUMNS for level in shape)


def edge(colour: Colour, levels: tuple[float, float, int]) -> Rhythm:
    """An edge of the board that breathes in a side's colour; `levels` are low, high and the period in microseconds."""
    return breath(colour, *levels)


class Visit(NamedTuple):
    """A side's light on one cell of the lot, in microseconds from its start; `fall_us` None: it stays."""

    rise_us: int
    fall_us: int | None
    side: Side

    def share(self, age_us: int) -> float:
        """How much of the light is there, 0 to 1."""
        up = min(1.0, max(0, age_us - self.rise_us) / LOT_RISE_US)
        fallen_us = 0 if self.fall_us is None else max(0, age_us - self.fall_us)
        return up * max(0.0, 1 - fallen_us / LOT_FALL_US) ** 2


class Lot:
    """Both colours chase each other round the board, slower and slower, until each is home at the middle of its edge;
    then the starter's spreads along all of it and the other goes out. Until then nothing tells which it will be.

    Half a ring lies between the two, so a cell that one has passed is passed by the other 470 ms later or more.
    """

    def __init__(self, palette: Palette) -> None:
        self._palette = palette
        self._lobby = {side: edge(palette.side(side), LOBBY_EDGE) for side in EDGES}

    def layers(self, lot_us: int, starter: Side) -> list[tuple[int, Layer]]:
        """One layer for each cell round the board."""
        return [(cell, self._layer(cell, lot_us, _visits(cell, starter))) for cell in RING]

    def _layer(self, cell: int, lot_us: int, visits: list[Visit]) -> Layer:
        before = next((self._lobby[side] for side in EDGES if cell in EDGES[side]), None)

        def paint(t_us: int, _under: Colour) -> Colour:
            age_us = t_us - lot_us
            colour = DARK if before is None else mix(DARK, before.at(t_us), glow(age_us, 0, LOT_FALL_US))
            for visit in visits:
                colour = mix(colour, self._palette.side(visit.side), visit.share(age_us))
            return colour

        return Layer(lot_us, lot_us + LOT_US, paint)


def _visits(cell: int, starter: Side) -> list[Visit]:
    """Every light that comes to a cell, in order of time."""
    visits = [visit for side in EDGES for visit in _passes(cell, side, starter)]
    if cell in EDGES[starter] and all(visit.fall_us is not None for visit in visits):
        spread_us = LOT_SETTLE_US * abs(cell % COLUMNS - COLUMNS // 2)
        visits.append(Visit(LOT_CHASE_US + spread_us, None, starter))
    return sorted(visits)


def _passes(cell: int, side: Side, starter: Side) -> Iterator[Visit]:
    """A side's light comes by, braking; on the way home along its own edge it leaves its trace lit."""
    home = 0 if side == "a" else len(RING) // 2
    steps = (RING.index(cell) - home) % len(RING)
    for way in (0, len(RING)) if steps == 0 else (steps,):
        rise_us = round(LOT_CHASE_US * (1 - (1 - way / len(RING)) ** LOT_BRAKE))
        if way <= len(RING) // 2 or cell not in EDGES[side]:
            yield Visit(rise_us, rise_us + LOT_RISE_US, side)
        else:
            yield Visit(rise_us, None if side == starter else LOT_CHASE_US + LOT_RISE_US, side)


def walked(under: Ground, free: set[int], light: Colour) -> Ground:
    """A ground round which two lights walk on the `free` cells of the border: it shines by itself, nobody plays."""
    steps = [_walk(light, step / WALK_STEPS) for step in range(WALK_STEPS)]
    places = [
        (slice(OFFSETS[cell], OFFSETS[cell] + 3), -number * WALK_STEPS * 2 // len(RING))
        for number, cell in enumerate(RING)
        if cell in free
    ]

    def ground(t_us: int) -> bytearray:
        frame, now = under(t_us), t_us * WALK_STEPS // WALK_US
        for place, ahead in places:
            frame[place] = steps[(now + ahead) % WALK_STEPS]
        return frame

    return ground


def _walk(light: Colour, turn: float) -> Colour:
    """What a cell shows from one passing light to the next: dark, but for the part of the turn that is its own."""
    level = WALK_LEVEL * glow(round(turn * WALK_US), round(WALK_RISE * WALK_US), round(WALK_FALL * WALK_US))
    return scale(light, level) if level > WALK_DARK else DARK


# Two slow waves: microseconds a period, and how far the phase turns from column to column and from row to row.
WAVES = ((29_000_000, 0.070, 0.050, 0.65), (43_000_000, -0.060, 0.100, 0.35))


class Weather:
    """Slow fronts of both colours over a board that is never dark and never still; about 10 us a frame."""

    def __init__(self, palette: Palette) -> None:
        self._skies = [_sky(palette), *([] for _ in range(1, CALM_STEPS))]  # those of calm when they are wanted
        self._waves = [
            [round(SKY_STEPS * share * sin(tau * step / WEATHER_STEPS)) for step in range(WEATHER_STEPS)]
            for *_, share in WAVES
        ]
        self._places = [
            tuple(round(WEATHER_STEPS * (x * dx + y * dy)) for _, dx, dy, _ in WAVES)
            for y in range(ROWS)
            for x in range(COLUMNS)
        ]

    def __call__(self, t_us: int, calm: int = 0) -> bytearray:
        """The board at a time; `calm` 0 to `CALM_STEPS` - 1: how far the weather gives way."""
        sky = self._skies[calm] or self._calmed(calm)
        first, second = self._waves
        one, two = (t_us * WEATHER_STEPS // period_us for period_us, *_ in WAVES)
        return bytearray().join(
            sky[first[(one + p) % WEATHER_STEPS] + second[(two + q) % WEATHER_STEPS]] for p, q in self._places
        )

    def _calmed(self, calm: int) -> list[Colour]:
        """The sky of that calm: as the first, but dimmer, and never below visible."""
        level = (1 + (CALM_LEVEL ** (1 / GAMMA) - 1) * calm / (CALM_STEPS - 1)) ** GAMMA
        sky = self._skies[calm] = [scale(colour, level) for colour in self._skies[0]]
        return sky


def _sky(palette: Palette) -> list[Colour]:
    """Colours from dusk (index 0) up to a's and, by negative indices, down to b's."""
    up = [_air(palette, step / SKY_STEPS) for step in range(SKY_STEPS + 1)]
    down = [_air(palette, -step / SKY_STEPS) for step in range(SKY_STEPS, 0, -1)]
    return up + down


def _air(palette: Palette, height: float) -> Colour:
    warm, cold = max(0.0, 0.5 + height) / 1.5, max(0.0, 0.5 - height) / 1.5
    colour = mix(mix(DARK, palette.a, SKY_LEVEL * warm**2.5), mix(DARK, palette.b, SKY_LEVEL * cold**2.5), 0.5)
    return scale(colour, 1.0)
