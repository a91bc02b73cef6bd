"""Stands for the library rpi_ws281x in a process of its own: its codes, its one initialisation, its way to crash.

FAKE_WS281X names a folder. What is written there: `begun`, a line for each initialisation with its arguments, and
`shown`, a frame a line in hexadecimal as it goes on the wire. What is read there, each file optional: `init` and
`render`, codes to fail with; `crash` and `hang`, the number of the frame at which the process is killed by a
segmentation fault, or stands still with the interpreter's lock held; `slow`, seconds that an import takes; `exit`:
the library's own clean-up crashes.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import time
from pathlib import Path

FOLDER = Path(os.environ["FAKE_WS281X"])
TEXTS = {-1: "Generic failure", -3: "Hardware revision is not supported", -5: "mmap() failed"}
STRIP_RGB = 0x0010_0800


def _told(name: str, default: int = 0) -> int:
    try:
        return int((FOLDER / name).read_text())
    except OSError:
        return default


def _write(name: str, line: str) -> None:
    with (FOLDER / name).open("a") as file:
        file.write(f"{line}\n")


time.sleep(_told("slow"))


class PixelStrip:
    """The library's strip."""

    begun = False

    def __init__(
        self,
        num: int,
        pin: int,
        freq_hz: int = 800_000,
        dma: int = 10,
        invert: bool = False,
        brightness: int = 255,
        channel: int = 0,
        strip_type: int = 0,
    ) -> None:
        assert (freq_hz, invert, brightness, strip_type) == (800_000, False, 255, STRIP_RGB)
        self._leds = [0] * num
        self._arguments = f"{num} {pin} {dma} {channel}"
        self._frames = 0
        atexit.register(self._cleanup)

    def begin(self) -> None:
        code = -2 if PixelStrip.begun else _told("init")
        if code:
            raise RuntimeError(f"ws2811_init failed with code {code} ({TEXTS.get(code, 'Some failure')})")
        PixelStrip.begun = True
        _write("begun", f"{os.getpid()} {self._arguments}")

    def setPixelColor(self, n: int, color: int) -> None:  # noqa: N802 - the library's name
        self._leds[n] = color

    def show(self) -> None:
        self._frames += 1
        if self._frames == _told("crash"):
            os.kill(os.getpid(), signal.SIGSEGV)
        if self._frames == _told("hang"):
            ctypes.PyDLL(None).sleep(60)  # a PyDLL keeps the interpreter's lock
        if code := _told("render"):
            raise RuntimeError(f"ws2811_render failed with code {code} ({TEXTS.get(code, 'Some failure')})")
        _write("shown", "".join(f"{colour:06x}" for colour in self._leds))

    def _cleanup(self) -> None:
        if _told("exit"):
            os.kill(os.getpid(), signal.SIGSEGV)
