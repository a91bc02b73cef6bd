"""Menu and options on the board: which cells mean what for whom, what is asked of the other side, what is chosen.

Side a's first row is row 1 from a1, his second row 2; side b's are rows 7 and 6, mirrored from g7, so that both read
them from their own seat. Nothing is decided here: a touch becomes a `Choice`, and the table carries it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from firmware.snapshot import Side

Kind = Literal["menu", "options"]
Item = Literal[
    "pause", "takeback", "draw", "resign", "new_game", "brightness", "close",
    "replay", "language", "marks", "volume", "cursor", "operator", "free",
    "total_15", "total_10", "total_5", "total_none", "move_2", "move_1", "move_none",
    "rules_standard", "rules_lite", "series_1", "series_3", "series_5",
]  # fmt: skip
ITEMS: tuple[Item, ...] = (
    "pause", "takeback", "draw", "resign", "new_game", "brightness", "close",
    "replay", "language", "marks", "volume", "cursor", "operator", "free",
)  # fmt: skip
# The lobby's options in the same two rows; the gap keeps rules and series apart.
OPTIONS: tuple[Item | None, ...] = (
    "total_15", "total_10", "total_5", "total_none", "move_2", "move_1", "move_none",
    "rules_standard", "rules_lite", None, "series_1", "series_3", "series_5", "close",
)  # fmt: skip
# What changes the game for both wants the other side's consent.
CONSENT: frozenset[Item] = frozenset(("pause", "takeback", "draw", "new_game"))
# What nobody should do by accident, or just because it is there, wants a hold.
HOLDS: frozenset[Item] = frozenset(("resign", "operator"))
CELLS = 49


class MenuTimes(NamedTuple):
    """How long a request waits for its answer, and an open menu for a touch, in microseconds."""

    ask_us: int = 15_000_000
    idle_us: int = 30_000_000


class Place(NamedTuple):
    """What a cell of the menu means: whose it is, and which item."""

    side: Side
    item: Item


class Asked(NamedTuple):
    """A request that waits for the other side's answer."""

    item: Item
    by: Side
    since_us: int


class Choice(NamedTuple):
    """Something to be carried out: `by` chose it, and where consent was due, the other side gave it.

    `held`: by a hold, not by a tap.
    """

    item: Item
    by: Side
    held: bool = False


def _places(items: Sequence[Item | None]) -> dict[int, Place]:
    """Every cell of two rows of items from a1; b's cell of an item is a's, turned half round."""
    a = {cell: Place("a", item) for cell, item in enumerate(items) if item is not None}
    return a | {CELLS - 1 - cell: Place("b", place.item) for cell, place in a.items()}


PLACES: dict[Kind, dict[int, Place]] = {"menu": _places(ITEMS), "options": _places(OPTIONS)}


class Menu:
    """An open menu, or open options. `offers` says what can be chosen now; all else is dark and does nothing."""

    def __init__(self, kind: Kind, times: MenuTimes, t_us: int) -> None:
        self.kind: Kind = kind
        self.places = PLACES[kind]
        self.asked: Asked | None = None
        self.code = False  # the code for operators shows on the board's screen
        self.cursor: int | None = None  # the masked cell that a hold on the item `cursor` plays
        self._times, self._touched_us = times, t_us

    @property
    def due_us(self) -> int:
        """When the menu closes, or the request in it ends, if nobody touches."""
        if self.asked is None:
            return self._touched_us + self._times.idle_us
        return self.asked.since_us + self._times.ask_us

    def time_up(self, t_us: int) -> bool:
        """Something is due at `t_us`: a request ends (False), or the menu closes (True)."""
        if self.asked is None:
            return True
        self.withdraw(t_us)
        return False

    def touched(self, t_us: int) -> None:
        """Somebody touches the board: the menu stays open."""
        self._touched_us = t_us

    def delay(self, us: int, t_us: int) -> None:
        """So much time has passed by `t_us` that does not count."""
        self._touched_us = min(self._touched_us + us, t_us)
        if self.asked is not None:
            self.asked = self.asked._replace(since_us=min(self.asked.since_us + us, t_us))

    def withdraw(self, t_us: int) -> None:
        """The request is over without an answer."""
        self.asked, self._touched_us = None, t_us

    def answers(self, cell: int) -> bool:
        """Whether `cell` is the one on which the other side answers what is asked."""
        place = self.places.get(cell)
        return self.asked is not None and place is not None and place == Place(_other(self.asked.by), self.asked.item)

    def asks(self, cell: int) -> bool:
        """Whether `cell` is the one from which something was asked."""
        return self.asked is not None and self.places.get(cell) == Place(self.asked.by, self.asked.item)

    def wants_hold(self, cell: int) -> bool:
        """Whether a hold on `cell` means something: consent, giving up, or the code for operators."""
        place = self.places.get(cell)
        return self.answers(cell) or (self.asked is None and place is not None and place.item in HOLDS)

    def may_hold(self, cell: int) -> bool:
        """Whether a hold on `cell` means something, be it that a tap does too."""
        place = self.places.get(cell)
        points = self.asked is None and self.cursor is not None and place is not None and place.item == "cursor"
        return points or self.wants_hold(cell)

    def healed(self, masked: frozenset[int]) -> None:
        """Other cells are masked than before: the cursor stands on no cell that can be touched."""
        if self.cursor not in masked:
            self.cursor = None

    def point(self, masked: frozenset[int]) -> None:
        """Move the cursor to the next masked cell, from the last to the first."""
        later = [cell for cell in sorted(masked) if self.cursor is None or cell > self.cursor]
        self.cursor = later[0] if later else min(masked, default=None)

    def tap(self, cell: int, t_us: int, offers: frozenset[Item]) -> Choice | None:
        """A tap asks, withdraws, refuses or chooses; a tap that means nothing changes nothing."""
        place = self.places.get(cell)
        if place is None or place.item not in offers:
            return None
        if self.asked is not None:
            if place.item == self.asked.item:  # the asker takes it back, the other side says no
                self.withdraw(t_us)
            return None
        if place.item in CONSENT:
            self.asked = Asked(place.item, place.side, t_us)
            return None
        return None if place.item in HOLDS else Choice(place.item, place.side)

    def hold(self, cell: int, t_us: int, offers: frozenset[Item]) -> Choice | None:
        """A hold gives consent to what is asked, resigns, or plays the cell at the cursor."""
        place = self.places.get(cell)
        if place is None or place.item not in offers or not self.may_hold(cell):
            return None
        if self.asked is None:
            return Choice(place.item, place.side, held=True)
        choice = Choice(self.asked.item, self.asked.by, held=True)
        self.withdraw(t_us)
        return choice


def _other(side: Side) -> Side:
    return "b" if side == "a" else "a"
