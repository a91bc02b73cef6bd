"""The journal: every save of the table on the disk, one transaction each, by a thread that nobody waits for.

The disk may be slow, full, read-only or broken: what is put meanwhile is kept in memory and written when the disk is
back. `saved` says how far it has come, `fault` what is in the way.
"""

from __future__ import annotations

import errno
import logging
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from firmware import journal_records, journal_rescue
from firmware.disk_sleep import sleeps_for_a_device
from firmware.journal_lines import Entry
from firmware.journal_store import BOUNDS, SIDE_FILES, Bounds, Store, Unfit, code
from firmware.save import Save
from firmware.state_directory import StateDirectory, full, obstacle

log = logging.getLogger("morbak")

DATABASE: Final = "morbak.db"
# Wait before the next try after the first failure, and at most: a disk that is back is used within 2 s.
RETRY_S: Final = (0.1, 2.0)
CLOSE_S: Final = 5.0

Wall = Callable[[], tuple[str, bool]]


class Found(NamedTuple):
    """What a start finds on the disk.

    `newest`: the save put last, and whether its game was `finished`. `games`: the highest number of a game so far; the
    next game has one more. `sentences`: what was unusual, to be shown to whoever looks after the board.
    """

    newest: Save | None = None
    finished: bool = False
    games: int = 0
    sentences: tuple[str, ...] = ()

    @property
    def save(self) -> Save | None:
        """What was on the board: a game to be gone on with, or a result that nobody had left; else None."""
        newest = self.newest
        if newest is None or newest.left or (self.finished and newest.record.result is None):
            return None
        return newest


class _Waiting(NamedTuple):
    """A save that is not on the disk yet."""

    ticket: int
    save: Save
    finished: bool
    date: str | None
    synced: bool


