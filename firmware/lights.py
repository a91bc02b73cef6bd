"""What the 49 cells show: a snapshot and a time give a frame (hop 8). Pure in time: same inputs, same bytes.

A snapshot is made ready once: the ground (what the whole board shows for as long as the snapshot lasts) and, for the
few cells where something happens, a stack of layers. Of a stack only the topmost layer of the moment shows, over the
ground; the order, from the top: ghost, pattern, touch, bloom, result and lot, fault, low time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain

from firmware import moments, scenes
from firmware.attract import Attract
from firmware.cleaning import cleaning
from firmware.grounds import CELLS, NO_TIDE, OFFSETS, Ground, Shown, flowing, shaded, still
from firmware.moments import FOREVER_US, Layer
from firmware.nightfall import nightfall
from firmware.palette import DARK, DEFAULT, Colour, Palette, scale
from firmware.rhythm import Rhythm, dimmed, steady, voices
from firmware.scenes import CORNERS, EDGES
from firmware.snapshot import MenuLight, Side, Snapshot, Touch

OWNED: dict[Side, str] = {"a": "aAx", "b": "bBy"}

# In a result all else goes to 17 % of its light: at 20 % it would still look half lit, and under 16 % side b comes
# nearer than 20 (CIEDE2000) to a neutralised cell, which cannot go below the floor.
DIM_LEVEL = 0.17
DRAW_LEVEL = 1 / 3
SAFE_LEVEL = 0.1
ASKED_US = 1_000_000
# The light sets off along a line when the bloom of the winning action is over (400 ms), and takes at most a second.
RUN_DELAY_US = 500_000
RUN_STEP_US = 120_000
RUN_US = 1_000_000
# In a menu the cells of one group of choices at rest stand at 5 % of the side's colour, those of the other at 15 % of
# its pale one: any two of these and of the chosen ones, at full, lie 20 or more (CIEDE2000) apart.
MENU_LEVEL, MENU_PALE_LEVEL = 0.05, 0.15


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
        self._attract = Attract(palette, self._drawn)
        self._lot = scenes.Lot(palette)
        self._snapshot: Snapshot | None = None
        self._shown: Ground = still({})

    def frame(self, snapshot: Snapshot, t_us: int) -> bytes:
        """The frame that belongs to a snapshot at a time. Never raises."""
        if snapshot is not self._snapshot:
            self._shown, self._snapshot = self._drawn(snapshot), snapshot
        return bytes(self._shown(t_us))

    def _drawn(self, snapshot: Snapshot) -> Ground:
        """A snapshot made ready: its layers, where there are any, over its ground."""
        ground, stacks = self._ground(snapshot), defaultdict[int, list[Layer]](list)
        for cell, layer in self._layers(snapshot):
            stacks[OFFSETS[cell]].append(layer)
        if not stacks:
            return ground
        quiet_us = max(layer.end_us for stack in stacks.values() for layer in stack)
        piled = tuple((offset, tuple(stack)) for offset, stack in stacks.items())

        def drawn(t_us: int) -> bytearray:
            frame = ground(t_us)
            if t_us < quiet_us:
                for offset, stack in piled:
                    for layer in stack:
                        if layer.start_us <= t_us < layer.end_us:
                            frame[offset : offset + 3] = layer.paint(t_us, bytes(frame[offset : offset + 3]))
                            break
            return frame

        return drawn

    # -- the ground ----------------------------------------------------------------------------------------------

    def _ground(self, s: Snapshot) -> Ground:
        if s.cleans is not None:
            return cleaning(self._palette.mist, s.cleans)
        match s.phase:
            case "attract":
                return self._attract.ground(s.phase_us, bool(s.touches))
            case "lobby":
                return still(self._menu(s.menu) | self._lobby_edges(s.starter))
            case "play":
                return self._play(s)
            case "replay":
                return self._replay(s)
            case "paused":
                return shaded(still(self._position(s.cells, self._voices)))
            case "result":
                return still(self._result(s))
            case "safe":
                return still(dict.fromkeys(CORNERS, steady(scale(self._palette.fault, SAFE_LEVEL))))
            case "menu":
                return still(self._menu(s.menu))

    @staticmethod
    def _position(cells: str, shine: dict[str, Rhythm]) -> Shown:
        return {cell: shine[char] for cell, char in enumerate(cells) if char != "."}

    def _play(self, s: Snapshot) -> Ground:
        """The position and the mover's tide; in the last seconds before it is parked the board falls asleep."""
        shown = self._position(s.cells, self._voices)
        awake = flowing(shown, NO_TIDE if s.mover is None else self._tide[s.mover])
        if s.countdown is None:
            return awake
        return nightfall(awake, shaded(still(shown)), s.cells, s.mover, self._palette.mist, s.countdown)

    def _replay(self, s: Snapshot) -> Ground:
        """The position of a game played again, without a tide, as it is nobody's turn; in the end its result."""
        shown = self._position(s.cells, self._voices) if s.winner is None else self._result(s)
        return scenes.walked(still(shown), set(range(CELLS)) - set(shown), self._palette.mist)

    def _menu(self, lights: tuple[MenuLight, ...]) -> Shown:
        """The cells that mean something are lit, paler in another group of choices, and full where chosen."""
        return {light.cell: steady(self._choice(light)) for light in lights}

    def _choice(self, light: MenuLight) -> Colour:
        if light.pale:
            return scale(self._palette.pale(light.side), 1.0 if light.chosen else MENU_PALE_LEVEL)
        return scale(self._palette.side(light.side), 1.0 if light.chosen else MENU_LEVEL)

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
        """Every layer with its cell, those of higher precedence first; of a board that is wiped none but a fault."""
        if s.cleans is not None:
            return self._fault(s)
        return chain(
            self._ghosts(s),
            self._patterns(s),
            self._touches(s),
            self._asked(s),
            self._bloom(s),
            self._pips(s),
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
        if s.last_cell is not None and s.phase in ("play", "replay", "result"):
            yield s.last_cell, moments.bloom(s.last_us, self._bloom_colour(s.cells[s.last_cell]))

    def _bloom_colour(self, char: str) -> Colour:
        for side, chars in OWNED.items():
            if char in chars:
                return self._palette.pale(side)
        return self._palette.mist

    def _ending(self, s: Snapshot) -> Iterator[tuple[int, Layer]]:
        """The light that runs along the line, and the fade of every cell to what it shows in the end."""
        if s.phase != "result" and (s.phase != "replay" or s.winner is None):
            return
        end_us = s.phase_us if s.phase == "result" else s.last_us
        if s.winner is not None:
            step_us = min(RUN_STEP_US, RUN_US // max(1, len(s.line)))
            for place, cell in enumerate(s.line):
                crest_us = end_us + RUN_DELAY_US + place * step_us
                yield cell, moments.crest(crest_us, self._palette.pale(s.winner))
        for cell, before in self._position(s.cells, self._voices).items():
            yield cell, moments.fade(end_us, before)

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
