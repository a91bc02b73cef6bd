"""Whoever moves the contacts of a real board under test, and looks at its light: a test board's own word, or nobody."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, Protocol

from hal import link
from hal.drivers.serial_board import SerialBoard
from hal.errors import PartError
from hal.jig import Unsupported

# A test board answers within a few round trips; one that was told to be silent, or to start anew, after a while.
PATIENCE_US = 2_000_000
TICK_US = 1_000
# An answer that is lost is asked for again after this; a board that has not answered so often cannot.
ANSWER_US, ASKED = 300_000, 3


class Hands(Protocol):
    """Whoever moves the contacts of a real board: those below, or the driver of a jig (entry point `morbak.hands`).

    Cells are numbered row-major from a1. Each may raise Unsupported for what it cannot do, which skips a test. To
    derive from `Nobody` is to write what can be done alone. `exact`: a contact moves when it is told to.
    """

    exact: bool

    def press(self, cell: int) -> None:
        """Close the contact of a cell; returns once it is closed."""

    def release(self, cell: int) -> None:
        """Open it; returns once it is open."""

    def lit(self) -> bytes | None:
        """What the chain shows, read back from it as in `hal.jig.Jig.lit`; None where that cannot be."""

    def fault(self, **keys: Any) -> None:
        """Other faults from now on, as in `hal.jig.Jig.fault`."""

    def unplug(self) -> None:
        """Pull the cable out."""

    def plug(self, name: str | None = None) -> None:
        """Put it back."""

    def begin(self) -> None:
        """All fingers are up, and no part is at fault."""

    def close(self) -> None:
        """The same; may be called twice."""


class Nobody:
    """Does nothing; `why` says who is lacking. Those below do what they can."""

    exact = True

    def __init__(self, why: str) -> None:
        self._why = why

    def press(self, cell: int) -> None:
        """Close the contact of a cell. Raises Unsupported."""
        self._cannot(f"press cell {cell}")

    def release(self, cell: int) -> None:
        """Open it. Raises Unsupported."""
        self._cannot(f"lift off cell {cell}")

    def lit(self) -> bytes | None:
        """What the chain shows, read back; None where that cannot be."""
        return None

    def fault(self, **keys: Any) -> None:
        """Other faults from now on. Raises Unsupported."""
        self._cannot(f"make the fault {', '.join(keys)}")

    def unplug(self) -> None:
        """Pull the cable out. Raises Unsupported."""
        self._cannot("pull the cable out")

    def plug(self, name: str | None = None) -> None:
        """Put it back. Raises Unsupported."""
        self._cannot(f"put the cable in{'' if name is None else f' as {name}'}")

    def begin(self) -> None:
        """All fingers are up, and no part is at fault."""

    def close(self) -> None:
        """The same, as far as the board is there."""

    def _cannot(self, what: str) -> NoReturn:
        raise Unsupported(f"nobody can {what}: {self._why}")


class TestBoard(Nobody):
    """Contacts that are moved by the link's test commands, at a board that says that it is one for tests."""

    __test__ = False  # no test case of pytest's

    def __init__(self, board: SerialBoard, now_us: Callable[[], int], wait: Callable[[int], None]) -> None:
        super().__init__("a test board moves its own contacts, and does not pull its own cable")
        self._board, self._now_us, self._wait = board, now_us, wait
        self._down, self._at_fault, self._blind = 0, False, False

    def press(self, cell: int) -> None:
        """Close a contact; returns once the board has said that it did."""
        self._move(self._down | 1 << cell)

    def release(self, cell: int) -> None:
        """Open a contact; returns once the board has said that it did."""
        self._move(self._down & ~(1 << cell))

    def fault(self, **keys: Any) -> None:
        """`stuck`, `dead`: exactly these cells; `mute_ms`: say nothing for so long; `restart=True`: start anew."""
        known = {"stuck": link.STUCK, "dead": link.DEAD, "mute_ms": link.MUTE, "restart": link.RESTART}
        if unknown := [key for key in keys if key not in known]:
            raise Unsupported(
                f"a test board cannot make the fault {', '.join(unknown)}, only {', '.join(known)}, by its cable"
            )
        self._at_fault = True
        for key, value in keys.items():
            self._tell(known[key], int(value) if key in ("mute_ms", "restart") else _mask(value))

    def lit(self) -> bytes | None:
        """What the board has read back from its chain; None where it cannot, and while the cable is out."""
        board = self._board
        for _ in range(ASKED):
            if self._blind or not board.health()["link"].ok:
                return None
            self._tell(link.READ, 0)
            end_us = self._now_us() + ANSWER_US
            while (light := board.read_back()) is None and self._now_us() < end_us:
                self._keep_up()
            if light is not None:
                return light[: 3 * board.profile.cells]
        self._blind = True
        return None

    def begin(self) -> None:
        """Lift all fingers and mend all cells, those of another run too."""
        self._down, self._at_fault = 0, False
        for what in (link.CONTACTS, link.STUCK, link.DEAD):
            self._tell(what, 0)

    def close(self) -> None:
        """Lift all fingers and mend all cells; a board that is gone is left alone."""
        if (self._down or self._at_fault) and self._board.health()["link"].ok:
            self.begin()

    def _move(self, down: int) -> None:
        if down != self._down:
            self._tell(link.CONTACTS, down)
            self._down = down

    def _tell(self, what: int, argument: int) -> None:
        """Raises PartError where the board does not do it in time."""
        board = self._board
        if not (there := board.health()["link"]).ok:
            raise PartError(there.text)
        board.test(what, argument)
        end_us = self._now_us() + PATIENCE_US
        while not board.tested:
            if self._now_us() > end_us:
                raise PartError(f"the test board at {board.where} does not do what it is told; start it anew")
            self._keep_up()

    def _keep_up(self) -> None:
        """Let a little time pass at both ends of the cable."""
        self._wait(TICK_US)
        self._board.keep_up(self._now_us())


def _mask(cells: Iterable[int]) -> int:
    return sum(1 << cell for cell in set(cells))


def sleep(us: int) -> None:
    """Let real time pass."""
    time.sleep(us / 1e6)
