"""What a board knows, in one file that another board can take over: JSON Lines, closed by their number and checksum.

    {"kind":"head","v":1,"what":"state of a MORBAK board"}
    {"kind":"game","entry":{...}}          the last save of a game, as the journal has it; one line a game
    {"kind":"chosen","chosen":{...}}       what was chosen at the board
    {"kind":"settings","file":...,"text":...}   the settings that it started well with
    {"kind":"end","lines":N,"sha256":...}  of the N lines before

The same state gives the same bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from firmware.choosing import Chosen
from firmware.journal_lines import Entry, plays
from hal.tables import Source

VERSION: Final = 1
WHAT: Final = "state of a MORBAK board"


class Unreadable(ValueError):
    """No archive that can be taken over; the text is half a sentence that says why."""


class Archive(NamedTuple):
    """What a board knows. `entries`: the last save of each game, oldest first; None: not known."""

    entries: tuple[Entry, ...] = ()
    chosen: Chosen | None = None
    settings: Source | None = None

    def __str__(self) -> str:
        """How much it is, in words."""
        finished = sum(entry.finished for entry in self.entries)
        open_games = len(self.entries) - finished
        return f"{finished} finished games" + (f" and {open_games} unfinished" if open_games else "")


class _Line(msgspec.Struct, frozen=True, tag_field="kind", forbid_unknown_fields=True):
    """One line of the file."""


class _Head(_Line, frozen=True, tag="head"):
    v: int = VERSION
    what: str = WHAT


class _Game(_Line, frozen=True, tag="game"):
    entry: Entry


class _Chosen(_Line, frozen=True, tag="chosen"):
    chosen: Chosen


class _Settings(_Line, frozen=True, tag="settings"):
    file: str
    text: str


class _End(_Line, frozen=True, tag="end"):
    lines: int
    sha256: str


class _Version(msgspec.Struct, frozen=True):
    v: int
    what: str


def last_saves(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Of each game the entry put last, oldest first, as they come."""
    games: dict[int, Entry] = {}
    for entry in entries:
        games.pop(entry.save.game, None)
        games[entry.save.game] = entry
    return tuple(games.values())


def format_archive(archive: Archive) -> bytes:
    """The file of an archive."""
    lines: list[_Line] = [_Head(), *(_Game(entry) for entry in archive.entries)]
    if archive.chosen is not None:
        lines.append(_Chosen(archive.chosen))
    if archive.settings is not None:
        lines.append(_Settings(archive.settings.file, archive.settings.text))
    body = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
    return body + msgspec.json.encode(_End(len(lines), hashlib.sha256(body).hexdigest())) + b"\n"


def parse_archive(data: bytes) -> Archive:
    """The archive of a file. Raises Unreadable for anything that is not whole, and for what a newer program wrote."""
    _check_version(data)
    body, _, last = data.removesuffix(b"\n").rpartition(b"\n")
    body += b"\n"
    end = _line(last, body.count(b"\n") + 1)
    if not isinstance(end, _End):
        raise Unreadable("it has no end: it was cut short")
    if end.lines != body.count(b"\n") or end.sha256 != hashlib.sha256(body).hexdigest():
        raise Unreadable("its checksum does not fit: it was damaged or changed")
    archive = Archive()
    for number, text in enumerate(body.splitlines()[1:], 2):
        archive = _with(archive, _line(text, number), number)
    return archive


def _check_version(data: bytes) -> None:
    try:
        head = msgspec.json.decode(data.split(b"\n", 1)[0], type=_Version)
    except (ValueError, RecursionError) as error:
        raise Unreadable("it does not begin as an export of a board's state does") from error
    if head.what != WHAT or head.v < 1:
        raise Unreadable("it does not begin as an export of a board's state does")
    if head.v > VERSION:
        raise Unreadable(f"it is of version {head.v}, this program knows {VERSION}: import it with a newer one")


def _line(text: bytes, number: int) -> _Line:
    try:
        return msgspec.json.decode(text, type=_Head | _Game | _Chosen | _Settings | _End)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"line {number} is none of an export: {error}") from error


def _with(archive: Archive, line: _Line, number: int) -> Archive:
    """The archive with what one more line tells. Raises Unreadable."""
    if isinstance(line, _Chosen) and archive.chosen is None:
        return archive._replace(chosen=line.chosen)
    if isinstance(line, _Settings) and archive.settings is None:
        return archive._replace(settings=Source(line.file, line.text, "settings file"))
    if not isinstance(line, _Game):
        raise Unreadable(f"line {number} does not belong there")
    if not plays(line.entry.save):
        raise Unreadable(f"line {number}: the game contradicts itself")
    if archive.entries and line.entry.n <= archive.entries[-1].n:
        raise Unreadable(f"line {number}: the saves are out of order")
    return archive._replace(entries=(*archive.entries, line.entry))
