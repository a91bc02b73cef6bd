"""Two people at a simulated board in play, and an oracle that knows what each of their touches must come to.

They light and hold, try what is not allowed, lift too early, lean on the board, drum while they wait. Each touch is
planned, what must follow is said beforehand (an action, a refusal, nothing), then compared. The oracle knows the rules
of touch from the design, not from the code under test.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from firmware.games import morbak
from firmware.snapshot import Phase, Side
from firmware.table import Played
from sim.drive import Drive
from sim.fingers import Finger
from sim.hands import MS, SETTLED_US, TIMES, Hands, S, Tally
from sim.read_back import read_back
from sim.reckoning import OTHER, Reckoning

# What the wire adds to an edge's own time: 3 ms of bounce, and a scan that may be 5 ms away when nobody touches.
SEEN_US = 8 * MS
# No touch planned here takes longer; with less time left on a clock the time is left to run out.
LONGEST_US = 2_600 * MS

Expected = tuple[str | None, str | None]  # the action played, the code of the refusal
NOTHING_SEEN: Expected = (None, "")  # nothing played; what was refused before may still stand


class People(Hands):
    """Two people who play on one board, from its power-up on."""

    def __init__(
        self,
        drive: Drive,
        random: Random,
        tally: Tally,
        seen: Callable[[bytes], None],
        *,
        peaceful: bool = False,
        announce: Callable[[Phase], None] = lambda _: None,
    ) -> None:
        """`peaceful` people avoid lines; the rest is as for `Hands`."""
        super().__init__(drive, random, tally, seen, announce)
        self.peaceful = peaceful
        self.clock = Reckoning(drive.table.match.limits, drive.now_us)
        self._acting: Side = "a"  # whose turn it is when a touch begins

    # -- a game --------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """The first turn of a game has begun."""
        self.clock = Reckoning(self.table.match.limits, self.table.phase_us)

    def turn(self) -> None:
        """One touch of whoever feels like it, right or wrong."""
        kind = self._random.choices(
            (self._act, self._forbidden, self._early, self._noise, self._two_cells, self._palm, self._too_quick),
            (60, 8, 8, 6, 7, 4, 7),
        )[0]
        self._acting = self.mover
        limit_us = self.clock.limit_us(self._acting)
        if limit_us is not None and limit_us - self.drive.now_us < LONGEST_US:
            self._drum_until(limit_us)
        else:
            kind()

    def ended(self) -> None:
        """A game is over: count it, and check that its record, read back, tells the same game."""
        game = self.table.game
        assert game is not None and game.ending is not None
        self._report.games += 1
        self._report.plies += len(game.moves)
        self._report.results[game.ending.reason] += 1
        problem = read_back(game)
        if problem is not None:
            self.violated(problem)

    @property
    def mover(self) -> Side:
        """Whose turn it is."""
        return morbak.mover(self.state())

    def _drum_until(self, limit_us: int) -> None:
        """Let the time run out while drumming too shortly to mean anything."""
        t_us = self.drive.now_us
        fingers = []
        while t_us < limit_us - 100 * MS:
            t_us += 100 * MS
            cell = self._random.randrange(49)
            fingers += [Finger(t_us, cell, True), Finger(t_us + 5 * MS, cell, False)]
        self.report_touches(fingers)
        self.drive.fingers(fingers)
        self.run_out(limit_us)

    def run_out(self, limit_us: int) -> None:
        """Let the mover's time run out at `limit_us`; it must be up in that microsecond."""
        game, mover = self.table.game, self.mover
        assert game is not None
        before, lost = len(game.moves), self.clock.loses(mover)
        if lost:
            self.announce("result")
        self.drive.run_until(max(self.drive.now_us, limit_us) + SETTLED_US)
        played = self.played()
        if lost:
            self.expect(bool(game.ending and game.ending.reason == "time"), f"side {mover} ran out of time unnoticed")
            self.expect(len(game.moves) == before, f"lost on time, and yet moved: {played}")
        else:
            on_time = bool(played) and played[0] == Played(limit_us, "--")
            self.expect(on_time, f"turn not passed at {limit_us}: {played}")
        self._turned(mover, limit_us, played[1:])

    # -- touches that mean something -------------------------------------------------------------------------------

    def _act(self) -> None:
        action = self._choose()
        self._foretell(action)
        start_us = self.start_us()
        if action.kind == "light":
            end_us = start_us + self._random.randrange(40, 250) * MS
            window = (end_us, end_us + SEEN_US)
        else:
            end_us = start_us + TIMES.hold_us + self._random.randrange(30, 200) * MS
            window = (start_us + TIMES.hold_us, start_us + TIMES.hold_us + SEEN_US)
        self.press(action.cell, start_us, end_us)
        self._came_to((action.text, None), action.cell, window)

    def _forbidden(self) -> None:
        state = self.state()
        refused = {
            cell: code for cell in range(49) if not isinstance(code := morbak.meaning(state, cell), morbak.Action)
        }
        if not refused:
            return
        cell = self._random.choice(list(refused))
        start_us = self.start_us()
        self.press(cell, start_us, start_us + self._random.randrange(40, 1500) * MS)
        self._came_to((None, str(refused[cell])), cell)

    def _early(self) -> None:
        scarce = [action for action in morbak.legal(self.state()) if action.kind not in ("light", "pass")]
        if not scarce:
            return
        cell = self._random.choice(scarce).cell
        start_us = self.start_us()
        self.press(cell, start_us, start_us + self._random.randrange(40, 780) * MS)
        self._came_to((None, "hold"), cell)

    def _foretell(self, action: morbak.Action) -> None:
        if morbak.outcome(morbak.apply(self.state(), action)) is not None:
            self.announce("result")

    # -- touches that mean nothing -----------------------------------------------------------------------------------

    def _noise(self) -> None:
        start_us, cell = self.start_us(), self._random.randrange(49)
        before = self.table.refusal
        self.press(cell, start_us, start_us + self._random.randrange(1, 10) * MS)
        if self.table.refusal is not before:  # so short a contact may fall between two scans
            self._check_refusal(None, cell)
        self._came_to(NOTHING_SEEN, cell)

    def _two_cells(self) -> None:
        """Two fingers, one perhaps the opponent's, for a while together, lifted in any order."""
        one, other = self._random.sample(range(49), 2)
        start_us = self.start_us()
        second_us = start_us + self._random.randrange(0, 600) * MS
        ends = [second_us + self._random.randrange(30, 1200) * MS for _ in range(2)]
        self.fingers_down([(one, start_us, ends[0]), (other, second_us, ends[1])])
        self._came_to((None, None), one)

    def _palm(self) -> None:
        start_us = self.start_us()
        cells = self._random.sample(range(49), self._random.randrange(4, 9))
        spread = [(cell, start_us + self._random.randrange(0, 20) * MS) for cell in cells]
        self.fingers_down([(cell, down, start_us + self._random.randrange(60, 900) * MS) for cell, down in spread])
        self._came_to((None, None), cells[0])

    def _too_quick(self) -> None:
        """A second tap right after an action, or a finger that rests through the change of turn: dead."""
        actions = [action for action in morbak.legal(self.state()) if action.kind == "light"]
        if len(actions) < 2:
            return
        first, second = self._random.sample(actions, 2)
        self._foretell(first)
        start_us = self.start_us()
        end_us = start_us + 60 * MS
        again_us = end_us + self._random.randrange(12, 230) * MS
        lift_us = again_us + self._random.choice((40, 300, 1200)) * MS
        self.fingers_down([(first.cell, start_us, end_us), (second.cell, again_us, lift_us)])
        self._came_to((first.text, None), first.cell, (end_us, end_us + SEEN_US))

    # -- around a game -------------------------------------------------------------------------------------------------

    def tap_into(self, phase: Phase) -> None:
        """A tap anywhere leads to a phase, and is no move."""
        before = self.table.phase
        self.announce(phase)
        start_us = self.start_us()
        self.press(self._random.randrange(49), start_us, start_us + 60 * MS)
        self.expect(self.table.phase == phase, f"a tap in {before} led to {self.table.phase}, not to {phase}")
        self.expect(self.played() == [], f"the tap that led to {phase} was a move")
        self.free_us = self.table.phase_us + TIMES.turn_guard_us
        if phase == "play":
            self.clock.go(self.table.phase_us)

    def wait_in_lobby(self, lot: bool) -> None:
        """The lobby, just entered, leads to play within 5 s; taps meanwhile do nothing."""
        entered_us = self.drive.now_us
        drum_us = entered_us + (4 * S if lot else 2 * S) - 600 * MS
        while self.drive.now_us < drum_us:
            start_us = self.drive.now_us + self._random.randrange(100, 500) * MS
            self.press(self._random.randrange(49), start_us, start_us + 60 * MS)
            self.expect(self.table.phase == "lobby", f"a tap in the lobby led to {self.table.phase}")
        while self.table.phase == "lobby" and self.drive.now_us < entered_us + 5 * S:
            self.drive.run_for(10 * MS)
        waited_us = self.table.phase_us - entered_us
        self.expect(self.table.phase == "play" and waited_us <= 5 * S, f"{self.table.phase} after {waited_us} us")
        self.expect((self.table.snapshot.lot_us is not None) == lot, "a lot was drawn where none belongs")
        self.played()
        self.begin()

    def wake(self) -> None:
        """A tap in the countdown, which ends it and is no move."""
        start_us = self.start_us()
        self.press(self._random.randrange(49), start_us, start_us + 60 * MS)
        self.expect(self.played() == [], "the tap that woke the board was a move")
        countdown, phase = self.table.countdown, self.table.phase
        self.expect(phase == "play", f"a tap in the countdown led to {phase}")
        awake = countdown is None or countdown.start_us > self.drive.now_us
        self.expect(awake, "a tap in the countdown did not end it")
        self.free_us = self.drive.now_us + TIMES.turn_guard_us

    def rematch(self) -> None:
        """The result is deaf for 3 s, then a tap leads on; the loser starts, or who did not start a draw."""
        game = self.table.game
        assert game is not None and game.ending is not None
        result, starter = game.ending.result, game.starter
        while self.drive.now_us < self.table.phase_us + 3 * S - 400 * MS:
            start_us = self.drive.now_us + self._random.randrange(50, 200) * MS
            self.press(self._random.randrange(49), start_us, start_us + 60 * MS)
        self.expect(self.table.phase == "result", "a tap ended the result while it was deaf")
        self.free_us = self.table.phase_us + 3 * S
        self.tap_into("lobby")
        starter = OTHER[starter if result == "draw" else result]
        self.expect(self.table.game is not None and self.table.game.starter == starter, f"{starter} should start")

    def _choose(self) -> morbak.Action:
        """A legal action: some matches are played to win, some without a line as long as that goes."""
        state = self.state()
        actions = morbak.legal(state)
        lines = [action for action in actions if _wins(state, action)]
        if self.peaceful:
            actions = [action for action in actions if action not in lines] or actions
        elif lines and self._random.random() < 0.7:
            return lines[0]
        lights = [action for action in actions if action.kind == "light"]
        return self._random.choice(lights if lights and self._random.random() < 0.6 else actions)

    # -- the oracle --------------------------------------------------------------------------------------------------

    def _came_to(self, expected: Expected, cell: int, window_us: tuple[int, int] = (0, 0)) -> None:
        """Compare what the last touch came to with what it must come to."""
        text, code = expected
        played = self.played()
        chosen = [move for move in played if move.text != "--"]
        if text is None:
            self.expect(not played, f"nothing was due, and yet {played}")
        elif not chosen:
            self._report.lost_touches += 1
            return
        else:
            first = chosen[0]
            self.expect(chosen == played[:1] and first.text == text, f"{text} was due, came {played}")
            self.expect(window_us[0] <= first.t_us <= window_us[1], f"{text} at {first.t_us}, not in {window_us}")
            self._turned(self._acting, first.t_us, played[1:])
        for problem in morbak.problems(self.state()):
            self.violated(problem)
        if code != "":
            self._check_refusal(code, cell)

    def _check_refusal(self, code: str | None, cell: int) -> None:
        refusal = self.table.refusal
        if code is None:
            self.expect(refusal is None, f"nothing was to be refused, but {refusal}")
        else:
            told = refusal is not None and (refusal.code, refusal.cell) == (code, cell)
            self.expect(told, f"{code} on cell {cell} was due, came {refusal}")

    def _turned(self, mover: Side, t_us: int, forced: list[Played]) -> None:
        """The turn of `mover` was over at `t_us`; forced passes after it take no time."""
        self.clock.turned(mover, t_us, len(forced))
        self.free_us = t_us + TIMES.turn_guard_us

    def state(self) -> morbak.State:
        """The position on the board."""
        assert self.table.game is not None
        return self.table.game.state


def _wins(state: morbak.State, action: morbak.Action) -> bool:
    outcome = morbak.outcome(morbak.apply(state, action))
    return outcome is not None and outcome.reason == "line"
