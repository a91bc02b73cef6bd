"""What the commands are given: counts, ports, boards, files, and the error for what cannot be carried out."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from firmware.games import morbak
from hal.errors import ProfileError
from hal.profile import Profile, load, shipped

BOARD_HELP = "a board that ships, the path of a profile, or serial:PORT or serial:auto (default: sim)"


class Misuse(Exception):
    """The command cannot be carried out as given; the text is one sentence."""


def add_board(parser: argparse.ArgumentParser) -> None:
    """The option `--board`."""
    parser.add_argument("--board", default="sim", help=BOARD_HELP)


def add_state(parser: argparse.ArgumentParser, note: str = "the board's state directory (default: as for run)") -> None:
    """The option `--state`; in a command of a command it may stand before or after that."""
    parser.add_argument("--state", type=Path, metavar="DIR", default=argparse.SUPPRESS, help=note)


def group(parser: argparse.ArgumentParser) -> argparse._SubParsersAction[argparse.ArgumentParser]:
    """Room for the commands of a command."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    return parser.add_subparsers(metavar="COMMAND", required=True)


def count(text: str) -> int:
    """A number of 0 and more."""
    number = _whole(text)
    if number is None or number < 0:
        raise argparse.ArgumentTypeError(f"{text!r}: a whole number of 0 and more is wanted")
    return number


def port(text: str) -> int:
    """A port of TCP; 0 = any."""
    number = _whole(text)
    if number is None or not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; ports are 0 to 65535")
    return number


def _whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def profile(board: str) -> Profile:
    """The profile of a board that MORBAK can be played on; a board at the end of a cable is asked for its own.

    Raises ProfileError, and PartError where no board answers.
    """
    found = _cabled(board) or load(Path(board) if board.endswith(".toml") else shipped(board))
    if (found.board.rows, found.board.columns) != (morbak.SIZE, morbak.SIZE):
        raise ProfileError(found.file, "board.rows", found.board.rows, "MORBAK is played on 7 x 7 cells")
    return found


def _cabled(board: str) -> Profile | None:
    """The profile of a board at the end of a cable; None for other boards."""
    if not board.startswith("serial:"):
        return None
    from hal.drivers import serial_board  # boards of other kinds do not wait for it

    return serial_board.ask(board)


@contextlib.contextmanager
def reading(file: str, what: str) -> Iterator[IO[bytes]]:
    """The bytes of FILE, or of standard input for `-`. Raises Misuse."""
    if file == "-":
        if sys.stdin is None:
            raise Misuse(f"standard input is closed: give the {what} a way in, or name a file.")
        yield sys.stdin.buffer
        return
    try:
        opened = open(file, "rb")  # noqa: SIM115 - an error of the caller's, later on, is not one of opening
    except OSError as error:
        raise Misuse(f"{file}: the {what} cannot be read: {error.strerror}.") from error
    with opened:
        yield opened
