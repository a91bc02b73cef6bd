"""The command `morbak`, and playing on a board. Exit 0 ok, 1 a check failed, 2 usage or configuration."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import os
import random
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from firmware import config
from firmware.app import App, RealClock
from firmware.arguments import Misuse, add_board, count, port, profile
from firmware.assembly import new_table
from firmware.commands_board import add_doctor, add_pinout
from firmware.commands_cable import Worn
from firmware.commands_config import add_config
from firmware.commands_install import add_install
from firmware.commands_kiosk import add_kiosk
from firmware.commands_operator import add_ctl, add_report, add_token
from firmware.commands_records import add_numbered, add_records, one
from firmware.commands_rules import add_perft, add_replay
from firmware.commands_serve import Peer, add_serve
from firmware.commands_state import add_state_commands
from firmware.commands_test import add_map, add_selftest
from firmware.commands_trace import add_trace
from firmware.engine import Engine
from firmware.game import Game
from firmware.game_record import game_of
from firmware.lights import Lights
from firmware.replay import Replay
from firmware.running import run
from firmware.serving import Opened, address, end_on_signals, listen_on, serve
from firmware.station import Station
from firmware.version import version
from hal.drivers import SIMULATED
from hal.errors import BoardError
from hal.opening import open_board
from hal.profile import Profile

log = logging.getLogger("morbak")

EXAMPLES = """examples:
  morbak run --board sim --open          play on this computer, in the browser
  morbak perft 4                         count the action sequences of length 4: 5762400
  morbak perft 2 --divide --position "......./......./......./......./......./......./....... a 7:7 1:1"
  morbak replay games.jsonl              check game records; - reads from standard input
  morbak records show 12                 a finished game, drawn in the terminal
  morbak records play 12 --open          the same game played again by itself, in the browser
  morbak config show > settings.toml     every setting with its meaning, as a file to start from
  morbak state export backup.jsonl       the game in progress, all records, what was chosen at the board
  morbak doctor                          what is wrong with this machine, each with the command that mends it
  morbak pinout reference                the wiring of a board, and what to buy for it
  morbak map --write my.toml             a guided walk over a board, and a profile that says how it is wired
  morbak selftest --report board.txt     every LED and every contact once, with a report
  morbak ctl status                      how the board that runs is, and what is set
  morbak token                           what an operator has to show, and a code for his phone
  morbak board serve --port /tmp/board   a simulated board at the end of a cable; play: --board serial:/tmp/board
  morbak trace record evening.jsonl      play, and record all of it; `morbak trace replay` plays it again
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
    parser.add_argument("--version", action="version", version=f"morbak {version()}")
    nothing = "say what to do, such as `morbak run`; all of it: morbak --help"
    parser.set_defaults(command=lambda _: parser.error(nothing))
    commands = parser.add_subparsers(metavar="COMMAND")
    play = commands.add_parser("run", help="play: open a board and serve its page")
    play.set_defaults(trace=None, most_mb=0)  # as `trace record` has them
    _add_run(play)
    records = add_records(commands.add_parser("records", help="the games that were finished on this board"))
    _add_record_play(records.add_parser("play", help="one game plays itself again on a simulated board"))
    add_config(commands.add_parser("config", help="check and show the settings"))
    add_install(commands.add_parser("install", help="have the board start by itself at power-on, as a service"))
    add_kiosk(commands.add_parser("kiosk", help="show the page on the screen of this machine"))
    add_doctor(commands.add_parser("doctor", help="say what is wrong with this machine, and how to mend it"))
    add_pinout(commands.add_parser("pinout", help="the wiring of a board as a picture, and what to buy for it"))
    add_map(commands.add_parser("map", help="a guided walk that finds how a board is wired"), _workbench)
    add_selftest(commands.add_parser("selftest", help="a guided test of every LED and every contact"), _workbench)
    board = commands.add_parser("board", help="this computer's board as one at the end of a cable, or a worn cable")
    add_serve(board, _at_a_cable, _worn)
    add_ctl(commands.add_parser("ctl", help="ask and steer the board that runs: status, mask, clean, end, restart"))
    add_token(commands.add_parser("token", help="the operator's token, and a code that leads a phone to his page"))
    add_report(commands.add_parser("report", help="a bundle for a bug report, without anything personal"))
    add_trace(commands.add_parser("trace", help="record all that enters and leaves the firmware; replay it"), _add_run)
    add_state_commands(commands.add_parser("state", help="carry games, records and choices to another board, and back"))
    add_replay(commands.add_parser("replay", help="check and complete game records"))
    add_perft(commands.add_parser("perft", help="count the action sequences of a length"))
    _add_soak(commands.add_parser("soak", help="play whole games through simulated wires in virtual time"))
    return parser


# -- run ---------------------------------------------------------------------------------------------------------


