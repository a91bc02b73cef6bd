"""A service whose board lies at the end of a cable waits for it: a plug that is not in yet is no start that dies."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Mapping
from typing import Final

from firmware.arguments import profile
from firmware.notify import Notifier
from hal.errors import PartError
from hal.profile import Profile

log = logging.getLogger("morbak")

CABLED: Final = "serial:"
PERIOD_S: Final = 1.0
# Each search takes seconds of its own.
PATIENCE_S: Final = 30


def awaited(
    board: str,
    environ: Mapping[str, str] = os.environ,
    ask: Callable[[str], Profile] = profile,
    wait: Callable[[float], None] = time.sleep,
) -> Profile:
    """The profile of a board; as a service, wait until one at the end of a cable answers.

    Raises ProfileError, and PartError for a board that is not waited for.
    """
    said = ""
    with contextlib.closing(Notifier.of(environ)) as notifier:
        while True:
            try:
                return ask(board)
            except PartError as fault:
                if not board.startswith(CABLED) or "NOTIFY_SOCKET" not in environ:
                    raise
                if str(fault) != said:
                    said = str(fault)
                    log.warning("Waiting for the board: %s", said)
            notifier.status(f"waiting for the board: {said}")
            notifier.patience(PATIENCE_S)
            wait(PERIOD_S)
