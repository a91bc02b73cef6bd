"""The table's state as the outside reads it: one plain document, the same for the page, the log and the records."""

from __future__ import annotations

from typing import Any

from firmware.choosing import Chosen
from firmware.game import Game
from firmware.games import morbak
from firmware.match import HALVES
from firmware.table import Table
from hal.ports import Part

Document = dict[str, Any]
CLOCKS = ("clocks_ms", "move_left_ms", "parks_in_ms", "cleans_ms")


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
        "match": _match(table),
        "chosen": _chosen(table.chosen),
        "replay": _replay(table),
        "safe": table.safe and {"code": table.safe.code, "text": table.safe.text},
        "masked": [morbak.cell_name(cell) for cell in sorted(table.masked)],
        "health": {
            "ok": all(part.ok for part in parts.values()),
            "parts": {name: {"ok": part.ok, "text": part.text} for name, part in parts.items()},
        },
    }


def sentence(phase: str, parts: dict[str, Part]) -> str:
    """What the board is doing, and what fails, in one line."""
    failing = [f"{name}: {part.text}" for name, part in parts.items() if not part.ok]
    return "; ".join([phase, *failing])


def clocks(table: Table, t_us: int) -> Document:
    """The two clocks and the time left for the move, in milliseconds at `t_us`; null = unlimited, or no game.

    `parks_in_ms`: what is left of the countdown to parking; null where none runs. `cleans_ms`: how long the board is
    still deaf, because somebody wipes it; null where it is not.
    """
    game, countdown = table.game, table.countdown
    drowsy = countdown is not None and t_us >= countdown.start_us
    parks_in_ms = _ms(max(0, countdown.end_us - t_us)) if countdown and drowsy else None
    cleans_ms = None if table.cleans_until_us is None else _ms(max(0, table.cleans_until_us - t_us))
    left: Document = {"parks_in_ms": parks_in_ms, "cleans_ms": cleans_ms}
    if game is None:
        total_ms = _ms(table.match.limits.total_us)
        return {"clocks_ms": {"a": total_ms, "b": total_ms}, "move_left_ms": None, **left}
    return {
        "clocks_ms": {"a": _ms(game.clocks.left_us("a", t_us)), "b": _ms(game.clocks.left_us("b", t_us))},
        "move_left_ms": _ms(game.clocks.move_left_us(t_us)),
        **left,
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
    rules = table.match.rules
    return {
        "position": morbak.format_position(morbak.initial(rules)),
        "starter": None,
        "to_move": None,
        "pools": _sides((rules.pool, rules.pool)),
        "neutralisations": _sides((rules.neutralisations, rules.neutralisations)),
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
    asked, offers, on = menu.asked, table.offers(), table.set_items()
    left_ms = None if asked is None else _ms(max(0, menu.due_us - t_us))
    return {
        "kind": menu.kind,
        "code": menu.code,
        "cursor": None if menu.cursor is None else morbak.cell_name(menu.cursor),
        "cells": {
            morbak.cell_name(cell): {
                "side": place.side,
                "item": place.item,
                "on": menu.asks(cell) or place.item in on,
            }
            for cell, place in menu.places.items()
            if place.item in offers
        },
        "asked": None if asked is None else {"item": asked.item, "by": asked.by, "left_ms": left_ms},
    }


def _chosen(chosen: Chosen) -> Document:
    """What was chosen in the menu; cells out of use are told as `masked`, with the stuck ones."""
    return {name: getattr(chosen, name) for name in ("brightness_pct", "language", "marks", "volume_pct")}


def _match(table: Table) -> Document:
    """Best of how many games, and the points so far; a draw gives each side half of one."""
    match = table.match
    a, b = (halves / HALVES for halves in match.halves)
    return {"series": match.series, "score": {"a": a, "b": b}, "over": match.over}


def _replay(table: Table) -> Document | None:
    """The game that plays itself again: its number, how many of its moves are shown, and of how many."""
    replay = table.replay
    if replay is None:
        return None
    position = morbak.format_position(replay.state)
    return {"seq": replay.seq, "at": replay.at, "of": len(replay.moves), "position": position}


def _sides(pair: tuple[int, int]) -> Document:
    return {"a": pair[0], "b": pair[1]}


def _ms(us: int | None) -> int | None:
    return None if us is None else us // 1000
