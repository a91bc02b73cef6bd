"""The plugin for tests of boards: one suite on the simulator, at a cable and on pins, with the rung of each result."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from hal import board_suite, testing
from hal.board_lock import BoardLock
from tests.rungs import scenarios
from tests.test_serve import Served

pytest_plugins = "pytester"
ROOT = Path(__file__).parent.parent
TESTS = """
    def test_touch(board, fingers, clock):
        heard = fingers.hold("d4", 100_000)
        assert [(24, True), (24, False)] == [(edge.cell, edge.down) for edge in heard]
        assert board.capabilities.rows == 7
        fingers.press("a1")  # and forgets it

    def test_light(lights, fingers, clock):
        assert [] == clock.scan(100_000)
        assert {} == lights.lit()
        assert ["a1", "g7"] == list(lights.show({"a1": (255, 255, 255), "g7": (0, 255, 0)}))

    def test_cable(jig):
        jig.unplug()

    def test_nothing_of_a_board():
        pass
"""

CLUMSY = """
from hal.errors import PartError
from hal.hands import Nobody

class Clumsy(Nobody):
    def __init__(self, profile):
        super().__init__(f"the jig of {profile.board.name} is clumsy")

def absent(profile):
    raise PartError("the jig is not plugged in")
"""


@pytest.fixture
def bench(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with tests of a board, and nobody at a terminal."""
    monkeypatch.delenv("MORBAK_REQUIRE_ALL", raising=False)
    monkeypatch.setattr("hal.person.TERMINAL", "/nowhere/tty")
    pytester.makepyfile(TESTS)
    return pytester


@pytest.fixture
def jig_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody's package with a jig, installed: it presses what a test board cannot say that it presses."""
    info = tmp_path / "jig-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: jig\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[morbak.hands]\nclumsy = clumsy:Clumsy\nabsent = clumsy:absent\n")
    (tmp_path / "clumsy.py").write_text(CLUMSY)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    board = Served(tmp_path / "board")
    yield board
    board.stop()


def run(bench: pytest.Pytester, *given: str | Path) -> pytest.RunResult:
    return bench.runpytest_inprocess("-p", "hal.testing", "-p", "no:cacheprovider", *given)


def test_tests_run_on_the_simulator_and_say_so(bench: pytest.Pytester) -> None:
    """Touch and light pass, each in virtual time on a board of its own; what the rung cannot do is skipped with the
    reason; the rung is with each result, in the summary and in the JUnit file, and with no other test."""
    found = run(bench, "-v", "--junitxml", "junit.xml")
    found.assert_outcomes(passed=3, skipped=1)
    found.stdout.fnmatch_lines(
        [
            "morbak: --board sim",
            "*::test_touch PASSED ?rung sim?*",
            "*::test_light PASSED ?rung sim?*",
            "*::test_cable SKIPPED ?rung sim?*",
            "*::test_nothing_of_a_board PASSED ?100%?",
            "morbak: rung sim, simulated board: 2 passed, 1 skipped",
            "morbak: 1 not run: a simulated board in this process has no cable to pull out",
        ]
    )
    cases = ElementTree.parse(bench.path / "junit.xml").getroot().iter("testcase")  # noqa: S314 - our own
    rungs = {
        case.get("name"): [each.get("value") for each in case.iter("property") if each.get("name") == "morbak_rung"]
        for case in cases
    }
    assert {"test_touch": ["sim"], "test_light": ["sim"], "test_cable": ["sim"], "test_nothing_of_a_board": []} == rungs


