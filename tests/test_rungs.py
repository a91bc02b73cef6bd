"""One suite, four rungs: the simulator, another process behind a pseudo terminal, an emulated Pico, a real ttyACM."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests import pico_session, rungs
from tests.rungs import PtyRung, Ran, SimRung
from tests.test_pico import bench
from tests.vm.machine import KIT, kernel
from tests.vm.test_gpio import wires

NOT_WINDOWS = pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX")
RUNGS = [
    "sim",
    pytest.param("pty", marks=[pytest.mark.realtime, NOT_WINDOWS]),
    pytest.param("pico", marks=pytest.mark.pico),
    pytest.param("ttyACM", marks=pytest.mark.vm),
]
# What each rung leaves out; anything else that does not run is a fault.
LEFT_OUT: dict[str, set[str]] = {
    "sim": set(),
    "pty": set(),
    "pico": set(rungs.named()) - pico_session.QUICK_CHECKS - {told.name for told in rungs.scenarios() if told.quick},
    "ttyACM": {"bounce"},
}
PTY_BOARDS = 3
VM = [KIT / "run", "--timeout", "500", *wires(), "--", sys.executable, KIT / "inside/scenarios.py"]


Told = tuple[list[Ran], float]


class Rungs:
    """Everything on each rung, run once, when first asked for; the virtual Pi runs beside the others."""

    def __init__(self, folder: Path, *, vm: bool) -> None:
        self._folder, self._ran = folder, dict[str, Told]()
        self._pi = subprocess.Popen(VM, stdout=subprocess.PIPE, cwd=KIT.parent.parent) if vm else None

    def on(self, rung: str) -> Told:
        """What came of it, and how many seconds it took."""
        if rung not in self._ran:
            self._ran[rung] = {"sim": self._sim, "pty": self._pty, "pico": self._pico, "ttyACM": self._vm}[rung]()
        return self._ran[rung]

    def close(self) -> None:
        """Leave nothing behind."""
        if self._pi is not None:
            self._pi.kill()
            self._pi.wait()
            assert self._pi.stdout is not None
            self._pi.stdout.close()

    def _sim(self) -> Told:
        begun_s = time.monotonic()
        return list(rungs.run(SimRung())), time.monotonic() - begun_s

    def _pty(self) -> Told:
        begun_s = time.monotonic()
        folders = iter([self._folder / str(number) for number in range(PTY_BOARDS)])

        def make() -> PtyRung:
            folder = next(folders)
            folder.mkdir()
            return PtyRung(folder)

        return rungs.side_by_side(make, PTY_BOARDS), time.monotonic() - begun_s

    def _pico(self) -> Told:
        session = pico_session.session(bench)
        return session.ran, session.s

    def _vm(self) -> Told:
        assert self._pi is not None
        out, _ = self._pi.communicate()
        told = json.loads(out)
        return [Ran(*each) for each in told["ran"]], told["s"]


@pytest.fixture(scope="module")
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rungs]:
    """Every rung that is asked for."""
    ours = [item for item in request.session.items if item.path == request.path]
    vm = kernel() is not None and any(item.get_closest_marker("vm") for item in ours)
    with closing(Rungs(tmp_path_factory.mktemp("rungs"), vm=vm)) as found:
        yield found


@pytest.mark.parametrize("name", rungs.named())
@pytest.mark.parametrize("rung", RUNGS)
def test_a_rung_does_what_the_scenario_says(ran: Rungs, rung: str, name: str) -> None:
    """The scenario comes out as its file says and its trace as it was played, the check holds; what does not run on
    this rung is known to be so.
    """
    (found,) = [each for each in ran.on(rung)[0] if each.name == name]
    assert ("not run" if name in LEFT_OUT[rung] else "passed") == found.how, found.said


@pytest.mark.parametrize("rung", RUNGS)
def test_a_rung_is_reported(ran: Rungs, rung: str, capsys: pytest.CaptureFixture[str]) -> None:
    """How many scenarios and checks ran, how many did not and why, and how long it took, is printed for each rung."""
    text = rungs.report(rung, *ran.on(rung))
    assert text.startswith(f"rung {rung}: ")
    with capsys.disabled():
        print(f"\n{text}")
