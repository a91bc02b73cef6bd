"""Debounce: the masks of successive scans, with their times, become edges; each bounce train gives exactly one.

A press counts at its first contact, a release once it has lasted: fast answer, no doubles (case D6). Measured in
time, never in scans (case D5). Pure: no clock, the times are handed in. Runs unchanged under MicroPython.
"""

from hal.ports import Edge


def _order(edge: Edge) -> tuple[int, bool, int]:
    """By own time; of one time releases before presses, then by cell."""
    return edge.t_us, edge.down, edge.cell


def _bits(mask: int) -> list[int]:
    """The numbers of the bits that are set, ascending."""
    found, at = [], 0
    while mask >> at:
        if mask >> at & 1:
            found.append(at)
        at += 1
    return found


class Debounce:
    """The contacts of a board without their bounce.

    A cell is pressed once it has been closed for `press_us` on end, 0 for its first contact; it is released once it
    has been open for `release_us` on end. The edge's own time is that of the scan that first saw that stretch.
    `accepted`: mask of the cells that are pressed.
    """

    def __init__(self, press_us: int, release_us: int) -> None:
        self._press_us, self._release_us = press_us, release_us
        self._horizon_us = max(press_us, release_us)
        self._since: dict[int, int] = {}
        self.accepted = 0

    def known_us(self, t_us: int) -> int:
        """Every edge whose own time is at or before this has been reported by the step at `t_us` or earlier."""
        return t_us - self._horizon_us

    def step(self, t_us: int, mask: int) -> tuple[Edge, ...]:
        """The edges that the scan at `t_us` makes certain, by own time; of one time releases first, then by cell."""
        if mask == self.accepted and not self._since:
            return ()
        return self._settle(t_us, mask)

    def _settle(self, t_us: int, mask: int) -> tuple[Edge, ...]:
        """Follow the cells that differ from what is accepted; those that have done so long enough are edges."""
        since = {cell: self._since.get(cell, t_us) for cell in _bits(mask ^ self.accepted)}
        edges = [
            Edge(start_us, cell, down)
            for cell, start_us in since.items()
            if t_us - start_us >= (self._press_us if (down := bool(mask >> cell & 1)) else self._release_us)
        ]
        for edge in edges:
            self.accepted ^= 1 << edge.cell
            del since[edge.cell]
        self._since = since
        return tuple(sorted(edges, key=_order))
