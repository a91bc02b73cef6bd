"""One save as it stands on disk: a line that can be found and trusted without anything around it.

`morbak1 <CRC-32 of the JSON, 8 hex digits> <length of the JSON in bytes> <JSON>`. No bit of it can flip unnoticed, and
it can be picked out of the bytes of a damaged file.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import Final

import msgspec

from firmware import record
from firmware.save import Number, Save

_HEAD: Final = re.compile(rb"morbak1 ([0-9a-f]{8}) (\d{1,7}) ")


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A save as it was put.

    `n`: rising by one with each put on this board; what is newer is decided by it and never by time (case F19).
    `date`: wall time in ISO 8601, or None where none is known; `synced`: the clock was known to be right.
    """

    n: Number
    finished: bool
    date: str | None
    synced: bool
    save: Save


def format_line(entry: Entry) -> bytes:
    """The line of an entry, without a line end."""
    text = msgspec.json.encode(entry)
    return b"morbak1 %08x %d %b" % (zlib.crc32(text), len(text), text)


def parse_line(line: object) -> Entry:
    """The entry of one whole line; raises ValueError for anything else."""
    head = _HEAD.match(line) if isinstance(line, bytes) else None
    if head is None or not isinstance(line, bytes):
        raise ValueError("no line of the journal")
    entry = _entry(head, line[head.end() :])
    if entry is None:
        raise ValueError("the line and its checksum disagree")
    return entry


def find_lines(data: bytes) -> Iterator[Entry]:
    """Every whole line in `data`, whatever lies around it."""
    for head in _HEAD.finditer(data):
        entry = _entry(head, data[head.end() : head.end() + int(head[2])])
        if entry is not None:
            yield entry


def _entry(head: re.Match[bytes], text: bytes) -> Entry | None:
    if len(text) != int(head[2]) or zlib.crc32(text) != int(head[1], 16):
        return None
    try:
        return msgspec.json.decode(text, type=Entry)
    except ValueError:
        return None


def plays(save: Save) -> bool:
    """Whether the game of a save can be played again from its moves to its position."""
    try:
        record.parse_record(record.format_record(save.record))
    except record.RecordError:
        return False
    return True


def printed(entry: Entry) -> str:
    """The record of an entry as a line of JSON, with its number, and its date where the clock was right (case F19)."""
    date = entry.date if entry.synced and entry.date is not None else msgspec.UNSET
    return record.format_record(msgspec.structs.replace(entry.save.record, date=date, seq=entry.save.game))
