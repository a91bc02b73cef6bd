"""What people choose at the board in the menu: brightness, language, marks, volume; and what a tap makes of it."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from firmware.menu import Item
from hal.profile import Brightness

# Each about 0.6 of the one above, which the eye takes for an even step; 10 % is for a dark room.
BRIGHTNESS_PCT = (100, 60, 35, 20, 10)
VOLUME_PCT = (100, 50, 25, 0)


class Chosen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was chosen; None where nothing was, and the profile or the page decides.

    `marks`: shown on the page. `out`: cells put out of use, dead or unreliable ones.
    """

    brightness_pct: Brightness | None = None
    language: Literal["fr", "en"] | None = None
    marks: bool = False
    volume_pct: Annotated[int, Meta(ge=0, le=100)] = 50
    out: tuple[Annotated[str, Meta(pattern="^[a-g][1-7]$")], ...] = ()


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
