"""Contacts moved from outside: by a page over its socket, or by a POST. Simulated boards only.

A contact that a page holds ends with its socket, or when the page stops renewing it; one that a POST holds stays
until its up. An up that follows its down too closely is delayed, so that no scan can miss the touch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import Protocol

from hal.ports import Clock

LEASE_S = 1.0
# 5 ms idle scan + 3 ms bounce may hide the start of a touch; 20 ms of it must be seen to count (design, tap_min_us).
LEAST_S = 0.030


class Contacts(Protocol):
    """Simulated contacts that several holders may press; closed while at least one holds them."""

    def hold(self, holder: Hashable, cell: int, t_us: int) -> None:
        """`holder` presses `cell`; once more changes nothing."""

    def let_go(self, holder: Hashable, cell: int, t_us: int) -> None:
        """`holder` lifts `cell`; without a press nothing changes."""


class Touches:
    """Keeps each holder's contacts for as long as they may be kept. Lives in the loop's thread."""

    def __init__(self, contacts: Contacts, clock: Clock) -> None:
        self._contacts, self._clock = contacts, clock
        self._down_s: dict[tuple[Hashable, int], float] = {}
        self._ends: dict[tuple[Hashable, int], asyncio.TimerHandle] = {}

    def down(self, holder: Hashable, cell: int, lease_s: float | None = LEASE_S) -> None:
        """Press a contact, or renew it; without renewal it opens after `lease_s` (None: never)."""
        loop, key = asyncio.get_running_loop(), (holder, cell)
        self._cancel(key)
        if key not in self._down_s:
            self._down_s[key] = loop.time()
            self._contacts.hold(holder, cell, self._clock.now_us())
        if lease_s is not None:
            self._ends[key] = loop.call_later(lease_s, self._open, key)

    def up(self, holder: Hashable, cell: int) -> float:
        """Lift a contact; returns in how many seconds it opens (0: it has)."""
        loop, key = asyncio.get_running_loop(), (holder, cell)
        if key not in self._down_s:
            return 0.0
        self._cancel(key)
        wait_s = self._down_s[key] + LEAST_S - loop.time()
        if wait_s <= 0:
            self._open(key)
            return 0.0
        self._ends[key] = loop.call_later(wait_s, self._open, key)
        return wait_s

    def gone(self, holder: Hashable) -> None:
        """The holder's socket has closed: lift all that it held."""
        for key in [key for key in self._down_s if key[0] == holder]:
            self.up(*key)

    def _open(self, key: tuple[Hashable, int]) -> None:
        self._cancel(key)
        if self._down_s.pop(key, None) is not None:
            self._contacts.let_go(key[0], key[1], self._clock.now_us())

    def _cancel(self, key: tuple[Hashable, int]) -> None:
        handle = self._ends.pop(key, None)
        if handle is not None:
            handle.cancel()
