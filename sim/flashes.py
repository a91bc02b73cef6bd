"""Counts the flashes of each cell over a sequence of frames, by the definition of WCAG 2.2 (success criterion 2.3.1).

A general flash is a pair of opposing changes of relative luminance by 0.10 or more, the darker image below 0.80. A red
flash is a pair of opposing changes to and from a saturated red, R / (R + G + B) at least 0.8, that lie more than 0.2
apart in the CIE 1976 chromaticity diagram.
A second counts as many flashes as there are pairs among its changes. Stricter than that is `gap_us`, the least time
between two rises of a cell: what the patterns of the board keep to (design, "What light means").
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from math import hypot
from typing import NamedTuple

SECOND_US = 1_000_000
STEP = 0.10
BRIGHT = 0.80
RED_SHARE = 0.8
RED_APART = 0.2
# Colours whose light is remembered; a board shows a few thousand in a day.
LIGHTS = 4_096
WHITE_UV = (0.1978, 0.4683)  # D65, and the place of a cell that is dark


class Light(NamedTuple):
    """What the definition looks at: relative luminance, chromaticity u' v', and whether it is a saturated red."""

    luminance: float
    u: float
    v: float
    red: bool


@lru_cache(LIGHTS)
def light(colour: bytes, wire: bool) -> Light:
    """The light of three bytes: sRGB, or linear where they come from the wire."""
    r, g, b = (byte / 255 if wire else _linear(byte / 255) for byte in colour)
    x = 0.4124 * r + 0.3576 * g + 0.1805 * b
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = 0.0193 * r + 0.1192 * g + 0.9505 * b
    whole = x + 15 * y + 3 * z
    u, v = (4 * x / whole, 9 * y / whole) if whole else WHITE_UV
    return Light(y, u, v, whole > 0 and r / (r + g + b) >= RED_SHARE)


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)


class Flashes:
    """Takes frames in order of time; `worst` is the most flashes of one cell within any second so far."""

    def __init__(self, wire: bool = False) -> None:
        self.worst = 0
        self.rises: defaultdict[int, list[int]] = defaultdict(list)
        self.falls: defaultdict[int, list[int]] = defaultdict(list)
        self.reds: defaultdict[int, list[int]] = defaultdict(list)
        self._changes: defaultdict[int, list[int]] = defaultdict(list)  # rises and falls in one
        self._wire = wire
        self._frame = b""
        self._trough: dict[int, float] = {}
        self._peak: dict[int, float] = {}
        self._rising: dict[int, bool] = {}  # the way of each cell's last counted change
        self._anchor: dict[int, Light] = {}

    def see(self, t_us: int, frame: bytes) -> None:
        """One more frame, shown from `t_us` on."""
        if frame != self._frame:
            for cell in range(len(frame) // 3):
                colour = frame[cell * 3 : cell * 3 + 3]
                if colour != self._frame[cell * 3 : cell * 3 + 3]:
                    now = light(colour, self._wire)
                    self._change(cell, t_us, now.luminance)
                    self._redden(cell, t_us, now)
            self._frame = frame

    def forget(self, t_us: int) -> None:
        """Drop what happened before `t_us`, at least a second ago; `worst` stays. For runs that do not end."""
        for cells in (self.rises, self.falls, self.reds, self._changes):
            for times in cells.values():
                del times[: bisect_right(times, t_us - SECOND_US)]

    def gap_us(self) -> int:
        """The shortest time between two rises of one cell; an hour if there is no such pair."""
        gaps = (later - sooner for rises in self.rises.values() for sooner, later in pairwise(rises))
        return min(gaps, default=3600 * SECOND_US)

    def _change(self, cell: int, t_us: int, level: float) -> None:
        """A rise counts from the lowest light since the last fall, a fall from the highest since the last rise."""
        trough = self._trough[cell] = min(level, self._trough.get(cell, level))
        peak = self._peak[cell] = max(level, self._peak.get(cell, level))
        rising = self._rising.get(cell)
        if rising is not True and level - trough >= STEP and trough < BRIGHT:
            self.rises[cell].append(t_us)
            self._count(self._changes[cell], t_us)
            self._rising[cell], self._peak[cell] = True, level
        elif rising is not False and peak - level >= STEP and level < BRIGHT:
            self.falls[cell].append(t_us)
            self._count(self._changes[cell], t_us)
            self._rising[cell], self._trough[cell] = False, level

    def _redden(self, cell: int, t_us: int, now: Light) -> None:
        before = self._anchor.setdefault(cell, now)
        if (now.red or before.red) and hypot(now.u - before.u, now.v - before.v) > RED_APART:
            self._anchor[cell] = now
            self._count(self.reds[cell], t_us)

    def _count(self, times: list[int], t_us: int) -> None:
        times.append(t_us)
        self.worst = max(self.worst, (len(times) - bisect_right(times, t_us - SECOND_US)) // 2)


def seen(frames: Iterable[tuple[int, bytes]], wire: bool = False) -> Flashes:
    """Everything that flashes in a sequence of (time in microseconds, frame)."""
    flashes = Flashes(wire)
    for t_us, frame in frames:
        flashes.see(t_us, frame)
    return flashes
