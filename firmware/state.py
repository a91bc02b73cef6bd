"""The table's state as the outside reads it: one plain document, the same for the page, the log and the records."""

from __future__ import annotations

from typing import Any

from firmware.game import Game
from firmware.games import morbak
from firmware.menu import PLACES
from firmware.table import Table
from hal.ports import Part

Document = dict[str, Any]


def document(table: Table, t_us: int, parts: dict[str, Part]) -> Document:
    """Everything a page needs, except `seq`; the keys and their meaning are the contract of `GET /api/v1/state`."""
    game = table.game
    return {
        "phase": table.phase,
        **(_position(game) if game else _empty(table)),
        **clocks(table, t_us),
        "legal": [action.text for action in morbak.legal(game.state)] if game and table.phase == "play" else [],
        "refusal": _refusal(table),
        **_ending(game),
        "menu": _menu(table, t_us),
        "health": {
            "ok": all(part.ok for part in parts.values()),
            "parts": {name: {"ok": part.ok, "text": part.text} for name, part in parts.items()},
        },
    }


def clocks(table: Table, t_us: int) -> Document:
    """The two clocks and the time left for the move, in milliseconds at `t_us`; null = unlimited, or no game."""
    game = table.game
    if game is None:
        total_ms = _ms(table.limits.total_us)
        return {"clocks_ms": {"a": total_ms, "b": total_ms}, "move_left_ms": None}
    return {
        "clocks_ms": {"a": _ms(game.clocks.left_us("a", t_us)), "b": _ms(game.clocks.left_us("b", t_us))},
        "move_left_ms": _ms(game.clocks.move_left_us(t_us)),
    }


def _position(game: Game) -> Document:
    return {
        "position": morbak.format_position(game.state),
        "starter": game.starter,
        "to_move": game.mover,
        "pools": _sides(morbak.pools(game.state)),
        "neutralisations": _sides(morbak.neutralisations(game.state)),
        "last_action": game.moves[-1].text if game.moves else None,
    }


def _empty(table: Table) -> Document:
    return {
        "position": morbak.format_position(morbak.initial(table.rules)),
        "starter": None,
        "to_move": None,
        "pools": _sides((table.rules.pool, table.rules.pool)),
        "neutralisations": _sides((table.rules.neutralisations, table.rules.neutralisations)),
        "last_action": None,
    }


def _refusal(table: Table) -> Document | None:
    refusal = table.refusal
    return refusal and {"code": refusal.code, "cell": morbak.cell_name(refusal.cell), "n": refusal.n}


def _ending(game: Game | None) -> Document:
    if game is None or game.ending is None:
        return {"result": None, "reason": None, "line": None}
    line = sorted(morbak.cell_name(cell) for cell in game.ending.line)
    return {"result": game.ending.result, "reason": game.ending.reason, "line": line or None}


def _menu(table: Table, t_us: int) -> Document | None:
    menu = table.menu
    if menu is None:
        return None
    asked, offers = menu.asked, table.offers()
    left_ms = None if asked is None else _ms(max(0, menu.due_us - t_us))
    return {
        "cells": {
            morbak.cell_name(cell): {"side": place.side, "item": place.item, "on": menu.asks(cell)}
            for cell, place in PLACES.items()
            if place.item in offers
        },
        "asked": None if asked is None else {"item": asked.item, "by": asked.by, "left_ms": left_ms},
    }


def _sides(pair: tuple[int, int]) -> Document:
    return {"a": pair[0], "b": pair[1]}


def _ms(us: int | None) -> int | None:
    return None if us is None else us // 1000
