"""One game in progress: position, moves, clocks, and how it ended. Times are handed in; nothing here reads a clock."""

from __future__ import annotations

from typing import Literal, NamedTuple

from firmware.clock import Clocks, Limits
from firmware.games import morbak
from firmware.snapshot import Side

# Rules, ruling 3: three time-outs running, both sides together, park the game.
TIMEOUTS_TO_PARK = 3


class Ending(NamedTuple):
    """How a game ended: who won (or `draw`), why, and every cell of the completed lines."""

    result: Literal["a", "b", "draw"]
    reason: Literal["line", "stalemate", "time", "resignation", "agreement"]
    line: tuple[int, ...] = ()


class Game:
    """A game of MORBAK between two sides, with its clocks.

    `moves`: every action and pass so far. `timeouts`: indices of the passes that were time-outs. `timeouts_running`:
    how many turns in a row ended so, both sides together.
    """

    def __init__(self, rules: morbak.Rules, limits: Limits, starter: Side) -> None:
        self.rules = rules
        self.starter: Side = starter
        self.state = morbak.initial(rules, starter)
        self.clocks = Clocks(limits)
        self.moves: list[morbak.Action] = []
        self.timeouts: list[int] = []
        self.timeouts_running = 0
        self.ending: Ending | None = None

    @property
    def mover(self) -> Side:
        """Whose turn it is; after the end, whose turn it would be."""
        return morbak.mover(self.state)

    def run(self, t_us: int) -> None:
        """Start the mover's clock, or start it again after a pause."""
        self.clocks = self.clocks.start(self.mover, t_us)

    def pause(self, t_us: int) -> None:
        """Stop the clocks at `t_us`; the turn keeps what it has used."""
        self.clocks = self.clocks.stop(t_us)

    def play(self, action: morbak.Action, t_us: int) -> None:
        """The mover's action, finished at `t_us`, with the forced passes that follow it.

        Raises morbak.IllegalAction and changes nothing if the rules do not allow it.
        """
        self.state = morbak.apply(self.state, action)
        self.moves.append(action)
        self.timeouts_running = 0
        self._turn_over(t_us)

    def time_up(self, t_us: int) -> None:
        """The mover has reached a limit at `t_us`: the game is lost, or the turn passes."""
        deadline = self.clocks.deadline
        if deadline is not None and deadline.limit == "total":
            self.clocks = self.clocks.stop(t_us)
            self.ending = Ending("b" if self.mover == "a" else "a", "time")
            return
        self.timeouts.append(len(self.moves))
        self.timeouts_running += 1
        self.state = morbak.pass_turn(self.state)
        self.moves.append(morbak.PASS)
        self._turn_over(t_us)

    def _turn_over(self, t_us: int) -> None:
        """A forced pass costs no time: it is played at once (ruling 5)."""
        outcome = morbak.outcome(self.state)
        if outcome is not None:
            self.clocks = self.clocks.stop(t_us)
            self.ending = Ending(outcome.result, outcome.reason, outcome.line)
            return
        if morbak.legal(self.state) == [morbak.PASS]:
            self.state = morbak.apply(self.state, morbak.PASS)
            self.moves.append(morbak.PASS)
        self.clocks = self.clocks.next_turn(self.mover, t_us)
