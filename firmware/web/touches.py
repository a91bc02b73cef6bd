"""Contacts moved from outside: by a page over its socket, or by a POST. Simulated boards only.

A contact that a page holds ends with its socket, or when the page stops renewing it; one that a POST holds stays
until its up. An up that follows its down too closely is delayed, so that no scan can miss the touch, not even on a
machine that is too busy to scan in time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Protocol

from hal.ports import Clock

LEASE_S = 1.0
# 5 ms idle scan + 3 ms bounce may hide the start of a touch; 20 ms of it must be seen to count (design, tap_min_us).
LEAST_S = 0.030
# A contact that closes again sooner would pass for bounce, and two touches for one: 10 ms of release debounce, 3 ms of
# bounce and a scan of 5 ms. No finger is that quick; a program is.
OPEN_S = 0.025
# Where the scan is late a contact stays closed until it was felt, looked at this often, and no longer than this.
LOOK_S = 0.005
UNFELT_S = 0.250


class Contacts(Protocol):
    """Simulated contacts that several holders may press; closed while at least one holds them."""

    def hold(self, holder: Hashable, cell: int, t_us: int) -> None:
        """`holder` presses `cell`; once more changes nothing."""

    def let_go(self, holder: Hashable, cell: int, t_us: int) -> None:
        """`holder` lifts `cell`; without a press nothing changes."""


Felt = Callable[[int, int], bool]


class Touches:
    """Keeps each holder's contacts for as long as they may be kept. Lives in the loop's thread."""

    def __init__(self, contacts: Contacts, clock: Clock, felt: Felt = lambda _cell, _since_us: True) -> None:
        """`felt(cell, since_us)`: whether the board has felt a press since then for long enough to count."""
        self._contacts, self._clock, self._felt = contacts, clock, felt
        self._down_s: dict[tuple[Hashable, int], float] = {}
        self._down_us: dict[tuple[Hashable, int], int] = {}
        self._opened_s: dict[int, float] = {}
        self._ends: dict[tuple[Hashable, int], asyncio.TimerHandle] = {}
        self._overs: dict[tuple[Hashable, int], asyncio.Event] = {}  # of contacts that are being lifted

    def down(self, holder: Hashable, cell: int, lease_s: float | None = LEASE_S) -> float:
        """Press a contact, or renew it; without renewal it opens after `lease_s` (None: never).

        Returns in how many seconds it closes: 0, unless it has opened just before.
        """
        loop, key = asyncio.get_running_loop(), (holder, cell)
        self._cancel(key)
        self._over(key)
        wait_s = 0.0
        if key not in self._down_s:
            wait_s = max(0.0, self._opened_s.get(cell, -OPEN_S) + OPEN_S - loop.time())
            self._down_s[key] = loop.time() + wait_s
            self._down_us[key] = self._clock.now_us() + round(wait_s * 1e6)
            self._contacts.hold(holder, cell, self._down_us[key])
        if lease_s is not None:
            self._ends[key] = loop.call_later(wait_s + lease_s, self._open, key)
        return wait_s

    def up(self, holder: Hashable, cell: int) -> asyncio.Event:
        """Lift a contact; the event is set once it has opened, or was pressed again meanwhile."""
        key = (holder, cell)
        over = self._overs.setdefault(key, asyncio.Event())
        self._lift(key)
        return over

    def _lift(self, key: tuple[Hashable, int]) -> None:
        """Open a contact, or see about it later."""
        loop = asyncio.get_running_loop()
        self._cancel(key)
        wait_s = self._wait_s(key, loop.time()) if key in self._down_s else 0.0
        if wait_s <= 0:
            self._open(key)
        else:
            self._ends[key] = loop.call_later(wait_s, self._lift, key)

    def gone(self, holder: Hashable) -> None:
        """The holder's socket has closed: lift all that it held."""
        for key in [key for key in self._down_s if key[0] == holder]:
            self.up(*key)

    def _wait_s(self, key: tuple[Hashable, int], now_s: float) -> float:
        """How long a lifted contact must stay closed still."""
        least_s = self._down_s[key] + LEAST_S - now_s
        if least_s > 0:
            return least_s
        late = now_s < self._down_s[key] + UNFELT_S and not self._felt(key[1], self._down_us[key])
        return LOOK_S if late else 0.0

    def _over(self, key: tuple[Hashable, int]) -> None:
        event = self._overs.pop(key, None)
        if event is not None:
            event.set()

    def _open(self, key: tuple[Hashable, int]) -> None:
        self._cancel(key)
        self._over(key)
        if self._down_s.pop(key, None) is not None:
            del self._down_us[key]
            self._opened_s[key[1]] = asyncio.get_running_loop().time()
            self._contacts.let_go(key[0], key[1], self._clock.now_us())

    def _cancel(self, key: tuple[Hashable, int]) -> None:
        handle = self._ends.pop(key, None)
        if handle is not None:
            handle.cancel()
