"""What `morbak map` and `morbak selftest` share: the board that somebody is led over, and how he is told."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from firmware.arguments import Misuse
from firmware.cable_station import CableStation, Moved
from firmware.station import RealStation, Station
from hal import drivers
from hal.drivers.serial_board import SerialBoard, open_board, place
from hal.profile import Profile, load, shipped

# Opens a simulated board with faults, `KEY=VALUE` each.
Simulated = Callable[[Profile, list[str]], Station]
# Who moves the contacts of a test board at a cable; None for a board that wants a person.
ByItself = Callable[[SerialBoard], Moved | None]

STOPPED = "stopped on the way: the board is dark, and nothing was written."
FAULTS = """faults of a simulated board, each --fault KEY=VALUE:
  stuck=d4+e5  dead=b2            contacts that are always, or never, closed
  turned=d4    turned=all         diodes that are the other way round
  diodes=off                      no diodes at all
  bridged=d3+e3                   contacts that are one
  lost_row=5   lost_column=c      a wire that is off
  joined_rows=3+4  joined_columns=c+d  lines that a bridge of solder joins
  no_pull_up=c                    a column without a pull-up
  swap_rows=3+4  swap_columns=c+d wires that have changed places
  rotate_deg=90  mirror=on        how the wiring really lies
  order=serpentine                how the LEDs really run: row-major, serpentine, columns, reversed, shuffled
  colours=RGB  shift=1  dark=e5   the wire's colours; light one LED late; LEDs that are dead
  bounce_us=20000  glitch_hz=50   worn contacts, and noise (all of sim/faults.py)
"""


def add_common(parser: argparse.ArgumentParser, examples: str) -> None:
    """The options of both commands: which board, how it is told, and its faults where it is simulated."""
    parser.epilog, parser.formatter_class = examples, argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--board", default="sim", help="a board that ships, the path of a profile, or serial:PORT (default: sim)"
    )
    parser.add_argument("--json", action="store_true", help="print what was found as one JSON object")
    parser.add_argument(
        "--fault", action="append", default=[], metavar="KEY=VALUE", help="a fault of a simulated board; see below"
    )


def opened(parsed: argparse.Namespace) -> tuple[Profile, Station]:
    """The profile of any board, whatever is played on it, and where it is tested. Raises ProfileError, PartError."""
    named: str = parsed.board
    where = place(named)
    if where is None:
        profile = load(Path(named) if named.endswith(".toml") else shipped(named))
        return profile, _station(parsed, profile)
    if parsed.fault:
        raise Misuse(f"--fault is for simulated boards, and {named} is none: leave it out.")
    board = open_board(where)
    try:
        return board.profile._replace(file=named), CableStation(board, parsed.by_itself(board))
    except BaseException:
        board.close()
        raise


def _station(parsed: argparse.Namespace, profile: Profile) -> Station:
    simulated: Simulated = parsed.simulated
    if profile.matrix.driver == drivers.SIMULATED:
        return simulated(profile, parsed.fault)
    if parsed.fault:
        raise Misuse(f"--fault is for simulated boards, and {profile.board.name} is none: leave it out.")
    return RealStation()


def teller(parsed: argparse.Namespace, station: Station) -> Callable[[str], None]:
    """Tells people what to do; beside JSON on the other output, and there nothing to simulated people."""

    def say(text: str) -> None:
        if not parsed.json or station.person:
            print(text, file=sys.stderr if parsed.json else sys.stdout, flush=True)

    return say


def check_target(path: Path) -> None:
    """Raises Misuse for a file that cannot be written, before anybody walks over a board for it."""
    folder = path.absolute().parent
    if not folder.exists():
        raise Misuse(f"{path} cannot be written: there is no directory {folder}; make it, or choose another.")
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise Misuse(f"{path} cannot be written: name a file in a directory that is there and may be written.")
