"""People at the menu and at the options, from both seats: what they ask, what the other side answers, what comes of it.

Where a cell of the menu lies is the design's ("What a touch means"): side a's row 1 from a1 and row 2, side b's the
same turned half round.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from firmware import options
from firmware.games import morbak
from firmware.match import Match
from firmware.menu import ITEMS, OPTIONS, Item
from firmware.snapshot import Phase, Side
from sim.hall import Hall
from sim.hands import MS, TIMES, S
from sim.reckoning import OTHER

DEAF_US = 3 * S  # a result
CHORD_US, CORNERS = 2_100 * MS, (0, 48)
GROUPS: tuple[tuple[Item, ...], ...] = (
    ("total_15", "total_10", "total_5", "total_none"),
    ("move_2", "move_1", "move_none"),
    ("rules_standard", "rules_lite"),
    ("series_1", "series_3", "series_5"),
)
ANSWERS = ("accept", "refuse", "withdraw", "nobody")


def cell_of(side: Side, item: Item, items: tuple[Item | None, ...] = ITEMS) -> int:
    """The cell of an item for a side."""
    at = items.index(item)
    return at if side == "a" else 48 - at


class Deed(NamedTuple):
    """Something to be done in the menu: how, and the phase it leads to where it is agreed to."""

    do: Callable[[], bool]
    phase: Phase


class MenuHands:
    """Whoever holds the two corners, from then until the menu is closed."""

    def __init__(self, hall: Hall, chance: Random) -> None:
        self._hall, self._chance = hall, chance
        self._people, self._table = hall.people, hall.table

    def open(self) -> None:
        """Hold a1 and g7: the menu, in the lobby the options."""
        people = self._people
        if self._table.phase == "result":
            people.free_us = max(people.free_us, self._table.phase_us + DEAF_US)
        people.announce("menu")
        start_us = people.start_us()
        people.fingers_down([(cell, start_us, start_us + CHORD_US) for cell in CORNERS])
        self._expect_phase("menu")
        people.expect(people.played() == [], "the chord of the menu has played")
        self._pause()

    def close(self, phase: Phase) -> None:
        """A tap on the way out, from either seat."""
        self._people.announce(phase)
        items = OPTIONS if phase == "lobby" else ITEMS
        self._tap(cell_of(self._side(), "close", items))
        self._expect_phase(phase)

    def leave_alone(self) -> None:
        """Nobody touches an open menu any more, whichever it is."""
        self._hall.drive.run_for(125 * S)

    def options(self, match: Match) -> Match:
        """Open the options and choose some; the match as it is then to be. They stay open."""
        self.open()
        groups = GROUPS[:2] if match.begun else GROUPS
        for group in self._chance.sample(groups, self._chance.randrange(len(groups) + 1)):
            item = self._chance.choice(group)
            self._tap(cell_of(self._side(), item, OPTIONS))
            match = options.choose(match, item)
        self._expect_phase("menu")
        return match

    def new_game(self) -> bool:
        """Ask for a new game; True where both agreed and the lobby has come."""
        below = self._table.phase
        self.open()
        self._hall.reasons.leaves()
        return self._asked("new_game", "lobby") or self._closed(below)

    def use(self, below: Phase) -> Phase:
        """Open the menu over a phase and do something that it offers there; the phase that has come of it."""
        self.open()
        game = self._table.game
        assert game is not None
        deeds = [Deed(self._choose, below)]
        if game.ending is None:
            deeds += [Deed(lambda: self._asked("draw", "result"), "result"), Deed(self._resign, "result")]
            if self._standing() is not None:
                deeds += [Deed(lambda: self._take_back(below), below)] * 3
        if below == "play":
            deeds += [Deed(lambda: self._asked("pause", "paused"), "paused")] * 2
        elif game.moves:
            deeds.append(Deed(lambda: self._replay(below), below))
        deed = self._chance.choice(deeds)
        if deed.do():
            return deed.phase
        self._closed(below)
        return below

    # -- deeds: True where the menu has closed by it ------------------------------------------------------------------

    def _choose(self) -> bool:
        """Brightness, language, marks: by taps, the menu stays open."""
        for _ in range(self._chance.randrange(1, 4)):
            self._tap(cell_of(self._side(), self._chance.choice(("brightness", "language", "marks"))))
        return False

    def _resign(self) -> bool:
        side, people = self._side(), self._people
        people.announce("result")
        self._hold(cell_of(side, "resign"))
        game = self._table.game
        resigned = game is not None and game.ending is not None and game.ending.reason == "resignation"
        people.expect(resigned and game is not None and game.ending is not None and game.ending.result == OTHER[side],
                      f"{side} resigned, and the game is at {game and game.ending}")  # fmt: skip
        return True

    def _take_back(self, below: Phase) -> bool:
        people, standing = self._people, self._standing()
        game = self._table.game
        assert game is not None and standing is not None
        before = game.states()[standing]
        if not self._asked("takeback", below):
            return False
        people.expect(game.state == before, f"a takeback led to {morbak.format_position(game.state)}")
        people.expect(len(game.moves) == standing, f"a takeback left {len(game.moves)} moves, not {standing}")
        people.clock.took_back(standing, self._table.phase_us)
        if below == "paused":
            people.clock.stop(self._table.phase_us)
        return True

    def _replay(self, below: Phase) -> bool:
        people = self._people
        people.announce(below)
        self._tap(cell_of(self._side(), "replay"))
        self._expect_phase(below)
        people.expect(self._table.replay is not None, "the menu's replay shows no game")
        self._hall.drive.run_for(self._chance.randrange(S, 40 * S))
        if self._table.replay is not None and self._chance.random() < 0.7:
            start_us = people.start_us()
            people.press(self._chance.randrange(49), start_us, start_us + 60 * MS)
            people.expect(self._table.replay is None and self._table.phase == below, "a tap did not end a replay")
            people.free_us = people.drive.now_us + TIMES.turn_guard_us
        self._hall.replay_over()
        return True

    def _asked(self, item: Item, phase: Phase) -> bool:
        """One side asks, the other answers, or nobody does; True where it was agreed to, and `phase` has come."""
        people, side = self._people, self._side()
        answer = self._chance.choices(ANSWERS, (70, 12, 8, 10))[0]
        self._tap(cell_of(side, item))
        people.expect(self._table.menu is not None and self._table.menu.asked is not None, f"{item} was asked unheard")
        if answer == "accept":
            people.announce(phase)
            self._hold(cell_of(OTHER[side], item))
            self._expect_phase(phase)
            if phase == "paused" and item == "pause":
                people.clock.stop(self._table.phase_us)
            self._hall.counts[item] += 1
            return True
        if answer == "nobody":
            self._hall.drive.run_for(15 * S)
        else:
            self._tap(cell_of(OTHER[side] if answer == "refuse" else side, item))
        people.expect(self._table.menu is not None and self._table.menu.asked is None, f"{item} is still asked")
        self._expect_phase("menu")
        return False

    # -- fingers -------------------------------------------------------------------------------------------------------

    def _closed(self, below: Phase) -> bool:
        self.close(below)
        return False

    def _standing(self) -> int | None:
        """How many moves a takeback would leave; None where none is offered."""
        game = self._table.game
        assert game is not None
        for at in range(len(game.moves) - 1, -1, -1):
            if at in game.timeouts:
                return None
            if game.moves[at] is not morbak.PASS:
                return at
        return None

    def _side(self) -> Side:
        return self._chance.choice(("a", "b"))

    def _tap(self, cell: int) -> None:
        start_us = self._people.start_us()
        self._people.press(cell, start_us, start_us + self._chance.randrange(40, 250) * MS)
        self._pause()

    def _hold(self, cell: int) -> None:
        start_us = self._people.start_us()
        self._people.press(cell, start_us, start_us + TIMES.hold_us + self._chance.randrange(30, 400) * MS)
        self._pause()

    def _pause(self) -> None:
        """A breath between touches, longer than the guard."""
        self._people.free_us = self._people.drive.now_us + TIMES.turn_guard_us
        played = self._people.played()
        self._people.expect(played == [], f"the menu has played {played}")

    def _expect_phase(self, phase: Phase) -> None:
        self._people.expect(self._table.phase == phase, f"a touch led to {self._table.phase}, not to {phase}")
