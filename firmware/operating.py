"""What an operator may do and know, wherever he asks from: the page at /operator and `morbak ctl` share this.

What touches the game goes to the table and waits for its turn there, through the same journal as every touch; each
change is logged with who made it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from firmware import operator_commands as commands
from firmware.app import App
from firmware.chronicle import Chronicle
from firmware.events import Recent, say
from firmware.games import morbak
from firmware.operator_commands import AnyCommand, Logs, Refused, Restart, Settings, Status
from firmware.stalls import Stalls
from firmware.version import version
from hal import machine
from hal.ports import Part

# A contact that bounces longer than this comes close to the 10 ms after which it would count as lifted.
WORN_US = 8_000
# Nobody clicks faster; a program that does is told to wait.
COMMANDS = 20
WITHIN_S = 5.0
# What the part `start` means to whoever looks after the board.
SAFE = "The program died five times in a row; the board rests until you restart it (morbak ctl restart). {}"
# Why a command did not count, in words for whoever sent it.
REASONS = {
    "not_in_play": "Nobody is playing now; this needs a game whose clock runs.",
    "not_saved": "The board did not take it in time, because its disk or its scan stands still; look first.",
    "no_game": "There is no game and no result on the board to be cleared away.",
    "not_parked": "There is no game that waits to go on, or the board is being cleaned.",
}


class Watched(NamedTuple):
    """What beside the app is asked how the board does; `state`: its state directory."""

    recent: Recent
    chronicle: Chronicle
    state: Path
    stalls: Stalls | None = None


class Operating:
    """One board's operator commands."""

    def __init__(self, app: App, watched: Watched) -> None:
        self._app, self._watched = app, watched
        self._begun_s = time.monotonic()
        self._asked_s: list[float] = []
        self._reporting = False

    async def do(self, command: AnyCommand, by: str) -> dict[str, Any]:
        """Carry out a command that `by` gives; returns what there is to know. Raises Refused, nothing being changed."""
        if isinstance(command, Status):
            return self.status()
        if isinstance(command, Logs):
            return {"lines": self._watched.recent.lines(command.n)}
        self._pace()
        try:
            await self._change(command)
        except Refused as refused:
            say("operator_refused", logging.WARNING, by=by, does=_told(command), code=refused.code)
            raise
        say("operator", by=by, does=_told(command))
        return {"done": type(command).__name__.lower()}

    async def _change(self, command: AnyCommand) -> None:
        if isinstance(command, Restart):
            self._app.stop(again=True)
            return
        if self._app.engine.table.safe is not None:
            raise Refused("safe", "The board rests in safe mode, where only a restart counts.")
        if isinstance(command, Settings) and not command.changes:
            raise Refused("nothing", "No setting was named.")
        what = commands.at_the_table(command)
        assert what is not None
        refused = await self._app.act(what)
        if refused is not None:
            text = getattr(what, "text", "this")
            raise Refused(refused, REASONS.get(refused, f"The rules refuse {text}: {refused}."))

    def _pace(self) -> None:
        now_s = time.monotonic()
        self._asked_s = [at_s for at_s in self._asked_s if at_s > now_s - WITHIN_S]
        if len(self._asked_s) >= COMMANDS:
            raise Refused("too_many", f"More than {COMMANDS} commands within {WITHIN_S:g} s: wait a moment.")
        self._asked_s.append(now_s)

    async def report(self, secrets: Iterable[str]) -> bytes:
        """A bundle for a bug report, as a zip archive, without `secrets`. Raises Refused while another is made."""
        from firmware import report  # seldom asked for, and not small

        if self._reporting:
            raise Refused("too_many", "A report is being made; wait for it.")
        app, self._reporting = self._app, True
        more = {"state": app.engine.document(app.clock.now_us()), "latency": app.engine.meter.report()}
        files = report.of_board(self.status(), self._watched.recent.lines(), more)
        try:
            return await asyncio.to_thread(
                lambda: report.bundle(files | report.of_machine(self._watched.state), secrets)
            )
        finally:
            self._reporting = False

    # -- how the board is --------------------------------------------------------------------------------------------

    @property
    def code_shows(self) -> bool:
        """Whether somebody at the board has its code for operators shown."""
        menu = self._app.engine.table.menu
        return menu is not None and menu.code

    def status(self) -> dict[str, Any]:
        """Everything an operator may want to know, as JSON has it. Times in the unit that ends their name."""
        engine = self._app.engine
        state = engine.document(self._app.clock.now_us())
        cells = self._cells(frozenset(morbak.parse_cell(name) for name in state["masked"]))
        worn = [cell["cell"] for cell in cells if cell["bounce_us"] > WORN_US]
        parts = state["health"]["parts"]
        return {
            "sentence": _sentence(engine.failing, worn, state["masked"]),
            "ok": not engine.failing,
            "failing": sorted(engine.failing),
            "safe": state["safe"],
            "parts": parts,
            "worn": worn,
            "masked": state["masked"],
            "phase": state["phase"],
            "game": None if engine.table.game is None else engine.table.number,
            "position": state["position"],
            "cleans_ms": state["cleans_ms"],
            "screen": state["screen"],
            "cells": cells,
            "figures": self._figures(cells),
            "settings": self._settings(),
            "board": engine.board.capabilities.name,
            "version": version(),
        }

    def _cells(self, masked: frozenset[int]) -> list[dict[str, Any]]:
        engine = self._app.engine
        bounces, stuck = engine.board.measures().bounces_us, engine.table.stuck
        return [
            {
                "cell": morbak.cell_name(cell),
                "touches": use.touches,
                "light_us": use.light_us,
                "worst_us": use.worst_us,
                "bounce_us": bounces.get(cell, 0),
                "masked": cell in masked,
                "stuck": cell in stuck,
            }
            for cell, use in enumerate(engine.wear.uses())
            if cell < morbak.CELLS
        ]

    def _figures(self, cells: list[dict[str, Any]]) -> dict[str, Any]:
        engine, stalls = self._app.engine, self._watched.stalls
        measures = engine.board.measures()
        light, late = engine.meter.hops["total"].report(), engine.meter.late.report()
        bounces = [cell["bounce_us"] for cell in cells if cell["touches"]]
        return {
            "light_p50_us": light["p50_us"],
            "light_p99_us": light["p99_us"],
            "scan_late_p99_us": late["p99_us"],
            "bounce_us": round(median(bounces)) if bounces else 0,
            "touches": sum(cell["touches"] for cell in cells),
            "lost_touches": engine.lost_edges,
            "current_ma": None if measures.current_ma is None else round(measures.current_ma),
            "budget_ma": None if measures.budget_ma is None else round(measures.budget_ma),
            "sags": measures.sags,
            "temperature_c": machine.temperature_c(),
            "games": self._watched.chronicle.games,
            "stalls": 0 if stalls is None else stalls.count,
            "longest_stall_ms": 0 if stalls is None else round(1000 * stalls.longest_s),
            "up_s": round(time.monotonic() - self._begun_s),
        }

    def _settings(self) -> dict[str, Any]:
        """What counts now, and in `chosen` what was set at the board or by an operator."""
        table, engine = self._app.engine.table, self._app.engine
        usual, chosen = table.usual, table.chosen
        total_us, move_us = usual.limits
        named = next((name for name, rules in morbak.PROFILES.items() if rules == usual.rules), "custom")
        return {
            "brightness_pct": table.brightness_pct if chosen.brightness_pct is None else chosen.brightness_pct,
            "language": chosen.language,
            "marks": chosen.marks,
            "volume_pct": chosen.volume_pct if engine.board.capabilities.sound else None,
            "rules": named,
            "total_s": (total_us or 0) // 1_000_000,
            "move_s": (move_us or 0) // 1_000_000,
            "series": usual.series,
            "quiet": engine.quiet_hours,
            "clock_set": engine.knows_the_hour,
        }


def _told(command: AnyCommand) -> str:
    """A command as the log has it."""
    if isinstance(command, Settings):
        return "settings " + " ".join(f"{name}={value}" for name, value in command.changes)
    given = " ".join(str(getattr(command, name)) for name in command.__struct_fields__)
    return f"{type(command).__name__.lower()} {given}".strip()


def _sentence(failing: Mapping[str, Part], worn: list[str], masked: list[str]) -> str:
    """How the board is, in one sentence, and what wants attention."""
    if failing:
        told = [SAFE.format(part.text) if name == "start" else f"{name}: {part.text}" for name, part in failing.items()]
        return "The board needs you. " + " ".join(text if text.endswith(".") else f"{text}." for text in told)
    more = [f"{', '.join(worn)} want{'s' if len(worn) == 1 else ''} cleaning"] if worn else []
    more += [f"{', '.join(masked)} {'is' if len(masked) == 1 else 'are'} out of use"] if masked else []
    return "; ".join(["The board is well", *more]) + "."
