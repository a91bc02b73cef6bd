"""The virtual Pi itself: a real Linux that runs this project, wires that answer, a plug that can be pulled."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from tests.vm.machine import KIT, STOPPED, TIMED_OUT
from tests.vm.power_cut import PowerCut, blank_card

pytestmark = pytest.mark.vm

INSIDE = KIT / "inside"
ROOT = KIT.parent.parent


def inside(*arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """`run` with these arguments, from the project's folder."""
    return subprocess.run(
        [KIT / "run", "--timeout", "60", *arguments], cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )


def test_the_machine_is_another_linux_with_this_python() -> None:
    """The virtual Pi runs its own kernel, and on it the interpreter and the packages of these tests."""
    code = "import firmware, msgspec, os, sys; print(os.uname().release, sys.prefix, msgspec.__version__, os.getcwd())"
    ran = inside("--", sys.executable, "-c", code)
    assert (0, "") == (ran.returncode, ran.stderr)
    release, *rest = ran.stdout.split()
    assert release.endswith("-board")
    assert [sys.prefix, __import__("msgspec").__version__, str(ROOT)] == rest


def test_the_rules_count_the_same_inside() -> None:
    """The firmware's perft 3 gives 49 x 49 x 49 inside the virtual Pi too."""
    ran = inside("--", sys.executable, "-m", "firmware.cli", "perft", "3")
    assert (0, "117649\n", "") == (ran.returncode, ran.stdout, ran.stderr)


def test_only_shared_folders_are_written(tmp_path: Path) -> None:
    """What the guest writes vanishes with it, but in --bind; its status and both its outputs come back."""
    (tmp_path / "shared").mkdir()
    script = f"echo lost >{tmp_path}/lost; echo kept >/srv/kept; cat; echo told >&2; exit 3"
    ran = subprocess.run(
        [KIT / "run", "--stdin", "--bind", f"{tmp_path}/shared:/srv", "--", "sh", "-c", script],
        capture_output=True,
        text=True,
        input="given\n",
    )
    assert (3, "given\n", "told\n") == (ran.returncode, ran.stdout, ran.stderr)
    assert ["shared", "shared/kept"] == sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*"))


def test_time_travel_costs_nothing() -> None:
    """Two virtual hours across a new year pass in seconds, for every process of the guest."""
    ran = inside("--start", "1798758000", "--env", "TZ=UTC", "--", "sh", "-c", "date +%Y; sleep 7200; date +%Y-%H")
    assert (0, "2026\n2027-01\n", "") == (ran.returncode, ran.stdout, ran.stderr)


def test_ends_that_are_not_the_commands_have_their_own_status() -> None:
    """A machine that hangs is unplugged and one that panics is shown with its console."""
    hung = inside("--timeout", "2", "--", "sleep", "60")
    assert (TIMED_OUT, "virtual Pi: no end after 2 s, plug pulled\n") == (hung.returncode, hung.stderr)
    panicked = inside("--", "sh", "-c", "echo c >/proc/sysrq-trigger")
    assert STOPPED == panicked.returncode
    assert "sysrq triggered crash" in panicked.stderr


def test_the_matrix_answers_through_the_gpio_chip() -> None:
    """A scan through /dev/gpiochip0 sees every key alone and together, broken contacts, and ghosts without diodes;
    it takes one select and one read a row and shorts nothing.
    """
    ran = inside("--", sys.executable, INSIDE / "matrix_scan.py")
    assert (0, "") == (ran.returncode, ran.stderr)
    told = json.loads(ran.stdout)
    cells = [list(cell) for cell in product(range(7), range(7))]
    corners = [[1, 1], [1, 4], [5, 1]]
    assert {
        "none": [],
        "alone": cells,
        "all": cells,
        "broken": [[0, 0], [2, 3]],
        "diodes": corners,
        "ghost": [*corners, [5, 4]],
    } == told["seen"]
    assert {"selects": 700, "reads": 700, "shorts": 0} == told["counts"]


def test_a_power_cut_takes_what_was_not_flushed(tmp_path: Path, seed: int, prove: bool) -> None:
    """No write acknowledged by SQLite with synchronous=FULL is ever lost in a cut, and one never flushed always is."""
    delays, card = random.Random(seed), blank_card(tmp_path / "card.img")
    machine = PowerCut(card, sys.executable, INSIDE / "counter.py")
    acknowledged = control = 0
    for cut in range(20 if prove else 2):
        found, *kept = [line.split() for line in machine.cut(delays.uniform(0.1, 0.5), ready="FOUND")]
        kept_after_cut(found, acknowledged, control, cut)
        acknowledged, control = map(int, kept[-1][1:])
    (found,) = [line.split() for line in machine.run("--look")]
    kept_after_cut(found, acknowledged, control, "look")
    assert acknowledged > 0


def kept_after_cut(found: list[str], acknowledged: int, control: int, cut: object) -> None:
    """Compare what a restart found with what had been acknowledged before the cut."""
    word, sound, last, rows, control_left = found
    assert ("FOUND", "ok") == (word, sound), cut
    assert int(last) == int(rows), f"cut {cut}: a hole"
    assert int(last) in (acknowledged, acknowledged + 1), f"cut {cut}: {acknowledged} was acknowledged, {last} is left"
    assert not control or int(control_left) < control, f"cut {cut}: the control lost nothing, this test proves nothing"
