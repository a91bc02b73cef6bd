"""A file that is not what it should be: set aside, kept, and what is readable of it goes on."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sqlite3
from contextlib import closing, suppress
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest

from firmware import journal_rescue
from firmware.journal import DATABASE, Journal
from firmware.journal_lines import Entry, find_lines, format_line, parse_line
from firmware.journal_store import Bounds, Store, Unfit, connect
from firmware.save import Save
from tests.journal_play import GAMES, WALL, Putter, broken, lines, play, saves

V0 = Path(__file__).parent / "tables" / "journal_v0.db"
SCRIPT = list(islice(saves(), 200))
ENDS = [index for index, (_, finished) in enumerate(SCRIPT) if finished]


def test_an_older_journal_is_brought_up_to_date(tmp_path: Path) -> None:
    """A stored journal of version 0 keeps its game and its records, and is said to have been changed."""
    shutil.copy(V0, tmp_path / DATABASE)
    found = play(tmp_path, [])
    assert (SCRIPT[99], 3) == ((found.newest, found.finished), found.games)
    assert ("The journal was of version 0 and has been brought to version 1.",) == found.sentences
    assert [json.loads(GAMES[n]) | {"seq": n} for n in (1, 2)] == [json.loads(line) for line in lines(tmp_path)]
    assert () == play(tmp_path, [SCRIPT[100]]).sentences
    assert SCRIPT[100][0] == play(tmp_path, []).save


def test_a_damaged_older_journal_is_rebuilt(tmp_path: Path) -> None:
    """What is readable of a damaged journal of version 0 is in the new one."""
    data = V0.read_bytes()
    (tmp_path / DATABASE).write_bytes(data[:60] + b"\0\0\0\7" + data[64:])  # user_version: newer than any
    found = play(tmp_path, [])
    assert "is newer (its version is 7, this program knows 1)" in found.sentences[0]
    assert (SCRIPT[99][0], 2) == (found.save, len(lines(tmp_path)))


@pytest.mark.parametrize(
    ("pragma", "kind"), [("application_id=7", "foreign"), ("user_version=2", "newer"), ("user_version=-1", "damaged")]
)
def test_a_database_that_is_no_journal_of_ours_is_set_aside(pragma: str, kind: str, tmp_path: Path) -> None:
    """A foreign or newer database keeps its bytes under a new name; what is readable of it is in the new one."""
    play(tmp_path, SCRIPT[:100])
    with closing(sqlite3.connect(tmp_path / DATABASE)) as connection:
        connection.execute(f"PRAGMA {pragma}")
        connection.commit()
    data = (tmp_path / DATABASE).read_bytes()
    found = play(tmp_path, [SCRIPT[100]])
    assert f"is {kind} (" in found.sentences[0]
    assert f"it is kept as {DATABASE}.{kind}-1, and the 3 games that could be read of it are in" in found.sentences[0]
    assert data == (tmp_path / f"{DATABASE}.{kind}-1").read_bytes()
    assert (SCRIPT[99][0], 2) == (found.save, len(lines(tmp_path)))
    assert SCRIPT[100][0] == play(tmp_path, []).save


@pytest.mark.parametrize(
    ("right", "wrong", "reason"),
    [
        (b"SQLite format 3", b"SQLite format 4", "it is no SQLite database"),
        (b"\x10\x00\x02\x02", b"\x10\x00\x03\x02", "its file format is unknown"),
        (b"line BLOB NOT NULL", b"line BLOB NOT NULl", "its table is not that of a journal"),
        (b'{"n":100,', b'{"n":10X,', "row 100: the line and its checksum disagree"),
    ],
)
def test_each_kind_of_damage_is_named_and_costs_no_more_than_itself(
    right: bytes, wrong: bytes, reason: str, tmp_path: Path
) -> None:
    """A damaged head or table costs no save, a damaged line itself alone; the sentence says which (case F16)."""
    play(tmp_path, SCRIPT[:100])
    data = (tmp_path / DATABASE).read_bytes()
    assert right in data
    (tmp_path / DATABASE).write_bytes(data.replace(right, wrong))
    found = play(tmp_path, [])
    assert f"is damaged ({reason}): it is kept as {DATABASE}.damaged-1, and the 3 games" in found.sentences[0]
    assert (SCRIPT[98 if reason.startswith("row") else 99][0], 2) == (found.save, len(lines(tmp_path)))


def test_what_sqlite_finds_wrong_is_believed(tmp_path: Path) -> None:
    """A file whose pages do not fit together is not written to any more, though every row can be read (case F15)."""
    play(tmp_path, SCRIPT[:100])
    data = bytearray((tmp_path / DATABASE).read_bytes())
    data[36:40] = (9).to_bytes(4, "big")  # the number of free pages
    (tmp_path / DATABASE).write_bytes(data)
    found = play(tmp_path, [])
    assert "is damaged (" in found.sentences[0] and "freelist" in found.sentences[0].lower()
    assert (SCRIPT[99][0], 2) == (found.save, len(lines(tmp_path)))


@pytest.mark.parametrize(("failures", "sentence"), [(1, "failed to read the journal at first"), (2, "cannot be read")])
def test_a_disk_that_does_not_read(
    failures: int, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read that fails once is tried again; a file that fails twice is set aside and read around the bad places."""
    play(tmp_path, SCRIPT[:100])
    opened, left = Store.open, [broken(sqlite3.SQLITE_IOERR_READ, "disk I/O error")] * failures

    def failing(path: Path, bounds: Bounds) -> Store:
        if left:
            raise left.pop()
        return opened(path, bounds)

    monkeypatch.setattr(Store, "open", failing)
    found = play(tmp_path, [])
    assert [True] == [sentence in said for said in found.sentences]
    assert (SCRIPT[99][0], 2, failures == 2) == (
        found.save,
        len(lines(tmp_path)),
        (tmp_path / f"{DATABASE}.damaged-1").exists(),
    )


