"""Between table and journal: what is put when, and how long the next action waits for the last one's commit.

An action is applied and shown at once. Nothing after it is judged until it is on the disk, for at most a second; then
play goes on, without waiting again, and "not saved" shows until the disk has caught up (promise 5). While a clock runs
it is saved so often that a power cut costs at most 5 s of it, in the player's favour (promise 1).
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from firmware.game_record import save_of
from firmware.save import Save
from firmware.table import Table
from hal.ports import Part

WAIT_US = 1_000_000
# Asked for every 0.5 s, and then on its way to the disk: 5 s are never exceeded.
BEAT_US = 4_000_000


class Store(Protocol):
    """Where saves go; `firmware.journal.Journal` is one."""

    saved: int
    fault: str | None

    def put(self, save: Save, finished: bool) -> int:
        """Have a save written; returns the ticket that `saved` will reach."""

    def heartbeat(self, save: Save) -> None:
        """Have a save written that nobody waits for."""


class Keeper:
    """Judges a table no further than what is saved."""

    def __init__(self, table: Table, store: Store) -> None:
        self._table, self._store = table, store
        self._kept = table.revision
        # Of the game on the table; one that was found there at the start is saved already.
        self._last: Save | None = self._save(0) if table.game is not None else None
        self._ticket = 0
        self._since_us = self._beat_us = 0  # since when something is on its way; when the clock was last saved

    def judge(self, known_us: int, t_us: int) -> None:
        """Let the table judge up to `known_us`, one thing after the other, each saved before the next."""
        while not self.waits(t_us) and self._table.step(known_us):
            self._keep(t_us)
        self.beat(t_us)

    def waits(self, t_us: int) -> bool:
        """Whether the last action is still on its way to the disk, and the next must wait.

        A disk that is behind makes nobody wait a second time: players who have seen "not saved" are not held up by it.
        """
        return self._store.saved < self._ticket and t_us < self._since_us + WAIT_US

    def part(self, t_us: int) -> Part:
        """The health of the journal; what is under way for less than a second is no fault."""
        if self._store.fault is not None:
            return Part(False, f"not saved: {self._store.fault}")
        if self._store.saved < self._ticket and not self.waits(t_us):
            return Part(False, "not saved: the disk has not answered for more than a second; play goes on.")
        return Part(True, "ok")

    def _keep(self, t_us: int) -> None:
        if self._table.revision == self._kept:
            return
        self._kept = self._table.revision
        game, last = self._table.game, self._last
        save = self._last = self._save(t_us)
        if last is not None and (game is None or (self._table.number != last.game and last.record.result is None)):
            self._put(msgspec.structs.replace(last, left=True, running=False), True, t_us)
        if game is not None and save is not None and save != last:  # another phase alone changes nothing
            self._put(save, game.ending is not None, t_us)

    def _save(self, t_us: int) -> Save | None:
        game = self._table.game
        return None if game is None else save_of(game, self._table.match, self._table.number, t_us)

    def _put(self, save: Save, finished: bool, t_us: int) -> None:
        if self._store.saved >= self._ticket:
            self._since_us = t_us
        self._ticket = self._store.put(save, finished)
        self._beat_us = t_us

    def beat(self, t_us: int) -> None:
        """Save a running clock, if it was not saved for 4 s."""
        game = self._table.game
        if game is not None and game.clocks.running is not None and t_us >= self._beat_us + BEAT_US:
            save = self._last = save_of(game, self._table.match, self._table.number, t_us)
            self._store.heartbeat(save)
            self._beat_us = t_us
