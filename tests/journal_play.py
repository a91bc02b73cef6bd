"""Known games as saves, one a touch; as a program it puts them into a journal, to be failed and killed from outside.

    python -m tests.journal_play DIRECTORY COUNT

opens the journal, goes on behind the save it finds, puts COUNT saves, each after the one before is on the disk, and
prints a line for everything that happens.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

from firmware.journal import Found, Journal
from firmware.journal_store import BOUNDS, Bounds
from firmware.record import Record, parse_record
from firmware.save import MatchSave, Save
from firmware.state_directory import StateDirectory

GAMES = (Path(__file__).parent / "tables" / "morbak_games.jsonl").read_text().splitlines()
WALL = ("2026-03-01T12:00:00Z", True)
RETRY_S = (0.001, 0.01)


def records(line: str) -> Iterator[Record]:
    """The record of a game before its first move, after each move, and finished."""
    game = json.loads(line)
    for length in range(len(game["moves"])):
        bare = {"v": 1, "rules": game["rules"], "starter": game["starter"], "moves": game["moves"][:length]}
        yield parse_record(json.dumps(bare | {"ms": [1000] * length}))
    yield parse_record(line)


def saves() -> Iterator[tuple[Save, bool]]:
    """Game after game, save after save: (save, finished). The time used by a is the number of the save, from 0."""
    index = count()
    for number in count(1):
        for record in records(GAMES[number % len(GAMES)]):
            save = Save(number, record, MatchSave(900_000_000, None), used_us=(next(index), 0), running=True)
            yield save, record.result is not None


def index_of(found: Found) -> int:
    """The number of the save that was found; -1 if there was none."""
    return found.newest.used_us[0] if found.newest else -1


class Putter:
    """Puts saves and waits for each."""

    def __init__(
        self, path: Path, wall: Callable[[], tuple[str, bool]] = lambda: WALL, bounds: Bounds = BOUNDS
    ) -> None:
        self._saved = threading.Condition()
        self.directory = StateDirectory.open(path)
        self.journal, self.found = Journal.open(self.directory, wall, self._on_saved, bounds, RETRY_S)

    def put(self, save: Save, finished: bool, wait_s: float = 30.0) -> int:
        """Put one save and wait until it is on the disk; returns its ticket."""
        ticket = self.journal.put(save, finished)
        self.wait(ticket, wait_s)
        return ticket

    def wait(self, ticket: int, wait_s: float = 30.0) -> None:
        """Wait until a ticket is saved."""
        with self._saved:
            assert self._saved.wait_for(lambda: self.journal.saved >= ticket, wait_s), self.journal.fault

    def close(self) -> bool:
        """Close journal and directory; True if everything is on the disk."""
        done = self.journal.close()
        self.directory.close()
        return done

    def _on_saved(self, ticket: int) -> None:
        with self._saved:
            self._saved.notify_all()


def play(path: Path, script: list[tuple[Save, bool]], **more: Any) -> Found:
    """What is found, and then play the script and close."""
    putter = Putter(path, **more)
    for save, finished in script:
        putter.put(save, finished)
    assert putter.journal.fault is None
    assert putter.close()
    return putter.found


def lines(path: Path) -> list[str]:
    """The records in the journal."""
    putter = Putter(path)
    try:
        return list(putter.journal.records())
    finally:
        putter.close()


def broken(code: int, name: str) -> sqlite3.OperationalError:
    """An error as SQLite raises it."""
    error = sqlite3.OperationalError(name)
    error.sqlite_errorcode, error.sqlite_errorname = code, name
    return error


def main(path: Path, number: int) -> int:
    """Play, and tell."""
    logging.basicConfig(stream=sys.stdout, format="said %(message)s")
    putter = Putter(path)
    if putter.directory.trouble is not None:
        print("said", putter.directory.trouble, flush=True)
    first = index_of(putter.found) + 1
    print("found", first - 1, flush=True)
    for index, (save, finished) in enumerate(islice(saves(), first, first + number), first):
        print("put", index, flush=True)
        putter.put(save, finished)
        print("saved", index, flush=True)
    print("closed", putter.close(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
