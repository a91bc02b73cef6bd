"""What CircuitPython's NeoPixel on SPI costs for the same frames, on a bus that takes everything: the peer of ours.

Needs the extra `bench`. The peer begins with finished chain bytes, ours with a snapshot: lights, colours and current
limit are on our side of the scale.
"""

from __future__ import annotations

import time
from random import Random
from statistics import median

RUNS = 7
LEDS = 49


class StubSpi:
    """A bus of CircuitPython's kind that costs nothing."""

    frequency = 6_400_000

    def __init__(self) -> None:
        self.sent = b""

    def try_lock(self) -> bool:
        return True

    def unlock(self) -> None:
        pass

    def configure(self, **_: int) -> None:
        pass

    def write(self, data: bytes) -> None:
        self.sent = data


def neopixel_us(frames: int = 1_000) -> float:
    """CPU time of one frame from chain bytes to SPI bytes through neopixel_spi, in microseconds; median of several.

    Raises ImportError without the extra `bench`.
    """
    from neopixel_spi import NeoPixel_SPI

    bus, random = StubSpi(), Random(1)
    strip = NeoPixel_SPI(bus, LEDS, pixel_order="GRB", auto_write=False)
    scenes = [[tuple(random.randbytes(3)) for _ in range(LEDS)] for _ in range(60)]

    def run() -> float:
        start_s = time.process_time()
        for at in range(frames):
            strip[:] = scenes[at % 60]
            strip.show()
        return time.process_time() - start_s

    taken_s = median(run() for _ in range(RUNS))
    assert len(bus.sent) > 24 * LEDS
    return 1e6 * taken_s / frames


if __name__ == "__main__":
    print(f"neopixel_spi, chain to SPI bytes {neopixel_us():9.2f} us")
