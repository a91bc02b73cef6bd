"""The contacts of a board at the end of a cable as lines of a matrix: what the board says is down, debounced."""

from __future__ import annotations

from collections.abc import Callable

from hal.drivers.serial_board import SerialBoard
from hal.errors import PartError


class HeldLines:
    """Implements `Lines`: the cells that are down by what the board has said; each pass begins with row 0."""

    def __init__(self, board: SerialBoard, now_us: Callable[[], int]) -> None:
        self._board, self._now_us = board, now_us
        self._columns = board.profile.board.columns
        self._down = 0
        self._row: int | None = None

    def select(self, row: int | None) -> None:
        """Look at a row; with the first of them, at what the board says. Raises PartError while it is away."""
        if row == 0:
            for edge in self._board.scan(self._now_us()).edges:
                self._down = self._down | 1 << edge.cell if edge.down else self._down & ~(1 << edge.cell)
            if not (there := self._board.health()["link"]).ok:
                raise PartError(there.text)
        self._row = row

    def read(self) -> int:
        """The cells of the row that are down."""
        return 0 if self._row is None else self._down >> self._row * self._columns & (1 << self._columns) - 1

    def close(self) -> None:
        """Nothing is held."""
