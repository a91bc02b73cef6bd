"""Which file the settings come from, and what the board starts with when that file is torn."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from firmware import config, settings_file
from firmware.config import GameSection, Settings, TouchSection
from firmware.settings_file import COPY, Started, choose, keep, places, settle
from hal import tables
from hal.errors import ProfileError
from hal.ports import Part
from hal.profile import load, shipped
from tests.damage import damages
from tests.live import running

PROFILE = load(shipped("sim"))
TEXT = '# at the club\n[touch]\nhold_ms = 600\n\n[game]\nrules = "lite"\nmove_s = 60\n'
GOOD = Settings(touch=TouchSection(hold_ms=600), game=GameSection(rules="lite", move_s=60))


@pytest.fixture(autouse=True)
def no_system_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The settings of the machine that tests run on do not count."""
    monkeypatch.setattr(settings_file, "SYSTEM", tmp_path / "etc" / "settings.toml")


def lay(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def start(given: Path | None, state: Path, environ: dict[str, str] | None = None) -> tuple[Started, list[str]]:
    """What a start does: choose, settle, keep; with everything it says."""
    started = settle(choose(given, PROFILE, environ or {"HOME": "/nonexistent"}), PROFILE, state)
    return started, [*started.sentences, *keep(started, PROFILE, state)]


# -- the search ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"HOME": "/h"}, ["/h/.config/morbak-board", "/etc/xdg/morbak-board"]),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, ["/x/morbak-board", "/etc/xdg/morbak-board"]),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "relative"}, ["/h/.config/morbak-board", "/etc/xdg/morbak-board"]),
        (
            {"HOME": "/h", "XDG_CONFIG_DIRS": "/one:relative:/two"},
            ["/h/.config/morbak-board", "/one/morbak-board", "/two/morbak-board"],
        ),
    ],
)
def test_the_places_of_settings(environ: dict[str, str], expected: list[str], tmp_path: Path) -> None:
    """XDG's own place comes first, then XDG's shared places, then /etc; a relative path is ignored, as XDG wants."""
    etc = tmp_path / "etc" / "settings.toml"
    assert [*(Path(folder) / "settings.toml" for folder in expected), etc] == places(environ)


def test_the_best_place_wins(tmp_path: Path) -> None:
    """`--config` before `$MORBAK_CONFIG` before XDG's home before XDG's folders before /etc before the built-in."""
    home, shared = tmp_path / "home", tmp_path / "shared"
    environ = {
        "XDG_CONFIG_HOME": str(home),
        "XDG_CONFIG_DIRS": str(shared),
        "MORBAK_CONFIG": str(tmp_path / "env.toml"),
    }
    files = [
        tmp_path / "option.toml",
        tmp_path / "env.toml",
        home / "morbak-board" / "settings.toml",
        shared / "morbak-board" / "settings.toml",
        tmp_path / "etc" / "settings.toml",
    ]
    for hold_ms, file in enumerate(files, 701):
        lay(file, f"[touch]\nhold_ms = {hold_ms}\n")
    given: Path | None = files[0]
    for hold_ms, file in enumerate(files, 701):
        choice = choose(given, PROFILE, environ)
        assert (hold_ms, str(file), ()) == (choice.settings.touch.hold_ms, choice.source.file, choice.torn)
        file.unlink()
        given = None
        if file.name == "env.toml":
            del environ["MORBAK_CONFIG"]
    assert (Settings(), settings_file.BUILT_IN, ()) == choose(None, PROFILE, environ)


def test_a_named_file_has_to_be_there(tmp_path: Path) -> None:
    """A file that is named, by option or variable, and is not there is refused, whatever else there is."""
    lay(tmp_path / "etc" / "settings.toml", TEXT)
    missing = tmp_path / "none.toml"
    with pytest.raises(ProfileError, match=r"none\.toml: there are no settings of that name; make them"):
        choose(missing, PROFILE, {})
    with pytest.raises(ProfileError, match=r"none\.toml: \$MORBAK_CONFIG names it, but there are no settings"):
        choose(None, PROFILE, {"MORBAK_CONFIG": str(missing)})


def test_a_mistake_is_refused(tmp_path: Path) -> None:
    """A file that reads, but holds an unknown key or a wrong value, is refused with its line, and no other is used."""
    lay(tmp_path / "etc" / "settings.toml", TEXT)
    for text in ("[touch]\nhold_mss = 600\n", "[touch]\nhold_ms = 0\n"):
        with pytest.raises(ProfileError, match=r"mine\.toml, line 2: touch\.hold_ms"):
            choose(lay(tmp_path / "mine.toml", text), PROFILE, {})


def test_a_folder_is_refused(tmp_path: Path) -> None:
    """Something that is no file at all is a mistake, not damage."""
    with pytest.raises(ProfileError, match="the settings file cannot be read: Is a directory"):
        choose(tmp_path, PROFILE, {})


