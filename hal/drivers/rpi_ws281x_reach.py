"""The two ways to the helper of rpi_ws281x: started by us, or by systemd when its socket is called.

A process of ours gets its numbers as arguments and is ended by us. systemd's runs as root with one capability while
this process has none; it gets its numbers as the first line, and ends when we hang up.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from hal.errors import PartError

# Of `morbak-leds.socket`, below the root of the machine.
SOCKET = "run/morbak-leds/socket"
ENDS_S = 3.0
# A frame fits into the socket's buffer many times over; a helper that leaves it full hangs.
SENDS_S = 1.0


class Reach(Protocol):
    """A helper that listens: frames go in, lines come out."""

    def fileno(self) -> int:
        """Where its lines come from."""

    def send(self, data: bytes) -> None:
        """Hand it a frame. Raises OSError."""

    def hang_up(self) -> None:
        """No more frames, which ends it; its last lines can still be read."""

    def discard(self, wait_s: float) -> None:
        """See it off; one that does not go in time is killed if it is ours."""

    def fate(self, wait_s: float) -> str | None:
        """How it ended, as half a sentence; None if it has not."""


class Way(Protocol):
    """A way to helpers."""

    patient: bool  # whether a helper that is gone without a word may only be the one before, still ending
    needs_root: bool  # whether one that is gone without a word was most likely refused root's rights

    def reach(self, numbers: Sequence[int]) -> Reach:
        """A new helper. Raises PartError."""


class StartedWay:
    """Helpers that are started by us, with root's rights through sudo where they need them; implements `Way`."""

    patient = False

    def __init__(self, command: Sequence[str]) -> None:
        """`command`: what starts one, without its numbers."""
        self._command, self.needs_root = [*command], command[0] == "sudo"

    def reach(self, numbers: Sequence[int]) -> Reach:
        """A process of ours. Raises PartError."""
        return _Process([*self._command, *map(str, numbers)])


class CalledWay:
    """Helpers that systemd starts when they are called; implements `Way`."""

    patient, needs_root = True, False

    def __init__(self, path: Path) -> None:
        self._path = path

    def reach(self, numbers: Sequence[int]) -> Reach:
        """A helper of systemd's. Raises PartError."""
        return _Caller(self._path, numbers)


class _Process:
    def __init__(self, command: list[str]) -> None:
        try:
            process = subprocess.Popen(  # noqa: S603 - our own helper, its arguments are numbers
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, close_fds=True
            )
        except OSError as fault:
            raise PartError(f"the LED helper cannot be started: {fault.strerror}: {command[0]}") from fault
        assert process.stdin is not None and process.stdout is not None
        self._process, self._in, self._out = process, process.stdin, process.stdout

    def fileno(self) -> int:
        return self._out.fileno()

    def send(self, data: bytes) -> None:
        self._in.write(data)

    def hang_up(self) -> None:
        self._in.close()

    def discard(self, wait_s: float) -> None:
        self._in.close()
        try:
            self._process.wait(wait_s)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(PermissionError):  # one of root's, through sudo: the pipe is all it has of us
                self._process.kill()
                self._process.wait(ENDS_S)
        self._out.close()

    def fate(self, wait_s: float) -> str | None:
        try:
            status = self._process.wait(wait_s)
        except subprocess.TimeoutExpired:
            return None
        return f"by signal {-status}" if status < 0 else f"with exit status {status}"


class _Caller:
    def __init__(self, path: Path, numbers: Sequence[int]) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(SENDS_S)
            self._socket.connect(str(path))
            self._socket.sendall(f"{' '.join(map(str, numbers))}\n".encode())
        except OSError as fault:
            self._socket.close()
            raise PartError(
                f"the LED helper cannot be called at {path} ({fault.strerror or fault}): "
                "`sudo systemctl restart morbak-leds.socket`"
            ) from fault

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def hang_up(self) -> None:
        with contextlib.suppress(OSError):  # it has gone already
            self._socket.shutdown(socket.SHUT_WR)

    def discard(self, wait_s: float) -> None:  # noqa: ARG002 - systemd sees it off
        self._socket.close()

    def fate(self, wait_s: float) -> str | None:  # noqa: ARG002
        return "and hung up; `journalctl -u 'morbak-leds@*'` may say why"
