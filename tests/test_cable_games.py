"""Whole games over a bad cable in virtual time: no action is wrong, lost or doubled, whatever the cable does."""

from __future__ import annotations

from random import Random

import pytest

from firmware.clock import Limits
from firmware.engine import Engine
from firmware.games import morbak
from firmware.gesture import TouchTimes
from firmware.lights import Lights
from firmware.match import Match
from firmware.phases import PhaseTimes
from firmware.sight import Sight
from firmware.table import Table
from sim.cable import CableFaults
from tests.serial_rig import World

# Touches and phases as quick as the table takes them.
TOUCH = TouchTimes(hold_us=120_000, turn_guard_us=20_000)
PHASES = PhaseTimes(lobby_us=50_000, lot_us=50_000, result_deaf_us=50_000)
NOISY = CableFaults(byte_error_rate=0.001)
DOWN_US = 60_000
KNOWN_US = 60_000  # until the end of a touch is known, with an error or two in between


class CabledTable(World):
    """A table whose board is at the end of a bad cable, two people at it, and somebody who pulls at the cable."""

    def __init__(self, seed: int) -> None:
        super().__init__(NOISY, seed)
        self.chance = Random(f"{seed}/people")
        board = self.open()
        self.table = Table(Match(morbak.STANDARD, Limits()), TOUCH, PHASES, lambda: self.chance.choice(("a", "b")))
        self.engine = Engine(self.table, board, Lights())
        self._sight = Sight()
        self.recoveries_us: list[int] = []
        self.play_for(1_000_000)

    def play_for(self, us: int) -> None:
        """Scan, judge and light as the firmware's shells do."""
        assert self.board is not None
        end_us = self.clock.now_us() + us
        while (t_us := self.clock.now_us()) < end_us:
            scan = self.board.scan(t_us)
            if (unseen := self._sight.step(scan)) is not None:
                self.engine.lost(unseen)
            self.engine.hear(scan, t_us)
            if self.engine.frame_due_us <= t_us:
                self.engine.light(t_us)
            self.step(scan.period_us)

    def touch(self, cell: int, us: int = DOWN_US) -> None:
        """A finger on a cell for so long."""
        self.press(cell)
        self.play_for(us)
        self.release(cell)
        self.play_for(KNOWN_US)

    def press(self, cell: int) -> None:
        self.device.board.contacts.press(cell, self.board_clock.now_us())

    def release(self, cell: int) -> None:
        self.device.board.contacts.release(cell, self.board_clock.now_us())

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
        self.touch(action.cell, DOWN_US if action.kind == "light" else TOUCH.hold_us + DOWN_US)
        for _ in range(20):
            if len(game.moves) > count:
                break
            self.play_for(10_000)
        assert (count + 1, wanted) == (len(game.moves), game.state)
        return game.moves[-1].text

    def pull(self) -> None:
        """The cable is out for a while, at times under a finger or with the board's power; it changes nothing."""
        game = self.table.game
        assert game is not None
        before, clocks = game.state, game.clocks.stop(self.known_to_us).used_us
        under = self.chance.choice((None, morbak.legal(game.state)[0].cell))
        if under is not None:
            self.press(under)
            self.play_for(self.chance.randrange(1, DOWN_US))
        self.unplug()
        out_us = self.chance.randrange(20_000, 4_000_000)
        self.play_for(out_us // 2)
        if under is not None:
            self.release(under)
        self.touch_unseen()
        if self.chance.random() < 0.5:
            self.device.restart()
        self.play_for(out_us // 2)
        self.plug(self.chance.choice(("/dev/ttyACM0", "/dev/ttyACM1")))
        plugged_us = self.clock.now_us()
        while self.known_to_us < plugged_us:
            self.play_for(10_000)
            assert self.clock.now_us() - plugged_us < 5_000_000
        self.recoveries_us.append(self.clock.now_us() - plugged_us)
        self.play_for(100_000)
        assert (before, self.table.phase) == (game.state, "play")
        lost_us = sum(game.clocks.stop(self.known_to_us).used_us) - sum(clocks)
        assert lost_us < 1_500_000, "the clocks ran while the cable was out"

    def touch_unseen(self) -> None:
        """A finger while the cable is out."""
        self.press(40)
        self.play_for(30_000)
        self.release(40)
        self.play_for(30_000)

    @property
    def known_to_us(self) -> int:
        """Up to when the contacts are known."""
        return self.engine._known_us


@pytest.mark.long
def test_games_over_a_bad_cable_have_the_moves_that_were_made(
    seed: int, prove: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """One byte in a thousand is wrong, the cable is pulled out again and again: each action counts once and as it was
    meant, unseen fingers do nothing, clocks stand, and after a replug the board is back within three seconds."""
    games, pulls = (200, 50) if prove else (2, 6)
    plies, recoveries_us = 0, []
    for number in range(games):
        table = CabledTable(seed + number)
        table.start()
        game, made = table.table.game, []
        assert game is not None
        pulled = 0
        while game.ending is None and len(made) < 150:
            if pulled < -(-pulls // games) and table.chance.random() < 0.2:
                table.pull()
                pulled += 1
            made.append(table.turn())
        assert made == [move.text for move in game.moves]
        plies += len(made)
        recoveries_us += table.recoveries_us
    worst_us = sorted(recoveries_us)[-1 - len(recoveries_us) // 100]
    assert worst_us < 3_000_000
    with capsys.disabled():
        print(f"\n{games} games, {plies} plies, {len(recoveries_us)} replugs: back in {worst_us / 1e6:.1f} s at p99")
