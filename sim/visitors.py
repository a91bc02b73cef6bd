"""Visitors of a hall: they come, play, use the menu, walk away in the middle of anything, and others go on.

What they do depends on the phase they find. Each thing they do says beforehand what must come of it; what nobody does
is left to the reasons, who know what is due by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from firmware.games import morbak
from firmware.snapshot import Phase
from sim.hall import Hall
from sim.hands import MS, SETTLED_US, S
from sim.reasons import COUNTDOWN_US, PARK_US
from sim.visit import Restarted, Visit

# Thinking stops this long before a limit: what then happens is the people's to plan.
SPARE_US = 4 * S
# Nobody thinks so long that a game without a limit a move would fall asleep.
LONGEST_THOUGHT_US = 200 * S


class Visitors(Visit):
    """Whoever is in the hall, one visit after the other. `in_turn`: called while somebody thinks."""

    def __init__(self, hall: Hall, chance: Random, restarts_us: list[tuple[int, bool]]) -> None:
        """As for a visit."""
        super().__init__(hall, chance, restarts_us)
        self.in_turn: list[Callable[[], None]] = []

    # -- one thing after the other -----------------------------------------------------------------------------------

    def step(self, until_us: int) -> None:
        """Whatever comes next; `until_us`: how long nothing may happen on an empty board, as in a night."""
        self.hall.reasons.forget()
        power = None
        try:
            self.restart_if_due()
            self._go_on(until_us)
        except Restarted as restart:
            power = restart.power
        if power is not None:  # nothing holds the board any more that goes
            self.start_anew(power)

    def _go_on(self, until_us: int) -> None:
        phase = self.hall.table.phase
        if phase == "attract":
            self._attract(until_us)
        elif phase == "play":
            self._play()
        elif phase == "paused":
            self._paused()
        elif phase == "result":
            self._result()
        else:
            self.people.violated(f"visitors find the board in {phase}")
            self.run_for(130 * S)

    # -- attract and lobby -------------------------------------------------------------------------------------------

    def _attract(self, quiet_us: int) -> None:
        """Nobody is there; then somebody comes, and finds the lobby or a parked game."""
        self.present = False
        if quiet_us:
            self.run_for(quiet_us)
            return
        self.run_for(self.now_and_then())
        self.hall.counts["visitors"] += 1
        self.chance.choices((self.lean, self.drum, lambda: None), (10, 6, 84))[0]()
        if self.hall.table.phase != "attract":
            return
        self.present = True
        self.people.peaceful = self.likely(0.2)
        parked = self.hall.table.game is not None
        self.people.tap_into("paused" if parked else "lobby")
        if not parked:
            self.expect_match(self.usual)
            self._lobby()

    def _lobby(self) -> None:
        """The lobby, just entered: perhaps the options, then play, unless they walk away from the options."""
        lot = self.hall.table.game is None
        if self.likely(0.45):
            self.match = self.menu.options(self.match)
            if self.likely(0.1):
                self._options_left()
                return
            self.menu.close("lobby")
            lot = self.hall.table.game is None
        self.expect_match(self.match)
        self.people.wait_in_lobby(lot)
        self.expect_match(self.match)
        self.present = not self.likely(0.06)  # some have touched only to see what happens

    def _options_left(self) -> None:
        self.hall.counts["left_options"] += 1
        self.idle("attract")
        self.people.expect(self.hall.table.game is None, "open options that were left have left a game")
        self.match = self.usual
        self.expect_match(self.usual)

    # -- play --------------------------------------------------------------------------------------------------------

    def _play(self) -> None:
        if not self.present:
            self._walk_away()
            return
        self._check_clocks()
        self.chance.choices(
            (self._move, self._menu_in_play, self._walk_away, self._rest, self.drum), (900, 30, 17, 20, 2)
        )[0]()

    def _move(self) -> None:
        """Think, then touch."""
        self._think(int(self.chance.expovariate(1 / 7) * S))
        if self.hall.table.phase == "play":
            self.people.turn()

    def _think(self, us: int) -> None:
        people, now_us = self.people, self.hall.drive.now_us
        limit_us = people.clock.limit_us(people.mover)
        us = min(us, LONGEST_THOUGHT_US)
        if limit_us is not None:
            us = min(us, limit_us - now_us - SPARE_US)
        if us > 0:
            self.run_for(us // 2)
            for happens in self.in_turn:
                happens()
            self.run_for(us - us // 2)

    def _check_clocks(self) -> None:
        game = self.hall.table.game
        assert game is not None
        now_us = self.hall.drive.now_us
        told, reckoned = game.clocks.stop(now_us).used_us, self.people.clock.used_us(self.people.mover, now_us)
        self.people.expect(told == reckoned, f"the clocks are at {told} us, should be at {reckoned} us")

    def _menu_in_play(self) -> None:
        """The menu, where there is time enough for it."""
        people = self.people
        limit_us = people.clock.limit_us(people.mover)
        if limit_us is not None and limit_us - self.hall.drive.now_us < 50 * S:
            self._move()
            return
        self._use_menu("play")

    def _rest(self) -> None:
        """A hand on the board, where there is time enough for it."""
        limit_us = self.people.clock.limit_us(self.people.mover)
        if limit_us is None or limit_us - self.hall.drive.now_us > 40 * S:
            self.lean()

    def _walk_away(self) -> None:
        """Nobody touches any more; perhaps a bag lies on the board, perhaps somebody comes back in time."""
        self.present = False
        self.hall.counts["left_play"] += 1
        bag = self._put_bag() if self.likely(0.2) else None
        if self.match.limits.move_us is None:
            self._fall_asleep()
        else:
            self._time_out()
        if bag is not None:
            self.people.fingers_up([bag])
        self.people.played()

    def _put_bag(self) -> int | None:
        """Something that lies on a cell where a hold means nothing; it stays there."""
        harmless = [action.cell for action in morbak.legal(self.people.state()) if action.kind == "light"]
        if not harmless:
            return None
        cell = self.chance.choice(harmless)
        self.people.finger_down(cell)
        self.hall.drive.run_for(6 * S)  # after 5 s it counts for nothing
        return cell

    def _fall_asleep(self) -> None:
        """No limit a move: 5 min without a touch park the game, unless somebody wakes the board in the countdown."""
        people = self.people
        asleep_us = max(self.hall.reasons.touched_us, self.hall.table.phase_us) + PARK_US
        limit_us = people.clock.limit_us(people.mover)
        if limit_us is not None and limit_us < asleep_us + S:
            if abs(limit_us - asleep_us) < S:  # too near to be told apart
                self.present = True
                people.turn()
                return
            self.run_until(limit_us - S)
            people.run_out(limit_us)
            return
        if self.likely(0.4):
            wake_us = asleep_us - self.chance.randrange(S, COUNTDOWN_US - S)
            self.run_until(wake_us)
            people.wake()
            self.hall.counts["woken"] += 1
            self.present = self.likely(0.8)
            return
        self.run_until(asleep_us + SETTLED_US)
        people.expect(self.hall.table.phase == "paused", f"untouched for 5 min, and in {self.hall.table.phase}")
        people.clock.stop(self.hall.table.phase_us)

    def _time_out(self) -> None:
        """A limit a move: three time-outs running park the game, unless somebody comes back."""
        people = self.people
        back = self.chance.randrange(1, 3) if self.likely(0.3) else 3
        for _ in range(back):
            limit_us = people.clock.limit_us(people.mover)
            assert limit_us is not None
            self.run_until(limit_us - S // 10)
            people.run_out(limit_us)
            if self.hall.table.phase != "play":
                break
        if self.hall.table.phase == "paused":
            people.clock.stop(self.hall.table.phase_us)
        self.present = back < 3

    # -- paused and result -------------------------------------------------------------------------------------------

    def _paused(self) -> None:
        """A parked game, or one that was interrupted."""
        if not self.present and self.likely(0.15):
            self.present = True  # somebody else comes before the board invites
        if not self.present:
            self.idle("attract")
            return
        self.run_for(self.chance.randrange(300 * MS, 20 * S))
        self.chance.choices((self._resume, self._new_game, self._menu_in_pause, self._go), (60, 12, 14, 14))[0]()

    def _resume(self) -> None:
        self.people.peaceful = self.likely(0.2)
        self.people.tap_into("play")

    def _go(self) -> None:
        self.present = False
        self.hall.counts["left_paused"] += 1

    def _new_game(self) -> None:
        """Both sides agree to begin anew; the parked game goes into the records as it stands."""
        strangers = self.hall.reasons.strangers
        if self.menu.new_game():
            self.match = self.usual if strangers else self.match
            self.hall.counts["new_games"] += 1
            self._lobby()

    def _menu_in_pause(self) -> None:
        self._use_menu("paused")

    def _result(self) -> None:
        game = self.hall.table.game
        assert game is not None and game.ending is not None
        if self.counted != self.hall.table.number:
            self.counted = self.hall.table.number
            self.match = self.match.ended(game.ending.result)
            self.expect_match(self.match)
            self.people.ended()
        if not self.present:
            self._leave_result()
            return
        self.chance.choices((self._rematch, self._leave_result, lambda: self._use_menu("result")), (45, 45, 10))[0]()

    def _rematch(self) -> None:
        self.run_for(self.chance.randrange(S, 20 * S))
        self.match = self.match.following()
        self.people.rematch()
        self._lobby()

    def _leave_result(self) -> None:
        self.hall.counts["left_result"] += 1
        self.idle("attract")
        self.match = self.usual
        self.expect_match(self.usual)

    # -- menus -------------------------------------------------------------------------------------------------------

    def _use_menu(self, below: Phase) -> None:
        """Something in the menu; or they open it and walk away."""
        if self.likely(0.15):
            self.menu.open()
            self.hall.counts["left_menu"] += 1
            self.run_for(30 * S + 100 * MS)
            self.people.expect(self.hall.table.phase == below, f"a menu left alone led to {self.hall.table.phase}")
            self.present = False
            return
        if self.menu.use(below) == "lobby":
            self.hall.counts["new_games"] += 1
            self._lobby()
