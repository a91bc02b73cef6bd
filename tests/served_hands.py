"""`morbak board serve` with somebody at the board: run as a program, with the port as its argument.

Each line of standard input is a move: `d4 down`, `d4 up`, or `silent` for a board that does not answer for 1.5 s. There
are 60 ms from one to the next.
"""

from __future__ import annotations

import sys
import threading
from collections import deque

from firmware import cli
from firmware.app import RealClock
from firmware.games import morbak
from hal.profile import Profile
from sim.device import SimDevice

BETWEEN_US, SILENT_US = 60_000, 1_500_000


class Handed(SimDevice):
    """A board that is touched."""

    def __init__(self, profile: Profile) -> None:
        super().__init__(profile, RealClock())
        self._moves = deque[str]()
        self._next_us = self._silent_us = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def step(self, t_us: int, data: bytes) -> bytes:
        if self._moves and t_us >= self._next_us:
            self._next_us = t_us + BETWEEN_US
            self._move(*self._moves.popleft().split(), t_us=t_us)
        out = super().step(t_us, data)
        return b"" if t_us < self._silent_us else out

    def _move(self, what: str, how: str = "", *, t_us: int) -> None:
        if what == "silent":
            self._silent_us = t_us + SILENT_US
        else:
            contacts = self.board.contacts
            (contacts.press if how == "down" else contacts.release)(morbak.parse_cell(what), t_us)

    def _listen(self) -> None:
        for line in iter(sys.stdin.readline, ""):
            self._moves.append(line)


if __name__ == "__main__":
    cli._at_a_cable = lambda profile, _: Handed(profile)
    sys.exit(cli.main(["board", "serve", "--port", sys.argv[1]]))
