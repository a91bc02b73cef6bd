"""A probe: all that the doctor may know of a machine, whether it is this one or one that was recorded.

A folder that stands for "/" (of it are read /proc, /sys, /boot, /dev, /etc and the state directory) and what commands
said. What is missing, unreadable, empty or no text reads as "": a check that knows nothing says nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# What a recorded machine's commands said lies here, below its folder, a file a command.
OUTPUTS = "outputs"
# Of a file that is longer the rest is not read: a kernel's log, or a file that is not what its name says.
LONGEST_BYTES = 1_000_000


class Probe:
    """A folder that stands for "/", and the outputs of commands by name. No method raises."""

    def __init__(self, root: Path, outputs: Mapping[str, str]) -> None:
        self._root, self._outputs = root, outputs
        self._facts = _object(outputs.get("facts", ""))

    @classmethod
    def recorded(cls, folder: Path) -> Probe:
        """The probe of a machine that was recorded in a folder."""
        files = _listed(folder / OUTPUTS)
        return cls(folder, {path.stem: _bytes(path).decode(errors="replace") for path in files})

    def text(self, *names: str) -> str:
        """The text of the first of these files that has any."""
        return next(filter(None, (self._file(name).decode(errors="replace") for name in names)), "")

    def number(self, name: str) -> int | None:
        """A number of the device tree, which has four bytes, the highest first; None where there is none."""
        data = self._file(name)
        return int.from_bytes(data) if len(data) == 4 else None

    def decimal(self, name: str) -> int | None:
        """A number in digits; None where there is none."""
        digits = self.text(name).strip()
        return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None

    def names(self, folder: str) -> list[str]:
        """What lies in a folder, sorted."""
        return [path.name for path in _listed(self._path(folder))]

    def exists(self, name: str) -> bool:
        """Whether there is a file, device or folder of this name."""
        try:
            return self._path(name).exists()
        except OSError:
            return False

    def is_folder(self, name: str) -> bool:
        """Whether there is a folder of this name."""
        try:
            return self._path(name).is_dir()
        except OSError:
            return False

    def output(self, command: str) -> str:
        """What a command of `hal.doctor_facts` said; "" where it could not be run."""
        return self._outputs.get(command, "")

    def fact(self, name: str) -> Any:
        """A fact about this process and what it may do, of `hal.doctor_facts.facts`; None where it is not known."""
        return self._facts.get(name)

    def word(self, name: str) -> str:
        """A fact that is a text; "" where it is not known."""
        value = self.fact(name)
        return value if isinstance(value, str) else ""

    def table(self, name: str) -> dict[str, Any]:
        """A fact that is a table; empty where it is not known."""
        value = self.fact(name)
        return value if isinstance(value, dict) else {}

    def _path(self, name: str) -> Path:
        return self._root / name.lstrip("/")

    def _file(self, name: str) -> bytes:
        return _bytes(self._path(name))


def _object(text: str) -> dict[str, Any]:
    """A JSON object; empty for what is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(LONGEST_BYTES)
    except (OSError, ValueError):
        return b""


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except (OSError, ValueError):
        return []
