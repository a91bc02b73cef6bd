"""The copper between a computer's GPIO lines and the contacts of the board: who drives what, and what is read.

Every level follows from it: a low line pulls down all that closed contacts join to it, with diodes only a row its
columns; what nothing drives follows its pull. A high line against a low one on the same copper is a short, counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import RLock


class Wires:
    """Lines by number, some of them rows and columns of a matrix. For any thread.

    `closed` gives the mask of closed contacts, bit `row * columns + column`, as they are wired. The copper has no
    pull-ups of its own. `shorts`: how often a high line met a low one.
    """

    def __init__(
        self, rows: Sequence[int], columns: Sequence[int], closed: Callable[[], int], *, diodes: bool = True
    ) -> None:
        self.diodes, self.shorts = diodes, 0
        self._rows, self._columns, self._closed = tuple(rows), tuple(columns), closed
        self._matrix = frozenset(self._rows + self._columns)
        self._driven: dict[int, bool] = {}
        self._pulls: dict[int, bool] = {}
        self._outside: dict[int, bool] = {}
        self._shorted: frozenset[int] = frozenset()
        self._alone = {line: frozenset({line}) for line in self._matrix}
        self._nets = self._alone
        self._seen: object = None  # what the nets were worked out for
        self._lock = RLock()

    def drive(self, line: int, level: bool | None) -> None:
        """Drive a line, or let it float."""
        with self._lock:
            _set(self._driven, line, level)
            self._look()

    def pull(self, line: int, level: bool | None) -> None:
        """Pull a line weakly, or not at all."""
        with self._lock:
            _set(self._pulls, line, level)

    def put(self, line: int, level: bool | None) -> None:
        """Put a level from outside on a line that is not part of the matrix, such as a button's; None = let go."""
        if line in self._matrix:
            raise ValueError(f"line {line} belongs to the matrix: move its contacts")
        with self._lock:
            _set(self._outside, line, level)

    def driven(self, line: int) -> bool | None:
        """How a line is driven; None where it is not."""
        return self._driven.get(line)

    def level(self, line: int) -> bool:
        """What is read on a line; low where nothing drives it and nothing pulls it."""
        with self._lock:
            net = self._look()[line] if line in self._matrix else frozenset({line})
            levels = {self._driven[at] for at in net if at in self._driven}
            if levels:
                return False not in levels
            if line in self._outside:
                return self._outside[line]
            return any(self._pulls.get(at, False) for at in net)

    def _look(self) -> dict[int, frozenset[int]]:
        """What current joins to each line of the matrix now; counts the shorts that begin."""
        closed = self._closed()
        seen = closed, self.diodes, tuple(self._driven.items())
        if seen == self._seen:
            return self._nets
        self._seen, self._nets = seen, self._joined(closed)
        nets = self._nets
        clash: set[int] = set()
        for net in nets.values():
            if {True, False} <= {self._driven[line] for line in net if line in self._driven}:
                clash |= {line for line in net if line in self._driven}
        if clash - self._shorted:
            self.shorts += 1
        self._shorted = frozenset(clash)
        return nets

    def _joined(self, closed: int) -> dict[int, frozenset[int]]:
        """The copper that each line is one with, when these contacts are closed."""
        nets = dict(self._alone)
        wide = len(self._columns)
        for at, row in enumerate(self._rows):
            word = closed >> at * wide & (1 << wide) - 1
            columns = [column for bit, column in enumerate(self._columns) if word >> bit & 1]
            if self.diodes:  # current flows from a column into a row that is low, and no other way
                if self._driven.get(row) is False:
                    nets |= {column: nets[column] | {row} for column in columns}
            elif columns:
                merged = nets[row].union(*(nets[column] for column in columns))
                nets |= dict.fromkeys(merged, merged)
        return nets


def _set(levels: dict[int, bool], line: int, level: bool | None) -> None:
    if level is None:
        levels.pop(line, None)
    else:
        levels[line] = level
