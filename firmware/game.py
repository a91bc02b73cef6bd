"""One game in progress: position, moves, clocks, and how it ended. Times are handed in; nothing here reads a clock."""

from __future__ import annotations

from typing import Literal, NamedTuple

from firmware.clock import Clocks, Limits
from firmware.games import morbak
from firmware.snapshot import Side

# Rules, ruling 3: three time-outs running, both sides together, park the game.
TIMEOUTS_TO_PARK = 3
OTHER: dict[Side, Side] = {"a": "b", "b": "a"}


class Ending(NamedTuple):
    """How a game ended: who won (or `draw`), why, and every cell of the completed lines."""

    result: Literal["a", "b", "draw"]
    reason: Literal["line", "stalemate", "time", "resignation", "agreement"]
    line: tuple[int, ...] = ()


class Undone(NamedTuple):
    """A takeback: `at` moves were left standing just after it, `moves` were undone."""

    at: int
    moves: tuple[morbak.Action, ...]


class Game:
    """A game of MORBAK between two sides, with its clocks.

    `moves`: every action and pass that stands. `times_us`: the thinking time of each. `timeouts`: indices of the
    passes that were time-outs. `undone`: the takebacks, in order of time. `timeouts_running`: how many turns in a
    row ended by time-out, both sides together.
    """

    def __init__(self, rules: morbak.Rules, limits: Limits, starter: Side) -> None:
        self.rules = rules
        self.starter: Side = starter
        self.state = morbak.initial(rules, starter)
        self.clocks = Clocks(limits)
        self.moves: list[morbak.Action] = []
        self.times_us: list[int] = []
        self.timeouts: list[int] = []
        self.undone: list[Undone] = []
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
        self._moved(action, t_us)
        self.timeouts_running = 0
        self._turn_over(t_us)

    def time_up(self, t_us: int) -> None:
        """The mover has reached a limit at `t_us`: the game is lost, or the turn passes."""
        deadline = self.clocks.deadline
        if deadline is not None and deadline.limit == "total":
            self._end(Ending(OTHER[self.mover], "time"), t_us)
            return
        self.timeouts.append(len(self.moves))
        self.timeouts_running += 1
        self.state = morbak.pass_turn(self.state)
        self._moved(morbak.PASS, t_us)
        self._turn_over(t_us)

    def resign(self, side: Side, t_us: int) -> None:
        """`side` gives the game up."""
        self._end(Ending(OTHER[side], "resignation"), t_us)

    def agree(self, t_us: int) -> None:
        """Both sides call it a draw."""
        self._end(Ending("draw", "agreement"), t_us)

    @property
    def last_chosen(self) -> int | None:
        """Index of the last action that somebody chose; None where a time-out or the beginning stands before it."""
        for index in range(len(self.moves) - 1, -1, -1):
            if index in self.timeouts:
                return None
            if self.moves[index] is not morbak.PASS:
                return index
        return None

    def take_back(self, t_us: int) -> bool:
        """Undo the last chosen action and the forced passes after it; False, and nothing changed, if there is none.

        Position, pools and both clocks are what they were when that turn began; its clock runs again from `t_us`.
        """
        index = self.last_chosen
        if index is None or self.ending is not None:
            return False
        self.undone.append(Undone(index, tuple(self.moves[index:])))
        del self.moves[index:], self.times_us[index:]
        self.set_up()
        self.clocks = self.clocks.next_turn(self.mover, t_us)._replace(used_us=self._used_us())
        return True

    def set_up(self) -> None:
        """Set the position up again from the moves that stand."""
        self.state = self.states()[-1]

    def states(self) -> list[morbak.State]:
        """Every position of the moves that stand, the empty board first."""
        states = [morbak.initial(self.rules, self.starter)]
        for index, move in enumerate(self.moves):
            lost = index in self.timeouts
            states.append(morbak.pass_turn(states[-1]) if lost else morbak.apply(states[-1], move))
        return states

    def _used_us(self) -> tuple[int, int]:
        """What both sides have thought over the moves that stand."""
        used, side = {"a": 0, "b": 0}, self.starter
        for time_us in self.times_us:
            used[side] += time_us
            side = OTHER[side]
        return used["a"], used["b"]

    def _moved(self, move: morbak.Action, t_us: int) -> None:
        self.clocks = self.clocks.stop(t_us)
        self.moves.append(move)
        self.times_us.append(self.clocks.move_used_us)

    def _turn_over(self, t_us: int) -> None:
        """A forced pass costs no time: it is played at once (ruling 5)."""
        outcome = morbak.outcome(self.state)
        if outcome is not None:
            self._end(Ending(outcome.result, outcome.reason, outcome.line), t_us)
            return
        if morbak.legal(self.state) == [morbak.PASS]:
            self.state = morbak.apply(self.state, morbak.PASS)
            self.moves.append(morbak.PASS)
            self.times_us.append(0)
        self.clocks = self.clocks.next_turn(self.mover, t_us)

    def _end(self, ending: Ending, t_us: int) -> None:
        self.clocks = self.clocks.stop(t_us)
        self.ending = ending
