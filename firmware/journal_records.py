"""The finished games of a journal, read beside whoever writes it."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from firmware.journal_lines import Entry, printed
from firmware.journal_rescue import readable
from firmware.journal_store import Unfit, connect, rows

log = logging.getLogger("morbak")


def records(path: Path) -> Iterator[str]:
    """The record of each game in the database at `path` that was finished or left, by its number, as a line of JSON.

    A game that was left before its first move is no record.

    `seq` is the number of the game; `date` is there where the clock was known to be right (case F19). Where the
    database is damaged, what is readable of it is given, with a warning in the log.
    """
    return (printed(entry) for entry in entries(path) if _recorded(entry))


def record(path: Path, seq: int) -> str | None:
    """The record of game `seq`; None where there is none, or it is not finished."""
    return next((printed(entry) for entry in entries(path) if _recorded(entry) and entry.save.game == seq), None)


def _recorded(entry: Entry) -> bool:
    return entry.finished and bool(entry.save.record.moves)


def entries(path: Path) -> Iterator[Entry]:
    """Every save in the database at `path`, oldest first; where it is damaged, what is readable, with a warning."""
    if not path.exists():
        return
    last = 0
    try:
        with contextlib.closing(connect(path)) as connection:
            for entry in rows(connection):
                last = entry.n
                yield entry
    except (sqlite3.Error, Unfit) as error:
        log.warning("The journal %s cannot be read in full (%s); what is readable of it follows.", path, error)
        yield from (entry for entry in readable(path) if entry.n > last)
