"""`morbak selftest`: whoever sits at a board is led over every LED and every contact; what was found is reported."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import msgspec

from firmware import chosen, kept_file
from firmware.arguments import Misuse, add_state
from firmware.choosing import Chosen
from firmware.commands_walk import FAULTS, STOPPED, ByItself, Simulated, add_common, check_target, opened, teller
from firmware.kept_file import NotKept
from firmware.state_directory import StateDirectory, StateError
from firmware.station import Sat, Station, sit
from hal import selftest_text
from hal.guide import Guide
from hal.profile import Profile
from hal.selftest import Meter, selftest
from hal.selftest_report import Facts, Report, report

EXAMPLES = f"""examples:
  morbak selftest --board reference --report board.txt  test a board; the report as text and as board.json
  morbak selftest --fault stuck=d4 --fault dead=e5      try it without a board

{FAULTS}
exit status: 0 no fault, 1 faults found, 2 the board cannot be tested
"""


def add_selftest(parser: argparse.ArgumentParser, simulated: Simulated, by_itself: ByItself) -> None:
    """`morbak selftest`."""
    add_common(parser, EXAMPLES)
    add_state(parser)
    parser.add_argument("--report", type=Path, metavar="FILE", help="write the report there, and as JSON beside it")
    parser.add_argument(
        "--put-out", action="store_true", help="put cells that cannot be used out of use, without being asked"
    )
    parser.set_defaults(command=_selftest, simulated=simulated, by_itself=by_itself)


def _selftest(parsed: argparse.Namespace) -> int:
    if parsed.report is not None:
        check_target(parsed.report)
    profile, station = opened(parsed)
    try:
        found = examined(profile, station, teller(parsed, station))
    except KeyboardInterrupt:
        raise Misuse(STOPPED) from None
    finally:
        station.close()
    text = list(selftest_text.lines(found))
    print(json.dumps(found.document, indent=2) if parsed.json else "\n".join(["", *text]))
    if parsed.report is not None:
        kept_file.replace(parsed.report, ("\n".join(text) + "\n").encode())
        kept_file.replace(parsed.report.with_suffix(".json"), json.dumps(found.document, indent=2).encode() + b"\n")
    if found.out:
        _offer(parsed, found, asked=station.person)
    return 1 if found.faults else 0


def examined(profile: Profile, station: Station, say: Callable[[str], None]) -> Report:
    """Lead somebody through the test of a board. Raises PartError for a part that does not answer."""
    with ExitStack() as parts:
        lines = parts.enter_context(closing(station.lines(profile, exchanged=False)))
        meter = Meter(profile, station.leds(profile))
        parts.callback(meter.close)
        guide = Guide(selftest(profile))
        sat: Sat = sit(guide, station, profile, (lines, meter), profile.turned, say, station.scan_us)
        told = station.told()
    assert guide.result is not None
    by_itself = bool(station.who) and not station.person
    figures = sat.scan_us, sat.late_us, meter.peak_ma, sat.supply
    facts = Facts(station.rung, *figures, station.who, told, by_itself)
    return report(profile, guide.result, facts)


def _agreed(question: str) -> bool:
    """Whether somebody says yes; nobody there is no."""
    try:
        return input(question).strip().lower() in ("y", "yes")
    except (EOFError, RuntimeError):  # no more input, or none at all
        return False


def _offer(parsed: argparse.Namespace, found: Report, *, asked: bool) -> None:
    """Have cells that cannot be used put out of use, where somebody wants that."""
    cells = ", ".join(found.out)
    if not parsed.put_out:
        if not asked or parsed.json:
            if not parsed.json:
                print(f"{cells}: out of use with --put-out.")
            return
        if not _agreed(f"Put {cells} out of use, so that play goes on without? y or n: "):
            return
    try:
        with closing(StateDirectory.open(getattr(parsed, "state", None))) as state:
            last, sentence = chosen.load(state.path)
            if sentence is not None:
                print(sentence)
            out: Chosen = msgspec.structs.replace(last, out=tuple(sorted({*last.out, *found.out})))
            chosen.save(state.path, out)
    except (StateError, NotKept) as error:
        raise Misuse(f"{cells} not put out of use: {error}") from error
    if not parsed.json:
        print(f"{cells}: out of use from the next start.")