class Journal:
    """Saves put by the loop, committed by a thread of the journal's own.

    `saved`: the last ticket whose save is on the disk; every earlier one is there too, or replaced by a newer save of
    its game. `fault`: one sentence while the disk does not take what is put, else None. Any thread may read both.
    """

    def __init__(
        self,
        path: Path,
        wall: Wall,
        on_saved: Callable[[int], None] = lambda _: None,
        bounds: Bounds = BOUNDS,
        retry_s: tuple[float, float] = RETRY_S,
    ) -> None:
        """For `open`, which is how a journal is made."""
        self.saved = 0
        self.fault: str | None = None
        self.rounds = 0  # rises with every `prod` that the thread has felt
        self._path, self._wall, self._on_saved, self._bounds, self._retry_s = path, wall, on_saved, bounds, retry_s
        self._store: Store | None = None
        self._told_games: int | None = None  # what `open` told of a database that could not be opened
        self._offset = 0  # added to the numbers of games, where the disk knew of more when it came back
        self._ticket = 0
        self._waiting: deque[_Waiting] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)

    @classmethod
    def open(
        cls,
        directory: StateDirectory,
        wall: Wall,
        on_saved: Callable[[int], None] = lambda _: None,
        bounds: Bounds = BOUNDS,
        retry_s: tuple[float, float] = RETRY_S,
    ) -> tuple[Journal, Found]:
        """The journal of a state directory, and what stands in it. Waits for the disk; raises nothing.

        `wall`: the wall time in ISO 8601, and whether the clock is known to be right; must not block.
        `on_saved`: called in the journal's thread with each new value of `saved`.
        """
        journal = cls(directory.path / DATABASE, wall, on_saved, bounds, retry_s)
        found = journal._begin()
        directory.tell(*found.sentences)
        journal._thread.start()
        return journal, found

    # -- putting: the loop's side ----------------------------------------------------------------------------------

    def put(self, save: Save, finished: bool) -> int:
        """Have a save written; returns its ticket, which `saved` will reach. Never waits for the disk, never raises."""
        with self._changed:
            self._ticket += 1
            self._add(save, finished)
            return self._ticket

    def heartbeat(self, save: Save) -> None:
        """Have a save of a game in progress written that nobody waits for, such as clocks that run."""
        with self._changed:
            self._add(save, False)

    def prod(self) -> None:
        """Have the thread come round once, if it can. Never waits for the disk. For any thread."""
        with self._changed:
            self._changed.notify_all()

    def hangs_on_disk(self) -> bool:
        """Whether the thread sleeps in the kernel until the disk answers, which is the disk's fault and not its own."""
        return sleeps_for_a_device(self._thread)

    def close(self, wait_s: float = CLOSE_S) -> bool:
        """Write what waits, end the thread, close the database; False if that took too long or the disk refused."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(wait_s)
        return not self._thread.is_alive() and not self._waiting

    def _add(self, save: Save, finished: bool) -> None:
        """Queue a save; what still waits of the same unfinished game is replaced by it."""
        if self._waiting and not self._waiting[-1].finished and self._waiting[-1].save.game == save.game:
            self._waiting.pop()
        self._waiting.append(_Waiting(self._ticket, save, finished, *self._date()))
        self._changed.notify_all()

    def _date(self) -> tuple[str | None, bool]:
        try:
            return self._wall()
        except Exception:
            log.exception("the wall time cannot be told; the save goes without")
            return None, False

    # -- reading ---------------------------------------------------------------------------------------------------

    def records(self) -> Iterator[str]:
        """The finished games on the disk, oldest first, each a line of JSON with `seq`. For any thread."""
        return journal_records.records(self._path)

    def record(self, seq: int) -> str | None:
        """The line of one finished game, or None where there is none. For any thread."""
        return journal_records.record(self._path, seq)

    # -- writing: the journal's thread -------------------------------------------------------------------------------

    def _run(self) -> None:
        wait_s = self._retry_s[0]
        while self._rest():
            waiting = self._take()
            try:
                self._write(waiting)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is told, and the save is kept
                self._failed(error, waiting)
                if self._pause(wait_s):
                    break
                wait_s = min(2 * wait_s, self._retry_s[1])
            else:
                wait_s = self._retry_s[0]
        self._end()

    def _rest(self) -> bool:
        """Wait until there is something to write, or a database to be opened; False when that was all."""
        with self._changed:
            self.rounds += 1
            while self._store is not None and not self._waiting and not self._closing:
                self._changed.wait()
                self.rounds += 1
            return bool(self._waiting) or not self._closing

    def _take(self) -> _Waiting | None:
        with self._changed:
            return self._waiting.popleft() if self._waiting else None

    def _write(self, waiting: _Waiting | None) -> None:
        if self._store is None:
            self._reopen()
        if waiting is not None:
            self._commit(waiting)
        self._recovered()
        if waiting is not None and waiting.ticket > self.saved:
            self.saved = waiting.ticket
            self._tell(waiting.ticket)

    def _commit(self, waiting: _Waiting) -> None:
        assert self._store is not None
        save = waiting.save
        if self._offset:
            save = msgspec.structs.replace(save, game=save.game + self._offset)
        self._store.write(Entry(self._store.next_n, waiting.finished, waiting.date, waiting.synced, save))

    def _tell(self, ticket: int) -> None:
        try:
            self._on_saved(ticket)
        except Exception:
            log.exception("the journal's listener failed; saving goes on")

    def _end(self) -> None:
        """Close the database; what stays in its log is as safe there, but somebody should look at the disk."""
        if self._store is not None and (reason := self._store.close()) is not None:
            log.warning(
                "The journal could not be put in order at the end (%s): nothing is lost, the next start does it.",
                reason,
            )

    # -- the disk fails and comes back -------------------------------------------------------------------------------

    def _begin(self) -> Found:
        try:
            self._store = journal_rescue.open_store(self._path, self._bounds)
        except (sqlite3.Error, OSError, Unfit) as error:
            # As on a read-only disk: what can be read is told all the same.
            self.fault = explain(error, self._path.parent)
            entries = journal_rescue.glimpse(self._path)
            self._told_games = max((entry.save.game for entry in entries), default=0)
            return _found(entries[-1] if entries else None, self._told_games, [self.fault])
        return _found(self._store.newest, self._store.games, self._store.sentences)

    def _reopen(self) -> None:
        self._store = journal_rescue.open_store(self._path, self._bounds)
        for sentence in self._store.sentences:
            log.warning("%s", sentence)
        if self._told_games is not None:
            self._offset = self._store.games - self._told_games
            self._told_games = None

    def _failed(self, error: Exception, waiting: _Waiting | None) -> None:
        """Keep the save, drop the connection, and say what is wrong."""
        if not isinstance(error, sqlite3.Error | OSError | Unfit):
            log.exception("the journal failed", exc_info=error)
        fault = explain(error, self._path.parent)
        if fault != self.fault:
            log.error("%s", fault)
        self.fault = fault
        if self._store is not None:
            self._store.close()
            self._store = None
        if waiting is not None:
            with self._changed:
                self._waiting.appendleft(waiting)

    def _pause(self, wait_s: float) -> bool:
        """Wait before the next try; True if the journal is being closed, which is no time to wait."""
        with self._changed:
            if not self._closing:
                self._changed.wait_for(self._felt, wait_s)
                return False
            return True

    def _felt(self) -> bool:
        """Whether a pause is over before its time; asked at every prod."""
        self.rounds += 1
        return self._closing

    def _recovered(self) -> None:
        if self.fault is not None:
            log.warning("The disk takes saves again.")
            self.fault = None


def _found(newest: Entry | None, games: int, sentences: list[str]) -> Found:
    if newest is None:
        return Found(games=games, sentences=tuple(sentences))
    return Found(newest.save, newest.finished, games, tuple(sentences))


def explain(error: Exception, directory: Path) -> str:
    """What is in the way of saving, in one sentence that says what to do."""
    number = error.errno if isinstance(error, OSError) else None
    known = obstacle(directory, *(DATABASE + ending for ending in SIDE_FILES))
    if known is not None:
        return known
    if code(error) == sqlite3.SQLITE_FULL or number in (errno.ENOSPC, errno.EDQUOT) or full(directory):
        return f"The disk is full: games are not saved until there is room in {directory}."
    if code(error) in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY) or number == errno.EIO:
        return f"The disk fails ({error}): games are not saved in {directory} until it works; check card and contacts."
    return f"Games cannot be saved in {directory} ({error}); trying again."
