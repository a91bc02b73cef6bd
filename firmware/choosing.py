"""What people choose at the board in the menu: brightness, language, marks, volume; and what a tap makes of it.

What an operator sets is kept with it: times, rules, series, quiet hours, cells out of use.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from firmware.clock import Limits
from firmware.games import morbak
from firmware.match import Match
from firmware.menu import Item
from firmware.quiet import PATTERN
from hal.profile import Brightness

# Each about 0.6 of the one above, which the eye takes for an even step; 10 % is for a dark room.
BRIGHTNESS_PCT = (100, 60, 35, 20, 10)
VOLUME_PCT = (100, 50, 25, 0)
SecondsOrNone = Annotated[int, Meta(ge=0, le=86_400)]


class Chosen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was chosen; None where nothing was, and the profile or the page decides.

    `marks`: shown on the page. `out`: cells put out of use, dead or unreliable ones. The rest is what an operator has
    set, where he has: else the settings decide. `quiet`: hours of the day such as "22:00-08:00", "" for none.
    """

    brightness_pct: Brightness | None = None
    language: Literal["fr", "en"] | None = None
    marks: bool = False
    volume_pct: Annotated[int, Meta(ge=0, le=100)] = 50
    out: tuple[Annotated[str, Meta(pattern="^[a-g][1-7]$")], ...] = ()
    rules: Literal["standard", "lite"] | None = None
    total_s: SecondsOrNone | None = None
    move_s: SecondsOrNone | None = None
    series: Literal[1, 3, 5] | None = None
    quiet: Annotated[str, Meta(pattern=PATTERN)] | None = None


def choose(chosen: Chosen, item: Item, brightness_pct: int) -> Chosen:
    """The next value of one thing; `brightness_pct` is that of the board where none has been chosen."""
    if item == "brightness":
        now_pct = brightness_pct if chosen.brightness_pct is None else chosen.brightness_pct
        next_pct = next((pct for pct in BRIGHTNESS_PCT if pct < now_pct), BRIGHTNESS_PCT[0])
        return msgspec.structs.replace(chosen, brightness_pct=next_pct)
    if item == "language":
        return msgspec.structs.replace(chosen, language="en" if chosen.language == "fr" else "fr")
    if item == "volume":
        next_pct = next((pct for pct in VOLUME_PCT if pct < chosen.volume_pct), VOLUME_PCT[0])
        return msgspec.structs.replace(chosen, volume_pct=next_pct)
    return msgspec.structs.replace(chosen, marks=not chosen.marks)


def usual(match: Match, chosen: Chosen) -> Match:
    """What is played where nobody chooses otherwise at the board: `match`, but for what an operator has set."""
    total_us, move_us = (
        given if wanted_s is None else wanted_s * 1_000_000 or None
        for given, wanted_s in zip(match.limits, (chosen.total_s, chosen.move_s), strict=True)
    )
    rules = match.rules if chosen.rules is None else morbak.PROFILES[chosen.rules]
    return Match(rules, Limits(total_us, move_us), match.series if chosen.series is None else chosen.series)
