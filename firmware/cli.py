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
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from firmware import config
from firmware.app import App, RealClock
from firmware.arguments import Misuse, add_board, count, port, profile
from firmware.assembly import new_table
from firmware.engine import Engine
from firmware.game import Game
from firmware.game_record import game_of
from firmware.lights import Lights
from firmware.replay import Replay
from firmware.running import run
from firmware.serving import Opened, address, end_on_signals, listen_on, serve
from firmware.version import version
from hal.drivers import SIMULATED
from hal.errors import BoardError
from hal.opening import open_board
from hal.profile import Profile

if TYPE_CHECKING:
    from firmware.cable_station import Moved
    from firmware.commands_cable import Worn
    from firmware.commands_serve import Peer
    from firmware.station import Station
    from hal.drivers.serial_board import SerialBoard

log = logging.getLogger("morbak")
# A test board at a cable moves its contacts in real time, so many times as fast as people do.
HURRY = 2

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
    given = sys.argv[1:] if arguments is None else arguments
    parsed = _parser(next((word for word in given if not word.startswith("-")), "")).parse_args(given)
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


_Add = Callable[[argparse.ArgumentParser], None]


def _parser(wanted: str) -> argparse.ArgumentParser:
    """Knows every command by name, and all of the wanted one; a board that starts waits for no other's modules."""
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
    for name, (add, promise) in _commands().items():
        command = commands.add_parser(name, help=promise)
        if name == wanted:
            add(command)
    return parser


def _commands() -> dict[str, tuple[_Add, str]]:
    """What adds a command's arguments, and what it promises, by name."""
    board = _of("serve:add_serve", _at_a_cable, _worn)
    map_, selftest = (_of(f"{name}:add_{name}", _workbench, _by_itself) for name in ("map", "selftest"))
    return {
        "run": (_add_play, "play: open a board and serve its page"),
        "records": (_add_records, "the games that were finished on this board"),
        "config": (_of("config:add_config"), "check and show the settings"),
        "install": (_of("install:add_install"), "have the board start by itself at power-on, as a service"),
        "kiosk": (_of("kiosk:add_kiosk"), "show the page on the screen of this machine"),
        "doctor": (_of("board:add_doctor"), "say what is wrong with this machine, and how to mend it"),
        "pinout": (_of("board:add_pinout"), "the wiring of a board as a picture, and what to buy for it"),
        "map": (map_, "a guided walk that finds how a board is wired"),
        "selftest": (selftest, "a guided test of every LED and every contact"),
        "board": (board, "this computer's board as one at the end of a cable, or a worn cable"),
        "ctl": (_of("operator:add_ctl"), "ask and steer the board that runs: status, mask, clean, end, restart"),
        "token": (_of("operator:add_token"), "the operator's token, and a code that leads a phone to his page"),
        "report": (_of("operator:add_report"), "a bundle for a bug report, without anything personal"),
        "trace": (_of("trace:add_trace", _add_run), "record all that enters and leaves the firmware; replay it"),
        "state": (_of("state:add_state_commands"), "carry games, records and choices to another board, and back"),
        "replay": (_of("rules:add_replay"), "check and complete game records"),
        "perft": (_of("rules:add_perft"), "count the action sequences of a length"),
        "soak": (_add_soak, "play whole games through simulated wires in virtual time"),
    }


def _of(place: str, *more: object) -> _Add:
    """What adds a command's arguments, found in its own module, which is imported for that alone."""
    module, _, function = place.partition(":")
    return lambda parser: getattr(import_module(f"firmware.commands_{module}"), function)(parser, *more)


# -- run ---------------------------------------------------------------------------------------------------------


def _add_play(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(trace=None, most_mb=0)  # as `trace record` has them
    _add_run(parser)


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


def _by_itself(board: SerialBoard) -> Moved | None:
    """Who moves the contacts of a board at a cable that is one for tests and can read its light back; None else."""
    from hal import link
    from hal.hands import TestBoard, sleep
    from sim.tester import at_a_cable

    if not board.about.flags & link.TEST_BOARD:
        return None
    hands = TestBoard(board, RealClock().now_us, sleep)
    hands.begin()
    return None if hands.lit() is None else at_a_cable(hands, board.profile.board.columns, hurry=HURRY).step


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


# -- records --------------------------------------------------------------------------------------------------------


def _add_records(parser: argparse.ArgumentParser) -> None:
    from firmware.commands_records import add_numbered, add_records

    play = add_records(parser).add_parser("play", help="one game plays itself again on a simulated board")
    add_numbered(play)
    add_board(play)
    _add_page(play)
    play.set_defaults(command=_play_record)


def _play_record(parsed: argparse.Namespace) -> int:
    from firmware.commands_records import one

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
