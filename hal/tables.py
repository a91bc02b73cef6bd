"""TOML files read so that a mistake is named: file, line, key, value, reason, and for an unknown key the nearest."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin

import msgspec

from hal.errors import ProfileError


class Source(NamedTuple):
    """A TOML text, and the file it comes from, to name the line of a mistake; `what` it is: profile, settings."""

    file: str
    text: str
    what: str

    def refuse(self, key: str, value: object, reason: str) -> ProfileError:
        """The error for `section.key`, with its line where one is found."""
        return ProfileError(self.file, key, value, reason, self._line(key))

    def _line(self, key: str) -> int | None:
        section = ""
        for number, line in enumerate(self.text.splitlines(), 1):
            if header := re.match(r"\s*\[\s*([\w.-]+)\s*\]", line):
                section = header[1]
                if section == key:
                    return number
            elif (entry := re.match(r"\s*([\w.-]+)\s*=", line)) and f"{section}.{entry[1]}".lstrip(".") == key:
                return number
        parent = key.rpartition(".")[0]
        return self._line(parent) if parent else None


def read(path: Path, what: str) -> Source:
    """The text of a file. Raises ProfileError for one that cannot be read."""
    try:
        return Source(str(path), path.read_text(encoding="utf-8"), what)
    except OSError as fault:
        raise ProfileError(str(path), "", None, f"the {what} cannot be read: {fault.strerror}") from fault
    except UnicodeDecodeError as fault:
        line = fault.object.count(b"\n", 0, fault.start) + 1
        raise ProfileError(str(path), "", None, f"the {what} is not UTF-8 text: {fault.reason}", line) from fault


def parse(source: Source, sections: Iterable[str]) -> dict[str, Any]:
    """The tables of a text, which may have these sections only. Raises ProfileError."""
    try:
        tables = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as fault:
        place = re.search(r"line (\d+)", str(fault))
        line = int(place[1]) if place else source.text.count("\n") + 1
        raise ProfileError(source.file, "", None, f"the {source.what} is not TOML: {fault}", line) from fault
    _refuse_unknown(source, "", tables, sections)
    return tables


def _refuse_unknown(source: Source, prefix: str, table: dict[str, Any], known: Iterable[str]) -> None:
    names = list(known)
    for key, value in table.items():
        if key not in names:
            nearest = difflib.get_close_matches(key, names, n=1, cutoff=0.0)[0]
            kind = "key" if prefix else "section"
            raise source.refuse(f"{prefix}{key}", value, f"unknown {kind}; the nearest is {nearest}")


_Section = TypeVar("_Section", bound=msgspec.Struct)


def section(source: Source, tables: dict[str, Any], name: str, kind: type[_Section]) -> _Section:
    """One section, each key checked on its own so that the error can name it. Raises ProfileError."""
    table = tables.get(name, {})
    if not isinstance(table, dict):
        raise source.refuse(name, table, f"a section [{name}] is wanted")
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    _refuse_unknown(source, f"{name}.", table, fields)
    for field in fields.values():
        if field.required and field.name not in table:
            raise source.refuse(f"{name}.{field.name}", None, "this key must be given")
    return kind(**{key: _value(source, f"{name}.{key}", value, fields[key].type) for key, value in table.items()})


def _value(source: Source, key: str, value: object, kind: Any) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as fault:
        reason = f"one of {', '.join(get_args(kind))} is wanted" if get_origin(kind) is Literal else str(fault)
        raise source.refuse(key, value, reason) from fault
