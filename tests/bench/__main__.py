"""Every figure of the board with its target: `make bench`, or `python -m tests.bench`.

CPU time, the median of several runs; what is measured in a process of its own is read from /proc. Figures are no
checks: the exit status is 0, and a target that is missed is marked.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from statistics import median
from typing import NamedTuple

from firmware.lights import Lights
from hal.board import MatrixBoard
from hal.profile import load, shipped
from hal.ws2812 import Ws2812Leds
from sim.soak import soak
from tests.bench.bench_hal import StubLines, scans_per_s
from tests.bench.bench_lights import FRAME_US, MID_GAME
from tests.bench.bench_neopixel import neopixel_us
from tests.bench.bench_rules import plies_per_second
from tests.live import Live, running
from tests.scene import MS, NO_LIMITS, S, playing
from tests.test_drive import answers_us

RUNS = 5
TOUCHES = 400
IDLE_S = 10


class Figure(NamedTuple):
    """What was measured; `target` None: none is set. `at_least`: whether more is better."""

    name: str
    measured: float
    unit: str
    target: float | None = None
    at_least: bool = False

    def __str__(self) -> str:
        """One row of the table."""
        row = f"{self.name:46} {self.measured:12,.2f} {self.unit:8}"
        if self.target is None:
            return row.rstrip()
        missed = self.measured < self.target if self.at_least else self.measured > self.target
        return f"{row} {'>=' if self.at_least else '<='} {self.target:10,g}{'   MISSED' if missed else ''}"


def _median(measure: Callable[[], float]) -> float:
    return median(measure() for _ in range(RUNS))


def _percentile(times: list[int], share: int) -> int:
    return sorted(times)[(len(times) - 1) * share // 100]


# -- steps -------------------------------------------------------------------------------------------------------------


def steps() -> Iterator[Figure]:
    """What the pure steps cost in CPU time."""
    yield Figure("playouts, full legal list", _median(lambda: plies_per_second(1, 0.5)), "plies/s", 250_000, True)
    for state in ("quiet", "a finger held"):
        scans = _median(lambda held=state != "quiet": scans_per_s(held=held, count=10_000))
        yield Figure(f"scan, debounce and ghost check, {state}", scans, "scans/s", 500_000, True)
    yield (ours := Figure("snapshot to wire bytes, steady", _median(wire_us), "us", 12))
    yield from peers(ours.measured)
    yield Figure("soak, virtual over CPU time", _median(soak_speed), "times", 50, True)


def peers(ours_us: float) -> Iterator[Figure]:
    """The same frames through CircuitPython's NeoPixel on SPI, in this run; nothing without the extra `bench`."""
    with suppress(ImportError):
        theirs_us = neopixel_us()
        yield Figure("chain to wire bytes through neopixel_spi", theirs_us, "us")
        yield Figure("ours from snapshot faster than it by", theirs_us / ours_us, "times", 5, True)


def wire_us(frames: int = 6_000) -> float:
    """CPU time from a snapshot to the SPI bytes that are handed to the bus, in microseconds a frame."""
    profile = load(shipped("sim"))
    leds = Ws2812Leds(lambda _: None, profile.cells, profile.leds.spi_hz, idles_high=False)
    board, lights = MatrixBoard(profile, StubLines([0] * 7), leds), Lights()
    start_s = 0.0
    for at in range(-60, frames):
        if at == 0:  # after a second of warming up, as colours are worked out once
            start_s = time.process_time()
        t_us = S + at * FRAME_US
        board.show(lights.frame(MID_GAME, t_us), t_us)
    return (time.process_time() - start_s) * 1e6 / frames


def soak_speed() -> float:
    """How much faster than its own time a soak of one match runs."""
    report = soak(5, 1)
    return report.virtual_us / 1e6 / report.cpu_s


# -- virtual time ------------------------------------------------------------------------------------------------------


def latencies() -> Iterator[Figure]:
    """First contact to latched preview in virtual time, 3 ms of bounce, frames running."""
    for name, resting, target_us in (("scanned at 1 kHz", True, 7_000), ("from idle", False, 12_000)):
        times = _answers_us(resting)
        yield Figure(f"contact to latched preview, {name}, p50", _percentile(times, 50), "us")
        yield Figure(f"contact to latched preview, {name}, p99", _percentile(times, 99), "us", target_us)


def _answers_us(resting: bool) -> list[int]:
    scene, random = playing(limits=NO_LIMITS, seed=1).moves("a7", "xa7"), Random(1)
    if resting:  # a finger that has left the gesture keeps the scan fast
        scene.drive.board.contacts.press(48, scene.now_us)
        scene.wait(6 * S)
    return [answers_us(scene, "d4", random.randrange(40 * MS)) for _ in range(TOUCHES)]


# -- the process -------------------------------------------------------------------------------------------------------


def process() -> Iterator[Figure]:
    """What `morbak run` costs while nobody touches, and how soon it serves."""
    yield Figure("start to page and state served", median(start_s() for _ in range(RUNS)), "s", 1)
    with running("--seed", "1") as live:
        time.sleep(1)
        yield Figure("whole process idle, attract", idle_pct(live), "% core", 3)
        live.tap("d4")
        with live.watch() as watch:
            watch.phase("play")
        yield Figure("whole process idle, in play", idle_pct(live), "% core", 3)
        yield Figure("memory, resident", resident_mb(live), "MB", 45)
        late = live.json("GET", "/api/v1/latency")[1]["scan_late"]
        yield Figure("scan begins late by, idle, p50", late["p50_us"], "us")
        yield Figure("scan begins late by, idle, p99", late["p99_us"], "us")


def start_s() -> float:
    """Seconds from the command to a page and a state that have been served."""
    begun_s = time.monotonic()
    with running() as live:
        assert live.request("GET", "/")[0] == 200
        live.state()
        return time.monotonic() - begun_s


def idle_pct(live: Live) -> float:
    """CPU time of all threads in percent of one core, over some seconds in which nobody asks for anything."""
    before_ns, begun_ns = _cpu_ns(live.process.pid), time.monotonic_ns()
    time.sleep(IDLE_S)
    return 100 * (_cpu_ns(live.process.pid) - before_ns) / (time.monotonic_ns() - begun_ns)


def _cpu_ns(pid: int) -> int:
    """To the nanosecond, as the scheduler counts it; a thread that has ended is left out."""
    return sum(int(task.read_text().split()[0]) for task in Path(f"/proc/{pid}/task").glob("*/schedstat"))


def resident_mb(live: Live) -> float:
    """Resident memory in megabytes."""
    status = Path(f"/proc/{live.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024 / 1e6


def main() -> int:
    """Print every figure as it comes."""
    busy = os.getloadavg()[0]
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load {busy:.1f}: a busy machine is slower")
    for part in (steps, latencies, process):
        for figure in part():
            print(figure, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
