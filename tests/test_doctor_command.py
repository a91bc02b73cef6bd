"""`morbak doctor`: what it prints and exits with, what it asks of a real machine, and the last good start."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from firmware import good_start
from firmware.cli import main
from hal import doctor, doctor_facts
from hal.doctor_probe import Probe
from hal.errors import PartError
from hal.profile import load, shipped
from tests.machines import NAMES, unpack
from tests.vm.machine import KIT

Output = pytest.CaptureFixture[str]
REFERENCE = load(shipped("reference"))
OK, BROKEN, USAGE = 0, 1, 2


def run(folder: Path, *arguments: str) -> int:
    """`morbak doctor` on a recorded machine, for the reference board."""
    return main(["doctor", "--board", "reference", "--probe", str(folder), *arguments])


@pytest.mark.parametrize(
    ("name", "status"), [("pi4_bookworm", OK), ("virtual_pi", OK), ("pi4_no_core_freq", BROKEN), ("pc", BROKEN)]
)
def test_it_exits_with_what_it_found(name: str, status: int, tmp_path: Path, capsys: Output) -> None:
    """0 where nothing is broken, warnings or not; 1 where something is."""
    assert status == run(unpack(name, tmp_path))
    out, err = capsys.readouterr()
    assert "" == err and (" 0 broken" in f" {out.splitlines()[-1]}") == (status == OK)


def test_each_sentence_stands_over_its_command(tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst comes first, wrapped to the terminal; commands are never broken, to be copied as they are."""
    monkeypatch.setenv("COLUMNS", "60")
    run(unpack("pi4_no_core_freq", tmp_path))
    lines = capsys.readouterr().out.splitlines()
    assert ["MORBAK board (reference.toml)", ""] == lines[:2]
    assert lines[2].startswith("broken   The core clock moves between 200 and 500 MHz")
    fix = "           $ printf '\\n[all]\\ncore_freq_min=500\\n' | sudo tee -a /boot/firmware/config.txt"
    assert f"{fix}    then restart the machine" in lines
    assert all(len(line) < 60 for line in lines if "$" not in line)
    assert "1 broken, 0 warnings, 13 fine." == lines[-1]


@pytest.mark.parametrize("name", NAMES)
def test_json_says_the_same(name: str, tmp_path: Path, capsys: Output) -> None:
    """`--json` has every finding with its check, level, sentence and command, and the same exit status."""
    folder = unpack(name, tmp_path)
    status = run(folder, "--json")
    found = json.loads(capsys.readouterr().out)
    assert ("MORBAK board", REFERENCE.file) == (found["board"], found["file"])
    assert [each._asdict() for each in doctor.examine(Probe.recorded(folder), REFERENCE)] == found["findings"]
    assert status == any(each["level"] == "broken" for each in found["findings"])


def test_misuse_is_a_sentence(tmp_path: Path, capsys: Output) -> None:
    """A recorded machine that is not there and a board that does not ship are usage errors."""
    assert USAGE == run(tmp_path / "none")
    assert f"morbak: {tmp_path}/none: a recorded machine is a directory.\n" == capsys.readouterr().err
    assert USAGE == main(["doctor", "--board", "piano", "--probe", str(tmp_path)])
    assert "no such profile ships; there are: " in capsys.readouterr().err


def test_a_command_can_be_typed_where_the_shell_does_not_find_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    """`morbak` is named by its path where it lies in an environment that is not entered, and plainly elsewhere."""
    monkeypatch.setattr("sys.argv", ["/opt/morbak/bin/morbak", "doctor"])
    monkeypatch.setenv("PATH", str(tmp_path))
    run(tmp_path)
    assert "$ /opt/morbak/bin/morbak run --board sim --open\n" in capsys.readouterr().out
    (tmp_path / "morbak").touch(0o755)
    run(tmp_path)
    assert "$ morbak run --board sim --open\n" in capsys.readouterr().out


