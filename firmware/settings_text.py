"""Settings in effect as a text: TOML that can be read again, every key with its origin, default, range and meaning."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from firmware import config
from hal import tables

HEAD = """# The settings in effect, from {file}.
# A file to start from: `morbak config show > settings.toml`; `morbak config check settings.toml` checks it.
"""


def document(settings: config.Settings, source: tables.Source) -> dict[str, Any]:
    """Every key with its value, default, range, meaning, and line where the file sets it; `config show --json`."""
    given = tables.load(source)
    sections: dict[str, dict[str, Any]] = {name: {} for name in config.SECTIONS}
    for name, kind in config.SECTIONS.items():
        for field in msgspec.structs.fields(kind):
            here = field.name in given.get(name, {})
            sections[name][field.name] = {
                "value": getattr(getattr(settings, name), field.name),
                "default": field.default,
                "range": _range(field.type),
                "line": source.line(f"{name}.{field.name}") if here else None,
                "text": _meaning(field.type),
            }
    return {"file": source.file if source.text else None, "settings": sections}


def toml(settings: config.Settings, source: tables.Source) -> str:
    """The same as TOML; a key that is not set stands in a comment, with the value that the rules give it."""
    text = HEAD.format(file=source.file if source.file.isprintable() else ascii(source.file))
    for name, keys in document(settings, source)["settings"].items():
        lines = [_line(key, told, settings) for key, told in keys.items()]
        width = max(len(line) for line, _ in lines)
        text += f"\n[{name}]\n" + "".join(f"{line:{width}}  # {comment}\n" for line, comment in lines)
    return text


def _line(key: str, told: dict[str, Any], settings: config.Settings) -> tuple[str, str]:
    """A key with its value, and the comment beside it."""
    value, default = told["value"], told["default"]
    if value is None:
        return f"# {key} = {_toml(getattr(settings.rules, key))}", f"not set; {told['range']}: {told['text']}"
    origin = "built-in" if told["line"] is None else f"line {told['line']}"
    normal = "" if told["line"] is None or default is None else f"default {_toml(default)}; "
    return f"{key} = {_toml(value)}", f"{origin}; {normal}{told['range']}: {told['text']}"


def _toml(value: object) -> str:
    """A number, a truth value or a plain word is written in TOML as in JSON."""
    return json.dumps(value)


def _plain(kind: Any) -> tuple[Any, list[msgspec.Meta]]:
    """The type without what annotates it, and what does; of `X | None` that of X."""
    metas: list[msgspec.Meta] = []
    while True:
        if get_origin(kind) is Annotated:
            kind, *more = get_args(kind)
            metas += more
        elif type(None) in get_args(kind):
            kind = next(each for each in get_args(kind) if each is not type(None))
        else:
            return kind, metas


def _range(kind: Any) -> str:
    plain, metas = _plain(kind)
    if plain is bool:
        return "true or false"
    if plain is str:
        return 'such as "22:00-08:00", or "" for none'
    if get_origin(plain) is Literal:
        return " or ".join(_toml(value) for value in get_args(plain))
    least = next(meta.ge for meta in metas if meta.ge is not None)
    most = next(meta.le for meta in metas if meta.le is not None)
    return f"{least} to {most}"


def _meaning(kind: Any) -> str:
    return next(meta.description for meta in _plain(kind)[1] if meta.description is not None)
