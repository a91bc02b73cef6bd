"""Safe mode: a board that has died too often rests, dark but for its corners, until it is started by hand.

It uses as little as it can of what may have been the cause: no contacts, no journal, no settings. The game on the disk
is left as it is.
"""

from __future__ import annotations

import logging
import random
from typing import Final

from firmware import config
from firmware.app import App
from firmware.assembly import new_table
from firmware.engine import Engine, Surroundings
from firmware.lights import Lights
from firmware.starts import ENOUGH, Reason, Record
from hal.ports import Board, Clock, Part

log = logging.getLogger("morbak")

UNKNOWN: Final = Reason("unknown", "Nobody knows why.")


def safe_app(board: Board, clock: Clock, record: Record) -> App:
    """An app that hears nobody and shows the pattern of safe mode. Logs why."""
    reason = record.reason or UNKNOWN
    log.error("Safe mode, after %d starts in a row that died: %s Restart the board by hand.", ENOUGH, reason.text)
    table = new_table(board, clock, config.Settings(), random.Random(0))
    table.shut(reason, clock.now_us())
    notes = {"start": Part(False, reason.text)}
    return App(Engine(table, board, Lights(), Surroundings(notes=notes)), clock, deaf=True)
