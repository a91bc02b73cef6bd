"""Jigs on real time: a board at the end of a cable, or on the pins of this machine, and whoever moves its contacts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from hal import link
from hal.board import DEAF_US
from hal.drivers.serial_board import PREFIX, open_board
from hal.hands import Hands, Nobody, TestBoard, sleep
from hal.jig import Rung
from hal.opening import open_board as open_pins
from hal.person import Person
from hal.ports import Board
from hal.profile import Profile

# Opens whoever moves the contacts of a board, by its profile.
OpenHands = Callable[[Profile], Hands]
# Until a board at a cable has said what is down and what is not; its first edges are those of the start.
HEARS_US = 100_000


def now_us() -> int:
    """Microseconds of this machine's monotonic clock."""
    return time.monotonic_ns() // 1000


class RealJig:
    """Implements `hal.jig.Jig`: a board, on its rung, in the `hands` of somebody. `where`: its port, "" for pins."""

    def __init__(self, board: Board, profile: Profile, rung: Rung, hands: Hands, where: str = "") -> None:
        self.board, self.profile, self.rung, self.where, self._hands = board, profile, rung, where, hands
        self.now_us, self.wait, self.exact = now_us, sleep, hands.exact
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


def serial_jig(where: str, person: Person | None = None, hands: OpenHands | None = None) -> RealJig:
    """The board at a port, or found by "auto" or its USB id, in these `hands`; without them a test board moves its
    contacts by itself, and any other board has the person for that.

    It begins with all fingers up and no faults. Raises PartError, a sentence, when no board answers, or no hands do.
    """
    board = open_board(where)
    profile = board.profile._replace(file=f"{PREFIX}{where}")

    def found() -> Hands:
        if hands is not None:
            return hands(profile)
        if board.about.flags & link.TEST_BOARD:
            return TestBoard(board, now_us, sleep)
        if person is None:
            return Nobody(f"{board.about.name} at {board.where} is no test board, and nobody is at the bench")
        person.columns, person.meanwhile = profile.board.columns, lambda: board.keep_up(now_us())
        return person

    return _begun(found, HEARS_US, board, profile, rung_of(board.where), board.where)


def pins_jig(profile: Profile, person: Person | None = None, hands: OpenHands | None = None) -> RealJig:
    """The board on the pins of this machine, in these `hands`, or those of a person or of nobody. Raises PartError."""
    board = open_pins(profile)

    def found() -> Hands:
        if hands is not None:
            return hands(profile)
        if person is None:
            return Nobody(f"{profile.board.name} is a real board, and nobody is at the bench")
        person.columns = profile.board.columns
        return person

    return _begun(found, DEAF_US + HEARS_US, board, profile, "gpio", "")


def _begun(found: Callable[[], Hands], deaf_us: int, board: Board, profile: Profile, rung: Rung, where: str) -> RealJig:
    """A board in the hands that are found, with all fingers up, once it hears; nothing is left open without them."""
    try:
        hands = found()
    except BaseException:
        board.close()
        raise
    jig = RealJig(board, profile, rung, hands, where)
    try:
        hands.begin()
        jig.settle(deaf_us)
    except BaseException:
        jig.close()
        raise
    return jig


def rung_of(port: str) -> Rung:
    """On which rung a board stands by its port: behind a pseudo terminal is no cable."""
    return "pty" if os.path.realpath(port).startswith("/dev/pts/") else "ttyACM"
