"""The score of a series, and who starts what."""

from __future__ import annotations

from itertools import product

import pytest

from firmware.clock import Limits
from firmware.games import morbak
from firmware.match import Match, Result, Series, starter_after

RESULTS: tuple[Result, ...] = ("a", "b", "draw")
ALL_SERIES: tuple[Series, ...] = (1, 3, 5)


def match(series: Series) -> Match:
    return Match(morbak.STANDARD, Limits(), series)


@pytest.mark.parametrize("series", ALL_SERIES)
def test_every_series_ends_when_it_is_decided(series: Series) -> None:
    """Over all sequences of results a series ends exactly when nobody can catch up, or all its games are played."""
    for results in product(RESULTS, repeat=series):
        played, points = match(series), {"a": 0.0, "b": 0.0}
        for number, result in enumerate(results, 1):
            assert not played.over
            played = played.ended(result)
            for side in "ab":
                points[side] += 0.5 if result == "draw" else float(side == result)
            lead = abs(points["a"] - points["b"])
            assert (lead > series - number or max(points.values()) > series / 2 or number == series) == played.over
            assert (points["a"], points["b"]) == tuple(halves / 2 for halves in played.halves)
            if played.over:
                break
        assert played.over


def test_the_next_game_counts_on_or_begins_anew() -> None:
    """A series that is not over goes on; after its end the next one like it begins without points."""
    played = match(3).ended("a")
    assert played == played.following()
    assert match(3) == played.ended("a").following()
    assert (False, True) == (match(3).begun, played.begun)


def test_the_loser_starts() -> None:
    """The loser starts the next game; after a draw, the side that did not start the drawn one (rules)."""
    assert ["b", "b", "a", "a"] == [starter_after(result, starter) for result in ("a", "b") for starter in ("a", "b")]
    assert ["b", "a"] == [starter_after("draw", starter) for starter in ("a", "b")]
