"""Runs inside the virtual Pi: a process that lights the chain on SPI ends in every way, and the next one begins.

Prints as JSON, for each way, what the chain showed last when the process was gone, and first when the next one opened
it: "dark" or "lit".
"""

from __future__ import annotations

import json
import logging
import signal
import subprocess
import sys
import time
from pathlib import Path

import vpi
from leds_bench import SpiEyes, profile

from hal.drivers import spidev_leds

PROGRAM = Path(__file__).with_name("lit_board.py")


def ended(*arguments: str, by: signal.Signals | None) -> dict[str, object]:
    """Run the program until its board is lit, end it, and open the chain again."""
    eyes = SpiEyes()
    process = subprocess.Popen([sys.executable, PROGRAM, *arguments], stderr=subprocess.DEVNULL)
    vpi.until(lambda: any(any(shown.frame) for shown in eyes.shown()), 20)
    if by is not None:
        process.send_signal(by)
    status = process.wait(20)
    time.sleep(0.05)
    left = (vpi.BOARD / "spi/last").read_bytes()
    eyes.strip.transfer(left, eyes.strip.busy_until_us)
    lit = any(eyes.shown()[-1].frame)
    spidev_leds.open_leds(profile("spidev")).close()
    first = eyes.shown()[0].frame
    return {"status": status, "left": "lit" if lit else "dark", "next": "lit" if any(first) else "dark"}


def main() -> None:
    """End in every way."""
    logging.disable(logging.WARNING)  # a busy machine makes SPI look slow, which is said
    told = {by.name: ended(by=by) for by in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)}
    print(json.dumps(told | {"bug": ended("--fail", by=None)}))


if __name__ == "__main__":
    main()
