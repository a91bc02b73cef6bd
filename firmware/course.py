"""What happens on the table: who plays what with whom, whose clock runs, and what comes by itself if nobody acts.

From attract to lobby, lot, play and result, and to the next game of the match; the touches that bring it about are
the table's. Pure: no clock, no chance, no I/O; a lot is drawn outside and handed in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

from firmware.choosing import Chosen, usual
from firmware.game import TIMEOUTS_TO_PARK, Game
from firmware.games import morbak
from firmware.gesture import TouchTimes
from firmware.judging import Deadline, Judging
from firmware.match import Match, starter_after
from firmware.menu import Menu
from firmware.phases import PhaseTimes, chords
from firmware.replay import Replay
from firmware.snapshot import Countdown, Phase, Side
from firmware.starts import Reason

# Two changes of the whole board are a flash: three in a second are 333 ms each, as on a cell (RISE_GAP_US).
BUTTON_GAP_US = 340_000
# How many accepted actions are kept for whoever asks; more than the longest game has.
PLAYED = 256


class Refusal(NamedTuple):
    """Why the last touch did nothing: the code of the rule, the cell, and how many refusals there have been."""

    code: str
    cell: int
    n: int


class Played(NamedTuple):
    """An action as it was accepted, for the journal: its text and its own time."""

    t_us: int
    text: str


class Course(Judging):
    """A match from attract to result: every change of phase, of turn and of game, whatever brings it about."""

    def __init__(
        self,
        match: Match,
        touch_times: TouchTimes,
        phase_times: PhaseTimes,
        draw_lot: Callable[[], Side],
        start_us: int = 0,
        games: int = 0,
        chosen: Chosen = Chosen(),  # noqa: B008 - a constant
        brightness_pct: int = 100,
        *,
        sound: bool = False,
        coded: bool = False,
    ) -> None:
        """`match`: what is played where nobody has chosen otherwise; `draw_lot` says who starts the first game of it.

        Fingers down at `start_us` are dead until lifted. `games`: how many games this board has seen before; the next
        has the number after it. `chosen`: what was chosen at the board earlier; `brightness_pct`: that of the board
        where none was; `sound`: whether it can be heard; `coded`: whether there is a code for operators to show.
        """
        super().__init__(touch_times, start_us)
        self.times, self.brightness_pct, self.draw_lot = phase_times, brightness_pct, draw_lot
        self.sound, self.coded = sound, coded
        self.given = match
        self._usual = self.match = usual(match, chosen)
        self.phase: Phase = "attract"
        self.phase_us = start_us
        self.game: Game | None = None
        self.number = games  # of the game on the table
        self.revision = 0  # rises with everything that must not be lost
        self.played: deque[Played] = deque(maxlen=PLAYED)
        self.last: tuple[int, int] | None = None  # the cell of the last action, and when it bloomed
        self.refusal: Refusal | None = None
        self._refusals = 0
        self._button_us: int | None = None  # when the start button counted last
        self._strangers = False  # the game on the table was found parked, by whoever stands here now
        self.menu: Menu | None = None
        self._below: Phase = "play"  # the phase to which an open menu returns
        self.replay: Replay | None = None
        self.chosen = chosen
        self.safe: Reason | None = None  # why the board is in safe mode, and plays nothing
        self.pips_until_us: int | None = None
        self.lot_us: int | None = None
        self.put_out(frozenset(morbak.parse_cell(name) for name in chosen.out))

    @property
    def countdown(self) -> Countdown | None:
        """When a game without a limit a move is parked if nobody touches the board; None where that cannot happen."""
        if self.phase != "play" or self.match.limits.move_us is not None or self._blind_us is not None:
            return None
        end_us = max(self.phase_us, self._touched_us) + self.times.park_us
        return Countdown(end_us - self.times.countdown_us, end_us)

    @property
    def usual(self) -> Match:
        """What is played where nobody chooses otherwise at the board."""
        return self._usual

    def untouched_us(self, t_us: int) -> int:
        """For how long nobody has touched the board, nor its phase changed."""
        return t_us - max(self.phase_us, self._touched_us)

    def take_played(self) -> list[Played]:
        """The actions accepted since the last call, oldest first."""
        played = list(self.played)
        self.played.clear()
        return played

    # -- from outside ------------------------------------------------------------------------------------------

    def resume(self, game: Game, match: Match, number: int, t_us: int) -> None:
        """Take up what was on the board before a restart: a result, or a game, paused until somebody touches it."""
        self.game, self.match, self.number = game, match, number
        if game.ending is not None:
            self._deaf_result(t_us)
        else:
            self._enter("paused", t_us)

    def shut(self, reason: Reason, t_us: int) -> None:
        """Play nothing any more: safe mode, until the board is started again."""
        self.safe = reason
        self._enter("safe", t_us)

    def show(self, replay: Replay) -> None:
        """Play a game again on the board, until it is over or somebody touches; for a board that is not played on."""
        self.replay, self._snapshot = replay, None

    def press_button(self, t_us: int) -> None:
        """The start button at `t_us`: it starts, pauses and goes on; in a menu it closes that.

        Drummed on, it counts no more often than the flash limit allows, since each time the board dims or lights up.
        """
        if self._button_us is not None and t_us < self._button_us + BUTTON_GAP_US:
            return
        self._touched_us = self._button_us = t_us
        if self.phase == "menu" and self._below == "lobby":
            self._lobby(t_us)
        elif self.replay is not None or self.phase == "menu":
            self._tapped_into(self._below if self.phase == "menu" else self.phase, t_us)
        elif self.phase == "attract":
            self._arrive(t_us)
        elif self.phase == "play":
            self._park(t_us)
        elif self.phase == "paused":
            self._start_play(t_us)
        elif self.phase == "result" and t_us >= self.phase_us + self.times.result_deaf_us:
            self._rematch(t_us)

    # -- turns -------------------------------------------------------------------------------------------------

    def _turn_lost(self, t_us: int) -> None:
        """Out of time: the turn passes, the game is lost, or after three in a row the game is parked."""
        assert self.game is not None
        played = len(self.game.moves)
        self.game.time_up(t_us)
        self.last = None
        self._turn_changed(played, t_us)
        if self.game.ending is None and self.game.timeouts_running >= TIMEOUTS_TO_PARK:
            self._park(t_us)

    def _turn_changed(self, played: int, t_us: int) -> None:
        assert self.game is not None
        self.revision += 1
        self.played += [Played(t_us, move.text) for move in self.game.moves[played:]]
        self._lift_all(t_us)
        self.gesture.guard(t_us + self.gesture.times.turn_guard_us)
        if self.game.ending is not None:
            self._ended(t_us)
        elif self.menu is not None:
            self.menu.withdraw(t_us)

    def _ended(self, t_us: int) -> None:
        assert self.game is not None and self.game.ending is not None
        self.match = self.match.ended(self.game.ending.result)
        self.pips_until_us = None  # they would hide the line of a win by a special move
        self._deaf_result(t_us)

    def _deaf_result(self, t_us: int) -> None:
        self._enter("result", t_us)
        self.gesture.guard(t_us + self.times.result_deaf_us)

    def _park(self, t_us: int) -> None:
        assert self.game is not None
        self.game.pause(t_us)
        self._enter("paused", t_us)

    # -- phases ------------------------------------------------------------------------------------------------

    def _enter(self, phase: Phase, t_us: int) -> None:
        self.phase, self.phase_us = phase, t_us
        self.revision += 1
        if phase != "menu":
            self.menu = None
        self.replay = None
        self._masks_changed()
        self._lift_all(t_us)
        self.previews.clear(t_us)
        self._snapshot = None

    def _masks_changed(self) -> None:
        self.gesture.chords = chords(self.times, self.phase, self.masked, self.doubted)
        if self.menu is not None:
            self.menu.healed(self.masked)
        self._snapshot = None

    def _tapped_into(self, phase: Phase, t_us: int) -> None:
        """A tap led here: a quick second one must not act in the new phase."""
        self._enter(phase, t_us)
        self.gesture.guard(t_us + self.gesture.times.turn_guard_us)

    def _arrive(self, t_us: int) -> None:
        """Somebody touches a board that waits for players: a parked game goes first."""
        if self.game is not None:
            self._strangers = True
            self._tapped_into("paused", t_us)
        else:
            self._lobby(t_us)

    def _anew(self, t_us: int) -> None:
        """A game that is left for another: in a match under way the same side starts, else the lot decides.

        Whoever has found a parked game starts a match of his own.
        """
        if self._strangers:
            self.match = self._usual
        if self.game is not None and self.match.begun:
            self._new_game(self.game.starter)
        else:
            self.game = None
        self._lobby(t_us)

    def _vacate(self, t_us: int) -> None:
        """The players have left: whoever comes next plays a match of his own."""
        self.game, self.match = None, self._usual
        self._enter("attract", t_us)

    def _lobby(self, t_us: int) -> None:
        """Before a game: the lot, or the edge of the one who starts, as options and the last result have it."""
        self.lot_us = None
        if self.game is not None:
            self._set_up(self.game.starter)
        self._tapped_into("lobby", t_us)

    def _set_up(self, starter: Side) -> None:
        """An empty board for the game that comes."""
        self.game = Game(self.match.rules, self.match.limits, starter)
        self.last = self.refusal = None

    def _new_game(self, starter: Side) -> None:
        self.number += 1
        self._set_up(starter)

    def _rematch(self, t_us: int) -> None:
        assert self.game is not None and self.game.ending is not None
        self.match = self.match.following()
        self._new_game(starter_after(self.game.ending.result, self.game.starter))
        self._lobby(t_us)

    def _start_play(self, t_us: int) -> None:
        assert self.game is not None
        tapped, self._strangers = self.phase == "paused", False
        self.game.timeouts_running = 0
        self.game.run(t_us)
        self._enter("play", t_us)
        if tapped:
            self.gesture.guard(t_us + self.gesture.times.turn_guard_us)

    # -- contacts out of sight ---------------------------------------------------------------------------------

    @property
    def _in_play(self) -> bool:
        """Whether a game goes on, as it does under an open menu, and with it its clock while contacts are in sight."""
        game_on = self.game is not None and self.game.ending is None
        return game_on and (self.phase == "play" or (self.phase == "menu" and self._below == "play"))

    def _halt(self, t_us: int) -> None:
        self.pips_until_us = None
        if self.game is not None:
            self.game.pause(t_us)

    def _go_on(self, lost_us: int, t_us: int) -> None:
        if self.game is not None and self._in_play:
            self.game.run(t_us)
        self._touched_us = min(max(self.phase_us, self._touched_us) + lost_us, t_us)
        if self.menu is not None:
            self.menu.delay(lost_us, t_us)
        if self.replay is not None:
            self.replay.delay(lost_us, t_us)
        if self.phase == "lobby":
            self.phase_us = min(self.phase_us + lost_us, t_us)
            self.lot_us = None if self.lot_us is None else min(self.lot_us + lost_us, t_us)

    # -- what comes by itself ----------------------------------------------------------------------------------

    def _deadlines(self) -> Iterator[Deadline]:
        clock = self.game.clocks.deadline if self.game is not None else None
        countdown = self.countdown
        if clock is not None:
            yield clock.t_us, self._turn_lost
        if countdown is not None:
            yield countdown.end_us, self._park
        if self.pips_until_us is not None:
            yield self.pips_until_us, self._pips_over
        if self.menu is not None:
            yield self.menu.due_us, self._menu_over
        if self.replay is not None:
            yield self.replay.due_us, self._replay_on
        elif self.phase == "lobby" and not self.gesture.armed:
            yield self._lobby_over_us, self._lobby_over
        elif self.phase in ("paused", "result"):
            yield max(self.phase_us, self._touched_us) + self.times.idle_us, self._left_alone

    @property
    def _lobby_over_us(self) -> int:
        if self.game is None:
            return self.phase_us + self.times.lobby_us
        return (self.phase_us if self.lot_us is None else self.lot_us) + self.times.lot_us

    def _lobby_over(self, t_us: int) -> None:
        if self.game is None:
            self.lot_us = t_us
            self._new_game(self.draw_lot())
        else:
            self._start_play(t_us)

    def _menu_over(self, t_us: int) -> None:
        """Nobody touches: a request ends, a menu closes, options are left."""
        assert self.menu is not None
        if not self.menu.time_up(t_us):
            self._lift_all(t_us)  # a consent that comes too late is no request of one's own
            return
        if self.menu.kind == "options":
            self._vacate(t_us)
        else:
            self._enter(self._below, t_us)

    def _pips_over(self, _t_us: int) -> None:
        self.pips_until_us = None

    def _replay_on(self, t_us: int) -> None:
        if self.replay is not None and not self.replay.step(t_us):
            self._enter(self.phase, t_us)

    def _left_alone(self, t_us: int) -> None:
        if self.phase == "result":
            self._vacate(t_us)
        else:
            self._enter("attract", t_us)  # with the game parked
