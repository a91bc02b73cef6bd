"""Runs inside the virtual Pi: a board whose LEDs are on SPI, put together as `morbak run` does: threads, signals, all.

`lit_board.py --fail` has a bug in a thread after half a second.
"""

from __future__ import annotations

import asyncio
import random
import sys

from leds_bench import profile

from firmware import config
from firmware.app import App, RealClock
from firmware.assembly import new_table
from firmware.engine import Engine
from firmware.lights import Lights
from firmware.serving import end_on_signals
from hal.board import MatrixBoard
from hal.drivers import spidev_leds

FAILS_US = 500_000


class NoContacts:
    """A matrix that nobody touches; `fails_us`: when it has a bug."""

    def __init__(self, fails_us: int | None) -> None:
        self._fails_us = fails_us

    def select(self, row: int | None) -> None:
        """Nothing to drive."""

    def read(self) -> int:
        """No finger; or the bug."""
        if self._fails_us is not None and RealClock().now_us() > self._fails_us:
            raise RuntimeError("a bug")
        return 0

    def close(self) -> None:
        """Nothing to let go of."""


async def main() -> None:
    """Play until a signal or the bug."""
    spi, clock = profile("spidev"), RealClock()
    contacts = NoContacts(clock.now_us() + FAILS_US if "--fail" in sys.argv else None)
    board = MatrixBoard(spi, contacts, spidev_leds.open_leds(spi))
    app = App(Engine(new_table(board, clock, config.Settings(), random.Random(1)), board, Lights()), clock)
    end_on_signals(app)
    await app.run()


if __name__ == "__main__":
    asyncio.run(main())
