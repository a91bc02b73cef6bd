"""A board at the end of a cable that is tested, and whoever is there: somebody at the terminal, or the board itself."""

from __future__ import annotations

import time
from collections.abc import Callable

from firmware.station import RealStation
from hal import link
from hal.drivers.serial_board import SerialBoard
from hal.drivers.serial_parts import HeldLines
from hal.guide import Ask
from hal.ports import Leds, Lines
from hal.profile import Profile
from hal.real_jig import rung_of
from hal.selftest_report import Rung

# How long the board has for its statistics.
ANSWER_US = 1_000_000
TICK_US = 1_000
# What a board that moves its own contacts types and does, instead of a person: at a time, for what is asked.
Moved = Callable[[int, Ask], str | None]


class CableStation(RealStation):
    """Implements `Station` on a board at a cable: contacts as the board debounces them, light as it says it shows it.

    Its wires are at the far end: rows and columns cannot change places.
    """

    scan_us = 1_000
    exchanges = False

    def __init__(
        self,
        board: SerialBoard,
        moved: Moved | None = None,
        now_us: Callable[[], int] | None = None,
        wait: Callable[[int], None] = lambda us: time.sleep(us / 1e6),
    ) -> None:
        super().__init__()
        self.now_us = now_us or self.now_us
        self._board, self._moved, self._wait = board, moved, wait
        self._lines = HeldLines(board, self.now_us)
        self.rung: Rung = "pty" if rung_of(board.where) == "pty" else "ttyACM"
        self.person = moved is None
        self.who = board.health()["link"].text

    def lines(self, profile: Profile, *, exchanged: bool) -> Lines:  # noqa: ARG002
        """What the board says of its contacts."""
        return self._lines

    def leds(self, profile: Profile) -> Leds:  # noqa: ARG002
        """The chain at the far end."""
        return self._board.leds

    def supply(self) -> None:  # type: ignore[override]
        """Nobody knows."""

    def lit_us(self) -> int | None:  # type: ignore[override]
        """Now, once the board has said that it shows what it was sent."""
        return self.now_us() if self._board.settled else None

    def typed(self, ask: Ask) -> str | None:
        """What is typed at the terminal, or done by a board that moves its own contacts."""
        return super().typed(ask) if self._moved is None else self._moved(self.now_us(), ask)

    def wait_until(self, t_us: int) -> None:
        """Let time pass, if any is left."""
        if (left_us := t_us - self.now_us()) > 0:
            self._wait(left_us)

    def told(self) -> link.Stats | None:
        """What the board has counted since it started; None where it does not answer."""
        board, end_us = self._board, self.now_us() + ANSWER_US
        before = board.stats
        board.ask()
        while board.stats is before and self.now_us() < end_us:
            self._wait(TICK_US)
            board.keep_up(self.now_us())
        return board.stats

    def close(self) -> None:
        """Leave the board dark and let the port go."""
        self._board.close()
