"""`morbak perft` and `morbak replay`: the rules at work without a board."""

from __future__ import annotations

import argparse
import sys

from firmware import record
from firmware.arguments import Misuse, count, reading
from firmware.games import morbak


def add_perft(parser: argparse.ArgumentParser) -> None:
    """`morbak perft DEPTH`."""
    parser.add_argument("depth", type=count, metavar="DEPTH", help="length of the sequences")
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
        for action, number in morbak.divide(state, parsed.depth).items():
            print(action, number)
    print(morbak.perft(state, parsed.depth))
    return 0


def add_replay(parser: argparse.ArgumentParser) -> None:
    """`morbak replay FILE|-`."""
    parser.add_argument("file", metavar="FILE|-", help="game records, one a line; - is standard input")
    parser.add_argument("--json", action="store_true", help="print each completed record as a line of JSON")
    parser.set_defaults(command=_replay)


def _replay(parsed: argparse.Namespace) -> int:
    status = 0
    with reading(parsed.file, "records") as file:
        lines = (line.decode("utf-8", errors="surrogateescape") for line in file)
        for number, game in record.replay(lines):
            if isinstance(game, record.RecordError):
                print(f"line {number}: {game}", file=sys.stderr)
                status = 1
            else:
                print(record.format_record(game) if parsed.json else f"line {number}: {record.describe(game)}")
    return status
