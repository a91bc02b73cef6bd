"""Jigs on real time: a board in another process behind a pseudo terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware.app import RealClock
from hal import link, real_jig
from hal.board import DEAF_US
from hal.errors import PartError
from hal.hands import Hands, Nobody
from hal.jig import Unsupported
from hal.person import Person
from hal.ports import Scan
from hal.profile import Profile, load, shipped
from hal.real_jig import pins_jig, rung_of, serial_jig
from sim.board import SimBoard
from tests.test_serve import Served
from tests.test_sim_jig import moves, scanned

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    board = Served(tmp_path / "board")
    yield board
    board.stop()


@pytest.mark.realtime
def test_a_board_behind_a_port_is_a_jig(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its contacts move by order, its faults too, and it stands on the rung of its port; one that is no test board is
    in the hands of a person, or of nobody."""
    jig = serial_jig(str(served.path))
    assert ("pty", f"serial:{served.path}", 49) == (jig.rung, jig.profile.file, jig.profile.cells)
    jig.press(24)
    first = scanned(jig, 100_000)
    jig.release(24)
    assert ([(24, True)], [(24, False)]) == (moves(first), moves(scanned(jig, 100_000)))
    jig.board.show(b"\xff\0\0" * 49, jig.now_us())
    scanned(jig, 200_000)
    light = jig.lit()
    assert light is not None and light[0] and not any(light[1::3])
    jig.close()
    jig.close()
    monkeypatch.setattr(real_jig.link, "TEST_BOARD", link.DIODES << 1)
    jig = serial_jig(str(served.path))
    with pytest.raises(Unsupported, match=r"nobody can press cell 5: simulated board at .* is no test board"):
        jig.press(5)
    jig.close()
    jig = serial_jig(str(served.path), Nobody("she has left"))
    with pytest.raises(Unsupported, match="nobody can make the fault stuck: she has left"):
        jig.fault(stuck=[1])
    jig.close()


def test_a_port_without_a_board_is_a_sentence(tmp_path: Path) -> None:
    """No port, no board: what is missing is said."""
    with pytest.raises(PartError, match="there is no such port"):
        serial_jig(str(tmp_path / "none"))


def test_no_port_claims_more_than_it_is(tmp_path: Path) -> None:
    """A pseudo terminal is one under whatever name; everything else with a port is a cable."""
    link_to = tmp_path / "board"
    link_to.symlink_to("/dev/pts/99")
    assert ["pty", "pty", "ttyACM"] == [rung_of(port) for port in (str(link_to), "/dev/pts/3", "/dev/ttyACM0")]


@pytest.mark.realtime
def test_a_board_on_pins_is_in_the_hands_of_a_person_or_of_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """The board of this machine is opened as the app opens it, hears once its deaf start is over, and claims its pins;
    its light cannot be read back, and its contacts are somebody's to move."""
    profile, opened = load(shipped("reference")), []

    class Hears(SimBoard):
        def scan(self, t_us: int) -> Scan:
            opened.append(t_us)
            return super().scan(t_us)

    monkeypatch.setattr(real_jig, "open_pins", lambda wanted: Hears(wanted, RealClock()))
    jig = pins_jig(profile)
    assert ("gpio", profile, None) == (jig.rung, jig.profile, jig.lit())
    assert opened[-1] - opened[0] >= DEAF_US
    with pytest.raises(Unsupported, match="nobody can press cell 5: MORBAK board is a real board, and nobody is at"):
        jig.press(5)
    jig.close()
    asked: list[int] = []
    monkeypatch.setattr(Person, "press", lambda _, cell: asked.append(cell))
    jig = pins_jig(profile, Person(-1))
    jig.press(5)
    jig.close()
    assert [5] == asked


@pytest.mark.realtime
@pytest.mark.parametrize("broken", ["found", "begin"])
def test_hands_that_fail_leave_nothing_open(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A jig that cannot be opened, and one that fails as it begins, leave the board closed, and itself too."""
    closed: list[str] = []

    class Clumsy(Nobody):
        def begin(self) -> None:
            raise PartError("it does not move")

        def close(self) -> None:
            closed.append("hands")

    def found(profile: Profile) -> Hands:
        if broken == "found":
            raise PartError("it is not there")
        return Clumsy("it is clumsy")

    board = SimBoard(load(shipped("reference")), RealClock())
    monkeypatch.setattr(board, "close", lambda: closed.append("board"))
    monkeypatch.setattr(real_jig, "open_pins", lambda _: board)
    with pytest.raises(PartError, match="it "):
        pins_jig(load(shipped("reference")), hands=found)
    assert (["board"] if broken == "found" else ["hands", "board"]) == closed
