"""How every cell is doing: how often it was touched, and how long its touches took to be answered with light.

In bounded memory, taken at once, since the start. Pure.
"""

from __future__ import annotations

from array import array
from typing import NamedTuple

KEPT = 64


class Use(NamedTuple):
    """One cell: touches so far, and the median and the longest of its last answers in microseconds (0: none yet)."""

    touches: int
    light_us: int
    worst_us: int


class Wear:
    """All cells; counted by the loop, answers by the LEDs' thread."""

    def __init__(self, cells: int) -> None:
        self._touches, self._answered = [0] * cells, [0] * cells
        self._answers = [array("q", bytes(8 * KEPT)) for _ in range(cells)]  # the last ones, in a ring

    def touched(self, cell: int) -> None:
        """A finger came down."""
        self._touches[cell] += 1

    def answered(self, cell: int, us: int) -> None:
        """Light came so long after it."""
        self._answers[cell][self._answered[cell] % KEPT] = us
        self._answered[cell] += 1

    def uses(self) -> list[Use]:
        """Every cell."""
        return [self._use(cell) for cell in range(len(self._touches))]

    def _use(self, cell: int) -> Use:
        answers = sorted(self._answers[cell][: self._answered[cell]]) or [0]
        return Use(self._touches[cell], answers[len(answers) // 2], answers[-1])
