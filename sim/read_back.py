"""A finished game written down by hand, from what stands on the board, and read back by the rules."""

from __future__ import annotations

import json

from firmware import record
from firmware.game import Game
from firmware.games import morbak


def read_back(game: Game) -> str | None:
    """What is wrong with the record of a finished game; None where it tells the same game."""
    assert game.ending is not None
    told = {
        "v": 1,
        "rules": game.rules._asdict(),
        "starter": game.starter,
        "moves": [move.text for move in game.moves],
        "result": game.ending.result,
        "reason": game.ending.reason,
        "line": sorted(morbak.cell_name(cell) for cell in game.ending.line) or None,
        "final": morbak.format_position(game.state),
        "timeouts": game.timeouts,
    }
    for _, read in record.replay([json.dumps(told)]):
        if isinstance(read, record.RecordError):
            return f"the record does not read back: {read}"
    return None
