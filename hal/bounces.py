"""Bounces: how long each contact takes to come to rest after a press, so that a worn or dirty one is named.

Seen by scans, and so no finer than they are apart. Pure: times are handed in.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from hal.ports import Edge

# A train of bounces is over when the contact has rested for as long as the debounce waits (10 ms, case D6): what opens
# after that is a finger that leaves, whose own bounce is another matter.
REST_US = 10_000
# The last so many presses of a cell are kept: a contact that was cleaned is well again after as many.
KEPT = 16


class Bounces:
    """Listens to what a matrix reads, as `hal.noise` does. `mask`: what it read last."""

    def __init__(self) -> None:
        self.mask = 0
        self._running: dict[int, tuple[int, int]] = {}  # when the press began, and when it last moved
        self._trains: dict[int, array[int]] = {}  # of the last presses of a cell, in a ring
        self._presses: dict[int, int] = {}

    def step(self, t_us: int, mask: int, edges: Iterable[Edge]) -> None:
        """One scan at `t_us`: the cells that read closed, and the edges that came of it."""
        moved = mask ^ self.mask
        self.mask = mask
        while moved:
            cell = moved.bit_length() - 1
            moved ^= 1 << cell
            if cell in self._running:
                self._move(cell, t_us, closed=bool(mask >> cell & 1))
        for edge in edges:
            if edge.down:
                self._running[edge.cell] = edge.t_us, t_us
                self._presses[edge.cell] = self._presses.get(edge.cell, -1) + 1
                self._trains.setdefault(edge.cell, array("q", bytes(8 * KEPT)))
                self._bounced(edge.cell, t_us - edge.t_us)

    def _move(self, cell: int, t_us: int, *, closed: bool) -> None:
        start_us, last_us = self._running[cell]
        if t_us - last_us > REST_US:
            del self._running[cell]
            return
        self._running[cell] = start_us, t_us
        if closed:
            self._bounced(cell, t_us - start_us)

    def _bounced(self, cell: int, us: int) -> None:
        self._trains[cell][self._presses[cell] % KEPT] = us

    def longest_us(self) -> dict[int, int]:
        """For each cell that was pressed, the longest bounce of its last presses, in microseconds."""
        return {cell: max(train) for cell, train in self._trains.copy().items()}
