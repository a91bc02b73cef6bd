"""`morbak selftest` and `morbak map` at a cable: what is found, and what is not measured is said to be not."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from firmware import cli
from firmware.cable_station import CableStation
from firmware.cli import main
from firmware.commands_map import walked
from firmware.commands_selftest import examined
from hal.errors import PartError
from hal.hands import TestBoard
from hal.link import DIODES
from hal.profile import Profile
from hal.selftest_report import NOT_MEASURED, Report
from sim.faults import Faults
from sim.tester import at_a_cable
from tests.serial_rig import World
from tests.test_real_jig import served  # noqa: F401 - a fixture
from tests.test_serve import Served

Output = pytest.CaptureFixture[str]
SERPENTINE = tuple(row * 7 + (6 - column if row % 2 else column) for row in range(7) for column in range(7))


def bench(world: World) -> tuple[Profile, CableStation]:
    """A test board at a simulated cable that moves its own contacts, in virtual time."""
    board = world.open()
    tester = at_a_cable(TestBoard(board, world.clock.now_us, world.step), 7, hurry=2)
    return board.profile, CableStation(board, tester.step, world.clock.now_us, world.step)


def found(world: World) -> Report:
    return examined(*bench(world), lambda _: None)


def test_a_board_in_order_has_no_fault_and_no_figure_that_was_not_measured() -> None:
    """All cells and colours answer; bounces, scans and supply are said to be not measured, and what the board has
    counted is told as the board's own word."""
    world = World()
    told = found(world)
    assert ((), ()) == (told.faults, told.warnings)
    report = told.document
    assert {"ok"} == {cell["state"] for cell in report["cells"].values()}
    assert ["ttyACM", NOT_MEASURED, NOT_MEASURED, NOT_MEASURED] == [
        report["rung"], report["bounce"], report["scan_us"], report["rests_on"]["supply"],
    ]  # fmt: skip
    assert not any("press_bounce_us" in cell for cell in report["cells"].values())
    assert world.device.stats.scans - 100 < report["counted"]["scans"] <= world.device.stats.scans
    assert "simulated board (morbak-board simulator, sim) at /dev/ttyACM0" == report["says"]
    assert "the board moved its contacts by order, debounced them and told them" == report["rests_on"]["cells"]
    assert 49 == report["latency"]["count"] and 0 < report["latency"]["median_us"] < 20_000


def test_faults_are_found_at_the_far_end() -> None:
    """Stuck and dead cells and LEDs that do not answer are named as on a board of wires."""
    world = World()
    world.device.board.change(Faults(stuck=frozenset({24}), dead=frozenset({32})))
    dead, stuck = "no answer from e5: a contact, a diode or a joint is bad", "d4: closed with nobody touching"
    assert (dead, stuck) == found(world).faults


def test_a_walk_finds_leds_that_run_otherwise() -> None:
    """A chain that runs otherwise than the board says is told, in words and as what should be written."""
    world = World()
    device = world.device._far.device
    device.about = device.about._replace(lights=SERPENTINE, flags=device.about.flags | DIODES)
    walk, base = walked(*bench(world), lambda _: None)
    assert tuple(range(49)) == walk.cell_of
    assert "the LEDs run row by row from a1 towards g1, always the same way" in [each.text for each in walk.findings]
    assert ("row-major", base.chain) == (walk.wanted["leds.order"], SERPENTINE)


def test_a_walk_does_not_exchange_what_is_at_the_far_end() -> None:
    """A dead cell is told once, with what cannot be measured from here."""
    world = World()
    world.device.board.change(Faults(dead=frozenset({32})))
    walk, _ = walked(*bench(world), lambda _: None)
    assert 1 << 32 == walk.dead
    assert "which way round diodes are is not measured over a cable" == walk.findings[-1].text


def test_a_cable_that_is_pulled_out_ends_the_test() -> None:
    """A board that goes in the middle is named."""
    world = World()
    profile, station = bench(world)

    def pulled(text: str) -> None:
        if "5 of 49" in text:
            world.unplug()

    with pytest.raises(PartError, match=r"the cable is out|the board is not there"):
        examined(profile, station, pulled)


@pytest.mark.realtime
@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX")
def test_owners_test_a_board_at_a_port(
    served: Served,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Output,
) -> None:
    """`selftest` at a port tests a board in another process, writes its report and names the rung; `map` writes no
    file for a board that has its wiring itself, and neither takes simulated faults."""
    monkeypatch.setattr(cli, "HURRY", 20)
    where = f"serial:{served.path}"
    assert 0 == main(["selftest", "--board", where, "--report", str(tmp_path / "report.txt")])
    told = capsys.readouterr().out
    assert f"Self-test of simulated board ({where}): a board behind a pseudo terminal: no cable" in told
    assert "bounce    not measured over a cable" in told and "0 faults, 0 warnings." in told
    assert "pty" == json.loads((tmp_path / "report.json").read_text())["rung"]
    assert 2 == main(["map", "--board", where, "--write", str(tmp_path / "my.toml")])
    assert "has its wiring in its own configuration" in capsys.readouterr().err
    for command in ("map", "selftest"):
        assert 2 == main([command, "--board", where, "--fault", "stuck=d4"])
        assert f"--fault is for simulated boards, and {where} is none" in capsys.readouterr().err
    assert 2 == main(["selftest", "--board", "serial:/nowhere/board"])
    assert "there is no such port" in capsys.readouterr().err
