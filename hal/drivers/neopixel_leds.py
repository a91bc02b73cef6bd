"""LEDs through CircuitPython's neopixel on Blinka: a Pi 5 without the kernel's driver, and boards we do not know.

Blinka looks at the hardware when it is imported, and on a Pi may ask questions on a terminal; so it is imported when
the chain is opened, told to ask nothing, and a successful import proves nothing (cases B1, B2). The library's
brightness is never used (case A31) and nothing is shown but whole frames (case B6).
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from hal.errors import PartError
from hal.ports import Leds
from hal.profile import Profile

QUIET = "BLINKA_SKIP_DEPENDENCY_CHECK"
_INSTALL = "`pip install adafruit-circuitpython-neopixel`, on a Pi 5 also `adafruit-blinka-raspberry-pi5-neopixel`"


def open_leds(profile: Profile) -> Leds:
    """The chain of a profile through neopixel, dark. Raises PartError, one sentence that says what to do."""
    board, neopixel = _libraries()
    gpio = profile.leds.gpio
    pin = getattr(board, f"D{gpio}", None)
    if pin is None:
        raise PartError(f"leds.pin = {profile.leds.pin!r}: CircuitPython knows no D{gpio} on this machine")
    try:
        strip = neopixel.NeoPixel(pin, profile.led_count, bpp=3, brightness=1.0, auto_write=False, pixel_order="RGB")
        chain = NeoPixelLeds(strip, profile.led_count)
        chain.write(bytes(3 * profile.led_count))
    except (OSError, RuntimeError, NotImplementedError, ValueError) as fault:
        raise PartError(f"neopixel cannot drive D{gpio}: {_said(fault)}; {_INSTALL}") from fault
    chain.about = f"neopixel on D{gpio}"
    return chain


def _libraries() -> tuple[Any, Any]:
    """The modules board and neopixel. Raises PartError where this machine has none that work."""
    os.environ.setdefault(QUIET, "1")
    try:
        return import_module("board"), import_module("neopixel")
    except (ImportError, NotImplementedError, AttributeError, OSError, RuntimeError) as fault:
        raise PartError(f"there is no CircuitPython that drives LEDs here ({_said(fault)}): {_INSTALL}") from fault


def _said(fault: Exception) -> str:
    return str(fault) or type(fault).__name__


class NeoPixelLeds:
    """A chain in CircuitPython's hands; implements `Leds`. Used by one thread (case A30)."""

    def __init__(self, strip: Any, count: int) -> None:
        self._strip, self._count, self._open = strip, count, True
        self.about = "neopixel"

    def write(self, frame: bytes) -> None:
        """Send one whole frame, three bytes an LED in chain and colour order. Raises PartError when it is refused."""
        if len(frame) != 3 * self._count:
            raise ValueError(f"a frame of {len(frame)} bytes for {self._count} LEDs: each takes 3")
        try:
            self._strip[:] = [tuple(frame[at : at + 3]) for at in range(0, len(frame), 3)]
            self._strip.show()
        except (OSError, RuntimeError, NotImplementedError) as fault:
            raise PartError(f"neopixel does not take a frame: {_said(fault)}") from fault

    def close(self) -> None:
        """Leave the chain dark. A second call does nothing. Raises PartError when that is refused."""
        if self._open:
            self._open = False
            self.write(bytes(3 * self._count))
            self._strip.deinit()
