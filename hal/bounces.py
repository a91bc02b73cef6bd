"""Bounces: how long each contact takes to come to rest after a press, so that a worn or dirty one is named.

Seen by scans, and so no finer than they are apart. Pure: times are handed in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from hal.ports import Edge

# What closes again this long after its press is no bounce but a finger that moves: the longest that was ever measured
# is 47 ms (case D6).
LONGEST_US = 50_000
# The last so many presses of a cell are kept: a contact that was cleaned is well again after as many.
KEPT = 16


class Bounces:
    """Listens to what a matrix reads, as `hal.noise` does. `mask`: what it read last."""

    def __init__(self) -> None:
        self.mask = 0
        self._pressed_us: dict[int, int] = {}
        self._trains: dict[int, deque[int]] = {}

    def step(self, t_us: int, mask: int, edges: Iterable[Edge]) -> None:
        """One scan at `t_us`: the cells that read closed, and the edges that came of it."""
        closed = mask & ~self.mask
        self.mask = mask
        for edge in edges:
            if edge.down:
                self._pressed_us[edge.cell] = edge.t_us
                self._trains.setdefault(edge.cell, deque(maxlen=KEPT)).append(0)
        while closed:
            cell = closed.bit_length() - 1
            closed ^= 1 << cell
            since_us = t_us - self._pressed_us.get(cell, t_us - LONGEST_US - 1)
            if 0 < since_us <= LONGEST_US:
                self._trains[cell][-1] = since_us

    def longest_us(self) -> dict[int, int]:
        """For each cell that was pressed, the longest bounce of its last presses, in microseconds."""
        return {cell: max(train) for cell, train in self._trains.copy().items()}
