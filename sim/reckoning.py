"""The clocks of a game reckoned from outside: from when turns began and ended, and from nothing the firmware says."""

from __future__ import annotations

from firmware.clock import Limits
from firmware.game import Game
from firmware.snapshot import Side

OTHER: dict[Side, Side] = {"a": "b", "b": "a"}


class Reckoning:
    """What both sides have thought. `turns`: side and thinking time of each turn, in the order of the record."""

    def __init__(self, limits: Limits, t_us: int) -> None:
        """The first turn begins at `t_us`."""
        self.limits = limits
        self.turns: list[tuple[Side, int]] = []
        self._spent_us = 0  # in the turn under way, up to `_since_us`
        self._since_us: int | None = t_us
        self._rest_us: dict[Side, int] = {"a": 0, "b": 0}  # what a restart has left beyond `turns`

    def limit_us(self, mover: Side) -> int | None:
        """When the time of `mover` is up; None where it never is, or stands."""
        left = [self.limits.move_us]
        if self.limits.total_us is not None:
            left.append(self.limits.total_us - self._thought_us(mover))
        if self._since_us is None:
            return None
        begun_us = self._since_us - self._spent_us
        return min((begun_us + us for us in left if us is not None), default=None)

    def loses(self, mover: Side) -> bool:
        """Whether `mover` loses the game at `limit_us`, and not the turn only; so it is of both at once."""
        total_us, move_us = self.limits
        return total_us is not None and (move_us is None or total_us - self._thought_us(mover) <= move_us)

    def turned(self, mover: Side, t_us: int, passes: int = 0) -> None:
        """The turn of `mover` ends at `t_us`; `passes` forced passes after it take no time."""
        self.stop(t_us)
        self.turns.append((mover, self._spent_us))
        for _ in range(passes):
            mover = OTHER[mover]
            self.turns.append((mover, 0))
        self._spent_us, self._since_us = 0, t_us

    def stop(self, t_us: int) -> None:
        """The clock stands from `t_us` on."""
        if self._since_us is not None:
            self._spent_us += t_us - self._since_us
        self._since_us = None

    def go(self, t_us: int) -> None:
        """The clock runs from `t_us` on."""
        self._since_us = t_us

    def took_back(self, standing: int, t_us: int) -> None:
        """All turns but the first `standing` are undone; that turn begins anew at `t_us`."""
        del self.turns[standing:]
        self._rest_us = {"a": 0, "b": 0}
        self._spent_us, self._since_us = 0, t_us

    def used_us(self, mover: Side, t_us: int) -> tuple[int, int]:
        """What a and b have thought by `t_us`, the turn under way included."""
        running_us = 0 if self._since_us is None else t_us - self._since_us
        used = {side: self._thought_us(side) for side in OTHER}
        used[mover] += self._spent_us + running_us
        return used["a"], used["b"]

    def adopt(self, game: Game) -> None:
        """Take over the clocks of a game that a restart has set up again, and that stand.

        The journal keeps turns in whole ms and their sum in us; a takeback reckons from the turns.
        """
        sides = [game.starter if at % 2 == 0 else OTHER[game.starter] for at in range(len(game.times_us))]
        self.turns = list(zip(sides, game.times_us, strict=True))
        self.limits, self._since_us, self._spent_us = game.clocks.limits, None, game.clocks.move_used_us
        self._rest_us = {"a": 0, "b": 0}
        for side, used_us in zip(OTHER, game.clocks.used_us, strict=True):
            spent_us = self._spent_us if side == game.mover else 0
            self._rest_us[side] = used_us - spent_us - self._thought_us(side)

    def _thought_us(self, mover: Side) -> int:
        return sum(us for side, us in self.turns if side == mover) + self._rest_us[mover]
