"""A faulty cable between two real ports: games over it, and the command that offers it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from random import Random
from threading import Event, Thread

import pytest

from firmware.app import RealClock
from hal.drivers.device_port import DevicePort
from hal.drivers.serial_board import open_board
from hal.errors import ProfileError
from sim.cable import Cable, CableFaults, parse
from sim.device import SimDevice
from sim.worn_cable import WornCable
from tests.cable_players import Players
from tests.link_rig import SIM

MORBAK = [sys.executable, "-m", "firmware.cli"]
WORN = CableFaults(
    byte_error_rate=0.001, loss_rate=0.001, duplicate_rate=0.001, reorder_rate=0.001, split_rate=0.1, stall_rate=0.0005
)
WAIT_S = 30
now_us = RealClock().now_us
posix = pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX")


class Loop(Thread):
    """Does something again and again, and what it is told in between; what it raised is raised by `stop`."""

    def __init__(self, step: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self._step, self._told, self._end = step, deque[Callable[[], object]](), Event()
        self._fault: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            while not self._end.is_set():
                while self._told:
                    self._told.popleft()()
                self._step()
        except BaseException as fault:  # noqa: BLE001 - the test's own thread raises it
            self._fault = fault

    def tell(self, what: Callable[[], object]) -> None:
        self._told.append(what)

    def stop(self) -> None:
        self._end.set()
        self.join(WAIT_S)
        if self._fault is not None:
            raise self._fault


class PortTable(Players):
    """People at a simulated board behind a pseudo terminal, a worn cable, and another pseudo terminal; in real time."""

    lost_clock_us = 1_500_000 + 2_000_000  # with 2 s for a busy machine

    def __init__(self, folder: Path, seed: int) -> None:
        self.device = SimDevice(SIM, RealClock(), seed=seed)
        self._far = DevicePort(str(folder / f"board{seed}"))
        self._board = Loop(self._scan)
        self.worn = WornCable(str(folder / f"board{seed}"), str(folder / f"worn{seed}"), WORN, seed)
        self._cable = Loop(lambda: time.sleep(self.worn.step(now_us()) / 1e6))
        self.sit(open_board(str(folder / f"worn{seed}")), seed)

    def _scan(self) -> None:
        data, t_us = self._far.read(), now_us()
        self._far.write(self.device.step(t_us, data))
        self._far.wait((t_us + self.device.period_us - now_us()) / 1e6)

    def close(self) -> None:
        self.board.close()
        self._cable.stop()
        self._board.stop()
        self.worn.close()
        self._far.close()

    def now_us(self) -> int:
        return now_us()

    def pass_time(self, us: int) -> None:
        time.sleep(us / 1e6)

    def press(self, cell: int) -> None:
        self._move(cell, True)

    def release(self, cell: int) -> None:
        self._move(cell, False)

    def _move(self, cell: int, down: bool) -> None:
        """Returns once the board has seen it: a busy computer's threads may stand still for longer than a finger."""
        contacts, end_us = self.device.board.contacts, now_us() + WAIT_S * 1_000_000
        self._board.tell(lambda: (contacts.press if down else contacts.release)(cell, now_us()))
        while bool(self.device._far.device._down >> cell & 1) != down:
            assert now_us() < end_us
            self.play_for(1_000)

    def pull_out(self) -> None:
        self._cable.tell(self.worn.cable.unplug)

    def put_back(self) -> None:
        self._cable.tell(self.worn.cable.plug)

    def restart(self) -> None:
        self._board.tell(self.device.restart)


