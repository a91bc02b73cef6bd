"""Runs inside the virtual Pi: somebody is led over the reference board by `morbak map` or `morbak selftest`.

The board's own drivers select rows on the chip and write to the bus; the person's fingers close contacts on the wires,
and what he sees is the last frame that left the bus, decoded as LEDs do. The contact of g1 is dead. For `map` the LEDs
run row by row, whatever the profile says; for `selftest` they run as it says, and the contact of d4 is stuck. Prints as
JSON: the exit `status`, what was `found`, `shorts`, and the lines that are still `driven`.
"""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout

import vpi
import wired

from firmware import commands_walk
from firmware.cli import main as morbak
from firmware.station import RealStation
from hal.guide import Ask
from sim.strip import Strip
from sim.tester import Tester

MAPS = sys.argv[1] == "map"
SEEN_AFTER_US = 1_000
G1, D4 = 1 << 6, 1 << 24


class Hand:
    """Fingers on the wires."""

    def __init__(self) -> None:
        self._held: set[int] = set()

    def press(self, cell: int, _: int) -> None:
        """Close a contact."""
        self._move({*self._held, cell})

    def release(self, cell: int, _: int) -> None:
        """Open it."""
        self._move(self._held - {cell})

    def _move(self, held: set[int]) -> None:
        self._held = held
        vpi.press(*(divmod(cell, 7) for cell in held))


def seen() -> bytes:
    """The light of the cells, by what left the bus last."""
    leds = wired.REFERENCE.leds
    strip = Strip(tuple(range(49)) if MAPS else wired.REFERENCE.chain, order=leds.colour_order, spi_hz=leds.spi_hz)
    strip.transfer(vpi.frames("spi")[-1].data, 0)
    strip.settle(strip.busy_until_us + SEEN_AFTER_US)
    return strip.latched.frame


class Sitting(RealStation):
    """The real board of this machine, with a simulated person at it."""

    def __init__(self) -> None:
        super().__init__()
        self._person = Tester(Hand(), seen, 7, hurry=10)

    def typed(self, ask: Ask) -> str | None:
        """What the person types, who also moves now."""
        return self._person.step(self.now_us(), ask)


def main() -> None:
    """Lead the person over the board."""
    vpi.put("dead", G1)
    vpi.put("stuck", 0 if MAPS else D4)
    commands_walk.RealStation = Sitting  # type: ignore[misc]
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        status = morbak([sys.argv[1], "--board", "reference", "--json"])
    print(
        json.dumps(
            {
                "status": status,
                "found": json.loads(out.getvalue() or "null"),
                "shorts": vpi.get("shorts"),
                "driven": vpi.get("lines_driven"),
            }
        )
    )


if __name__ == "__main__":
    main()
