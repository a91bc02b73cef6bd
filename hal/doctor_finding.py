"""Findings: what a check of the doctor says, in one sentence, and the command that mends it. Pure."""

from __future__ import annotations

from typing import Literal, NamedTuple

Level = Literal["broken", "warning", "fine"]
# Worst first, as they are shown.
LEVELS: tuple[Level, ...] = ("broken", "warning", "fine")

RESTART = "restart the machine"
LOG_IN = "log in again"
CONFIG = "/boot/firmware/config.txt"
CMDLINE = "/boot/firmware/cmdline.txt"


class Finding(NamedTuple):
    """One sentence about one thing. `fix`: one command, "" only where nothing is wrong; `then`: what must follow it."""

    check: str
    level: Level
    text: str
    fix: str = ""
    then: str = ""


def fine(check: str, text: str) -> Finding:
    """Nothing is wrong."""
    return Finding(check, "fine", text)


def warning(check: str, text: str, fix: str, then: str = "") -> Finding:
    """Play is possible, and something will go wrong some day."""
    return Finding(check, "warning", text, fix, then)


def broken(check: str, text: str, fix: str, then: str = "") -> Finding:
    """This part of the board does not work."""
    return Finding(check, "broken", text, fix, then)


def add_argument(argument: str) -> str:
    """The command that adds an argument to the kernel's command line."""
    return f"sudo sed -i '1s/$/ {argument}/' {CMDLINE}"


def listed(names: list[str]) -> str:
    """Names for a sentence: a; a and b; a, b and c."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