@posix
@pytest.mark.long
@pytest.mark.realtime
def test_games_over_a_real_port_have_the_moves_that_were_made(
    tmp_path: Path, seed: int, prove: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Between two real ports bytes are spoilt and writes lost, doubled, swapped, stalled and cut, and the cable is
    pulled out again and again: each action counts once and as it was meant, and the board comes back."""
    games, pulls, most = (20, 50, 150) if prove else (1, 1, 5)
    plies, harmed, replugs_us = 0, 0, list[int]()
    for number in range(games):
        table = PortTable(tmp_path, seed + number)
        try:
            plies += table.play((number + 1) * pulls // games - number * pulls // games, most)
        finally:
            table.close()
        replugs_us += table.replugs_us
        harmed += table.worn.cable.up.harmed + table.worn.cable.down.harmed
    with capsys.disabled():
        print(
            f"\n{games} games, {plies} plies over a worn cable between real ports, harmed {harmed} times. "
            f"{len(replugs_us)} replugs: back in {max(replugs_us, default=0) / 1e6:.2f} s at worst"
        )


@posix
@pytest.mark.realtime
def test_the_command_puts_a_worn_cable_before_a_board(tmp_path: Path) -> None:
    """`morbak board cable` carries a board to another port, from which it is pulled by chance and found again; when the
    board is gone it says so."""
    board, worn = str(tmp_path / "board"), str(tmp_path / "worn")
    named = f"serial:{board}"  # as elsewhere, or the port alone
    faults = ["byte_error_rate=0.001", "unplug_hz=2", "unplug_us=500000"]
    serve = [*MORBAK, "board", "serve", "--port", board]
    carry = [*MORBAK, "board", "cable", named, "--port", worn, *(f"--fault={fault}" for fault in faults)]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as far:
        assert far.stdout is not None and far.stdout.readline()
        with subprocess.Popen(carry, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as cable:
            assert cable.stdout is not None and cable.stderr is not None
            assert f"the board at {named} is at {worn} too, by a worn cable; Ctrl-C ends\n" == cable.stdout.readline()
            found = open_board(worn)
            end_us = now_us() + WAIT_S * 1_000_000
            while found._host.sessions < 2:
                assert now_us() < end_us, found.health()
                time.sleep(found.scan(now_us()).period_us / 1e6)
            found.close()
            far.kill()
            assert (2, True) == (cable.wait(WAIT_S), "the board is gone" in cable.stderr.read())


@pytest.mark.parametrize(
    ("pair", "wanted"),
    [
        ("byte_eror_rate=1", "no such fault; the nearest is byte_error_rate"),
        ("loss_rate=2", "from 0 to 1"),
        ("stall_us=x", "write a whole number from 2 to"),
        ("stall_us=1", "it must be from 2 to"),
        ("unplug_us=-1", "it must be from 0 to"),
        ("loss_rate=nan", "from 0 to 1"),
    ],
)
def test_what_no_cable_does_is_refused(pair: str, wanted: str) -> None:
    """A fault that there is not, and a value that it cannot have, are named with what can be written."""
    with pytest.raises(ProfileError, match=wanted):
        parse([pair])


def test_somebody_pulls_at_the_cable_by_chance() -> None:
    """With one pull a second, each up to half a second, a minute has some 50, each over within its time, and the same
    seed has the same ones."""
    faults, moves = CableFaults(unplug_hz=1, unplug_us=500_000), list[list[int]]()
    for _ in range(2):
        cable, seen = Cable(faults, 3), list[int]()
        for t_us in range(0, 60_000_000, 1_000):
            before = cable.plugged
            cable.pass_time(t_us)
            if cable.plugged != before:
                seen.append(t_us)
        moves.append(seen)
    out_us = [back - out for out, back in zip(moves[0][::2], moves[0][1::2], strict=False)]
    assert moves[0] == moves[1] and 30 <= len(out_us) <= 70
    assert max(out_us) <= 501_000


def test_spoilt_bytes_are_as_many_as_were_asked_for() -> None:
    """Of 200,000 bytes one in a thousand is wrong, and none is lost."""
    cable, sent = Cable(CableFaults(byte_error_rate=0.001), 1), Random(1).randbytes(200_000)
    for at in range(0, len(sent), 100):
        cable.up.send(sent[at : at + 100], at)
    came = cable.up.receive(1_000_000)
    wrong = sum(one != other for one, other in zip(sent, came, strict=True))
    assert wrong == cable.up.harmed and 150 <= wrong <= 250
