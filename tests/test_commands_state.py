"""`morbak state`: what a board knows, out of its state directory and into another's, nothing lost on the way."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from firmware import chosen, journal_rescue, settings_file
from firmware.chosen import Chosen
from firmware.cli import main
from firmware.journal import DATABASE
from firmware.state_archive import parse_archive
from tests.damage import damages
from tests.journal_play import GAMES, lines, play, saves
from tests.live import running

TABLES = Path(__file__).parent / "tables"
STORED = TABLES / "state_v1.jsonl"
SCRIPT = list(islice(saves(), 101))
Output = pytest.CaptureFixture[str]
Files = dict[str, bytes]


def files(path: Path) -> Files:
    """Everything in a directory but the name of who had it last, and SQLite's index of a log."""
    return {file.name: file.read_bytes() for file in path.iterdir() if not file.name.endswith(("lock", "-shm"))}


def export(state: Path, to: Path) -> bytes:
    assert 0 == main(["state", "export", str(to), "--state", str(state)])
    return to.read_bytes()


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The state of a board in its third game, with things chosen and settings kept."""
    path = tmp_path / "old"
    assert 0 == main(["state", "import", str(STORED), "--state", str(path)])
    return path


# -- there and back --------------------------------------------------------------------------------------------------


def test_a_round_trip_gives_the_same_bytes(old: Path, tmp_path: Path) -> None:
    """Exported, imported elsewhere and exported again, a state is the same file, byte for byte."""
    first = export(old, tmp_path / "one.jsonl")
    assert 0 == main(["state", "import", str(tmp_path / "one.jsonl"), "--state", str(tmp_path / "new")])
    assert first == export(tmp_path / "new", tmp_path / "two.jsonl")


def test_an_imported_board_plays_on(old: Path) -> None:
    """After the import the game in progress is found as it was, the records are there, and saving goes on."""
    found = play(old, [SCRIPT[100]])
    assert (SCRIPT[99][0], 3, ()) == (found.save, found.games, found.sentences)
    assert [json.loads(GAMES[n]) | {"seq": n} for n in (1, 2)] == [
        {key: value for key, value in json.loads(line).items() if key != "date"} for line in lines(old)
    ]
    assert SCRIPT[100][0] == play(old, []).save
    assert (Chosen(40, "fr", True, 80), None) == chosen.load(old)
    kept = settings_file.copy(old).read().value
    assert kept is not None
    assert ("/etc/morbak-board/settings.toml", True) == (kept.file, "hold_ms = 600" in kept.text)


def test_streams_carry_a_state(tmp_path: Path, old: Path) -> None:
    """`export - | import -` carries a state from one process to another."""
    command = [sys.executable, "-m", "firmware.cli", "state"]
    sent = subprocess.run([*command, "export", "-", "--state", str(old)], capture_output=True, check=True)
    new = tmp_path / "new"
    got = subprocess.run(
        [*command, "import", "-", "--state", str(new)], input=sent.stdout, capture_output=True, check=True
    )
    assert b"" == sent.stderr == got.stdout
    assert f"2 finished games and 1 unfinished imported into {new}.".encode() in got.stderr
    assert sent.stdout == export(new, tmp_path / "again.jsonl")


def test_a_new_board_has_an_empty_export(tmp_path: Path) -> None:
    """A board that never played exports nothing, which can be imported."""
    (tmp_path / "empty").mkdir()
    data = export(tmp_path / "empty", tmp_path / "empty.jsonl")
    assert ((), None, None) == parse_archive(data)
    assert 0 == main(["state", "import", str(tmp_path / "empty.jsonl"), "--state", str(tmp_path / "new")])
    assert None is play(tmp_path / "new", []).newest


# -- older states ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 1])
def test_a_stored_database_is_exported_and_opened(version: int, tmp_path: Path) -> None:
    """A database as version 0 or 1 wrote it gives the games it holds, by an export and by a start."""
    shutil.copy(TABLES / f"journal_v{version}.db", tmp_path / DATABASE)
    archive = parse_archive(export(tmp_path, tmp_path / "out.jsonl"))
    assert [SCRIPT[27][0], SCRIPT[58][0], SCRIPT[99][0]] == [entry.save for entry in archive.entries]
    assert [28, 59, 100] == [entry.n for entry in archive.entries]
    assert SCRIPT[99][0] == play(tmp_path, []).save


def test_a_stored_export_gives_the_stored_database(tmp_path: Path, old: Path) -> None:
    """The stored export of version 1 holds what the stored database of version 1 holds."""
    shutil.copy(TABLES / "journal_v1.db", tmp_path / DATABASE)
    stored = parse_archive(STORED.read_bytes())
    assert stored.entries == parse_archive(export(tmp_path, tmp_path / "out.jsonl")).entries
    assert stored == parse_archive(export(old, tmp_path / "old.jsonl"))


# -- what is there already -------------------------------------------------------------------------------------------


def test_games_are_not_overwritten(old: Path, capsys: Output) -> None:
    """A board that has games refuses an import, says how many, and is as it was."""
    before = files(old)
    assert 2 == main(["state", "import", str(STORED), "--state", str(old)])
    assert f"morbak: the state directory {old} has 3 games; " in capsys.readouterr().err
    assert before == files(old)


def test_replacing_keeps_what_was_there(tmp_path: Path, capsys: Output) -> None:
    """With --replace the old database, choices and settings are kept under new names, every save of them readable."""
    state = tmp_path / "state"
    play(state, SCRIPT[:40])
    chosen.save(state, Chosen(99))
    chosen.save(state, Chosen(98))
    before = files(state)
    assert 0 == main(["state", "import", str(STORED), "--state", str(state), "--replace"])
    after = files(state)
    for name, data in before.items():
        assert data == after[f"{name}.replaced-1"]
    assert f"The games that were there are kept as {DATABASE}.replaced-1." in capsys.readouterr().err
    assert parse_archive(STORED.read_bytes()) == parse_archive(export(state, tmp_path / "out.jsonl"))
    back = tmp_path / "back"
    back.mkdir()
    shutil.copy(state / f"{DATABASE}.replaced-1", back / DATABASE)
    assert SCRIPT[39][0] == play(back, []).save


def test_settings_of_no_file_are_nothing_to_copy(tmp_path: Path, capsys: Output) -> None:
    """A board that was started without a file of settings leaves nothing to say about them where it is imported."""
    old = tmp_path / "old"
    play(old, SCRIPT[:1])
    settings_file.save(old, settings_file.BUILT_IN)
    file = tmp_path / "out.jsonl"
    export(old, file)
    assert '"file":"the built-in settings"' in file.read_text()
    assert 0 == main(["state", "import", str(file), "--state", str(tmp_path / "new")])
    assert "to play by them" not in capsys.readouterr().err


def test_replacing_twice_keeps_both(tmp_path: Path) -> None:
    """Nothing that was set aside is overwritten by the next import."""
    state = tmp_path / "state"
    play(state, SCRIPT[:40])
    for number in (1, 2):
        assert 0 == main(["state", "import", str(STORED), "--state", str(state), "--replace"])
        assert (state / f"{DATABASE}.replaced-{number}").exists()


def test_a_replacement_that_is_cut_short_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut between the two names of an exchange loses neither: the next start has the new games, the old ones
    are kept."""
    state = tmp_path / "state"
    play(state, SCRIPT[:40])

    def cut(path: Path, aside: Path) -> None:
        path.rename(aside)
        raise KeyboardInterrupt

    monkeypatch.setattr(journal_rescue, "_exchange", cut)
    with pytest.raises(KeyboardInterrupt):
        main(["state", "import", str(STORED), "--state", str(state), "--replace"])
    monkeypatch.undo()
    found = play(state, [])
    assert SCRIPT[99][0] == found.save
    assert (state / f"{DATABASE}.replaced-1").exists()
    assert "was about to be replaced: it is kept as morbak.db.replaced-1" in found.sentences[0]


