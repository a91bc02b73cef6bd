"""Pins: the GPIO lines of a board as its profile names them, and who owns which.

A pin is written as a BCM number (17), a line's name ("GPIO17"), a place on the Pi's header ("J8:11"), or a chip's
label with the line's offset on it ("pinctrl-rp1:17"); a Pi's names in capitals or not. Chips are never given by
number: a kernel update renumbers them (case C2). Pure: nothing is opened here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

# The chips of a Pi's header: up to Pi 3 and Zero 2 W, Pi 4, Pi 5. On them a line's offset is its BCM number.
PI_CHIPS = ("pinctrl-bcm2835", "pinctrl-bcm2711", "pinctrl-rp1")
# BCM number of each pin of the 40-pin header that is no supply and no ground; the same on every Pi since the B+.
HEADER = {
    3: 2, 5: 3, 7: 4, 8: 14, 10: 15, 11: 17, 12: 18, 13: 27, 15: 22, 16: 23, 18: 24, 19: 10, 21: 9, 22: 25, 23: 11,
    24: 8, 26: 7, 27: 0, 28: 1, 29: 5, 31: 6, 32: 12, 33: 13, 35: 19, 36: 16, 37: 26, 38: 20, 40: 21,
}  # fmt: skip
_PLACE = {bcm: pin for pin, bcm in HEADER.items()}
LAST_BCM = max(HEADER.values())

# What the kernel or the firmware of a Pi uses, whatever the profile says.
_RESERVED = {
    0: "the EEPROM of HAT boards is read on it at every start",
    1: "the EEPROM of HAT boards is read on it at every start",
    14: "the serial console talks on it; choose another pin",
    15: "the serial console listens on it; choose another pin",
}
# Lines that the kernel takes with a bus, by the bus.
SPI0 = tuple(range(7, 12))


class Pin(NamedTuple):
    """A GPIO line: the label of its chip ("" = the chip that has the line), and its name or its offset there."""

    chip: str
    line: int | str

    @property
    def bcm(self) -> int | None:
        """Its number on a Pi; None for a line of another chip, or of another name."""
        if self.chip and self.chip not in PI_CHIPS:
            return None
        if isinstance(self.line, int):
            return self.line
        found = re.fullmatch(r"GPIO(\d+)", self.line)
        return int(found[1]) if found else None

    @property
    def name(self) -> str:
        """The line's name on a Pi, such as GPIO17; elsewhere what the profile says."""
        return f"GPIO{self.bcm}" if self.bcm is not None else str(self.line)

    def __str__(self) -> str:
        """For people: with the place on the header where there is one."""
        place = _PLACE.get(self.bcm) if self.bcm is not None else None
        if place is not None:
            return f"{self.name} (J8:{place})"
        return f"{self.chip}:{self.line}" if self.chip else self.name


def parse(written: int | str, chip: str = "") -> Pin:
    """The pin that is written so; numbers and names are those of `chip` where one is given.

    Raises ValueError, whose text is the reason, for what names no line.
    """
    if isinstance(written, int):
        return _numbered(written, chip)
    written = written.strip()
    head, colon, tail = written.rpartition(":")
    if not colon:
        if not written:
            raise ValueError("a pin without a name")
        return _numbered(int(written), chip) if written.isdecimal() else Pin(chip, _named(written))
    if not head or not tail.isdecimal():
        raise ValueError("a pin is written 17, GPIO17, J8:11 or pinctrl-rp1:17")
    if head.upper() != "J8":
        return Pin(head, int(tail))
    if int(tail) not in HEADER:
        raise ValueError("that pin of the header is a supply or a ground" if 1 <= int(tail) <= 40 else "no such pin")
    return Pin(chip, HEADER[int(tail)]) if chip else Pin("", f"GPIO{HEADER[int(tail)]}")


def _named(name: str) -> str:
    """A line's name as the kernel has it, where it is one of a Pi's: gpio04 is GPIO4. Others keep their spelling."""
    found = re.fullmatch(r"GPIO0*(\d+)", name, re.IGNORECASE | re.ASCII)
    return f"GPIO{found[1]}" if found else name


def _numbered(number: int, chip: str) -> Pin:
    if number < 0:
        raise ValueError("a line's number is 0 and more")
    return Pin(chip, number) if chip else Pin("", f"GPIO{number}")


class Claim(NamedTuple):
    """A pin and what wants it, by the key of the profile; `reason`: why, where it is not the profile that asks."""

    owner: str
    pin: Pin
    reason: str = ""


def conflict(claims: Iterable[Claim]) -> tuple[Claim, str] | None:
    """The first claim that cannot be met, and the reason; None if every pin has one owner."""
    owners: dict[object, Claim] = {}
    for claim in claims:
        if reason := _reserved(claim.pin):
            return claim, f"{claim.pin} is the kernel's: {reason}"
        key = claim.pin.bcm if claim.pin.bcm is not None else claim.pin
        if (first := owners.setdefault(key, claim)) is not claim:
            because = first.reason or claim.reason
            return claim, f"{claim.pin} is wanted by {first.owner} and by {claim.owner}" + (because and f": {because}")
    return None


def _reserved(pin: Pin) -> str:
    """Why the profile cannot have this line; "" if it can."""
    if pin.bcm is None:
        return ""
    if pin.bcm > LAST_BCM:
        return f"the header ends with GPIO{LAST_BCM}; beyond are the SD card, Wi-Fi and the like"
    return _RESERVED.get(pin.bcm, "")
