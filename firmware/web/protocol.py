"""HTTP below the routes: what is refused is answered like every other error, and silence does not hold a place."""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from typing import Any

import h11
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Response
from websockets.server import ServerProtocol

from firmware.web.guard import HEADERS, refusal

# A request's head arrives within this time of the connection or of the answer before it, or the connection is closed.
HEAD_S = 10.0
# Connections at a time, those that ask nothing among them; beyond, requests are answered with 503.
CONNECTIONS = 500
BUSY = "The board has too many visitors at once; try again in a few seconds."


class PatientHttp(H11Protocol):
    """uvicorn's HTTP/1.1, with JSON for malformed requests and an end to connections that never ask."""

    @property
    def app(self) -> ASGIApp:
        """What answers a request: the board, or where too many are connected a word of that."""
        return self._app if len(self.connections) <= CONNECTIONS else busy

    @app.setter
    def app(self, app: ASGIApp) -> None:
        self._app = app

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Give the first request its time."""
        super().connection_made(transport)
        self.loop.call_later(HEAD_S, self._asked)

    def on_response_complete(self) -> None:
        """Give the next request its time, and what is left of this one's body."""
        super().on_response_complete()
        self.loop.call_later(HEAD_S, self._asked, self.cycle)

    def _asked(self, answered: object = None) -> None:
        if self.cycle is answered and self.transport.get_protocol() is self:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP request, and hang up."""
        body, headers = _error("malformed", f"This is no HTTP request: {msg.rstrip('.')}.")
        told = [(name.encode(), value.encode()) for name, value in headers.items()]
        events = (h11.Response(status_code=400, headers=told, reason=b"Bad Request"), h11.Data(data=body))
        for event in (*events, h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class PlainSockets(WebSocketsSansIOProtocol):
    """uvicorn's WebSocket, with JSON for what is no handshake."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.conn = _Handshakes(max_size=self.config.ws_max_size, logger=self.logger)


class _Handshakes(ServerProtocol):
    """Reads handshakes, and says what is wrong with one like every other error."""

    def reject(self, status: int, text: str) -> Response:
        """The answer to a handshake that fails."""
        response = super().reject(status, text)
        code = "malformed" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "internal"
        said = text.partition("\n")[0].rstrip(".") or HTTPStatus(status).phrase
        response.body, headers = _error(code, f"{said}.")
        for name, value in headers.items():
            response.headers.pop(name, None)
            response.headers[name] = value
        return response


async def busy(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request for which there is no room."""
    answer = refusal(503, "busy", BUSY)
    answer.headers.update({**HEADERS, "connection": "close", "retry-after": "5"})
    await answer(scope, receive, send)


def _error(code: str, text: str) -> tuple[bytes, dict[str, str]]:
    """The body of an error and its headers."""
    body = json.dumps({"error": {"code": code, "text": text}}).encode()
    told = {"content-type": "application/json", "content-length": str(len(body)), "connection": "close"}
    return body, HEADERS | told
