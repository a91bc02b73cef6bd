"""The key matrix on a real kernel's GPIO chip, and the whole shipped firmware on it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from hal import conformance
from hal.profile import load, shipped
from tests.test_commands_trace import replay
from tests.vm.machine import KIT
from tests.vm.test_vm import inside

pytestmark = pytest.mark.vm

INSIDE = KIT / "inside"
# A walk takes 15 seconds of its own, a game 10, and both more on a busy machine.
PATIENCE = ("--timeout", "240")
MATRIX = load(shipped("reference")).matrix


def wires() -> list[str]:
    """The options that wire the virtual Pi's matrix as the reference board is."""
    found = []
    for name, pins in (("rows", MATRIX.row_pins), ("cols", MATRIX.column_pins)):
        found += ["--param", f"board_sim.{name}=" + ",".join(str(pin.bcm) for pin in pins)]
    return found


def told(script: str, *arguments: str, options: tuple[str, ...] = ()) -> Any:
    """What a script says on a virtual Pi that is wired as the reference board, but for its `options`."""
    ran = inside(*wires(), *options, "--", sys.executable, str(INSIDE / script), *arguments)
    assert (0, "") == (ran.returncode, ran.stderr)
    return json.loads(ran.stdout)


def replayed(trace: Path, driver: str, actions: int) -> None:
    """A trace that ends in order, of so many actions on that driver, comes out the same on this computer."""
    done, text = replay(trace), trace.read_text()
    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.startswith(f"{trace}: the same: {text.count(chr(10))} lines, {actions} actions, ")
    assert f'"driver":"{driver}"' in text and '"reason":"stopped"' in text


@pytest.mark.parametrize("driver", ["gpiod", pytest.param("gpiozero", marks=pytest.mark.lgpio)])
def test_a_driver_passes_the_suite_on_the_virtual_pi(driver: str) -> None:
    """gpiod, and gpiozero through lgpio, keep every promise of a driver of the matrix, with diodes and without; no high
    line ever meets a low one, and nothing is driven in the end.
    """
    kept = {conformance.name(check): "kept" for check in conformance.LINES}
    assert {"diodes": kept, "no diodes": kept, "shorts": 0, "driven": 0} == told("lines_bench.py", driver)


def test_push_pull_rows_are_rejected_on_the_virtual_pi() -> None:
    """Rows that push their idle level meet each other through a column without diodes, and the suite says so."""
    found = told("lines_bench.py", "push-pull")
    kept = dict.fromkeys(map(conformance.name, conformance.LINES), "kept")
    assert kept == found["diodes"]
    assert "rows that are not selected must float (open drain)" in found["no diodes"]["rows_do_not_fight"]
    assert found["shorts"] > 0


@pytest.mark.strace
def test_a_scan_takes_fifteen_system_calls() -> None:
    """A scan through gpiod is 15 system calls (cases D12, D14): a selection and a read a row, and the rest. While it
    settles it asks for the time, which only this kernel answers by a call.
    """
    calls = told("scan_cost.py", "calls")
    assert {"ioctl": 15} == calls["unsettled"]
    assert {"ioctl": 15} == {name: count for name, count in calls["shipped"].items() if name != "clock_gettime"}


@pytest.mark.lgpio
def test_a_scan_is_four_times_faster_than_with_devices(capsys: pytest.CaptureFixture[str]) -> None:
    """A scan through gpiod is at least four times as fast as one with gpiozero's devices in the same run."""
    times = told("scan_cost.py", "times")
    ratio = times["gpiozero"] / times["gpiod"]
    with capsys.disabled():
        print(f"\na scan: {times['gpiod']:.0f} us through gpiod, {ratio:.1f} times as long with gpiozero's devices")
    assert ratio >= 4
    assert 0 == times["shorts"]


