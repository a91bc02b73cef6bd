"""The board on HTTP: the page, the state, the frames, and on a simulated board its contacts."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from importlib.resources import files
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from firmware.app import App
from firmware.game_record import record_of
from firmware.games import morbak
from firmware.record import parse_record
from firmware.web import codes
from firmware.web.bodies import BODY_BYTES, body
from firmware.web.guard import Guard, no_socket, refusal
from firmware.web.hub import Hub, Watcher
from firmware.web.messages import BadInput, World, read_touch, read_world, told
from firmware.web.operator import Operator
from firmware.web.protocol import BUSY, PatientHttp, PlainSockets
from firmware.web.screen import Screen
from firmware.web.touches import Contacts, Touches

CLOCKS_S = 1.0
# Pages that watch at a time; a board has a screen or twenty, and each costs the loop a little.
WATCHERS = 100
STATIC = files("firmware.web") / "static"
LANGUAGES = ("en", "fr")
STATUS_CODES = {404: "not_found", 405: "method_not_allowed"}
Records = Callable[[], Iterator[str]]
POSTED = "post"  # the holder of contacts that were posted


class Web:
    """Everything served over HTTP, around one `App`."""

    def __init__(
        self,
        app: App,
        contacts: Contacts | None,
        host: str = "127.0.0.1",
        records: Records = lambda: iter(()),
        world: World | None = None,
        operator: Operator | None = None,
    ) -> None:
        """`contacts`, `world`: those of a simulated board, None on a board that is touched by fingers only.

        `records`: the finished games as lines of JSON, oldest first; called in a thread of its own. `operator`: who
        answers operators; without one nobody acts from outside.
        """
        self._records_of = records
        self._app, self._engine, self._clock = app, app.engine, app.clock
        self._touches = Touches(contacts, app.clock, app.engine.felt) if contacts is not None else None
        self._world = world
        self._operator = operator
        self._hub = Hub()
        self._screen = Screen(app.clock)
        self._told = self._engine.document(self._clock.now_us())["seq"]  # whoever comes is told of the state then
        app.changed.append(self._tell)
        self.asgi = Guard(self._routes(), [host])

    def _routes(self) -> Starlette:
        routes: list[Route | WebSocketRoute | Mount] = [
            Route("/", self._page),
            Route("/healthz", self._healthz),
            Route("/api/v1/state", self._state),
            Route("/api/v1/frame", self._frame),
            Route("/api/v1/latency", self._latency),
            Route("/api/v1/records", self._records),
            Route("/api/v1/qr/rules", self._qr_rules),
            Route("/api/v1/qr/record", self._qr_record),
            *self._screen.routes,
            WebSocketRoute("/api/v1/events", self._events),
            WebSocketRoute("/{path:path}", no_socket),
            Mount("/static", StaticFiles(directory=str(STATIC))),
        ]
        if self._touches is not None:
            routes.append(Route("/api/v1/sim/touch", self._touch, methods=["POST"]))
        if self._operator is not None:
            routes += self._operator.routes
        if self._world is not None:
            routes.append(Route("/api/v1/sim/world", self._change_world, methods=["GET", "POST"]))
        handlers: dict[Any, Callable[[Request, Any], Response | Awaitable[Response]]] = {
            HTTPException: self._failed,
            BadInput: self._bad_input,
            Exception: self._broken,
        }
        served = Starlette(routes=routes, exception_handlers=handlers)
        served.router.redirect_slashes = False
        return served

    # -- answers -------------------------------------------------------------------------------------------------

    async def _page(self, _request: Request) -> Response:
        return FileResponse(str(STATIC / "index.html"))

    async def _healthz(self, _request: Request) -> Response:
        """For whoever watches many boards: 200 while all is well, else 503 with the parts that are not."""
        failed = sorted(self._engine.failing)
        told = {"ok": not failed, "phase": self._engine.table.phase, "failed": failed}
        return JSONResponse(told, status_code=503 if failed else 200)

    async def _state(self, _request: Request) -> Response:
        return JSONResponse(self._engine.document(self._clock.now_us()))

    async def _frame(self, _request: Request) -> Response:
        wire = self._engine.board.wire().hex()
        return JSONResponse({"cells": [f"#{wire[at : at + 6]}" for at in range(0, len(wire), 6)]})

    async def _latency(self, _request: Request) -> Response:
        return JSONResponse(self._engine.meter.report())

    async def _records(self, _request: Request) -> Response:
        lines = await asyncio.to_thread(lambda: list(self._records_of()))
        return Response("".join(f"{line}\n" for line in lines), media_type="application/jsonl")

    async def _qr_rules(self, request: Request) -> Response:
        """The rules as text, for a phone without a network: `?lang=fr` or `en`."""
        lang = request.query_params.get("lang", "en")
        if lang not in LANGUAGES:
            raise BadInput(404, "not_found", f"There are no rules in {lang!r}; there are in {' and '.join(LANGUAGES)}.")
        return _code((STATIC / f"rules.{lang}.txt").read_text("utf-8"))

    async def _qr_record(self, _request: Request) -> Response:
        """The record of the game that was finished last, as short as `morbak replay` can read it."""
        game = self._engine.table.game
        if game is not None and game.ending is not None:  # the disk may be slower than the phone
            return _code(codes.short_record(record_of(game, 0)))
        lines = await asyncio.to_thread(lambda: deque(self._records_of(), maxlen=1))
        if not lines:
            raise BadInput(404, "not_found", "No game has been finished on this board yet.")
        return _code(codes.short_record(parse_record(lines[0])))

    async def _touch(self, request: Request) -> Response:
        assert self._touches is not None
        cell, down = read_touch(await body(request))
        if down:
            await asyncio.sleep(self._touches.down(POSTED, cell, lease_s=None))
        else:
            await self._touches.up(POSTED, cell).wait()
        return JSONResponse({"cell": morbak.cell_name(cell), "down": down})

    async def _change_world(self, request: Request) -> Response:
        assert self._world is not None
        if request.method == "POST":
            self._world.change(read_world(await body(request), self._world.condition))
        return JSONResponse(told(self._world.condition))

    async def _failed(self, request: Request, error: HTTPException) -> Response:
        code = STATUS_CODES.get(error.status_code, "refused")
        answer = refusal(error.status_code, code, f"{request.method} {request.url.path}: {error.detail}.")
        answer.headers.update(error.headers or {})
        return answer

    async def _broken(self, request: Request, error: Exception) -> Response:
        """A fault of ours: the log has it, the client hears of it."""
        return refusal(500, "internal", f"{request.url.path} failed: {type(error).__name__}; the log says more.")

    async def _bad_input(self, _request: Request, error: BadInput) -> Response:
        return refusal(error.status, error.code, error.text)

    # -- sockets -------------------------------------------------------------------------------------------------

    async def _events(self, socket: WebSocket) -> None:
        if len(self._hub.watchers) >= WATCHERS:
            await socket.send_denial_response(refusal(503, "busy", BUSY))
            return
        await socket.accept()
        watcher = Watcher(socket)
        watcher.tell(_text({"state": self._engine.document(self._clock.now_us()), "hello": self._hello()}))
        self._app.shown.append(watcher.show)  # before the frame of this moment, so that none is missed
        watcher.show(self._engine.board.wire())
        self._hub.watchers.add(watcher)
        jobs = {asyncio.create_task(watcher.pump()), asyncio.create_task(self._listen(socket, watcher))}
        try:
            done, _ = await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
            for job in done:
                with contextlib.suppress(WebSocketDisconnect, OSError):
                    job.result()
        finally:
            self._hub.watchers.discard(watcher)
            self._app.shown.remove(watcher.show)
            if self._touches is not None:
                self._touches.gone(watcher)
            for job in jobs:
                job.cancel()
        if watcher.slow:
            with contextlib.suppress(RuntimeError, OSError):
                await socket.close(1013, "too slow")

    async def _listen(self, socket: WebSocket, watcher: Watcher) -> None:
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            try:
                self._touched(watcher, message.get("text") or message.get("bytes") or b"")
            except BadInput as error:
                watcher.tell(_text({"error": {"code": error.code, "text": error.text}}))

    def _touched(self, watcher: Watcher, body: bytes | str) -> None:
        if self._touches is None:
            raise BadInput(403, "watching_only", "This board is touched with fingers; the page only watches.")
        cell, down = read_touch(body)
        if down:
            self._touches.down(watcher, cell)
        else:
            self._touches.up(watcher, cell)

    def _hello(self) -> dict[str, object]:
        board = self._engine.board.capabilities
        return {
            "touch": self._touches is not None,
            "world": self._world is not None,
            "rows": board.rows,
            "columns": board.columns,
            "hold_ms": self._engine.table.gesture.times.hold_us // 1000,
        }

    def _tell(self) -> None:
        document = self._engine.document(self._clock.now_us())
        if document["seq"] != self._told:
            self._told = document["seq"]
            self._hub.tell(_text({"state": document}))

    async def tell_clocks(self) -> None:
        """Send the clocks once a second, for ever."""
        while True:
            await asyncio.sleep(CLOCKS_S)
            if self._hub.watchers:
                self._hub.tell(_text(self._engine.clocks(self._clock.now_us())))


class Server(uvicorn.Server):
    """uvicorn in the app's own loop; signals are the app's."""

    def __init__(self, web: Web) -> None:
        super().__init__(
            uvicorn.Config(
                web.asgi,
                lifespan="off",
                log_config=None,
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=False,  # whoever asks could give himself any address
                http=PatientHttp,
                ws=PlainSockets,
                ws_max_size=BODY_BYTES,
                ws_per_message_deflate=False,
                timeout_graceful_shutdown=1,
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield


def _code(text: str) -> Response:
    try:
        return Response(codes.svg(text), media_type="image/svg+xml")
    except ValueError as error:
        raise BadInput(404, "too_long", "That game is too long for a code; GET /api/v1/records has it.") from error


def _text(message: dict[str, object]) -> str:
    return msgspec.json.encode(message).decode()
