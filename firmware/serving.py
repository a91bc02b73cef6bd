"""A board with its page: the port it is reached on, and how long both run."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import errno
import logging
import signal
import socket
import webbrowser
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import NamedTuple

from firmware.app import App
from firmware.arguments import Misuse
from firmware.operating import Operating
from firmware.web.messages import World
from firmware.web.touches import Contacts
from hal.ports import Board, Clock

log = logging.getLogger("morbak")


class Opened(NamedTuple):
    """A board and its clock; its contacts and the world around it where those are simulated."""

    board: Board
    clock: Clock
    contacts: Contacts | None = None
    world: World | None = None


async def serve(
    app: App,
    opened: Opened,
    parsed: argparse.Namespace,
    listener: socket.socket,
    records: Callable[[], Iterator[str]],
    operating: Operating | None = None,
    token: str = "",
) -> None:
    """Run an app, and as soon as it can be had its page, until a signal or the app itself ends it."""
    ended = asyncio.Event()
    page = asyncio.create_task(_page(ended, app, opened, parsed, listener, records, operating, token))
    page.add_done_callback(_lost)
    try:
        await app.run()
    finally:
        ended.set()
        await page


async def _page(
    ended: asyncio.Event,
    app: App,
    opened: Opened,
    parsed: argparse.Namespace,
    listener: socket.socket,
    records: Callable[[], Iterator[str]],
    operating: Operating | None,
    token: str,
) -> None:
    """The page of an app, until that has ended; whoever asks before it is there waits at the listener."""
    for name in ("operator", "server"):  # half of what a start waits for; the board plays meanwhile
        await asyncio.to_thread(import_module, f"firmware.web.{name}")
    from firmware.web.address import phone_address
    from firmware.web.operator import Operator
    from firmware.web.server import Server, Web

    phone = phone_address(parsed.host, listener.getsockname()[1])
    operator = Operator(operating, token, phone) if operating is not None else None
    web = Web(app, opened.contacts, parsed.host, records, opened.world, operator)
    server = Server(web)
    if parsed.open:
        webbrowser.open(address(parsed.host, listener))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    clocks = asyncio.create_task(web.tell_clocks())
    try:
        await ended.wait()
    finally:
        clocks.cancel()
        server.should_exit = True
        await serving


def _lost(page: asyncio.Task[None]) -> None:
    """The board plays on without its page, which must not go unexplained."""
    if not page.cancelled() and (error := page.exception()) is not None:
        log.critical("the page failed: %s", error, exc_info=error)


def end_on_signals(app: App) -> None:
    """End an app when somebody asks this process to end."""
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(name, app.stop)


def listen_on(host: str, port: int) -> socket.socket:
    """A listening socket; a port that is taken is said in a sentence. Raises Misuse."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "another program has it (`sudo ss -ltnp` says which); stop that, or choose another with --port"
        if "in use" not in reason.lower():
            hint = reason
        if error.errno == errno.EADDRNOTAVAIL:
            hint = "this machine has no such address; 0.0.0.0 is all it has, and without --host it is itself alone"
        raise Misuse(f"cannot listen on {host} port {port}: {hint}.") from error


def address(host: str, listener: socket.socket) -> str:
    """Where the page is, for a browser on this machine."""
    port = listener.getsockname()[1]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{name}:{port}/"
