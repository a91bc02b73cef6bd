"""Jigs in this process and behind a pseudo terminal: boards under test, with their contacts and light at hand."""

from __future__ import annotations

import mmap
import os
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any

from hal import link
from hal.drivers import serial_port
from hal.drivers.serial_board import SerialBoard, open_board
from hal.drivers.serial_cable import Open
from hal.drivers.serial_port import Identity
from hal.jig import Rung, Unsupported
from hal.profile import Profile, load, shipped
from sim.faults import HEALTHY
from tests.serial_rig import World

WAIT_S = 30
SIM = load(shipped("sim"))


def without_diodes(profile: Profile) -> Profile:
    """The same board on a matrix that has none."""
    import msgspec

    return profile._replace(matrix=msgspec.structs.replace(profile.matrix, diodes=False))


class Noise:
    """Whether every byte at a port is replaced now, until when; for `NoisyPorts`."""

    def __init__(self, now_us: Callable[[], int], seed: int = 0) -> None:
        self.until_us, self._now_us, self._random = 0, now_us, Random(seed)

    def spoil(self, data: bytes) -> bytes:
        return self._random.randbytes(len(data)) if self._now_us() < self.until_us else data


class _NoisyPort:
    """A port of which every byte is replaced while there is noise."""

    def __init__(self, port: Open, noise: Noise) -> None:
        self.name, self.identity, self._port, self._noise = port.name, port.identity, port, noise

    def read(self) -> bytes:
        return self._noise.spoil(self._port.read())

    def write(self, data: bytes) -> int:
        return self._port.write(self._noise.spoil(data))

    def close(self) -> None:
        self._port.close()


class NoisyPorts:
    """Implements `Ports`: those of `ports`, with noise at their end of the cable."""

    def __init__(self, noise: Noise, ports: Any = serial_port) -> None:
        self._noise, self._ports = noise, ports

    def candidates(self, where: str, known: Identity) -> Iterable[str]:
        found: Iterable[str] = self._ports.candidates(where, known)
        return found

    def Port(self, name: str) -> Open:  # noqa: N802 - a class
        return _NoisyPort(self._ports.Port(name), self._noise)


class CabledJig:
    """A board at the end of a cable, by `link`: what all of them have. A rung moves contacts, sees light and pulls."""

    rung: Rung
    exact = True
    board: SerialBoard
    noise: Noise

    def now_us(self) -> int:
        return time.monotonic_ns() // 1000

    def wait(self, us: int) -> None:
        time.sleep(us / 1e6)

    @property
    def profile(self) -> Profile:
        return self.board.profile

    def fault(self, **keys: object) -> None:
        for name, value in keys.items():
            if name == "noise_ms":
                assert isinstance(value, int)
                self.noise.until_us = self.now_us() + 1000 * value
            elif name == "restart":
                self.board._host.test(link.RESTART, 0)
            elif name == "mute_ms":
                assert isinstance(value, int)
                self.board._host.test(link.MUTE, value)
            else:
                self.spoil(name, value)

    def spoil(self, name: str, value: object) -> None:
        """A fault of the board itself. Raises Unsupported."""
        raise Unsupported(f"nobody can make the fault {name} on the rung {self.rung}")

    def close(self) -> None:
        self.board.close()


class CabledSimJig(CabledJig):
    """A simulated board at the end of a simulated cable, all in this process and in virtual time."""

    rung: Rung = "sim"

    def __init__(self, seed: int = 0) -> None:
        self._world = World(seed=seed)
        self.board = self._world.open()

    def now_us(self) -> int:
        return self._world.clock.now_us()

    def wait(self, us: int) -> None:
        self._world.step(us)

    def press(self, cell: int) -> None:
        self._world.device.board.contacts.press(cell, self._world.board_clock.now_us())

    def release(self, cell: int) -> None:
        self._world.device.board.contacts.release(cell, self._world.board_clock.now_us())

    def lit(self) -> bytes | None:
        strip = self._world.device.board.strip
        strip.settle(self._world.board_clock.now_us())
        return bytes(strip.latched.frame)

    def fault(self, **keys: object) -> None:
        noise_ms = keys.pop("noise_ms", None)
        if isinstance(noise_ms, int):
            self._world.cable.noise(self.now_us(), 1000 * noise_ms)
        super().fault(**keys)

    def unplug(self) -> None:
        self._world.unplug()

    def plug(self, name: str | None = None) -> None:
        self._world.plug("/dev/ttyACM1" if name else "/dev/ttyACM0")


# What the process that is the board shares: contacts that are pressed, stuck and dead, how long they bounce, and what
# its chain shows.
SHARED = struct.Struct("<QQQQ147s")


class PtyJig(CabledJig):
    """`morbak board serve` in another process behind a pseudo terminal; to unplug it is to end that process.

    Its contacts are moved, and its chain is looked at, in memory that both processes share: not over the cable.
    """

    rung: Rung = "pty"

    def __init__(self, folder: Path, profile: str = "sim") -> None:
        self._folder, self._profile = folder, profile
        self._names = iter(range(1_000))
        shared = folder / "shared"
        shared.write_bytes(SHARED.pack(0, 0, 0, HEALTHY.bounce_us, bytes(147)))
        with shared.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), SHARED.size)
        self._where, self._process = folder / "board", None
        self.noise = Noise(self.now_us)
        self.plug("first")
        self.board = open_board(str(self._where), ports=NoisyPorts(self.noise))

    def press(self, cell: int) -> None:
        self._put(0, self._get(0) | 1 << cell)

    def release(self, cell: int) -> None:
        self._put(0, self._get(0) & ~(1 << cell))

    def lit(self) -> bytes | None:
        return bytes(self._shared[32:])

    def spoil(self, name: str, value: object) -> None:
        if isinstance(value, frozenset) and name in ("stuck", "dead"):
            self._put(("stuck", "dead").index(name) + 1, sum(1 << cell for cell in value))
        elif isinstance(value, int) and name == "bounce_us":
            self._put(3, value)
        else:
            super().spoil(name, value)

    def unplug(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        self._process.kill()
        self._process.wait(WAIT_S)
        self._process.stdout.close()
        self._process = None
        self._where.unlink()
        self._port.unlink(missing_ok=True)

    def plug(self, name: str | None = None) -> None:
        """A by-id name is what the host knows; behind it the port has a name of its own, and another `name` is one."""
        if name is not None:
            self._port = self._folder / f"port{next(self._names)}"
        command = [sys.executable, "-m", "tests.board_process", str(self._folder / "shared"), self._profile]
        self._process = subprocess.Popen([*command, str(self._port)], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        assert said.endswith(f" is at {self._port}; Ctrl-C ends\n"), said
        self._where.symlink_to(self._port)

    def close(self) -> None:
        super().close()
        if self._process is not None:
            self.unplug()
        self._shared.close()

    def _get(self, at: int) -> int:
        return int(struct.unpack_from("<Q", self._shared, 8 * at)[0])

    def _put(self, at: int, mask: int) -> None:
        struct.pack_into("<Q", self._shared, 8 * at, mask)


def environment() -> dict[str, str]:
    """For processes that import what this one does."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
