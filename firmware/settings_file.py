"""Which file the settings come from, and what the board starts with when that file is torn.

A file that cannot be a settings file at all (empty, NULs, no text, no TOML: what a power cut leaves, case F13) counts
as missing: the board starts all the same, with the last settings it started well with, and says so. A file that reads
but holds a wrong key or value is a mistake somebody can mend, and is refused.
"""

from __future__ import annotations

import json
import os
import pwd
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from firmware import config
from firmware.kept_file import KeptFile, NotKept
from firmware.state_directory import NAME
from hal import tables
from hal.errors import ProfileError
from hal.ports import Part
from hal.profile import Profile

FILE: Final = "settings.toml"
COPY: Final = "settings.last.toml"
SYSTEM: Final = Path("/etc") / NAME / FILE
BUILT_IN: Final = tables.Source("the built-in settings", "", "settings file")
_HEAD: Final = re.compile(rb'# ([0-9a-f]{8}) (last started with ("[^\n]*")\n)')


class Choice(NamedTuple):
    """Settings that can be used, the text they come from, and each file passed over for them: what is wrong with it."""

    settings: config.Settings
    source: tables.Source
    torn: tuple[str, ...] = ()


class Started(NamedTuple):
    """What the board starts with. `part`: for its health; `sentences`: for whoever looks after it."""

    settings: config.Settings
    source: tables.Source
    part: Part
    sentences: tuple[str, ...]


def choose(given: Path | None, profile: Profile, environ: Mapping[str, str] = os.environ) -> Choice:
    """The settings of the first file that is there: `given`, `$MORBAK_CONFIG`, XDG's places, /etc; else the built-in.

    Torn files are passed over. Raises ProfileError for a named file that is not there, for one that may not be read,
    and for wrong keys and values.
    """
    torn: list[str] = []
    for path in _files(given, environ):
        try:
            source = config.read(path)
            settings, faults = config.judge(source, profile)
            for fault in faults:
                raise fault
        except ProfileError as error:
            if not isinstance(error, tables.Torn) and not torn:
                raise
            torn.append(str(error))  # behind a torn file nothing is refused: the board has to start
        else:
            return Choice(settings, source, tuple(torn))
    return Choice(config.judge(BUILT_IN, profile)[0], BUILT_IN, tuple(torn))


def settle(choice: Choice, profile: Profile, state: Path) -> Started:
    """Of a choice that passed over torn files the last good settings kept in the state directory, where there are."""
    if not choice.torn:
        return Started(choice.settings, choice.source, Part(True, "ok"), ())
    reading = copy(state).read()
    settings, source = choice.settings, choice.source
    if reading.value is not None:
        kept, faults = config.judge(reading.value, profile)
        if not faults:
            settings, source = kept, reading.value
    place = f"the last good copy, {state / COPY}, is" if source is reading.value else _named(choice.source)
    sentence = f"{'; '.join(choice.torn)}. That counts as missing: {place} used."
    more = (reading.sentence,) if reading.sentence else ()
    return Started(settings, source, Part(False, sentence), (sentence, *more))


def keep(started: Started, profile: Profile, state: Path) -> Iterator[str]:
    """Keep the settings of a good start for a bad one; a sentence for all that has changed since, or went wrong."""
    if not started.part.ok:
        return
    file, new = copy(state), _sealed(started.source)
    reading = file.read()
    if reading.sentence is not None:
        yield reading.sentence
    if reading.value is not None:
        before, faults = config.judge(reading.value, profile)
        if not faults and (changes := config.changes(before, started.settings)):
            yield f"The settings are not those of the last start: {', '.join(changes)}."
    if reading.value is None or reading.sentence is not None or _sealed(reading.value) != new:
        try:
            file.write(new)
        except NotKept as error:
            yield f"The settings of this start are not kept for a bad one: {error}"


def copy(state: Path) -> KeptFile[tables.Source]:
    """The settings that the board in a state directory started well with."""
    return KeptFile(state / COPY, _unsealed)


def save(state: Path, source: tables.Source) -> None:
    """Keep settings as those that the board started well with. Raises NotKept."""
    copy(state).write(_sealed(source))


def first(given: Path | None, environ: Mapping[str, str]) -> Path | None:
    """The file that is read first; None where there is none. Raises ProfileError for a named one that is not there."""
    return next(_files(given, environ), None)


def places(environ: Mapping[str, str]) -> list[Path]:
    """Where settings are looked for if none are named, the best place first."""
    home = environ.get("XDG_CONFIG_HOME", "")
    folders = [Path(home)] if Path(home).is_absolute() else _home(environ)
    dirs = environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    folders += [Path(folder) for folder in dirs.split(":") if Path(folder).is_absolute()]
    return [folder / NAME / FILE for folder in folders] + [SYSTEM]


def _home(environ: Mapping[str, str]) -> list[Path]:
    try:
        return [Path(environ.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir) / ".config"]
    except KeyError:  # a user without a name has no home
        return []


def _files(given: Path | None, environ: Mapping[str, str]) -> Iterator[Path]:
    variable = environ.get("MORBAK_CONFIG")
    named = given or (Path(variable) if variable else None)
    if named is not None:
        if not os.path.lexists(named):
            by = "" if given else "$MORBAK_CONFIG names it, but "
            raise ProfileError(
                str(named), "", None, f"{by}there are no settings of that name; make them, or leave it out"
            )
        yield named
    yield from (path for path in places(environ) if os.path.exists(path) and path != named)


def _named(source: tables.Source) -> str:
    return f"{source.file} are" if source is BUILT_IN else f"{source.file} is"


def _sealed(source: tables.Source) -> bytes:
    """The text with its origin and a checksum, both in a comment, so that the copy is a settings file itself."""
    rest = f"last started with {json.dumps(source.file)}\n{source.text}".encode(errors="replace")
    return b"# %08x %b" % (zlib.crc32(rest), rest)


def _unsealed(data: bytes) -> tables.Source:
    head = _HEAD.match(data)
    if head is None or zlib.crc32(data[head.start(2) :]) != int(head[1], 16):
        raise ValueError("damaged (its checksum does not fit)")
    try:
        file = json.loads(head[3])
        source = tables.Source(file, data[head.end() :].decode(), "settings file")
        tables.load(source)
    except (ValueError, tables.Torn) as error:
        raise ValueError(f"damaged ({error})") from error
    return BUILT_IN if source == BUILT_IN else source
