"""How every cell is doing: how often it was touched, and how long its touches took to be answered with light.

In bounded memory, since the start. Pure.
"""

from __future__ import annotations

from collections import deque
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
        self._touches = [0] * cells
        self._answers: list[deque[int]] = [deque(maxlen=KEPT) for _ in range(cells)]

    def touched(self, cell: int) -> None:
        """A finger came down."""
        self._touches[cell] += 1

    def answered(self, cell: int, us: int) -> None:
        """Light came so long after it."""
        self._answers[cell].append(us)

    def uses(self) -> list[Use]:
        """Every cell."""
        return [self._use(cell) for cell in range(len(self._touches))]

    def _use(self, cell: int) -> Use:
        answers = sorted(self._answers[cell].copy()) or [0]
        return Use(self._touches[cell], answers[len(answers) // 2], answers[-1])
