"""Fingers of people at a simulated board, one touch at a time, and a tally of what comes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from random import Random
from typing import Protocol

from firmware.gesture import TouchTimes
from firmware.snapshot import Phase
from firmware.table import Played
from sim.drive import Drive
from sim.fingers import Finger

MS = 1_000
S = 1_000_000
TIMES = TouchTimes()
# All that a touch can come to is decided this long after its last edge: release debounce, bounce, one scan.
SETTLED_US = 30 * MS


class Tally(Protocol):
    """Where a match counts what it finds."""

    games: int
    plies: int
    touches: int
    lost_touches: int
    violations: list[str]
    results: Counter[str]


class Hands:
    """Whoever sits at a board: touches, what was played since, and what should not have come of it."""

    def __init__(
        self,
        drive: Drive,
        random: Random,
        tally: Tally,
        seen: Callable[[bytes], None],
        announce: Callable[[Phase], None] = lambda _: None,
    ) -> None:
        """`seen` gets every action as bytes; `announce` is told to which phase the touch that comes should lead."""
        self.drive, self.table = drive, drive.table
        self._random, self._report, self._seen, self.announce = random, tally, seen, announce
        self.free_us = drive.now_us  # before this time a press is dead

    def start_us(self) -> int:
        """A time for the next press: not before a press is alive."""
        return max(self.drive.now_us, self.free_us) + self._random.randrange(15, 120) * MS

    def press(self, cell: int, down_us: int, up_us: int) -> None:
        self.fingers_down([(cell, down_us, up_us)])

    def fingers_down(self, touches: list[tuple[int, int, int]]) -> None:
        """Touches as (cell, down, up), and all of it judged."""
        moves = sorted(
            Finger(t_us, cell, down)
            for cell, down_us, up_us in touches
            for t_us, down in ((down_us, True), (up_us, False))
        )
        self.report_touches(moves)
        self.drive.fingers(moves)
        self.drive.run_until(max(up_us for _, _, up_us in touches) + SETTLED_US)
        rested_us = [up_us for _, down_us, up_us in touches if up_us - down_us >= self.table.gesture.times.leave_us]
        self._lifted(max(rested_us, default=0))

    def finger_down(self, cell: int) -> None:
        """Put something on a cell, and leave it there."""
        self._move([Finger(self.start_us(), cell, True)])

    def fingers_up(self, cells: Iterable[int]) -> None:
        """Take away what lies on these cells."""
        self._move([Finger(self.start_us(), cell, False) for cell in cells])
        self._lifted(self.drive.now_us)

    def _lifted(self, t_us: int) -> None:
        """What has rested left its cell at `t_us`: a contact that closes again at once flickers, and is no finger."""
        self.free_us = max(self.free_us, t_us + self.table.gesture.times.turn_guard_us)

    def _move(self, moves: list[Finger]) -> None:
        self.report_touches(moves)
        self.drive.fingers(moves)
        self.drive.run_until(moves[-1].t_us + SETTLED_US)

    def report_touches(self, moves: list[Finger]) -> None:
        """Count fingers that come down."""
        self._report.touches += sum(move.down for move in moves)

    def played(self) -> list[Played]:
        played = self.table.take_played()
        for move in played:
            self._seen(f"{move.t_us} {move.text}\n".encode())
        return played

    def expect(self, holds: bool, otherwise: str) -> None:
        if not holds:
            self.violated(otherwise)

    def violated(self, text: str) -> None:
        self._report.violations.append(f"at {self.drive.now_us / S:.3f} s: {text}")
