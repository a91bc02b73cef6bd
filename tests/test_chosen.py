"""What people choose at the board: found again after a restart, and never lost or changed without a word."""

from __future__ import annotations

import json
import logging
import os
import random
import shutil
import threading
from pathlib import Path

import pytest

from firmware import chosen
from firmware.choosing import Chosen
from firmware.chosen import ChosenKeeper, load, save
from firmware.kept_file import NotKept
from tests.damage import damages

ONE = Chosen(40, "fr", True, 80)
TWO = Chosen(None, "en", False, 0)
RETRY_S = (0.001, 0.01)
# As version 1 has written it; must stay readable whatever is added.
STORED = b'{"v":1,"check":"6b69577c","chosen":{"brightness_pct":40,"language":"fr","marks":true,"volume_pct":80}}\n'


def test_a_choice_is_found_again(tmp_path: Path) -> None:
    """What was saved last is loaded, and on a new board what stands there at first, without a sentence."""
    assert (Chosen(), None) == load(tmp_path)
    save(tmp_path, ONE)
    assert (ONE, None) == load(tmp_path)
    save(tmp_path, TWO)
    assert (TWO, None) == load(tmp_path)
    assert 1 == json.loads((tmp_path / "board.json").read_bytes())["v"]


def test_a_stored_file_of_version_1_stays_readable(tmp_path: Path) -> None:
    """A file as version 1 wrote it reads the same for ever."""
    (tmp_path / "board.json").write_bytes(STORED)
    assert (ONE, None) == load(tmp_path)


def test_a_newer_file_is_set_aside(tmp_path: Path) -> None:
    """A file of a newer version keeps its bytes under a new name, and nothing of it is used, nor an older copy."""
    save(tmp_path, ONE)
    save(tmp_path, ONE)
    newer = b'{"v":2,"colour":"blue"}\n'
    (tmp_path / "board.json").write_bytes(newer)
    found, sentence = load(tmp_path)
    assert Chosen() == found
    assert sentence is not None
    assert "is of version 2, newer than this program, which knows 1: it is kept as board.json.newer-1" in sentence
    assert newer == (tmp_path / "board.json.newer-1").read_bytes()


def test_damage_is_set_aside_and_said(tmp_path: Path, seed: int) -> None:
    """Whatever is cut off, flipped or emptied, the file reads the same, or its last good copy is used, or the choice
    is as at first; then a sentence says so and the damaged bytes are kept."""
    chance = random.Random(seed)
    for copied in (False, True):
        for number, data in enumerate(damages(STORED, chance)):
            path = tmp_path / f"{copied} {number}"
            path.mkdir()
            if copied:
                save(path, TWO)
                save(path, TWO)
            (path / "board.json").write_bytes(data)
            found, sentence = load(path)
            if sentence is None:
                assert ONE == found, data
                continue
            assert (TWO if copied and "newer" not in sentence else Chosen()) == found, data
            assert any(data == file.read_bytes() for file in path.glob("board.json.*-1"))


@pytest.mark.parametrize(
    "choice",
    [
        *(Chosen(brightness_pct=1), Chosen(brightness_pct=101), Chosen(volume_pct=-1), Chosen(volume_pct=101)),
        *(Chosen(out=("a1", name)) for name in ("h1", "a8", "a0", "aa1")),
    ],
    ids=str,
)
def test_a_choice_out_of_range_is_no_choice(choice: Chosen, tmp_path: Path) -> None:
    """A file that was made by hand with a fitting checksum, but a value that no board can show, is damaged."""
    (tmp_path / "board.json").write_bytes(chosen._format(choice))
    found, sentence = load(tmp_path)
    assert (Chosen(), True) == (found, "board.json.damaged-1" in str(sentence))


def test_the_keeper_writes_the_latest_choice(tmp_path: Path) -> None:
    """Choices are written by a thread of the keeper's own; of many the last one stands, when the keeper is closed."""
    keeper = ChosenKeeper(tmp_path, Chosen())
    for pct in range(5, 101):
        keeper.put(Chosen(pct))
    assert keeper.close()
    assert (Chosen(100), None) == load(tmp_path)


def test_the_keeper_writes_nothing_that_is_there(tmp_path: Path) -> None:
    """A choice that stands on the disk is not written once more (case F10)."""
    keeper = ChosenKeeper(tmp_path, ONE)
    keeper.put(ONE)
    assert keeper.close()
    assert [] == list(tmp_path.iterdir())


def test_the_keeper_tries_again_until_the_disk_is_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A disk that refuses is said once, nobody waits for it, and the latest choice is written when it is back, at the
    latest by closing, which waits for no next try."""
    state = tmp_path / "later"
    keeper = ChosenKeeper(state, Chosen(), (60, 60))
    said = threading.Event()

    class Said(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.set()

    handler = Said()
    chosen.log.addHandler(handler)
    keeper.put(ONE)
    assert said.wait(10)
    chosen.log.removeHandler(handler)
    assert f"{state / 'board.json'} cannot be written: there is no directory {state}; make it." == keeper.fault
    state.mkdir()
    keeper.put(TWO)
    assert keeper.close()
    assert (TWO, None) == load(state)
    assert 1 == sum("cannot be written" in record.message for record in caplog.records)


def test_the_keeper_tries_ever_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Each wait is twice the last one up to 2 s, the next fault begins anew, and each fault is said once."""
    state, waits, again = tmp_path / "later", [], threading.Event()

    def pause(self: ChosenKeeper, wait_s: float) -> None:
        waits.append(wait_s)
        if len(waits) in (6, 7):
            state.mkdir()

    class Again(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "is kept again" in record.getMessage():
                again.set()

    monkeypatch.setattr(ChosenKeeper, "_pause", pause)
    monkeypatch.setattr(chosen.log, "handlers", [*chosen.log.handlers, Again()])
    keeper = ChosenKeeper(state, Chosen())
    for choice in (ONE, TWO):
        again.clear()
        keeper.put(choice)
        assert again.wait(10)
        assert (choice, None) == load(state)
        shutil.rmtree(state)
    assert (True, None) == (keeper.close(), keeper.fault)
    assert [0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 0.1] == waits
    assert 2 == sum("cannot be written" in record.message for record in caplog.records)


def test_the_keeper_ends_on_a_disk_that_never_comes_back(tmp_path: Path) -> None:
    """Closing while the disk refuses ends at once, and tells that the choice is not kept."""
    keeper = ChosenKeeper(tmp_path / "never", Chosen(), RETRY_S)
    keeper.put(ONE)
    assert (False, False) == (keeper.close(), keeper._thread.is_alive())


def test_a_write_that_fails_keeps_the_old_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A save that the disk refuses raises, and the old choice is there."""
    save(tmp_path, ONE)

    def refuse(file: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(NotKept, match="the disk is full; make room there"):
        save(tmp_path, TWO)
    assert (ONE, None) == load(tmp_path)
