"""Hop 6: taps, holds and chords become actions, refusals and what is chosen in the menu.

In which order touches are judged is said in `judging`, what then happens on the table in `course`. Pure: no clock, no
chance, no I/O.
"""

from __future__ import annotations

from typing import Protocol

from firmware import choosing, options, picture
from firmware.course import Played as Played
from firmware.course import Refusal
from firmware.detours import cell_of
from firmware.game import Game
from firmware.games import morbak
from firmware.gesture import Chord
from firmware.judging import Answer
from firmware.menu import Choice, Item, Menu
from firmware.orders import Order, Orders
from firmware.phases import menu_corners
from firmware.replay import Replay
from firmware.snapshot import Pattern, Snapshot


class Answering(Protocol):
    """Who waits for what comes of an operator's action."""

    def waits(self) -> bool:
        """Whether the answer is still waited for; an action whose sender has gone is not played."""

    def give(self, refused: str | None) -> None:
        """The code of what refuses the action; None where it counts."""


class Table(Orders):
    """The table two people sit at: what their touches mean in each phase."""

    @property
    def snapshot(self) -> Snapshot:
        """Everything that may shine; the same object until something has happened."""
        if self._snapshot is None:
            self._snapshot = picture.snapshot(self)
        return self._snapshot

    def operate(self, what: morbak.Action | Order, t_us: int, answer: Answering) -> None:
        """Have an operator's action or order done at `t_us`, in its turn, if it is still waited for then."""

        def act(at_us: int) -> None:
            if answer.waits():
                answer.give(self.obey(what, at_us) if isinstance(what, Order) else self._operate(what, at_us))

        self.order(t_us, act)

    def _operate(self, action: morbak.Action, t_us: int) -> str | None:
        if self.phase != "play" or self.game is None:
            return "not_in_play"
        meaning = morbak.meaning(self.game.state, action.cell)
        if not isinstance(meaning, morbak.Action):
            return meaning
        if meaning != action:
            return "illegal"
        self._touched_us = t_us
        self._commit(action, t_us)
        return None

    # -- touches ---------------------------------------------------------------------------------------------------

    def _answers(self, cell: int, t_us: int) -> Answer | None:
        if self.phase == "lobby":
            return Answer() if cell in menu_corners(self.masked) else None
        if self.phase == "menu" and self.menu is not None:
            return self._answer_in_menu(self.menu, cell)
        if self.phase != "play" or self.game is None:
            return Answer()
        if self._drowsy(t_us):
            return None
        meaning = morbak.meaning(self.game.state, cell)
        if not isinstance(meaning, morbak.Action):
            return Answer()
        return Answer(self.game.mover, None if meaning.kind == "light" else self.gesture.times.hold_us)

    def _answer_in_menu(self, menu: Menu, cell: int) -> Answer:
        place = menu.places.get(cell)
        if place is None or place.item not in self.offers():
            return Answer()
        return Answer(place.side, self.gesture.times.hold_us if menu.may_hold(cell) else None)

    def _touch(self, t_us: int) -> None:
        self.refusal = self.pips_until_us = None
        if self.menu is not None:
            self.menu.touched(t_us)
        if self._drowsy(t_us):  # it wakes the board, and is no move (case F8)
            self.gesture.guard(t_us + self.gesture.times.turn_guard_us)

    def _drowsy(self, t_us: int) -> bool:
        countdown = self.countdown
        return countdown is not None and t_us >= countdown.start_us

    def _tap(self, cell: int, t_us: int) -> None:
        if self.replay is not None:
            self._tapped_into(self.phase, t_us)
        elif self.phase == "attract":
            self._arrive(t_us)
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
            self._choose(self.menu.hold(cell, t_us, self.offers()), t_us)
        elif self.phase == "play" and self.game is not None:
            meaning = morbak.meaning(self.game.state, cell)
            if isinstance(meaning, morbak.Action) and meaning.kind != "light":
                self._commit(meaning, t_us)

    def _play(self, cell: int, t_us: int) -> None:
        """Do the one action that is possible on a cell, or say why there is none."""
        assert self.game is not None
        meaning = morbak.meaning(self.game.state, cell)
        if isinstance(meaning, morbak.Action):
            self._commit(meaning, t_us)
        else:
            self._refuse(meaning, cell, t_us)

    def _chord(self, name: str, t_us: int) -> None:
        cell = cell_of(name)
        if cell is not None:
            self._play(cell, t_us)
        elif name == "menu":
            self._open_menu(t_us)
        else:
            self.pips_until_us = t_us + self.times.pips_us

    def _armed(self, before: tuple[Chord, int] | None, t_us: int) -> None:
        if before is not None and self.phase == "lobby":
            self._lobby(t_us)
        for chord in (before, self.gesture.armed):
            cell = cell_of(chord[0].name) if chord is not None else None
            if cell is not None and chord is not before:
                self._detour(cell, t_us)
            elif cell is not None:
                self.previews.end(cell, t_us)

    def _detour(self, cell: int, t_us: int) -> None:
        """Two edge cells stand for a masked one: it fills with light, they do not."""
        armed = self.gesture.armed
        if armed is None or self.game is None:
            return
        for edge_cell in self.gesture.down:
            self.previews.end(edge_cell, t_us)
        meaning = morbak.meaning(self.game.state, cell)
        if isinstance(meaning, morbak.Action):
            self.previews.press(cell, t_us, armed[1], self.game.mover)

    def _masked_touch(self, cell: int, t_us: int) -> None:
        if self.phase == "play":
            self._refuse("masked", cell, t_us)

    # -- play ------------------------------------------------------------------------------------------------------

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

    # -- menu and options ------------------------------------------------------------------------------------------

    def offers(self) -> frozenset[Item]:
        """What can be chosen now in the open menu or the open options."""
        if self.menu is not None and self.menu.kind == "options":
            return options.offered(self.match)
        items: set[Item] = {"brightness", "language", "marks", "close"}
        if self.sound:
            items.add("volume")
        if self.coded:
            items.add("operator")
        if self.game is not None and self.game.ending is None:
            items |= {"draw", "resign", "new_game"}
            if self.game.last_chosen is not None:
                items.add("takeback")
        if self._below == "play":
            items |= {"pause", "cursor"} if self.masked else {"pause"}
        elif self.game is not None and self.game.moves:
            items.add("replay")
        return frozenset(items)

    def set_items(self) -> frozenset[Item]:
        """What is set now in the open menu or the open options."""
        if self.menu is not None and self.menu.kind == "options":
            return options.chosen(self.match)
        code = self.menu is not None and self.menu.code
        on: tuple[tuple[Item, bool], ...] = (("marks", self.chosen.marks), ("operator", code))
        return frozenset(item for item, is_on in on if is_on)

    def _open_menu(self, t_us: int) -> None:
        self._below, times = self.phase, self.times.menu
        if self.phase == "lobby":
            self.menu = Menu("options", times._replace(idle_us=self.times.idle_us), t_us)
        else:
            self.menu = Menu("menu", times, t_us)
        self._enter("menu", t_us)

    def _tap_in_menu(self, cell: int, t_us: int) -> None:
        assert self.menu is not None
        if self.menu.asked is None and self.menu.wants_hold(cell):
            self._refuse("hold", cell, t_us)
        else:
            self._choose(self.menu.tap(cell, t_us, self.offers()), t_us)

    def _choose(self, choice: Choice | None, t_us: int) -> None:
        """Carry out what was chosen and, where it was due, agreed to; most of it closes the menu."""
        if choice is None or self.menu is None:
            return
        if choice.item in ("brightness", "language", "marks", "volume"):
            self.chosen = choosing.choose(self.chosen, choice.item, self.brightness_pct)
        elif choice.item == "operator":
            self.menu.code = not self.menu.code
        elif choice.item == "cursor":
            self._point(self.menu, choice, t_us)
        elif choice.item != "close" and self.menu.kind == "options":
            self.match = options.choose(self.match, choice.item)
        else:
            self._leave_menu(choice, t_us)

    def _point(self, menu: Menu, choice: Choice, t_us: int) -> None:
        """A tap moves the cursor through the masked cells, a hold of the mover's plays the one it stands on.

        What the rules refuse leaves the menu open, to choose another.
        """
        cell = menu.cursor
        if not choice.held:
            menu.point(self.masked)
        elif cell is not None and self.game is not None and choice.by == self.game.mover:
            if isinstance(morbak.meaning(self.game.state, cell), morbak.Action):
                self._tapped_into("play", t_us)
            else:
                self._lift_all(t_us)  # lifting the finger steps no further
            self._play(cell, t_us)

    def _leave_menu(self, choice: Choice, t_us: int) -> None:
        game, below = self.game, self._below
        if below == "lobby":
            self._lobby(t_us)
        elif game is None or choice.item == "close":
            self._tapped_into(below, t_us)
        elif choice.item == "resign":
            game.resign(choice.by, t_us)
            self._ended(t_us)
        elif choice.item == "draw":
            game.agree(t_us)
            self._ended(t_us)
        elif choice.item == "new_game":
            self._anew(t_us)
        elif choice.item == "pause":
            game.pause(t_us)
            self._tapped_into("paused", t_us)
        elif choice.item == "replay":
            self._tapped_into(below, t_us)
            self.show(Replay(game, self.number, t_us, self.times.replay_step_us))
        else:
            self._take_back(game, t_us)

    def _take_back(self, game: Game, t_us: int) -> None:
        """Back to where the menu was opened, without the last action."""
        game.take_back(t_us)
        self.last = None
        if self._below == "paused":
            game.pause(t_us)
        self._tapped_into(self._below, t_us)
