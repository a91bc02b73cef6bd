"""Traces in virtual time: what is recorded stays in memory, and is read as a file."""

from __future__ import annotations

from io import BytesIO

from firmware.trace import Reader, Scribe
from firmware.trace_replay import Count, Replay
from firmware.trace_tape import Slot


class Held:
    """Implements `Tape`."""

    def __init__(self) -> None:
        self.slots: list[Slot] = []
        self._scribe, self._lines = Scribe(), list[bytes]()

    def put(self, slot: Slot) -> None:
        self.slots.append(slot)

    def lines(self) -> list[bytes]:
        """What a file would hold."""
        slots, self.slots = self.slots, []
        self._lines += [self._scribe.line(slot.line) for slot in slots if slot.line is not None]
        return self._lines


def replayed(lines: list[bytes]) -> Count:
    """Play lines again. Raises Difference and TraceError."""
    reader = Reader(BytesIO(b"".join(lines)))
    replay = Replay(reader.head)
    for entry in reader:
        replay.take(entry)
    return replay.count
