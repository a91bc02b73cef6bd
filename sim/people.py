"""Two people at a simulated board, and an oracle that knows what each of their touches must come to.

They light and hold, try what is not allowed, lift too early, lean on the board, drum while they wait. Each touch is
planned, what must follow is said beforehand (an action, a refusal, nothing), then compared. The oracle knows the rules
of touch from the design, not from the code under test.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Protocol

from firmware import record
from firmware.games import morbak
from firmware.gesture import TouchTimes
from firmware.table import Played
from sim.drive import Drive
from sim.fingers import Finger
from sim.watch import Watch

MS = 1_000
S = 1_000_000
TIMES = TouchTimes()
# What the wire adds to an edge's own time: 3 ms of bounce, and a scan that may be 5 ms away when nobody touches.
SEEN_US = 8 * MS
# All that a touch can come to is decided this long after its last edge: release debounce, bounce, one scan.
SETTLED_US = 30 * MS
# No touch planned here takes longer; with less time left on a clock the time is left to run out.
LONGEST_US = 2_600 * MS
MOST_MOVES = 150

Expected = tuple[str | None, str | None]  # the action played, the code of the refusal
NOTHING_SEEN: Expected = (None, "")  # nothing played; what was refused before may still stand


class Tally(Protocol):
    """Where a match counts what it finds."""

    games: int
    plies: int
    touches: int
    lost_touches: int
    virtual_us: int
    violations: list[str]
    results: Counter[str]


class Match:
    """Several games in a row on one board, from power-up to the last result."""

    def __init__(
        self, drive: Drive, random: Random, tally: Tally, seen: Callable[[bytes], None], *, peaceful: bool
    ) -> None:
        """`seen` gets every action and every latched frame as bytes; `peaceful` people avoid lines."""
        self._drive, self._random, self._report, self._seen = drive, random, tally, seen
        self._table, self._peaceful = drive.table, peaceful
        self._rules, self._limits = drive.table.match.rules, drive.table.match.limits
        self._free_us = 0  # before this time a press is dead
        self._turn_us = 0  # when the turn under way began
        self._used_us = {"a": 0, "b": 0}
        self._mover: str = "a"
        self._watch = Watch(drive, self._violated, seen)

    def play(self, games: int) -> None:
        """Play until `games` results are in."""
        self._drive.run_for(100 * MS)
        self._lobby(lot=True)
        for game in range(games):
            if game:
                self._rematch()
            self._game()
        self._finish()

    # -- a game --------------------------------------------------------------------------------------------------

    def _game(self) -> None:
        game = self._table.game
        if game is None:
            self._violated("no game is on")
            return
        self._turn_us, self._used_us = self._table.phase_us, {"a": 0, "b": 0}
        while game.ending is None and len(game.moves) < MOST_MOVES:
            touch = {"play": self._turn, "paused": self._resume}[self._table.phase]
            touch()
        if game.ending is None:
            self._violated(f"a game of {len(game.moves)} moves has not ended")
            return
        self._report.games += 1
        self._report.plies += len(game.moves)
        self._report.results[game.ending.reason] += 1
        self._check_record()

    def _turn(self) -> None:
        """One touch of whoever feels like it, right or wrong."""
        kind = self._random.choices(
            (self._act, self._forbidden, self._early, self._noise, self._two_cells, self._palm, self._too_quick),
            (60, 8, 8, 6, 7, 4, 7),
        )[0]
        self._mover = morbak.mover(self._state())
        limit_us = self._limit_us()
        if limit_us is not None and limit_us - self._drive.now_us < LONGEST_US:
            self._drum_until(limit_us)
        else:
            kind()

    def _limit_us(self) -> int | None:
        """When the mover's time is up, reckoned here from the accepted actions alone."""
        left = [self._limits.move_us]
        if self._limits.total_us is not None:
            left.append(self._limits.total_us - self._used_us[self._mover])
        return min((self._turn_us + us for us in left if us is not None), default=None)

    def _drum_until(self, limit_us: int) -> None:
        """Let the time run out while drumming too shortly to mean anything; it must be up in that microsecond."""
        game = self._table.game
        assert game is not None
        before, t_us = len(game.moves), self._drive.now_us
        fingers = []
        while t_us < limit_us - 100 * MS:
            t_us += 100 * MS
            cell = self._random.randrange(49)
            fingers += [Finger(t_us, cell, True), Finger(t_us + 5 * MS, cell, False)]
        self._touch(fingers, max(t_us, limit_us) + SETTLED_US)
        total_us = self._limits.total_us
        lost = total_us is not None and limit_us - self._turn_us + self._used_us[self._mover] >= total_us
        played = self._played()
        if lost:
            self._expect(
                bool(game.ending and game.ending.reason == "time"), f"side {self._mover} ran out of time unnoticed"
            )
            self._expect(len(game.moves) == before, f"lost on time, and yet moved: {played}")
        else:
            on_time = bool(played) and played[0] == Played(limit_us, "--")
            self._expect(on_time, f"turn not passed at {limit_us}: {played}")
        self._turned(limit_us)

    # -- touches that mean something -------------------------------------------------------------------------------

    def _act(self) -> None:
        action = self._choose()
        start_us = self._start_us()
        if action.kind == "light":
            end_us = start_us + self._random.randrange(40, 250) * MS
            window = (end_us, end_us + SEEN_US)
        else:
            end_us = start_us + TIMES.hold_us + self._random.randrange(30, 200) * MS
            window = (start_us + TIMES.hold_us, start_us + TIMES.hold_us + SEEN_US)
        self._press(action.cell, start_us, end_us)
        self._came_to((action.text, None), action.cell, window)

    def _forbidden(self) -> None:
        state = self._state()
        refused = {
            cell: code for cell in range(49) if not isinstance(code := morbak.meaning(state, cell), morbak.Action)
        }
        if not refused:
            return
        cell = self._random.choice(list(refused))
        start_us = self._start_us()
        self._press(cell, start_us, start_us + self._random.randrange(40, 1500) * MS)
        self._came_to((None, str(refused[cell])), cell)

    def _early(self) -> None:
        scarce = [action for action in morbak.legal(self._state()) if action.kind not in ("light", "pass")]
        if not scarce:
            return
        cell = self._random.choice(scarce).cell
        start_us = self._start_us()
        self._press(cell, start_us, start_us + self._random.randrange(40, 780) * MS)
        self._came_to((None, "hold"), cell)

    # -- touches that mean nothing -----------------------------------------------------------------------------------

    def _noise(self) -> None:
        start_us, cell = self._start_us(), self._random.randrange(49)
        before = self._table.refusal
        self._press(cell, start_us, start_us + self._random.randrange(1, 10) * MS)
        if self._table.refusal is not before:  # so short a contact may fall between two scans
            self._check_refusal(None, cell)
        self._came_to(NOTHING_SEEN, cell)

    def _two_cells(self) -> None:
        """Two fingers, one perhaps the opponent's, for a while together, lifted in any order."""
        one, other = self._random.sample(range(49), 2)
        start_us = self._start_us()
        second_us = start_us + self._random.randrange(0, 600) * MS
        ends = [second_us + self._random.randrange(30, 1200) * MS for _ in range(2)]
        self._fingers_down([(one, start_us, ends[0]), (other, second_us, ends[1])])
        self._came_to((None, None), one)

    def _palm(self) -> None:
        start_us = self._start_us()
        cells = self._random.sample(range(49), self._random.randrange(4, 9))
        spread = [(cell, start_us + self._random.randrange(0, 20) * MS) for cell in cells]
        self._fingers_down([(cell, down, start_us + self._random.randrange(60, 900) * MS) for cell, down in spread])
        self._came_to((None, None), cells[0])

    def _too_quick(self) -> None:
        """A second tap right after an action, or a finger that rests through the change of turn: dead."""
        actions = [action for action in morbak.legal(self._state()) if action.kind == "light"]
        if len(actions) < 2:
            return
        first, second = self._random.sample(actions, 2)
        start_us = self._start_us()
        end_us = start_us + 60 * MS
        again_us = end_us + self._random.randrange(12, 230) * MS
        lift_us = again_us + self._random.choice((40, 300, 1200)) * MS
        self._fingers_down([(first.cell, start_us, end_us), (second.cell, again_us, lift_us)])
        self._came_to((first.text, None), first.cell, (end_us, end_us + SEEN_US))

    # -- around a game -------------------------------------------------------------------------------------------------

    def _lobby(self, lot: bool) -> None:
        """A tap leads to the lobby, and within 5 s to play; taps meanwhile do nothing."""
        start_us = self._start_us()
        self._press(self._random.randrange(49), start_us, start_us + 60 * MS)
        tapped_us = self._drive.now_us
        self._expect(self._table.phase == "lobby", f"a tap led to {self._table.phase}, not to the lobby")
        drum_us = tapped_us + (4 * S if lot else 2 * S) - 600 * MS
        while self._drive.now_us < drum_us:
            start_us = self._drive.now_us + self._random.randrange(100, 500) * MS
            self._press(self._random.randrange(49), start_us, start_us + 60 * MS)
            self._expect(self._table.phase == "lobby", f"a tap in the lobby led to {self._table.phase}")
        while self._table.phase == "lobby" and self._drive.now_us < tapped_us + 5 * S:
            self._drive.run_for(10 * MS)
        waited_us = self._table.phase_us - tapped_us
        self._expect(self._table.phase == "play" and waited_us <= 5 * S, f"{self._table.phase} after {waited_us} us")
        self._expect((self._table.snapshot.lot_us is not None) == lot, "a lot was drawn where none belongs")
        self._played()

    def _rematch(self) -> None:
        """The result is deaf for 3 s, then a tap leads on; the loser starts, or who did not start a draw."""
        game = self._table.game
        assert game is not None and game.ending is not None
        result = game.ending.result
        while self._drive.now_us < self._table.phase_us + 3 * S - 400 * MS:
            start_us = self._drive.now_us + self._random.randrange(50, 200) * MS
            self._press(self._random.randrange(49), start_us, start_us + 60 * MS)
        self._expect(self._table.phase == "result", "a tap ended the result while it was deaf")
        self._free_us = self._table.phase_us + 3 * S
        self._lobby(lot=False)
        opponent = {"a": "b", "b": "a"}
        starter = opponent[game.starter if result == "draw" else result]
        self._expect(self._table.game is not None and self._table.game.starter == starter, f"{starter} should start")

    def _resume(self) -> None:
        """Three time-outs running have parked the game: a tap goes on with it, and is no move."""
        start_us = self._start_us()
        self._press(self._random.randrange(49), start_us, start_us + 60 * MS)
        self._expect(self._table.phase == "play", f"a tap on a paused game led to {self._table.phase}")
        self._expect(self._played() == [], "the tap that resumed a game was a move")
        self._turn_us, self._free_us = self._table.phase_us, self._table.phase_us + TIMES.turn_guard_us

    # -- fingers -----------------------------------------------------------------------------------------------------

    def _start_us(self) -> int:
        """A time for the next press: not before a press is alive."""
        return max(self._drive.now_us, self._free_us) + self._random.randrange(15, 120) * MS

    def _press(self, cell: int, down_us: int, up_us: int) -> None:
        self._fingers_down([(cell, down_us, up_us)])

    def _fingers_down(self, touches: list[tuple[int, int, int]]) -> None:
        moves = [Finger(down_us, cell, True) for cell, down_us, _ in touches]
        moves += [Finger(up_us, cell, False) for cell, _, up_us in touches]
        self._touch(sorted(moves), max(up_us for _, _, up_us in touches) + SETTLED_US)

    def _touch(self, moves: list[Finger], end_us: int) -> None:
        self._report.touches += sum(move.down for move in moves)
        self._drive.fingers(moves)
        self._drive.run_until(end_us)

    def _choose(self) -> morbak.Action:
        """A legal action: some matches are played to win, some without a line as long as that goes."""
        state = self._state()
        actions = morbak.legal(state)
        lines = [action for action in actions if _wins(state, action)]
        if self._peaceful:
            actions = [action for action in actions if action not in lines] or actions
        elif lines and self._random.random() < 0.7:
            return lines[0]
        lights = [action for action in actions if action.kind == "light"]
        return self._random.choice(lights if lights and self._random.random() < 0.6 else actions)

    # -- the oracle --------------------------------------------------------------------------------------------------

    def _came_to(self, expected: Expected, cell: int, window_us: tuple[int, int] = (0, 0)) -> None:
        """Compare what the last touch came to with what it must come to."""
        text, code = expected
        played = self._played()
        chosen = [move for move in played if move.text != "--"]
        if text is None:
            self._expect(not played, f"nothing was due, and yet {played}")
        elif not chosen:
            self._report.lost_touches += 1
            return
        else:
            first = chosen[0]
            self._expect(chosen == played[:1] and first.text == text, f"{text} was due, came {played}")
            self._expect(window_us[0] <= first.t_us <= window_us[1], f"{text} at {first.t_us}, not in {window_us}")
            self._turned(first.t_us)
        for problem in morbak.problems(self._state()):
            self._violated(problem)
        if code != "":
            self._check_refusal(code, cell)

    def _check_refusal(self, code: str | None, cell: int) -> None:
        refusal = self._table.refusal
        if code is None:
            self._expect(refusal is None, f"nothing was to be refused, but {refusal}")
        else:
            told = refusal is not None and (refusal.code, refusal.cell) == (code, cell)
            self._expect(told, f"{code} on cell {cell} was due, came {refusal}")

    def _turned(self, t_us: int) -> None:
        """The mover's turn was over at `t_us`; a forced pass after it takes no time."""
        self._used_us[self._mover] += t_us - self._turn_us
        self._turn_us, self._free_us = t_us, t_us + TIMES.turn_guard_us

    def _played(self) -> list[Played]:
        played = self._table.take_played()
        for move in played:
            self._seen(f"{move.t_us} {move.text}\n".encode())
        return played

    def _state(self) -> morbak.State:
        assert self._table.game is not None
        return self._table.game.state

    # -- what must hold always -----------------------------------------------------------------------------------------

    def _check_record(self) -> None:
        """The record of the game, read back, tells the same game."""
        game = self._table.game
        assert game is not None and game.ending is not None
        line = sorted(morbak.cell_name(cell) for cell in game.ending.line) or None
        told = {
            "v": 1,
            "rules": self._rules._asdict(),
            "starter": game.starter,
            "moves": [move.text for move in game.moves],
            "result": game.ending.result,
            "reason": game.ending.reason,
            "line": line,
            "final": morbak.format_position(game.state),
            "timeouts": game.timeouts,
        }
        for _, read in record.replay([json.dumps(told)]):
            if isinstance(read, record.RecordError):
                self._violated(f"the record does not read back: {read}")

    def _finish(self) -> None:
        self._watch.finish()
        self._report.virtual_us += self._drive.now_us

    def _expect(self, holds: bool, otherwise: str) -> None:
        if not holds:
            self._violated(otherwise)

    def _violated(self, text: str) -> None:
        self._report.violations.append(f"at {self._drive.now_us / S:.3f} s: {text}")


def _wins(state: morbak.State, action: morbak.Action) -> bool:
    outcome = morbak.outcome(morbak.apply(state, action))
    return outcome is not None and outcome.reason == "line"
