"""Somebody who tests a simulated board: does what is asked, by what can be seen on the strip and in no other way."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Protocol

from hal.guide import Ask, name

if TYPE_CHECKING:
    from hal.hands import Hands

# How long somebody takes to act, and then keeps the finger down; on a machine that stalls for so many looks at least.
ACTS_US, HOLDS_US = (150_000, 400_000), (120_000, 250_000)
LEAST_LOOKS = 20
# Whoever sees no answer to a touch for so long says so.
DOUBT_US = 1_500_000
COLOURS = ("red", "green", "blue")


class Fingers(Protocol):
    """Contacts that can be moved, such as those of `sim.contacts`."""

    def press(self, cell: int, t_us: int) -> object:
        """Close the contact of a cell."""

    def release(self, cell: int, t_us: int) -> object:
        """Open it."""


class _Now:
    """Implements `Fingers` for hands that do not wait."""

    def __init__(self, hands: Hands) -> None:
        self._hands = hands

    def press(self, cell: int, t_us: int) -> None:  # noqa: ARG002
        self._hands.press(cell)

    def release(self, cell: int, t_us: int) -> None:  # noqa: ARG002
        self._hands.release(cell)


def at_a_cable(hands: Hands, columns: int, *, hurry: int = 1) -> Tester:
    """Who tests a test board at a cable, by its own contacts and by the light that it reads back."""
    return Tester(_Now(hands), lambda: hands.lit() or bytes(3), columns, hurry=hurry)


class Tester:
    """Moves `contacts` and types lines; `seen` gives the strip's light, RGB by cell. `columns` of the board.

    `hurry`: how many times as fast as people are.
    """

    def __init__(
        self, contacts: Fingers, seen: Callable[[], bytes], columns: int, seed: int = 0, *, hurry: int = 1
    ) -> None:
        self._contacts, self._seen, self._columns, self._hurry = contacts, seen, columns, hurry
        self._random = Random(f"{seed}/tester")
        self._ask: Ask | None = None
        self._act_us = self._up_us = self._doubt_us = 0
        self._held: tuple[int, ...] = ()
        self._acted = False
        self._looks = 0
        self._touched: tuple[int, ...] = ()

    def step(self, t_us: int, ask: Ask) -> str | None:
        """Go on until `t_us`; a line where one is typed."""
        self._looks += 1
        if self._held and t_us >= self._up_us and self._looks >= LEAST_LOOKS:
            for cell in self._held:
                self._contacts.release(cell, t_us)
            self._held = ()
        if ask is not self._ask:
            self._ask, self._acted = ask, False
            self._act_us = t_us + self._random.randrange(*ACTS_US) // self._hurry
        if ask.kind in ("rest", "look") or self._held or t_us < self._act_us:
            return None
        if ask.kind == "say":
            return self._say(t_us, ask)
        if not self._acted:
            return self._touch(t_us, ask)
        return self._answer(t_us) if t_us >= self._doubt_us else None

    def _touch(self, t_us: int, ask: Ask) -> str | None:
        """Put a finger on what was named or is lit; nothing lit is said."""
        self._acted = True
        cells = ask.cells or self._lit()
        if not cells:
            return "dark"
        if ask.wanted == "cell" and cells == self._touched:  # asked again: what is lit is told instead
            return name(cells[0], self._columns)
        for cell in cells:
            self._contacts.press(cell, t_us)
        self._held, self._touched, self._looks = cells, cells, 0
        self._up_us = t_us + self._random.randrange(*HOLDS_US) // self._hurry
        self._doubt_us = self._up_us + DOUBT_US
        return None

    def _answer(self, t_us: int) -> str:
        """The touch was not heard: say where it was, or that nothing happened."""
        self._doubt_us = t_us + DOUBT_US
        assert self._ask is not None
        return name(self._touched[0], self._columns) if self._ask.wanted == "cell" else ""

    def _lit(self) -> tuple[int, ...]:
        """The brightest cell."""
        light = self._light()
        best = max(light)
        return (light.index(best),) if best else ()

    def _light(self) -> list[int]:
        seen = self._seen()
        return [sum(seen[at : at + 3]) for at in range(0, len(seen), 3)]

    def _say(self, t_us: int, ask: Ask) -> str:
        """The colour that most cells have; of a colour that was named the cells that lack it, or nothing."""
        self._act_us = t_us + DOUBT_US
        seen = self._seen()
        sums = [sum(seen[at::3]) for at in range(3)]
        colour = COLOURS[sums.index(max(sums))] if any(sums) else "dark"
        if ask.wanted == "colour":
            return colour if colour == "dark" else colour[0]
        if colour != ask.wanted:
            return colour
        missing = [cell for cell, light in enumerate(self._light()) if not light]
        return " ".join(name(cell, self._columns) for cell in missing)
