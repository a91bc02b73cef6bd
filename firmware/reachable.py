"""Around a board that runs: who watches its loop and its log, and the socket by which `morbak ctl` reaches it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from firmware.app import App
from firmware.chronicle import Chronicle
from firmware.ctl_socket import CtlServer, place
from firmware.events import Recent, say
from firmware.operating import Operating, Watched
from firmware.stalls import Stalls

log = logging.getLogger("morbak")

# How often a footing that was found bad is looked at again.
LOOK_S = 2.0


@contextlib.asynccontextmanager
async def reachable(app: App, state: Path, recent: Recent) -> AsyncIterator[Operating]:
    """Answer operators while inside; `recent`: the last lines of the log."""
    chronicle = Chronicle(app.engine, app.clock)
    app.changed.append(chronicle.look)
    with contextlib.closing(Stalls(asyncio.get_running_loop())) as stalls:
        operating = Operating(app, Watched(recent, chronicle, state, stalls))
        socket = place(state)
        server = CtlServer(socket, operating.do)
        sentence = await server.start()
        if sentence is not None and (
            os.path.isdir(state) or socket.parent != state
        ):  # a missing state directory is told
            log.warning("%s", sentence)
        looking = asyncio.create_task(_look_down(app, state))
        say("started", board=app.engine.board.capabilities.name, phase=app.engine.table.phase, state=state)
        try:
            yield operating
        finally:
            server.close()
            looking.cancel()
            await asyncio.wait([looking])
            say("ended", again=app.again)


async def _look_down(app: App, state: Path) -> None:
    """Tell the health of what the board stands on; where that is bad, somebody may mend it."""
    from firmware.footing import footing

    while True:
        part = await asyncio.to_thread(footing, state)  # takes a while, and plays no part
        app.engine.note("root", part)
        if part.ok:
            break
        await asyncio.sleep(LOOK_S)


def start_anew(environ: Mapping[str, str] = os.environ) -> None:
    """Become the same command once more: same process, same arguments, fresh code. Everything must be closed.

    A service only ends: its manager starts it anew (Restart=always), and would kill a process that goes on after it
    has said that it stops.
    """
    if "NOTIFY_SOCKET" in environ:
        return
    logging.shutdown()
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - ourselves
