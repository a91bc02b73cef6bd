"""What is chosen before a match, in the lobby: times, rules, series. A tap on a cell sets it, for both sides."""

from __future__ import annotations

from firmware.clock import Limits
from firmware.games import morbak
from firmware.match import Match, Series
from firmware.menu import Item

MINUTE_US = 60_000_000
TOTAL_US: dict[Item, int | None] = {
    "total_15": 15 * MINUTE_US,
    "total_10": 10 * MINUTE_US,
    "total_5": 5 * MINUTE_US,
    "total_none": None,
}
MOVE_US: dict[Item, int | None] = {"move_2": 2 * MINUTE_US, "move_1": MINUTE_US, "move_none": None}
RULES: dict[Item, morbak.Rules] = {"rules_standard": morbak.STANDARD, "rules_lite": morbak.LITE}
SERIES: dict[Item, Series] = {"series_1": 1, "series_3": 3, "series_5": 5}


def offered(match: Match) -> frozenset[Item]:
    """What can be set now: times before any game, rules and length only before the first."""
    times: frozenset[Item] = frozenset((*TOTAL_US, *MOVE_US, "close"))
    return times if match.begun else times | frozenset((*RULES, *SERIES))


def chosen(match: Match) -> frozenset[Item]:
    """What is set."""
    total_us, move_us = match.limits
    return frozenset(
        item
        for table, value in ((TOTAL_US, total_us), (MOVE_US, move_us), (RULES, match.rules), (SERIES, match.series))
        for item, meant in table.items()
        if meant == value
    )


def choose(match: Match, item: Item) -> Match:
    """The match with one option set."""
    if item in TOTAL_US:
        return match._replace(limits=Limits(TOTAL_US[item], match.limits.move_us))
    if item in MOVE_US:
        return match._replace(limits=Limits(match.limits.total_us, MOVE_US[item]))
    if item in RULES:
        return match._replace(rules=RULES[item])
    return match._replace(series=SERIES[item])
