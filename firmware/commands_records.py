"""`morbak records`: the games that were finished on a board."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from firmware import draw, journal_records, record
from firmware.arguments import Misuse, add_state, count
from firmware.journal import DATABASE
from firmware.record import Record
from firmware.state_directory import default

EXAMPLES = """examples:
  morbak records                 the finished games, one a line, with their numbers
  morbak records --json          the same as JSON Lines, for `morbak replay -` and other programs
  morbak records show 12         game 12 in the terminal: its moves and the final board
"""


def add_records(parser: argparse.ArgumentParser) -> argparse._SubParsersAction[argparse.ArgumentParser]:
    """`morbak records`; returns the room for what else can be done with one of them."""
    parser.epilog = EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--json", action="store_true", help="JSON Lines, one record a line")
    add_state(parser)
    parser.set_defaults(command=_list)
    commands = parser.add_subparsers(metavar="[COMMAND]")
    add_numbered(commands.add_parser("show", help="draw one game in the terminal")).set_defaults(command=_show)
    return commands


def add_numbered(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """A command about one game, by its number."""
    parser.add_argument("number", type=count, metavar="N", help="its number, as the list tells it")
    add_state(parser)
    return parser


def one(parsed: argparse.Namespace) -> Record:
    """The finished game that a command names by its number. Raises Misuse."""
    line = journal_records.record(_journal(parsed), parsed.number)
    if line is None:
        raise Misuse(f"there is no finished game {parsed.number}; `morbak records` lists those there are.")
    return record.parse_record(line)


def _list(parsed: argparse.Namespace) -> int:
    lines = list(journal_records.records(_journal(parsed)))
    if not lines and not parsed.json:
        print(f"No game has been finished yet in {_journal(parsed).parent}.", file=sys.stderr)
    for line in lines:
        game = record.parse_record(line)
        print(line if parsed.json else f"{game.seq:5}  {record.describe(game)}")
    return 0


def _show(parsed: argparse.Namespace) -> int:
    print(draw.game(one(parsed)))
    return 0


def _journal(parsed: argparse.Namespace) -> Path:
    state: Path | None = getattr(parsed, "state", None)
    return (state or default(os.environ)) / DATABASE
