"""The table as the lights see it: everything that may shine, with its times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.games import morbak
from firmware.match import HALVES, Match
from firmware.menu import Item
from firmware.orders import CLEAN_US
from firmware.scenes import SECOND_ROW
from firmware.snapshot import Countdown, MenuLight, Pips, Rails, Snapshot

if TYPE_CHECKING:
    from firmware.game import Game
    from firmware.replay import Replay
    from firmware.table import Table

# Of two groups of options side by side, the second shines paler.
PALE: frozenset[Item] = frozenset(("move_2", "move_1", "move_none", "series_1", "series_3", "series_5"))


def snapshot(table: Table) -> Snapshot:
    """What may shine now; holds until something happens."""
    if table.replay is not None:
        return _replayed(table, table.replay)
    game = table.game
    ending = game.ending if game else None
    low_us, urgent_us = _short_of_time(table)
    return Snapshot(
        phase=table.phase,
        phase_us=table.phase_us,
        cells=morbak.cells(game.state) if game else "." * 49,
        mover=game.mover if game and table.phase in ("play", "paused") else None,
        last_cell=table.last[0] if table.last else None,
        last_us=table.last[1] if table.last else 0,
        touches=table.previews.touches,
        patterns=table.previews.patterns,
        low_us=low_us,
        urgent_us=urgent_us,
        starter=game.starter if game else None,
        lot_us=table.lot_us if game else None,
        winner=ending.result if ending and ending.result != "draw" else None,
        line=ending.line if ending else (),
        ghosts=table.haze.cells,
        ghosts_us=table.haze.since_us,
        ghosts_until_us=table.haze.until_us,
        menu=_score(table.match) if table.phase == "lobby" else _menu(table),
        asked_us=table.menu.asked.since_us if table.menu and table.menu.asked else 0,
        pips=_pips(table),
        countdown=table.countdown,
        cleans=_cleans(table),
        rails=_rails(table.game) if table.game is not None and table.phase != "attract" else None,
    )


def _cleans(table: Table) -> Countdown | None:
    end_us = table.cleans_until_us
    return None if end_us is None else Countdown(end_us - CLEAN_US, end_us)


def _rails(game: Game) -> Rails:
    clocks = game.clocks
    since_us = clocks.since_us
    return Rails(
        game.mover if game.ending is None else None,
        morbak.pools(game.state),
        game.rules.pool,
        (clocks.left_us("a", since_us), clocks.left_us("b", since_us)),
        clocks.limits.total_us,
        clocks.running,
        since_us,
    )


def _replayed(table: Table, replay: Replay) -> Snapshot:
    """A game that plays itself again, and the fingers of whoever watches."""
    ending = replay.ending
    return Snapshot(
        phase="replay",
        cleans=_cleans(table),
        phase_us=replay.shown_us,
        cells=morbak.cells(replay.state),
        last_cell=replay.last,
        last_us=replay.shown_us,
        touches=table.previews.touches,
        winner=ending.result if ending and ending.result != "draw" else None,
        line=ending.line if ending else (),
        ghosts=table.haze.cells,
        ghosts_us=table.haze.since_us,
        ghosts_until_us=table.haze.until_us,
    )


def _menu(table: Table) -> tuple[MenuLight, ...]:
    """The cells of an open menu, or of open options, that mean something now."""
    menu = table.menu
    if menu is None:
        return ()
    offers, on = table.offers(), table.set_items()
    lights = tuple(
        MenuLight(cell, place.side, menu.asks(cell) or place.item in on, menu.answers(cell), place.item in PALE)
        for cell, place in menu.places.items()
        if place.item in offers and cell != menu.cursor
    )
    if menu.cursor is None or table.game is None:
        return lights
    return (*lights, MenuLight(menu.cursor, table.game.mover, True, False, True))


def _score(match: Match) -> tuple[MenuLight, ...]:
    """The points of a series under way, on each side's second row: full a game won, pale a game drawn."""
    if not match.begun:
        return ()
    return tuple(
        MenuLight(cell, side, halves >= HALVES * game + HALVES, False, halves == HALVES * game + 1)
        for side, halves in zip(SECOND_ROW, match.halves, strict=True)
        for game, cell in enumerate(SECOND_ROW[side][: match.series])
    )


def _pips(table: Table) -> Pips | None:
    game = table.game
    if game is None or table.pips_until_us is None:
        return None
    return Pips(morbak.pools(game.state), morbak.neutralisations(game.state), table.pips_until_us)


def _short_of_time(table: Table) -> tuple[int | None, int | None]:
    if table.phase != "play" or table.game is None or table.game.clocks.deadline is None:
        return None, None
    end_us, since_us = table.game.clocks.deadline.t_us, table.game.clocks.since_us
    return max(since_us, end_us - table.times.low_us), max(since_us, end_us - table.times.urgent_us)