@pytest.mark.realtime
@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX")
def test_the_same_tests_run_at_a_port(bench: pytest.Pytester, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A board in another process passes the same tests on the rung of its port; a finger that a test forgets is lifted;
    whoever comes second is told who has the board."""
    found = run(bench, "--board", f"serial:{served.path}")
    found.assert_outcomes(passed=3, skipped=1)
    found.stdout.fnmatch_lines(
        [
            f"morbak: rung pty, simulated board (morbak-board simulator, *) at {served.path}: 2 passed, 1 skipped",
            "morbak: 1 not run: nobody can pull the cable out: *",
        ]
    )
    found.stdout.no_fnmatch_line("*rung sim*")
    held = BoardLock(os.path.realpath(served.path))
    monkeypatch.setattr(testing, "serial_jig", None)  # it is not so much as opened
    found = run(bench, "--board", f"serial:{served.path}")
    held.close()
    assert 4 == found.ret
    told = f"*{os.path.realpath(served.path)} is being tested by process {os.getpid()}: wait until that has ended*"
    (found.stdout if any("is being tested" in line for line in found.outlines) else found.stderr).fnmatch_lines([told])


@pytest.mark.realtime
@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX")
def test_a_board_that_goes_in_the_middle_has_failed(bench: pytest.Pytester, served: Served) -> None:
    """A board that was there and is no more is no absent one: the tests after that fail with the reason."""
    bench.makepyfile(
        f"""
        import os, signal

        def test_first(board):
            os.kill({served.process.pid}, signal.SIGTERM)

        def test_second(board):
            pass
        """
    )
    found = run(bench, "--board", f"serial:{served.path}")
    found.assert_outcomes(passed=1, errors=1)
    found.stdout.fnmatch_lines(["*the board has gone in the middle of the tests:*"])
    found.stdout.no_fnmatch_line("During handling*")


@pytest.mark.realtime
@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX")
@pytest.mark.parametrize(
    ("hands", "said"),
    [
        ("clumsy", "morbak: 1 not run: nobody can press cell 24: the jig of simulated board is clumsy"),
        ("absent", "morbak: 3 not run: the jig is not plugged in"),
    ],
)
def test_a_jig_moves_the_contacts(
    bench: pytest.Pytester, served: Served, jig_package: None, hands: str, said: str
) -> None:
    """With `--hands` the named jig of a package moves the contacts, of a test board too, and says what it cannot; one
    that is not there is skipped with the reason."""
    run(bench, "--board", f"serial:{served.path}", "--hands", hands).stdout.fnmatch_lines([said])


@pytest.mark.parametrize(
    ("board", "hands", "there"),
    [("gpio:reference", "clumsey", "absent, clumsy"), ("sim", "clumsy", "absent, clumsy")],
)
def test_hands_that_nobody_has_are_refused(
    bench: pytest.Pytester, jig_package: None, board: str, hands: str, there: str
) -> None:
    """A jig that is misspelt, and one for a board that needs none, are refused with those there are."""
    found = run(bench, "--board", board, "--hands", hands)
    assert 4 == found.ret
    found.stderr.fnmatch_lines(
        [f"ERROR: --hands {hands}: a real board has hands that are installed, which are: {there}"]
    )


def test_a_board_that_is_not_there_is_skipped_with_the_reason(
    bench: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No board: its tests are skipped, on no rung, with the reason, or fail where nothing may be missing."""
    found = run(bench, "--board", "serial:/nowhere/board")
    found.assert_outcomes(passed=1, skipped=3)
    found.stdout.fnmatch_lines(
        ["morbak: rung none: 3 skipped", "morbak: 3 not run: /nowhere/board: there is no such port; *"]
    )
    monkeypatch.setenv("MORBAK_REQUIRE_ALL", "1")
    found = run(bench, "--board", "serial:/nowhere/board")
    found.assert_outcomes(passed=1, errors=3)
    found.stdout.fnmatch_lines(["*there is no such port; plug the board in, or name its port (MORBAK_REQUIRE_ALL=1*"])
    found = run(bench, "-k", "cable")
    found.assert_outcomes(failed=1, deselected=3)
    found.stdout.fnmatch_lines(["*has no cable to pull out (MORBAK_REQUIRE_ALL=1 wants it)*"])
    found.stdout.no_fnmatch_line("During handling*")


@pytest.mark.parametrize(
    ("board", "said"),
    [
        ("nix", "--board nix is no board: write sim, serial:PORT (or serial:auto), or gpio:PROFILE"),
        ("serial:", "--board serial: is no board: write sim, *"),
        ("gpio:", "--board gpio: is no board: write sim, *"),
        ("gpio:sim", "--board gpio:sim is a simulated board, which has no pins: *"),
        ("gpio:refrence", "*board = 'refrence': no such profile ships; there are: *"),
        ("gpio:none.toml", "*none.toml*"),
    ],
)
def test_what_is_no_board_is_refused(bench: pytest.Pytester, board: str, said: str) -> None:
    """A board that is misspelt is refused in a sentence before any test runs."""
    found = run(bench, "--board", board)
    assert (4, False) == (found.ret, "test_touch" in found.stdout.str())
    found.stderr.fnmatch_lines([f"ERROR: {said}"])


def test_pins_that_are_not_there_are_skipped(bench: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without GPIO skips the tests of its pins with the reason, and claims no rung."""
    monkeypatch.setattr(testing, "pins_jig", absent)
    found = run(bench, "--board", "gpio:reference")
    found.assert_outcomes(passed=1, skipped=3)
    found.stdout.fnmatch_lines(["morbak: rung none: 3 skipped", "morbak: 3 not run: this computer has no GPIO chip*"])


def absent(*_: object) -> None:
    raise testing.PartError("this computer has no GPIO chip")


def test_the_readmes_test_runs(bench: pytest.Pytester) -> None:
    """What the README shows as a test is one that passes on the simulator."""
    shown = (ROOT / "README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    run(bench, bench.makepyfile(shown)).assert_outcomes(passed=1)


def test_the_suite_for_owners_is_shipped(pytester: pytest.Pytester) -> None:
    """`--pyargs hal.board_suite` runs every check for whole boards."""
    found = pytester.runpytest_inprocess(
        "-p", "hal.testing", "-p", "no:cacheprovider", "--pyargs", "hal.board_suite", "-v"
    )
    assert 0 == found.ret
    names = [check.__name__ for check in board_suite.JIGS]
    found.stdout.fnmatch_lines([f"*test_the_board?{name}? PASSED ?rung sim?*" for name in names])


def test_the_scenarios_run_on_any_board(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scenario files run by `--board` as tests do: on a simulated one all pass but those that pull at a cable or
    want another board, which say so."""
    monkeypatch.delenv("MORBAK_REQUIRE_ALL", raising=False)
    found = pytester.runpytest_subprocess(
        "-p", "hal.testing", "-p", "no:cacheprovider", "-v", ROOT / "tests/board_scenarios.py"
    )
    left_out = [each.name for each in scenarios() if each.pulls or not each.diodes]
    found.assert_outcomes(passed=len(scenarios()) - len(left_out), skipped=len(left_out))
    found.stdout.fnmatch_lines([f"*test_scenario?{name}? SKIPPED ?rung sim?*" for name in left_out])


def test_nobody_gets_the_plugin_who_has_not_asked_for_it(tmp_path: Path) -> None:
    """It is no entry point, and what ships imports without pytest; only the plugin and its suite want that."""
    without = "import sys; sys.modules['pytest'] = None\nimport {}"
    for module, imports in (("hal.conformance_jig, hal.real_jig, sim.jig, firmware.cli", True), ("hal.testing", False)):
        done = subprocess.run(
            [sys.executable, "-c", without.format(module)], capture_output=True, text=True, cwd=ROOT, check=False
        )
        assert imports == (done.returncode == 0), done.stderr
    assert "pytest11" not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
