"""A real journal behind a disk of virtual time: what is put is committed later, at a time that chance has drawn.

At that time the commit is made and waited for, so that the same seed gives the same saves at the same virtual times,
however long the disk of this machine takes. What is on its way when the power fails is lost, as on a real disk.
"""

from __future__ import annotations

import threading
from collections import deque
from random import Random
from typing import NamedTuple

from firmware.journal import Journal, Wall
from firmware.save import Save
from firmware.state_directory import StateDirectory
from hal.ports import Clock

MS = 1_000
# A commit on a card takes some ms, now and then a hundred. All below the turn guard of 250 ms: nobody is held up.
USUAL_MS, SLOW_MS = (2, 30), (30, 200)
SLOW_SHARE = 0.1
WAIT_S = 30.0


class _Coming(NamedTuple):
    """A save that will be on the disk at `due_us`; `ticket` is None for a heartbeat, for which nobody waits."""

    due_us: int
    ticket: int | None
    save: Save
    finished: bool


class SlowStore:
    """Implements `firmware.keeper.Store` over the journal in a state directory, and `sim.drive.Disk`."""

    def __init__(self, state: StateDirectory, wall: Wall, clock: Clock, chance: Random) -> None:
        """Opens the journal; `found` is what stands in it."""
        self.saved = self.commits = 0
        self.fault: str | None = None
        self._ticket = 0
        self._clock, self._chance = clock, chance
        self._coming: deque[_Coming] = deque()
        self._committed = threading.Condition()
        self.journal, self.found = Journal.open(state, wall, self._on_saved)

    @property
    def due_us(self) -> int | None:
        """When the next commit is made; None where nothing is on its way."""
        return self._coming[0].due_us if self._coming else None

    @property
    def behind(self) -> bool:
        """Whether something is on its way that somebody waits for."""
        return self.saved < self._ticket

    def put(self, save: Save, finished: bool) -> int:
        """Have a save committed in a while; returns the ticket that `saved` will reach."""
        self._ticket += 1
        self._send(self._ticket, save, finished)
        return self._ticket

    def heartbeat(self, save: Save) -> None:
        """Have a save committed in a while that nobody waits for."""
        self._send(None, save, False)

    def step(self, t_us: int) -> None:
        """Commit what is due at `t_us`, and wait for the disk of this machine."""
        while self._coming and self._coming[0].due_us <= t_us:
            coming = self._coming.popleft()
            ticket = self.journal.put(coming.save, coming.finished)
            with self._committed:
                if not self._committed.wait_for(lambda: self.journal.saved >= ticket, WAIT_S):  # noqa: B023
                    raise TimeoutError(
                        f"the disk of this machine has not answered for {WAIT_S} s: {self.journal.fault}"
                    )
            self.commits, self.fault = self.commits + 1, self.journal.fault
            if coming.ticket is not None:
                self.saved = coming.ticket

    def close(self) -> bool:
        """Commit what is on its way and close the journal; False where that failed."""
        if self._coming:
            self.step(self._coming[-1].due_us)
        return self.journal.close()

    def lose(self) -> bool:
        """Close the journal without what is on its way, as when the power fails; False where that failed."""
        self._coming.clear()
        return self.journal.close()

    def _send(self, ticket: int | None, save: Save, finished: bool) -> None:
        first, last = SLOW_MS if self._chance.random() < SLOW_SHARE else USUAL_MS
        due_us = self._clock.now_us() + self._chance.randrange(first, last) * MS
        if self._coming:
            due_us = max(due_us, self._coming[-1].due_us)
        self._coming.append(_Coming(due_us, ticket, save, finished))

    def _on_saved(self, _ticket: int) -> None:
        with self._committed:
            self._committed.notify_all()
