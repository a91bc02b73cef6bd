"""What a table is made of when it has to outlive a power cut: one value, one line of JSON, complete in itself.

A save is the unfinished (or finished) record of the game, the clocks, and the match around it. Nothing in it refers to
another save, so that any single line that can still be read is a table that can be set up again.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from firmware.record import Record

# What JSON and SQLite both hold without loss; no board lives to see more.
_MOST = 2**53 - 1
Number = Annotated[int, Meta(ge=0, le=_MOST)]
Time = Annotated[int, Meta(ge=1, le=_MOST)]
Used = Annotated[int, Meta(ge=0, le=_MOST)]
Halves = Annotated[int, Meta(ge=0, le=10)]


class MatchSave(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The match a game belongs to: its limits of time, its length, and the score in half points of a and b.

    The score counts the game itself once that has ended.
    """

    total_us: Time | None
    move_us: Time | None
    series: Literal[1, 3, 5] = 1
    halves: tuple[Halves, Halves] = (0, 0)


class Save(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table at one moment.

    `game`: its number, rising by one with each game on this board. `used_us`: thinking time of a and b in finished
    stretches and the turn under way. `move_used_us`: that part of it which belongs to the turn under way. `running`:
    a clock was running. `timeouts_running`: turns in a row that ended by time-out. `left`: nobody comes back to it.
    """

    game: Number
    record: Record
    match: MatchSave
    used_us: tuple[Used, Used] = (0, 0)
    move_used_us: Used = 0
    timeouts_running: Used = 0
    running: bool = False
    left: bool = False
    v: Literal[1] = 1


def encode(save: Save) -> bytes:
    """One line of JSON."""
    return msgspec.json.encode(save)


def decode(line: bytes) -> Save:
    """The save in a line; raises msgspec.DecodeError (a ValueError) for anything else."""
    return msgspec.json.decode(line, type=Save)
