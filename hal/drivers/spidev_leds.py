"""LEDs on the SPI bus: each frame is one write to /dev/spidev0.0, encoded by `hal.ws2812`. Needs no root.

What the bus would spoil is refused when it is opened, each in a sentence with the command that mends it: a core clock
that moves the LEDs' clock (cases A15, A16, A24), a bus whose real clock is another one, a buffer that cuts a frame
(case A22), a bus that is off, not ours or taken.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import struct
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns

from hal import machine, models, ws2812
from hal.errors import PartError
from hal.machine import ROOT
from hal.ports import Leds
from hal.profile import Profile
from hal.ws2812 import Ws2812Leds

log = logging.getLogger("morbak")

DEVICE = "/dev/spidev0.0"
BUFFER_FILE = "sys/module/spidev/parameters/bufsiz"
DEFAULT_BUFFER = 4_096
# linux/spi/spidev.h
_WRITE_MODE, _WRITE_BITS, _WRITE_SPEED = 0x4001_6B01, 0x4001_6B03, 0x4004_6B04
_TRIES = 8

_TURN_ON = "SPI is off; turn it on with `sudo raspi-config nonint do_spi 0`"
_JOIN = "is not ours to open: `sudo usermod -aG spi $USER`, then log in again"


def open_leds(profile: Profile, root: Path = ROOT) -> Leds:
    """The chain of a profile on its SPI bus, dark. Raises PartError, one sentence that says what to do."""
    leds = profile.leds
    if leds.gpio not in (models.SPI_PIN, None):
        raise PartError(f"leds.pin = {leds.pin!r}: SPI sends on GPIO{models.SPI_PIN} only; move the data wire there")
    found = machine.model(root)
    if reason := models.spi_problem(found, machine.boot_config(root), leds.spi_hz):
        raise PartError(reason)
    idles_high = leds.line_idles == "high"
    device = leds.device or DEVICE
    buffer_bytes = _buffer_bytes(root)
    _check_buffer(buffer_bytes, len(ws2812.encode(bytes(3 * profile.led_count), leds.spi_hz, idles_high=idles_high)))
    bus = Bus(root / device.removeprefix("/"), device, leds.spi_hz, machine.absent(found, _TURN_ON))
    try:
        chain = SpiLeds(bus, profile.led_count, leds.spi_hz, idles_high=idles_high)
        chain.blank()
        if doubt := bus.check_clock(min(buffer_bytes, DEFAULT_BUFFER)):
            chain.about += f", {doubt}"
            log.warning("LEDs: %s.", chain.about)
    except BaseException:
        bus.close()
        raise
    return chain


def _buffer_bytes(root: Path) -> int:
    """The longest write that the SPI device takes."""
    text = machine.text(root, BUFFER_FILE).strip()
    return int(text) if text.isdecimal() else DEFAULT_BUFFER


def _check_buffer(buffer_bytes: int, frame_bytes: int) -> None:
    if frame_bytes > buffer_bytes:
        raise PartError(
            f"a frame takes {frame_bytes} bytes and the SPI buffer has {buffer_bytes}: "
            f"`sudo sed -i 's/$/ spidev.bufsiz={-(-frame_bytes // 4096) * 4096}/' /boot/firmware/cmdline.txt`, "
            "then restart the machine"
        )


class Bus:
    """One SPI device, ours alone, that takes bytes at a clock. Raises PartError for one that cannot be opened.

    `absent`: what to say of it where it is not there.
    """

    def __init__(self, path: Path, name: str, spi_hz: int, absent: str = "is not there") -> None:
        self._name, self._spi_hz = name, spi_hz
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except OSError as fault:
            told = {errno.ENOENT: absent, errno.EACCES: _JOIN}
            reason = told.get(fault.errno or 0, f"cannot be opened: {fault.strerror}")
            raise PartError(f"{name} {reason}") from fault
        try:
            self._claim()
            self._set_up()
        except BaseException:
            os.close(self._fd)
            raise

    def send(self, data: bytes) -> None:
        """Put bytes on the wire in one write; returns when they have left. Raises OSError where they have not."""
        if os.write(self._fd, data) != len(data):
            raise OSError(errno.EIO, f"{self._name} took a part of a frame only")

    def check_clock(self, size: int = DEFAULT_BUFFER, now_ns: Callable[[], int] = perf_counter_ns) -> str:
        """Time silence on the wire until it takes the time of our clock; what to say of a bus that never does.

        Raises PartError for a bus that is too fast. One that seems too slow may be a busy machine's, and a board that
        is dark for nothing is worse than one that flickers with the reason shown.
        """
        silence, hz = bytes(size), 0
        for _ in range(_TRIES):
            start_ns = now_ns()
            self.send(silence)
            hz = max(hz, ws2812.timed_hz(size, now_ns() - start_ns))
            if not ws2812.too_slow(hz, self._spi_hz):
                break
        runs = f"{hz / 1e6:.2f} MHz where {self._spi_hz / 1e6:.2f} MHz were asked for"
        if ws2812.too_fast(hz, self._spi_hz):
            raise PartError(f"{self._name} runs at {runs}: `morbak doctor` says which line of config.txt is missing")
        return f"timed at {runs}, see `morbak doctor`" if ws2812.too_slow(hz, self._spi_hz) else ""

    def close(self) -> None:
        """Give the device back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _claim(self) -> None:
        """Two programs that draw on one chain make a third picture."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise PartError(f"another program draws on {self._name}: `sudo fuser {self._name}` says which") from None

    def _set_up(self) -> None:
        """Mode 0, bytes of 8 bits, our clock. Raises PartError where the file is no SPI device."""
        try:
            fcntl.ioctl(self._fd, _WRITE_MODE, struct.pack("B", 0))
            fcntl.ioctl(self._fd, _WRITE_BITS, struct.pack("B", 8))
            fcntl.ioctl(self._fd, _WRITE_SPEED, struct.pack("I", self._spi_hz))
        except OSError as fault:
            raise PartError(f"{self._name} takes no {self._spi_hz} Hz in mode 0: {fault.strerror}") from fault


class SpiLeds(Ws2812Leds):
    """A chain on a `Bus`, which is closed with it. `about`: what drives it, for people."""

    def __init__(self, bus: Bus, count: int, spi_hz: int, *, idles_high: bool) -> None:
        super().__init__(bus.send, count, spi_hz, idles_high=idles_high)
        self._bus = bus
        self.about = f"SPI at {spi_hz / 1e6:g} MHz"

    def close(self) -> None:
        """Leave the chain dark and give the bus back. A second call does nothing. Raises PartError if it fails."""
        try:
            super().close()
        finally:
            self._bus.close()
