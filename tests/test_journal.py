"""The journal on a disk that works: what is put comes back, in its order, within its bounds, under one owner."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firmware import journal_rescue
from firmware.journal import DATABASE, Found, Journal
from firmware.journal_lines import Entry, find_lines, format_line, parse_line
from firmware.journal_store import KEPT, Bounds, Store, Unfit, connect
from firmware.save import Save
from firmware.state_directory import StateDirectory, StateError, default
from tests.journal_play import GAMES, RETRY_S, WALL, Putter, saves

ROOT = Path(__file__).parent.parent
V0 = Path(__file__).parent / "tables" / "journal_v0.db"
SCRIPT = list(islice(saves(), 200))
ENDS = [index for index, (_, finished) in enumerate(SCRIPT) if finished]


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


def rows_in(path: Path) -> int:
    """How many saves the database holds."""
    with closing(connect(path / DATABASE)) as connection:
        return int(connection.execute("SELECT count(*) FROM saves").fetchone()[0])


# -- the directory -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({"STATE_DIRECTORY": "/var/lib/morbak", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/var/lib/morbak"),
        ({"STATE_DIRECTORY": "/var/lib/one:/var/lib/two"}, "/var/lib/one"),
        ({"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/morbak-board"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, "/h/.local/state/morbak-board"),
        ({"HOME": "/h"}, "/h/.local/state/morbak-board"),
    ],
)
def test_the_default_directory(environ: dict[str, str], path: str) -> None:
    """systemd's directory comes first, then XDG's, then the home directory."""
    assert Path(path) == default(environ)


def test_a_missing_directory_is_made(tmp_path: Path) -> None:
    """The directory is made with all its parents, and nothing troubles it."""
    directory = StateDirectory.open(None, {"STATE_DIRECTORY": str(tmp_path / "a" / "b")})
    assert (tmp_path / "a" / "b", True, None) == (directory.path, directory.path.is_dir(), directory.trouble)
    directory.close()


def test_a_second_process_is_refused_and_told_who_was_first(tmp_path: Path) -> None:
    """A directory has one owner; the sentence names its process and command; afterwards it is free again."""
    hold = "import sys; from firmware.state_directory import *; d = StateDirectory.open(Path(sys.argv[1])); print(1)"
    command = [sys.executable, "-c", f"{hold}; sys.stdout.flush(); sys.stdin.read()", str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as first:
        assert first.stdout is not None and first.stdin is not None
        first.stdout.readline()
        with pytest.raises(StateError, match=rf"in use by process {first.pid} \(-c {tmp_path}\)") as caught:
            StateDirectory.open(tmp_path)
        assert str(caught.value).endswith("end that first, or choose another with --state.")
        first.stdin.close()
    StateDirectory.open(tmp_path).close()


AS_NOBODY = """
import logging, os, sys
from pathlib import Path
from firmware.journal import Journal
from firmware.state_directory import StateDirectory
os.setgid(65534); os.setuid(65534)
logging.disable()
directory = StateDirectory.open(Path(sys.argv[1]))
journal, found = Journal.open(directory, lambda: ("", False))
print(directory.trouble, found.sentences[0] if found.sentences else None, journal.fault, sep="\\n")
os._exit(0)
"""


@pytest.mark.root
@pytest.mark.parametrize("what", ["directory", "database", "parent"])
def test_what_root_left_behind_is_said(what: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A directory or a file of root's, as one run with sudo leaves them, ends no game: the sentence says whose it is
    and how to get it back (case G22)."""
    path = Path("/tmp") / f"morbak-test-{os.getpid()}-{what}"  # noqa: S108 - must be reached by another user
    path.mkdir()
    try:
        if what == "database":
            play(path, SCRIPT[:3])
            (path / "lock").unlink()
            os.chown(path, 65534, 65534)
        asked = path / "new" if what == "parent" else path
        command = [sys.executable, "-c", AS_NOBODY, str(asked)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    finally:
        shutil.rmtree(path)
    sentence = {
        "directory": f"{path} belongs to root and cannot be written by nobody: sudo chown -R nobody {path}.",
        "database": f"{path / DATABASE} belongs to root and cannot be written by nobody: sudo chown -R nobody {path}.",
        "parent": f"The state directory {path / 'new'} cannot be made; make it, and give it to nobody.",
    }[what]
    trouble = "None" if what == "database" else sentence
    assert ("", [trouble, sentence, sentence]) == (done.stderr, done.stdout.splitlines())


@pytest.mark.root
def test_root_writes_nothing_into_the_directory_of_another(tmp_path: Path) -> None:
    """Root is refused in somebody's directory, whose next start would fail on root's files (case G22)."""
    os.chown(tmp_path, 65534, 65534)
    with pytest.raises(StateError, match="belongs to nobody: start as nobody, not as root"):
        StateDirectory.open(tmp_path)
    assert [] == list(tmp_path.iterdir())


def test_a_file_in_place_of_the_directory_is_said(tmp_path: Path) -> None:
    """A path that is a file is no directory; the journal says so and does not stop the game."""
    path = tmp_path / "file"
    path.write_text("")
    putter = Putter(path)
    sentence = f"The state directory {path} is no directory; move that file away, or choose another with --state."
    assert (sentence, Found(sentences=(sentence,))) == (putter.directory.trouble, putter.found)
    path.unlink()
    putter.put(*SCRIPT[0])
    assert putter.journal.fault is None
    assert putter.close()


# -- round trips ---------------------------------------------------------------------------------------------------


def test_an_empty_journal_has_nothing(tmp_path: Path) -> None:
    """A first start finds no game and no fault, and says nothing."""
    assert Found(None, False, 0, ()) == play(tmp_path, [])
    assert [] == lines(tmp_path)


def test_every_save_of_a_game_comes_back(tmp_path: Path) -> None:
    """After each save of two games the next start finds exactly that one; a finished game is none to go on with
    (cases G5, F15)."""
    for index, (save, finished) in enumerate(SCRIPT[: ENDS[1] + 1]):
        found = play(tmp_path, [(save, finished)])
        expected = SCRIPT[index - 1] if index else (None, False)
        assert expected == (found.newest, found.finished)
        assert (None if expected[1] else expected[0]) == found.save


def test_finished_games_are_records_in_order_of_their_numbers(tmp_path: Path) -> None:
    """A record is the known game with its number and date; whatever the clock says, the order is the numbers' (F19)."""
    times = iter([(f"20{50 - year}-01-01T00:00:00Z", True) for year in range(50)] * 10)
    play(tmp_path, SCRIPT, wall=lambda: next(times))
    found = [json.loads(line) for line in lines(tmp_path)]
    assert [1, 2, 3, 4, 5] == [record["seq"] for record in found]
    assert sorted((record["date"] for record in found), reverse=True) != sorted(record["date"] for record in found)
    for record in found:
        del record["date"]
    assert [json.loads(GAMES[number]) | {"seq": number} for number in range(1, 6)] == found


def test_one_record(tmp_path: Path) -> None:
    """A finished game is found by its number; no other number finds anything."""
    putter = Putter(tmp_path)
    for save, finished in SCRIPT[: ENDS[1] + 3]:
        putter.put(save, finished)
    assert list(putter.journal.records()) == [putter.journal.record(1), putter.journal.record(2)]
    assert [None, None, None] == [putter.journal.record(seq) for seq in (0, 3, 4)]
    putter.close()


def test_a_clock_that_may_be_wrong_dates_no_record(tmp_path: Path) -> None:
    """A time from before the first synchronisation is kept and marked, but printed in no record (cases F18, F19)."""
    play(tmp_path, SCRIPT[: ENDS[0] + 1], wall=lambda: ("1970-01-01T00:01:00Z", False))
    assert "date" not in json.loads(lines(tmp_path)[0])
    assert ["1970-01-01T00:01:00Z"] == [entry.date for entry in journal_rescue.readable(tmp_path / DATABASE)]


def test_a_clock_that_fails_costs_the_date_only(tmp_path: Path) -> None:
    """Where the wall time cannot be told, putting raises nothing and the save is on the disk."""

    def wall() -> tuple[str, bool]:
        raise OSError("no clock")

    play(tmp_path, SCRIPT[:3], wall=wall)
    assert SCRIPT[2][0] == play(tmp_path, []).save


def test_tickets_rise_by_one_and_are_told(tmp_path: Path) -> None:
    """Each put has the next ticket; `saved` reaches it; the listener hears each once, in order; it may fail."""
    putter = Putter(tmp_path)
    told: list[int] = []
    hear = putter.journal._on_saved

    def listener(ticket: int) -> None:
        told.append(ticket)
        hear(ticket)
        raise ValueError("a listener that fails")

    putter.journal._on_saved = listener
    assert [*range(1, 11)] == [putter.put(save, finished) for save, finished in SCRIPT[:10]]
    assert [*range(1, 11)] == told
    assert putter.close()


def test_a_heartbeat_is_saved_without_a_ticket(tmp_path: Path) -> None:
    """A heartbeat is found by the next start, and the next put has the next ticket all the same."""
    putter = Putter(tmp_path)
    assert 1 == putter.put(*SCRIPT[0])
    putter.journal.heartbeat(SCRIPT[1][0])
    assert putter.close()
    putter = Putter(tmp_path)
    assert SCRIPT[1][0] == putter.found.save
    assert 1 == putter.put(*SCRIPT[2])
    putter.close()


def test_few_saves_of_a_game_are_kept(tmp_path: Path) -> None:
    """Of a game in progress the newest saves stay, of a finished or an abandoned one the last."""
    play(tmp_path, SCRIPT[:3])
    assert 3 == rows_in(tmp_path)
    play(tmp_path, SCRIPT[3 : ENDS[0]])
    assert KEPT == rows_in(tmp_path)
    play(tmp_path, SCRIPT[ENDS[0] : ENDS[0] + 1])
    assert 1 == rows_in(tmp_path)
    play(tmp_path, [SCRIPT[ENDS[0] + 5], SCRIPT[ENDS[0] + 6], SCRIPT[ENDS[1] + 1]])
    assert 3 == rows_in(tmp_path)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.integers(0, 2), st.sampled_from("upfhr")), min_size=1, max_size=30))
