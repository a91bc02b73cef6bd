"""Bodies of requests: no larger and no slower than what is sent here needs."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request

from firmware.web.messages import BadInput

# A touch is 30 bytes; nothing that is sent here needs more.
BODY_BYTES = 4096
BODY_S = 5.0


async def body(request: Request) -> bytes:
    """The body of a request, no larger and no slower than a touch may be."""
    too_large = BadInput(413, "too_large", f"A body here has at most {BODY_BYTES} bytes.")
    if int(request.headers.get("content-length", 0)) > BODY_BYTES:
        raise too_large
    data = b""
    try:
        async with asyncio.timeout(BODY_S):
            async for chunk in request.stream():
                data += chunk
                if len(data) > BODY_BYTES:
                    raise too_large
    except TimeoutError as error:
        raise BadInput(408, "too_slow", f"A body here arrives within {BODY_S:g} s.") from error
    except ClientDisconnect as error:
        raise BadInput(400, "cut_off", "The body did not arrive whole.") from error
    return data
