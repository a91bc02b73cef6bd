"""What is heard: a short sound for a press, a refusal, little time left, a win. Pure."""

from __future__ import annotations

from typing import Literal

from firmware.table import Table
from hal.ports import Note

Sound = Literal["press", "refused", "low", "win"]
# Short and low for what happens often, a rising chord for a win; a piezo is loudest about 2 to 4 kHz, and shrill there.
NOTES: dict[Sound, tuple[Note, ...]] = {
    "press": (Note(880, 20),),
    "refused": (Note(220, 80), Note(0, 40), Note(220, 80)),
    "low": (Note(660, 120),),
    "win": (Note(523, 120), Note(659, 120), Note(784, 120), Note(1047, 300)),
}


class Sounds:
    """Compares the table with what it was, and says what is to be heard."""

    def __init__(self) -> None:
        self._touched: frozenset[tuple[int, int]] = frozenset()
        self._refusals = 0
        self._warned_us: frozenset[int] = frozenset()
        self._phase = "attract"

    def step(self, table: Table, t_us: int) -> Sound | None:
        """The sound of what has happened since the last call; of several the weightiest."""
        snapshot = table.snapshot
        heard: list[Sound] = []
        if snapshot.phase == "result" != self._phase and snapshot.winner is not None:
            heard.append("win")
        if table.refusal is not None and table.refusal.n > self._refusals:
            self._refusals = table.refusal.n
            heard.append("refused")
        warned_us = frozenset(at for at in (snapshot.low_us, snapshot.urgent_us) if at is not None and at <= t_us)
        if warned_us - self._warned_us:
            heard.append("low")
        touched = frozenset((touch.cell, touch.rise_us) for touch in snapshot.touches if touch.until_us is None)
        if touched - self._touched:
            heard.append("press")
        self._phase, self._warned_us, self._touched = snapshot.phase, warned_us, touched
        return heard[0] if heard else None
