"""Two people at a table whose board is at the end of a bad cable, and somebody who pulls at it.

What they do is the same in virtual time and at a real port: who derives says how time passes and moves the contacts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from random import Random

from firmware.clock import Limits
from firmware.engine import Engine
from firmware.games import morbak
from firmware.gesture import TouchTimes
from firmware.lights import Lights
from firmware.match import Match
from firmware.phases import PhaseTimes
from firmware.sight import Sight
from firmware.table import Table
from hal.drivers.serial_board import SerialBoard

# Touches and phases as quick as the table takes them.
TOUCH = TouchTimes(hold_us=120_000, turn_guard_us=20_000)
PHASES = PhaseTimes(lobby_us=50_000, lot_us=50_000, result_deaf_us=50_000)
DOWN_US = 60_000
KNOWN_US = 60_000  # until the end of a touch is known, with an error or two in between
SHORTEST = 7  # actions: no game is over before the fourth of the one who began
BACK_US = 20_000_000  # more than any cable needs to be found again, on a busy machine too


class Players(ABC):
    """Those at the board, and the firmware that judges them; `hands_us`: how long they let a light action rest.

    `replugs_us`: from each plug until the contacts were known again.
    """

    lost_clock_us = 1_500_000  # until a loss is noticed, and from the replug on

    table: Table
    engine: Engine
    board: SerialBoard

    def sit(self, board: SerialBoard, seed: int) -> None:
        """At a board that has been opened."""
        self.chance, self.board = Random(f"{seed}/people"), board
        self.table = Table(Match(morbak.STANDARD, Limits()), TOUCH, PHASES, lambda: self.chance.choice(("a", "b")))
        self.engine = Engine(self.table, board, Lights())
        self._sight = Sight()
        self.replugs_us: list[int] = []
        self._heard_us = self._sent_us = self.answered_us = 0
        self.play_for(1_000_000)

    # -- what who derives says ---------------------------------------------------------------------------------------

    @abstractmethod
    def now_us(self) -> int:
        """The host's clock."""

    @abstractmethod
    def pass_time(self, us: int) -> None:
        """Let time pass, for the board too."""

    @abstractmethod
    def press(self, cell: int) -> None:
        """A contact closes."""

    @abstractmethod
    def release(self, cell: int) -> None:
        """It opens."""

    @abstractmethod
    def pull_out(self) -> None:
        """The cable is out."""

    @abstractmethod
    def put_back(self) -> None:
        """It is back in, maybe elsewhere."""

    @abstractmethod
    def restart(self) -> None:
        """The board begins anew, as after the loss of its power."""

    # -- the firmware ------------------------------------------------------------------------------------------------

    @property
    def known_to_us(self) -> int:
        """Up to when the contacts are known."""
        return self.engine._known_us

    def play_for(self, us: int) -> None:
        """Scan, judge and light as the firmware's shells do."""
        end_us = self.now_us() + us
        while (t_us := self.now_us()) < end_us:
            scan = self.board.scan(t_us)
            if (unseen := self._sight.step(scan)) is not None:
                self.engine.lost(unseen)
            self.engine.hear(scan, t_us)
            if any(edge.down for edge in scan.edges):
                self._heard_us = t_us
            if self.engine.frame_due_us <= t_us and self.engine.light(t_us):
                self._sent_us = t_us
            if self._sent_us >= self._heard_us > self.answered_us and self.board._host.frames.settled:
                self.answered_us = t_us  # the board shows a frame that was drawn after the press was heard
            self.pass_time(scan.period_us)

    # -- the people --------------------------------------------------------------------------------------------------

    def touch(self, cell: int, us: int = DOWN_US) -> None:
        """A finger on a cell for so long."""
        self.press(cell)
        self.play_for(us)
        self.release(cell)
        self.play_for(KNOWN_US)

    def start(self) -> None:
        """To play, from wherever the table is."""
        for _ in range(200):
            if self.table.phase == "play":
                return
            if self.table.phase in ("attract", "result", "paused"):
                self.touch(24)
            self.play_for(100_000)
        raise AssertionError(f"the table stays in {self.table.phase}")

    def turn(self) -> str:
        """Somebody plays; returns the action."""
        game = self.table.game
        assert game is not None
        action = self.chance.choice(morbak.legal(game.state))
        wanted = morbak.apply(game.state, action)
        count = len(game.moves)
        self.play_for(30_000)
        self.before_touch()
        self.touch(action.cell, DOWN_US if action.kind == "light" else TOUCH.hold_us + DOWN_US)
        for _ in range(200):
            if len(game.moves) > count:
                break
            self.play_for(10_000)
        assert (count + 1, wanted) == (len(game.moves), game.state)
        return game.moves[-1].text

    def before_touch(self) -> None:  # noqa: B027 - mostly nothing does
        """Something happens just before a finger comes down."""

    def play(self, pulls: int, most: int) -> int:
        """A game to its end, or `most` actions of it, with so many pulls at the cable; returns how many there were."""
        self.start()
        game, made = self.table.game, list[str]()
        assert game is not None
        while game.ending is None and len(made) < most:
            if pulls and (self.chance.random() < 0.2 or len(made) + pulls >= min(most, SHORTEST)):
                self.pull()
                pulls -= 1
            made.append(self.turn())
        assert made == [move.text for move in game.moves]
        assert 0 == pulls
        return len(made)

    def pull(self) -> None:
        """The cable is out for a while, at times under a finger or with the board's power; it changes nothing."""
        game = self.table.game
        assert game is not None
        before, clocks = game.state, game.clocks.stop(self.known_to_us).used_us
        under = self.chance.choice((None, morbak.legal(game.state)[0].cell))
        if under is not None:
            self.press(under)
            self.play_for(self.chance.randrange(1, DOWN_US))
        self.pull_out()
        out_us = self.chance.randrange(20_000, 4_000_000)
        self.play_for(out_us // 2)
        if under is not None:
            self.release(under)
        self.press(40)  # a finger that nobody sees
        self.play_for(30_000)
        self.release(40)
        self.play_for(30_000)
        if self.chance.random() < 0.5:
            self.restart()
        self.play_for(out_us // 2)
        self.put_back()
        plugged_us = self.now_us()
        while self.known_to_us < plugged_us:
            self.play_for(10_000)
            assert self.now_us() - plugged_us < BACK_US
        self.replugs_us.append(self.now_us() - plugged_us)
        self.play_for(100_000)
        assert (before, self.table.phase) == (game.state, "play")
        lost_us = sum(game.clocks.stop(self.known_to_us).used_us) - sum(clocks)
        assert lost_us < self.lost_clock_us, "the clocks ran while the cable was out"
