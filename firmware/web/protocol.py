"""HTTP below the routes: what is no request is answered like every other error, and silence does not hold a place."""

from __future__ import annotations

import asyncio
import json

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from firmware.web.guard import HEADERS

# A request's head arrives within this time of the connection or of the answer before it, or the connection is closed.
HEAD_S = 10.0


class PatientHttp(H11Protocol):
    """uvicorn's HTTP/1.1, with JSON for malformed requests and an end to connections that never ask."""

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
        error = {"error": {"code": "malformed", "text": f"This is no HTTP request: {msg.rstrip('.')}."}}
        body = json.dumps(error).encode()
        headers = [*HEADERS.items(), ("content-type", "application/json"), ("content-length", str(len(body)))]
        told = [(name.encode(), value.encode()) for name, value in [*headers, ("connection", "close")]]
        events = (h11.Response(status_code=400, headers=told, reason=b"Bad Request"), h11.Data(data=body))
        for event in (*events, h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
