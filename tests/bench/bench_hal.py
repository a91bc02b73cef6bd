"""What the hardware side costs: scans a second on stub lines, and microseconds from frame to SPI bytes.

CPU time of one thread, median of several runs. Limits: 500,000 scans a second quiet and with a finger held, 7 us a
frame.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

from hal import ws2812
from hal.board import MatrixBoard
from hal.pixels import Limiter, Pixels
from hal.profile import Profile, load, shipped

RUNS = 7


class StubLines:
    """Lines that cost nothing: every row reads from a table."""

    def __init__(self, rows: list[int]) -> None:
        self._rows, self._row = rows, 0

    def select(self, row: int | None) -> None:
        self._row = row or 0

    def read(self) -> int:
        return self._rows[self._row]

    def close(self) -> None:
        pass


class StubLeds:
    """LEDs that take every frame."""

    def write(self, frame: bytes) -> None:
        pass

    def close(self) -> None:
        pass


def _median_s(work: Callable[[], None]) -> float:
    """The CPU time of one run, the median of several."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return median(times)


def _board(rows: list[int], *, diodes: bool) -> MatrixBoard:
    profile = load(shipped("sim"))
    matrix = type(profile.matrix)(driver="sim", diodes=diodes)
    return MatrixBoard(profile._replace(matrix=matrix), StubLines(rows), StubLeds())


def scans_per_s(*, held: bool, diodes: bool = False, count: int = 50_000) -> float:
    """Full 7 x 7 scans a second, with debounce and, without diodes, ghost check; `held`: with a finger on d4."""
    board = _board([0, 0, 0, 8 if held else 0, 0, 0, 0], diodes=diodes)

    def work() -> None:
        for t_us in range(count):
            board.scan(t_us)

    return count / _median_s(work)


def scene(profile: Profile, at: int) -> bytes:
    """Frame `at` of a game in its middle: lit, breathing and dim cells, a tide that moves; 60 frames, then again."""
    breath, tide = 60 + abs(30 - at % 60), 8 + at % 60 // 8
    kinds = (b"\xff\x7a\x18", b"\x1e\x6b\xff", bytes((2 * breath, breath, 24)), bytes((tide * 4, tide * 2, 8)))
    return b"".join(kinds[(cell * 5 + cell // 7) % 4] for cell in range(profile.cells))


def pixels_us(count: int = 6_000) -> float:
    """From a frame to its SPI bytes, colours, current limit and symbols included."""
    profile = load(shipped("sim"))
    pixels, limiter = Pixels(profile), Limiter(profile)
    frames = [scene(profile, at) for at in range(60)]

    def work() -> None:
        state = limiter.start
        for at in range(count):
            chain, state = limiter.step(pixels.chain(frames[at % 60]), at * 16_667, state)
            ws2812.encode(chain, profile.leds.spi_hz)

    return 1e6 * _median_s(work) / count


def figures() -> dict[str, float]:
    """Every figure by name."""
    return {
        "scans_per_s quiet": scans_per_s(held=False),
        "scans_per_s held": scans_per_s(held=True),
        "scans_per_s quiet, diodes": scans_per_s(held=False, diodes=True),
        "scans_per_s held, diodes": scans_per_s(held=True, diodes=True),
        "pixels_us steady": pixels_us(),
    }


if __name__ == "__main__":
    for name, figure in figures().items():
        print(f"{name:28} {figure:12,.2f}")
