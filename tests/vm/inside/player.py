"""Runs inside the virtual Pi: takes up the game on the card, then two people play until the plug is pulled.

It is the whole board in virtual time: contacts, scan, table, keeper, lights, strip, and the journal with its own
thread on the real card. While something is on its way to the card virtual time runs no faster than the real one, so
that the board waits for its disk as it does in life. Told outside, and seen by nobody before:

    FOUND what          what the restart has set up
    MEANT what          what the finger about to be lifted, or the hold about to be complete, will lead to
    SHOWN what          a frame in which it stands has latched
    CLOCK a b           what both sides have used, in us, before the next tenth of a second of virtual time
    UNUSUAL sentence    what the journal had to say at the start

`--look`: only say what was found. `--careless`: the negative control, the same with SQLite told to flush nothing.
"""

from __future__ import annotations

import argparse
import functools
import random
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import vpi

from firmware.engine import Engine, Surroundings
from firmware.game import Game
from firmware.game_record import game_from, match_from
from firmware.games import morbak
from firmware.gesture import TouchTimes
from firmware.journal import Found, Journal
from firmware.lights import Lights
from firmware.record import format_record, parse_record
from firmware.save import Save
from firmware.state_directory import StateDirectory
from sim.drive import Drive
from sim.fingers import TAP_US, hold

MS = 1_000
S = 1_000_000
STEP_US = 100 * MS  # as much virtual time passes between two looks at the real one
SAVED_S = 20.0  # the host is busy and the guest slow; a save that takes longer never comes
THINK_US = 9 * S  # at most; a running clock is saved in between
TIMES = TouchTimes()
WALL = ("2026-01-01T00:00:00", False)


class Careless(sqlite3.Connection):
    """A connection that never flushes."""

    def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
        """As asked, but for the flushing."""
        return super().execute(sql.replace("synchronous=FULL", "synchronous=OFF"), *given)


class Card:
    """The journal, and what is still on its way to it."""

    def __init__(self) -> None:
        self._told = threading.Event()
        self._newest: Save | None = None
        directory = StateDirectory.open(Path("/data/state"))
        self.journal, self.found = Journal.open(directory, lambda: WALL, lambda _: self._told.set())

    @property
    def saved(self) -> int:
        """As the journal says."""
        return self.journal.saved

    @property
    def fault(self) -> str | None:
        """As the journal says."""
        return self.journal.fault

    def put(self, save: Save, finished: bool) -> int:
        """As the journal does."""
        self._newest = save
        return self.journal.put(save, finished)

    def heartbeat(self, save: Save) -> None:
        """As the journal does."""
        self._newest = save
        self.journal.heartbeat(save)

    @property
    def behind(self) -> bool:
        """Whether the last save is not on the card yet."""
        store = self.journal._store
        return self._newest is not None and (store is None or store.newest is None or store.newest.save != self._newest)

    def wait(self, us: int) -> bool:
        """Wait until a ticket is told, for `us` of real time at most; whether one was."""
        told = self._told.wait(us / S)
        self._told.clear()
        return told


