"""The file that carries a board's state: whole or refused, the same for the same state, and readable for ever."""

from __future__ import annotations

import hashlib
import random
from itertools import islice
from pathlib import Path

import msgspec
import pytest

from firmware.chosen import Chosen
from firmware.journal_lines import Entry, parse_line
from firmware.save import Save
from firmware.state_archive import Archive, Unreadable, format_archive, last_saves, parse_archive
from hal.tables import Source
from tests.damage import damages
from tests.journal_play import WALL, saves

TABLES = Path(__file__).parent / "tables"
STORED = (TABLES / "state_v1.jsonl").read_bytes()
SCRIPT = list(islice(saves(), 100))
ENTRIES = [Entry(n, finished, *WALL, save) for n, (save, finished) in enumerate(SCRIPT, 1)]
STATE = Archive(
    last_saves(ENTRIES),
    Chosen(40, "fr", True, 80),
    Source("/etc/morbak-board/settings.toml", "[touch]\nhold_ms = 600  # à la main\n", "settings file"),
)


def sealed(*lines: bytes) -> bytes:
    """The lines with the end that fits them."""
    body = b"".join(line + b"\n" for line in lines)
    return body + b'{"kind":"end","lines":%d,"sha256":"%s"}\n' % (len(lines), hashlib.sha256(body).hexdigest().encode())


def test_an_archive_comes_back() -> None:
    """What is written is read, and gives the same bytes again; an empty one too."""
    for archive in (STATE, Archive(), Archive(chosen=Chosen())):
        data = format_archive(archive)
        assert archive == parse_archive(data)
        assert data == format_archive(parse_archive(data))


def test_of_each_game_the_last_save_counts() -> None:
    """Of the saves of a game the last one is carried, finished or not, in the order they were put."""
    assert [(1, True), (2, True), (3, False)] == [(entry.save.game, entry.finished) for entry in STATE.entries]
    assert ENTRIES[-1] == STATE.entries[-1]
    assert (ENTRIES[30], ENTRIES[99]) == last_saves([ENTRIES[90], ENTRIES[30], ENTRIES[99]])


def test_a_stored_archive_of_version_1_stays_readable() -> None:
    """An archive as version 1 wrote it reads the same for ever."""
    assert STATE == parse_archive(STORED)


def test_stored_lines_of_the_journal_stay_readable() -> None:
    """Lines as the journal of version 1 wrote them read the same for ever, whatever fields are added."""
    lines = (TABLES / "journal_v1.lines").read_bytes().splitlines()
    found = [parse_line(line) for line in lines]
    assert [ENTRIES[entry.n - 1] for entry in found] == found
    assert [28, 59, *range(93, 101)] == [entry.n for entry in found]


def test_every_field_that_was_added_has_a_default() -> None:
    """A save of the first version, with none but the fields it had, is still a save."""
    first = {"game", "record", "match", "used_us", "move_used_us", "timeouts_running", "running", "v"}
    added = [field for field in msgspec.structs.fields(Save) if field.name not in first]
    assert [] == [field.name for field in added if field.required]


def test_damage_is_refused(seed: int, prove: bool) -> None:
    """Cut short, zeroed, emptied at every 64th byte or with a bit flipped, an archive is refused in half a sentence."""
    for data in damages(STORED, random.Random(seed), 3000 if prove else 300):
        if data in (STORED, STORED.rstrip()):
            continue
        with pytest.raises(Unreadable) as refused:
            parse_archive(data)
        assert 1 == len(str(refused.value).splitlines())


HEAD, *GAMES, CHOSEN, SETTINGS, _ = STORED.splitlines()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "does not begin as an export"),
        (b"SQLite format 3\0", "does not begin as an export"),
        (b'{"v":1,"rules":"lite"}\n', "does not begin as an export"),
        (b"[" * 100_000, "does not begin as an export"),
        (HEAD, "it has no end: it was cut short"),
        (HEAD + b"\n", "it has no end: it was cut short"),
        (sealed(HEAD.replace(b'"v":1', b'"v":2'), b'{"kind":"new"}'), "of version 2, this program knows 1"),
        (sealed(HEAD, b'{"kind":"new"}'), "line 2 is none of an export"),
        (sealed(HEAD, b"[" * 100_000), "line 2 is none of an export"),
        (sealed(HEAD, HEAD), "line 2 does not belong there"),
        (sealed(HEAD, CHOSEN, CHOSEN), "line 3 does not belong there"),
        (sealed(HEAD, GAMES[1], GAMES[0]), "line 3: the saves are out of order"),
        (sealed(HEAD, GAMES[0].replace(b'"final":"', b'"final":"x')), "line 2: the game contradicts itself"),
        (sealed(HEAD, CHOSEN.replace(b":40,", b":400,")), "line 2 is none of an export"),
        (STORED.replace(b'"lines":6', b'"lines":7'), "its checksum does not fit"),
        (STORED.replace(b":40,", b":41,"), "its checksum does not fit"),
    ],
    ids=range(16),
)
def test_what_is_no_archive_is_named(data: bytes, words: str) -> None:
    """A file that cannot be taken over is refused with the reason, and the line where there is one."""
    with pytest.raises(Unreadable) as refused:
        parse_archive(data)
    assert words in str(refused.value)
