"""The doctor on a board at the end of a cable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from firmware.cli import main
from hal import doctor_cable
from hal.doctor_finding import LOG_IN, Finding
from hal.drivers.serial_board import SerialBoard
from hal.errors import PartError
from sim.faults import Faults
from tests.serial_rig import World

PORT = "/dev/ttyACM0"


def examined(world: World) -> list[Finding]:
    return doctor_cable.examine(PORT, world.open, world.clock.now_us, world.step)


def told(world: World) -> dict[str, tuple[str, str]]:
    return {finding.check: (finding.level, finding.text) for finding in examined(world)}


def test_a_board_in_order_says_who_it_is_and_how_it_scans() -> None:
    """Nothing is wrong: who answers, how often it scans, and whether it is a test board."""
    found = told(World())
    assert {"cable", "board"} == set(found)
    assert ("fine", f"simulated board (morbak-board simulator, sim) at {PORT} answers.") == found["cable"]
    level, text = found["board"]
    assert "fine" == level and "up to 1000; it is a test board" in text


def changed(world: World, **about: Any) -> None:
    device = world.device._far.device
    device.about = device.about._replace(**about)


@pytest.mark.parametrize(
    ("does", "check", "level", "said"),
    [
        (lambda w: changed(w, reset=2), "board", "warning", "started by its watchdog: its program had hung"),
        (lambda w: changed(w, reset=4), "board", "warning", "by a voltage too low"),
        (
            lambda w: w.device.board.change(Faults(stuck=frozenset({24}))),
            "contacts",
            "warning",
            "d4 is down: if nobody",
        ),
        (
            lambda w: w.device.board.change(Faults(lines_fail_rate=1.0)),
            "matrix",
            "broken",
            "its contacts do not answer",
        ),
        (lambda w: w.device.board.change(Faults(leds_fail_rate=1.0)), "leds", "broken", "its LEDs do not answer"),
        (lambda w: w.device._far.device.feed(b"x\0y\0", 0), "cable", "warning", "has heard 2 messages that were none"),
    ],
)
def test_what_a_board_says_is_wrong_is_told(does: Any, check: str, level: str, said: str) -> None:
    """Bad starts, stuck cells, parts that do not answer, a bad cable: each is told with a command for this board."""
    world = World()
    does(world)
    finding = next(each for each in examined(world) if each.check == check and each.level == level)
    assert said in finding.text
    assert finding.fix.startswith("morbak ") and finding.fix.endswith(f"--board serial:{PORT}")


def test_a_board_that_breaks_off_is_told() -> None:
    """A board that answers and then goes is broken, not fine."""
    world = World()

    def opened(where: str) -> SerialBoard:
        board = world.open(where)
        world.unplug()
        return board

    found = doctor_cable.examine(PORT, opened, world.clock.now_us, world.step)
    assert ["broken"] == [each.level for each in found] and "answers and breaks off" in found[0].text


@pytest.mark.parametrize(
    ("fault", "fix", "then"),
    [
        (f"{PORT}: there is no such port; plug the board in", "ls -l /dev/serial/by-id", ""),
        (f"{PORT} is not ours to open: `sudo usermod -aG dialout $USER`, then log in again",
         "sudo usermod -aG dialout $USER", LOG_IN),
    ],
)  # fmt: skip
def test_no_board_is_one_sentence_with_what_mends_it(fault: str, fix: str, then: str) -> None:
    """Why there is no board is told as it is, with the command that the sentence has, or one that shows the ports."""

    def opened(_: str) -> SerialBoard:
        raise PartError(fault)

    assert [Finding("cable", "broken", f"{fault}.", fix, then)] == doctor_cable.examine(PORT, opened)


def test_the_command_tells_of_the_board_and_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`morbak doctor --board serial:PORT` has the board's findings beside those of the machine, none of GPIO among
    them; a recorded machine has no cable."""
    findings = examined(World())
    monkeypatch.setattr(doctor_cable, "examine", lambda _: findings)
    assert main(["doctor", "--board", f"serial:{PORT}", "--state", str(tmp_path), "--json"]) in (0, 1)
    document = json.loads(capsys.readouterr().out)
    checks = {each["check"] for each in document["findings"]}
    assert f"serial:{PORT}" == document["file"]
    assert {"cable", "board", "state"} <= checks and not {"model", "chips", "spi"} & checks
    assert 2 == main(["doctor", "--board", "serial:auto", "--probe", str(tmp_path)])
    assert "leave --probe out" in capsys.readouterr().err
    monkeypatch.undo()
    assert 1 == main(["doctor", "--board", "serial:/nowhere/board", "--state", str(tmp_path)])
    told = " ".join(capsys.readouterr().out.split())
    assert "broken /nowhere/board: there is no such port" in told