def test_any_board_may_be_asked_for(tmp_path: Path, capsys: Output) -> None:
    """A board of another size than the game's is looked at too."""
    text = (
        Path(REFERENCE.file)
        .read_text(encoding="utf-8")
        .replace("columns = 7", "columns = 6")
        .replace(', "GPIO4"]', "]")
    )
    (tmp_path / "mine.toml").write_text(text)
    assert OK == main(
        ["doctor", "--board", f"{tmp_path}/mine.toml", "--probe", str(unpack("pi4_bookworm", tmp_path / "m"))]
    )
    assert "(mine.toml)" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "board"), [("pi4_bookworm", "reference"), ("pc", "reference"), ("pi5_leds0", "pi5")])
def test_the_board_that_suits_the_machine_is_the_usual_one(
    name: str, board: str, tmp_path: Path, capsys: Output
) -> None:
    """Without --board a Pi 5 is looked at for the board of a Pi 5, and any other machine for the reference."""
    main(["doctor", "--probe", str(unpack(name, tmp_path))])
    assert f"({board}.toml)" in capsys.readouterr().out.splitlines()[0]


def test_a_terminal_without_the_signs_gets_others(tmp_path: Path) -> None:
    """On a terminal of ASCII both commands print all their lines."""
    code = [sys.executable, "-P", "-m", "firmware.cli"]
    env = {"PYTHONIOENCODING": "ascii", "PATH": os.environ["PATH"]}
    machine = ["--board", "reference", "--probe", str(unpack("pi4_crowded", tmp_path))]
    for command, status in ((["doctor", *machine], BROKEN), (["pinout", "reference"], OK)):
        ran = subprocess.run([*code, *command], env=env, capture_output=True, text=True, timeout=60)
        assert (status, "") == (ran.returncode, ran.stderr) and "?" in ran.stdout


# -- this machine --------------------------------------------------------------------------------------------------


def test_this_machine_has_a_diagnosis(tmp_path: Path) -> None:
    """On whatever runs these tests, with an environment that has nothing in it, it ends and says something (B3)."""
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "firmware.cli", "doctor", "--json", "--state", str(tmp_path)],
        env={"PATH": "/nowhere"}, capture_output=True, text=True, cwd="/", check=False, timeout=60,
    )  # fmt: skip
    assert "" == ran.stderr and ran.returncode in (OK, BROKEN)
    found = json.loads(ran.stdout)["findings"]
    assert {"model", "system", "state"} <= {each["check"] for each in found}
    assert f"Games are kept in {tmp_path}" in "".join(each["text"] for each in found)


def tool(folder: Path, name: str, script: str) -> None:
    """A command of that name on the PATH of this test."""
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_commands_that_fail_hang_or_babble_are_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command says counts if it ends well and in time, whatever bytes it says."""
    monkeypatch.setattr(doctor_facts, "PATIENCE_S", 0.2)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    tool(tmp_path, "vcgencmd", "exec sleep 60")
    tool(tmp_path, "dmesg", "echo secret; exit 1")
    tool(tmp_path, "pinctrl", "printf '\\377\\000 text'")
    asked = {name: doctor_facts.COMMANDS[name] for name in ("get_throttled", "dmesg", "pinctrl")}
    none = ("no-such-command",)
    monkeypatch.setattr(doctor_facts, "COMMANDS", {**asked, "gpiodetect": none, "gpioinfo": none})
    probe = doctor_facts.here(tmp_path)
    assert ["", "", "\ufffd\0 text"] == [probe.output(name) for name in ("get_throttled", "dmesg", "pinctrl")]


def test_facts_are_those_of_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who we are, what we may write and where this Python lies are told as they are."""
    monkeypatch.setenv("SUDO_USER", "anna")
    monkeypatch.setenv("LG_WD", str(tmp_path / "none"))
    facts = doctor_facts.facts(tmp_path / "state")
    assert (os.geteuid() == 0, "anna", sys.prefix) == (facts["root"], facts["sudo_user"], facts["prefix"])
    assert (sys.base_prefix, sys.prefix != sys.base_prefix) == (facts["base_prefix"], facts["venv"])
    assert {"path": str(tmp_path / "none"), "writable": False} == facts["lgpio_folder"]
    state = facts["state"]
    assert (str(tmp_path / "state"), False, True) == (state["path"], state["made"], state["writable"])
    assert facts["now_s"] > 1_700_000_000 and "Linux" in facts["versions"]
    assert facts == json.loads(json.dumps(facts))


