"""The last good start: what was installed when a board of wires last started well, and what changed since (case A34).

What this needs is imported for boards of wires only: a simulated one does not wait for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Iterator
from pathlib import Path

from firmware.kept_file import KeptFile, NotKept
from hal.drivers import SIMULATED
from hal.errors import PartError
from hal.profile import Profile

log = logging.getLogger("morbak")


@contextlib.contextmanager
def watched(profile: Profile, state: Path) -> Iterator[None]:
    """Around the opening of a board: where it does not open, what has changed since it last did is logged."""
    try:
        yield
    except PartError:
        if profile.matrix.driver != SIMULATED and (sentence := changes(state)):
            log.warning("%s", sentence)
        raise


async def kept(profile: Profile, state: Path) -> None:
    """Keep what a board that has opened was opened with, beside the loop: the board plays meanwhile."""
    if profile.matrix.driver != SIMULATED:
        await asyncio.to_thread(keep, state)


def keep(state: Path) -> None:
    """Leave the versions of kernel, Python and device libraries in the state directory; a disk that fails is logged."""
    from hal.doctor_facts import versions
    from hal.doctor_machine import LAST_START

    kept = KeptFile(state / LAST_START, json.loads)
    now = {"versions": versions()}
    if kept.read().value == now:
        return  # the card is not written for what it has (case F10)
    try:
        kept.write(json.dumps(now).encode() + b"\n")
    except NotKept as fault:
        log.warning("%s", fault)


def changes(state: Path) -> str:
    """What was upgraded since the last good start, in a sentence; "" for nothing, or where that is not known."""
    from hal.doctor_facts import versions
    from hal.doctor_machine import check_changes
    from hal.doctor_probe import Probe
    from hal.machine import ROOT

    facts = {"versions": versions(), "state": {"path": str(state.absolute())}}
    found = check_changes(Probe(ROOT, {"facts": json.dumps(facts)}))
    return "".join(finding.text for finding in found if finding.level != "fine")
