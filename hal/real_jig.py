"""Jigs on real time: a board at the end of a cable, or on the pins of this machine, and whoever moves its contacts."""

from __future__ import annotations

import os
import time
from typing import Any

from hal import link
from hal.drivers.serial_board import PREFIX, open_board
from hal.hands import Nobody, TestBoard, sleep
from hal.jig import Rung
from hal.ports import Board
from hal.profile import Profile


def now_us() -> int:
    """Microseconds of this machine's monotonic clock."""
    return time.monotonic_ns() // 1000


class RealJig:
    """Implements `hal.jig.Jig`: a board, on its rung, in the `hands` of somebody."""

    def __init__(self, board: Board, profile: Profile, rung: Rung, hands: Nobody) -> None:
        self.board, self.profile, self.rung, self._hands = board, profile, rung, hands
        self.now_us, self.wait = now_us, sleep
        self.press, self.release = hands.press, hands.release
        self.unplug, self.plug, self.lit = hands.unplug, hands.plug, hands.lit

    def fault(self, **keys: Any) -> None:
        """Other faults from now on. Raises Unsupported for what its hands cannot do."""
        self._hands.fault(**keys)

    def close(self) -> None:
        """Lift all fingers, leave the board dark, let it go. May be called twice."""
        try:
            self._hands.close()
        finally:
            self.board.close()


def serial_jig(where: str, person: Nobody | None = None) -> RealJig:
    """The board at a port, or "auto"; its contacts are moved by itself if it is a test board, else by the person.

    Raises PartError, a sentence, when no board answers.
    """
    board = open_board(where)
    nobody = Nobody(f"{board.about.name} at {board.where} is no test board, and nobody is at the bench")
    test = board.about.flags & link.TEST_BOARD
    hands = TestBoard(board, now_us, sleep) if test else person or nobody
    return RealJig(board, board.profile._replace(file=f"{PREFIX}{where}"), rung_of(board.where), hands)


def rung_of(port: str) -> Rung:
    """On which rung a board stands by its port: behind a pseudo terminal is no cable."""
    return "pty" if os.path.realpath(port).startswith("/dev/pts/") else "ttyACM"
