"""Runs inside the virtual Pi: holds a driver of a key matrix to its suite, and prints what it found as JSON."""

from __future__ import annotations

import json
import sys

import vpi
import wired

from hal import conformance
from hal.conformance import Bench, Broken
from hal.errors import PartError


def told(driver: str, diodes: bool) -> dict[str, str]:
    """Each check, and whether it was kept."""
    vpi.put("diodes", diodes)
    profile = wired.unsettled()
    bench = Bench(
        rows=7,
        columns=7,
        open=lambda: wired.opened(driver, profile),
        close=lambda mask: vpi.put("pressed", mask),
        diodes=diodes,
        shorts=lambda: vpi.get("shorts"),
    )
    found = {}
    for check in conformance.lines(bench):
        try:
            check()
            found[conformance.name(check)] = "kept"
        except (Broken, PartError) as fault:
            found[conformance.name(check)] = str(fault)
    return found


def main() -> None:
    """With diodes and without."""
    driver = sys.argv[1]
    if driver == "gpiozero":
        wired.as_a_pi()
    print(
        json.dumps(
            {
                "diodes": told(driver, True),
                "no diodes": told(driver, False),
                "shorts": vpi.get("shorts"),
                "driven": vpi.get("lines_driven"),
            }
        )
    )


if __name__ == "__main__":
    main()