class Board:
    """A board, two people at it, and who watches."""

    def __init__(self, chance: random.Random) -> None:
        self._chance, self.card = chance, Card()
        self._drive = Drive(seed=chance.getrandbits(32))
        self.table = self._drive.table
        self.table.number = self.card.found.games
        if (save := self.card.found.save) is not None:
            self.table.resume(game_from(save), match_from(save), save.game, 0)
        self._engine = self._drive.engine = Engine(self.table, self._drive.board, Lights(), Surroundings(self.card))
        self._shown = self._drawn = shown(self.table.game, self.table.number)
        self._behind_s = 0.0
        self._light = self._engine.light
        self._engine.light = self._draw  # type: ignore[method-assign]
        self._drive.board.strip.on_latch.append(lambda *_: self._latch())

    def play(self) -> None:
        """Game after game."""
        while True:
            if self.table.phase != "play":
                self._to_play()
            else:
                self._turn()

    def _to_play(self) -> None:
        if self.table.phase in ("attract", "paused", "result"):
            self._drive.fingers(hold("d4", self._drive.now_us, TAP_US))
        self._run(500 * MS)

    def _turn(self) -> None:
        game = self.table.game
        assert game is not None
        self._run(300 * MS + self._chance.choice((0, 0, self._chance.randrange(THINK_US))))
        if self.table.phase != "play":
            return
        action = self._chance.choice(morbak.legal(game.state))
        act_us = TAP_US if action.kind == "light" else TIMES.hold_us
        self._drive.fingers(
            hold(action.cell, self._drive.now_us, act_us if action.kind == "light" else act_us + TAP_US)
        )
        self._run(act_us - 10 * MS)
        vpi.tell(f"MEANT {meant(game, action, self.table.number)}")
        self._run(2 * TAP_US)

    def _run(self, us: int) -> None:
        """Let virtual time pass; while the card is behind, no more of it than real time."""
        end_us = self._drive.now_us + us
        while self._drive.now_us < end_us:
            self._clock()
            step_us = min(5 * MS if self.card.behind else STEP_US, end_us - self._drive.now_us)
            began_s = time.monotonic()
            self._drive.run_for(step_us)
            self._keep_pace(step_us, began_s)

    def _keep_pace(self, step_us: int, began_s: float) -> None:
        self._behind_s = self._behind_s + time.monotonic() - began_s if self.card.behind else 0.0
        assert self._behind_s < SAVED_S, self.card.fault
        if self.card.behind:
            left_us = step_us - round(S * (time.monotonic() - began_s))
            if self.card.wait(max(0, left_us)):
                self._engine.saved(self._drive.now_us)

    def _clock(self) -> None:
        game = self.table.game
        if game is not None:
            a, b = game.clocks.stop(self._drive.now_us).used_us
            vpi.tell(f"CLOCK {a} {b}")

    def _draw(self, t_us: int) -> bool:
        drawn = shown(self.table.game, self.table.number)
        sent = self._light(t_us)
        if sent:
            self._drawn = drawn
        return sent

    def _latch(self) -> None:
        if self._drawn != self._shown:
            self._shown = self._drawn
            vpi.tell(f"SHOWN {self._shown}")


def shown(game: Game | None, number: int) -> str:
    """What somebody who looks at the board can tell of a game, and every move of it."""
    if game is None:
        return f"{number} nothing"
    ending = game.ending.result if game.ending else None
    moves = " ".join(move.text for move in game.moves)
    return f"{number} {morbak.format_position(game.state)} {ending} {moves}"


def meant(game: Game, action: morbak.Action, number: int) -> str:
    """What somebody would see after an action."""
    after = Game(game.rules, game.clocks.limits, game.starter)
    after.moves, after.timeouts = list(game.moves), list(game.timeouts)
    after.set_up()
    after.play(action, 0)
    return shown(after, number)


def found_lines(found: Found) -> list[str]:
    """What the restart found; a record that does not agree with its own moves raises RecordError."""
    if found.newest is None:
        return ["FOUND 0 nothing"]
    save = found.newest
    assert save.record == parse_record(format_record(save.record))
    return [f"FOUND {shown(game_from(save), save.game)}", f"CLOCK {save.used_us[0]} {save.used_us[1]}"]


def main() -> None:
    """Start, say what was found, play."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default="0")
    parser.add_argument("--look", action="store_true")
    parser.add_argument("--careless", action="store_true")
    given = parser.parse_args()
    if given.careless:
        sqlite3.connect = functools.partial(sqlite3.connect, factory=Careless)  # type: ignore[assignment]
    board = Board(random.Random(given.seed))
    for sentence in board.card.found.sentences:
        vpi.tell(f"UNUSUAL {sentence}")
    for line in found_lines(board.card.found):
        vpi.tell(line)
    if not given.look:
        board.play()


if __name__ == "__main__":
    main()