def test_any_story_ends_with_its_last_save(steps: list[tuple[int, str]], tmp_path_factory: Any) -> None:
    """Whatever mixture of saves, heartbeats, finished and abandoned games and restarts: the last save is found, and
    the finished games are the records."""
    path = tmp_path_factory.mktemp("story")
    putter, game = Putter(path), 1
    expected: tuple[Save | None, bool] = (None, False)
    finished_games: set[int] = set()
    used = count(1)
    for jump, step in steps:
        game += max(jump, expected[1])  # what comes after a finished game is another one
        save = Save(game, SCRIPT[3][0].record, SCRIPT[3][0].match, used_us=(next(used), 0))
        if step == "h":
            putter.journal.heartbeat(save)
        elif step == "r":
            assert putter.close()
            putter = Putter(path)
            assert expected == (putter.found.newest, putter.found.finished)
            continue
        else:
            putter.put(save, step == "f")
        expected = (save, step == "f")
        finished_games = finished_games | {game} if step == "f" else finished_games - {game}
    assert putter.close()
    putter = Putter(path)
    assert expected == (putter.found.newest, putter.found.finished)
    assert sorted(finished_games) == [json.loads(line)["seq"] for line in putter.journal.records()]
    assert putter.close()


# -- bounds --------------------------------------------------------------------------------------------------------


