"""A game that plays itself again on the board, action by action; a picture, in which nothing counts."""

from __future__ import annotations

from firmware.game import Ending, Game
from firmware.games import morbak

# How long the last position stands, with the light running along its line.
END_US = 5_000_000


class Replay:
    """The positions of a game, one after the other. `at`: how many moves have been shown."""

    def __init__(self, game: Game, seq: int, t_us: int, step_us: int, *, loop: bool = False) -> None:
        """`seq`: the number of the game; `step_us`: how long each position shows; `loop`: begin again at its end."""
        self.seq = seq
        self.moves = tuple(game.moves)
        self._states = game.states()
        self._ending = game.ending
        self._step_us, self._loop = step_us, loop
        self.at, self.shown_us = 0, t_us

    @property
    def state(self) -> morbak.State:
        """The position shown now."""
        return self._states[self.at]

    @property
    def last(self) -> int | None:
        """The cell of the move shown last; None before the first, and for a pass."""
        move = self.moves[self.at - 1] if self.at else morbak.PASS
        return None if move is morbak.PASS else move.cell

    @property
    def ending(self) -> Ending | None:
        """How the game ended, once all of it has been shown."""
        return self._ending if self.at == len(self.moves) else None

    @property
    def due_us(self) -> int:
        """When the next position shows, or the replay is over."""
        return self.shown_us + (self._step_us if self.at < len(self.moves) else END_US)

    def step(self, t_us: int) -> bool:
        """Show what is due at `t_us`; False where the replay is over."""
        if self.at == len(self.moves) and not self._loop:
            return False
        self.at = (self.at + 1) % (len(self.moves) + 1)
        self.shown_us = t_us
        return True

    def delay(self, us: int, t_us: int) -> None:
        """So much time has passed by `t_us` in which the position shown stood still."""
        self.shown_us = min(self.shown_us + us, t_us)
