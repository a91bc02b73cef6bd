"""One suite on every rung: all scenarios and all checks of a board, one after the other on jigs that they share."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

from firmware.trace_tape import Recorded
from hal import conformance
from hal.conformance_jig import JIGS
from hal.jig import Jig, Unsupported
from sim.jig import SimJig
from sim.scenario import Scenario, parse
from sim.scenario_player import play
from tests.jigs import SIM, CabledSimJig, PtyJig, without_diodes
from tests.tape import Held, replayed

# A machine that is this late makes no touch of 60 ms as it should; a scenario that fails then is played again.
LATE_US, MOST_AGAIN = 40_000, 3
FOLDER = Path(__file__).parent / "scenarios"


class Ran(NamedTuple):
    """What came of one scenario or check: `how` it went, and a sentence where it did not go well.

    `again`: how often it was played again because the machine was late.
    """

    name: str
    how: str  # "passed", "failed" or "not run"
    said: str
    s: float
    again: int = 0


class Rung(Protocol):
    """Where boards stand, and how to get one of them."""

    def jig(self, what: Scenario | str) -> Jig:
        """The board for a scenario, or for a check by its name. Raises Unsupported for what this rung leaves out."""

    def close(self) -> None:
        """Leave nothing open."""


class SimRung:
    """Simulated boards in this process; a scenario that pulls its cable gets one that is simulated too."""

    def jig(self, what: Scenario | str) -> Jig:
        """A new one each time; they cost nothing."""
        if isinstance(what, Scenario) and what.pulls:
            return CabledSimJig()
        return SimJig(SIM if has_diodes(what) else without_diodes(SIM))

    def close(self) -> None:
        """Nothing is open."""


class PtyRung:
    """`morbak board serve` in another process behind a pseudo terminal; a second one for a board without diodes."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._jigs = folder, dict[bool, PtyJig]()

    def jig(self, what: Scenario | str) -> Jig:
        """The one process for all."""
        diodes = has_diodes(what)
        if diodes not in self._jigs:
            folder = self._folder / str(diodes)
            folder.mkdir()
            self._jigs[diodes] = PtyJig(folder, "sim" if diodes else str(_profile_without_diodes(folder)))
        return self._jigs[diodes]

    def close(self) -> None:
        """End the processes."""
        for jig in self._jigs.values():
            jig.close()


def has_diodes(what: Scenario | str) -> bool:
    """Whether it is for a board with diodes; checks are."""
    return isinstance(what, str) or what.diodes


def _profile_without_diodes(folder: Path) -> Path:
    text = Path(SIM.file).read_text(encoding="utf-8")
    made = folder / "no-diodes.toml"
    made.write_text(text.replace("diodes = true ", "diodes = false "), encoding="utf-8")
    return made


def scenarios() -> list[Scenario]:
    """Those of the tree."""
    return [parse(file.read_text(encoding="utf-8"), str(file)) for file in sorted(FOLDER.glob("*.toml"))]


def named() -> list[str]:
    """What runs on a rung: every scenario and every check, by name."""
    return [scenario.name for scenario in scenarios()] + [conformance.name(check) for check in JIGS]


def run(rung: Rung, names: Collection[str] = ()) -> Iterator[Ran]:
    """Everything that this rung runs, or what is named of it, and what it does not run."""
    for scenario in sorted(scenarios(), key=lambda scenario: not scenario.diodes):  # other boards come last
        if not names or scenario.name in names:
            yield played(scenario.name, partial(rung.jig, scenario), partial(play_twice, scenario))
    for check in JIGS:
        if not names or conformance.name(check) in names:
            yield played(conformance.name(check), partial(rung.jig, conformance.name(check)), check)


def side_by_side(make: Callable[[], Rung], workers: int) -> list[Ran]:
    """The same on so many boards of a rung at once, for one whose time is mostly spent waiting."""
    names = named()

    def work(number: int) -> list[Ran]:
        with closing(make()) as rung:
            return list(run(rung, names[number::workers]))

    with ThreadPoolExecutor(workers) as pool:
        return [each for found in pool.map(work, range(workers)) for each in found]


def play_twice(scenario: Scenario, jig: Jig) -> None:
    """On its board, and again without one from its trace: the same actions and frames. Raises Failed and Difference."""
    tape = Held()
    play(scenario, jig, partial(Recorded, tape=tape, software="0", driver=jig.rung))
    replayed(tape.lines())


def played(name: str, jig: Callable[[], Jig], do: Callable[[Jig], None]) -> Ran:
    """One of them. Where the machine stood still others than the scenario's touches were made: that does not count."""
    begun_s = time.monotonic()
    how, said, again = "failed", "", 0
    while True:
        try:
            do(jig())
            how, said = "passed", ""
        except Unsupported as why:
            how, said = "not run", str(why)
        except Exception as fault:  # noqa: BLE001 - told, and the rest runs
            said = f"{type(fault).__name__}: {fault}"
            if getattr(fault, "late_us", 0) > LATE_US:
                said += f" (the machine was late by {fault.late_us // 1000} ms)"  # type: ignore[attr-defined]
                if again < MOST_AGAIN:
                    again += 1
                    continue
        break
    return Ran(name, how, said, time.monotonic() - begun_s, again)


def report(rung: str, ran: list[Ran], s: float) -> str:
    """How many ran, how many did not and why, and how long it took."""
    left_out: dict[str, list[str]] = {}
    for each in ran:
        if each.how == "not run":
            left_out.setdefault(each.said, []).append(each.name)
    done = [each for each in ran if each.how != "not run"]
    checks = {conformance.name(check) for check in JIGS}
    scenarios_ran = [each.name for each in done if each.name not in checks]
    text = f"rung {rung}: {len(scenarios_ran)} scenarios and {len(done) - len(scenarios_ran)} checks ran in {s:.1f} s"
    if len(done) < len(ran) / 2:
        text += f" ({', '.join(each.name for each in done)})"
    if anew := [f"{each.name} {each.again}" for each in done if each.again]:
        text += f"\n  played again because the machine was late: {', '.join(anew)}"
    for why, names in left_out.items():
        text += f"\n  {len(names)} not run ({', '.join(names)}): {why}"
    return text
