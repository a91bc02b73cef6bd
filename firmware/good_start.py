"""The last good start: what was installed when the board last started well, for `morbak doctor` (case A34)."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from firmware.kept_file import KeptFile, NotKept
from hal.doctor_facts import versions
from hal.doctor_machine import LAST_START

log = logging.getLogger("morbak")


def keep(state: Path) -> None:
    """Leave the versions of kernel, Python and device libraries in the state directory; a disk that fails is logged."""
    kept = KeptFile(state / LAST_START, json.loads)
    now = {"versions": versions()}
    if kept.read().value == now:
        return  # the card is not written for what it has (case F10)
    try:
        kept.write(json.dumps(now).encode() + b"\n")
    except NotKept as fault:
        log.warning("%s", fault)
