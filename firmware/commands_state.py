"""`morbak state`: what a board knows, out of its state directory into one file, and back into another's."""

from __future__ import annotations

import argparse
import contextlib
import os
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

from firmware import chosen, journal_records, journal_rescue, settings_file, state_archive
from firmware.arguments import Misuse, add_state, group, reading
from firmware.journal import DATABASE, explain
from firmware.journal_lines import plays
from firmware.kept_file import KeptFile, NotKept, replace
from firmware.state_archive import Archive
from firmware.state_directory import StateDirectory, default

EXAMPLES = """examples:
  morbak state export backup.jsonl            also while the board plays
  morbak state import backup.jsonl            into a board that has no games yet
  morbak state import --replace backup.jsonl  over a board's own games, which are kept under another name
  ssh old morbak state export - | morbak state import -

An export holds the game in progress, the record of every finished game, what was chosen at the board, and the
settings it last started well with. The same state gives the same file, byte for byte.
"""


def add_state_commands(parser: argparse.ArgumentParser) -> None:
    """`morbak state export|import`."""
    parser.epilog = EXAMPLES
    commands = group(parser)
    export = commands.add_parser("export", help="write what the board knows into one file")
    export.add_argument("file", metavar="FILE|-", help="the file to write; - is standard output")
    export.set_defaults(command=_export)
    import_ = commands.add_parser("import", help="take over what an export holds; no board may run meanwhile")
    import_.add_argument("file", metavar="FILE|-", help="the export; - is standard input")
    import_.add_argument("--replace", action="store_true", help="where there are games; they are kept under a new name")
    import_.set_defaults(command=_import)
    for each in (export, import_):
        add_state(each)


def _export(parsed: argparse.Namespace) -> int:
    state: Path = getattr(parsed, "state", None) or default(os.environ)
    if not state.is_dir():
        raise Misuse(f"there is no state directory {state}; name the board's with --state.")
    archive = _archive(state)
    data = state_archive.format_archive(archive)
    if parsed.file == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        _write(Path(parsed.file), data)
        print(f"{archive} exported to {parsed.file}.", file=sys.stderr)
    return 0


def _archive(state: Path) -> Archive:
    """What a board knows; what is damaged is said, and what is readable of it taken."""
    entries = list(state_archive.last_saves(journal_records.entries(state / DATABASE)))
    for entry in [entry for entry in entries if not plays(entry.save)]:
        print(f"Game {entry.save.game} contradicts itself and is left out.", file=sys.stderr)
        entries.remove(entry)
    choice, settings = chosen.look(state), settings_file.copy(state).read()
    for sentence in filter(None, (choice.sentence, settings.sentence)):
        print(sentence, file=sys.stderr)
    return Archive(tuple(entries), choice.value, settings.value)


def _write(path: Path, data: bytes) -> None:
    if path.exists() and not path.is_file():  # a device or a pipe must not be replaced by a file
        try:
            path.write_bytes(data)
        except OSError as error:
            raise Misuse(f"{path} cannot be written: {error.strerror}.") from error
    else:
        replace(path, data)


def _import(parsed: argparse.Namespace) -> int:
    with reading(parsed.file, "export") as file:
        try:
            archive = state_archive.parse_archive(file.read())
        except OSError as error:
            raise Misuse(f"{parsed.file}: the export cannot be read: {error.strerror}.") from error
        except state_archive.Unreadable as error:
            raise Misuse(f"{parsed.file} cannot be imported: {error}; nothing is changed.") from error
    with contextlib.closing(StateDirectory.open(getattr(parsed, "state", None))) as state:
        if state.trouble is not None:
            raise Misuse(state.trouble)
        _check_empty(state.path, parsed.replace)
        for sentence in _take_over(state.path, archive):
            print(sentence, file=sys.stderr)
    print(f"{archive} imported into {state.path}.", file=sys.stderr)
    return 0


def _check_empty(state: Path, replace: bool) -> None:
    if not replace and (games := len({entry.save.game for entry in journal_rescue.glimpse(state / DATABASE)})):
        raise Misuse(
            f"the state directory {state} has {games} games; choose another with --state, or set them aside with "
            "--replace, which keeps them under a new name."
        )


def _take_over(state: Path, archive: Archive) -> Iterator[str]:
    """Put an archive into a state directory, the games last; a sentence for each thing to know. Raises Misuse."""
    try:
        for path in (state / chosen.FILE, state / settings_file.COPY):
            yield from _aside(path)
        if archive.chosen is not None:
            chosen.save(state, archive.chosen)
        if archive.settings is not None:
            settings_file.save(state, archive.settings)
        if archive.settings is not None and archive.settings.text:  # none were in a file: nothing to copy anywhere
            yield (
                f"The settings of {archive.settings.file} are in {state / settings_file.COPY}: to play by them, copy "
                "that to where settings are read from (`morbak config --help`)."
            )
        aside = journal_rescue.replace(state / DATABASE, list(archive.entries))
    except NotKept as error:
        raise Misuse(f"{error} No games are imported; do it again when that is mended.") from error
    except (sqlite3.Error, OSError) as error:
        raise Misuse(f"{explain(error, state)} The import is not done; do it again when that is mended.") from error
    if aside is not None:
        yield f"The games that were there are kept as {aside.name}."


def _aside(path: Path) -> Iterator[str]:
    for file in (path, KeptFile(path, bytes).last):
        if file.exists():
            aside = KeptFile(file, bytes).set_aside("replaced")
            if aside is None:
                raise NotKept(f"{file} cannot be set aside.")
            yield f"{file.name} is kept as {aside.name}."
