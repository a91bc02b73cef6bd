"""The cable to a board: a port that may come and go under other names, and the host's side of the link on it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Protocol

from hal.drivers import serial_port
from hal.drivers.serial_port import Identity
from hal.errors import PartError
from hal.link_host import Host
from hal.link_trouble import Greeting, Line, sentence

log = logging.getLogger("morbak")

# How often a port that is gone is looked for; it is back well within 3 s of the plug.
SEARCH_US = 300_000
# A port that is open and has no board is closed and looked for anew this often: it may be another one by now.
ANEW_US = 4_000_000


class Open(Protocol):
    """An open port; see `serial_port.Port`."""

    name: str
    identity: Identity

    def read(self) -> bytes: ...

    def write(self, data: bytes) -> int: ...

    def close(self) -> None: ...


class Ports(Protocol):
    """Where ports come from; the module `serial_port` is one."""

    def candidates(self, where: str, known: Identity) -> Iterable[str]: ...

    def Port(self, name: str) -> Open: ...  # noqa: N802 - a class


def _called(where: str) -> str:
    """Where a board is, before it has been found."""
    if where == serial_port.AUTO:
        return "a serial port with a board"
    return f"a serial port with the USB id {where}" if serial_port.searched(where) else where


class Cable:
    """A port that may come and go, and the host's side of the link on it; `line` is what there is to say of it.

    `now_us`: the clock of the times that `step` gets. It is asked when bytes have been read: what a busy computer reads
    late must not seem to have come from the future, by which the board's clock would be misjudged for minutes.
    """

    def __init__(self, where: str, host: Host, now_us: Callable[[], int], ports: Ports = serial_port) -> None:
        self.host, self._now_us = host, now_us
        self.line = Line(_called(where))
        self._where, self._ports = where, ports
        self._port: Open | None = None
        self._identity = Identity()
        self._out = b""
        self._search_us: int | None = None
        self._tried: set[str] = set()
        self._up_us = 0
        self._given_up = ""  # the port that was open and had no board
        self._others = False  # ports that have not been asked yet

    def step(self, t_us: int) -> int:
        """Read what has come, write what is to be sent; look for the port while it is gone. Never raises.

        Returns up to when it has read, which is `t_us` or later.
        """
        if self._port is None:
            if self._search_us is not None and t_us < self._search_us:
                return t_us
            self._search_us = t_us + SEARCH_US
        try:
            if self._port is None:
                self._find(t_us)
            if self._port is not None:
                t_us = self._exchange(self._port, t_us)
        except OSError as fault:  # the kernel's lists of devices change while they are read, too
            self._lose(f"{self.line.where}: the cable is out or the device is gone ({fault}); plug it in again")
            self._given_up = ""
        if self._port is None:
            return t_us
        if self.host.up:
            self._up_us, self._identity, self._given_up = t_us, self._port.identity, ""
        elif t_us - self._up_us > ANEW_US or (self.host.declined and self._others):
            self._given_up = self._port.name
            self._tried.add(self._port.name)
            self._lose(self.trouble(t_us))
        return t_us

    def trouble(self, t_us: int) -> str:
        """Why there is no board, and what to do."""
        host = self.host
        heard = Greeting(host.refusal, host.version, host.banners, host.splitter.good, host.begun, host.echoes)
        return sentence(self.line, heard, t_us)

    def close(self, t_us: int) -> None:
        """Say good-bye and let the port go. May be called twice."""
        port, self._port = self._port, None
        if port is not None:
            try:
                port.write(self._out + self.host.bye(t_us))
            except OSError as fault:
                log.debug("no good-bye: %s", fault)
            port.close()
        self.host.close()

    def _find(self, t_us: int) -> None:
        names = list(dict.fromkeys(self._ports.candidates(self._where, self._identity)))
        if all(name in self._tried for name in names):
            self._tried.clear()
        for at, name in enumerate(names):
            if name in self._tried:
                continue
            self._others = any(other not in self._tried for other in names[at + 1 :])
            try:
                port = self._ports.Port(name)
            except PartError as fault:
                self.line = Line(name, None, str(fault))
                self._tried.add(name)
                continue
            self._port, self._out, self._up_us = port, b"", t_us
            self.line = Line(name, t_us, self.line.fault if name == self._given_up == self.line.where else "")
            self.host.open(t_us)
            return

    def _exchange(self, port: Open, t_us: int) -> int:
        data = port.read()
        t_us = max(t_us, self._now_us())
        if data:
            line = self.line
            sample = (line.sample + data)[:64] if len(line.sample) < 64 else line.sample
            self.line = line._replace(heard=line.heard + len(data), sample=sample)
            self.host.feed(data, t_us)
        self.host.watch(t_us)
        self._out = self._out or self.host.poll(t_us)  # nothing new before the old is out: the latest frame wins
        if self._out:
            taken = port.write(self._out)
            self._out = self._out[taken:]
            if taken or not self._out:
                self.line = self.line._replace(stuck_us=None)
            elif self.line.stuck_us is None:
                self.line = self.line._replace(stuck_us=t_us)
        return t_us

    def _lose(self, fault: str) -> None:
        port, self._port = self._port, None
        if port is not None:
            port.close()
        self.host.close()
        self.line = Line(self.line.where, None, fault)