def test_the_oldest_games_go_first(tmp_path: Path) -> None:
    """Beyond the greatest number of games the oldest go, the game in progress never."""
    play(tmp_path, SCRIPT, bounds=Bounds(games=3))
    assert [4, 5] == [json.loads(line)["seq"] for line in lines(tmp_path)]
    assert SCRIPT[-1][0] == play(tmp_path, []).save
    play(tmp_path, SCRIPT[ENDS[-1] + 1 :], bounds=Bounds(games=1))
    assert SCRIPT[-1][0] == play(tmp_path, []).save


def test_a_full_share_of_the_disk_lets_old_games_go(tmp_path: Path) -> None:
    """Beyond its share in bytes the journal drops the oldest games and grows no more."""
    bare = Bounds(size_bytes=40_000)
    many = [(Save(game, save.record, save.match), True) for game in range(1, 150) for save, _ in [SCRIPT[ENDS[0]]]]
    play(tmp_path, many, bounds=bare)
    kept = [json.loads(line)["seq"] for line in lines(tmp_path)]
    assert kept == [*range(kept[0], 150)]
    assert 20 < len(kept) < 60
    assert (tmp_path / DATABASE).stat().st_size <= 40_000 + 3 * 4096


def test_the_share_of_a_small_disk_is_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """5 % of the file system count where that is less than 50 MB."""
    play(tmp_path, [])
    real = os.statvfs(tmp_path)
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((4096, 4096, 1000, *real[3:])))
    store = Store.open(tmp_path / DATABASE, Bounds())
    assert 1000 * 4096 * 5 // 100 == store._bounds.size_bytes
    store.close()


