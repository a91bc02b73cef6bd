"""The journal's database: one table of lines, one transaction a save, what has grown old dropped along the way."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple
from urllib.parse import quote

from firmware.journal_lines import Entry, find_lines, format_line, parse_line, plays
from firmware.save import decode

APPLICATION_ID: Final = 0x4D52424B  # "MRBK"
SCHEMA: Final = 1
TABLE: Final = "CREATE TABLE saves (n INTEGER PRIMARY KEY, line BLOB NOT NULL)"
SIDE_FILES: Final = ("", "-wal", "-shm")
# Of a game in progress the newest saves; the older ones among them are there should the newest become unreadable.
KEPT: Final = 8
READ_AT_ONCE: Final = 100
# SQLite makes room in the index it shares with readers (-shm) for each 4096 bytes by writing one of them. Where a block
# of the disk is smaller that leaves holes, and on a full disk whoever touches one is killed by SIGBUS.
SHARED_BLOCK_BYTES: Final = 4096
_MAGIC: Final = b"SQLite format 3\0"
# What the disk or the system does, as against what stands in the file: sqlite.org/rescode.html, primary codes.
_OUTSIDE: Final = {
    sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
}  # fmt: skip


class Unfit(Exception):
    """The file is no journal that can be written to; the text is half a sentence that says why."""

    def __init__(self, kind: Literal["damaged", "foreign", "newer"], text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Bounds(NamedTuple):
    """How much the journal may keep: games, bytes, and per cent of the file system it lies on."""

    games: int = 10_000
    size_bytes: int = 50_000_000
    share_pct: int = 5


BOUNDS: Final = Bounds()


def code(error: BaseException) -> int:
    """SQLite's primary result code of an error; 0 where it has none."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def connect(path: Path) -> sqlite3.Connection:
    """A connection to a database that exists, every commit on the disk when it returns.

    On a disk with blocks below 4096 bytes it is alone: it keeps the index in its own memory, and others are refused.
    """
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode=rw", uri=True, isolation_level=None, check_same_thread=False, timeout=1.0
    )
    try:
        if os.statvfs(path.parent).f_bsize < SHARED_BLOCK_BYTES:
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")  # before anything that looks into the file
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA cell_size_check=ON")
    except BaseException:
        connection.close()
        raise
    return connection


@contextlib.contextmanager
def _judged() -> Iterator[None]:
    """An error that does not come from outside comes from what stands in the file."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if code(error) in _OUTSIDE:
            raise
        raise Unfit("damaged", str(error)) from error


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # the first error is the one to tell
            connection.execute("ROLLBACK")
        raise


class Store:
    """An open, checked database. Belongs to one thread at a time.

    `newest`: the entry put last. `games`: the highest number of a game in it, 0 if there is none. `sentences`: what
    had to be done to it when it was opened.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, bounds: Bounds) -> None:
        self.newest: Entry | None = None
        self.games = 0
        self.sentences: list[str] = []
        self._connection = connection
        self._kept: list[int] = []  # rows of the newest game, ascending
        self._others = 0  # rows of older games, one each
        system = os.statvfs(path.parent)
        share_bytes = system.f_blocks * system.f_frsize * bounds.share_pct // 100
        self._bounds = bounds._replace(size_bytes=min(bounds.size_bytes, share_bytes))

    @classmethod
    def open(cls, path: Path, bounds: Bounds) -> Store:
        """Open and check a database; an older one is brought up to date in one transaction.

        Raises Unfit for what is no whole journal, sqlite3.Error and OSError where the disk or the system fails.
        """
        log = _bytes(Path(f"{path}-wal"))  # before SQLite passes over what it finds broken in there
        _check_header(path)
        with _judged():
            connection = connect(path)
            try:
                store = cls(connection, path, bounds)
                store._check()
                store._adopt(log)
                # A commit that changes nothing: a disk that takes none is found out now, not by the first touch.
                connection.execute(f"PRAGMA user_version={SCHEMA}")
                # After a failed fsync the kernel may hold pages for written that are not: write them once more.
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            except BaseException:
                connection.close()
                raise
        return store

    def close(self) -> str | None:
        """Close the database; what is committed stays so.

        Returns why its log could not be brought into it, which the next start will do; None where it was.
        """
        with contextlib.closing(self._connection):
            try:
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            except sqlite3.Error as error:  # closing tries once more, and tells nobody
                return str(error)
        return None

    # -- writing -------------------------------------------------------------------------------------------------

    def write(self, entry: Entry) -> None:
        """Commit one entry, drop what it replaces and what is beyond the bounds: one transaction."""
        same = self.newest is not None and self.newest.save.game == entry.save.game
        kept = [*self._kept, entry.n] if same else [entry.n]
        stays = kept[-1:] if entry.finished else kept[-KEPT:]
        gone = kept[: -len(stays)] if same else self._kept[:-1]
        others = self._others + (0 if same or not self._kept else 1)
        with transaction(self._connection):
            insert(self._connection, entry)
            self._connection.executemany("DELETE FROM saves WHERE n = ?", [(n,) for n in gone])
            pruned = self._prune(others, stays[0]) if entry.finished or not same else 0
        self._kept, self._others = stays, others - pruned
        self._note(entry)

    @property
    def next_n(self) -> int:
        """The number that the next entry must have."""
        return self.newest.n + 1 if self.newest else 1

    def _note(self, entry: Entry) -> None:
        self.newest = entry
        self.games = max(self.games, entry.save.game)

    def _prune(self, others: int, first: int) -> int:
        """Delete the oldest games before row `first` until the rest keeps the bounds; returns how many."""
        pruned = 0
        while others > pruned and (others + 1 - pruned > self._bounds.games or self._used() > self._bounds.size_bytes):
            self._connection.execute("DELETE FROM saves WHERE n = (SELECT min(n) FROM saves WHERE n < ?)", (first,))
            pruned += 1
        return pruned

    def _used(self) -> int:
        pages, free, size = (self._pragma(name) for name in ("page_count", "freelist_count", "page_size"))
        return (pages - free) * size

    # -- opening -------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        identity = self._pragma("application_id")
        if identity != APPLICATION_ID:
            raise Unfit("foreign", f"its application_id is {identity:#x}, that of a journal is {APPLICATION_ID:#x}")
        version = self._pragma("user_version")
        if version > SCHEMA:
            raise Unfit("newer", f"its version is {version}, this program knows {SCHEMA}")
        found = self._connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if found != "ok":
            raise Unfit("damaged", str(found))
        if self._connection.execute("PRAGMA journal_mode=WAL").fetchone()[0] != "wal":
            raise Unfit("damaged", "it cannot be switched to write-ahead logging")
        if version < SCHEMA:
            migrate(self._connection)
            self.sentences.append(f"The journal was of version {version} and has been brought to version {SCHEMA}.")
        schema = self._connection.execute("SELECT sql FROM sqlite_schema").fetchall()
        if schema != [(TABLE,)]:
            raise Unfit("damaged", "its table is not that of a journal")
        self._load()

    def _load(self) -> None:
        for entry in rows(self._connection):
            if self.newest is not None and self.newest.save.game == entry.save.game:
                self._kept.append(entry.n)
            else:
                self._others += len(self._kept)
                self._kept = [entry.n]
            self._note(entry)
        if self.newest is not None and not plays(self.newest.save):
            raise Unfit("damaged", f"the game of save {self.newest.n} contradicts itself")

    def _adopt(self, log: bytes) -> None:
        """Take over whole saves newer than all that SQLite accepts of the log.

        One is the save a power cut came upon: put, but not committed. More is damage in the middle of the log.
        """
        newer = {entry.n: entry for entry in find_lines(log) if entry.n >= self.next_n and plays(entry.save)}
        for n in sorted(newer):
            self.write(newer[n])
        if len(newer) > 1:
            self.sentences.append(
                f"The journal's write-ahead log is damaged; {len(newer)} saves behind the damage have been taken over."
            )

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])


