"""The command `morbak`: play, count, replay, soak. Exit 0 ok, 1 a check failed, 2 usage or configuration."""

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

from firmware import config, draw, journal_records, record
from firmware.app import App, RealClock
from firmware.engine import Engine
from firmware.game_record import game_from, match_from
from firmware.games import morbak
from firmware.journal import DATABASE, Journal
from firmware.lights import Lights
from firmware.state_directory import StateDirectory, default
from firmware.table import Table
from firmware.wall import wall
from hal.errors import BoardError, ProfileError
from hal.ports import Board, Clock
from hal.profile import Profile, load, shipped

log = logging.getLogger("morbak")

EXAMPLES = """examples:
  morbak run --board sim --open          play on this computer, in the browser
  morbak perft 4                         count the action sequences of length 4: 5762400
  morbak perft 2 --divide --position "......./......./......./......./......./......./....... a 7:7 1:1"
  morbak replay games.jsonl              check game records; - reads from standard input
  morbak records show 12                 a finished game, drawn in the terminal
  morbak soak --games 50 --seed 1        whole games through simulated wires in virtual time

exit status: 0 ok, 1 a check failed, 2 usage or configuration
"""


class Misuse(Exception):
    """The command cannot be carried out as given; the text is one sentence."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    parsed = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    try:
        status: int = parsed.command(parsed)
    except (Misuse, BoardError) as error:
        print(f"morbak: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 1
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="morbak",
        description="The electronic MORBAK board.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_run(commands.add_parser("run", help="play: open a board and serve its page"))
    _add_perft(commands.add_parser("perft", help="count the action sequences of a length"))
    _add_replay(commands.add_parser("replay", help="check and complete game records"))
    _add_records(commands.add_parser("records", help="the games that were finished on this board"))
    _add_soak(commands.add_parser("soak", help="play whole games through simulated wires in virtual time"))
    return parser


# -- run ---------------------------------------------------------------------------------------------------------


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--board", default="sim", help="a board that ships, or the path of a profile (default: sim)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this computer only)")
    parser.add_argument("--port", type=_port, default=8700, help="port of the page (default: 8700)")
    parser.add_argument(
        "--state",
        type=Path,
        help="directory for what must outlive a restart (default: $STATE_DIRECTORY, else XDG's state directory)",
    )
    parser.add_argument("--config", type=Path, help="settings, a TOML file (default: the built-in ones)")
    parser.add_argument("--seed", type=int, help="seed of lots and of the simulated contacts, to repeat a run")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.set_defaults(command=_run)


def _run(parsed: argparse.Namespace) -> int:
    profile = _profile(parsed.board)
    settings = config.load(parsed.config, profile)
    with _listen(parsed.host, parsed.port) as listener, contextlib.closing(StateDirectory.open(parsed.state)) as state:
        return asyncio.run(_play(profile, settings, parsed, listener, state))


async def _play(
    profile: Profile,
    settings: config.Settings,
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

    seed = random.SystemRandom().randrange(2**32) if parsed.seed is None else parsed.seed
    clock = RealClock()
    board = SimBoard(profile, clock, seed=seed, pause=lambda us: time.sleep(us / 1e6))
    app, journal = _app(board, clock, settings, state, random.Random(seed))
    web = Web(app, board.contacts, parsed.host, journal.records)
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
    board: Board, clock: Clock, settings: config.Settings, state: StateDirectory, chance: random.Random
) -> tuple[App, Journal]:
    """The firmware on a board, with the game that its journal holds, if there is one."""
    apps: list[App] = []  # the journal opens first, and tells the app later

    def saved(_ticket: int) -> None:
        for app in apps:
            app.saved_soon()

    journal, found = Journal.open(state, wall, saved)
    table = Table(
        settings.rules,
        settings.limits,
        settings.touch_times,
        settings.phase_times,
        draw_lot=lambda: chance.choice(("a", "b")),
        start_us=clock.now_us(),
        games=found.games,
        brightness_pct=board.brightness_pct,
    )
    if found.save is not None:
        table.resume(game_from(found.save), match_from(found.save), found.save.game, clock.now_us())
    apps.append(App(Engine(table, board, Lights(), journal), clock))
    return apps[0], journal


def _end_on_signals(app: App) -> None:
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(name, app.stop)


def _profile(board: str) -> Profile:
    path = Path(board) if board.endswith(".toml") else shipped(board)
    profile = load(path)
    if (profile.board.rows, profile.board.columns) != (morbak.SIZE, morbak.SIZE):
        raise ProfileError(str(path), "board.rows", profile.board.rows, "MORBAK is played on 7 x 7 cells")
    return profile


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


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is no port; ports are 0 to 65535")
    return port


# -- perft -------------------------------------------------------------------------------------------------------


def _add_perft(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("depth", type=_count, metavar="DEPTH", help="length of the sequences")
    parser.add_argument("--rules", choices=sorted(morbak.PROFILES), default="standard")
    parser.add_argument("--position", metavar="TEXT", help="position to start from (default: the empty board)")
    parser.add_argument("--divide", action="store_true", help="one line for each first action")
    parser.set_defaults(command=_perft)


def _perft(parsed: argparse.Namespace) -> int:
    rules = morbak.PROFILES[parsed.rules]
    try:
        state = morbak.initial(rules) if parsed.position is None else morbak.parse_position(parsed.position, rules)
    except morbak.UnreadableText as error:
        raise Misuse(str(error)) from error
    if parsed.divide and parsed.depth:
        for action, count in morbak.divide(state, parsed.depth).items():
            print(action, count)
    print(morbak.perft(state, parsed.depth))
    return 0


def _count(text: str) -> int:
    count = int(text)
    if count < 0:
        raise argparse.ArgumentTypeError(f"{text}: a count of 0 and more is wanted")
    return count


# -- replay ------------------------------------------------------------------------------------------------------


def _add_replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE|-", help="game records, one a line; - is standard input")
    parser.add_argument("--json", action="store_true", help="print each completed record as a line of JSON")
    parser.set_defaults(command=_replay)


def _replay(parsed: argparse.Namespace) -> int:
    status = 0
    with contextlib.ExitStack() as stack:
        if parsed.file == "-":
            lines = sys.stdin
            if lines is None:
                raise Misuse("standard input is closed: give the records a way in, or name a file.")
            lines.reconfigure(encoding="utf-8", errors="surrogateescape")  # type: ignore[union-attr]
        else:
            try:
                lines = stack.enter_context(Path(parsed.file).open(encoding="utf-8", errors="surrogateescape"))
            except OSError as error:
                raise Misuse(f"{parsed.file}: the records cannot be read: {error.strerror}.") from error
        for number, game in record.replay(lines):
            if isinstance(game, record.RecordError):
                print(f"line {number}: {game}", file=sys.stderr)
                status = 1
            else:
                print(record.format_record(game) if parsed.json else f"line {number}: {record.describe(game)}")
    return status


# -- records -----------------------------------------------------------------------------------------------------


def _add_records(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("show", nargs="?", choices=["show"], help="draw one game in the terminal")
    parser.add_argument("number", nargs="?", type=_count, metavar="N", help="its number, as the list tells it")
    parser.add_argument("--json", action="store_true", help="JSON Lines, one record a line")
    parser.add_argument("--state", type=Path, help="the board's state directory (default: as for run)")
    parser.set_defaults(command=_records)


def _records(parsed: argparse.Namespace) -> int:
    path = (parsed.state or default(os.environ)) / DATABASE
    if parsed.show:
        return _show(path, parsed.number)
    for line in journal_records.records(path):
        game = record.parse_record(line)
        print(line if parsed.json else f"{game.seq:5}  {record.describe(game)}")
    return 0


def _show(path: Path, number: int | None) -> int:
    line = None if number is None else journal_records.record(path, number)
    if line is None:
        which = "a number is wanted" if number is None else f"there is no finished game {number}"
        raise Misuse(f"records show: {which}; `morbak records` lists them.")
    print(draw.game(record.parse_record(line)))
    return 0


# -- soak --------------------------------------------------------------------------------------------------------


def _add_soak(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--games", type=_count, default=50)
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
