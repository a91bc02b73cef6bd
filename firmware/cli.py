"""The command `morbak`, and playing on a board. Exit 0 ok, 1 a check failed, 2 usage or configuration."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import os
import random
import signal
import socket
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from firmware import settings_file
from firmware.app import App, RealClock
from firmware.arguments import Misuse, add_board, count, port, profile
from firmware.commands_config import add_config
from firmware.commands_records import add_records
from firmware.commands_rules import add_perft, add_replay
from firmware.commands_state import add_state_commands
from firmware.engine import Engine
from firmware.game_record import game_from
from firmware.journal import Journal
from firmware.lights import Lights
from firmware.state_directory import StateDirectory
from firmware.table import Table
from firmware.wall import wall
from hal.errors import BoardError
from hal.ports import Board, Clock
from hal.profile import Profile

log = logging.getLogger("morbak")

EXAMPLES = """examples:
  morbak run --board sim --open          play on this computer, in the browser
  morbak perft 4                         count the action sequences of length 4: 5762400
  morbak perft 2 --divide --position "......./......./......./......./......./......./....... a 7:7 1:1"
  morbak replay games.jsonl              check game records; - reads from standard input
  morbak records show 12                 a finished game, drawn in the terminal
  morbak config show > settings.toml     every setting with its meaning, as a file to start from
  morbak state export backup.jsonl       the game in progress, all records, what was chosen at the board
  morbak soak --games 50 --seed 1        whole games through simulated wires in virtual time

exit status: 0 ok, 1 a check failed, 2 usage or configuration
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    parsed = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    try:
        status: int = parsed.command(parsed)
        if sys.stdout is not None:
            sys.stdout.flush()
    except (Misuse, BoardError) as error:
        print(f"morbak: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return _deaf()
    except OSError as error:
        if parsed.command is _run:
            raise
        print(f"morbak: {error.filename or 'standard output'}: {error.strerror or error}.", file=sys.stderr)
        return _deaf()
    return status


def _deaf() -> int:
    """Nobody takes what is printed: let the interpreter's own flush at the end succeed; the status for that."""
    with contextlib.suppress(OSError, ValueError, AttributeError):  # a standard output that is closed, or no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="morbak",
        description="The electronic MORBAK board.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_run(commands.add_parser("run", help="play: open a board and serve its page"))
    add_records(commands.add_parser("records", help="the games that were finished on this board"))
    add_config(commands.add_parser("config", help="check and show the settings"))
    add_state_commands(commands.add_parser("state", help="carry games, records and choices to another board, and back"))
    add_replay(commands.add_parser("replay", help="check and complete game records"))
    add_perft(commands.add_parser("perft", help="count the action sequences of a length"))
    _add_soak(commands.add_parser("soak", help="play whole games through simulated wires in virtual time"))
    return parser


# -- run ---------------------------------------------------------------------------------------------------------


def _add_run(parser: argparse.ArgumentParser) -> None:
    add_board(parser)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this computer only)")
    parser.add_argument("--port", type=port, default=8700, help="port of the page (default: 8700)")
    parser.add_argument(
        "--state",
        type=Path,
        metavar="DIR",
        help="directory for what must outlive a restart (default: $STATE_DIRECTORY, else XDG's state directory)",
    )
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="settings (default: where `morbak config --help` says)"
    )
    parser.add_argument("--seed", type=int, help="seed of lots and of the simulated contacts, to repeat a run")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.set_defaults(command=_run)


def _run(parsed: argparse.Namespace) -> int:
    board = profile(parsed.board)
    choice = settings_file.choose(parsed.config, board)
    with _listen(parsed.host, parsed.port) as listener, contextlib.closing(StateDirectory.open(parsed.state)) as state:
        started = settings_file.settle(choice, board, state.path)
        log.info("Settings: %s.", started.source.file)
        for sentence in (*started.sentences, *settings_file.keep(started, board, state.path)):
            log.warning("%s", sentence)
        return asyncio.run(_play(board, started, parsed, listener, state))


async def _play(
    profile: Profile,
    started: settings_file.Started,
    parsed: argparse.Namespace,
    listener: socket.socket,
    state: StateDirectory,
) -> int:
    """Put the board together and play until a signal ends it."""
    if state.trouble is not None:
        log.warning("%s", state.trouble)
    import time

    from firmware.web.server import Server, Web
    from sim.board import SimBoard
    from sim.clock import StoppableClock
    from sim.faults import HEALTHY
    from sim.world import World

    seed = random.SystemRandom().randrange(2**32) if parsed.seed is None else parsed.seed
    clock = StoppableClock(RealClock())
    board = SimBoard(profile, clock, seed=seed, pause=lambda us: time.sleep(us / 1e6))
    app, journal = _app(board, clock, started, state, random.Random(seed))
    web = Web(app, board.contacts, parsed.host, journal.records, World(board, clock, HEALTHY))
    server = Server(web)
    _end_on_signals(app)
    address = _address(parsed.host, listener.getsockname()[1])
    print(f"The board is at {address}  (seed {seed}; Ctrl-C ends)", flush=True)
    if parsed.open:
        webbrowser.open(address)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    clocks = asyncio.create_task(web.tell_clocks())
    try:
        await app.run()
    finally:
        clocks.cancel()
        server.should_exit = True
        await serving
        if not await asyncio.to_thread(journal.close):
            log.error("not saved: %s", journal.fault or "the disk did not answer in time.")
    return 0


def _app(
    board: Board, clock: Clock, started: settings_file.Started, state: StateDirectory, chance: random.Random
) -> tuple[App, Journal]:
    """The firmware on a board, with the game that its journal holds, if there is one."""
    apps: list[App] = []  # the journal opens first, and tells the app later

    def saved(_ticket: int) -> None:
        for app in apps:
            app.saved_soon()

    settings = started.settings
    journal, found = Journal.open(state, wall, saved)
    table = Table(
        settings.rules,
        settings.limits,
        settings.touch_times,
        settings.phase_times,
        draw_lot=lambda: chance.choice(("a", "b")),
        start_us=clock.now_us(),
        games=found.games,
    )
    if found.save is not None:
        table.resume(game_from(found.save), found.save.game, clock.now_us())
    apps.append(App(Engine(table, board, Lights(), journal, {"settings": started.part}), clock))
    return apps[0], journal


def _end_on_signals(app: App) -> None:
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(name, app.stop)


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket; a port that is taken is said in a sentence."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "another program has it; choose another with --port" if "in use" in reason.lower() else reason
        raise Misuse(f"cannot listen on {host} port {port}: {hint}.") from error


def _address(host: str, port: int) -> str:
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{name}:{port}/"


# -- soak --------------------------------------------------------------------------------------------------------


def _add_soak(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--games", type=count, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.set_defaults(command=_soak)


def _soak(parsed: argparse.Namespace) -> int:
    from sim.soak import soak

    report = soak(parsed.games, parsed.seed)
    for violation in report.violations:
        print(f"violation: {violation}", file=sys.stderr)
    figures = report.figures()
    print(json.dumps(figures) if parsed.json else "\n".join(f"{key}: {value}" for key, value in figures.items()))
    return 1 if report.violations or report.lost_touches else 0


if __name__ == "__main__":
    sys.exit(main())
