"""A profile's text with some of its keys said otherwise, its comments kept. Pure.

What comes out is read back and held against what was wanted, so a text of a shape that is not understood is refused
and never half changed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from hal.errors import ProfileError


def changed(text: str, values: Mapping[str, Any], file: str) -> str:
    """The text with `section.key` = value for each of `values`. Raises ProfileError where it cannot be changed."""
    wanted = tomllib.loads(text)
    lines = text.splitlines()
    for key, value in values.items():
        section, _, name = key.partition(".")
        wanted.setdefault(section, {})[name] = value
        lines = _set(_without_table(lines, key), section, name, f"{name} = {_toml(value)}")
    result = "\n".join(lines) + "\n"
    if not _same(result, wanted):
        reason = "these keys cannot be changed by themselves in a text of this shape; write them by hand"
        raise ProfileError(file, ", ".join(values), None, reason)
    return result


def _same(text: str, wanted: dict[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        return False


def _set(lines: list[str], section: str, name: str, entry: str) -> list[str]:
    """The lines with an entry in place of the one of its name, or at the end of its section."""
    start = next((at for at, line in enumerate(lines) if re.match(rf"\s*\[\s*{section}\s*\]", line)), None)
    if start is None:
        return [*lines, "", f"[{section}]", entry]
    end = next((at for at in range(start + 1, len(lines)) if re.match(r"\s*\[", lines[at])), len(lines))
    end = _after_value(lines, start, end)
    for at in range(start + 1, end):
        if re.match(rf"\s*{name}\s*=", lines[at]):
            last = _last_of_value(lines, at)
            comment = _comment(lines[at]) if last == at else ""
            return [*lines[:at], entry + comment, *lines[last + 1 :]]
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return [*lines[:end], entry, *lines[end:]]


def _after_value(lines: list[str], start: int, end: int) -> int:
    """The end of a section, where a line that begins with a bracket may go on a value and be no header."""
    at = start + 1
    while at < len(lines):
        if re.match(r"\s*\[[\w\s.-]+\]\s*(#.*)?$", lines[at]):
            return at
        at = _last_of_value(lines, at) + 1
    return max(end, len(lines))


def _last_of_value(lines: list[str], at: int) -> int:
    """The line on which the value that begins on a line ends: where its brackets are closed."""
    depth = 0
    for last in range(at, len(lines)):
        plain = _bare(lines[last])
        depth += plain.count("[") - plain.count("]")
        if depth <= 0:
            return last
    return len(lines) - 1


def _bare(line: str) -> str:
    """A line without strings and comment."""
    return re.sub(r'"(\\.|[^"\\])*"|\'[^\']*\'', "", line).partition("#")[0]


def _comment(line: str) -> str:
    """The comment at the end of a line, with the space before it."""
    found = re.match(r"""(?:"(?:\\.|[^"\\])*"|'[^']*'|[^"'#])*?(\s*#.*)$""", line)
    return found[1] if found else ""


def _without_table(lines: list[str], key: str) -> list[str]:
    """The lines without the table `[section.key]`."""
    start = next((at for at, line in enumerate(lines) if re.match(rf"\s*\[\s*{re.escape(key)}\s*\]", line)), None)
    if start is None:
        return lines
    end = next((at for at in range(start + 1, len(lines)) if re.match(r"\s*\[", lines[at])), len(lines))
    return lines[:start] + lines[end:]


def _toml(value: object) -> str:
    """A value as TOML: lists of names seven a line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, list):
        items = [_toml(item) for item in value]
        if len(items) <= 16:
            return f"[{', '.join(items)}]"
        rows = [", ".join(items[at : at + 7]) for at in range(0, len(items), 7)]
        return "[\n" + "".join(f"    {row},\n" for row in rows) + "]"
    return str(value)
