"""A journal that cannot be used is set aside under a new name, and what is readable of it begins a new one.

A power cut may come at any moment of it: the new database is built apart, and becomes `morbak.db.damaged-1.new` when it
is whole. From then on the exchange is finished at the next start if need be. No file that held a save is deleted.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from firmware.journal_lines import Entry, find_lines, plays
from firmware.journal_store import KEPT, SIDE_FILES, Bounds, Store, Unfit, connect, create, row, rows_v0

# Bytes read at once from a damaged file; where that fails, smaller pieces are tried down to a sector.
_PIECES: Final = (1 << 20, 4096, 512)
# CORRUPTFS is what SQLite makes of the error EIO.
_FAILED_READS: Final = {
    sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_FSTAT,
    sqlite3.SQLITE_IOERR_CORRUPTFS,
}  # fmt: skip


def open_store(path: Path, bounds: Bounds) -> Store:
    """The journal at `path`: as it is, new where there is none, rebuilt where it cannot be used.

    Whatever was unusual is in its `sentences`. Raises sqlite3.Error and OSError while the disk or the system does not
    let it be opened, and Unfit where even a new database does not come back as it was written.
    """
    sentences = _finish(path)
    if not any(_beside(path, ending).exists() for ending in ("", "-wal")):
        _build(path, path, [])
    try:
        store, failed = _try_twice(path, bounds)
    except Unfit as unfit:
        sentences += _replace(path, unfit)
        store, failed = _try_twice(path, bounds)
    try:
        _sync(path.parent)  # the name of the log too; SQLite goes on where it cannot do this itself
    except BaseException:
        store.close()
        raise
    store.sentences[:0] = sentences + failed
    return store


def readable(path: Path) -> list[Entry]:
    """What lasts of the whole entries in a damaged journal, oldest first, whatever is wrong with the rest.

    Rows of the table win over what lies about in the file: of two saves of one number that is the committed one.
    """
    entries = {entry.n: entry for entry in _lines(path)}
    with contextlib.suppress(sqlite3.Error, OSError):
        entries |= {entry.n: entry for entry in _rows(path)}
    return _lasting([entries[n] for n in sorted(entries)])


def glimpse(path: Path) -> list[Entry]:
    """What can be read of a journal that cannot be opened now, in the middle of an exchange too; else as `readable`."""
    return readable(next(iter(_pending(path)), path))


def replace(path: Path, entries: list[Entry]) -> Path | None:
    """Put a new journal of these entries in the place of the one at `path`; returns the name that one is kept under.

    Raises sqlite3.Error and OSError; then the old one is in its place, or will be exchanged at the next start.
    """
    _finish(path)
    if not any(_beside(path, ending).exists() for ending in SIDE_FILES):
        _build(path, path, entries)
        return None
    aside = _free_name(path, "replaced")
    _build(path, _beside(aside, ".new"), entries)
    _exchange(path, aside)
    return aside


def _try_twice(path: Path, bounds: Bounds) -> tuple[Store, list[str]]:
    """A disk may fail once; a file that cannot be read twice is damaged."""
    try:
        return Store.open(path, bounds), []
    except (sqlite3.Error, OSError, Unfit) as error:
        if not _unreadable(error):
            raise
        first = error
    try:
        return Store.open(path, bounds), [f"The disk failed to read the journal at first ({first}), then did."]
    except (sqlite3.Error, OSError) as error:
        if not _unreadable(error):
            raise
        raise Unfit("damaged", f"it cannot be read: {error}") from error


def _unreadable(error: Exception) -> bool:
    """Whether the disk may have failed to give what is there; SQLite's check tells that as damage."""
    if isinstance(error, Unfit):
        return error.kind == "damaged"
    if isinstance(error, OSError):
        return error.errno == errno.EIO
    return getattr(error, "sqlite_errorcode", 0) in _FAILED_READS


# -- what can be read ----------------------------------------------------------------------------------------------


