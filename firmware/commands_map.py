"""`morbak map`: whoever sits at a board is led over it, and how it is wired is said and written to a profile."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from firmware import kept_file
from firmware.arguments import Misuse
from firmware.commands_walk import FAULTS, STOPPED, ByItself, Simulated, add_common, check_target, opened, teller
from firmware.station import Station, sit
from hal import mapped, profile_text
from hal.drivers.serial_board import place
from hal.guide import Guide, bits, name
from hal.mapping import mapping, plain, turned_diodes
from hal.mapping_result import Finding, Mapped, result
from hal.profile import Profile, load
from hal.selftest_report import RESTS_ON

# Often enough for touches; the test measures bounces and scans as often as it can.
WALK_SCAN_US = 2_000
EXAMPLES = f"""examples:
  morbak map --board reference                          how this board is really wired
  morbak map --board reference --write my.toml          the same, and a profile that says so
  morbak map --fault order=serpentine --fault mirror=on --write my.toml     try it without a board

{FAULTS}
exit status: 0 the board is as its profile says, or as the profile that was written says; 1 it is not; 2 it cannot be
walked over
"""


def add_map(parser: argparse.ArgumentParser, simulated: Simulated, by_itself: ByItself) -> None:
    """`morbak map`."""
    add_common(parser, EXAMPLES)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write a profile that says what was found")
    parser.add_argument("--force", action="store_true", help="change FILE where it is there already")
    parser.set_defaults(command=_map, simulated=simulated, by_itself=by_itself)


def _map(parsed: argparse.Namespace) -> int:
    if parsed.write is not None:
        if place(parsed.board) is not None:
            raise Misuse(
                f"{parsed.board} has its wiring in its own configuration, at its end of the cable: leave --write out, "
                "and mend there what is found."
            )
        check_target(parsed.write)
        if parsed.write.suffix != ".toml":
            raise Misuse(f"{parsed.write}: the file of a board ends in .toml; choose such a name.")
        if parsed.write.exists() and not parsed.force:
            raise Misuse(f"{parsed.write} is there already: choose another name, or change it with --force.")
    profile, station = opened(parsed)
    try:
        found, base = walked(profile, station, teller(parsed, station))
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


def _write(path: Path, profile: Profile, changes: dict[str, Any]) -> None:
    """A profile that says what was found: the board's own with its keys changed, or that of `path` itself."""
    try:
        text = (path if path.exists() else Path(profile.file)).read_text(encoding="utf-8")
    except OSError as error:
        raise Misuse(f"{path}: the profile cannot be read: {error.strerror}.") from error
    kept_file.replace(path, profile_text.changed(text, changes, str(path)).encode())
    load(path)
