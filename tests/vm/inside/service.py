"""Runs inside the virtual Pi under systemd: what scripts share that test the installed program as a service."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

import vpi

PROGRAM = Path("/opt/morbak")
UNIT = "morbak-board"
PORT = 8700


def run(*command: str, check: bool = True, **options: Any) -> subprocess.CompletedProcess[str]:
    """A command, and what it said."""
    ran = subprocess.run(command, capture_output=True, text=True, **options)
    if check and ran.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {ran.returncode}\n{ran.stdout}{ran.stderr}\n{log()}")
    return ran


def morbak(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """The installed command."""
    return run(str(PROGRAM / "bin/morbak"), *arguments, check=check, cwd="/")


def show(name: str, unit: str = UNIT) -> str:
    """A property of a unit."""
    return run("systemctl", "show", "--value", "-p", name, unit).stdout.strip()


def log(unit: str = UNIT) -> str:
    """What the unit has logged."""
    return subprocess.run(["journalctl", "-u", unit, "-o", "cat"], capture_output=True, text=True).stdout


def state() -> dict[str, Any]:
    """The board's state; {} while nobody answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/api/v1/state", timeout=2) as answer:
            told: dict[str, Any] = json.load(answer)
            return told
    except OSError:
        return {}


def until(condition: Any, seconds: float = 30) -> Any:
    """Wait for something; what was logged is told where it does not come."""
    try:
        return vpi.until(condition, seconds, 0.02)
    except TimeoutError as error:
        raise RuntimeError(f"{error}\n{log()}") from error
