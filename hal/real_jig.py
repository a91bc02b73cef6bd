"""Jigs on real time: a board at the end of a cable, or on the pins of this machine, and whoever moves its contacts."""

from __future__ import annotations

import os
import time
from typing import Any

from hal import link
from hal.board import DEAF_US
from hal.drivers.serial_board import PREFIX, open_board
from hal.hands import Nobody, TestBoard, sleep
from hal.jig import Rung
from hal.opening import open_board as open_pins
from hal.person import Person
from hal.ports import Board
from hal.profile import Profile

# Until a board at a cable has said what is down and what is not; its first edges are those of the start.
HEARS_US = 100_000


def now_us() -> int:
    """Microseconds of this machine's monotonic clock."""
    return time.monotonic_ns() // 1000


class RealJig:
    """Implements `hal.jig.Jig`: a board, on its rung, in the `hands` of somebody. `where`: its port, "" for pins."""

    def __init__(self, board: Board, profile: Profile, rung: Rung, hands: Nobody, where: str = "") -> None:
        self.board, self.profile, self.rung, self.where, self._hands = board, profile, rung, where, hands
        self.now_us, self.wait = now_us, sleep
        self.press, self.release = hands.press, hands.release
        self.unplug, self.plug, self.lit = hands.unplug, hands.plug, hands.lit

    def fault(self, **keys: Any) -> None:
        """Other faults from now on. Raises Unsupported for what its hands cannot do."""
        self._hands.fault(**keys)

    def close(self) -> None:
        """Lift all fingers, mend all faults, leave the board dark, let it go. May be called twice."""
        try:
            self._hands.close()
        finally:
            self.board.close()

    def settle(self, us: int) -> None:
        """Scan until what the start has made known has been told, which is no test's."""
        end_us = now_us() + us
        while now_us() < end_us:
            self.wait(self.board.scan(now_us()).period_us)


def serial_jig(where: str, person: Person | None = None) -> RealJig:
    """The board at a port, or "auto"; its contacts are moved by itself if it is a test board, else by the person.

    A test board begins with all fingers up and no faults. Raises PartError, a sentence, when no board answers.
    """
    board = open_board(where)
    hands = Nobody(f"{board.about.name} at {board.where} is no test board, and nobody is at the bench")
    if board.about.flags & link.TEST_BOARD:
        hands = TestBoard(board, now_us, sleep)
    elif person is not None:
        hands, person.columns = person, board.profile.board.columns
        person.meanwhile = lambda: board.keep_up(now_us())
    jig = RealJig(board, board.profile._replace(file=f"{PREFIX}{where}"), rung_of(board.where), hands, board.where)
    try:
        hands.begin()
        jig.settle(HEARS_US)
    except BaseException:
        board.close()
        raise
    return jig


def pins_jig(profile: Profile, person: Person | None = None) -> RealJig:
    """The board on the pins of this machine, in the hands of a person or of nobody. Raises PartError."""
    board = open_pins(profile)
    hands: Nobody = Nobody(f"{profile.board.name} is a real board, and nobody is at the bench")
    if person is not None:
        hands, person.columns = person, profile.board.columns
    jig = RealJig(board, profile, "gpio", hands)
    jig.settle(DEAF_US + HEARS_US)
    return jig


def rung_of(port: str) -> Rung:
    """On which rung a board stands by its port: behind a pseudo terminal is no cable."""
    return "pty" if os.path.realpath(port).startswith("/dev/pts/") else "ttyACM"
