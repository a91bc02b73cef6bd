"""Runs inside the virtual Pi: holds a driver of LEDs to the suite, and prints as JSON what each check says.

`leds_bench.py spidev`, `leds_bench.py leds0` (the kernel's gamma is undone) or `leds_bench.py leds0-through` (the
kernel passes values through, as those of a Pi 5 do after 6.12.55 with brightness=0).
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import vpi

from hal import conformance, conformance_leds
from hal.conformance import Broken
from hal.conformance_leds import LedBench, Shown
from hal.drivers import leds0_leds, spidev_leds
from hal.ports import Leds
from hal.profile import Profile, load, shipped
from sim.strip import Strip

# The scheduler ticks at 100 Hz in here, and two processes share one processor.
LATE_US = 60_000
QUIET_S = 0.012
SIM = load(shipped("sim"))
KERNEL = Path(__file__).parent.parent / "kernel/board_sim.c"


def profile(driver: str) -> Profile:
    """49 LEDs on this driver."""
    return SIM._replace(leds=msgspec.structs.replace(SIM.leds, driver=driver, line_idles="high"))


class SpiEyes:
    """Decodes what went over the SPI bus as a chain does."""

    def __init__(self) -> None:
        self.strip = Strip(range(49), order="RGB", spi_hz=2_400_000)
        self._number = last("spi")
        self._seen: list[Shown] = []
        self.strip.on_latch.append(lambda t_us, frame: self._seen.append(Shown(t_us, frame)))

    def shown(self) -> list[Shown]:
        """What was latched since the last look; a write returns once its bits have left."""
        for frame in fresh("spi", self._number):
            assert frame.speed_hz == 2_400_000, frame.speed_hz
            begun_us = frame.ns // 1_000 - frame.length * 8_000_000 // frame.speed_hz
            self.strip.transfer(frame.data, begun_us)
            self._number = frame.number
        self.strip.settle(self.strip.busy_until_us + 400)
        seen, self._seen = self._seen, []
        return seen


class KernelEyes:
    """Sees what the kernel's driver has sent: G, R, B of what it took for R, G, B, W, through its gamma or not."""

    def __init__(self, *, gamma: bool) -> None:
        table = re.search(r"led_gamma\[256\] = \{(.*?)\}", KERNEL.read_text(), re.DOTALL)
        assert table is not None
        kernels = bytes(int(level) for level in table[1].split(",") if level.strip())
        self._table = kernels if gamma else bytes(range(256))
        self._number = last("leds")

    def shown(self) -> list[Shown]:
        """What was sent since the last look, once nothing more comes."""
        count = -1
        while count != (count := vpi.get("leds/count")):
            time.sleep(QUIET_S)
        seen = []
        for frame in fresh("leds", self._number):
            self._number = frame.number
            data = frame.data.translate(self._table)
            wire = bytearray(3 * 49)
            wire[0::3], wire[1::3], wire[2::3] = data[1::4], data[0::4], data[2::4]
            seen.append(Shown(frame.ns // 1_000, bytes(wire)))
        return seen


def last(bus: str) -> int:
    """The number of the last frame on a bus; 0 before the first."""
    return max((frame.number for frame in vpi.frames(bus)), default=0)


def fresh(bus: str, number: int) -> list[vpi.Frame]:
    """The frames after this one; AssertionError if the log has lost some."""
    frames = [frame for frame in vpi.frames(bus) if frame.number > number]
    assert [frame.number for frame in frames] == list(range(number + 1, number + 1 + len(frames))), "frames were lost"
    return frames


def spidev_bench() -> LedBench:
    """The driver on /dev/spidev0.0."""
    eyes = SpiEyes()

    def crash(leds: Leds) -> None:
        assert isinstance(leds, spidev_leds.SpiLeds)
        leds._bus.close()

    return LedBench(
        49,
        lambda: spidev_leds.open_leds(profile("spidev")),
        eyes.shown,
        now_us,
        LATE_US,
        crash=crash,
        misread=lambda: eyes.strip.violations + eyes.strip.early_writes,
    )


def leds0_bench(*, through: bool) -> LedBench:
    """The driver on /dev/leds0; `through`: on a kernel that applies no gamma."""
    root = Path(tempfile.mkdtemp())
    (root / "dev").mkdir()
    (root / "dev/leds0").symlink_to("/dev/leds0")
    if through:
        tree(root, {"rpi,num-leds": 49, "rpi,brightness": 0}, "6.12.60+rpt-rpi-2712")
        brightness(0)
    eyes = KernelEyes(gamma=not through)

    def crash(leds: Leds) -> None:
        assert isinstance(leds, leds0_leds.KernelLeds)
        leds.release()

    return LedBench(
        49,
        lambda: leds0_leds.open_leds(profile("leds0"), root),
        eyes.shown,
        now_us,
        LATE_US,
        loss=0 if through else 2,
        crash=crash,
    )


def tree(root: Path, values: dict[str, int], release: str) -> None:
    """A device tree and a kernel's release, below a root."""
    node = root / leds0_leds.TREE / "ws2812_pio@4"
    node.mkdir(parents=True)
    for name, value in values.items():
        (node / name).write_bytes(value.to_bytes(4))
    (root / leds0_leds.KERNEL_FILE).parent.mkdir(parents=True)
    (root / leds0_leds.KERNEL_FILE).write_text(release)


def brightness(value: int) -> None:
    """Set the kernel driver's brightness, as its overlay does at boot."""
    fd = os.open("/dev/leds0", os.O_WRONLY)
    os.write(fd, bytes([value]))
    os.close(fd)
    time.sleep(0.1)


def now_us() -> int:
    """The clock of the frames."""
    return time.monotonic_ns() // 1_000


def main() -> None:
    """Run every check, each on its own."""
    logging.disable(logging.WARNING)  # a busy machine makes SPI look slow, which is said
    which = sys.argv[1]
    bench = spidev_bench() if which == "spidev" else leds0_bench(through=which == "leds0-through")
    told = {}
    for check in conformance_leds.leds(bench):
        try:
            check()
            told[conformance.name(check)] = "kept"
        except Broken as broken:
            told[conformance.name(check)] = str(broken)
    print(json.dumps({"told": told, "shorts": vpi.get("shorts")}))


if __name__ == "__main__":
    main()