# -- torn files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("torn", [b"", b"\0" * 100, b" \n", b"\xff\xfe\0", b"[touch]\nhold_ms =", b"[tou"], ids=repr)
def test_a_torn_file_starts_with_the_last_good_copy(torn: bytes, tmp_path: Path) -> None:
    """The settings of the last good start stand in for a torn file; health and sentence name both (case F13)."""
    file, state = lay(tmp_path / "mine.toml", TEXT), tmp_path / "state"
    state.mkdir()
    started, told = start(file, state)
    assert (GOOD, Part(True, "ok"), []) == (started.settings, started.part, told)
    lay(file, torn)
    started, told = start(file, state)
    assert (GOOD, False) == (started.settings, started.part.ok)
    assert [started.part.text] == told
    assert told[0].startswith(f"{file}")
    assert told[0].endswith(f"That counts as missing: the last good copy, {state / COPY}, is used.")
    assert GOOD == start(file, state)[0].settings  # and once more: the copy stays


def test_a_torn_file_without_a_copy_makes_room_for_the_next(tmp_path: Path) -> None:
    """Without a last good copy the next place is read, then the built-in settings; either is said, and kept for
    no last good copy."""
    torn = lay(tmp_path / "mine.toml", b"\0" * 10)
    started, told = start(torn, tmp_path)
    assert (Settings(), False) == (started.settings, started.part.ok)
    reason = "the settings file is empty; for the built-in ones remove the file, or leave a comment in it"
    assert [f"{torn}: {reason}. That counts as missing: the built-in settings are used."] == told
    etc = lay(tmp_path / "etc" / "settings.toml", TEXT)
    started, told = start(torn, tmp_path)
    assert GOOD == started.settings
    assert told[0].endswith(f"That counts as missing: {etc} is used.")
    lay(etc, "[touch]\nhold_mss = 1\n")
    started, told = start(torn, tmp_path)
    assert Settings() == started.settings
    assert "the nearest is hold_ms" in told[0]
    assert not (tmp_path / COPY).exists()


def test_a_copy_that_does_not_fit_the_board_is_not_used(tmp_path: Path) -> None:
    """A last good copy from another board or another version counts for nothing, nor is it compared with."""
    settings_file.save(tmp_path, tables.Source("/etc/x.toml", "[touch]\nhold_ms = 5\n", "settings file"))
    assert Settings() == start(lay(tmp_path / "mine.toml", b""), tmp_path)[0].settings
    assert [] == start(lay(tmp_path / "mine.toml", TEXT), tmp_path)[1]


def test_a_torn_file_is_told_of_once(tmp_path: Path) -> None:
    """A file that is named and lies where it would be looked for anyway is read once."""
    file = lay(tmp_path / ".config" / "morbak-board" / "settings.toml", b"")
    assert 1 == len(choose(file, PROFILE, {"HOME": str(tmp_path)}).torn)


def test_a_torn_copy_is_said_and_written_anew(tmp_path: Path) -> None:
    """Where the copy is torn and the one before it holds the same, that is said and the copy is whole again."""
    file = lay(tmp_path / "mine.toml", TEXT)
    start(file, tmp_path)
    lay(tmp_path / f"{COPY}.last", (tmp_path / COPY).read_bytes())
    lay(tmp_path / COPY, b"")
    (said,) = start(file, tmp_path)[1]
    assert f"{tmp_path / COPY} is empty: the last good copy, {COPY}.last, is used." == said
    assert (GOOD, []) == (config.load(tmp_path / COPY, PROFILE), start(file, tmp_path)[1])


# -- what is kept ----------------------------------------------------------------------------------------------------


def test_the_copy_is_a_file_of_settings(tmp_path: Path) -> None:
    """The copy can be put where settings are read from; it names the file it is of."""
    start(lay(tmp_path / "mine.toml", TEXT), tmp_path)
    assert GOOD == config.load(tmp_path / COPY, PROFILE)
    assert str(tmp_path / "mine.toml") in (tmp_path / COPY).read_text()


def test_what_is_kept_is_not_kept_again(tmp_path: Path) -> None:
    """A start with the same settings writes nothing (case F10)."""
    file = lay(tmp_path / "mine.toml", TEXT)
    start(file, tmp_path)
    before = os.stat(tmp_path / COPY)
    assert [] == start(file, tmp_path)[1]
    after = os.stat(tmp_path / COPY)
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_change_since_the_last_start_is_told(tmp_path: Path) -> None:
    """Each value that differs from the last start is named, once; so a flipped bit in a number is not silent."""
    file = lay(tmp_path / "mine.toml", TEXT)
    start(file, tmp_path)
    lay(file, TEXT.replace("600", "602"))
    assert ["The settings are not those of the last start: touch.hold_ms 600 -> 602."] == start(file, tmp_path)[1]
    assert [] == start(file, tmp_path)[1]


