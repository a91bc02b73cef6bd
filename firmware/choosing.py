"""What a tap on a cell of the menu makes of what is chosen at the board: brightness, language, marks."""

from __future__ import annotations

import msgspec

from firmware.chosen import Chosen
from firmware.menu import Item

# Each about 0.6 of the one above, which the eye takes for an even step; 10 % is for a dark room.
BRIGHTNESS_PCT = (100, 60, 35, 20, 10)


def choose(chosen: Chosen, item: Item, brightness_pct: int) -> Chosen:
    """The next value of one thing; `brightness_pct` is that of the board where none has been chosen."""
    if item == "brightness":
        now_pct = brightness_pct if chosen.brightness_pct is None else chosen.brightness_pct
        next_pct = next((pct for pct in BRIGHTNESS_PCT if pct < now_pct), BRIGHTNESS_PCT[0])
        return msgspec.structs.replace(chosen, brightness_pct=next_pct)
    if item == "language":
        return msgspec.structs.replace(chosen, language="en" if chosen.language == "fr" else "fr")
    return msgspec.structs.replace(chosen, marks=not chosen.marks)
