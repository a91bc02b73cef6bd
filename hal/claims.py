"""Who wants which pin of a profile; every pin is one, and has one owner. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hal import pins
from hal.pins import Claim, Pin

if TYPE_CHECKING:
    from hal.profile import LedsSection, Profile
    from hal.tables import Source

# Of the drivers that ship, those whose data comes out of a pin of the header.
_ON_THE_HEADER = ("auto", "spidev", "rpi_ws281x", "neopixel", "leds0")
_SPI0_MOSI = 10


def read(source: Source, profile: Profile) -> None:
    """Raises ProfileError for what is no pin."""
    for key, written in (*_written(profile), ("leds.pin", profile.leds.pin)):
        try:
            _pin(profile, key, written)
        except ValueError as fault:
            raise source.refuse(key, written, str(fault)) from fault


def check(source: Source, profile: Profile) -> None:
    """Raises ProfileError for a pin that somebody else has, naming both; each must be one (`read`)."""
    claims = [Claim(key, _pin(profile, key, written)) for key, written in _written(profile)]
    refused = pins.conflict([*_leds(profile.leds), *claims])
    if refused is not None:
        claim, reason = refused
        raise source.refuse(claim.owner, claim.pin.name, reason)


def _pin(profile: Profile, key: str, written: int | str) -> Pin:
    return pins.parse(written, profile.matrix.chip if key.startswith("matrix.") else "")


def _written(profile: Profile) -> Iterator[tuple[str, int | str]]:
    """The pins of a profile but for the LEDs', each with its key."""
    yield from (("matrix.rows", pin) for pin in profile.matrix.rows)
    yield from (("matrix.columns", pin) for pin in profile.matrix.columns)
    if profile.buttons.start is not None:
        yield "buttons.start", profile.buttons.start
    if profile.buzzer.pin is not None:
        yield "buzzer.pin", profile.buzzer.pin


def _leds(leds: LedsSection) -> list[Claim]:
    """The pins that the LEDs take: the data line, and with it all of SPI0 where that is one of its."""
    if leds.driver not in _ON_THE_HEADER:
        return []
    if leds.gpio != _SPI0_MOSI:
        return [Claim("leds.pin", pins.parse(leds.pin))]
    reason = "SPI0, on which the LEDs are written, takes GPIO7 to GPIO11"
    return [Claim("leds.pin", Pin("", f"GPIO{bcm}"), reason) for bcm in pins.SPI0]
