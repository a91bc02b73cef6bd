"""Whether the contacts are in sight: when nothing was known of them, whatever the reason.

A matrix that does not answer, a cable that was pulled, a computer that stood still: players can do nothing meanwhile,
and it is no time of theirs. Pure: no clock, no I/O.
"""

from __future__ import annotations

from typing import NamedTuple

from hal.ports import Scan

# A scan takes milliseconds, a serial board reports every 5 ms, and the loss of a link is noticed within a second
# (cases E1-E6); a busy computer may stand still for some hundred milliseconds.
SIGHT_US = 1_000_000


class Unseen(NamedTuple):
    """Nothing was known of the contacts from `since_us` until `until_us`; None: nothing is known yet."""

    since_us: int
    until_us: int | None


class Sight:
    """Follows the scans of a board."""

    def __init__(self) -> None:
        """Before the first scan that knows anything nobody has seen the board, and nothing is lost."""
        self._known_us: int | None = None
        self._lost = False

    def step(self, scan: Scan) -> Unseen | None:
        """The next scan: says when sight is lost for more than a second, and again when it is back."""
        known_us = self._known_us
        if known_us is None:
            self._known_us = scan.known_us if scan.known_us > 0 else None
            return None
        if scan.known_us <= known_us:
            if self._lost or scan.t_us - known_us <= SIGHT_US:
                return None
            self._lost = True
            return Unseen(known_us, None)
        unseen = self._lost or scan.known_us - known_us > SIGHT_US
        self._known_us, self._lost = scan.known_us, False
        return Unseen(known_us, scan.t_us) if unseen else None
