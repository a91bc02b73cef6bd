"""The journal on a disk that works: what is put comes back, in its order, within its bounds, under one owner."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
from contextlib import closing
from itertools import count, islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware import journal_rescue
from firmware.journal import DATABASE, Found
from firmware.journal_lines import Entry
from firmware.journal_store import KEPT, Bounds, Store, connect
from firmware.save import Save
from tests.journal_play import GAMES, Putter, broken, lines, play, saves

SCRIPT = list(islice(saves(), 200))
ENDS = [index for index, (_, finished) in enumerate(SCRIPT) if finished]


def rows_in(path: Path) -> int:
    """How many saves the database holds."""
    with closing(connect(path / DATABASE)) as connection:
        return int(connection.execute("SELECT count(*) FROM saves").fetchone()[0])


# -- round trips -------------------------------------------------------------------------------------------------------


def test_an_empty_journal_has_nothing(tmp_path: Path) -> None:
    """A first start finds no game and no fault, and says nothing."""
    assert Found(None, False, 0, ()) == play(tmp_path, [])
    assert [] == lines(tmp_path)


def test_every_save_of_a_game_comes_back(tmp_path: Path) -> None:
    """After each save of two games the next start finds exactly that one, a result too (cases G5, F15)."""
    for index, (save, finished) in enumerate(SCRIPT[: ENDS[1] + 1]):
        found = play(tmp_path, [(save, finished)])
        expected = SCRIPT[index - 1] if index else (None, False)
        assert expected == (found.newest, found.finished)
        assert expected[0] == found.save


def test_what_was_left_is_not_gone_on_with(tmp_path: Path) -> None:
    """A game that was left for another one, and a result that the players left, stand in the journal only."""
    unfinished, result = SCRIPT[0][0], SCRIPT[ENDS[0]][0]
    for save in (unfinished, msgspec.structs.replace(result, left=True)):
        play(tmp_path, [(save, True)])
        found = play(tmp_path, [])
        assert (save, None) == (found.newest, found.save)


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


@settings(max_examples=25)
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


# -- bounds ------------------------------------------------------------------------------------------------------------


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


# -- the disk does not take it -----------------------------------------------------------------------------------------


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

    opened, openings = Store.open, []

    def counted(path: Path, bounds: Bounds) -> Store:
        openings.append(path)
        return opened(path, bounds)

    monkeypatch.setattr(Store, "open", counted)
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
    assert len(openings) >= 4  # after a failure nothing is trusted that the connection believes to be on the disk
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
        patch.setattr(journal_rescue, "glimpse", lambda _: [])
        putter = Putter(tmp_path)
        assert (None, 0, 1) == (putter.found.newest, putter.found.games, len(putter.found.sentences))
        tickets = [putter.journal.put(save, finished) for save, finished in SCRIPT[: ENDS[0] + 1]]
        gone.clear()
        putter.wait(tickets[-1])
        write = Store.write
        patch.setattr(Store, "write", lambda *_: patch.setattr(Store, "write", write) or 1 / 0)  # fails once more
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
