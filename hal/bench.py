"""What a test of a board has at hand: fingers, what is lit, and the time. Cells are names ("d4") or numbers. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hal.errors import BoardError, PartError
from hal.guide import name, named
from hal.jig import Jig, Unsupported
from hal.ports import Edge

Cell = str | int
# A board is scanned for so long until something it must do is so; a busy machine or a slow chip takes its time.
PATIENCE_US = 3_000_000
# A frame is shown again, 60 times a second, until the current limit has let its light rise; then it is latched.
FRAME_US, RISE_US, LATCH_US = 16_667, 1_000_000, 5_000


class Rgb(NamedTuple):
    """What an LED was sent, linear: 0 to 255 each."""

    red: int
    green: int
    blue: int


def number(jig: Jig, cell: Cell) -> int:
    """The number of a cell of this board. Raises BoardError for one that it does not have."""
    rows, columns = jig.profile.board.rows, jig.profile.board.columns
    found = named(cell, rows, columns) if isinstance(cell, str) else cell
    if found is None or not 0 <= found < rows * columns:
        last = name(rows * columns - 1, columns)
        raise BoardError(f"{cell!r} is no cell of this board: they are a1 to {last}, or 0 to {rows * columns - 1}")
    return found


class BenchClock:
    """The time of a board under test; `edges`: all that was heard in this test."""

    def __init__(self, jig: Jig) -> None:
        self._jig = jig
        self.edges: list[Edge] = []

    def now_us(self) -> int:
        """The time of the rung: virtual, or the machine's own."""
        return self._jig.now_us()

    def wait(self, us: int) -> None:
        """Let time pass while nobody scans."""
        self._jig.wait(us)

    def scan(self, us: int) -> list[Edge]:
        """Scan at the board's own pace for so long; returns the edges that were heard meanwhile."""
        return self.until(lambda: False, us)

    def until(self, true: Callable[[], object], us: int = PATIENCE_US) -> list[Edge]:
        """Scan until something is so, for so long at most; returns the edges that were heard meanwhile."""
        jig, before = self._jig, len(self.edges)
        end_us = jig.now_us() + us
        while not true() and jig.now_us() < end_us:
            scan = jig.board.scan(jig.now_us())
            self.edges += scan.edges
            if not true():
                jig.wait(scan.period_us)
        return self.edges[before:]


class Fingers:
    """Fingers on a board under test. Where nobody can move its contacts, each raises Unsupported."""

    def __init__(self, jig: Jig, clock: BenchClock) -> None:
        self._jig, self._clock = jig, clock

    def press(self, *cells: Cell) -> None:
        """Come down on cells, one after the other, and stay there."""
        for cell in cells:
            self._jig.press(number(self._jig, cell))

    def release(self, *cells: Cell) -> None:
        """Leave cells, one after the other."""
        for cell in cells:
            self._jig.release(number(self._jig, cell))

    def hold(self, cell: Cell, us: int) -> list[Edge]:
        """Press a cell for so long, while the board is scanned; returns what was heard until the release was."""
        return self.chord([cell], us)

    def chord(self, cells: list[Cell], us: int) -> list[Edge]:
        """Press cells together for so long, while the board is scanned; returns what was heard until all were up.

        A board that does not tell what it must is scanned for three seconds more.
        """
        at = len(self._clock.edges)
        ways = (True,) * len(cells), (False,) * len(cells)
        self.press(*cells)
        self._clock.until(lambda: self._heard(at, ways[0]))
        self._clock.scan(us)
        self.release(*cells)
        self._clock.until(lambda: self._heard(at, ways[0] + ways[1]))
        return self._clock.edges[at:]

    def _heard(self, at: int, ways: tuple[bool, ...]) -> bool:
        return len(self._clock.edges) - at >= len(ways)


class Lights:
    """What a board under test shows, read back from its chain."""

    def __init__(self, jig: Jig, clock: BenchClock) -> None:
        self._jig, self._clock = jig, clock

    def all(self) -> list[Rgb]:
        """The light of every cell, by number. Raises Unsupported where that cannot be, PartError for no board."""
        light = self._jig.lit()
        if light is None:
            away = self._jig.board.health().get("link")
            if away is not None and not away.ok:
                raise PartError(away.text)
            raise Unsupported(f"what {self._jig.profile.board.name} shows cannot be read back from its chain")
        return [Rgb(*light[at : at + 3]) for at in range(0, len(light), 3)]

    def lit(self) -> dict[str, Rgb]:
        """The cells that are lit, by name. Raises Unsupported where that cannot be read back."""
        columns = self._jig.profile.board.columns
        return {name(cell, columns): rgb for cell, rgb in enumerate(self.all()) if any(rgb)}

    def show(self, light: dict[Cell, tuple[int, int, int]]) -> dict[str, Rgb]:
        """Show these cells alone, sRGB, as bright as the current limit lets them become; returns what is lit then."""
        frame = bytearray(3 * self._jig.profile.cells)
        for cell, colour in light.items():
            at = 3 * number(self._jig, cell)
            frame[at : at + 3] = bytes(colour)
        self.frame(bytes(frame))
        return self.lit()

    def frame(self, frame: bytes) -> None:
        """Have a whole frame shown (sRGB, cell order), until it is as bright as the current limit lets it become."""
        board, end_us = self._jig.board, self._clock.now_us() + RISE_US
        board.show(frame, self._clock.now_us())
        while board.dimmed and self._clock.now_us() < end_us:
            self._clock.scan(FRAME_US)
            board.show(frame, self._clock.now_us())
        self._clock.scan(FRAME_US + LATCH_US)
