"""`morbak map` and `morbak selftest`: whoever sits at a board is led over it, and what was found is said and kept."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import msgspec

from firmware import chosen, kept_file
from firmware.arguments import Misuse, add_state
from firmware.cable_station import CableStation, Moved
from firmware.choosing import Chosen
from firmware.kept_file import NotKept
from firmware.state_directory import StateDirectory, StateError
from firmware.station import RealStation, Sat, Station, sit
from hal import drivers, mapped, profile_text, selftest_text
from hal.drivers.serial_board import SerialBoard, open_board, place
from hal.guide import Guide, bits, name
from hal.mapping import mapping, plain, turned_diodes
from hal.mapping_result import Finding, Mapped, result
from hal.profile import Profile, load, shipped
from hal.selftest import Meter, selftest
from hal.selftest_report import RESTS_ON, Facts, Report, report

# Opens a simulated board with faults, `KEY=VALUE` each.
Simulated = Callable[[Profile, list[str]], Station]
# Who moves the contacts of a test board at a cable; None for a board that wants a person.
ByItself = Callable[[SerialBoard], Moved | None]

STOPPED = "stopped on the way: the board is dark, and nothing was written."
# Often enough for touches; the test measures bounces and scans as often as it can.
WALK_SCAN_US = 2_000
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
MAP_EXAMPLES = f"""examples:
  morbak map --board reference                          how this board is really wired
  morbak map --board reference --write my.toml          the same, and a profile that says so
  morbak map --fault order=serpentine --fault mirror=on --write my.toml     try it without a board

{FAULTS}
exit status: 0 the board is as its profile says, or as the profile that was written says; 1 it is not; 2 it cannot be
walked over
"""
SELFTEST_EXAMPLES = f"""examples:
  morbak selftest --board reference --report board.txt  test a board; the report as text and as board.json
  morbak selftest --fault stuck=d4 --fault dead=e5      try it without a board

