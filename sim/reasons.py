"""Why phases change: each change is one that somebody's touch was to bring, or one that is due by the design's times.

The reasons know the design, the fingers as they truly moved, and the frames as they truly latched; of the table they
look at phase, game and limits, and at no timer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from firmware.game import Ending, Game, Undone
from firmware.games import morbak
from firmware.match import Match
from firmware.snapshot import Phase, Side
from sim.drive import Drive
from sim.fingers import Finger

MS = 1_000
S = 1_000_000
# Of the design, "Phases" and "What a touch means".
LOBBY_US = (2_500 * MS, 4_500 * MS)  # the starter's edge alone, or a lot before it
IDLE_US, PARK_US, COUNTDOWN_US = 120 * S, 300 * S, 20 * S
MENU_US, ASK_US = 30 * S, 15 * S
# A finger's own time on the wire: bounce, and an idle scan that is 5 ms away.
SEEN_US = 8 * MS
# A contact this short may fall between two scans: a touch, or none.
SURE_US = 20 * MS
LEAST_FPS = 10
WILD_US = 1_000 * MS


Outcome = str


class Standing(NamedTuple):
    """A game as nobody may lose it: everything of it but its clocks, with its match."""

    number: int
    starter: Side
    moves: tuple[str, ...]
    timeouts: tuple[int, ...]
    undone: tuple[Undone, ...]
    ending: Ending | None
    match: Match


def standing(game: Game | None, number: int, match: Match) -> Standing | None:
    """What stands on a table."""
    if game is None:
        return None
    moves = tuple(move.text for move in game.moves)
    ending = game.ending and game.ending._replace(line=tuple(sorted(game.ending.line)))
    return Standing(number, game.starter, moves, tuple(game.timeouts), tuple(game.undone), ending, match)


def outcome(moves: Iterable[str], ending: Ending) -> Outcome:
    """A finished game, as short as it can be told."""
    return f"{' '.join(moves)} {ending.result} {ending.reason}"


class Reasons:
    """Looks at a table whenever something may have happened on it, from its power-up on.

    `now`, `earlier`: what stands on the table, and what stood there before the last thing that must not be lost.
    `results`: how each finished game ended. `strangers`: who is there has found the game parked.
    `wild`: children drum, and every touch may bring what a touch can bring.
    """

    def __init__(
        self, drive: Drive, violated: Callable[[str], None], results: dict[int, Outcome], counts: Counter[str]
    ) -> None:
        """`counts` counts games that were parked, and games that were resumed."""
        self._drive, self._table, self._violated = drive, drive.table, violated
        self.results, self.wild, self.strangers = results, False, False
        self._counts = counts
        self._phase, self._phase_us = self._table.phase, drive.now_us
        self._announced: Phase | None = None
        self._leaves = False
        self._down: dict[int, int] = {}
        self._sure_us = self._any_us = self._moved_us = self._acted_us = self._begun_us = drive.now_us
        self._moves = 0
        self._dusk_us = self._dusk_frames = 0  # the countdown shown last, and its frames
        self._revision = self._table.revision
        self.now = self.earlier = self._standing()
        self._begun = self._table.game is not None
        drive.heard.append(self._look)
        drive.moved.append(self._finger)
        drive.board.strip.on_latch.append(self._latched)

    def announce(self, phase: Phase) -> None:
        """The touch that comes is to lead to `phase`."""
        self._announced = phase

    def forget(self) -> None:
        """What was announced has come by now, or somebody else has said that it did not."""
        self._announced, self._leaves = None, False

    def leaves(self) -> None:
        """Both sides agree to put an unfinished game away."""
        self._leaves = True

    @property
    def touched_us(self) -> int:
        """When a finger came down last."""
        return self._any_us

    # -- looking ---------------------------------------------------------------------------------------------------

    def _finger(self, move: Finger) -> None:
        self._moved_us = move.t_us
        if move.down:
            self._down[move.cell] = self._any_us = move.t_us
            return
        pressed_us = self._down.pop(move.cell, move.t_us)
        if move.t_us - pressed_us >= SURE_US:
            self._sure_us = max(self._sure_us, pressed_us)

    def _latched(self, t_us: int, _frame: bytes) -> None:
        countdown = self._table.countdown
        if countdown is not None and countdown.start_us <= t_us <= countdown.end_us:
            if countdown.start_us != self._dusk_us:
                self._dusk_us, self._dusk_frames = countdown.start_us, 0
            self._dusk_frames += 1

    def _look(self, _t_us: int) -> None:
        table = self._table
        if table.revision == self._revision:
            return
        self._revision = table.revision
        self._keep()
        if table.phase != self._phase:
            self._judge(self._phase, table.phase, table.phase_us)
        if table.phase == "play" and self._phase not in ("play", "menu"):
            self._begun_us = table.phase_us  # the clock runs under an open menu
        self._phase, self._phase_us = table.phase, table.phase_us

    def _keep(self) -> None:
        """No unfinished game is lost, a parked one changes nothing, and every result is known."""
        before, now, game = self.now, self._standing(), self._table.game
        self.earlier, self.now = before, now
        if before is not None and self._begun and (now is None or now.number != before.number):
            if before.ending is None and not self._leaves:
                self._violated(f"game {before.number} of {len(before.moves)} moves was lost")
            self._begun = False
        if self._phase == "attract" and self._begun and now != before:
            self._violated(f"a parked game changed from {before} to {now}")
        if now is not None and now.ending is not None:
            self.results[now.number] = outcome(now.moves, now.ending)
        if self._table.phase == "play":
            self._begun = True
        if game is not None and len(game.moves) != self._moves:
            self._moves = len(game.moves)
            if game.moves and game.moves[-1] is not morbak.PASS:
                self._acted_us = self._drive.now_us

    def _standing(self) -> Standing | None:
        return standing(self._table.game, self._table.number, self._table.match)

    # -- judging ---------------------------------------------------------------------------------------------------

    def _judge(self, old: Phase, new: Phase, t_us: int) -> None:
        if (old, new) == ("paused", "play"):
            self._counts["resumed"] += 1
        self.strangers = (self.strangers and new != "play") or (old, new) == ("attract", "paused")
        if self._announced == new:
            self._announced = None
            return
        why = self._due.get((old, new))
        trouble = f"{old} became {new}, and nobody had asked for it" if why is None else why(self, t_us)
        if trouble is not None and self.wild and new not in ("attract", "menu"):
            ended = new == "result" and self._table.game is not None and self._table.game.ending is not None
            trouble = None if ended or t_us - self._moved_us <= WILD_US else trouble
        if trouble is not None:
            self._violated(f"{trouble} ({old} to {new} at {t_us / S:.6f} s)")

    def _idle(self, t_us: int, limit_us: int, grace_us: int = 0) -> str | None:
        """Nobody has touched the board for exactly `limit_us`, or up to `grace_us` more."""
        sure_us, any_us = (max(self._phase_us, us) for us in (self._surely_us(), self._any_us))
        if t_us - sure_us < limit_us:
            return f"after {(t_us - sure_us) / S:.3f} s without a touch, not {limit_us / S:.0f} s"
        if t_us - any_us > limit_us + grace_us + SEEN_US:
            return f"only after {(t_us - any_us) / S:.3f} s without a touch, not {limit_us / S:.0f} s"
        return None

    def _surely_us(self) -> int:
        """When a finger came down last of which the board must know; one that still rests is known."""
        return max(self._sure_us, *(us for us in self._down.values()), 0)

    def _lobby_over(self, t_us: int) -> str | None:
        waited_us = t_us - self._phase_us
        return None if waited_us in LOBBY_US else f"the lobby took {waited_us / S:.6f} s"

    def _left_alone(self, t_us: int) -> str | None:
        return self._idle(t_us, IDLE_US)

    def _menu_over(self, t_us: int) -> str | None:
        """A menu closes after 30 s; a request in it ends after 15 s and counts as a touch, as does a tap's end."""
        return self._idle(t_us, MENU_US, ASK_US + S)

    def _parked(self, t_us: int) -> str | None:
        """Three time-outs running, or a whole countdown that was shown and that nobody touched."""
        self._counts["parked"] += 1
        game = self._table.game
        assert game is not None
        if game.clocks.limits.move_us is not None:
            return self._timed_out(t_us, game, game.clocks.limits.move_us)
        shown = self._dusk_frames if self._dusk_us == t_us - COUNTDOWN_US else 0
        if shown < LEAST_FPS * COUNTDOWN_US // S:
            return f"parked after a countdown of {shown} frames"
        return self._idle(t_us, PARK_US)

    def _timed_out(self, t_us: int, game: Game, move_us: int) -> str | None:
        since_us = max(self._acted_us, self._begun_us)
        lost = game.timeouts[-3:]
        if len(lost) < 3 or any(move is not morbak.PASS for move in game.moves[lost[0] :]):
            return "parked without three time-outs running"
        if t_us - since_us <= 2 * move_us:
            return f"parked {(t_us - since_us) / S:.3f} s after the last action, by moves of {move_us / S:.0f} s"
        return None

    def _from_menu_to_pause(self, t_us: int) -> str | None:
        """A menu over a paused game closes; one over play does where the third time-out parks the game."""
        return self._menu_over(t_us) and self._parked(t_us)

    _due: Mapping[tuple[Phase, Phase], Callable[[Reasons, int], str | None]] = {
        ("lobby", "play"): _lobby_over,
        ("play", "paused"): _parked,
        ("paused", "attract"): _left_alone,
        ("result", "attract"): _left_alone,
        ("menu", "attract"): _left_alone,
        ("menu", "play"): _menu_over,
        ("menu", "paused"): _from_menu_to_pause,
        ("menu", "result"): _menu_over,
    }
