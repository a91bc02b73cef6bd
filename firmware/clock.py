"""The game clocks: how long each side has thought, and when a limit will be reached. Pure arithmetic on `t_us`."""

from __future__ import annotations

from typing import Literal, NamedTuple

from firmware.snapshot import Side


class Limits(NamedTuple):
    """Total time a side and game, and time a move, in microseconds; None = none (rules, "Time")."""

    total_us: int | None = 900_000_000
    move_us: int | None = 120_000_000


class Deadline(NamedTuple):
    """When the running side's time is up, and which limit it is: `total` loses the game, `move` passes the turn."""

    t_us: int
    limit: Literal["total", "move"]


class Clocks(NamedTuple):
    """Both clocks at a moment; every change returns a new value.

    `used_us`: thinking time of a and b in finished stretches. `move_used_us`: that part of it which belongs to the
    turn under way (more than nothing only after a pause). `running`: whose clock runs, since `since_us`.
    """

    limits: Limits
    used_us: tuple[int, int] = (0, 0)
    move_used_us: int = 0
    running: Side | None = None
    since_us: int = 0

    def start(self, side: Side, t_us: int) -> Clocks:
        """Run the clock of `side` from `t_us` on; a turn under way goes on where it stopped."""
        return self._replace(running=side, since_us=t_us)

    def stop(self, t_us: int) -> Clocks:
        """Stop the running clock at `t_us`, as for a pause: the turn keeps what it has used."""
        if self.running is None:
            return self
        spent_us = t_us - self.since_us
        a, b = self.used_us
        used = (a + spent_us, b) if self.running == "a" else (a, b + spent_us)
        return self._replace(used_us=used, move_used_us=self.move_used_us + spent_us, running=None)

    def next_turn(self, side: Side, t_us: int) -> Clocks:
        """The turn goes to `side` at `t_us`, with all of its move time."""
        return self.stop(t_us)._replace(move_used_us=0).start(side, t_us)

    def left_us(self, side: Side, t_us: int) -> int | None:
        """Total time left to `side`, never below zero; None = unlimited."""
        if self.limits.total_us is None:
            return None
        used_us = self.used_us["ab".index(side)] + self._spent_us(side, t_us)
        return max(0, self.limits.total_us - used_us)

    def move_left_us(self, t_us: int) -> int | None:
        """Time left for the move under way, never below zero; None = unlimited."""
        if self.limits.move_us is None:
            return None
        spent_us = t_us - self.since_us if self.running else 0
        return max(0, self.limits.move_us - self.move_used_us - spent_us)

    @property
    def deadline(self) -> Deadline | None:
        """What happens if nobody acts. Both limits in the same instant: the game is lost, not passed."""
        if self.running is None:
            return None
        total_us, move_us = self.left_us(self.running, self.since_us), self.move_left_us(self.since_us)
        if total_us is not None and (move_us is None or total_us <= move_us):
            return Deadline(self.since_us + total_us, "total")
        return None if move_us is None else Deadline(self.since_us + move_us, "move")

    def _spent_us(self, side: Side, t_us: int) -> int:
        return t_us - self.since_us if self.running == side else 0
