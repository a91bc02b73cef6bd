"""Runs inside the virtual Pi: holds a driver of a key matrix to its suite, and prints what it found as JSON."""

from __future__ import annotations

import json
import sys

import vpi
import wired

from hal import conformance
from hal.conformance import Bench, Broken
from hal.drivers import gpio_chips, gpiod_lines
from hal.errors import PartError
from hal.ports import Lines
from hal.profile import Profile


class PushPull(gpiod_lines.GpiodLines):
    """Drives the rows that are not selected high: the negative control."""

    def __init__(self, profile: Profile) -> None:
        import gpiod
        from gpiod.line import Direction, Drive, Value

        found, matrix = gpiod_lines.chips(), profile.matrix
        rows = gpio_chips.place(matrix.row_pins, found, "matrix.rows")
        columns = gpio_chips.place(matrix.column_pins, found, "matrix.columns")
        super().__init__(rows, columns, 0, (matrix.row_pins, matrix.column_pins))
        pushing = gpiod.LineSettings(
            direction=Direction.OUTPUT, drive=Drive.PUSH_PULL, active_low=True, output_value=Value.INACTIVE
        )
        assert self._rows is not None
        self._rows.reconfigure_lines({rows.offsets: pushing})


def opened(driver: str, profile: Profile) -> Lines:
    """A driver by name, or the wrong one."""
    return PushPull(profile) if driver == "push-pull" else wired.opened(driver, profile)


def told(driver: str, diodes: bool) -> dict[str, str]:
    """Each check, and whether it was kept."""
    vpi.put("diodes", diodes)
    profile = wired.unsettled()
    bench = Bench(
        rows=7,
        columns=7,
        open=lambda: opened(driver, profile),
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