def test_the_shipped_firmware_plays_a_game_on_real_wires(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`morbak trace record --board reference` plays a game to its end: contacts close through the chip, the light is
    read back from the bus and is what the board tells of after each action; it ends dark and shorts nothing. Its trace
    is replayed on this computer, which has neither: the same.
    """
    game = told("real_game.py", "/srv/game.jsonl", options=(*PATIENCE, "--bind", f"{tmp_path}:/srv"))
    parts = game["health"]["parts"]
    assert ("result", True, 0, True, 0) == (
        game["phase"],
        game["health"]["ok"],
        game["status"],
        game["dark"],
        game["shorts"],
    )
    assert (game["result"], ["a1", "b1", "c1", "d1"]) == (game["first"], game["lit"])
    assert [True] * 7 == game["seen"]
    assert ("7 x 7 contacts with diodes", True) == (parts["matrix"]["text"], "SPI at 2.4 MHz" in parts["leds"]["text"])
    replayed(tmp_path / "game.jsonl", "gpiod", 7)
    with capsys.disabled():
        print(f"\ncontact to latched light: {median(game['touch_ms']):.1f} ms, worst {game['touch_ms'][-1]:.1f} of 7")


def test_a_walk_finds_how_real_wires_run() -> None:
    """`morbak map` on the chip and the bus finds two rows that have changed places, LEDs that run otherwise and a dead
    contact, says what the profile should, shorts nothing and leaves nothing driven (case G21).
    """
    swapped = [str(MATRIX.row_pins[at].bcm) for at in (0, 1, 3, 2, 4, 5, 6)]
    wiring = ("--param", f"board_sim.rows={','.join(swapped)}")
    walk = told("walked_board.py", "map", options=(*PATIENCE, *wiring))
    found = walk["found"]
    assert (1, ["g1"], 0, 0) == (walk["status"], found["dead"], walk["shorts"], walk["driven"])
    assert {"leds.order": "row-major", "matrix.rows": [f"GPIO{gpio}" for gpio in swapped]} == found["changes"]
    assert "rows 3, 4 of the wiring have changed places: GPIO12, GPIO13" in [each["text"] for each in found["findings"]]


def test_a_self_test_finds_what_is_broken_on_real_wires() -> None:
    """`morbak selftest` on the chip and the bus names the dead and the stuck contact and nothing else; white stays
    within the budget, and it is told as a real board's (case G11).
    """
    test = told("walked_board.py", "selftest", options=PATIENCE)
    found = test["found"]
    assert [
        "no answer from g1: a contact, a diode or a joint is bad",
        "d4: closed with nobody touching",
    ] == [fault for fault in found["faults"] if "light answers" not in fault]  # how late this machine is proves nothing
    assert (1, "real", 0, 0) == (test["status"], found["rung"], test["shorts"], test["driven"])
    assert 0.9 * 2100 < found["current"]["peak_ma"] <= 2100


def test_a_line_that_is_taken_is_named_with_who_has_it() -> None:
    """Lines that another program has are refused with its name and what to do (case C7); once it lets go they open."""
    code = (
        "import gpiod; from gpiod.line import Direction; from hal.drivers import gpiod_lines\n"
        "from hal.errors import *; from hal.profile import *; p = load(shipped('reference')); waits = []\n"
        "other = gpiod.request_lines('/dev/gpiochip0', {22: gpiod.LineSettings(direction=Direction.INPUT)}, 'fan')\n"
        "try: gpiod_lines.open_lines(p, waits.append)\n"
        "except PartError as fault: print(fault, waits)\n"
        "gpiod_lines.open_lines(p, lambda _: other.release() if other else None).close(); print('opened')"
    )
    ran = inside(*wires(), "--", sys.executable, "-c", code)
    assert (0, "") == (ran.returncode, ran.stderr)
    refused, opened = ran.stdout.splitlines()
    assert refused.startswith("GPIO22 (J8:15) is in use by 'fan': stop that program")
    assert refused.endswith("[0.1, 0.2, 0.4]")
    assert "opened" == opened


def test_a_chip_that_is_not_ours_to_open_is_named() -> None:
    """Without permission the chip is named, with the command that gives it."""
    code = (
        "import gpiod, os; from hal.drivers import gpiod_lines; from hal.errors import *; from hal.profile import *\n"
        "p = load(shipped('reference')); os.chmod('/dev/gpiochip0', 0o600); os.setuid(65534)\n"
        "try: gpiod_lines.open_lines(p)\nexcept PartError as fault: print(fault)"
    )
    ran = inside(*wires(), "--", sys.executable, "-c", code)
    assert (0, "") == (ran.returncode, ran.stderr)
    assert ran.stdout.startswith("/dev/gpiochip0 is not ours to open: `sudo usermod -aG gpio $USER`")
