"""Quiet hours, and when a screen goes dark: decided from the time of day alone, as often as somebody asks.

Nothing is scheduled: at each look the local minute of the day says whether it is quiet. So a change to summer time, or
a clock that jumps, moves no deadline and leaves nothing behind (case F18). Pure: the minute is handed in.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from firmware.snapshot import Phase

_TIME: Final = "([01][0-9]|2[0-3]):([0-5][0-9])"
PATTERN: Final = f"^({_TIME}-{_TIME})?$"
# Light of a board that nobody plays on in quiet hours; and after so long without a touch its screens go dark then.
QUIET_PCT: Final = 10
QUIET_DARK_US: Final = 60_000_000


class Hours(NamedTuple):
    """From one minute of the day to another, not included; over midnight where the first is the later one."""

    from_min: int
    to_min: int

    def hold(self, minute: int) -> bool:
        """Whether a minute of the day lies in them. From a time to the same time is the whole day."""
        if self.from_min < self.to_min:
            return self.from_min <= minute < self.to_min
        return minute >= self.from_min or minute < self.to_min


class Screen(NamedTuple):
    """What pages are told of the hour: `quiet`: quiet hours; `dark`: there is nobody to show anything to."""

    quiet: bool = False
    dark: bool = False


def hours(text: str) -> Hours | None:
    """The hours that a text such as "22:00-08:00" names; None for "". Raises ValueError for anything else."""
    found = re.fullmatch(PATTERN, text)
    if found is None:
        raise ValueError(f"{text!r} are no hours: write them as 22:00-08:00, or nothing")
    if not text:
        return None
    hour, minute, end_hour, end_minute = map(int, found.groups()[1:])
    return Hours(60 * hour + minute, 60 * end_hour + end_minute)


def text(hours: Hours | None) -> str:
    """Hours as `hours` reads them."""
    if hours is None:
        return ""
    return "-".join(f"{minute // 60:02}:{minute % 60:02}" for minute in hours)


def screen(quiet: Hours | None, minute: int | None, phase: Phase, untouched_us: int, off_us: int) -> Screen:
    """What pages are told at a local minute of the day; None where nobody knows the time, and then it is never quiet.

    `off_us`: after so long without a touch, 0 = never, the screens of a board that nobody plays on go dark anyway.
    """
    still = quiet is not None and minute is not None and quiet.hold(minute)
    waits_us = min(QUIET_DARK_US, off_us or QUIET_DARK_US) if still else off_us
    return Screen(still, phase == "attract" and waits_us > 0 and untouched_us >= waits_us)
