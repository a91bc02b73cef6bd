"""The match around a game: its rules and limits, how many games, the score, and who starts the next one. A value."""

from __future__ import annotations

from typing import Literal, NamedTuple

from firmware.clock import Limits
from firmware.games import morbak
from firmware.snapshot import Side

Series = Literal[1, 3, 5]
Result = Literal["a", "b", "draw"]
# A game is worth two half points: both to its winner, or one each (design: draws count half).
HALVES = 2


class Match(NamedTuple):
    """Games in a row under the same rules. `series`: best of so many. `halves`: half points of a and b."""

    rules: morbak.Rules
    limits: Limits
    series: Series = 1
    halves: tuple[int, int] = (0, 0)

    @property
    def begun(self) -> bool:
        """Whether a game of it counts already; its rules and its length stand from then on."""
        return self.halves != (0, 0)

    @property
    def over(self) -> bool:
        """Whether one side has more than half of all points, or none are left."""
        return max(self.halves) > self.series or sum(self.halves) >= HALVES * self.series

    def ended(self, result: Result) -> Match:
        """The match after a game with this result."""
        a, b = self.halves
        gained = {"a": (HALVES, 0), "b": (0, HALVES), "draw": (1, 1)}[result]
        return self._replace(halves=(a + gained[0], b + gained[1]))

    def following(self) -> Match:
        """The match that the next game belongs to: this one, or where it is over, one more like it."""
        return self._replace(halves=(0, 0)) if self.over else self


def starter_after(result: Result, starter: Side) -> Side:
    """Who starts the next game: the loser; after a draw, the side that did not start it (rules, "Who starts")."""
    waits = starter if result == "draw" else result
    return "b" if waits == "a" else "a"
