"""A board that says whatever a test wants: the real page and its files, behind them a state and a frame made up."""

from __future__ import annotations

import asyncio
import copy
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from firmware.web import codes
from firmware.web.guard import Guard
from firmware.web.protocol import PatientHttp, PlainSockets
from firmware.web.server import STATIC

EMPTY = "......./......./......./......./......./......./....... a 7:7 1:1"
HELLO = {"touch": True, "world": False, "rows": 7, "columns": 7, "hold_ms": 800}
WELL = {"ok": True, "text": "ok"}
STATE: dict[str, Any] = {
    "seq": 1, "phase": "attract", "position": EMPTY, "starter": None, "to_move": None,
    "clocks_ms": {"a": 900_000, "b": 900_000}, "pools": {"a": 7, "b": 7}, "neutralisations": {"a": 1, "b": 1},
    "move_left_ms": None, "parks_in_ms": None, "last_action": None, "legal": [], "refusal": None,
    "result": None, "reason": None, "line": None, "menu": None, "replay": None, "masked": [],
    "match": {"series": 1, "score": {"a": 0, "b": 0}, "over": False},
    "chosen": {"brightness_pct": None, "language": None, "marks": False, "volume_pct": 50},
    "health": {"ok": True, "parts": dict.fromkeys(("matrix", "leds", "cells", "queue", "journal"), WELL)},
}  # fmt: skip


class StubBoard:
    """What the page is told, and what it sent. Calls come from the test's thread."""

    def __init__(self) -> None:
        self.port = 0
        self.touches: list[dict[str, Any]] = []
        self._state = copy.deepcopy(STATE)
        self._frame = bytes(147)
        self._sockets: set[WebSocket] = set()
        self._gone = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def say(self, **changed: Any) -> None:
        """Change the state and tell it."""
        self._state = {**self._state, **changed, "seq": self._state["seq"] + 1}
        self._send({"state": self._state})

    def fail(self, **parts: str) -> None:
        """Let parts have failed, each with the board's own words; none = all is well."""
        told = {name: {"ok": False, "text": text} for name, text in parts.items()}
        self.say(health={"ok": not told, "parts": STATE["health"]["parts"] | told})

    def clocks(self, **told: Any) -> None:
        """What is told once a second."""
        self._send({"clocks_ms": self._state["clocks_ms"], "move_left_ms": None, "parks_in_ms": None, **told})

    def shine(self, colour: bytes) -> None:
        """One wire colour on every cell."""
        self._frame = colour * 49
        self._do(lambda: [socket.send_bytes(self._frame) for socket in self._sockets])

    def stop(self) -> None:
        """Hang up and be gone."""
        self._gone = True
        self._do(lambda: [socket.close() for socket in self._sockets])

    def _send(self, message: dict[str, Any]) -> None:
        self._do(lambda: [socket.send_text(json.dumps(message)) for socket in self._sockets])

    def _do(self, calls: Any) -> None:
        async def all_of() -> None:
            await asyncio.gather(*calls())

        assert self._loop is not None
        asyncio.run_coroutine_threadsafe(all_of(), self._loop).result(5)

    async def events(self, socket: WebSocket) -> None:
        """The page's socket."""
        if self._gone:
            return  # without an answer the page's socket is refused
        self._loop = asyncio.get_running_loop()
        await socket.accept()
        await socket.send_text(json.dumps({"state": self._state, "hello": HELLO}))
        await socket.send_bytes(self._frame)
        self._sockets.add(socket)
        beat = asyncio.create_task(self._beat(socket))
        try:
            while True:
                self.touches.append(json.loads(await socket.receive_text()))
        except WebSocketDisconnect:
            self._sockets.discard(socket)
        finally:
            beat.cancel()

    async def _beat(self, socket: WebSocket) -> None:
        """A frame a second, as a board at rest sends: a page takes a silent socket for a dead one."""
        while True:
            await asyncio.sleep(1)
            await socket.send_bytes(self._frame)


async def _page(_: Request) -> Response:
    return FileResponse(str(STATIC / "index.html"))


async def _code(_: Request) -> Response:
    return Response(codes.svg("a code"), media_type="image/svg+xml")


@contextmanager
def stub_board() -> Iterator[StubBoard]:
    """A stub that serves on a port of its own, with the real headers."""
    stub = StubBoard()
    routes = [
        Route("/", _page),
        Route("/api/v1/qr/{name}", _code),
        WebSocketRoute("/api/v1/events", stub.events),
        Mount("/static", StaticFiles(directory=str(STATIC))),
    ]
    app = Guard(Starlette(routes=routes), [])
    config = uvicorn.Config(app, port=0, log_config=None, lifespan="off", http=PatientHttp, ws=PlainSockets)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not (server.started and server.servers):
        if not thread.is_alive():
            raise AssertionError("the stub did not start")
        thread.join(0.01)
    stub.port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield stub
    finally:
        server.should_exit = server.force_exit = True
        thread.join(5)
