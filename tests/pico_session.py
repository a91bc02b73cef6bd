"""One start of the emulated Pico for all who want it: what somebody at the bench sees first, then scenarios and checks.

The emulated chip is 20 to 30 times slower than the real one, and starting it takes a second of its time.
"""

from __future__ import annotations

import asyncio
import functools
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from hal.drivers.serial_board import open_board
from hal.drivers.serial_port import Identity
from hal.jig import Jig, Rung, Unsupported
from sim.scenario import Scenario
from tests import rungs
from tests.jigs import CabledJig, Noise, NoisyPorts
from tests.pico_rig import PicoRig

SLOW = "the emulated chip is 20 to 30 times slower than the real one, so it runs the quick ones"
QUICK_CHECKS = frozenset({"at_rest_nothing_is_told", "two_cells_are_both_told", "a_whole_row_is_told"})


class Session(NamedTuple):
    """What one start has shown: `bench`, and the rung's scenarios and checks with how long these took."""

    bench: dict[str, Any]
    ran: list[rungs.Ran]
    s: float


class _UsbPort:
    """The host's end of the chip's USB port."""

    name, identity = "the emulated chip's port", Identity()

    def __init__(self, rig: PicoRig) -> None:
        self._rig = rig

    def read(self) -> bytes:
        return self._rig.heard()

    def write(self, data: bytes) -> int:
        self._rig.say(data)
        return len(data)

    def close(self) -> None:
        """It stays plugged in."""


class _UsbPorts:
    """Implements `Ports`: the one of the chip."""

    def __init__(self, rig: PicoRig) -> None:
        self._rig = rig

    def candidates(self, where: str, known: Identity) -> Iterable[str]:
        return [where]

    def Port(self, name: str) -> _UsbPort:  # noqa: N802 - a class
        return _UsbPort(self._rig)


class PicoJig(CabledJig):
    """The Pico's code on the emulated chip, in the chip's own time; implements `Jig`."""

    rung: Rung = "pico"

    def __init__(self, rig: PicoRig, loop: asyncio.AbstractEventLoop) -> None:
        self._rig, self._loop, self._down = rig, loop, set[int]()
        self._lit = bytes(147)
        self.noise = Noise(self.now_us)
        ports = NoisyPorts(self.noise, _UsbPorts(rig))
        self.board = open_board("chip", now_us=self.now_us, wait=lambda s: self.wait(int(s * 1e6)), ports=ports)

    def now_us(self) -> int:
        return self._rig.now_us

    def wait(self, us: int) -> None:
        end_us = self.now_us() + us
        self._loop.run_until_complete(self._rig.until(lambda: self._rig.now_us >= end_us, us // 1000 + 1_000))

    def press(self, cell: int) -> None:
        self._down.add(cell)
        self._rig.copper.press(*self._down)

    def release(self, cell: int) -> None:
        self._down.discard(cell)
        self._rig.copper.press(*self._down)

    def lit(self) -> bytes | None:
        """What is decoded from the data pin; the chain runs to and fro."""
        pixels = self._rig.pixels()
        if len(pixels) < 49:  # a frame is on its way
            return self._lit
        self._lit = bytes(value for cell in range(49) for value in pixels[self.board.profile.chain.index(cell)])
        return self._lit

    def unplug(self) -> None:
        raise Unsupported("the emulated chip's USB cannot be pulled out and put back")

    def plug(self, name: str | None = None) -> None:
        raise Unsupported("the emulated chip's USB cannot be pulled out and put back")


class PicoRung:
    """The chip for what is quick."""

    def __init__(self, rig: PicoRig, loop: asyncio.AbstractEventLoop) -> None:
        self._make, self._jig = lambda: PicoJig(rig, loop), list[PicoJig]()

    def jig(self, what: Scenario | str) -> Jig:
        """Raises Unsupported for what is not quick."""
        if not (what in QUICK_CHECKS if isinstance(what, str) else what.quick):
            raise Unsupported(SLOW)
        self._jig = self._jig or [self._make()]
        return self._jig[0]

    def close(self) -> None:
        """The chip is stopped by who started it."""


@functools.cache
def session(bench: Callable[[PicoRig], Any]) -> Session:
    """Start the chip, have `bench` look at it, then play what is quick."""
    loop = asyncio.new_event_loop()
    with tempfile.TemporaryDirectory() as folder:
        rig = PicoRig(Path(folder), "DIODES = False\n")
        loop.run_until_complete(rig.__aenter__())
        try:
            seen = loop.run_until_complete(bench(rig))
            begun_s = time.monotonic()
            rig.hand_over()
            ran = list(rungs.run(PicoRung(rig, loop)))
            return Session(seen, ran, time.monotonic() - begun_s)
        finally:
            loop.run_until_complete(rig.__aexit__())
            loop.close()
