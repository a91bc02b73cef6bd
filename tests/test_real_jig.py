"""Jigs on real time: a board in another process behind a pseudo terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hal import link, real_jig
from hal.errors import PartError
from hal.hands import Nobody
from hal.jig import Unsupported
from hal.real_jig import rung_of, serial_jig
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
