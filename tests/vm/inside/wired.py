"""Runs inside the virtual Pi: what scripts that open the reference board share."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import vpi

from hal.drivers import gpiod_lines, gpiozero_factory, gpiozero_lines
from hal.ports import Lines
from hal.profile import Profile, load, shipped
from sim.strip import Strip

REFERENCE = load(shipped("reference"))


def unsettled() -> Profile:
    """The reference board on copper without capacitance, which needs no time to settle."""
    import msgspec

    return REFERENCE._replace(matrix=msgspec.structs.replace(REFERENCE.matrix, settle_us=0))


class Chain:
    """What the LEDs of a board show, by the last frame on the SPI bus."""

    def __init__(self, profile: Profile) -> None:
        self._profile, self._data, self._light = profile, b"", bytes(3 * profile.cells)

    def light(self) -> bytes:
        """The light of all cells."""
        data = (vpi.BOARD / "spi/last").read_bytes()
        if data != self._data:
            leds = self._profile.leds
            strip = Strip(self._profile.chain, order=leds.colour_order, spi_hz=leds.spi_hz)
            strip.transfer(data, 0)
            strip.settle(strip.busy_until_us + 1_000)
            self._data, self._light = data, bytes(strip.latched.frame)
        return self._light


def as_a_pi() -> None:
    """Let /proc/cpuinfo name a Pi 3B, whose revision gpiozero asks for; only this machine of a second sees it."""
    with tempfile.NamedTemporaryFile("w", delete=False) as file:
        file.write("Revision\t: a02082\n")
    subprocess.run(["mount", "--bind", file.name, "/proc/cpuinfo"], check=True)
    Path(file.name).unlink()


def opened(driver: str, profile: Profile) -> Lines:
    """The matrix through gpiod or through gpiozero on lgpio."""
    return {"gpiod": gpiod_lines, "gpiozero": gpiozero_lines}[driver].open_lines(profile)  # type: ignore[attr-defined]


def factory(profile: Profile) -> Any:
    """gpiozero's factory for a board."""
    return gpiozero_factory.pin_factory(profile.matrix.row_pins + profile.matrix.column_pins)