# -- what cannot be done ---------------------------------------------------------------------------------------------


@pytest.mark.realtime
def test_a_running_board_exports_and_does_not_import(tmp_path: Path) -> None:
    """A running board can be exported; an import into it is refused, naming the process, with --replace too."""
    state = tmp_path / "state"
    play(state, SCRIPT[:100])
    with running("--state", str(state)) as live:
        command = [sys.executable, "-m", "firmware.cli", "state"]
        sent = subprocess.run([*command, "export", "-", "--state", str(state)], capture_output=True, check=True)
        assert 3 == len(parse_archive(sent.stdout).entries)
        refused = subprocess.run(
            [*command, "import", str(STORED), "--state", str(state), "--replace"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert 2 == refused.returncode
        assert f"is in use by process {live.process.pid}" in refused.stderr
        assert "Traceback" not in refused.stderr
        assert 0 == live.stop()
    assert SCRIPT[99][0].record == getattr(play(state, []).save, "record", None)


def test_damaged_exports_change_nothing(tmp_path: Path, capsys: Output, seed: int) -> None:
    """An export that is cut short, zeroed, emptied at every 64th byte or bit-flipped is refused in a sentence, and the
    state directory is not even made."""
    damaged = tmp_path / "damaged.jsonl"
    for data in damages(STORED.read_bytes(), random.Random(seed)):
        if data.strip() == STORED.read_bytes().strip():
            continue
        damaged.write_bytes(data)
        assert 2 == main(["state", "import", str(damaged), "--state", str(tmp_path / "state")])
        told = capsys.readouterr().err
        assert told.startswith(f"morbak: {damaged} cannot be imported: ")
        assert told.endswith("; nothing is changed.\n")
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("data", [b"", b"\0" * 300, b'{"kind":"head","v":2,"what":"state of a MORBAK board"}\n'])
def test_a_process_refuses_a_bad_export(data: bytes, tmp_path: Path) -> None:
    """As a process: status 2, one sentence, no traceback, nothing made."""
    command = [sys.executable, "-m", "firmware.cli", "state", "import", "-", "--state", str(tmp_path / "state")]
    ended = subprocess.run(command, input=data, capture_output=True, check=False)
    assert (2, b"", 1) == (ended.returncode, ended.stdout, len(ended.stderr.splitlines()))
    assert b"nothing is changed." in ended.stderr
    assert not (tmp_path / "state").exists()


def test_an_import_on_a_failing_disk_is_said_and_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    """Every sync and rename of an import fails in turn: a sentence, never a traceback, and doing it again works."""
    for at in range(1, 100):
        state = tmp_path / str(at)
        calls = iter(range(1, 1000))

        def failing(real: object, at: int = at, calls: object = calls) -> object:
            def call(*arguments: object) -> object:
                if next(calls) == at:  # type: ignore[call-overload]
                    raise OSError(errno.EIO, os.strerror(errno.EIO))
                return real(*arguments)  # type: ignore[operator]

            return call

        for name in ("fsync", "rename"):
            monkeypatch.setattr(os, name, failing(getattr(os, name)))
        status = main(["state", "import", str(STORED), "--state", str(state)])
        monkeypatch.undo()
        told = capsys.readouterr().err
        if status == 0:
            break
        assert 2 == status
        assert told.splitlines()[-1].startswith("morbak: ")
        assert "when that is mended." in told
        assert 0 == main(["state", "import", str(STORED), "--state", str(state), "--replace"])
        assert parse_archive(STORED.read_bytes()) == parse_archive(export(state, tmp_path / "out.jsonl"))
    assert at > 6


def test_a_damaged_state_is_exported_as_far_as_it_goes(
    old: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: Output
) -> None:
    """What is readable of a damaged database, choice and settings is exported, and what is not is said."""
    data = (old / DATABASE).read_bytes()
    (old / DATABASE).write_bytes(data.replace(b'{"n":59,', b'{"n":5X,'))
    (old / "board.json").write_bytes(b"\0\0")
    (old / "settings.last.toml").write_bytes(b"")
    archive = parse_archive(export(old, tmp_path / "out.jsonl"))
    assert [28, 100] == [entry.n for entry in archive.entries]
    assert (None, None) == (archive.chosen, archive.settings)
    told = capsys.readouterr().err
    assert f"{old / 'board.json'} is blank, and there is no good copy of it" in told
    assert f"{old / 'settings.last.toml'} is empty" in told
    assert "cannot be read in full" in caplog.text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["export", "{tmp}/out.jsonl", "--state", "{tmp}/none"], "there is no state directory {tmp}/none"),
        (["export", "{tmp}/none/out.jsonl", "--state", "{tmp}"], "there is no directory {tmp}/none; make it"),
        (["export", "{tmp}", "--state", "{tmp}"], "{tmp} cannot be written: Is a directory"),
        (
            ["import", "{tmp}/none.jsonl", "--state", "{tmp}/new"],
            "{tmp}/none.jsonl: the export cannot be read: No such",
        ),
        (["import", "{tmp}", "--state", "{tmp}/new"], "{tmp}: the export cannot be read: Is a directory"),
    ],
)
def test_what_is_not_there_is_said(arguments: list[str], words: str, tmp_path: Path, capsys: Output) -> None:
    """Directories and files that are not there, or are none, are said in a sentence, with status 2."""
    assert 2 == main(["state", *(argument.format(tmp=tmp_path) for argument in arguments)])
    assert words.format(tmp=tmp_path) in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_closed_input_is_said(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    """Without a standard input `import -` says what is missing."""
    monkeypatch.setattr(sys, "stdin", None)
    assert 2 == main(["state", "import", "-"])
    assert "standard input is closed: give the export a way in" in capsys.readouterr().err


def test_an_export_replaces_a_file_whole(old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An export that the disk refuses leaves the last backup as it was (case F13)."""
    backup = tmp_path / "backup.jsonl"
    backup.write_bytes(b"the last backup")

    def refuse(file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", refuse)
    assert 2 == main(["state", "export", str(backup), "--state", str(old)])
    assert b"the last backup" == backup.read_bytes()
