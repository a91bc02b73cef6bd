"""Noise: contacts that nobody made, counted a line of the matrix, so that a bad wire is named (cases C13, D25, D29).

A finger stays for 20 ms and more, and a contact bounces when it moves and at no other time. What is shorter, or goes
on moving, comes from a line that picks something up or has no pull-up. Pure: times are handed in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from hal.ports import Edge

# No finger is quicker: a press shorter than this commits nothing either (design: tap_min_us).
SHORT_US = 20_000
WINDOW_US = 1_000_000
# A line is noisy with so many of these within a window, and for so long after it. Ten touches of under 20 ms in one
# row within a second are no player's; drumming makes under a hundred moves that its touches do not explain.
SHORT_TOUCHES = 10
LOOSE_MOVES = 100
KEPT_US = 10_000_000
# Moves that a touch explains: two bounce trains of five bounces and their own two moves.
MOVES_A_TOUCH = 22


class Noisy(NamedTuple):
    """A line (`row` or `column` of the wiring, from 0; both for a single contact) and what it did in a second."""

    row: int | None
    column: int | None
    contacts: int


class Noise:
    """Listens to what a matrix of `rows` x `columns` reads; `places`: the place in the wiring of each cell."""

    def __init__(self, rows: int, columns: int, turned: tuple[int, ...]) -> None:
        self._size = rows, columns
        self._place = {cell: divmod(place, columns) for place, cell in enumerate(turned)}
        self._mask = 0
        self._end_us: int | None = None
        self._down_us: dict[int, int] = {}
        self._short: Counter[int] = Counter()
        self._moves: Counter[int] = Counter()
        self._touches: Counter[int] = Counter()
        self._found: Noisy | None = None
        self._found_us = 0

    def step(self, t_us: int, mask: int, edges: Iterable[Edge]) -> None:
        """One scan at `t_us`: the cells that read closed, and the edges that came of it."""
        if self._end_us is None:
            self._end_us = t_us + WINDOW_US
        if moved := mask ^ self._mask:
            self._mask = mask
            self._moves.update(cell for cell in range(moved.bit_length()) if moved >> cell & 1)
        for edge in edges:
            self._touch(edge)
        if t_us >= self._end_us:
            self._judge(t_us)

    def noisy(self) -> Noisy | None:
        """The noisiest line of the last second that had one; None once it has been quiet for a while."""
        return self._found

    def _touch(self, edge: Edge) -> None:
        if edge.down:
            self._down_us[edge.cell] = edge.t_us
            self._touches[edge.cell] += 1
        elif edge.t_us - self._down_us.pop(edge.cell, edge.t_us - SHORT_US) < SHORT_US:
            self._short[edge.cell] += 1

    def _judge(self, t_us: int) -> None:
        """A window is over: look for the line that made most of what nobody made, and begin anew."""
        found = self._noisiest() if self._moves else None
        if found is not None:
            self._found, self._found_us = found, t_us
        elif t_us - self._found_us >= KEPT_US:
            self._found = None
        self._end_us = t_us + WINDOW_US
        for counter in (self._short, self._moves, self._touches):
            counter.clear()

    def _noisiest(self) -> Noisy | None:
        loose = {
            cell: moves - MOVES_A_TOUCH * max(1, self._touches[cell] - self._short[cell])
            for cell, moves in self._moves.items()
        }
        rows: Counter[int] = Counter()
        columns: Counter[int] = Counter()
        cells = [cell for cell in self._moves if self._short[cell] or loose[cell] > 0]
        for cell in cells:
            row, column = self._place[cell]
            weight = self._weight(self._short[cell], loose[cell])
            rows[row] += weight
            columns[column] += weight
        if not cells:
            return None
        ((row, in_row),), ((column, in_column),) = rows.most_common(1), columns.most_common(1)
        if max(in_row, in_column) < LOOSE_MOVES:
            return None
        contacts = sum(self._moves[cell] + 1 for cell in cells) // 2
        if len(cells) == 1:
            return Noisy(row, column, contacts)
        return Noisy(row, None, contacts) if in_row > in_column else Noisy(None, column, contacts)

    @staticmethod
    def _weight(short: int, loose: int) -> int:
        """Both kinds on one scale, on which LOOSE_MOVES is too much."""
        return short * LOOSE_MOVES // SHORT_TOUCHES + max(0, loose)
