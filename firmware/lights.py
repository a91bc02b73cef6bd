"""What the 49 cells show: a snapshot and a time give a frame (hop 8). Pure in time: same inputs, same bytes.

A snapshot becomes a plan once: the ground (what the whole board shows for as long as the snapshot lasts) and, for the
few cells where something happens, a stack of layers. Of a stack only the topmost layer of the moment shows, over the
ground; the order, from the top: ghost, pattern, touch, bloom, result and lot, fault, low time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from firmware import moments, scenes
from firmware.moments import FOREVER_US, Layer
from firmware.palette import DARK, DEFAULT, GAMMA, Colour, Palette, scale
from firmware.rhythm import PHASES, Rhythm, dimmed, steady, swing, voices
from firmware.scenes import CELLS, CORNERS, EDGES, OFFSETS, Ground
from firmware.snapshot import MenuLight, Side, Snapshot, Touch

FRAME_BYTES = CELLS * 3
OWNED: dict[Side, str] = {"a": "aAx", "b": "bBy"}

# In a result all else goes to 17 % of its light: at 20 % it would still look half lit, and under 16 % side b comes
# nearer than 20 (CIEDE2000) to a neutralised cell, which cannot go below the floor.
DIM_LEVEL = 0.17
DRAW_LEVEL = 1 / 3
SAFE_LEVEL = 0.1
ASKED_US = 1_000_000
# A paused board: a third of its light, 6 s. At 25 % the dimmest cell (neutralised) is still visible.
PAUSED_US = 6_000_000
PAUSED_LOW, PAUSED_HIGH = 0.25, 0.41
# The light sets off along a line when the bloom of the winning action is over (400 ms), and takes at most a second.
RUN_DELAY_US = 500_000
RUN_STEP_US = 120_000
RUN_US = 1_000_000

NO_TIDE = (0,)
Shown = dict[int, Rhythm]  # cells that are not empty, and how they shine


class Plan(NamedTuple):
    """A snapshot made ready: its ground, its stacks by byte offset, and when the last of their layers is over."""

    ground: Ground
    stacks: tuple[tuple[int, tuple[Layer, ...]], ...]
    quiet_us: int


class Lights:
    """Draws frames of 147 bytes: 49 cells in cell order, three bytes sRGB each, as the eye should see them."""

    def __init__(self, palette: Palette = DEFAULT) -> None:
        self._palette = palette
        self._voices = voices(palette)
        self._dim = {char: dimmed(voice, DIM_LEVEL) for char, voice in self._voices.items()}
        self._draw = {char: dimmed(voice, DRAW_LEVEL) for char, voice in self._voices.items()}
        self._edge = {side: scenes.edge(palette.side(side), scenes.RESULT_EDGE) for side in EDGES}
        self._lobby = {side: scenes.edge(palette.side(side), scenes.LOBBY_EDGE) for side in EDGES}
        self._low = {side: moments.low_rhythm(palette.side(side)) for side in EDGES}
        self._tide = {side: scenes.tide(palette, side) for side in EDGES}
        self._weather = scenes.weather(palette)
        self._lot = scenes.Lot(palette)
        self._snapshot: Snapshot | None = None
        self._plan = Plan(self._weather, (), 0)

    def frame(self, snapshot: Snapshot, t_us: int) -> bytes:
        """The frame that belongs to a snapshot at a time. Never raises."""
        if snapshot is not self._snapshot:
            self._plan, self._snapshot = self._planned(snapshot), snapshot
        ground, stacks, quiet_us = self._plan
        frame = ground(t_us)
        if t_us < quiet_us:
            for offset, stack in stacks:
                for layer in stack:
                    if layer.start_us <= t_us < layer.end_us:
                        frame[offset : offset + 3] = layer.paint(t_us, bytes(frame[offset : offset + 3]))
                        break
        return bytes(frame)

    def _planned(self, snapshot: Snapshot) -> Plan:
        stacks: defaultdict[int, list[Layer]] = defaultdict(list)
        for cell, layer in self._layers(snapshot):
            stacks[cell].append(layer)
        return Plan(
            self._ground(snapshot),
            tuple((OFFSETS[cell], tuple(stack)) for cell, stack in stacks.items()),
            max((layer.end_us for stack in stacks.values() for layer in stack), default=0),
        )

    # -- the ground ----------------------------------------------------------------------------------------------

    def _ground(self, s: Snapshot) -> Ground:
        match s.phase:
            case "attract":
                return self._weather
            case "lobby":
                return _still(self._lobby_edges(s.starter))
            case "play" | "replay":
                return _flowing(
                    self._position(s.cells, self._voices), NO_TIDE if s.mover is None else self._tide[s.mover]
                )
            case "paused":
                return _shaded(_still(self._position(s.cells, self._voices)))
            case "result":
                return _still(self._result(s))
            case "safe":
                return _still(dict.fromkeys(CORNERS, steady(scale(self._palette.fault, SAFE_LEVEL))))
            case "menu":
                return _still(self._menu(s.menu))

    @staticmethod
    def _position(cells: str, shine: dict[str, Rhythm]) -> Shown:
        return {cell: shine[char] for cell, char in enumerate(cells) if char != "."}

    def _menu(self, lights: tuple[MenuLight, ...]) -> Shown:
        """The cells that mean something are lit in their side's colour, the chosen one full, the rest dark."""
        level = {False: DIM_LEVEL, True: 1.0}
        return {light.cell: steady(scale(self._palette.side(light.side), level[light.chosen])) for light in lights}

    def _lobby_edges(self, starter: Side | None) -> Shown:
        """The edge of whoever starts, full; both edges breathe while nobody knows."""
        if starter is not None:
            return dict.fromkeys(EDGES[starter], self._voices[starter])  # a lit cell's character is its side
        return {cell: self._lobby[side] for side, cells in EDGES.items() for cell in cells}

    def _result(self, s: Snapshot) -> Shown:
        """A line stays and all else dims; without one the winner's cells stay; a draw dims everything.

        Where no line says it, the winner's edge shows faintly where it is empty, in a draw both.
        """
        shown = self._position(s.cells, self._draw if s.winner is None else self._dim)
        if s.winner is not None and s.line:
            return shown | dict.fromkeys(s.line, self._voices[s.winner])
        for side in EDGES if s.winner is None else (s.winner,):
            shown = dict.fromkeys(EDGES[side], self._edge[side]) | shown
        own = "" if s.winner is None else OWNED[s.winner]
        return shown | {cell: self._voices[char] for cell, char in enumerate(s.cells) if char in own}

    # -- the layers ----------------------------------------------------------------------------------------------

    def _layers(self, s: Snapshot) -> Iterator[tuple[int, Layer]]:
        """Every layer with its cell, those of higher precedence first."""
        return chain(
            self._ghosts(s),
            self._patterns(s),
            self._touches(s),
            self._asked(s),
            self._pips(s),
            self._bloom(s),
            self._ending(s),
            self._drawing(s),
            self._fault(s),
            self._low_time(s),
        )

    def _ghosts(self, s: Snapshot) -> Iterator[tuple[int, Layer]]:
        end_us = FOREVER_US if s.ghosts_until_us is None else s.ghosts_until_us
        layer = moments.ghost(s.ghosts_us, end_us, self._palette.white)
        return ((cell, layer) for cell in range(CELLS) if s.ghosts >> cell & 1)

    def _patterns(self, s: Snapshot) -> Iterator[tuple[int, Layer]]:
        for pattern in s.patterns:
            if pattern.kind == "refused":
                yield pattern.cell, moments.refused(pattern, self._palette.white)
            else:
                yield pattern.cell, moments.hold(pattern, self._palette.side(pattern.side))

    def _touches(self, s: Snapshot) -> Iterator[tuple[int, Layer]]:
        for touch in sorted(s.touches, key=lambda touch: -touch.rise_us):
            colour = self._palette.side(touch.side)
            yield touch.cell, moments.touch(touch, colour, _touch_end_us(s, touch))

    def _asked(self, s: Snapshot) -> Iterator[tuple[int, Layer]]:
        """The cell on which the other side answers: white, 1 Hz, until it is answered."""
        layer = moments.swell(s.asked_us, self._palette.white, ASKED_US)
        return ((light.cell, layer) for light in s.menu if light.asked)

    def _pips(self, s: Snapshot) -> Iterator[tuple[int, Layer]]:
        """What is left to both sides: a full cell of the edge for each special move, dark where one is spent.

        In the second row, from its middle, a pale cell for each neutralisation.
        """
        if s.pips is None:
            return
        for side, pool, neutralisations in zip(EDGES, s.pips.pools, s.pips.neutralisations, strict=True):
            edge = EDGES[side] if side == "a" else EDGES[side][::-1]
            shown = [(cell, self._palette.side(side) if n < pool else DARK) for n, cell in enumerate(edge)]
            middle = scenes.SECOND_ROW[side][: max(1, neutralisations)]
            shown += [
                (cell, self._palette.pale(side) if n < neutralisations else DARK) for n, cell in enumerate(middle)
            ]
            for cell, colour in shown:
                yield cell, moments.show(s.pips.until_us, colour)

    def _bloom(self, s: Snapshot) -> Iterator[tuple[int, Layer]]:
        if s.last_cell is not None and s.phase in ("play", "result"):
            yield s.last_cell, moments.bloom(s.last_us, self._bloom_colour(s.cells[s.last_cell]))

    def _bloom_colour(self, char: str) -> Colour:
        for side, chars in OWNED.items():
            if char in chars:
                return self._palette.pale(side)
        return self._palette.mist

    def _ending(self, s: Snapshot) -> Iterator[tuple[int, Layer]]:
        """The light that runs along the line, and the fade of every cell to what it shows in the end."""
        if s.phase != "result":
            return
        if s.winner is not None:
            step_us = min(RUN_STEP_US, RUN_US // max(1, len(s.line)))
            for place, cell in enumerate(s.line):
                crest_us = s.phase_us + RUN_DELAY_US + place * step_us
                yield cell, moments.crest(crest_us, self._palette.pale(s.winner))
        for cell, before in self._position(s.cells, self._voices).items():
            yield cell, moments.fade(s.phase_us, before)

    def _drawing(self, s: Snapshot) -> Iterator[tuple[int, Layer]]:
        if s.phase == "lobby" and s.lot_us is not None and s.starter is not None:
            yield from self._lot.layers(s.lot_us, s.starter)

    def _fault(self, s: Snapshot) -> Iterator[tuple[int, Layer]]:
        """In the first corner where nothing else is going on; there may be none, then in the calmest."""
        if s.fault_us is not None:
            busy = {touch.cell for touch in s.touches} | {pattern.cell for pattern in s.patterns}
            corner = min(CORNERS, key=lambda cell: (cell in busy, s.cells[cell] != "."))
            yield corner, moments.fault(s.fault_us, self._palette.fault)

    def _low_time(self, s: Snapshot) -> Iterator[tuple[int, Layer]]:
        if s.phase == "play" and s.mover is not None and s.low_us is not None:
            layer = moments.low(s.low_us, s.urgent_us, self._low[s.mover])
            yield from ((cell, layer) for cell in EDGES[s.mover] if s.cells[cell] == ".")


def _touch_end_us(s: Snapshot, touch: Touch) -> int:
    """A touch ends when its finger has gone, or passes into the bloom of the action it became."""
    end_us = FOREVER_US if touch.until_us is None else touch.until_us
    acted = touch.cell == s.last_cell and s.last_us >= touch.rise_us
    return min(end_us, s.last_us) if acted else end_us


def _still(shown: Shown) -> Ground:
    """A dark board but for some cells."""
    return _flowing(shown, NO_TIDE)


def _flowing(shown: Shown, tide: tuple[int, ...]) -> Ground:
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
    still, open_water = int.from_bytes(base), int.from_bytes(empty)
    moving = tuple((rhythm.period_us, rhythm.values, tuple(cells)) for rhythm, cells in places.items())

    def ground(t_us: int) -> bytearray:
        water = tide[t_us // scenes.TIDE_STEP_US % len(tide)]
        frame = bytearray((water & open_water | still).to_bytes(FRAME_BYTES))
        for period_us, values, cells in moving:
            colour = values[t_us % period_us * PHASES // period_us]
            for cell in cells:
                frame[cell] = colour
        return frame

    return ground


def _shaded(ground: Ground) -> Ground:
    """A ground under the slow breath of a paused board."""

    def shaded(t_us: int) -> bytearray:
        return ground(t_us).translate(SHADES.at(t_us))

    return shaded


def _shade(level: float) -> bytes:
    """Every byte at `level` of its light."""
    return bytes(round(byte * level ** (1 / GAMMA)) for byte in range(256))


SHADES = Rhythm(
    PAUSED_US,
    tuple(_shade(PAUSED_LOW + (PAUSED_HIGH - PAUSED_LOW) * swing(phase / PHASES)) for phase in range(PHASES)),
)
