"""What a service tells its manager: ready, alive, what it is doing, ending (`man sd_notify`).

One datagram a message on the socket that systemd names in the environment; without one nobody listens and nothing is
sent. A message that cannot be sent is logged once, and no game ends because of it.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Mapping

log = logging.getLogger("morbak")


class Notifier:
    """The way to the service manager. Raises nothing, never waits."""

    def __init__(self, address: str | None) -> None:
        """`address`: a path, or a name of Linux's own name space that begins with `@`."""
        self._socket: socket.socket | None = None
        self._address = address
        self._failed = False
        self._status = ""
        if address:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
            self._socket.setblocking(False)
            self._address = "\0" + address[1:] if address.startswith("@") else address

    @classmethod
    def of(cls, environ: Mapping[str, str] = os.environ) -> Notifier:
        """The manager of this environment; nobody where there is none."""
        return cls(environ.get("NOTIFY_SOCKET"))

    def ready(self) -> None:
        """The board plays."""
        self._send("READY=1")

    def feed(self) -> None:
        """Every part has moved."""
        self._send("WATCHDOG=1")

    def patience(self, s: int) -> None:
        """The start, or the end, takes at most so much longer from now on."""
        self._send(f"EXTEND_TIMEOUT_USEC={s * 1_000_000}")

    def ending(self) -> None:
        """An end in order has begun."""
        self._send("STOPPING=1")

    def status(self, text: str) -> None:
        """One line for `systemctl status`; sent when it has changed."""
        line = " ".join(text.split())
        if line != self._status:
            self._status = line
            self._send(f"STATUS={line}")

    def close(self) -> None:
        """Let the socket go; may be called twice."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _send(self, message: str) -> None:
        if self._socket is None:
            return
        assert self._address is not None
        try:
            self._socket.sendto(message.encode(), self._address)
        except OSError as error:
            if not self._failed:
                log.warning("the service manager cannot be told %s: %s", message, error.strerror)
            self._failed = True
