"""A game as its record and save, and back: what the journal keeps and a restart sets up again."""

from __future__ import annotations

from firmware.clock import Clocks, Limits
from firmware.game import Ending, Game, Undone
from firmware.games import morbak
from firmware.match import Match
from firmware.record import Record, RuleOptions, Takeback, TimeLimits, record_rules
from firmware.save import MatchSave, Save

MS = 1_000


def record_of(game: Game, seq: int) -> Record:
    """The record of a game as it stands, finished or not."""
    ending = game.ending
    line = tuple(sorted(morbak.cell_name(cell) for cell in ending.line)) if ending else ()
    return Record(
        v=1,
        rules=_rules(game.rules),
        starter=game.starter,
        moves=tuple(move.text for move in game.moves),
        result=ending.result if ending else None,
        reason=ending.reason if ending else None,
        line=line or None,
        final=morbak.format_position(game.state),
        time=TimeLimits(_ms(game.clocks.limits.total_us), _ms(game.clocks.limits.move_us)),
        ms=tuple(us // MS for us in game.times_us),
        timeouts=tuple(game.timeouts),
        takebacks=tuple(Takeback(undone.at, tuple(move.text for move in undone.moves)) for undone in game.undone),
        seq=seq,
    )


def save_of(game: Game, match: Match, seq: int, t_us: int) -> Save:
    """Everything of a game at `t_us` that has to outlive a power cut; what its clock has used is in the save."""
    clocks = game.clocks.stop(t_us)
    return Save(
        game=seq,
        record=record_of(game, seq),
        match=MatchSave(*game.clocks.limits, match.series, match.halves),
        used_us=clocks.used_us,
        move_used_us=clocks.move_used_us,
        timeouts_running=game.timeouts_running,
        running=game.clocks.running is not None,
    )


def game_from(save: Save) -> Game:
    """The game of a save, its clocks standing. Raises ValueError for a record that does not play."""
    game = game_of(save.record, Limits(save.match.total_us, save.match.move_us))
    game.timeouts_running = save.timeouts_running
    game.clocks = Clocks(game.clocks.limits, save.used_us, save.move_used_us)
    return game


def game_of(record: Record, limits: Limits = Limits(None, None)) -> Game:  # noqa: B008 - a constant
    """The game that a record tells, its clocks full. Raises ValueError for a record that does not play."""
    game = Game(record_rules(record), limits, record.starter)
    game.moves = [morbak.parse_action(text) for text in record.moves]
    game.times_us = [ms * MS for ms in record.ms] if isinstance(record.ms, tuple) else [0] * len(game.moves)
    game.timeouts = list(record.timeouts) if isinstance(record.timeouts, tuple) else []
    takebacks = record.takebacks if isinstance(record.takebacks, tuple) else ()
    game.undone = [Undone(back.at, tuple(morbak.parse_action(text) for text in back.moves)) for back in takebacks]
    game.set_up()
    if record.result is not None and record.reason is not None:
        line = tuple(sorted(morbak.parse_cell(name) for name in record.line or ()))
        game.ending = Ending(record.result, record.reason, line)
    return game


def match_from(save: Save) -> Match:
    """The match that the game of a save belongs to."""
    saved = save.match
    return Match(record_rules(save.record), Limits(saved.total_us, saved.move_us), saved.series, saved.halves)


def _rules(rules: morbak.Rules) -> str | RuleOptions:
    for name, profile in morbak.PROFILES.items():
        if profile == rules:
            return name
    return RuleOptions(*rules)


def _ms(us: int | None) -> int | None:
    return None if us is None else us // MS
