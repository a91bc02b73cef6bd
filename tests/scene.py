"""A board in virtual time for tests: reach a position, put fingers on, see what came of it."""

from __future__ import annotations

from collections.abc import Iterable

from firmware.clock import Limits
from firmware.games import morbak
from firmware.state import document
from firmware.table import Played
from sim.drive import Drive
from sim.fingers import Finger, hold

MS = 1_000
S = 1_000_000
# After this long every edge is debounced, judged and lit.
SETTLE_US = 40 * MS
# Between two touches of different turns: the guard, and a little.
BETWEEN_US = 270 * MS


class Scene:
    """A drive with shorthands; times are given from the moment of the call on."""

    def __init__(self, drive: Drive | None = None, **options: object) -> None:
        self.drive = drive or Drive(**options)  # type: ignore[arg-type]
        self.table = self.drive.table

    @property
    def now_us(self) -> int:
        return self.drive.now_us

    @property
    def position(self) -> str:
        return str(document(self.table, self.now_us, {})["position"])

    @property
    def refusal(self) -> str | None:
        return self.table.refusal.code if self.table.refusal else None

    def do(self, *parts: Iterable[Finger], settle_us: int = SETTLE_US) -> list[str]:
        """Move fingers (times from now on) and let all be judged; returns the actions that came of it."""
        start_us = self.now_us
        moves = sorted((move._replace(t_us=start_us + move.t_us) for part in parts for move in part), key=_order)
        self.drive.fingers(moves)
        self.drive.run_until(max(move.t_us for move in moves) + settle_us)
        return [played.text for played in self.table.take_played()]

    def wait(self, us: int) -> list[Played]:
        """Let time pass; returns the actions that came of it, with their times."""
        self.drive.run_for(us)
        return self.table.take_played()

    def tap(self, cell: str, for_us: int = 60 * MS) -> list[str]:
        """Touch a cell shortly."""
        return self.do(hold(cell, 0, for_us))

    def play(self) -> Scene:
        """From power-up to the first turn."""
        self.wait(50 * MS)
        self.tap("d4")
        self.wait(5 * S)
        assert self.table.phase == "play"
        return self

    def moves(self, *texts: str) -> Scene:
        """Play actions, each by the touch it wants."""
        for text in texts:
            action = morbak.parse_action(text)
            self.wait(BETWEEN_US)
            held_us = 60 * MS if action.kind == "light" else 860 * MS
            came = self.do(hold(action.cell, 0, held_us))
            assert came[:1] == [text], (came, text, self.table.refusal)
        self.wait(BETWEEN_US)
        return self


def _order(move: Finger) -> tuple[int, bool, int]:
    """By time; at the same time fingers leave before others come."""
    return move.t_us, move.down, move.cell


def playing(**options: object) -> Scene:
    """A board on which the first turn has just begun."""
    return Scene(**options).play()


NO_LIMITS = Limits(None, None)
