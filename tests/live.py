"""The command `morbak run` as its users start it: a process of its own, reached over HTTP and sockets."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from websockets.sync.client import ClientConnection, connect

Json = dict[str, Any]
PROGRAM = ("-m", "firmware.cli")


# A page comes when its modules are there: 2.5 s in a virtual Pi, and more than 10 beside another one.
ANSWER_S = 60


class Live:
    """A running board."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process, self.port = process, port

    def request(
        self, method: str, path: str, body: bytes | str | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes, dict[str, str]]:
        """One request: status, body, headers (names in lower case)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_S)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}
        finally:
            connection.close()

    def json(self, method: str, path: str, body: object = None) -> tuple[int, Json]:
        """One request with a JSON body and answer."""
        status, answer, _ = self.request(method, path, None if body is None else json.dumps(body))
        return status, json.loads(answer)

    def state(self) -> Json:
        """`GET /api/v1/state`."""
        return self.json("GET", "/api/v1/state")[1]

    def settle(self) -> None:
        """Wait until every part of a new board has been looked at."""
        while "root" not in self.state()["health"]["parts"]:
            time.sleep(0.02)

    def touch(self, cell: str, down: bool) -> None:
        """Move one contact; returns once it has moved."""
        assert (200, {"cell": cell, "down": down}) == self.json(
            "POST", "/api/v1/sim/touch", {"cell": cell, "down": down}
        )

    def tap(self, cell: str) -> None:
        """A short touch."""
        self.touch(cell, True)
        self.touch(cell, False)

    @contextmanager
    def watch(self, **options: Any) -> Iterator[Watch]:
        """A socket on the events."""
        with connect(f"ws://127.0.0.1:{self.port}/api/v1/events", **options) as socket:
            yield Watch(socket)

    def stop(self) -> int:
        """End it as a service manager does; returns its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(10)


class Watch:
    """The messages of one socket, sorted by kind."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.states: list[Json] = []
        self.frames: list[bytes] = []
        self.others: list[Json] = []

    def until(self, holds: Callable[[], bool], within_s: float = 10) -> None:
        """Read messages until something holds; fails when it does not in time."""
        deadline_s = time.monotonic() + within_s
        while not holds():
            self._take(self.socket.recv(timeout=max(0.01, deadline_s - time.monotonic())))

    def phase(self, phase: str, within_s: float = 10) -> Json:
        """Wait for a phase; returns the state."""
        self.until(lambda: bool(self.states) and self.states[-1]["phase"] == phase, within_s)
        return self.states[-1]

    def _take(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            self.frames.append(message)
            return
        told = json.loads(message)
        if "state" in told:
            self.states.append(told.pop("state"))
        if told:
            self.others.append(told)


@contextmanager
def running(
    *arguments: str, cwd: Path | None = None, program: tuple[str, ...] = PROGRAM, command: tuple[str, ...] = ("run",)
) -> Iterator[Live]:
    """`morbak run --port 0` with more arguments, on a state of its own unless `--state` is one of them.

    `program`: what Python runs instead of the command itself; `command`: what is asked of it instead of `run`.
    """
    if "--state" in arguments:
        with _running((*program, *command, "--port", "0", *arguments), cwd) as live:
            yield live
    else:
        with (
            TemporaryDirectory() as state,
            _running((*program, *command, "--port", "0", *arguments, "--state", state), cwd) as live,
        ):
            yield live


@contextmanager
def _running(arguments: tuple[str, ...], cwd: Path | None) -> Iterator[Live]:
    """A process that is killed at the end if it still runs."""
    command = [sys.executable, *arguments]
    # XDG_CONFIG_HOME: nobody's own settings
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "XDG_CONFIG_HOME": "/nonexistent", "MORBAK_CONFIG": ""}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=cwd, env=environment
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if found := re.search(r"http://[^ ]+:(\d+)/", line):
                live = Live(process, int(found[1]))
                live.settle()
                yield live
                return
        raise AssertionError(f"morbak run ended with {process.wait()} before it served")
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
