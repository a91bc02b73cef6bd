"""What an operator may do over HTTP, with the board's token; the work itself is done by `firmware.operating`."""

from __future__ import annotations

import logging
import time
from importlib.resources import files

import msgspec
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from firmware import operator_commands as commands
from firmware.events import say
from firmware.operating import Operating
from firmware.operator_commands import Act, AnyCommand, Logs, Refused
from firmware.operator_token import fits
from firmware.web import codes
from firmware.web.address import is_local, operator_address
from firmware.web.attempts import Attempts
from firmware.web.bodies import body
from firmware.web.messages import BadInput

SCHEME = "bearer "
# What the token opens is kept by no browser and by nothing on the way.
UNSTORED = {"cache-control": "no-store"}
# What a proxy adds: whoever asks through one is not at this machine, whatever his address.
FORWARDED = ("forwarded", "x-forwarded-for", "via")
# Codes of refusals that are the sender's mistake, not the board's state.
STATUSES = {"malformed": 400, "unknown_cell": 400, "unknown_action": 400, "nothing": 400, "too_many": 429}


class ActMessage(msgspec.Struct, forbid_unknown_fields=True):
    """One action of the side to move, as records write it: `d4`, `xd4`, `#d4`, `!d4`."""

    action: str


class Operator:
    """Answers the requests that need the token."""

    def __init__(self, operating: Operating, token: str, address: str) -> None:
        """`address`: under which phones reach this board."""
        self._operating, self._token, self._address = operating, token, address
        self._attempts = Attempts()
        self.routes = [
            Route("/operator", self._page),
            Route("/api/v1/act", self._act, methods=["POST"]),
            Route("/api/v1/operator", self._status),
            Route("/api/v1/operator", self._command, methods=["POST"]),
            Route("/api/v1/operator/logs", self._logs),
            Route("/api/v1/operator/report", self._report),
            Route("/api/v1/qr/operator", self._code),
        ]

    async def _page(self, _request: Request) -> Response:
        """The page itself holds nothing: all it shows is asked for with the token."""
        return FileResponse(str(files("firmware.web") / "static" / "operator.html"))

    def _check(self, request: Request) -> None:
        """Let the holder of the token pass; raises BadInput for anybody else."""
        host, now_s = _host(request), time.monotonic()
        if (wait_s := self._attempts.wait_s(host, now_s)) > 0:
            text = f"Too many wrong tokens came from {host}: try again in {wait_s:.0f} s."
            raise BadInput(429, "too_many", text)
        given = request.headers.get("authorization", "")
        if not given.lower().startswith(SCHEME) or not fits(self._token, given[len(SCHEME) :].strip()):
            if given:
                self._attempts.failed(host, now_s)
                say("wrong_token", logging.WARNING, address=host)
            raise BadInput(401, "unauthorized", "This needs the board's token: Authorization: Bearer TOKEN.")
        self._attempts.passed(host)

    async def _act(self, request: Request) -> Response:
        """Play one action for the side to move; it goes the way of every touch, through the same journal."""
        self._check(request)
        try:
            text = msgspec.json.decode(await body(request), type=ActMessage).action
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BadInput(400, "malformed", f'An action is sent as {{"action":"d4"}}: {error}.') from error
        await self._do(request, Act(text))
        return _private({"action": text.lower()})

    async def _command(self, request: Request) -> Response:
        """Carry out one command."""
        self._check(request)
        try:
            command = commands.read(await body(request))
        except Refused as refused:
            raise BadInput(400, refused.code, refused.text) from refused
        return _private(await self._do(request, command))

    async def _status(self, request: Request) -> Response:
        """How the board is."""
        self._check(request)
        return _private(self._operating.status())

    async def _logs(self, request: Request) -> Response:
        """The last lines of the log."""
        self._check(request)
        return _private(await self._do(request, Logs()))

    async def _report(self, request: Request) -> Response:
        """A bundle for a bug report, as a zip archive."""
        self._check(request)
        try:
            data = await self._operating.report([self._token])
        except Refused as refused:
            raise BadInput(429, refused.code, refused.text) from refused
        headers = {**UNSTORED, "content-disposition": 'attachment; filename="morbak-report.zip"'}
        return Response(data, media_type="application/zip", headers=headers)

    async def _code(self, request: Request) -> Response:
        """The operator's code: on the board's own screen alone, and only while somebody at the board has it shown."""
        if not is_local(_host(request)) or any(name in request.headers for name in FORWARDED):
            raise BadInput(403, "not_here", "The operator's code shows on the board's own screen only.")
        if not self._operating.code_shows:
            raise BadInput(404, "not_found", "The operator's code shows while somebody at the board has asked for it.")
        picture = codes.svg(operator_address(self._address, self._token))
        return Response(picture, media_type="image/svg+xml", headers=UNSTORED)

    async def _do(self, request: Request, command: AnyCommand) -> dict[str, object]:
        try:
            return await self._operating.do(command, f"page {_host(request)}")
        except Refused as refused:
            raise BadInput(STATUSES.get(refused.code, 409), refused.code, refused.text) from refused


def _private(told: dict[str, object]) -> JSONResponse:
    return JSONResponse(told, headers=UNSTORED)


def _host(request: Request) -> str:
    return request.client.host if request.client is not None else "nobody"
