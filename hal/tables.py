"""TOML files read so that a mistake is named: file, line, key, value, reason, and for an unknown key the nearest."""

from __future__ import annotations

import difflib
import errno
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_origin

import msgspec

from hal.errors import ProfileError


class Torn(ProfileError):
    """A file that is no text or no TOML at all, as a power cut or a failing card leaves it (case F13)."""


class Source(NamedTuple):
    """A TOML text, and the file it comes from, to name the line of a mistake; `what` it is: profile, settings."""

    file: str
    text: str
    what: str

    def refuse(self, key: str, value: object, reason: str) -> ProfileError:
        """The error for `section.key`, with its line where one is found."""
        name = key if key.isprintable() else ascii(key)[1:-1]
        return ProfileError(self.file, name, _shown(value), reason, self.line(key))

    def line(self, key: str) -> int | None:
        """The line of `section.key`, else of its section, from 1; None where neither is found."""
        section = ""
        for number, line in enumerate(self.text.splitlines(), 1):
            if header := re.match(r"\s*\[\s*([\w.-]+)\s*\]", line):
                section = header[1]
                if section == key:
                    return number
            elif (entry := re.match(r"\s*([\w.-]+)\s*=", line)) and f"{section}.{entry[1]}".lstrip(".") == key:
                return number
        parent = key.rpartition(".")[0]
        return self.line(parent) if parent else None


def _shown(value: object) -> object:
    """The value, or what stands for one that is too long to print."""
    try:
        return value if len(repr(value)) <= 200 else "(too long to print)"
    except (ValueError, RecursionError):  # a number of more than 4300 digits; tables a thousand deep
        return "(too long to print)"


def read(path: Path, what: str) -> Source:
    """The text of a file. Raises ProfileError for one that cannot be read, Torn where that is damage."""
    try:
        return Source(str(path), path.read_bytes().decode("utf-8-sig"), what)
    except OSError as fault:
        kind = Torn if fault.errno == errno.EIO else ProfileError
        raise kind(str(path), "", None, f"the {what} cannot be read: {fault.strerror}") from fault
    except UnicodeDecodeError as fault:
        line = fault.object.count(b"\n", 0, fault.start) + 1
        raise Torn(str(path), "", None, f"the {what} is not UTF-8 text: {fault.reason}", line) from fault


def parse(source: Source, sections: Iterable[str]) -> dict[str, Any]:
    """The tables of a text, which may have these sections only. Raises ProfileError, Torn for what is no TOML."""
    tables = load(source)
    for fault in unknown(source, "", tables, sections):
        raise fault
    return tables


def load(source: Source) -> dict[str, Any]:
    """The tables of a text. Raises Torn for what is no TOML."""
    try:
        return tomllib.loads(source.text)
    except (ValueError, RecursionError) as fault:  # numbers of 5000 digits and brackets a thousand deep too
        place = re.search(r"line (\d+)", str(fault))
        line = int(place[1]) if place else source.text.count("\n") + 1
        raise Torn(source.file, "", None, f"the {source.what} is not TOML: {fault}", line) from fault


def unknown(source: Source, prefix: str, table: dict[str, Any], known: Iterable[str]) -> Iterator[ProfileError]:
    """An error for each key of a table that is not known."""
    names = list(known)
    for key, value in table.items():
        if key not in names:
            nearest = difflib.get_close_matches(key[:80], names, n=1, cutoff=0.0)[0]
            kind = "key" if prefix else "section"
            yield source.refuse(f"{prefix}{key}", value, f"unknown {kind}; the nearest is {nearest}")


def gives(tables: Mapping[str, Any], key: str) -> bool:
    """Whether a text has `section.key`, whatever its value."""
    name, _, last = key.partition(".")
    section = tables.get(name)
    return isinstance(section, dict) and last in section


_Section = TypeVar("_Section", bound=msgspec.Struct)


def section(source: Source, tables: dict[str, Any], name: str, kind: type[_Section]) -> _Section:
    """One section, each key checked on its own so that the error can name it. Raises ProfileError."""
    values, faults = values_of(source, tables, name, kind)
    for fault in faults:
        raise fault
    return kind(**values)


def values_of(
    source: Source, tables: dict[str, Any], name: str, kind: type[msgspec.Struct]
) -> tuple[dict[str, Any], list[ProfileError]]:
    """The values of a section that can be used, and an error for everything else in it."""
    table = tables.get(name, {})
    if not isinstance(table, dict):
        return {}, [source.refuse(name, table, f"a section [{name}] is wanted")]
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    faults = list(unknown(source, f"{name}.", table, fields))
    values: dict[str, Any] = {}
    for key, field in fields.items():
        if key in table:
            try:
                values[key] = _value(source, f"{name}.{key}", table[key], field.type)
            except ProfileError as fault:
                faults.append(fault)
        elif field.required:
            faults.append(source.refuse(f"{name}.{key}", None, "this key must be given"))
    return values, faults


def _value(source: Source, key: str, value: object, kind: Any) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as fault:
        plain = get_args(kind)[0] if get_origin(kind) is Annotated else kind
        choices = ", ".join(map(str, get_args(plain)))
        reason = f"one of {choices} is wanted" if get_origin(plain) is Literal else str(fault)
        raise source.refuse(key, value, reason) from fault