# -- the table ---------------------------------------------------------------------------------------------------


def create(connection: sqlite3.Connection, entries: Iterable[Entry]) -> None:
    """Make a new, empty database a journal with these entries."""
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    with transaction(connection):
        connection.execute(TABLE)
        for entry in entries:
            insert(connection, entry)
        connection.execute(f"PRAGMA user_version={SCHEMA}")
    connection.execute("PRAGMA journal_mode=WAL").fetchall()


def insert(connection: sqlite3.Connection, entry: Entry) -> None:
    """Add one row, within a transaction of the caller."""
    connection.execute("INSERT INTO saves (n, line) VALUES (?, ?)", (entry.n, format_line(entry)))


def migrate(connection: sqlite3.Connection) -> None:
    """Version 0, which knew neither dates nor checksums, becomes version 1, in one transaction."""
    with transaction(connection):
        connection.execute("ALTER TABLE saves RENAME TO old")
        connection.execute(TABLE)
        for entry in rows_v0(connection, "old"):
            insert(connection, entry)
        connection.execute("DROP TABLE old")
        connection.execute(f"PRAGMA user_version={SCHEMA}")


def rows(connection: sqlite3.Connection) -> Iterator[Entry]:
    """Every entry, oldest first, read in small bites so that no reader holds up the writer. Raises Unfit."""
    last = -1
    while bite := connection.execute(
        "SELECT n, line FROM saves WHERE n > ? ORDER BY n LIMIT ?", (last, READ_AT_ONCE)
    ).fetchall():
        for n, line in bite:
            yield row(n, line)
        last = bite[-1][0]


def row(n: int, line: object) -> Entry:
    """The entry of one row; raises Unfit where row and line are not what was written."""
    try:
        entry = parse_line(line)
    except ValueError as error:
        raise Unfit("damaged", f"row {n}: {error}") from error
    if entry.n != n:
        raise Unfit("damaged", f"row {n} holds save {entry.n}")
    return entry


def rows_v0(connection: sqlite3.Connection, table: str = "saves") -> Iterator[Entry]:
    """Every row of version 0: (n, finished, save as JSON). Raises Unfit."""
    for n, finished, save in connection.execute(f"SELECT n, finished, save FROM {table} ORDER BY n"):  # noqa: S608
        try:
            yield Entry(n, bool(finished), None, False, decode(save.encode()))
        except ValueError as error:
            raise Unfit("damaged", f"row {n}: {error}") from error


def _check_header(path: Path) -> None:
    head = _bytes(path, 100)
    if len(head) < 100 or not head.startswith(_MAGIC):
        raise Unfit("damaged", "it is no SQLite database" if head else "it is empty")
    if not {head[18], head[19]} <= {1, 2}:  # sqlite.org/fileformat.html: what is newer may only be read
        raise Unfit("damaged", "its file format is unknown")


def _bytes(path: Path, count: int = -1) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(count)
    except FileNotFoundError:
        return b""
