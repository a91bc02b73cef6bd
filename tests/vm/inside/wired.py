"""Runs inside the virtual Pi: what scripts that open the reference board's matrix share."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hal.drivers import gpiod_lines, gpiozero_factory, gpiozero_lines
from hal.ports import Lines
from hal.profile import Profile, load, shipped

REFERENCE = load(shipped("reference"))


def unsettled() -> Profile:
    """The reference board on copper without capacitance, which needs no time to settle."""
    import msgspec

    return REFERENCE._replace(matrix=msgspec.structs.replace(REFERENCE.matrix, settle_us=0))


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
