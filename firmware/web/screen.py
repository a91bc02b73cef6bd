"""The heartbeat of the page on the board's own screen, for whoever restarts a browser that shows nothing (case F3)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from firmware.web.messages import BadInput
from hal.ports import Clock

HERE = ("127.0.0.1", "::1", "::ffff:127.0.0.1")


class Screen:
    """Feels the beats of the page on this machine, and tells how old the last one is."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._beat_us: int | None = None
        self.routes = [Route("/api/v1/kiosk", self._kiosk, methods=["GET", "POST"])]

    async def _kiosk(self, request: Request) -> Response:
        now_us = self._clock.now_us()
        if request.method == "POST":
            if request.client is None or request.client.host not in HERE:
                raise BadInput(403, "elsewhere", "Only the page on the board's own screen has a heartbeat.")
            self._beat_us = now_us
        return JSONResponse({"age_ms": None if self._beat_us is None else (now_us - self._beat_us) // 1000})
