"""The GPIO chips of this computer: found by label and by the names of their lines, never by number.

A kernel update renumbers chips and a container may see one of them only (cases B10, C2).
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from hal.errors import PartError
from hal.pins import PI_CHIPS, Pin

DEVICES = Path("/dev")
NO_CHIP = "this computer has no GPIO chip (/dev/gpiochip*): use a Raspberry Pi, or play on `morbak run --board sim`"


class Chip(NamedTuple):
    """A chip: its device, its label, and the names of its lines by offset."""

    path: str
    label: str
    names: tuple[str, ...]

    def offset(self, pin: Pin) -> int | None:
        """Where a pin is on this chip; None where it is not."""
        if pin.chip not in ("", self.label):
            return None
        if isinstance(pin.line, int):
            return pin.line if pin.line < len(self.names) else None
        if pin.line in self.names:
            return self.names.index(pin.line)
        # Some device trees name lines by their use (GPIO_GCLK, SPI_MOSI); a Pi's offsets are its BCM numbers.
        on_header = pin.bcm if self.label in PI_CHIPS else None
        return on_header if on_header is not None and on_header < len(self.names) else None


class Place(NamedTuple):
    """Lines that are on one chip, in the order asked for."""

    chip: Chip
    offsets: tuple[int, ...]


def place(pins: Sequence[Pin], chips: Sequence[Chip], owner: str) -> Place:
    """The first chip that has all of these lines. Raises PartError naming a line that is missing, and who wants it."""
    nearest: list[int | None] = [None] * len(pins)
    for chip in chips:
        offsets = [chip.offset(pin) for pin in pins]
        found = tuple(offset for offset in offsets if offset is not None)
        if len(found) == len(pins):
            return Place(chip, found)
        nearest = min(nearest, offsets, key=lambda each: each.count(None))
    missing = pins[nearest.index(None)]
    here = ", ".join(f"{Path(chip.path).name} ({chip.label})" for chip in chips)
    raise PartError(
        f"no GPIO chip has {missing} beside the other pins of {owner}; there are {here}: `gpioinfo` lists their lines"
    )


def devices(folder: Path = DEVICES) -> list[str]:
    """The chips' devices by number, each once: an old name is a link to the new one. Raises PartError for none."""
    found = {path.resolve(): None for path in sorted(folder.glob("gpiochip*"), key=_number)}
    if not found:
        raise PartError(NO_CHIP)
    return [str(path) for path in sorted(found, key=_number)]


def number(chip: Chip) -> int:
    """The number that the kernel gave a chip this time, for libraries that want one."""
    return _number(Path(os.path.realpath(chip.path)))


def _number(path: Path) -> int:
    digits = re.search(r"(\d+)$", path.name)
    return int(digits[1]) if digits else 0


def refused(path: str, fault: OSError) -> PartError:
    """The error for a chip that does not open."""
    if fault.errno in (errno.EACCES, errno.EPERM):
        return PartError(f"{path} is not ours to open: `sudo usermod -aG gpio $USER`, then log in again")
    return PartError(f"{path} cannot be opened: {fault.strerror or fault}: `gpiodetect` lists the chips there are")
