"""Attends a board that runs as a service: asks its parts whether they move, and feeds the watchdog if they do.

It runs in the loop, so a loop that stands still feeds nobody.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final

from firmware.notify import Notifier
from firmware.start_record import StartRecord
from firmware.watchdog import Judge
from hal.ports import Clock

log = logging.getLogger("morbak")

# The watchdog's time in the unit is 2 s.
PERIOD_S: Final = 0.25
# Until every part has come round for the first time: a start is told as soon as it has succeeded.
STARTS_S: Final = 0.025


class Attendant:
    """Feeds the watchdog while every part moves. `status`: one line on what the board is doing."""

    def __init__(
        self,
        clock: Clock,
        rounds: Callable[[], Mapping[str, int]],
        notifier: Notifier,
        record: StartRecord,
        status: Callable[[], str],
    ) -> None:
        self._clock, self._rounds, self._notifier, self._record, self._status = clock, rounds, notifier, record, status
        self._judge = Judge()
        self._start_us = clock.now_us()
        self._own = 0
        self._ready = False
        self._stalled: tuple[str, ...] = ()

    async def attend(self) -> None:
        """Until it is cancelled."""
        while True:
            self.step()
            await asyncio.sleep(PERIOD_S if self._ready else STARTS_S)

    def step(self) -> None:
        """One look at every part."""
        now_us, self._own = self._clock.now_us(), self._own + 1
        if self._judge.step(now_us, {**self._rounds(), "loop": self._own}):
            if not self._ready:
                self._ready = True
                self._notifier.ready()
            self._notifier.feed()
        stalled = self._judge.stalled(now_us)
        if stalled != self._stalled:
            self._stalled = stalled
            if stalled:
                log.error("standing still: %s; the watchdog is not fed until that moves", ", ".join(stalled))
        self._record.lived(now_us - self._start_us, stalled)
        self._notifier.status(self._status())


@contextlib.asynccontextmanager
async def attended(
    clock: Clock, rounds: Callable[[], Mapping[str, int]], record: StartRecord, status: Callable[[], str]
) -> AsyncIterator[None]:
    """Around the time that a board plays: it is attended, and the service manager hears of its end."""
    with contextlib.closing(Notifier.of()) as notifier:
        attending = asyncio.create_task(Attendant(clock, rounds, notifier, record, status).attend())
        attending.add_done_callback(_ended)
        try:
            yield
        finally:
            notifier.ending()
            attending.cancel()


def _ended(attending: asyncio.Task[None]) -> None:
    """Nobody feeds the watchdog any more, which must not go unexplained."""
    if not attending.cancelled() and (error := attending.exception()) is not None:
        log.critical("the attendant failed: %s", error, exc_info=error)
