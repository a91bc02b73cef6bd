"""The board's own end of a cable: a UART, a USB gadget's port, or a pseudo terminal for a board on this computer."""

from __future__ import annotations

import contextlib
import os
import re
import select
import time

from hal.drivers.serial_port import Port
from hal.errors import PartError

READ_BYTES = 4096
# A host that takes nothing misses what comes after this much.
MOST_WAITING = 8192
# How often a port that has hung up is tried again.
AGAIN_S = 0.2


class DevicePort:
    """Open at `path`: what is there as a port, or where nothing is a pseudo terminal with that name. POSIX only.

    Under /dev nothing is made: a name that is not there is mistyped, or its board is not plugged in. The name that a
    killed program has left of its pseudo terminal is taken over; that of one that still runs is refused.

    A USB gadget's port hangs up when its cable is pulled out; it is opened again until that succeeds. Raises
    PartError when it cannot be opened at first.
    """

    def __init__(self, path: str) -> None:
        self._path, self._out = path, b""
        self._port: Port | None = None
        self._held: int | None = None
        self._fd: int | None = None
        self._again_s = 0.0
        if _left_over(path):
            with contextlib.suppress(OSError):  # what is in the way is said when the new one is made
                os.unlink(path)
        if os.path.exists(path):
            if server := _server(path):
                raise PartError(f"{path}: process {server} serves a board there; stop that, or name another port")
            self._open()
        elif os.path.realpath(path).startswith("/dev/"):
            raise PartError(f"{path}: there is no such port; look in /dev for its name, or name a file of your own")
        else:
            self._fd = self._make()

    def _open(self) -> None:
        self._port = Port(self._path)
        self._fd = self._port.fileno()

    def _make(self) -> int:
        import tty

        ours, theirs = os.openpty()
        tty.setraw(theirs)
        try:
            os.symlink(_name(theirs), self._path)
        except OSError as fault:
            os.close(ours)
            os.close(theirs)
            raise PartError(f"{self._path}: no port can be made there: {fault.strerror}") from fault
        self._held = theirs  # while it is open a host may come and go
        os.set_blocking(ours, False)
        return ours

    def wait(self, s: float) -> None:
        """Wait for so long, or until something comes."""
        if self._fd is None:
            time.sleep(max(0.0, s))
        else:
            select.select([self._fd], [], [], max(0.0, s))

    def read(self) -> bytes:
        """What has come; never waits. A cable that is out says nothing."""
        if self._fd is None:
            self._look_again()
        if self._fd is None or not select.select([self._fd], [], [], 0)[0]:
            return b""
        with contextlib.suppress(OSError):
            if data := os.read(self._fd, READ_BYTES):
                return data
        self._lose()
        return b""

    def write(self, data: bytes) -> None:
        """Send as soon as the host takes it; never waits. Whole messages are left out where it takes none."""
        if len(self._out) < MOST_WAITING:
            self._out += data
        if self._out and self._fd is not None:
            with contextlib.suppress(OSError):
                self._out = self._out[os.write(self._fd, self._out) :]

    def close(self) -> None:
        """Let it go; a pseudo terminal is gone with its name."""
        if self._held is None:
            self._lose()
            return
        with contextlib.suppress(OSError):
            os.unlink(self._path)
        for fd in (self._fd, self._held):
            if fd is not None:
                os.close(fd)

    def _lose(self) -> None:
        """The port has hung up."""
        if self._port is not None:
            self._port.close()
            self._port = self._fd = None
            self._out, self._again_s = b"", time.monotonic() + AGAIN_S

    def _look_again(self) -> None:
        if time.monotonic() >= self._again_s:
            self._again_s = time.monotonic() + AGAIN_S
            with contextlib.suppress(PartError):
                self._open()


def _name(fd: int) -> str:
    """A name of a terminal that goes with this process; its own may be another's soon after, somebody's shell even."""
    name = f"/proc/{os.getpid()}/fd/{fd}"
    return name if os.path.exists(name) else os.ttyname(fd)


def _target(path: str) -> str:
    """Where a name leads; "" for one that is no link."""
    return os.readlink(path) if os.path.islink(path) else ""


def _server(path: str) -> str | None:
    """The number of the process that has a port of this name; None for all that was not made so."""
    made = re.fullmatch(r"/proc/(\d+)/fd/\d+", _target(path))
    return made[1] if made and os.path.realpath(path).startswith("/dev/pts/") else None


def _left_over(path: str) -> bool:
    """Whether this is the name of a pseudo terminal that is no more; somebody else's cannot be looked at."""
    if not re.fullmatch(r"/proc/\d+/fd/\d+|/dev/pts/\d+", _target(path)):
        return False
    try:
        os.stat(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return not os.path.realpath(path).startswith("/dev/pts/")  # the number is another process's by now
