"""What an operator may send, as one JSON object `{"do": ...}`: the same from the page and from `morbak ctl`. Pure."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from firmware.choosing import SecondsOrNone
from firmware.games import morbak
from firmware.orders import Order
from firmware.quiet import PATTERN
from hal.profile import Brightness

KINDS = ("status", "logs", "act", "mask", "unmask", "clean", "end", "pause", "resume", "settings", "restart")

# What the values are that people write by hand, for `morbak ctl` and other programs.
_SECONDS = "seconds from 0 to 86400 (0: no limit), or the file's own with `default`"
WANTED = {
    "n": "a number of lines from 1 to 400",
    "brightness_pct": "a percentage from 5 to 100, or `default`",
    "language": "fr or en, or `default`",
    "marks": "true or false",
    "volume_pct": "a percentage from 0 to 100",
    "rules": "standard or lite, or `default`",
    "total_s": _SECONDS,
    "move_s": _SECONDS,
    "series": "1, 3 or 5, or `default`",
    "quiet": "hours such as 22:00-08:00, nothing for none, or `default`",
}


class Refused(Exception):
    """A command that changes nothing: a code, and a sentence that says what would be allowed."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


class Command(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag=str.lower):
    """Any command."""


class Status(Command, frozen=True):
    """How the board is."""


class Logs(Command, frozen=True):
    """The last lines of the log, `n` at most."""

    n: Annotated[int, Meta(ge=1, le=400)] = 100


class Act(Command, frozen=True):
    """Play for the side to move, as records write it: `d4`, `xd4`, `#d4`, `!d4`."""

    action: str


class Mask(Command, frozen=True):
    """Put a cell out of use."""

    cell: str


class Unmask(Command, frozen=True):
    """Put a cell back into use."""

    cell: str


class Clean(Command, frozen=True):
    """Make the board deaf for 30 s, so that it can be wiped."""


class End(Command, frozen=True):
    """Clear the game, or the result, off the board."""


class Pause(Command, frozen=True):
    """Stop the clocks of a game."""


class Resume(Command, frozen=True):
    """Let a paused or parked game go on."""


class Restart(Command, frozen=True):
    """Start the firmware anew; a game is found again, paused."""


class Settings(Command, frozen=True):
    """Change what is set. What is not named stays; null goes back to the settings file."""

    brightness_pct: Brightness | UnsetType | None = UNSET
    language: Literal["fr", "en"] | UnsetType | None = UNSET
    marks: bool | UnsetType = UNSET
    volume_pct: Annotated[int, Meta(ge=0, le=100)] | UnsetType = UNSET
    rules: Literal["standard", "lite"] | UnsetType | None = UNSET
    total_s: SecondsOrNone | UnsetType | None = UNSET
    move_s: SecondsOrNone | UnsetType | None = UNSET
    series: Literal[1, 3, 5] | UnsetType | None = UNSET
    quiet: Annotated[str, Meta(pattern=PATTERN)] | UnsetType | None = UNSET

    @property
    def changes(self) -> tuple[tuple[str, object], ...]:
        """The names and values that were given."""
        given = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return tuple((name, value) for name, value in given if value is not UNSET)


AnyCommand = Status | Logs | Act | Mask | Unmask | Clean | End | Pause | Resume | Restart | Settings


def read(body: bytes) -> AnyCommand:
    """The command in a body. Raises Refused for anything else."""
    try:
        return msgspec.json.decode(body, type=AnyCommand)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if (wrong := _wrong(body, str(error))) is not None:
            raise Refused("malformed", wrong) from error
        known = ", ".join(KINDS)
        text = f'A command is sent as {{"do":"clean"}}, with one of {known}: {error}.'
        raise Refused("malformed", text) from error


def _wrong(body: bytes, error: str) -> str | None:
    """What is wrong with a value that people write, in their words; None where it is something else."""
    name = error.rpartition("`$.")[2].rstrip("`")
    if name not in WANTED:
        return None
    value = json.dumps(json.loads(body)[name])  # Python's own takes numbers that are too large for any other
    return f"{name} cannot be {value}: give {WANTED[name]}."


def at_the_table(command: AnyCommand) -> morbak.Action | Order | None:
    """What a command means at the table; None where it is none of its business. Raises Refused."""
    match command:
        case Act(action=text):
            return _action(text)
        case Mask(cell=name):
            return Order("mask", _cell(name))
        case Unmask(cell=name):
            return Order("unmask", _cell(name))
        case Settings():
            return Order("choose", changes=command.changes)
        case Clean():
            return Order("clean")
        case End():
            return Order("end")
        case Pause():
            return Order("pause")
        case Resume():
            return Order("resume")
        case _:
            return None


def _cell(name: str) -> int:
    try:
        return morbak.parse_cell(name)
    except morbak.UnreadableText as error:
        raise Refused("unknown_cell", f"{name!r} is no cell; cells are a1 to g7.") from error


def _action(text: str) -> morbak.Action:
    try:
        action = morbak.parse_action(text)
    except morbak.UnreadableText as error:
        raise Refused(
            "unknown_action", f"{text!r} is no action: write d4, xd4, #d4 or !d4, with any cell from a1 to g7."
        ) from error
    if action is morbak.PASS:
        raise Refused("pass", "Nobody may pass at will; a pass is played by the board where it is due.")
    return action
