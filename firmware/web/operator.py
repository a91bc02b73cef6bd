"""What an operator may do from outside, with the board's token: act for a player at the table."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from firmware.app import App
from firmware.games import morbak
from firmware.operator_token import fits
from firmware.web.messages import BadInput

SCHEME = "bearer "
# Why an action did not count, in words for whoever sent it.
REASONS = {
    "not_in_play": "Nobody is playing now; an action needs a game whose clock runs.",
    "not_saved": "The board did not take the action in time, because its disk or its scan stands still; look first.",
}


class ActMessage(msgspec.Struct, forbid_unknown_fields=True):
    """One action of the side to move, as records write it: `d4`, `xd4`, `#d4`, `!d4`."""

    action: str


class Operator:
    """Answers the requests that need the token."""

    def __init__(self, app: App, token: str) -> None:
        self._app, self._token = app, token

    def check(self, request: Request) -> None:
        """Let the holder of the token pass; raises BadInput for anybody else."""
        given = request.headers.get("authorization", "")
        if not given.lower().startswith(SCHEME) or not fits(self._token, given[len(SCHEME) :].strip()):
            raise BadInput(401, "unauthorized", "This needs the board's token: Authorization: Bearer TOKEN.")

    async def act(self, body: bytes) -> Response:
        """Play one action for the side to move; it goes the way of every touch, through the same journal."""
        action = read_act(body)
        refused = await self._app.act(action)
        if refused is not None:
            reason = REASONS.get(refused, f"The rules refuse {action.text}: {refused}.")
            raise BadInput(409, refused, reason)
        return JSONResponse({"action": action.text})


def read_act(body: bytes) -> morbak.Action:
    """The action that was sent. Raises BadInput for anything else."""
    try:
        action = morbak.parse_action(msgspec.json.decode(body, type=ActMessage).action)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(400, "malformed", f'An action is sent as {{"action":"d4"}}: {error}.') from error
    except morbak.UnreadableText as error:
        raise BadInput(400, "unknown_action", f"{error}; actions are d4, xd4, #d4 and !d4.") from error
    if action is morbak.PASS:
        raise BadInput(409, "pass", "Nobody may pass at will; a pass is played by the board where it is due.")
    return action
