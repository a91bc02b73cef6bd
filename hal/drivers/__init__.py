"""The drivers by name: a device library is imported when a board that needs it is opened, never before.

A driver is a module here, or an entry point of the group `morbak.lines`, `morbak.leds` or `morbak.hands` in any
installed package. Either way it is one function that takes the profile and returns open `Lines`, open `Leds`, or for a
jig the open `Hands` that move a board's contacts, and raises PartError, one sentence that says what to do, where it
cannot.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from hal.errors import PartError

if TYPE_CHECKING:
    from hal.hands import Hands
    from hal.ports import Leds, Lines
    from hal.profile import Profile

# Simulated parts belong to a simulated board, which is no driver's to open.
SIMULATED = "sim"
# Adds the libraries to whatever has the package installed, from an index or not: pip takes what is there.
INSTALL = "pip install 'morbak-board[pi]'"
# From this Python on lgpio has no wheel: Debian brings it, and an environment sees that if it is told to, now or later.
NO_LGPIO = (3, 13)
FROM_DEBIAN, SEES_DEBIAN = "sudo apt install python3-lgpio", "python3 -m venv --system-site-packages"
# Where Debian's own Python is; no other, nor an environment of another, can import what Debian brings.
DEBIANS = "/usr"
# name -> where it is; a third party's name of the same spelling never gets in the way of these.
_OURS = {
    "lines": {
        "gpiod": "hal.drivers.gpiod_lines:open_lines",
        "gpiozero": "hal.drivers.gpiozero_lines:open_lines",
    },
    "leds": {
        "auto": "hal.drivers.auto_leds:open_leds",
        "spidev": "hal.drivers.spidev_leds:open_leds",
        "rpi_ws281x": "hal.drivers.rpi_ws281x_leds:open_leds",
        "neopixel": "hal.drivers.neopixel_leds:open_leds",
        "leds0": "hal.drivers.leds0_leds:open_leds",
    },
    "hands": {},
}


def names(part: str) -> list[str]:
    """Every driver there is for `part`, "lines", "leds" or "hands": the simulated one, ours, those of third parties."""
    ours = [SIMULATED, *_OURS[part]] if _OURS[part] else []
    return ours + sorted({point.name for point in entry_points(group=f"morbak.{part}")} - set(ours))


def open_lines(profile: Profile) -> Lines:
    """The rows and columns of a profile's matrix, open and at rest. Raises PartError."""
    lines: Lines = _opener("lines", profile.matrix.driver)(profile)
    return lines


def open_leds(profile: Profile) -> Leds:
    """The LED chain of a profile, open and dark. Raises PartError."""
    leds: Leds = _opener("leds", profile.leds.driver)(profile)
    return leds


def open_hands(name: str, profile: Profile) -> Hands:
    """A jig of this name that moves the contacts of a board with this profile, open. Raises PartError."""
    hands: Hands = _opener("hands", name)(profile)
    return hands


def lacking(driver: str, package: str, python: tuple[int, ...] = sys.version_info[:2]) -> PartError:
    """The error of a driver whose library is not installed, for a version of Python."""
    remedy = _lgpio(sys.prefix, sys.base_prefix) if package == "lgpio" and python >= NO_LGPIO else f"`{INSTALL}`"
    return PartError(f"the driver {driver} wants the Python package {package}, which is not installed: {remedy}")


def _lgpio(prefix: str, base: str) -> str:
    """What brings Debian's lgpio to the Python at a prefix, an environment where that is not its base."""
    if base != DEBIANS:
        return (
            f"pip has none for this Python, and Debian's is for Debian's own: `{FROM_DEBIAN} && "
            f"{DEBIANS}/bin/{SEES_DEBIAN} ~/morbak`, then install morbak-board there"
        )
    if prefix == base:
        return f"`{FROM_DEBIAN}`"
    return f"`{FROM_DEBIAN} && {SEES_DEBIAN} {shlex.quote(prefix)}`"


def _opener(part: str, name: str) -> Callable[[Profile], Any]:
    if place := _OURS[part].get(name):
        module, _, function = place.partition(":")
        opener: Callable[[Profile], Any] = getattr(import_module(module), function)
        return opener
    for point in entry_points(group=f"morbak.{part}", name=name):
        try:
            return point.load()  # type: ignore[no-any-return]
        except Exception as fault:
            # Whatever a stranger's module raises on its way in: the board says whose fault it is.
            raise PartError(f"the driver {name} ({point.value}) cannot be loaded: {fault!r}") from fault
    there = ", ".join(names(part)) or f"none; a package with an entry point of the group morbak.{part} has one"
    raise PartError(f"there is no driver {name} for the {part}; there are: {there}")