def test_a_bad_sector_costs_itself_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the disk refuses one sector of a file, all others are read; that one counts as zeros."""
    path, data, read = tmp_path / "file", os.urandom(3_000_000), os.pread
    path.write_bytes(data)

    def bad(file: int, size: int, at: int) -> bytes:
        if at <= 2_000_000 < at + size:
            raise OSError(5, "Input/output error")
        return read(file, size, at)

    monkeypatch.setattr(os, "pread", bad)
    start = 2_000_000 // 512 * 512
    assert data[:start] + bytes(512) + data[start + 512 :] == journal_rescue._pieces(path)


class PowerCut(BaseException):
    """The plug is pulled."""


def test_a_power_cut_while_a_journal_is_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut before any step of the exchange, the next start finds the same game and records, and the damaged file is
    kept (case F13)."""
    whole = tmp_path / "whole"
    play(whole, SCRIPT[:100])
    records = lines(whole)
    data = (whole / DATABASE).read_bytes()
    data = b"X" + data[1:]
    for number in count(1):
        path = tmp_path / str(number)
        path.mkdir()
        (path / DATABASE).write_bytes(data)
        steps = iter(range(number))
        with monkeypatch.context() as patch:
            for owner, name in ((Path, "rename"), (Path, "unlink"), (Path, "touch"), (os, "fsync"), (Store, "open")):
                patch.setattr(owner, name, _cut(getattr(owner, name), steps))
            try:
                journal_rescue.open_store(path / DATABASE, Bounds()).close()
                cut = False
            except PowerCut:
                cut = True
        assert SCRIPT[99][0] == journal_rescue.glimpse(path / DATABASE)[-1].save
        found = play(path, [])
        assert (SCRIPT[99][0], records) == (found.save, lines(path))
        assert data == (path / f"{DATABASE}.damaged-1").read_bytes()
        if not cut:
            break
    assert number > 10


def _cut(real: Any, steps: Any) -> Any:
    def cut(*arguments: Any, **named: Any) -> Any:
        if next(steps, None) is None:
            raise PowerCut
        return real(*arguments, **named)

    return cut


def test_saves_behind_damage_in_the_log_are_taken_over(tmp_path: Path) -> None:
    """SQLite drops the log from a broken frame on; the whole saves behind it are found again, and it is said (F16)."""
    putter = Putter(tmp_path / "on")
    for save, finished in SCRIPT[:20]:
        putter.put(save, finished)
    shutil.copytree(tmp_path / "on", tmp_path / "off")
    putter.close()
    log = tmp_path / "off" / f"{DATABASE}-wal"
    data = bytearray(log.read_bytes())
    data[32 + 8] ^= 1  # the salt of the first frame
    log.write_bytes(data)
    found = play(tmp_path / "off", [])
    assert SCRIPT[19][0] == found.save
    assert "20 saves behind the damage have been taken over" in found.sentences[0]


def test_a_save_that_contradicts_itself_is_not_set_up(tmp_path: Path) -> None:
    """A whole line whose game does not play is left out with a sentence, and the one before is found."""
    play(tmp_path, SCRIPT[:5])
    save = SCRIPT[4][0]
    wrong = Entry(6, False, None, False, Save(1, SCRIPT[30][0].record, save.match))
    import msgspec

    record = msgspec.structs.replace(wrong.save.record, final=save.record.final)
    wrong = msgspec.structs.replace(wrong, save=msgspec.structs.replace(wrong.save, record=record))
    with closing(connect(tmp_path / DATABASE)) as connection:
        connection.execute("INSERT INTO saves VALUES (6, ?)", (format_line(wrong),))
    found = play(tmp_path, [])
    assert "the game of save 6 contradicts itself" in found.sentences[0]
    assert save == found.save