# -- the disk does not take it ---------------------------------------------------------------------------------------


def broken(code: int, name: str) -> sqlite3.OperationalError:
    """An error as SQLite raises it."""
    error = sqlite3.OperationalError(name)
    error.sqlite_errorcode, error.sqlite_errorname = code, name
    return error


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (broken(sqlite3.SQLITE_FULL, "full"), "The disk is full: games are not saved until there is room in "),
        (broken(sqlite3.SQLITE_READONLY, "readonly"), "The disk fails (readonly): games are not saved in "),
        (broken(sqlite3.SQLITE_IOERR_FSYNC, "fsync"), "The disk fails (fsync): games are not saved in "),
        (OSError(28, "No space left on device"), "The disk is full: games are not saved until there is room in "),
        (OSError(5, "Input/output error"), "The disk fails ([Errno 5] Input/output error): games are not saved in "),
        (ValueError("a bug"), "Games cannot be saved in "),
    ],
    ids=str,
)
def test_what_the_disk_does_not_take_is_kept(
    error: Exception, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the disk fails a sentence says so and putting goes on; of each unfinished game the newest save is kept,
    every finished game is; when the disk is back all of it is saved and the sentence is gone."""
    putter = Putter(tmp_path)
    write, fails = Store.write, threading.Event()
    failed = threading.Semaphore(0)

    def failing(store: Store, entry: Entry) -> None:
        if fails.is_set():
            failed.release()
            raise error
        write(store, entry)

    monkeypatch.setattr(Store, "write", failing)
    putter.put(*SCRIPT[0])
    fails.set()
    tickets = [putter.journal.put(save, finished) for save, finished in SCRIPT[1:]]
    for _ in range(4):
        assert failed.acquire(timeout=10)
    assert putter.journal.fault is not None and putter.journal.fault.startswith(sentence)
    assert 1 == putter.journal.saved
    assert len(ENDS) + 2 >= len(putter.journal._waiting)
    fails.clear()
    putter.wait(tickets[-1])
    assert putter.journal.fault is None
    assert [1, 2, 3, 4, 5] == [json.loads(line)["seq"] for line in putter.journal.records()]
    assert putter.close()
    assert SCRIPT[-1][0] == play(tmp_path, []).save


def test_putting_never_waits_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a write hangs, puts return and are not saved; when it goes on, they are."""
    putter = Putter(tmp_path)
    write, hangs, entered = Store.write, threading.Event(), threading.Event()

    def hanging(store: Store, entry: Entry) -> None:
        entered.set()
        assert hangs.wait(10)
        write(store, entry)

    monkeypatch.setattr(Store, "write", hanging)
    tickets = [putter.journal.put(save, finished) for save, finished in SCRIPT]
    assert entered.wait(10)
    assert (0, None) == (putter.journal.saved, putter.journal.fault)
    assert not putter.journal.close(wait_s=0)
    hangs.set()
    putter.wait(tickets[-1])
    assert putter.close()
    assert SCRIPT[-1][0] == play(tmp_path, []).save


def test_a_disk_that_fails_to_the_end_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing on a failing disk tries once more and says that not everything is saved."""
    putter = Putter(tmp_path)

    def failing(store: Store, entry: Entry) -> None:
        raise broken(sqlite3.SQLITE_FULL, "full")

    monkeypatch.setattr(Store, "write", failing)
    putter.journal.put(*SCRIPT[0])
    assert not putter.close()


def test_games_of_a_disk_that_came_late_are_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A board that started without its disk counts its games from 1; when the disk is back they follow those on it."""
    play(tmp_path, SCRIPT[: ENDS[1] + 1])
    before = lines(tmp_path)
    gone = threading.Event()
    opened = journal_rescue.open_store

    def no_disk(path: Path, bounds: Bounds) -> Store:
        if gone.is_set():
            raise broken(sqlite3.SQLITE_CANTOPEN, "unable to open database file")
        return opened(path, bounds)

    gone.set()
    with monkeypatch.context() as patch:
        patch.setattr(journal_rescue, "open_store", no_disk)
        patch.setattr(journal_rescue, "readable", lambda _: [])
        putter = Putter(tmp_path)
        assert (None, 0, 1) == (putter.found.newest, putter.found.games, len(putter.found.sentences))
        tickets = [putter.journal.put(save, finished) for save, finished in SCRIPT[: ENDS[0] + 1]]
        gone.clear()
        putter.wait(tickets[-1])
        putter.put(*SCRIPT[ENDS[0] + 1])
        assert putter.close()
    after = lines(tmp_path)
    assert before == after[:2]
    assert json.loads(before[0]) | {"seq": 3} == json.loads(after[2])
    found = play(tmp_path, [])
    assert found.save is not None and (4, 4) == (found.save.game, found.games)


def test_a_disk_that_may_only_be_read_tells_its_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the journal cannot be opened for writing, the game on it is found all the same, with a sentence (F9)."""
    putter = Putter(tmp_path / "on")
    for save, finished in SCRIPT[: ENDS[1] + 5]:
        putter.put(save, finished)
    shutil.copytree(tmp_path / "on", tmp_path / "off")
    putter.close()

    def read_only(path: Path) -> sqlite3.Connection:
        raise broken(sqlite3.SQLITE_READONLY_CANTLOCK, "attempt to write a readonly database")

    with monkeypatch.context() as patch:
        patch.setattr("firmware.journal_store.connect", read_only)
        patch.setattr(journal_rescue, "connect", read_only)
        board = Putter(tmp_path / "off")
        assert (SCRIPT[ENDS[1] + 4][0], 3, 1) == (board.found.save, board.found.games, len(board.found.sentences))
        assert board.journal.fault == board.found.sentences[0]
    board.put(*SCRIPT[ENDS[1] + 5])
    assert board.close()
    assert (SCRIPT[ENDS[1] + 5][0], 3) == (play(tmp_path / "off", []).save, len({*lines(tmp_path / "off")}) + 1)


# -- the file is not what it should be ---------------------------------------------------------------------------------


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


# -- lines -----------------------------------------------------------------------------------------------------------


def test_no_bit_of_a_line_flips_unnoticed() -> None:
    """Each bit of a line, flipped, makes it no line; among other bytes only the whole one is found."""
    entry = Entry(7, True, *WALL, SCRIPT[ENDS[0]][0])
    line = format_line(entry)
    assert entry == parse_line(line)
    for bit in range(8 * len(line)):
        wrong = bytearray(line)
        wrong[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ValueError, match="line"):
            parse_line(bytes(wrong))
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


def test_retries_are_quick_in_these_tests() -> None:
    """The tests do not wait for the disk as long as a board would."""
    assert RETRY_S < (0.1, 2.0)
