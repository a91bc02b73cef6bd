"""Hop 6: touches become actions, refusals and phases; clocks run; who starts is decided.

Edges come in with their own times and are judged in that order, together with every deadline, once the scan says
that all edges up to that time are known (`advance`). Only the light of a press does not wait (`feed`).
Pure: no clock, no chance, no I/O; a lot is drawn outside and handed in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from firmware import picture
from firmware.clock import Limits
from firmware.game import OTHER, TIMEOUTS_TO_PARK, Game
from firmware.games import morbak
from firmware.gesture import Event, Gesture, TouchTimes
from firmware.hearing import PRESS, RELEASE, Heard, Hearing
from firmware.menu import PLACES, Choice, Item, Menu
from firmware.phases import PhaseTimes, chords
from firmware.previews import Haze, Previews
from firmware.snapshot import Pattern, Phase, Side, Snapshot
from hal.ports import Scan

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


class Table:
    """The table two people sit at: what their touches mean in each phase."""

    def __init__(
        self,
        rules: morbak.Rules,
        limits: Limits,
        touch_times: TouchTimes,
        phase_times: PhaseTimes,
        draw_lot: Callable[[], Side],
        start_us: int = 0,
        games: int = 0,
    ) -> None:
        """`draw_lot` says who starts the first game of a match. Fingers down at `start_us` are dead until lifted.

        `games`: how many games this board has seen before; the next has the number after it.
        """
        self.rules, self.limits, self.times = rules, limits, phase_times
        self.phase: Phase = "attract"
        self.phase_us = start_us
        self.game: Game | None = None
        self.refusal: Refusal | None = None
        self.played: deque[Played] = deque(maxlen=PLAYED)
        self.number = games  # of the game on the table
        self.revision = 0  # rises with everything that must not be lost
        self.gesture = Gesture(touch_times, guard_until_us=start_us + 1)
        self.previews = Previews()
        self.menu: Menu | None = None
        self.pips_until_us: int | None = None
        self._below: Phase = "play"  # the phase to which an open menu returns
        self._chords = chords(phase_times)
        self._draw_lot = draw_lot
        self._hearing = Hearing()
        self._known_us = start_us
        self._refusals = 0
        self.lot_us: int | None = None
        self.last: tuple[int, int] | None = None
        self._touched_us = start_us
        self._ghosts = 0
        self.haze = Haze()
        self._snapshot: Snapshot | None = None

    # -- in ------------------------------------------------------------------------------------------------------

    def feed(self, scan: Scan) -> None:
        """Take what a scan has found: a press lights its cell at once, everything else waits for `advance`."""
        for edge in scan.edges:
            self._hearing.edge(edge)
            if edge.down:
                self._answer(edge.cell, edge.t_us)
        if scan.ghosts != self._ghosts:
            self._ghosts = scan.ghosts
            self.haze = self.haze.seen(scan.ghosts, scan.t_us)
            self._hearing.ghosts(scan.ghosts, scan.t_us)
            self._snapshot = None

    def advance(self, known_us: int) -> None:
        """Judge everything up to `known_us` in the order of its own time.

        At the same time a hold that is complete comes first, then edges, then limits: what is finished at a limit
        beats it (rules, "Time").
        """
        while self.step(known_us):
            pass

    def step(self, known_us: int) -> bool:
        """Judge one thing, if there is one up to `known_us`; False if there was none."""
        t_us = self.due_us
        if t_us is None or t_us > known_us:
            self._known_us = max(self._known_us, known_us)
            if self.previews.prune(self._known_us):
                self._snapshot = None
            return False
        if self.gesture.due_us == t_us:
            self._understand(self.gesture.advance(t_us))
        elif self._hearing.due_us == t_us:
            self._hear(self._hearing.pop())
        else:
            self._time_up(t_us)
        return True

    # -- out -----------------------------------------------------------------------------------------------------

    @property
    def snapshot(self) -> Snapshot:
        """Everything that may shine; the same object until something has happened."""
        if self._snapshot is None:
            self._snapshot = picture.snapshot(self)
        return self._snapshot

    @property
    def stuck(self) -> frozenset[int]:
        """Cells with a finger or a closed contact on them for 20 s and more."""
        return frozenset(self.gesture.stuck)

    @property
    def due_us(self) -> int | None:
        """The next time at which something is to be judged; None while nothing waits."""
        waiting = (self.gesture.due_us, self._hearing.due_us, self._due_us())
        return min((t for t in waiting if t is not None), default=None)

    def take_played(self) -> list[Played]:
        """The actions accepted since the last call, oldest first."""
        played = list(self.played)
        self.played.clear()
        return played

    def resume(self, game: Game, number: int, t_us: int) -> None:
        """Take up a game that was under way before a restart: paused until somebody touches the board."""
        self.game, self.number = game, number
        self._enter("paused", t_us)

    # -- light at once ---------------------------------------------------------------------------------------------

    def _answer(self, cell: int, t_us: int) -> None:
        """Light a cell under a finger, unless it is known already that this touch counts for nothing."""
        if t_us < self.gesture.guard_until_us or self.gesture.spoiled or self.phase == "lobby":
            return
        full_us, side = None, None
        if self.phase == "menu" and self.menu is not None:
            place = PLACES.get(cell)
            side = place.side if place and place.item in self.offers() else None
            full_us = t_us + self.gesture.times.hold_us if side and self.menu.wants_hold(cell) else None
        if self.phase == "play" and self.game is not None:
            meaning = morbak.meaning(self.game.state, cell)
            if isinstance(meaning, morbak.Action):
                side = self.game.mover
                full_us = None if meaning.kind == "light" else t_us + self.gesture.times.hold_us
        self.previews.press(cell, t_us, full_us, side)
        self._snapshot = None

    # -- judged in order -------------------------------------------------------------------------------------------

    def _hear(self, heard: Heard) -> None:
        if heard.order == RELEASE:
            self._understand(self.gesture.release(heard.what, heard.t_us))
            self.previews.end(heard.what, heard.t_us)
        elif heard.order == PRESS:
            self.refusal = self.pips_until_us = None
            self._touched_us = heard.t_us
            if self.menu is not None:
                self.menu.touched(heard.t_us)
            self._understand(self.gesture.press(heard.what, heard.t_us))
        else:
            self._understand(self.gesture.ghosts(heard.what, heard.t_us))
        self._snapshot = None

    def _understand(self, events: list[Event]) -> None:
        for event in events:
            if event.kind == "tap":
                self._tap(event.cell, event.t_us)
            elif event.kind == "hold":
                self._hold(event.cell, event.t_us)
            elif event.kind == "chord":
                self._chord(event.name, event.t_us)
            elif event.kind != "press":
                self.previews.end(event.cell, event.t_us)
            elif not self.previews.answers(event.cell):
                self._answer(event.cell, event.t_us)  # came while the phase before did not answer
        self._snapshot = None

    def _tap(self, cell: int, t_us: int) -> None:
        if self.phase == "attract":
            self._tapped_into("lobby" if self.game is None else "paused", t_us)  # a parked game goes first
        elif self.phase == "play":
            self._tap_in_play(cell, t_us)
        elif self.phase == "menu":
            self._tap_in_menu(cell, t_us)
        elif self.phase == "paused":
            self._start_play(t_us)
        elif self.phase == "result":
            self._rematch(t_us)

    def _tap_in_play(self, cell: int, t_us: int) -> None:
        assert self.game is not None
        meaning = morbak.meaning(self.game.state, cell)
        if not isinstance(meaning, morbak.Action):
            self._refuse(meaning, cell, t_us)
        elif meaning.kind == "light":
            self._commit(meaning, t_us)
        else:
            self._refuse("hold", cell, t_us)

    def _hold(self, cell: int, t_us: int) -> None:
        if self.phase == "menu" and self.menu is not None:
            self._chosen(self.menu.hold(cell, t_us, self.offers()), t_us)
        if self.phase != "play" or self.game is None:
            return
        meaning = morbak.meaning(self.game.state, cell)
        if isinstance(meaning, morbak.Action) and meaning.kind != "light":
            self._commit(meaning, t_us)

    def _refuse(self, code: str, cell: int, t_us: int) -> None:
        self._refusals += 1
        self.refusal = Refusal(code, cell, self._refusals)
        if code == "hold":
            self.previews.refuse(Pattern(cell, "hold", t_us, self.game.mover if self.game else None))
        else:
            self.previews.refuse(Pattern(cell, "refused", t_us))

    def _commit(self, action: morbak.Action, t_us: int) -> None:
        assert self.game is not None
        played = len(self.game.moves)
        self.game.play(action, t_us)
        self.last = (action.cell, self.previews.bloom(action.cell, t_us))
        if action.kind != "light":
            self.pips_until_us = t_us + self.times.pips_us
        self._turn_changed(played, t_us)

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
        self._enter("result", t_us)
        self.gesture.guard(t_us + self.times.result_deaf_us)

    def _lift_all(self, t_us: int) -> None:
        """Every finger that is down counts for nothing until lifted."""
        self.gesture.kill(t_us)
        self.previews.end_all(t_us)

    # -- menu and chords -------------------------------------------------------------------------------------------

    def offers(self) -> frozenset[Item]:
        """The items of the menu that can be chosen now."""
        items: set[Item] = {"draw", "resign", "new_game", "close"}
        if self._below == "play":
            items.add("pause")
        if self.game is not None and self.game.last_chosen is not None:
            items.add("takeback")
        return frozenset(items)

    def _chord(self, name: str, t_us: int) -> None:
        if name == "menu":
            self._below = self.phase
            self.menu = Menu(self.times.menu, t_us)
            self._enter("menu", t_us)
        else:
            self.pips_until_us = t_us + self.times.pips_us

    def _tap_in_menu(self, cell: int, t_us: int) -> None:
        assert self.menu is not None
        if self.menu.asked is None and self.menu.wants_hold(cell):
            self._refuse("hold", cell, t_us)
        else:
            self._chosen(self.menu.tap(cell, t_us, self.offers()), t_us)

    def _chosen(self, choice: Choice | None, t_us: int) -> None:
        """Carry out what was chosen, and where it was due, agreed to; the menu closes."""
        if choice is None or self.game is None:
            return
        if choice.item == "resign":
            self.game.resign(choice.by, t_us)
            self._ended(t_us)
        elif choice.item == "draw":
            self.game.agree(t_us)
            self._ended(t_us)
        elif choice.item == "new_game":
            self.game = None
            self._tapped_into("lobby", t_us)
        elif choice.item == "pause":
            self.game.pause(t_us)
            self._tapped_into("paused", t_us)
        else:
            self._leave_menu(choice.item, t_us)

    def _leave_menu(self, item: Item, t_us: int) -> None:
        """Back to where the menu was opened, with the last action taken back if that was agreed."""
        assert self.game is not None
        if item == "takeback":
            self.game.take_back(t_us)
            self.last = None
            if self._below == "paused":
                self.game.pause(t_us)
        self._tapped_into(self._below, t_us)

    # -- phases ----------------------------------------------------------------------------------------------------

    def _enter(self, phase: Phase, t_us: int) -> None:
        self.phase, self.phase_us = phase, t_us
        self.revision += 1
        if phase != "menu":
            self.menu = None
        self.gesture.chords = self._chords if phase in ("play", "paused") else {}
        self._lift_all(t_us)
        self.previews.clear(t_us)
        self._snapshot = None

    def _tapped_into(self, phase: Phase, t_us: int) -> None:
        """A tap led here: a quick second one must not act in the new phase."""
        self._enter(phase, t_us)
        self.gesture.guard(t_us + self.gesture.times.turn_guard_us)

    def _new_game(self, starter: Side) -> None:
        self.game = Game(self.rules, self.limits, starter)
        self.number += 1
        self.last = None
        self.refusal = None

    def _rematch(self, t_us: int) -> None:
        """The loser starts; after a draw, the side that did not start the drawn game (rules, "Who starts")."""
        assert self.game is not None and self.game.ending is not None
        result = self.game.ending.result
        waits: Side = self.game.starter if result == "draw" else result
        self.lot_us = None
        self._new_game(OTHER[waits])
        self._tapped_into("lobby", t_us)

    def _start_play(self, t_us: int) -> None:
        assert self.game is not None
        tapped = self.phase == "paused"
        self.game.timeouts_running = 0
        self.game.run(t_us)
        self._enter("play", t_us)
        if tapped:
            self.gesture.guard(t_us + self.gesture.times.turn_guard_us)

    def _due_us(self) -> int | None:
        """When the phase under way ends by itself, if nobody acts."""
        if self.phase == "lobby":
            if self.game is None:
                return self.phase_us + self.times.lobby_us
            return (self.phase_us if self.lot_us is None else self.lot_us) + self.times.lot_us
        if self.phase in ("play", "menu"):
            deadline = self.game.clocks.deadline if self.game else None
            waits = (deadline.t_us if deadline else None, self.menu.due_us if self.menu else None, self.pips_until_us)
            return min((t for t in waits if t is not None), default=None)
        idle_us = max(self.phase_us, self._touched_us) + self.times.idle_us
        if self.phase == "paused":
            return idle_us if self.pips_until_us is None else min(idle_us, self.pips_until_us)
        if self.phase == "result":
            return idle_us
        return None

    def _time_up(self, t_us: int) -> None:
        self._snapshot = None
        if self.phase == "lobby" and self.game is None:
            self.lot_us = t_us
            self._new_game(self._draw_lot())
        elif self.phase == "lobby":
            self._start_play(t_us)
        elif self.phase == "result":
            self.game = None
            self._enter("attract", t_us)
        elif self.pips_until_us == t_us:
            self.pips_until_us = None
        elif self.phase == "paused":
            self._enter("attract", t_us)  # with the game parked
        elif self.menu is not None and self.menu.due_us == t_us:
            if self.menu.time_up(t_us):
                self._enter(self._below, t_us)
        else:
            self._turn_lost(t_us)

    def _turn_lost(self, t_us: int) -> None:
        """Out of time: the turn passes, the game is lost, or after three in a row the game is parked."""
        assert self.game is not None
        played = len(self.game.moves)
        self.game.time_up(t_us)
        self.last = None
        self._turn_changed(played, t_us)
        if self.game.ending is None and self.game.timeouts_running >= TIMEOUTS_TO_PARK:
            self.game.pause(t_us)
            self._enter("paused", t_us)