def _add_run(parser: argparse.ArgumentParser) -> None:
    add_board(parser)
    _add_page(parser)
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
    parser.set_defaults(command=_run)


def _add_page(parser: argparse.ArgumentParser) -> None:
    """Where the page of a board is served, and whether it opens by itself."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this computer only)")
    parser.add_argument("--port", type=port, default=8700, help="port of the page (default: 8700)")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")


def _run(parsed: argparse.Namespace) -> int:
    return run(parsed, _open)


def _open(profile: Profile, seed: int) -> Opened:
    """The board of a profile, simulated or on its real parts. Raises PartError."""
    if profile.matrix.driver != SIMULATED:
        return Opened(open_board(profile), RealClock())
    from sim.board import SimBoard
    from sim.clock import StoppableClock
    from sim.faults import HEALTHY
    from sim.world import World

    clock = StoppableClock(RealClock())
    board = SimBoard(profile, clock, seed=seed, pause=lambda us: time.sleep(us / 1e6))
    return Opened(board, clock, board.contacts, World(board, clock, HEALTHY))


# -- map, selftest -------------------------------------------------------------------------------------------------


def _workbench(profile: Profile, faults: list[str]) -> Station:
    """A simulated board with faults, and somebody at it."""
    from sim.miswiring import parse
    from sim.workbench import Workbench

    return Workbench(profile, *parse(faults))


# -- board serve -----------------------------------------------------------------------------------------------


def _at_a_cable(profile: Profile, port: str) -> Peer:
    """A simulated board that does what a host at the other end of a cable asks for."""
    from sim.device import SimDevice

    return SimDevice(profile, RealClock(), unique=port, pause=lambda us: time.sleep(us / 1e6))


def _worn(board: str, path: str, faults: list[str], seed: int) -> Worn:
    """A worn cable between two ports."""
    from sim.cable import parse
    from sim.worn_cable import WornCable

    return WornCable(board, path, parse(faults), seed)


# -- records play --------------------------------------------------------------------------------------------------


def _add_record_play(parser: argparse.ArgumentParser) -> None:
    add_numbered(parser)
    add_board(parser)
    _add_page(parser)
    parser.set_defaults(command=_play_record)


def _play_record(parsed: argparse.Namespace) -> int:
    found, game = profile(parsed.board), game_of(one(parsed))
    with listen_on(parsed.host, parsed.port) as listener:
        return asyncio.run(_replay(found, game, parsed, listener))


async def _replay(profile: Profile, game: Game, parsed: argparse.Namespace, listener: socket.socket) -> int:
    """Show a game on a board again and again, until somebody touches it or a signal ends it."""
    opened = _open(profile, 0)
    board, clock = opened.board, opened.clock
    table = new_table(board, clock, config.Settings(), random.Random(0))
    table.show(Replay(game, parsed.number, clock.now_us(), table.times.replay_step_us, loop=True))
    app = App(Engine(table, board, Lights()), clock)
    app.changed.append(lambda: None if table.replay else app.stop())
    where = address(parsed.host, listener)
    end_on_signals(app)
    print(f"Game {parsed.number} plays at {where}  (a touch or Ctrl-C ends it)", flush=True)
    await serve(app, opened, parsed, listener, lambda: iter(()))
    return 0


# -- soak --------------------------------------------------------------------------------------------------------


def _add_soak(parser: argparse.ArgumentParser) -> None:
    kind = parser.add_mutually_exclusive_group()  # which knows "50" that was given from this one that was not
    kind.add_argument("--games", type=count, default="50", help="how many games are played (default: 50)")
    kind.add_argument("--day", action="store_true", help="instead of games a day of visitors, restarts, power cuts")
    kind.add_argument("--kiosk", action="store_true", help="the same with quiet hours, in the night summer time ends")
    parser.add_argument("--hours", type=count, help="how long that day is (default: 24)")
    parser.add_argument("--seed", type=int, default=1, help="of the people, to repeat a run (default: 1)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.set_defaults(command=_soak)


def _soak(parsed: argparse.Namespace) -> int:
    from sim.day import day
    from sim.kiosk_day import kiosk_day
    from sim.soak import soak

    live = kiosk_day if parsed.kiosk else day if parsed.day else None
    if parsed.hours is not None and live is None:
        raise Misuse("--hours is how long a day is: give --day with it.")
    if parsed.hours == 0:
        raise Misuse("a day of 0 hours shows nothing: give --hours 1 or more.")
    report = soak(parsed.games, parsed.seed) if live is None else live(parsed.hours or 24, parsed.seed)
    for violation in report.violations:
        print(f"violation: {violation}", file=sys.stderr)
    figures = report.figures()
    print(json.dumps(figures) if parsed.json else "\n".join(f"{key}: {value}" for key, value in figures.items()))
    return 1 if report.violations or report.lost_touches else 0


if __name__ == "__main__":
    sys.exit(main())