def test_records_of_a_damaged_journal_are_what_is_readable(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Reading beside the board never fails: what is damaged is left out, with a warning."""
    play(tmp_path, SCRIPT[: ENDS[2] + 1])
    whole = lines(tmp_path)
    data = (tmp_path / DATABASE).read_bytes()
    place = data.index(b'"game":2,')
    (tmp_path / DATABASE).write_bytes(data[:place] + b"X" + data[place + 1 :])
    journal = Journal(tmp_path / DATABASE, lambda: WALL)
    with caplog.at_level(logging.WARNING):
        assert [whole[0], whole[2]] == list(journal.records())
    assert "cannot be read in full (row" in caplog.text
    assert [] == list(Journal(tmp_path / "none.db", lambda: WALL).records())


def test_rows_are_read_up_to_the_damage_from_both_sides(tmp_path: Path) -> None:
    """A page that is lost in the middle of the table costs its own rows, not those behind it."""
    entries = [Entry(n, *put) for n, put in enumerate(_put(SCRIPT), 1)]
    path = tmp_path / DATABASE
    journal_rescue._build(path, path, entries)
    data = path.read_bytes()
    at = data.index(format_line(entries[100])) // 4096 * 4096
    path.write_bytes(data[:at] + bytes(4096) + data[at + 4096 :])
    found = {entry.n for entry in journal_rescue._rows(path)}
    assert {1, 200} <= found
    assert 0 < len(entries) - len(found) < 20


def test_the_committed_save_wins_over_one_that_lies_about(tmp_path: Path) -> None:
    """Of two saves of one number that can be read the one in the table counts; one that only the log has counts too."""
    (first, second), path = _put(SCRIPT[:2]), tmp_path / DATABASE
    journal_rescue._build(path, path, [Entry(1, *first)])
    (tmp_path / f"{DATABASE}-wal").write_bytes(format_line(Entry(1, *second)) + format_line(Entry(2, *second)))
    assert [Entry(1, *first), Entry(2, *second)] == journal_rescue.readable(path)


def test_of_each_older_game_the_last_save_lasts() -> None:
    """However many saves of a game can be read, one is kept of each but the newest, and up to eight of that."""
    entries = [Entry(n, *put) for n, put in enumerate(_put(SCRIPT), 1)]
    last = {entry.save.game: entry for entry in entries}
    newest = entries[-1].save.game
    lasting = journal_rescue._lasting(entries)
    assert [last[game] for game in sorted(last) if game != newest] == [e for e in lasting if e.save.game != newest]
    assert [e for e in entries if e.save.game == newest][-8:] == [e for e in lasting if e.save.game == newest]


def test_a_new_database_is_whole_before_it_has_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bytes are made last before it is renamed, and the name after that (case F13)."""
    synced, path, sync = [], tmp_path / DATABASE, journal_rescue._sync
    monkeypatch.setattr(journal_rescue, "_sync", lambda what: (synced.append((what.name, path.exists())), sync(what)))
    journal_rescue._build(path, path, [])
    assert [(f"{DATABASE}.building", False), (tmp_path.name, True)] == synced


def _put(script: list[tuple[Save, bool]]) -> list[tuple[bool, str, bool, Save]]:
    return [(finished, *WALL, save) for save, finished in script]


# -- lines -------------------------------------------------------------------------------------------------------------


def test_no_bit_of_a_line_flips_unnoticed() -> None:
    """Each bit of a line, flipped, makes it no line; among other bytes only the whole one is found."""
    entry = Entry(7, True, *WALL, SCRIPT[ENDS[0]][0])
    line = format_line(entry)
    assert entry == parse_line(line)
    believed = []
    for bit in range(8 * len(line)):
        wrong = bytearray(line)
        wrong[bit // 8] ^= 1 << bit % 8
        with suppress(ValueError):
            believed.append(parse_line(bytes(wrong)))
    assert [] == believed
    with pytest.raises(ValueError, match="the line and its checksum disagree"):
        parse_line(line[:-1])
    assert [entry, entry] == list(find_lines(b"morbak1 " + line + line[:-1] + line + b"morbak1 00000000 9999999 {"))


def test_a_row_holds_its_own_line(tmp_path: Path) -> None:
    """A line under another number is damage, not a save."""
    play(tmp_path, SCRIPT[:2])
    with closing(connect(tmp_path / DATABASE)) as connection:
        connection.execute("UPDATE saves SET n = 9 WHERE n = 1")
    with pytest.raises(Unfit, match="row 9 holds save 1"):
        Store.open(tmp_path / DATABASE, Bounds())


def test_a_missing_database_opens_nothing(tmp_path: Path) -> None:
    """Connecting makes no file: only a whole database ever gets the journal's name."""
    with pytest.raises(sqlite3.OperationalError):
        connect(tmp_path / DATABASE)
    assert [] == list(tmp_path.iterdir())
