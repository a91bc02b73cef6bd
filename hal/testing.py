"""pytest for boards: the same tests on the simulator, at the end of a cable and on the pins of a Pi.

    pytest -p hal.testing --board sim | serial:PORT | serial:auto | gpio:PROFILE [--hands NAME]

Fixtures: `board` (hal.ports.Board), `fingers`, `lights`, `clock` (hal.bench) and `jig` (hal.jig) of a board that is
opened for each test. A test whose board is not there is skipped with the reason, and fails with MORBAK_REQUIRE_ALL=1;
so does one that wants what its rung cannot do. Each result names the rung it ran on. `hal.board_suite` is what every
board must pass: `pytest -p hal.testing --board serial:auto --pyargs hal.board_suite`.

Loaded with `-p hal.testing` only.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import pytest

from hal.bench import BenchClock, Fingers, Lights
from hal.board_lock import BoardInUse, BoardLock
from hal.drivers import SIMULATED, names, open_hands, serial_port
from hal.drivers.serial_port import Identity
from hal.errors import BoardError, PartError
from hal.jig import Jig, Unsupported
from hal.person import Person, at_the_terminal
from hal.ports import Board
from hal.profile import Profile, load, shipped
from hal.real_jig import pins_jig, serial_jig

REQUIRE_ALL = "MORBAK_REQUIRE_ALL"
# Properties of a result, also in the JUnit file: the rung that it ran on, and who the board is.
RUNG, WHO, NO_RUNG = "morbak_rung", "morbak_board", "none"
USAGE = 4
WANTED = "write sim, serial:PORT (or serial:auto), or gpio:PROFILE"
_SIM = "sim"


class Place:
    """Where the board of a run is; opens it for each test, for this run alone. Raises BoardError for a name of none.

    `hands`: the driver of a jig that moves its contacts.
    """

    def __init__(self, named: str, hands: str | None = None) -> None:
        self._lock: BoardLock | None = None
        self._person: Person | None = None
        self._was_there = False
        self._absent: PartError | None = None
        self._hands = None if hands is None else partial(open_hands, hands)
        if hands is not None and (named == _SIM or hands not in names("hands")):
            there = ", ".join(names("hands")) or "none, they come with packages (morbak.hands)"
            raise BoardError(f"--hands {hands}: a real board has hands that are installed, which are: {there}")
        kind, _, place = named.partition(":")
        if named == _SIM:
            self._open: Callable[[], Jig] = partial(_simulated, load(shipped(_SIM)))
        elif kind == "serial" and place:
            self._open = partial(self._at_a_cable, place)
        elif kind == "gpio" and place:
            self._open = partial(self._on_pins, _wired(place))
        else:
            raise BoardError(f"--board {named} is no board: {WANTED}")

    def open(self) -> Jig:
        """The board, open. Raises PartError where there is none, BoardInUse where another run has it.

        A board that was there and is no more has failed, which is a BoardError. An absent one is looked for once.
        """
        try:
            if self._absent is not None:
                raise self._absent
            jig = self._open()
        except PartError as fault:
            self._absent = fault
            if self._was_there:
                raise BoardError(f"the board has gone in the middle of the tests: {fault}") from fault
            raise
        self._was_there = True
        return jig

    def close(self) -> None:
        """Let others have it."""
        if self._lock is not None:
            self._lock.close()

    def _take(self, board: str) -> None:
        self._lock = self._lock or BoardLock(board)

    def _at_a_cable(self, where: str) -> Jig:
        if not serial_port.searched(where):
            self._take(os.path.realpath(next(iter(serial_port.candidates(where, Identity())))))
        try:
            jig = serial_jig(where, self._somebody(), self._hands)
        except PartError:
            if self._lock is None:  # it may be there, and another run's
                for port in serial_port.candidates(where, Identity()):
                    BoardLock(os.path.realpath(port)).close()
            raise
        try:
            self._take(os.path.realpath(jig.where))
        except BoardInUse:
            jig.close()
            raise
        return jig

    def _on_pins(self, profile: Profile) -> Jig:
        self._take("the board on the pins of this machine")
        return pins_jig(profile, self._somebody(), self._hands)

    def _somebody(self) -> Person | None:
        self._person = self._person or at_the_terminal()
        return self._person


def _simulated(profile: Profile) -> Jig:
    from sim.jig import SimJig

    return SimJig(profile)


def _wired(name: str) -> Profile:
    """The profile of a board of wires. Raises BoardError."""
    profile = load(Path(name) if name.endswith(".toml") else shipped(name))
    if profile.matrix.driver == SIMULATED:
        raise BoardError(f"--board gpio:{name} is a simulated board, which has no pins: {WANTED}")
    return profile


# -- pytest -----------------------------------------------------------------------------------------------------------

_PLACE = pytest.StashKey[Place]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--board`."""
    group = parser.getgroup("morbak")
    group.addoption("--board", default=_SIM, metavar="BOARD", help=f"the board under test: {WANTED[6:]} (default: sim)")
    group.addoption(
        "--hands",
        metavar="NAME",
        help="the jig that moves its contacts, an entry point of the group morbak.hands (default: the board by itself "
        "if it can, else whoever sits at the terminal)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse what is no board before anything is run."""
    try:
        config.stash[_PLACE] = Place(config.getoption("--board"), config.getoption("--hands"))
    except BoardError as fault:
        raise pytest.UsageError(str(fault)) from fault


def pytest_unconfigure(config: pytest.Config) -> None:
    """Let others have the board."""
    if _PLACE in config.stash:
        config.stash[_PLACE].close()


def pytest_report_header(config: pytest.Config) -> str:
    """The board that was asked for."""
    return f"morbak: --board {config.getoption('--board')}"


@pytest.fixture
def jig(request: pytest.FixtureRequest) -> Iterator[Jig]:
    """The board under test with whoever moves it, open for this test."""
    place, properties = request.config.stash[_PLACE], request.node.user_properties
    try:
        found = place.open()
    except BoardInUse as fault:
        pytest.exit(f"morbak: {fault}", USAGE)
    except PartError as fault:
        properties.append((RUNG, NO_RUNG))
        _lacking(str(fault))
    except BoardError as fault:
        properties.append((RUNG, NO_RUNG))
        raise pytest.fail.Exception(str(fault), pytrace=False) from None
    properties += [(RUNG, found.rung), (WHO, _who(found))]
    yield found
    found.close()


@pytest.fixture
def board(jig: Jig) -> Board:
    """The board under test, as the app opens it."""
    return jig.board


@pytest.fixture
def clock(jig: Jig) -> BenchClock:
    """The time of the board under test, and whoever scans it."""
    return BenchClock(jig)


@pytest.fixture
def fingers(jig: Jig, clock: BenchClock) -> Fingers:
    """Fingers on the board under test: a simulation's, a test board's own, or those of somebody who is asked."""
    return Fingers(jig, clock)


@pytest.fixture
def lights(jig: Jig, clock: BenchClock) -> Lights:
    """What the board under test shows, read back."""
    return Lights(jig, clock)


def _who(jig: Jig) -> str:
    link = jig.board.health().get("link")
    return jig.profile.board.name if link is None else link.text


def _lacking(reason: str) -> NoReturn:
    """Skip a test for what is not there, or fail where all must be."""
    if os.environ.get(REQUIRE_ALL) == "1":
        raise pytest.fail.Exception(f"{reason} ({REQUIRE_ALL}=1 wants it)", pytrace=False) from None
    raise pytest.skip.Exception(reason) from None


def _skipping() -> Generator[None, Any, Any]:
    """Skip a test that wants what its rung cannot do."""
    try:
        return (yield)
    except Unsupported as lack:
        _lacking(str(lack))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, Any, Any]:
    """Skip what the rung of this board cannot do; a board that is in use ends the run."""
    return (yield from _skipping())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, Any, Any]:
    """Skip what the rung of this board cannot do."""
    return (yield from _skipping())