# -- the last good start -------------------------------------------------------------------------------------------


def test_the_last_good_start_is_kept_for_the_doctor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is installed now is nothing new to the doctor; an upgrade after it is (case A34)."""
    good_start.keep(tmp_path)
    (finding,) = (each for each in doctor.examine(doctor_facts.here(tmp_path), REFERENCE) if each.check == "changes")
    assert "fine" == finding.level
    now = doctor_facts.versions()
    monkeypatch.setattr(doctor_facts, "versions", lambda: {**now, "Linux": "9.9"})
    (finding,) = (each for each in doctor.examine(doctor_facts.here(tmp_path), REFERENCE) if each.check == "changes")
    assert "warning" == finding.level and f"Linux {now['Linux']} to 9.9" in finding.text


def test_a_good_start_writes_what_is_new_only(tmp_path: Path) -> None:
    """A start with the same versions leaves the card alone (case F10)."""
    good_start.keep(tmp_path)
    (kept,) = tmp_path.iterdir()
    before = kept.stat()
    good_start.keep(tmp_path)
    assert (before.st_ino, before.st_mtime_ns) == (kept.stat().st_ino, kept.stat().st_mtime_ns)
    kept.write_bytes(b"\0\0\0")
    good_start.keep(tmp_path)
    assert doctor_facts.versions() == json.loads(kept.read_text())["versions"]


def test_a_disk_that_fails_ends_no_start(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Versions that cannot be kept are a line in the log."""
    (tmp_path / "file").write_text("")
    good_start.keep(tmp_path / "file")
    assert 1 == len(caplog.records)


def test_a_board_that_does_not_open_says_what_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What was upgraded since the last good start is logged when parts fail, and never for a simulated board (A34)."""
    for board in (load(shipped("sim")), REFERENCE):
        assert [] == list(tmp_path.iterdir())
        asyncio.run(good_start.kept(board, tmp_path))
    now = doctor_facts.versions()
    monkeypatch.setattr(doctor_facts, "versions", lambda: {**now, "Linux": "9.9"})
    for board in (load(shipped("sim")), REFERENCE):
        with pytest.raises(PartError, match="no chip"), good_start.watched(board, tmp_path):
            raise PartError("no chip")
    assert [f"Linux {now['Linux']} to 9.9" in record.message for record in caplog.records] == [True]
    assert now == json.loads((tmp_path / "last-good-start.json").read_text())["versions"]


# -- the virtual Pi ------------------------------------------------------------------------------------------------


@pytest.mark.vm
def test_the_virtual_pi_is_as_it_was_recorded(tmp_path: Path) -> None:
    """On the virtual Pi the doctor finds chip, pins, SPI and its access to them, and nothing broken."""
    code = [sys.executable, "-m", "firmware.cli", "doctor", "--board", "reference", "--json"]
    ran = subprocess.run(
        [KIT / "run", "--timeout", "60", "--", *code], capture_output=True, text=True, cwd=KIT.parent.parent
    )
    assert (OK, "") == (ran.returncode, ran.stderr)
    live = {each["check"]: each["text"] for each in json.loads(ran.stdout)["findings"]}
    recorded = {
        each.check: each.text for each in doctor.examine(Probe.recorded(unpack("virtual_pi", tmp_path)), REFERENCE)
    }
    same = {"model", "chips", "holders", "spi", "spi buffer", "permissions"}
    assert {check: recorded[check] for check in same} == {check: live.get(check) for check in same}
