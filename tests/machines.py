"""Recorded machines: `tests/tables/machines/*.txt`, unpacked into the folder that a probe takes for "/".

A file starts with a comment that says what it is. `=== path` starts a file of the machine, `=== path | nul` one that
ends with a NUL as the device tree's texts do, `=== path | hex` one of bytes, `=== path/` a folder. What commands said
is in `outputs/`. Contents follow Raspberry Pi's documentation and reports of owners; the virtual Pi was recorded.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hal.doctor_probe import Probe

FOLDER = Path(__file__).parent / "tables" / "machines"
NAMES = sorted(path.stem for path in FOLDER.glob("*.txt"))


def files(name: str) -> dict[str, bytes | None]:
    """The files of a recorded machine by path; None for a folder."""
    found: dict[str, bytes | None] = {}
    _, *parts = f"\n{(FOLDER / f'{name}.txt').read_text(encoding='utf-8')}".split("\n=== ")
    for part in parts:
        head, _, body = part.partition("\n")
        path, _, kind = head.partition(" | ")
        text = body if body.endswith("\n") or not body else body + "\n"
        if path.endswith("/"):
            found[path.rstrip("/")] = None
        elif kind == "hex":
            found[path] = bytes.fromhex(body)
        elif kind == "nul":
            found[path] = body.strip("\n").encode() + b"\0"
        else:
            found[path] = text.encode()
    return found


def unpack(name: str, folder: Path) -> Path:
    """Lay a recorded machine out in a folder; returns it."""
    for path, data in files(name).items():
        place = folder / path
        if data is None:
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
    return folder


def probe(name: str, folder: Path) -> Probe:
    """The probe of a recorded machine that is laid out in a folder."""
    return Probe.recorded(unpack(name, folder))


def change_facts(folder: Path, change: Callable[[dict[str, Any]], None]) -> Probe:
    """The probe of a machine that is laid out, with other facts about its process."""
    path = folder / "outputs" / "facts.json"
    facts = json.loads(path.read_text())
    change(facts)
    path.write_text(json.dumps(facts))
    return Probe.recorded(folder)
