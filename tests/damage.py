"""Files as power cuts, failing cards and slips of the hand leave them."""

from __future__ import annotations

import random
from collections.abc import Iterator

STEP = 64


def damages(data: bytes, chance: random.Random, flips: int = 40) -> Iterator[bytes]:
    """The data cut short, emptied from and zeroed around every 64th byte, and with a bit flipped here and there."""
    for at in range(0, len(data), STEP):
        yield data[:at]
        yield data[:at] + bytes(len(data) - at)
        yield data[:at] + bytes(min(STEP, len(data) - at)) + data[at + STEP :]
        yield data[:at] + data[at + STEP :]
    yield data[:-2]
    yield bytes(len(data))
    for _ in range(flips):
        at, bit = chance.randrange(len(data)), chance.randrange(8)
        yield data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]
