"""What an operator may order at the table, beside playing for the side to move; carried out in its turn like a touch.

Pure: no clock, no chance, no I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import msgspec

from firmware.choosing import usual
from firmware.course import Course
from firmware.games import morbak
from firmware.judging import Deadline

CLEAN_US = 30_000_000


class Order(NamedTuple):
    """What is to be done. `cell`: of `mask` and `unmask`; `changes`: of `choose`, by the names of `Chosen`."""

    kind: Literal["mask", "unmask", "clean", "end", "pause", "resume", "choose"]
    cell: int = 0
    changes: tuple[tuple[str, Any], ...] = ()


class Orders(Course):
    """A table that takes orders."""

    cleans_until_us: int | None = None  # until when the board is deaf, because somebody wipes it

    def obey(self, order: Order, t_us: int) -> str | None:
        """Carry out an order; the code of what refuses it, None where it counts."""
        act: Callable[[Order, int], str | None] = getattr(self, f"_{order.kind}_order")
        self._snapshot = None
        return act(order, t_us)

    def press_button(self, t_us: int) -> None:
        """The start button at `t_us`; while the board is wiped it counts for nothing."""
        if self.cleans_until_us is None:
            super().press_button(t_us)

    def _deadlines(self) -> Iterator[Deadline]:
        if self.cleans_until_us is not None:
            yield self.cleans_until_us, self._cleaned
        yield from super()._deadlines()

    # -- cells -----------------------------------------------------------------------------------------------------

    def _mask_order(self, order: Order, t_us: int) -> None:
        self._mask(self.out | {order.cell}, t_us)

    def _unmask_order(self, order: Order, t_us: int) -> None:
        self._mask(self.out - {order.cell}, t_us)

    def _mask(self, cells: frozenset[int], t_us: int) -> None:
        """A finger on such a cell counts for nothing until lifted; what it does is heard no more."""
        self._lift_all(t_us)
        for cell in cells - self.out:
            self.gesture.release(cell, t_us)
        out = tuple(morbak.cell_name(cell) for cell in sorted(cells))
        self.chosen = msgspec.structs.replace(self.chosen, out=out)
        self.put_out(cells)

    def _clean_order(self, _order: Order, t_us: int) -> None:
        """Deaf, so that the board can be wiped; a game that runs, or would begin by itself, waits meanwhile."""
        if self._in_play or (self.phase == "lobby" and self.game is not None):
            self._park(t_us)
        elif self.phase == "lobby" or (self.phase == "menu" and self._below == "lobby"):
            self._vacate(t_us)
        self._lift_all(t_us)
        self.cleans_until_us = t_us + CLEAN_US
        self.gesture.guard(self.cleans_until_us)

    def _cleaned(self, t_us: int) -> None:
        self.cleans_until_us = None
        self._lift_all(t_us)

    # -- games -----------------------------------------------------------------------------------------------------

    def _end_order(self, _order: Order, t_us: int) -> str | None:
        """Whatever is on the board is cleared away; what was played stays in the records."""
        if self.game is None and self.phase == "attract":
            return "no_game"
        self._vacate(t_us)
        return None

    def _pause_order(self, _order: Order, t_us: int) -> str | None:
        if not self._in_play:
            return "not_in_play"
        self._park(t_us)
        return None

    def _resume_order(self, _order: Order, t_us: int) -> str | None:
        parked = self.game is not None and self.game.ending is None
        if not parked or self.phase not in ("paused", "attract") or self.cleans_until_us is not None:
            return "not_parked"
        self._start_play(t_us)
        self._touched_us = t_us
        return None

    def _choose_order(self, order: Order, _t_us: int) -> None:
        """What is set counts from the next match on; light, words and sound at once."""
        self.chosen = msgspec.structs.replace(self.chosen, **dict(order.changes))
        self._usual = usual(self.given, self.chosen)
        if self.phase == "attract" and self.game is None:
            self.match = self._usual