{FAULTS}
exit status: 0 no fault, 1 faults found, 2 the board cannot be tested
"""


def add_map(parser: argparse.ArgumentParser, simulated: Simulated, by_itself: ByItself) -> None:
    """`morbak map`."""
    _add_common(parser, MAP_EXAMPLES)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write a profile that says what was found")
    parser.add_argument("--force", action="store_true", help="change FILE where it is there already")
    parser.set_defaults(command=_map, simulated=simulated, by_itself=by_itself)


def add_selftest(parser: argparse.ArgumentParser, simulated: Simulated, by_itself: ByItself) -> None:
    """`morbak selftest`."""
    _add_common(parser, SELFTEST_EXAMPLES)
    add_state(parser)
    parser.add_argument("--report", type=Path, metavar="FILE", help="write the report there, and as JSON beside it")
    parser.add_argument(
        "--put-out", action="store_true", help="put cells that cannot be used out of use, without being asked"
    )
    parser.set_defaults(command=_selftest, simulated=simulated, by_itself=by_itself)


def _add_common(parser: argparse.ArgumentParser, examples: str) -> None:
    parser.epilog, parser.formatter_class = examples, argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--board", default="sim", help="a board that ships, the path of a profile, or serial:PORT (default: sim)"
    )
    parser.add_argument("--json", action="store_true", help="print what was found as one JSON object")
    parser.add_argument(
        "--fault", action="append", default=[], metavar="KEY=VALUE", help="a fault of a simulated board; see below"
    )


def _opened(parsed: argparse.Namespace) -> tuple[Profile, Station]:
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


def _teller(parsed: argparse.Namespace, station: Station) -> Callable[[str], None]:
    """Tells people what to do; beside JSON on the other output, and there nothing to simulated people."""

    def say(text: str) -> None:
        if not parsed.json or station.person:
            print(text, file=sys.stderr if parsed.json else sys.stdout, flush=True)

    return say


# -- map --------------------------------------------------------------------------------------------------------------


def _map(parsed: argparse.Namespace) -> int:
    if parsed.write is not None:
        if place(parsed.board) is not None:
            raise Misuse(
                f"{parsed.board} has its wiring in its own configuration, at its end of the cable: leave --write out, "
                "and mend there what is found."
            )
        _check_target(parsed.write)
        if parsed.write.suffix != ".toml":
            raise Misuse(f"{parsed.write}: the file of a board ends in .toml; choose such a name.")
        if parsed.write.exists() and not parsed.force:
            raise Misuse(f"{parsed.write} is there already: choose another name, or change it with --force.")
    profile, station = _opened(parsed)
    try:
        found, base = walked(profile, station, _teller(parsed, station))
    except KeyboardInterrupt:
        raise Misuse(STOPPED) from None
    finally:
        station.close()
    changes = mapped.changes(profile, base, found.wanted)
    if parsed.json:
        print(json.dumps(_document(profile, station, found, changes), indent=2))
    else:
        print("\n".join(_told(profile, station, found, changes)))
    if parsed.write is None:
        return 1 if found.faults or changes or not found.wanted else 0
    if not found.wanted:
        raise Misuse(f"{parsed.write} is not written: too little is known; mend what is named, and walk again.")
    _write(parsed.write, profile, changes)
    if not parsed.json:
        print(f"{parsed.write} says how the board is wired: morbak run --board {shlex.quote(str(parsed.write))}")
    return 1 if found.faults else 0


def walked(profile: Profile, station: Station, say: Callable[[str], None]) -> tuple[Mapped, Profile]:
    """What a walk over a board finds, and the profile that was walked with in the end: the board's, or it exchanged.

    Contacts that did not answer are tried once more from the other side of their diodes. Raises PartError.
    """
    other = mapped.exchanged(profile)
    station.lines(profile, exchanged=False).close()  # a machine without pins says so, and not what its LEDs lack
    with ExitStack() as parts:
        leds = station.leds(profile)
        parts.callback(leds.close)
        found = _walk(profile, station, leds, say, exchanged=False)
        if not station.exchanges:
            text = "which way round diodes are is not measured over a cable"
            notes = (Finding("note", text),) if found.dead else ()
            return found._replace(findings=(*found.findings, *notes)), profile
        if not found.silent:
            return _with_turned(found, other, station, leds, say), profile
        say("No contact answers. Once more, with rows and columns exchanged.")
        again = _walk(other, station, leds, say, exchanged=True)
        if again.silent:
            return found, profile
        text = "the diodes are the other way round: rows and columns of the wiring must change places"
        level = Finding("note" if profile.matrix.rows else "fault", text)
        return again._replace(findings=(level, *again.findings)), other


def _walk(profile: Profile, station: Station, leds: Any, say: Callable[[str], None], *, exchanged: bool) -> Mapped:
    with closing(station.lines(profile, exchanged=exchanged)) as lines:
        guide = Guide(mapping(profile))
        sit(guide, station, plain(profile), (lines, leds), None, say, WALK_SCAN_US)
    assert guide.result is not None
    return result(profile, guide.result)


def _with_turned(found: Mapped, other: Profile, station: Station, leds: Any, say: Callable[[str], None]) -> Mapped:
    """Contacts that did not answer, tried from the other side: those that answer now have their diode turned."""
    if not found.dead:
        return found
    with closing(station.lines(other, exchanged=True)) as lines:
        guide = Guide(turned_diodes(other, bits(found.dead)))
        sit(guide, station, plain(other), (lines, leds), None, say, WALK_SCAN_US)
    if not guide.result:
        return found
    text = f"the diode is the other way round at {mapped.names(guide.result, other.board.columns)}: turn it"
    return found._replace(findings=(*found.findings, Finding("fault", text)))


def _told(profile: Profile, station: Station, found: Mapped, changes: dict[str, Any]) -> list[str]:
    numbers = mapped.numbers(found.cell_of, profile.leds.per_cell)
    size = profile.board.rows, profile.board.columns
    lines = ["", f"{profile.board.name} ({profile.file}): {RESTS_ON[station.rung]['board']}.", ""]
    lines += ["Numbers are LEDs along the chain, from 0; x no answer, ! closed all the time.", ""]
    lines += [*mapped.drawn(numbers, found.dead, found.stuck, size), ""]
    lines += [f"{finding.level:6}{finding.text}" for finding in found.findings]
    if found.wanted and not changes:
        lines.append("All else is as the profile says." if found.faults else "The board is as its profile says.")
    if changes and not station.exchanges:
        lines.append("In the board's own configuration, in the words of a profile:")
    lines += [f"      {key} should be {_short(value)}" for key, value in changes.items()]
    return lines


def _short(value: object) -> str:
    return f"a list of {len(value)}" if isinstance(value, list) and len(value) > 16 else json.dumps(value)


def _document(profile: Profile, station: Station, found: Mapped, changes: dict[str, Any]) -> dict[str, Any]:
    columns = profile.board.columns
    return {
        "board": profile.board.name,
        "file": profile.file,
        "rung": station.rung,
        "rests_on": RESTS_ON[station.rung]["board"],
        "findings": [finding._asdict() for finding in found.findings],
        "leds": [None if cell is None else name(cell, columns) for cell in found.cell_of],
        "dead": [name(cell, columns) for cell in bits(found.dead)],
        "stuck": [name(cell, columns) for cell in bits(found.stuck)],
        "profile": found.wanted,
        "changes": changes,
    }


def _check_target(path: Path) -> None:
    """Raises Misuse for a file that cannot be written, before anybody walks over a board for it."""
    folder = path.absolute().parent
    if not folder.exists():
        raise Misuse(f"{path} cannot be written: there is no directory {folder}; make it, or choose another.")
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise Misuse(f"{path} cannot be written: name a file in a directory that is there and may be written.")


def _write(path: Path, profile: Profile, changes: dict[str, Any]) -> None:
    """A profile that says what was found: the board's own with its keys changed, or that of `path` itself."""
    try:
        text = (path if path.exists() else Path(profile.file)).read_text(encoding="utf-8")
    except OSError as error:
        raise Misuse(f"{path}: the profile cannot be read: {error.strerror}.") from error
    kept_file.replace(path, profile_text.changed(text, changes, str(path)).encode())
    load(path)


# -- selftest ---------------------------------------------------------------------------------------------------------


def _selftest(parsed: argparse.Namespace) -> int:
    if parsed.report is not None:
        _check_target(parsed.report)
    profile, station = _opened(parsed)
    try:
        found = examined(profile, station, _teller(parsed, station))
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
