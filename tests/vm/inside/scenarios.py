"""Runs inside the virtual Pi: every scenario and every check on a board at the other end of a real USB cable.

The board is `morbak board serve` on the Pi's GPIO and SPI; the test moves its contacts and looks at its SPI bus.
Prints as JSON what came of each, as `tests.rungs.Ran`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing

import vpi
import wired

from hal.drivers.serial_board import open_board
from hal.jig import Rung
from hal.profile import load, shipped
from sim.scenario import Scenario
from tests import rungs
from tests.jigs import CabledJig, Noise, NoisyPorts

HELD_PORT = "/dev/ttyACM0"
# A served board feels nothing for half a second after its start.
DEAF_US = 700_000


class UsbJig(CabledJig):
    """A Pi's board at the other end of a real ttyACM, in the hands of the virtual Pi's kernel."""

    rung: Rung = "ttyACM"

    def __init__(self, usb: vpi.UsbSerial, profile: str) -> None:
        self._usb, self._profile, wires = usb, profile, load(shipped(profile))
        self._down, self._held, self._chain = 0, -1, wired.Chain(wires)
        self.noise = Noise(self.now_us)
        vpi.put("diodes", wires.matrix.diodes)
        self._serve()
        self.board = open_board("auto", ports=NoisyPorts(self.noise))
        end_us = self.now_us() + DEAF_US
        while self.now_us() < end_us:
            self.wait(self.board.scan(self.now_us()).period_us)

    def press(self, cell: int) -> None:
        """Close a contact."""
        self._down |= 1 << cell
        vpi.put("pressed", self._down)

    def release(self, cell: int) -> None:
        """Open it."""
        self._down &= ~(1 << cell)
        vpi.put("pressed", self._down)

    def lit(self) -> bytes | None:
        """What the last frame on the SPI bus lights."""
        return self._chain.light()

    def fault(self, **keys: object) -> None:
        """As at every cable; a Pi is no test board, so it is stopped and started from outside."""
        if keys.pop("restart", False):
            self._end(signal.SIGKILL)
            self._serve()
        mute_ms = keys.pop("mute_ms", None)
        if isinstance(mute_ms, int):
            self._process.send_signal(signal.SIGSTOP)
            threading.Timer(mute_ms / 1000, self._process.send_signal, (signal.SIGCONT,)).start()
        super().fault(**keys)

    def spoil(self, name: str, value: object) -> None:
        """Break contacts."""
        if name in ("stuck", "dead") and isinstance(value, frozenset):
            vpi.put(name, sum(1 << cell for cell in value))
        else:
            super().spoil(name, value)

    def unplug(self) -> None:
        """Pull the cable out; somebody keeps the old port open, so its name stays taken."""
        self._held = os.open(HELD_PORT, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        self._usb.unplug()

    def plug(self, name: str | None = None) -> None:
        """Put it back; the old name is free where no other one is wanted."""
        if name is None:
            self._let_go()
        self._usb.plug()

    def close(self) -> None:
        """End the serving."""
        super().close()
        self._let_go()
        self._end(signal.SIGTERM)

    def _let_go(self) -> None:
        if self._held >= 0:
            os.close(self._held)
            self._held = -1

    def _serve(self) -> None:
        command = [sys.executable, "-m", "firmware.cli", "board", "serve", "--port", "/dev/ttyGS0", "--board"]
        self._process = subprocess.Popen([*command, self._profile], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        assert said.endswith(" is at /dev/ttyGS0; Ctrl-C ends\n"), said

    def _end(self, how: signal.Signals) -> None:
        assert self._process.stdout is not None
        self._process.send_signal(how)
        self._process.wait(10)
        self._process.stdout.close()


class UsbRung:
    """One board at a time, since there is one cable."""

    def __init__(self) -> None:
        self._usb = vpi.UsbSerial()
        self._usb.plug()
        vpi.until(lambda: os.path.exists(HELD_PORT))
        self._jig: UsbJig | None = None
        self._diodes = True

    def jig(self, what: Scenario | str) -> UsbJig:
        """The board with diodes or the one without."""
        diodes = rungs.has_diodes(what)
        if self._jig is not None and diodes != self._diodes:
            self.close()
        if self._jig is None:
            self._jig, self._diodes = UsbJig(self._usb, "reference" if diodes else "no-diodes"), diodes
        return self._jig

    def close(self) -> None:
        """End what is being served."""
        if self._jig is not None:
            self._jig.close()
            self._jig = None


def main() -> None:
    """Run all, or what is named."""
    begun_s = time.monotonic()
    with closing(UsbRung()) as rung:
        ran = list(rungs.run(rung, sys.argv[1:]))
    print(json.dumps({"ran": ran, "s": time.monotonic() - begun_s}))


if __name__ == "__main__":
    main()
