"""A jig: a board under test, and whoever moves its contacts and looks at its light. Pure.

One suite runs on every jig, from the simulator to a board on a desk. Whoever drives a jig scans by himself:

    scan = jig.board.scan(jig.now_us())
    jig.wait(scan.period_us)
"""

from __future__ import annotations

from typing import Literal, Protocol

from hal.errors import BoardError
from hal.ports import Board
from hal.profile import Profile

# Where a board stands, the lowest first: in this process; a simulated one or device code behind a pseudo terminal;
# device code on an emulated chip; at the end of a real port; on the pins of this machine.
Rung = Literal["sim", "pty", "pico", "ttyACM", "gpio"]


class Unsupported(BoardError):
    """A rung cannot do what was asked of it; the text is one sentence that says why."""


class Jig(Protocol):
    """A board under test; cells are numbered row-major from a1, times are microseconds of the jig's own clock."""

    @property
    def rung(self) -> Rung:
        """Where the board stands, never a higher one."""

    @property
    def exact(self) -> bool:
        """Whether a contact moves when it is told to, not when somebody gets round to it."""

    @property
    def board(self) -> Board:
        """The board, open, as the app opens it."""

    @property
    def profile(self) -> Profile:
        """The profile of the board."""

    def now_us(self) -> int:
        """The time: virtual, a chip's or the machine's own; never goes back."""

    def wait(self, us: int) -> None:
        """Let time pass, also for whoever is at the far end of a cable; nobody scans meanwhile."""

    def press(self, cell: int) -> None:
        """Close the contact of a cell now. Raises Unsupported where nobody can."""

    def release(self, cell: int) -> None:
        """Open it now. Raises Unsupported where nobody can."""

    def lit(self) -> bytes | None:
        """What the chain shows now, read back from it; None where that cannot be.

        Rows x columns x 3 bytes RGB in cell order, linear wire values. Never what the chain was only told to show.
        """

    def fault(self, **keys: object) -> None:
        """Let these faults be other ones from now on; those that are not named stay as they are.

        Names and values are those of `sim.faults.Faults`; at a cable also `mute_ms` and `restart=True`. Raises
        Unsupported for what this rung cannot do.
        """

    def unplug(self) -> None:
        """Pull the cable out. Raises Unsupported where there is none, or nobody to pull."""

    def plug(self, name: str | None = None) -> None:
        """Put the cable back in, under this name of its port or the one that comes. Raises Unsupported as above."""

    def close(self) -> None:
        """Lift all fingers, leave the board dark and let it go. May be called twice."""