def test_settings_that_cannot_be_kept_are_said(tmp_path: Path) -> None:
    """Where the state directory takes no copy the board starts, and says so."""
    started, told = start(lay(tmp_path / "mine.toml", TEXT), tmp_path / "nowhere")
    assert (GOOD, True) == (started.settings, started.part.ok)
    assert [f"The settings of this start are not kept for a bad one: {tmp_path / 'nowhere' / COPY} cannot be written: "
            f"there is no directory {tmp_path / 'nowhere'}; make it."] == told  # fmt: skip


# -- fuzz ------------------------------------------------------------------------------------------------------------


def test_damaged_settings_are_never_silent(tmp_path: Path, seed: int, prove: bool) -> None:
    """Cut short, zeroed, emptied at every 64th byte or with a bit flipped, a file of settings gives the same values,
    or is refused, or started without and said; nothing else ever."""
    chance = random.Random(seed)
    data = (TEXT + "# " + "x" * 300 + "\n[phases]\nlobby_ms = 500\nidle_s = 60\n").encode()
    good = config.load(lay(tmp_path / "good.toml", data), PROFILE)
    seen = {"same": 0, "refused": 0, "said": 0}
    for number, damaged in enumerate(damages(data, chance, 2000 if prove else 150)):
        state = tmp_path / str(number)
        state.mkdir()
        start(lay(state / "mine.toml", data), state)
        lay(state / "mine.toml", damaged)
        try:
            started, told = start(state / "mine.toml", state)
        except ProfileError:
            seen["refused"] += 1
            continue
        assert told or started.settings == good, damaged
        seen["said" if told else "same"] += 1
    assert all(seen.values()), seen


def test_a_damaged_copy_is_never_silent(tmp_path: Path, seed: int) -> None:
    """Whatever happens to the copy, a torn file gives the good settings or the built-in ones, and says so."""
    chance = random.Random(seed)
    file = lay(tmp_path / "mine.toml", TEXT)
    start(file, tmp_path)
    copy = (tmp_path / COPY).read_bytes()
    lay(file, b"")
    for damaged in damages(copy, chance):
        lay(tmp_path / COPY, damaged)
        started, told = start(file, tmp_path)
        assert (False, True) == (started.part.ok, bool(told))
        assert started.settings == (GOOD if f"{COPY}, is used" in told[0] else Settings()), damaged


# -- as processes ----------------------------------------------------------------------------------------------------


def ended(*arguments: str) -> tuple[int, str]:
    """`morbak run` that is to refuse: its status and what it says."""
    command = [sys.executable, "-m", "firmware.cli", "run", "--port", "0", *arguments]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return process.returncode, process.stderr


@pytest.mark.realtime
def test_a_board_plays_with_torn_settings(tmp_path: Path) -> None:
    """`morbak run` starts with a file of NULs, shows the part `settings` as failed in the health, and with the good
    file as well again; the last good settings are in effect (case F13)."""
    file, state = lay(tmp_path / "mine.toml", "[game]\npool = 3\n"), tmp_path / "state"
    for text, ok in ((b"[game]\npool = 3\n", True), (bytes(64), False), (b"[game]\npool = 3\n", True)):
        lay(file, text)
        with running("--config", str(file), "--state", str(state)) as live:
            told = live.state()
            assert 3 == told["pools"]["a"]
            part = told["health"]["parts"]["settings"]
            assert (ok, ok) == (part["ok"], told["health"]["ok"])
            assert ok or "That counts as missing" in part["text"]
            assert 0 == live.stop()


@pytest.mark.realtime
def test_a_board_says_what_is_torn_on_standard_error(tmp_path: Path) -> None:
    """The sentence of torn settings is in the log of `morbak run` before it plays."""
    file = lay(tmp_path / "mine.toml", b"\xff\xff[touch]\n")
    command = [
        sys.executable,
        "-m",
        "firmware.cli",
        "run",
        "--port",
        "0",
        "--config",
        str(file),
        "--state",
        str(tmp_path),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("The board is at")
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=30)
    assert 0 == process.returncode
    assert re.search(
        r"mine\.toml, line 1: the settings file is not UTF-8 text.* the built-in settings are used\.", told
    )
    assert "Traceback" not in told


@pytest.mark.parametrize("text", ["[touch]\nhold_mss = 600\n", "[touch]\nhold_ms = -4\n"])
def test_a_board_refuses_a_mistake(tmp_path: Path, text: str) -> None:
    """`morbak run` with a wrong key or value ends with 2 and names file, line and key, and makes no state directory."""
    file = lay(tmp_path / "mine.toml", text)
    status, told = ended("--config", str(file), "--state", str(tmp_path / "state"))
    assert 2 == status
    assert f"{file}, line 2: touch.hold_ms" in told
    assert "Traceback" not in told
    assert not (tmp_path / "state").exists()
