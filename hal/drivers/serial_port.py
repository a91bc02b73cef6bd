"""Serial ports by pyserial: found, opened for us alone, read and written without waiting."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from hal.errors import PartError

if sys.platform == "win32":
    _FAULTS: tuple[type[Exception], ...] = (OSError, ValueError, TypeError)
else:
    import termios

    # A device that goes while its port is being set up fails with the last, which is no OSError.
    _FAULTS = (OSError, ValueError, TypeError, termios.error)

# USB has no baud rate, and a UART at the other end is set to this one.
BAUD = 1_000_000
# Whom `auto` asks: Raspberry Pi's boards (MicroPython and others), and Linux as a serial gadget.
KNOWN_IDS = ((0x2E8A, None), (0x0525, 0xA4A7), (0x1D6B, 0x0104))
AUTO = "auto"
_USB_ID = re.compile("([0-9a-fA-F]{4}):([0-9a-fA-F]{4})")
READ_BYTES = 4096


class Identity(NamedTuple):
    """By what a USB device is known again under another name; all None for a port that is no USB device's."""

    vendor: int | None = None
    product: int | None = None
    serial: str | None = None


class Port:
    """An open port; `name` is the path it was opened by. Raises OSError once the device is gone."""

    def __init__(self, name: str) -> None:
        serial = _library()
        try:
            self._port = serial.Serial(name, BAUD, timeout=0, write_timeout=0, exclusive=True)
            self._alone(True)
            self.identity = _identity(name)
        except _FAULTS as fault:
            raise PartError(_cannot_open(name, fault)) from fault
        self.name = name

    def read(self) -> bytes:
        """What has come; never waits."""
        try:
            return bytes(self._port.read(READ_BYTES))
        except TypeError as fault:  # pyserial's, when the port is closed under its hands
            raise OSError(f"{self.name} is gone") from fault

    def write(self, data: bytes) -> int:
        """Send what the port takes now; returns how many bytes that were. Never waits."""
        if sys.platform == "win32":
            return int(self._port.write(data) or 0)
        try:
            return os.write(self.fileno(), data)  # pyserial's own tries again and again when the port is full
        except BlockingIOError:
            return 0

    def fileno(self) -> int:
        """For who waits for it; POSIX only."""
        return int(self._port.fileno())

    def close(self) -> None:
        """Let it go, in a thread of its own: a driver may wait for what nobody takes (case E12)."""
        threading.Thread(target=self._close, name="close port", daemon=True).start()

    def _close(self) -> None:
        with contextlib.suppress(Exception):
            self._port.reset_output_buffer()
        with contextlib.suppress(Exception):
            self._alone(False)
        with contextlib.suppress(Exception):
            self._port.close()

    def _alone(self, alone: bool) -> None:
        """The kernel's own lock beside pyserial's, which asks others to be polite (case E5)."""
        if sys.platform != "win32":
            import fcntl

            with contextlib.suppress(OSError):
                fcntl.ioctl(self.fileno(), termios.TIOCEXCL if alone else termios.TIOCNXCL)


def searched(where: str) -> bool:
    """Whether a board is looked for at more than one port: at whichever has it, "auto", or has this USB id."""
    return where == AUTO or _USB_ID.fullmatch(where) is not None


def candidates(where: str, known: Identity) -> Iterator[str]:
    """The ports at which to look for a board, the likeliest first.

    `where`: a path, a name of /dev/serial/by-id, a USB id (`2e8a:0005`: vendor and product, hexadecimal), or "auto";
    `known`: the board's identity, if it was there before.
    """
    found = _listed()
    if known != Identity():
        yield from (name for name, identity in found if identity == known)
    if not searched(where):
        by_id = os.path.join("/dev/serial/by-id", where)
        yield by_id if os.sep not in where and os.path.exists(by_id) else where
        return
    for vendor, product in _ids(where):
        yield from (
            name
            for name, identity in found
            if identity.vendor == vendor and product in (None, identity.product) and identity != known
        )


def _ids(where: str) -> Iterable[tuple[int, int | None]]:
    named = _USB_ID.fullmatch(where)
    return KNOWN_IDS if named is None else ((int(named[1], 16), int(named[2], 16)),)


def _library() -> Any:
    try:
        import serial
    except ImportError as fault:
        raise PartError(
            "a board at the end of a cable wants the Python package pyserial, which is not installed: "
            "`pip install 'morbak-board[serial]'`"
        ) from fault
    return serial


def _listed() -> list[tuple[str, Identity]]:
    """Every serial port with a USB identity, by name."""
    _library()
    from serial.tools import list_ports

    ports = sorted(list_ports.comports(), key=lambda port: port.device)
    return [(port.device, Identity(port.vid, port.pid, port.serial_number)) for port in ports if port.vid is not None]


def _identity(name: str) -> Identity:
    real = os.path.realpath(name)
    return next((identity for device, identity in _listed() if device in (name, real)), Identity())


def _cannot_open(name: str, fault: BaseException) -> str:
    number = getattr(fault, "errno", None)
    text = str(fault)
    if number == 2:
        return f"{name}: there is no such port; plug the board in, or name its port"
    if number == 13:
        return f"{name} is not ours to open: `sudo usermod -aG dialout $USER`, then log in again"
    if number in (11, 16) or "lock" in text:
        return f"{name} is in use by another program: stop that first; `sudo fuser {name}` says which"
    return f"{name} cannot be opened as a serial port: {getattr(fault, 'strerror', None) or text}"
