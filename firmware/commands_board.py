"""`morbak doctor` and `morbak pinout`: what is wrong with the machine, and how a board is wired.

What they need is imported when they run: a board that starts does not wait for it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from firmware.arguments import Misuse, add_state
from firmware.state_directory import default
from hal.profile import Profile, load, shipped

if TYPE_CHECKING:
    from hal.doctor_finding import Finding
    from hal.doctor_probe import Probe

DOCTOR_EXAMPLES = """examples:
  morbak doctor                       this machine, for the board that suits it
  morbak doctor --board my.toml       this machine, for your own board
  morbak doctor --board serial:auto   a board at a cable, and this machine for it
  morbak doctor --json                the same for other programs

exit status: 0 nothing is broken, 1 something is, 2 usage or configuration
"""
PINOUT_EXAMPLES = """examples:
  morbak pinout reference             the wiring, what to buy, and what to mind
  morbak pinout my.toml --json        the same for other programs
"""
WIDEST = 100


def add_doctor(parser: argparse.ArgumentParser) -> None:
    """`morbak doctor`."""
    parser.epilog, parser.formatter_class = DOCTOR_EXAMPLES, argparse.RawDescriptionHelpFormatter
    boards = "a board that ships, the path of a profile, or serial:PORT (default: what suits this Pi)"
    parser.add_argument("--board", help=boards)
    add_state(parser, "where games are kept (default: as for run)")
    parser.add_argument("--probe", type=Path, metavar="DIR", help="look at a recorded machine instead of this one")
    parser.add_argument("--json", action="store_true", help="as one JSON object")
    parser.set_defaults(command=_doctor)


def add_pinout(parser: argparse.ArgumentParser) -> None:
    """`morbak pinout`."""
    parser.epilog, parser.formatter_class = PINOUT_EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("board", metavar="BOARD", help="a board that ships, or the path of a profile")
    parser.add_argument("--json", action="store_true", help="as one JSON object")
    parser.set_defaults(command=_pinout)


def _doctor(parsed: argparse.Namespace) -> int:
    from hal import doctor_facts
    from hal.doctor_probe import Probe

    if parsed.probe is not None and not parsed.probe.is_dir():
        raise Misuse(f"{parsed.probe}: a recorded machine is a directory.")
    state: Path = getattr(parsed, "state", None) or default(os.environ)
    probe = doctor_facts.here(state) if parsed.probe is None else Probe.recorded(parsed.probe)
    name, file, findings = _found(parsed, probe)
    if parsed.json:
        shown = {"board": name, "file": file, "findings": [each._asdict() for each in findings]}
        print(json.dumps(shown, indent=2))
    else:
        _show(_report(f"{name} ({Path(file).name})", findings))
    return 1 if any(finding.level == "broken" for finding in findings) else 0


def _found(parsed: argparse.Namespace, probe: Probe) -> tuple[str, str, list[Finding]]:
    """The board's name, its file or port, and what there is to say. Raises ProfileError."""
    from hal import doctor, doctor_cable
    from hal.doctor_finding import LEVELS
    from hal.drivers.serial_board import place

    named: str = parsed.board or _suits(probe)
    where = place(named)
    if where is None:
        board = _board(named)
        return board.board.name, board.file, doctor.examine(probe, board)
    if parsed.probe is not None:
        raise Misuse(f"{named} is asked where it is plugged in, and not on a recorded machine: leave --probe out.")
    findings = doctor.examine_host(probe) + doctor_cable.examine(where)
    return "a board at a cable", named, sorted(findings, key=lambda finding: LEVELS.index(finding.level))


def _suits(probe: Probe) -> str:
    """The shipped board that suits a machine."""
    from hal.doctor_boot import model

    return "pi5" if model(probe).generation == 5 else "reference"


def _board(name: str) -> Profile:
    """The profile of any board, whatever is played on it. Raises ProfileError."""
    return load(Path(name) if name.endswith(".toml") else shipped(name))


def _report(title: str, findings: Iterable[Finding]) -> list[str]:
    """The findings for people: a sentence each, under it the command that mends it."""
    from hal.doctor_finding import LEVELS

    width = min(shutil.get_terminal_size().columns, WIDEST) - 1
    shown, counts = [title, ""], dict.fromkeys(LEVELS, 0)
    for finding in findings:
        counts[finding.level] += 1
        lines = textwrap.wrap(finding.text, max(width - 9, 20), break_long_words=False, break_on_hyphens=False)
        shown += [f"{finding.level if not at else '':9}{line}" for at, line in enumerate(lines)]
        if finding.fix:
            shown.append(f"{'':9}  $ {_typed(finding.fix)}" + (f"    then {finding.then}" if finding.then else ""))
    plural = "s" * (counts["warning"] != 1)
    shown += ["", f"{counts['broken']} broken, {counts['warning']} warning{plural}, {counts['fine']} fine."]
    return shown


def _typed(command: str) -> str:
    """A command as it can be typed here: `morbak` by its path where the shell does not find it."""
    path = Path(sys.argv[0])
    if path.name != "morbak" or shutil.which("morbak") is not None:
        return command
    return re.sub(r"(?<![\w/-])morbak (?=[a-z])", lambda _: f"{shlex.quote(str(path.absolute()))} ", command)


def _pinout(parsed: argparse.Namespace) -> int:
    from hal import pinout

    board = _board(parsed.board)
    if parsed.json:
        print(json.dumps(pinout.document(board), indent=2))
    else:
        _show(pinout.sheet(board))
    return 0


def _show(lines: Iterable[str]) -> None:
    """Print lines on any terminal: what it has no sign for becomes a question mark."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print("\n".join(lines).encode(encoding, "replace").decode(encoding))
