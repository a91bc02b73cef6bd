"""What is worth a line in the log: games that begin and end, parts that fail and are well again, quiet hours.

Compares what is with what was, at every change; so nothing on the way of a touch has to know of logs.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from firmware.engine import Engine
from firmware.events import say
from hal.ports import Clock, Part

# A part that comes and goes is told of no more often: a loose plug must not fill a card with its story.
AGAIN_US = 60_000_000


class Chronicle:
    """Tells the log of one board."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine, self._clock = engine, clock
        self._game: tuple[int, str | None] | None = None
        self._phase = engine.table.phase
        self._quiet = False
        self._failed: dict[str, str] = {}
        self._told_us: dict[str, int] = {}
        self.games = 0  # that have ended since the start

    def look(self) -> None:
        """Something may have changed."""
        self._look_at_game()
        self._look_at_parts(self._engine.parts)
        if self._engine.screen.quiet != self._quiet:
            self._quiet = self._engine.screen.quiet
            say("quiet", on=self._quiet)

    def _look_at_game(self) -> None:
        table = self._engine.table
        game = table.game
        was, phase = self._game, self._phase
        ending = None if game is None else game.ending
        now = None if game is None else (table.number, None if ending is None else ending.result)
        self._game, self._phase = now, table.phase
        if was is not None and was[1] is None and (now is None or now[0] != was[0]):
            say("game_left", game=was[0])
        if now != was and game is not None and ending is not None:
            self.games += was is not None
            say("game_ended", game=table.number, result=ending.result, reason=ending.reason, moves=len(game.moves))
        elif phase != table.phase and game is not None and "play" in (phase, table.phase) and "menu" not in (phase,):
            names = {"play": "game_runs", "paused": "game_paused"}
            if name := names.get(table.phase):
                say(name, game=table.number, moves=len(game.moves))

    def _look_at_parts(self, parts: Mapping[str, Part]) -> None:
        now_us = self._clock.now_us()
        for name, part in parts.items():
            failed = self._failed.get(name)
            if part.ok == (failed is None) or now_us < self._told_us.get(name, now_us - AGAIN_US) + AGAIN_US:
                continue
            self._told_us[name] = now_us
            if part.ok:
                del self._failed[name]
                say("part_well", part=name)
            else:
                self._failed[name] = part.text
                say("part_failed", logging.WARNING, part=name, text=part.text)