def _rows(path: Path) -> Iterator[Entry]:
    """What SQLite still reads, forwards and backwards up to the damage, and of version 0 too."""
    connection = connect(path)
    try:
        for order in ("ASC", "DESC"):
            with contextlib.suppress(sqlite3.Error):
                for n, line in connection.execute(f"SELECT n, line FROM saves ORDER BY n {order}"):  # noqa: S608
                    with contextlib.suppress(Unfit):
                        yield row(n, line)
        with contextlib.suppress(sqlite3.Error, Unfit, AttributeError):
            yield from rows_v0(connection)
    finally:
        connection.close()


def _lines(path: Path) -> Iterator[Entry]:
    for ending in ("", "-wal"):
        yield from find_lines(_pieces(_beside(path, ending)))


def _pieces(path: Path) -> bytes:
    """The bytes of a file; zeros where the disk does not give them."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return b"".join(_piece(file, 0, os.fstat(file).st_size, _PIECES))
    finally:
        os.close(file)


def _piece(file: int, start: int, end: int, sizes: tuple[int, ...]) -> Iterator[bytes]:
    for at in range(start, end, sizes[0]):
        count = min(sizes[0], end - at)
        try:
            yield os.pread(file, count, at).ljust(count, b"\0")
        except OSError:
            yield from _piece(file, at, at + count, sizes[1:]) if sizes[1:] else [bytes(count)]


def _lasting(entries: list[Entry]) -> list[Entry]:
    """Of each game the last entry that plays, of one in progress the last few; oldest first, as they came in."""
    games: dict[int, list[Entry]] = {}
    for entry in reversed(entries):
        game = games.setdefault(entry.save.game, [])
        room = 1 if entry.save.game != entries[-1].save.game or entries[-1].finished else KEPT
        if len(game) < room and plays(entry.save):
            game.append(entry)
    return sorted(itertools.chain.from_iterable(games.values()), key=lambda entry: entry.n)


# -- the exchange --------------------------------------------------------------------------------------------------


def _replace(path: Path, unfit: Unfit) -> list[str]:
    entries = readable(path)
    aside = _free_name(path, unfit.kind)
    _build(path, _beside(aside, ".new"), entries)
    _exchange(path, aside)
    games = len({entry.save.game for entry in entries})
    return [
        f"The journal {path} is {unfit.kind} ({unfit}): it is kept as {aside.name}, and the {games} games that could be"
        " read of it are in a new one."
    ]


def _finish(path: Path) -> list[str]:
    """Finish an exchange that a power cut came upon, and clear away a database that was not built to its end."""
    for ending in ("", "-journal", "-wal", "-shm"):
        _beside(_building(path), ending).unlink(missing_ok=True)
    sentences = []
    for new in _pending(path):
        aside = new.with_suffix("")
        _exchange(path, aside)
        sentences.append(
            f"The journal {path} was about to be replaced: it is kept as {aside.name}, a new one is there."
        )
    return sentences


def _pending(path: Path) -> list[Path]:
    """Whole new databases that wait for the place of the one at `path`."""
    return sorted(path.parent.glob(f"{path.name}.*-*.new"))


def _exchange(path: Path, aside: Path) -> None:
    for ending in SIDE_FILES:
        with contextlib.suppress(FileNotFoundError):
            _beside(path, ending).rename(_beside(aside, ending))
    _beside(aside, ".new").rename(path)
    _sync(path.parent)


def _build(path: Path, target: Path, entries: list[Entry]) -> None:
    """A new database, under the name of `target` only when all of it is on the disk (case F13)."""
    building = _building(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    building.touch(exist_ok=True)
    connection = connect(building)
    try:
        create(connection, entries)
    finally:
        connection.close()
    _sync(building)
    building.rename(target)
    _sync(path.parent)


def _building(path: Path) -> Path:
    return _beside(path, ".building")


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _free_name(path: Path, kind: str) -> Path:
    for number in itertools.count(1):
        name = path.with_name(f"{path.name}.{kind}-{number}")
        if not any(_beside(name, ending).exists() for ending in (*SIDE_FILES, ".new")):
            return name
    raise AssertionError


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
