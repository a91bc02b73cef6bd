"""A serial board in virtual time: ports that come and go, at one of them a simulated board or something else."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hal.drivers.serial_board import SerialBoard, open_board
from hal.drivers.serial_port import Identity
from hal.errors import PartError
from hal.ports import Edge
from sim.cable import SOUND, Cable, CableFaults
from sim.clock import VirtualClock
from sim.device import SimDevice
from tests.link_rig import SIM, BoardClock

TICK_US = 1_000
PICO = Identity(0x2E8A, 0x0005, "E6614")


class SimPort:
    """One end of a simulated cable; gone for ever once that was pulled."""

    def __init__(self, world: World, name: str) -> None:
        self.name, self.identity, self._world = name, world.identity, world
        self._plugs = world.plugs

    def _look(self) -> None:
        if self._plugs != self._world.plugs:
            raise OSError(5, "Input/output error")

    def read(self) -> bytes:
        self._look()
        return self._world.cable.up.receive(self._world.clock.now_us())

    def write(self, data: bytes) -> int:
        self._look()
        taken = data[: self._world.takes]
        self._world.cable.down.send(taken, self._world.clock.now_us())
        return len(taken)

    def close(self) -> None:
        self._world.closed += 1


class World:
    """Implements `Ports`: whoever sits at the port steps once a millisecond. `takes`: bytes a write takes at most."""

    def __init__(self, faults: CableFaults = SOUND, seed: int = 0) -> None:
        self.clock = VirtualClock(1_000_000)
        self.board_clock = BoardClock(self.clock)
        self.cable = Cable(faults, seed)
        self.device = SimDevice(SIM, self.board_clock, seed=seed)
        self.peer: Callable[[int, bytes], bytes] = self.device.step
        self.names, self.identity, self.plugs, self.takes, self.closed = ["/dev/ttyACM0"], PICO, 0, 4096, 0
        self.fault: str | None = None
        self.board: SerialBoard | None = None
        self.edges: list[Edge] = []
        self.known_us = 0

    def candidates(self, where: str, known: Identity) -> Iterable[str]:
        return self.names if known == self.identity or where == "auto" else [where]

    def Port(self, name: str) -> SimPort:  # noqa: N802 - a class
        if self.fault is not None or name not in self.names:
            raise PartError(self.fault or f"{name}: there is no such port; plug the board in, or name its port")
        return SimPort(self, name)

    def open(self, where: str = "/dev/ttyACM0") -> SerialBoard:
        self.board = open_board(where, now_us=self.clock.now_us, wait=lambda s: self.step(int(s * 1e6)), ports=self)
        return self.board

    def step(self, us: int) -> None:
        """Let time pass for whoever is at the port."""
        for _ in range(us // TICK_US):
            self.clock.advance_to(self.clock.now_us() + TICK_US)
            sent = self.peer(self.board_clock.now_us(), self.cable.down.receive(self.clock.now_us()))
            if self.names:
                self.cable.up.send(sent, self.clock.now_us())

    def run(self, us: int) -> None:
        """Let time pass, with scans at the board's own pace."""
        assert self.board is not None
        end_us = self.clock.now_us() + us
        while self.clock.now_us() < end_us:
            scan = self.board.scan(self.clock.now_us())
            assert all(self.known_us < edge.t_us for edge in scan.edges) and self.known_us <= scan.known_us
            self.known_us = scan.known_us
            self.edges += scan.edges
            self.step(scan.period_us)

    def unplug(self) -> None:
        self.plugs += 1
        self.names = []
        self.cable.unplug()

    def plug(self, name: str = "/dev/ttyACM0") -> None:
        self.names = [name]
        self.cable.plug()
