"""The plainest matrix scanner: one write selects a row, one read takes all columns."""

from __future__ import annotations

import gpiod
import vpi
from gpiod.line import Bias, Direction, Drive, Value


class Matrix:
    """The virtual board's matrix: rows as `drive` says, columns pulled up, active low."""

    def __init__(self, drive: Drive = Drive.OPEN_DRAIN) -> None:
        self.rows, self.columns = vpi.lines("rows"), vpi.lines("cols")
        idle = gpiod.LineSettings(direction=Direction.OUTPUT, drive=drive, output_value=Value.ACTIVE)
        sense = gpiod.LineSettings(direction=Direction.INPUT, bias=Bias.PULL_UP, active_low=True)
        self.select = gpiod.request_lines(vpi.CHIP, consumer="rows", config={tuple(self.rows): idle})
        self.sense = gpiod.request_lines(vpi.CHIP, consumer="columns", config={tuple(self.columns): sense})

    def scan(self) -> set[tuple[int, int]]:
        """The (row, column) of every contact that reads as closed."""
        down: set[tuple[int, int]] = set()
        for number, row in enumerate(self.rows):
            self.select.set_value(row, Value.INACTIVE)
            down |= {(number, column) for column, value in enumerate(self.sense.get_values()) if value is Value.ACTIVE}
            self.select.set_value(row, Value.ACTIVE)
        return down
