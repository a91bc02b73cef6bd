"""`morbak run`: the board put together, attended and reachable while it plays; or at rest in safe mode."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import faulthandler
import logging
import os
import random
import socket
import time
from collections.abc import Callable
from pathlib import Path

from firmware import good_start, settings_file
from firmware.app import RealClock
from firmware.arguments import Misuse, profile
from firmware.assembly import Assembly
from firmware.attendant import attended
from firmware.cable_wait import awaited
from firmware.engine import Make
from firmware.events import Recent, listen
from firmware.operator_token import token_in
from firmware.reachable import reachable, start_anew
from firmware.safe_mode import safe_app
from firmware.serving import Opened, address, end_on_signals, listen_on, serve
from firmware.start_record import StartRecord
from firmware.state_directory import StateDirectory, default
from firmware.trace_recorder import MB, recording
from hal.drivers import SIMULATED
from hal.errors import BoardError
from hal.opening import open_lights
from hal.ports import Board
from hal.profile import Profile

log = logging.getLogger("morbak")

# Opens the board of a profile, with a seed for what is simulated of it.
Opener = Callable[[Profile, int], Opened]


def run(parsed: argparse.Namespace, opener: Opener) -> int:
    """`morbak run`: play until a signal, an operator or an error ends it; or rest, after starts that have died."""
    recent = listen()
    if "NOTIFY_SOCKET" in os.environ:
        faulthandler.enable()  # a watchdog's SIGABRT then leaves in the log where each thread was
    started = StartRecord.begin()
    with started.watched():
        time.sleep(started.record.pause_s)
        play = _run_safe if started.record.safe else _run_well
        again = play(parsed, opener, started, recent)
    if again and "NOTIFY_SOCKET" not in os.environ:  # a service is started anew by its manager
        start_anew()
    return 0


def _run_well(parsed: argparse.Namespace, opener: Opener, start: StartRecord, recent: Recent) -> bool:
    board = awaited(parsed.board)
    choice = settings_file.choose(parsed.config, board)
    with (
        listen_on(parsed.host, parsed.port) as listener,
        contextlib.closing(StateDirectory.open(parsed.state)) as state,
        recording(parsed.trace, parsed.most_mb * MB, board.matrix.driver) as make,
    ):
        started = settings_file.settle(choice, board, state.path)
        log.info("Settings: %s.", started.source.file)
        for sentence in (*started.sentences, state.trouble):
            if sentence is not None:
                log.warning("%s", sentence)
        state.tell(*settings_file.keep(started, board, state.path))
        return asyncio.run(_play(opener, board, started, parsed, listener, state, start, recent, make))


async def _play(
    opener: Opener,
    profile: Profile,
    started: settings_file.Started,
    parsed: argparse.Namespace,
    listener: socket.socket,
    state: StateDirectory,
    start: StartRecord,
    recent: Recent,
    make: Make,
) -> bool:
    """Put the board together and play until a signal or an operator ends it; True if it is to be started anew."""
    seed = random.SystemRandom().randrange(2**32) if parsed.seed is None else parsed.seed
    with good_start.watched(profile, state.path):
        opened = opener(profile, seed)
    assembly = Assembly(opened.board, opened.clock, started, state, random.Random(seed), make=make)
    end_on_signals(assembly.app)  # before the line below: whoever has read it may end the board
    app = assembly.app
    try:
        async with (
            reachable(app, state.path, recent) as operating,
            attended(RealClock(), assembly.rounds, start, app.engine.sentence),
        ):
            print(f"The board is at {address(parsed.host, listener)}  (seed {seed}; Ctrl-C ends)", flush=True)
            await asyncio.gather(
                serve(app, opened, parsed, listener, assembly.journal.records, operating, assembly.token),
                good_start.kept(profile, state.path),
            )
    finally:
        await asyncio.to_thread(assembly.close)
    return app.again


def _run_safe(parsed: argparse.Namespace, opener: Opener, start: StartRecord, recent: Recent) -> bool:
    """Rest in safe mode; what cannot be had, be it the page or the LEDs, is logged and done without."""
    if parsed.trace is not None:
        log.error("No trace: a board in safe mode hears nothing.")
    with contextlib.ExitStack() as held:
        listener, token, path = None, "", default(os.environ)
        try:
            listener = held.enter_context(listen_on(parsed.host, parsed.port))
        except Misuse as error:
            log.error("No page: %s", error)
        try:
            state = held.enter_context(contextlib.closing(StateDirectory.open(parsed.state)))
            token, path = token_in(state.path)[0], state.path
            if state.trouble is not None:
                log.warning("%s", state.trouble)
        except BoardError as error:
            log.error("No operator: %s", error)
        return asyncio.run(_rest(parsed, opener, listener, token, start, path, recent))


async def _rest(
    parsed: argparse.Namespace,
    opener: Opener,
    listener: socket.socket | None,
    token: str,
    start: StartRecord,
    state: Path,
    recent: Recent,
) -> bool:
    board, clock = _lights(parsed.board, opener), RealClock()
    app = safe_app(board, clock, start.record)
    end_on_signals(app)
    async with reachable(app, state, recent) as operating, attended(clock, app.rounds, start, app.engine.sentence):
        if listener is None:
            await app.run()
        else:
            await serve(
                app, Opened(board, clock), parsed, listener, lambda: iter(()), operating if token else None, token
            )
    return app.again


def _lights(name: str, opener: Opener) -> Board:
    """A board that only shows. Of a profile that cannot be used no pin is touched (case G7)."""
    try:
        found = profile(name)
    except BoardError as error:
        log.error("No lights: %s", error)
        found = profile(SIMULATED)
    return opener(found, 0).board if found.matrix.driver == SIMULATED else open_lights(found)