# -- results ----------------------------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_report_teststatus(report: pytest.TestReport | pytest.CollectReport) -> Generator[None, Any, Any]:
    """Each result with its rung, where results are listed (`-v`)."""
    category, letter, word = yield
    rung = _property(report, RUNG)
    if rung and word:
        text, markup = word if isinstance(word, tuple) else (word, None)
        word = f"{text} [rung {rung}]" if markup is None else (f"{text} [rung {rung}]", markup)
    return category, letter, word


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How many results there are of each rung and board, and why tests did not run."""
    counts: Counter[tuple[str, str, str]] = Counter()
    reasons: Counter[str] = Counter()
    for outcome, reports in terminalreporter.stats.items():
        for report in reports:
            if outcome and (rung := _property(report, RUNG)):
                counts[rung, _property(report, WHO), outcome] += 1
                if outcome == "skipped":
                    reasons[str(report.longrepr[2]).removeprefix("Skipped: ")] += 1
    for rung, who in sorted({key[:2] for key in counts}):
        told = ", ".join(f"{count} {key[2]}" for key, count in counts.items() if key[:2] == (rung, who))
        terminalreporter.write_line(f"morbak: rung {rung}{f', {who}' if who else ''}: {told}")
    for reason, count in reasons.items():
        terminalreporter.write_line(f"morbak: {count} not run: {reason}", yellow=True)


def _property(report: Any, name: str) -> str:
    return str(dict(getattr(report, "user_properties", ())).get(name, ""))
