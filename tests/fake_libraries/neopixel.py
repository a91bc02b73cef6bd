"""Stands for CircuitPython's `neopixel`: what was shown, how often, by which thread; FAKE_NEOPIXEL tells it to fail."""

from __future__ import annotations

import os
import threading

if os.environ.get("FAKE_NEOPIXEL") == "import":
    raise NotImplementedError("neopixel_write is not available")


class NeoPixel:
    """A strip that keeps what it shows."""

    made: list[NeoPixel] = []  # noqa: RUF012 - for tests

    def __init__(self, pin: str, n: int, *, bpp: int, brightness: float, auto_write: bool, pixel_order: str) -> None:
        if os.environ.get("FAKE_NEOPIXEL") == "open":
            raise RuntimeError("NeoPixel support requires running with sudo, please try again!")
        assert (bpp, brightness, auto_write, pixel_order) == (3, 1.0, False, "RGB")
        self.pin, self._pixels = pin, [(0, 0, 0)] * n
        self.shown: list[bytes] = []
        self.threads: set[int] = set()
        self.ended = False
        NeoPixel.made.append(self)

    def __setitem__(self, index: slice, colours: list[tuple[int, int, int]]) -> None:
        if len(colours) != len(self._pixels[index]):
            raise ValueError("Slice and input sequence size do not match.")
        self._pixels[index] = colours

    def show(self) -> None:
        if os.environ.get("FAKE_NEOPIXEL") == "show":
            raise OSError("Failed to write")
        self.threads.add(threading.get_ident())
        self.shown.append(bytes(level for pixel in self._pixels for level in pixel))

    def deinit(self) -> None:
        self.ended = True
