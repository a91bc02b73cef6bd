"""`morbak trace`: everything that enters and leaves the firmware in one file, and the same once more from that file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from firmware.arguments import Misuse, group, reading
from firmware.trace import Reader, TraceError
from firmware.trace_replay import Count, Difference, Replay
from firmware.version import version

EXAMPLES = """examples:
  morbak trace record evening.jsonl --board reference   play, and record it
  morbak trace replay evening.jsonl                     the same once more, on any computer: is it as it was?

An hour of a board is about 10 MB. A trace holds no token, no name and no date.
"""
MOST_MB = 500


def add_trace(parser: argparse.ArgumentParser, add_run: Callable[[argparse.ArgumentParser], None]) -> None:
    """`morbak trace record|replay`; `add_run` gives a parser the options and the command of `morbak run`."""
    commands = group(parser)
    parser.epilog = EXAMPLES
    record = commands.add_parser("record", help="play as `morbak run` does, and record it")
    record.add_argument("trace", type=Path, metavar="FILE", help="where to; if it is there already, a file beside it")
    record.add_argument(
        "--most-mb", type=_megabytes, default=MOST_MB, help="it ends there (default: 500); play goes on"
    )
    add_run(record)
    replay = commands.add_parser("replay", help="play recorded traces again, and name the first difference")
    replay.add_argument("files", nargs="+", metavar="FILE", help="a trace; - is standard input")
    replay.set_defaults(command=_replay)


def _megabytes(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: a whole number of megabytes, 1 or more, is wanted")
    return number


def _replay(parsed: argparse.Namespace) -> int:
    status = 0
    for file in parsed.files:
        try:
            print(f"{file}: {_replayed(file)}")
        except Difference as difference:
            print(f"morbak: {file}: {difference}", file=sys.stderr)
            status = 1
        except TraceError as error:
            raise Misuse(f"{file}: {error}") from error
    return status


def _replayed(file: str) -> str:
    """Play a trace again; what there is to say of it. Raises Difference and TraceError."""
    with reading(file, "trace") as opened:
        reader = Reader(opened)
        replay = Replay(reader.head)
        try:
            for entry in reader:
                replay.take(entry)
        except Difference as difference:
            by = "" if reader.head.software == version() else f" Recorded by {reader.head.software}, not {version()}."
            raise Difference(f"{difference}{by}") from None
        return _told(replay, reader.torn)


def _told(replay: Replay, torn: bool) -> str:
    end = replay.end
    text = f"the same: {_sum(replay.count)}."
    if torn:
        text += f" The file ends in the middle of line {replay.count.lines + 1}, which is left out."
    elif end is None:
        text += " It was not ended in order: the program was killed."
    elif end.reason == "full":
        text += " The recording ended there because the file was full."
    elif end.reason == "behind":
        text += f" The recording ended there because the disk was too slow; at least {end.lost} lines are not in it."
    return text


def _sum(count: Count) -> str:
    return f"{count.lines} lines, {count.actions} actions, {count.frames} frames, {count.us / 1e6:.1f} s"
