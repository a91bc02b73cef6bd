"""`morbak config`: what it prints, and what it exits with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firmware import config, settings_file, settings_text
from firmware.cli import main
from firmware.config import Settings
from hal.profile import load, shipped

PROFILE = load(shipped("sim"))
Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def nobodys_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The settings of the machine that tests run on do not count."""
    monkeypatch.setattr(settings_file, "SYSTEM", tmp_path / "etc" / "settings.toml")
    for name in ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "STATE_DIRECTORY"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.delenv("MORBAK_CONFIG", raising=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of settings that is in order."""
    path = tmp_path / "mine.toml"
    path.write_text('# ours\n[touch]\nhold_ms = 600\n\n[game]\nrules = "lite"\nblock = false\nmove_s = 0\n')
    return path


def test_a_good_file_is_ok(file: Path, capsys: Output) -> None:
    """`config check` exits with 0 and one line that names the file."""
    assert 0 == main(["config", "check", str(file)])
    assert (f"{file}: ok.\n", "") == capsys.readouterr()


def test_the_file_that_run_would_read_is_checked(file: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a name it is the file that the search finds; where there is none that is said, and well."""
    assert 0 == main(["config", "check"])
    assert "There is no file of settings: the built-in ones are used.\n" == capsys.readouterr().out
    monkeypatch.setenv("MORBAK_CONFIG", str(file))
    assert 0 == main(["config", "check"])
    assert f"{file}: ok.\n" == capsys.readouterr().out


def test_every_mistake_is_named_by_file_and_line(file: Path, capsys: Output) -> None:
    """`config check` exits with 1 and a line FILE:LINE for each mistake, all of them at once, by line."""
    file.write_text("[touch]\nhold_mss = 600\nstuck_ms = 3\n[game]\nrules = 7\npool = 50\n")
    assert 1 == main(["config", "check", str(file)])
    out, err = capsys.readouterr()
    assert "" == out
    assert [f"{file}:{line}: " for line in (2, 3, 5, 6)] == [line[: len(str(file)) + 4] for line in err.splitlines()]
    assert "touch.hold_mss = 600: unknown key; the nearest is hold_ms" in err


@pytest.mark.parametrize(
    ("data", "place"), [(b"", ""), (b"\0\0\0", ""), (b"\xff", ":1"), (b"# a\n[touch\n", ":2"), (b"[" * 9000, ":1")]
)
def test_a_torn_file_is_a_mistake_too(data: bytes, place: str, file: Path, capsys: Output) -> None:
    """What `run` would pass over is a mistake for `config check`."""
    file.write_bytes(data)
    assert 1 == main(["config", "check", str(file)])
    assert capsys.readouterr().err.startswith(f"{file}{place}: the settings file is ")


def test_the_board_is_part_of_the_check(file: Path, tmp_path: Path, capsys: Output) -> None:
    """A hold that is shorter than the bounce of a board is a mistake for that board alone."""
    text = shipped("sim").read_text()
    slow = tmp_path / "slow.toml"
    slow.write_text(
        text.replace("bounce_us = 5000", "bounce_us = 90000").replace("release_us = 10000", "release_us = 90000")
    )
    assert text != slow.read_text()
    file.write_text("[touch]\nhold_ms = 80\n")
    assert 0 == main(["config", "check", str(file)])
    assert 1 == main(["config", "check", str(file), "--board", str(slow)])
    assert f"{file}:2: touch.hold_ms = 80: a hold must be longer than contact bounce" in capsys.readouterr().err


def test_what_is_shown_can_be_read_again(file: Path, tmp_path: Path, capsys: Output) -> None:
    """`config show` prints settings with every key, from which the same settings come, and passes its own check."""
    for arguments in ([], [str(file)]):
        assert 0 == main(["config", "show", *arguments])
        shown = tmp_path / "shown.toml"
        shown.write_text(capsys.readouterr().out)
        wanted = config.load(file if arguments else None, PROFILE)
        assert wanted == config.load(shown, PROFILE)
        assert 0 == main(["config", "check", str(shown)])
        capsys.readouterr()
        for name, section in zip(config.SECTIONS, wanted, strict=True):
            assert f"\n[{name}]\n" in shown.read_text()
            for key in section.__struct_fields__:
                assert f"\n{key} = " in shown.read_text() or f"\n# {key} = " in shown.read_text()


def test_each_line_tells_origin_default_and_range(file: Path, capsys: Output) -> None:
    """A line of `config show` says where its value comes from, what it is otherwise, what it may be and what it is."""
    assert 0 == main(["config", "show", str(file)])
    lines = {line.split(" = ")[0]: line for line in capsys.readouterr().out.splitlines() if " = " in line}
    held = "hold_ms = 600        # line 3; default 800; 1 to 600000: how long a special move is held"
    assert held == lines["hold_ms"]
    assert "tap_min_ms = 20      # built-in; 1 to 600000: a shorter touch is noise" == lines["tap_min_ms"]
    assert "# not set; 0 to 49: special moves a side" in lines["# pool"]
    assert '# line 6; default "standard"; "standard" or "lite"' in lines["rules"]
    assert "block = false" in lines["block"]
    assert str(file) in settings_text.toml(Settings(), config.read(file))


def test_settings_are_shown_as_json(file: Path, capsys: Output) -> None:
    """`config show --json` is one object with value, default, range and line of every key."""
    assert 0 == main(["config", "show", str(file), "--json"])
    shown = json.loads(capsys.readouterr().out)
    assert str(file) == shown["file"]
    assert {
        "value": 600,
        "default": 800,
        "range": "1 to 600000",
        "line": 3,
        "text": "how long a special move is held",
    } == (shown["settings"]["touch"]["hold_ms"])
    assert 0 == main(["config", "show", "--json"])
    assert None is json.loads(capsys.readouterr().out)["file"]


def test_a_torn_file_is_shown_as_run_takes_it(file: Path, tmp_path: Path, capsys: Output) -> None:
    """`config show` shows the last good settings in the place of a torn file, and says so; nothing is written."""
    state = tmp_path / "state"
    state.mkdir()
    settings_file.save(state, config.read(file))
    file.write_bytes(b"")
    before = sorted(state.iterdir())
    assert 0 == main(["config", "show", str(file), "--state", str(state)])
    out, err = capsys.readouterr()
    assert "hold_ms = 600 " in out
    assert "the last good copy" in err
    assert before == sorted(state.iterdir())


@pytest.mark.parametrize("what", ["check", "show"])
def test_a_file_that_is_not_there_is_said(what: str, tmp_path: Path, capsys: Output) -> None:
    """A named file that is missing is misuse, in a sentence, with status 2."""
    assert 2 == main(["config", what, str(tmp_path / "none.toml")])
    assert capsys.readouterr().err.startswith(f"morbak: {tmp_path / 'none.toml'}: there are no settings of that name")


def test_a_wrong_file_is_not_shown(file: Path, capsys: Output) -> None:
    """Settings that `run` refuses are not in effect: `config show` refuses them too."""
    file.write_text("[touch]\nhold_mss = 600\n")
    assert 2 == main(["config", "show", str(file)])
    assert "the nearest is hold_ms" in capsys.readouterr().err
