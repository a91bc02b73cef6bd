"""`morbak board serve` with a simulated board whose contacts and chain another process holds, by shared memory.

python -m tests.board_process SHARED PROFILE PORT
"""

from __future__ import annotations

import argparse
import mmap
import sys
import time
from dataclasses import replace

from firmware import cli
from firmware.app import RealClock
from firmware.commands_serve import add_serve
from hal.profile import Profile
from sim.device import SimDevice
from tests.jigs import SHARED


class Held(SimDevice):
    """A simulated board with somebody's hands and eyes on it."""

    def __init__(self, profile: Profile, shared: mmap.mmap) -> None:
        super().__init__(profile, RealClock(), unique="held", pause=lambda us: time.sleep(us / 1e6))
        self._shared, self._down = shared, 0

    def step(self, t_us: int, data: bytes) -> bytes:
        """One scan, of the contacts as they are held now; then what the chain shows is there to see."""
        pressed, *broken, bounce_us, _ = SHARED.unpack_from(self._shared)
        for cell in range(49):
            if (pressed ^ self._down) >> cell & 1:
                contacts = self.board.contacts
                (contacts.press if pressed >> cell & 1 else contacts.release)(cell, t_us)
        self._down = pressed
        stuck, dead = map(_cells, broken)
        faults = replace(self._faults, stuck=stuck, dead=dead, bounce_us=bounce_us)
        if faults != self._faults:
            self._faults = faults
            self.board.change(faults)
        out = super().step(t_us, data)
        self._shared[32:] = self.board.wire()
        return out


def _cells(mask: int) -> frozenset[int]:
    return frozenset(cell for cell in range(49) if mask >> cell & 1)


def main() -> int:
    """Serve it as the command does."""
    shared, profile, port = sys.argv[1:]
    with open(shared, "r+b") as file:
        memory = mmap.mmap(file.fileno(), SHARED.size)
    parser = argparse.ArgumentParser()
    add_serve(parser, lambda found, _: Held(found, memory), cli._worn)
    parsed = parser.parse_args(["serve", "--board", profile, "--port", port])
    status: int = parsed.command(parsed)
    return status


if __name__ == "__main__":
    sys.exit(main())
