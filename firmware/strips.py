"""The LEDs along the players' edges, on boards that have them: what is left of special moves and of time.

From each player's left: as much of his strip as he has special moves left shines in his colour, as much as he has time
left glows dimly beyond it. Full for whoever is to move, a third for the other. Pure in time, like all light.
"""

from __future__ import annotations

from typing import Final, Protocol

from firmware.palette import DARK, DEFAULT, Colour, Palette, scale
from firmware.snapshot import Rails, Side, Snapshot

SIDES: Final[tuple[Side, Side]] = ("a", "b")
WAITING, TIME_LEFT = 1 / 3, 0.15


class Drawing(Protocol):
    """Draws frames of the cells."""

    def frame(self, snapshot: Snapshot, t_us: int) -> bytes:
        """The frame that belongs to a snapshot at a time."""


class StripLights:
    """Draws frames of the cells followed by the LEDs of a's strip and of b's, three bytes sRGB each."""

    def __init__(self, lights: Drawing, lengths: tuple[int, int], palette: Palette = DEFAULT) -> None:
        """`lengths`: how many LEDs the strips of a and b have."""
        self._lights, self._lengths, self._palette = lights, lengths, palette

    def frame(self, snapshot: Snapshot, t_us: int) -> bytes:
        """The frame that belongs to a snapshot at a time. Never raises."""
        cells = self._lights.frame(snapshot, t_us)
        return cells + b"".join(
            self._strip(snapshot.rails, side, length, t_us) for side, length in zip(SIDES, self._lengths, strict=True)
        )

    def _strip(self, rails: Rails | None, side: Side, length: int, t_us: int) -> bytes:
        if rails is None:
            return DARK * length
        level = 1.0 if rails.mover == side else WAITING
        colour = self._palette.side(side)
        moves = lit(length, rails.pools[SIDES.index(side)], rails.pool)
        clock_us = left_us(rails, side, t_us)
        time = 0 if clock_us is None or rails.total_us is None else lit(length, clock_us, rails.total_us)
        return _row(colour, level, moves, time, length)


def _row(colour: Colour, level: float, moves: int, time: int, length: int) -> bytes:
    full, dim = scale(colour, level), scale(colour, level * TIME_LEFT)
    return (full * moves + dim * max(0, time - moves) + DARK * length)[: 3 * length]


def lit(length: int, left: int, whole: int) -> int:
    """How many LEDs show a share of a whole: none only where nothing is left."""
    return min(length, -(-length * max(0, left) // whole)) if whole else 0


def left_us(rails: Rails, side: Side, t_us: int) -> int | None:
    """The time that `side` has left at `t_us`; None without a limit."""
    left = rails.left_us[SIDES.index(side)]
    if left is None or rails.running != side:
        return left
    return max(0, left - (t_us - rails.since_us))
