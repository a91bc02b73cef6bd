"""Runs inside the virtual Pi: goes on with the game on the card, then plays until the plug is pulled.

It keeps the board's promise: an action is shown, then saved, and the next one waits until it is on the disk. `--look`:
only say what was found. `--careless`: the negative control, the same with SQLite told to flush nothing.
"""

from __future__ import annotations

import argparse
import functools
import json
import random
import sqlite3
import threading
from pathlib import Path
from typing import Any

import vpi

from firmware.games import morbak
from firmware.journal import Found, Journal
from firmware.record import Record, parse_record
from firmware.save import MatchSave, Save
from firmware.state_directory import StateDirectory

SAVED_S = 20.0  # the host is busy and the guest slow; a save that takes longer never comes
HEARTBEATS = 0.3  # so often a running clock is saved between two actions
WALL = ("2026-01-01T00:00:00", False)


class Careless(sqlite3.Connection):
    """A connection that never flushes."""

    def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
        """As asked, but for the flushing."""
        return super().execute(sql.replace("synchronous=FULL", "synchronous=OFF"), *given)


class Player:
    """Both players of game after game, and the disk behind them."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._on_disk = threading.Event()
        self._journal, self.found = Journal.open(
            StateDirectory.open(Path("/data/state")), lambda: WALL, lambda _: self._on_disk.set()
        )

    def play(self) -> None:
        """Show, save, wait; game after game."""
        game, record = self.found.games, self.found.save.record if self.found.save else None
        while True:
            if record is None or record.result is not None:
                game, record = game + 1, _record(self._chance.choice("ab"), ())
            action = self._chance.choice(morbak.legal(morbak.parse_position(record.final)))
            record = _record(record.starter, (*record.moves, action.text))
            vpi.tell(shown("SHOWN", game, record))
            self._save(Save(game=game, record=record, match=MatchSave(None, None), running=True))

    def _save(self, save: Save) -> None:
        finished = save.record.result is not None
        self._on_disk.clear()
        ticket = self._journal.put(save, finished)
        while self._journal.saved < ticket:
            assert self._on_disk.wait(SAVED_S), f"not saved after {SAVED_S:g} s: {self._journal.fault}"
            self._on_disk.clear()
        if not finished and self._chance.random() < HEARTBEATS:
            self._journal.heartbeat(save)


def _record(starter: str, moves: tuple[str, ...]) -> Record:
    return parse_record(json.dumps({"v": 1, "rules": "standard", "starter": starter, "moves": moves}))


def shown(word: str, game: int, record: Record | None) -> str:
    """What somebody who looks at the board can tell of a game, and every move of it."""
    if record is None:
        return f"{word} {game} nothing"
    return f"{word} {game} {record.final} {record.result} {' '.join(record.moves)}"


def found_line(found: Found) -> str:
    """What the restart found; a record that does not agree with its own moves raises RecordError."""
    record = found.newest.record if found.newest else None
    if record is not None:
        assert record == _record(record.starter, record.moves), record
    return shown("FOUND", found.newest.game if found.newest else 0, record)


def main() -> None:
    """UNUSUAL sentence (for each), FOUND and SHOWN: game, position, result, moves."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default="0")
    parser.add_argument("--look", action="store_true")
    parser.add_argument("--careless", action="store_true")
    given = parser.parse_args()
    if given.careless:
        sqlite3.connect = functools.partial(sqlite3.connect, factory=Careless)  # type: ignore[assignment]
    player = Player(random.Random(given.seed))
    for sentence in player.found.sentences:
        vpi.tell(f"UNUSUAL {sentence}")
    vpi.tell(found_line(player.found))
    if not given.look:
        player.play()


if __name__ == "__main__":
    main()
