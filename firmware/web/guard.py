"""What stands before every request: who may ask, how much, and what a browser may do with the answer."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}

# How an answer begins, the one that refuses a socket among them.
STARTS = ("http.response.start", "websocket.http.response.start")


def refusal(status: int, code: str, text: str) -> JSONResponse:
    """An error as every client reads it: a code for programs, a sentence for people."""
    return JSONResponse({"error": {"code": code, "text": text}}, status_code=status)


async def no_socket(socket: WebSocket) -> None:
    """Refuse a socket at an address that has none."""
    text = f"There is no socket at {socket.url.path}; there is one at /api/v1/events."
    await socket.send_denial_response(refusal(404, "not_found", text))


class Guard:
    """Refuses other sites' pages (Origin) and names that are not this machine's (DNS rebinding); adds headers."""

    def __init__(self, app: ASGIApp, names: Iterable[str]) -> None:
        """`names`: host names by which this board may be called, beside IP addresses and localhost."""
        self._app = app
        machine = socket.gethostname().lower()
        self._names = {"localhost", machine, f"{machine}.local", *(name.lower() for name in names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with 403."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        answer = self._refused(headers) or self._app
        await answer(scope, receive, self._with_headers(send))

    def _refused(self, headers: Headers) -> JSONResponse | None:
        host = headers.get("host", "")
        if not self._known(host):
            return refusal(403, "unknown_host", f"This board is not called {host!r}; use its address.")
        origin = headers.get("origin")
        if origin is not None and _netloc(origin) != host.lower():
            return refusal(403, "cross_origin", f"A page of {origin} may not act on this board.")
        return None

    def _known(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self._names or _is_address(name)

    @staticmethod
    def _with_headers(send: Send) -> Send:
        async def send_with_headers(message: Message) -> None:
            if message["type"] in STARTS:
                headers = MutableHeaders(scope=message)
                stored = headers.get("cache-control")  # what an answer says itself of being stored holds
                headers.update(HEADERS if stored is None else {**HEADERS, "cache-control": stored})
            await send(message)

        return send_with_headers


def _netloc(origin: str) -> str | None:
    """Host and port of an origin; None for one that cannot be read, or that has none."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
