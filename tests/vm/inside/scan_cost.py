"""Runs inside the virtual Pi: what a scan costs, as JSON.

`calls`: system calls of scans through gpiod, counted by strace from outside the process. `times`: how long a scan takes
through gpiod and through gpiozero's devices, turn by turn in one process.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable

import vpi
import wired

from hal.matrix import Scanner

SCANS = 50
TRACE = "/root/trace"  # on the machine of a second
TURNS = 7
BEGIN, END = "/scans-begin", "/scans-end"  # looked for and not there: marks in the trace


def calls() -> None:
    """The system calls of one scan, by name: as shipped and on copper that needs no time to settle."""
    found = {}
    for name in ("shipped", "unsettled"):
        subprocess.run(["strace", "-f", "-o", TRACE, sys.executable, __file__, "scan", name], check=True)
        with open(TRACE) as trace:
            _, _, rest = trace.read().partition(BEGIN)
        names = re.findall(r"^(?:\d+ +)?(\w+)\(", rest.partition(END)[0], re.MULTILINE)
        counted = Counter(names) - Counter({"stat": 1, "newfstatat": 1})  # the end's mark
        found[name] = {call: count / SCANS for call, count in counted.items()}
    print(json.dumps(found))


def scan(name: str) -> None:
    """Scan between two marks."""
    profile = wired.REFERENCE if name == "shipped" else wired.unsettled()
    lines = wired.opened("gpiod", profile)
    scanner = Scanner(lines, 7, 7, diodes=True)
    scanner.step(0)
    os.path.exists(BEGIN)
    for _ in range(SCANS):
        scanner.step(0)
    os.path.exists(END)
    lines.close()


def times() -> None:
    """Microseconds a scan, the best of some turns: ours through gpiod, and gpiozero's own devices.

    Their rows are push-pull outputs, which is the least that they can do, and which only a test may.
    """
    from gpiozero import Device, InputDevice, OutputDevice

    wired.as_a_pi()
    matrix = wired.REFERENCE.matrix
    taken: dict[str, list[float]] = {"gpiod": [], "gpiozero": []}
    for _ in range(TURNS):
        lines = wired.opened("gpiod", wired.unsettled())
        scanner = Scanner(lines, 7, 7, diodes=True)
        taken["gpiod"].append(timed(lambda scanner=scanner: scanner.step(0)))  # type: ignore[misc]
        lines.close()
        pins = wired.factory(wired.REFERENCE)
        rows = [OutputDevice(pin.name, active_high=False, pin_factory=pins) for pin in matrix.row_pins]
        columns = [InputDevice(pin.name, pull_up=True, pin_factory=pins) for pin in matrix.column_pins]
        taken["gpiozero"].append(timed(lambda rows=rows, columns=columns: by_devices(rows, columns)))  # type: ignore[misc]
        for device in (*rows, *columns):
            device.close()
        pins.close()  # lgpio keeps a line until its chip is closed
        Device.pin_factory = None
    print(json.dumps({name: min(each) for name, each in taken.items()} | {"shorts": vpi.get("shorts")}))


def by_devices(rows: list, columns: list) -> int:  # type: ignore[type-arg]
    """One scan with devices."""
    mask = at = 0
    for row in rows:
        row.on()
        for column in columns:
            mask |= column.value << at
            at += 1
        row.off()
    return mask


def timed(call: Callable[[], object]) -> float:
    """Microseconds of a call, over some."""
    start = time.perf_counter()
    for _ in range(SCANS):
        call()
    return (time.perf_counter() - start) / SCANS * 1e6


if __name__ == "__main__":
    {"calls": calls, "times": times, "scan": lambda: scan(sys.argv[2])}[sys.argv[1]]()
