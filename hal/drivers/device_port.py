"""The board's own end of a cable: a UART, a USB gadget's port, or a pseudo terminal for a board on this computer."""

from __future__ import annotations

import contextlib
import os
import select

from hal.drivers.serial_port import Port
from hal.errors import PartError

READ_BYTES = 4096
# A host that takes nothing misses what comes after this much.
MOST_WAITING = 8192


class DevicePort:
    """Open at `path`: what is there as a port, or where nothing is a pseudo terminal with that name. POSIX only.

    Raises PartError.
    """

    def __init__(self, path: str) -> None:
        self.made = not os.path.exists(path)
        self._port: Port | None = None
        self._held: int | None = None
        self._path, self._out = path, b""
        if self.made:
            self._fd = self._make(path)
        else:
            self._port = Port(path)
            self._fd = self._port.fileno()
        os.set_blocking(self._fd, False)

    def _make(self, path: str) -> int:
        import tty

        ours, theirs = os.openpty()
        tty.setraw(theirs)
        try:
            os.symlink(os.ttyname(theirs), path)
        except OSError as fault:
            os.close(ours)
            os.close(theirs)
            raise PartError(f"{path}: no port can be made there: {fault.strerror}") from fault
        self._held = theirs  # while it is open a host may come and go
        return ours

    def wait(self, s: float) -> None:
        """Wait for so long, or until something comes."""
        select.select([self._fd], [], [], max(0.0, s))

    def read(self) -> bytes:
        """What has come; never waits. A cable that is out says nothing."""
        try:
            return os.read(self._fd, READ_BYTES)
        except OSError:
            return b""

    def write(self, data: bytes) -> None:
        """Send as soon as the host takes it; never waits. Whole messages are left out where it takes none."""
        if len(self._out) < MOST_WAITING:
            self._out += data
        if self._out:
            with contextlib.suppress(OSError):
                self._out = self._out[os.write(self._fd, self._out) :]

    def close(self) -> None:
        """Let it go; a pseudo terminal is gone with its name."""
        if self._port is not None:
            self._port.close()
            return
        with contextlib.suppress(OSError):
            os.unlink(self._path)
        for fd in (self._fd, self._held):
            if fd is not None:
                os.close(fd)
