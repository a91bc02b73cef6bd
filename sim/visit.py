"""Whoever is at a board in a hall: time that passes for them, starts of the board under their hands, what lies on it.

What visitors do in each phase is `sim.visitors`'.
"""

from __future__ import annotations

from itertools import takewhile
from random import Random

from firmware.match import Match
from firmware.snapshot import Phase
from sim.fingers import Finger, wander
from sim.hall import Hall
from sim.hands import MS, S
from sim.menu_hands import MenuHands
from sim.people import People
from sim.reasons import IDLE_US


class Restarted(Exception):
    """The board is to start anew under whoever is doing something; `power`: because the power fails."""

    def __init__(self, power: bool) -> None:
        super().__init__()
        self.power = power


class Visit:
    """Somebody at the board, or nobody. `present`: somebody is there. `match`: as these visitors have chosen it."""

    def __init__(self, hall: Hall, chance: Random, restarts_us: list[tuple[int, bool]]) -> None:
        """`restarts_us`: when the board is started anew, and whether because the power fails."""
        self.hall, self.chance, self._restarts = hall, chance, sorted(restarts_us)
        self.present = False
        self.usual = hall.table.match
        self.match = self.usual  # as these visitors have chosen it
        self.counted: int | None = None  # the game whose result is in the match

    @property
    def people(self) -> People:
        """Two people at the board as it is since its last start."""
        return self.hall.people

    @property
    def menu(self) -> MenuHands:
        """The same, at the menu."""
        return MenuHands(self.hall, self.chance)

    def run_for(self, us: int) -> None:
        """Go on for a while; raises Restarted."""
        self.run_until(self.hall.drive.now_us + us)

    def run_until(self, t_us: int) -> None:
        """Go on to `t_us` of the board's clock; raises Restarted where it is to start anew before."""
        drive, begun_us = self.hall.drive, self.hall.now_us - self.hall.drive.now_us
        if self._restarts and self._restarts[0][0] - begun_us <= t_us:
            drive.run_until(max(drive.now_us, self._restarts[0][0] - begun_us))
            self.restart_if_due()
        drive.run_until(max(drive.now_us, t_us))

    def restart_if_due(self) -> None:
        """Raises Restarted if it is time."""
        if self._restarts and self._restarts[0][0] <= self.hall.now_us:
            raise Restarted(self._restarts.pop(0)[1])

    def start_anew(self, power: bool) -> None:
        """Start the board anew; somebody is there after that, or nobody."""
        self.people.played()
        self.hall.cut() if power else self.hall.restart()
        self.present = self.likely(0.7)
        self.look_at_game()

    def look_at_game(self) -> None:
        """The match is that of the game on the table, its result, if it has one, included."""
        table = self.hall.table
        self.match = self.usual if table.game is None else table.match
        self.counted = table.number if table.game is not None and table.game.ending is not None else None

    def likely(self, share: float) -> bool:
        """True in that share of all cases."""
        return self.chance.random() < share

    def now_and_then(self) -> int:
        """A while of some seconds, seldom of minutes."""
        return int(min(600.0, self.chance.expovariate(1 / 40)) * S) + S

    def expect_match(self, match: Match) -> None:
        found = self.hall.table.match
        self.people.expect(found == match, f"the match is {found}, not {match}")

    def idle(self, phase: Phase) -> None:
        """Nobody touches for 2 min, which leads to a phase."""
        self.run_for(IDLE_US + 200 * MS)
        self.people.expect(self.hall.table.phase == phase, f"2 min alone led to {self.hall.table.phase}, not {phase}")

    # -- hands that mean nothing -------------------------------------------------------------------------------------

    def lean(self) -> None:
        """A hand, or somebody who leans on the board: nothing comes of it, as 4 cells and more mean nothing."""
        people, before = self.people, self.hall.table.phase
        start_us = people.start_us()
        cells = self.chance.sample(range(49), self.chance.randrange(4, 9))
        lifted_us = start_us + self.chance.randrange(200, 30_000) * MS
        people.fingers_down([(cell, start_us, lifted_us) for cell in cells])
        people.expect(self.hall.table.phase == before, f"a palm in {before} led to {self.hall.table.phase}")
        people.expect(people.played() == [], "a palm has played")

    def drum(self) -> None:
        """Children drum on the board; whatever comes of it, no game is lost and no phase comes by itself too soon."""
        drive = self.hall.drive
        self.hall.reasons.wild = True
        self.hall.counts["children"] += 1
        end_us = drive.now_us + self.chance.randrange(5, 60) * S
        fingers = list(takewhile(lambda move: move.t_us < end_us, wander(self.chance, drive.now_us)))
        last = {move.cell: move.down for move in fingers}
        fingers += [Finger(end_us, cell, False) for cell, down in last.items() if down]
        self.people.report_touches(fingers)
        drive.fingers(fingers)
        drive.run_until(end_us + 8 * S)  # a lobby they have opened is over by then
        self.hall.reasons.wild = False
        self.take_over()

    def take_over(self) -> None:
        """Go on from whatever the children have left."""
        self.people.played()
        self.look_at_game()
        game, table = self.hall.table.game, self.hall.table
        if game is not None:
            self.people.clock.adopt(game)
            if game.clocks.running is not None:
                self.people.clock.go(game.clocks.since_us)
        self.present = self.likely(0.5)
        if table.phase == "menu":
            self.menu.leave_alone()
