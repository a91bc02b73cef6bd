"""A chain of WS2812 LEDs that believes only its own data line.

What arrives is SPI bytes on a clock: levels with durations, nothing else. `Strip` judges the durations as the chips
do, shifts the bits down the chain, takes them over (the latch) after the line was low long enough, and sums the
current. Times inside are nanoseconds; those of the interface are microseconds, rounded up, so that nothing is shown
before its time.

A well-formed frame is decoded as a whole (`_quick`), everything else level by level (`_slow`); a property test holds
them equal.

Threads: one thread transfers; any thread may `settle` and look.
"""

from __future__ import annotations

import errno
import re
from collections import deque
from collections.abc import Callable, Sequence
from operator import itemgetter
from threading import RLock
from typing import NamedTuple

from sim.faults import HEALTHY, Faults, stream

# Current of one LED by channel at full, and at rest, in mA (FastLED src/power_mgt.cpp, measured; case H6).
RED_MA, GREEN_MA, BLUE_MA, IDLE_MA = 16, 11, 15, 1


class Windows(NamedTuple):
    """What a WS2812 accepts on its data line, in ns, ends included: the union over its revisions.

    High for a 0: 350 +-150 (WS2812). High for a 1: from 700 - 150 (WS2812) to 1000 (WS2812B since 2018). One bit:
    1250 +-600 (WS2812B). Low for the latch: 280 us (WS2812B since 2018; 50 us before: case A33).
    """

    t0h_ns: tuple[int, int] = (200, 500)
    t1h_ns: tuple[int, int] = (550, 1_000)
    period_ns: tuple[int, int] = (650, 1_850)
    latch_ns: int = 280_000

    def bit(self, high_ns: int) -> int:
        """What a chip reads: it samples between the two windows, so that every pulse is a 0 or a 1."""
        return int(2 * high_ns > self.t0h_ns[1] + self.t1h_ns[0])

    def allows(self, high_ns: int) -> bool:
        """Whether a pulse is within the datasheet, as either bit."""
        return self.t0h_ns[0] <= high_ns <= self.t0h_ns[1] or self.t1h_ns[0] <= high_ns <= self.t1h_ns[1]

    def allows_period(self, period_ns: int) -> bool:
        """Whether two bits follow each other as the datasheet has it."""
        return self.period_ns[0] <= period_ns <= self.period_ns[1]


WS2812 = Windows()


class Latch(NamedTuple):
    """The chain takes over at `t_us` what it received; `frame` is RGB in cell order."""

    t_us: int
    frame: bytes


class Strip:
    """A chain of WS2812 LEDs under the cells.

    `chain`: the cell over each LED, in chain order; of several LEDs under a cell the first is seen, all draw current.
    `spi_hz`: the clock the driver asks for; `faults.spi_pct` is
    what becomes of it. `order`: the colours as the wire brings them. `on_latch`: called with time and frame.

    Counts: `frames` latched, `violations` of the timing windows, `early_writes` that ran into a frame before its
    latch. `peak_ma`: the most current any latched frame asked for.
    """

    def __init__(
        self,
        chain: Sequence[int],
        *,
        spi_hz: int,
        order: str = "GRB",
        windows: Windows = WS2812,
        faults: Faults = HEALTHY,
        seed: int = 0,
    ) -> None:
        self._count = len(chain)
        self._to_cells = _wiring(chain, order)
        self._draws_ma = [{"R": RED_MA, "G": GREEN_MA, "B": BLUE_MA}[colour] / 255 for colour in order]
        self._hz, self._windows = spi_hz * faults.spi_pct // 100, windows
        self._idle_high, self._lead_bits, self._lead_rate = faults.idle_high, faults.lead_bits, faults.lead_rate
        self._leads = stream(seed, "lead")
        self._fail_rate, self._fails = faults.leds_fail_rate, stream(seed, "leds")
        self._regular = not self._idle_high and self._keeps_time()
        self._lock = RLock()
        # the line
        self._rise_ns: int | None = 0 if self._idle_high else None  # since when it is high
        self._bit_ns = 0  # when its last bit began
        self._low_ns = -windows.latch_ns  # since when it is low
        self._bits = self._received = 0  # what was received since the last latch: how much, and as one number
        self._begins = True  # the next bit is a transfer's first
        self._wire = bytes(3 * self._count)  # what the chips took over, chain order
        self._coming: deque[tuple[Latch, float]] = deque()  # latches inside a transfer, not yet due, and their current
        # what is seen of it
        self.on_latch: list[Callable[[int, bytes], None]] = []
        self.latched = Latch(0, bytes(self._to_cells(self._wire)))
        self.frames = self.violations = self.early_writes = 0
        self.busy_until_us = 0
        self.current_ma = self.peak_ma = self._draw_ma()

    @property
    def due_us(self) -> int | None:
        """When the next latch is, as far as the line is known; None where nothing waits for one."""
        if self._coming:
            return self._coming[0][0].t_us
        if self._bits and self._rise_ns is None:
            return _up(self._low_ns + self._windows.latch_ns)
        return None

    def transfer(self, data: bytes, t_us: int) -> None:
        """Clock `data` out on the line from `t_us` on, or after the transfer before; returns at once.

        A real write returns at `busy_until_us`. Latches show once `settle` reaches them. Raises OSError where the
        fault is that transfers fail; the line has not moved then.
        """
        if self._fail_rate and self._fails.random() < self._fail_rate:
            raise OSError(errno.EIO, "the LED bus does not answer (simulated fault leds_fail_rate)")
        with self._lock:
            start_ns = 1_000 * max(t_us, self.busy_until_us)
            self._publish(start_ns)
            lead = self._lead()
            self._begins = True
            if lead or not self._quick(data, start_ns):
                self._slow("1" * lead + _binary(data), start_ns)
            self.busy_until_us = _up(start_ns + self._span(lead + 8 * len(data)))

    def change(self, faults: Faults) -> None:
        """Let transfers fail at another rate from now on; the wire itself stays as it is."""
        self._fail_rate = faults.leds_fail_rate

    def settle(self, t_us: int) -> None:
        """Let the time be `t_us`: every latch up to then has happened, its callbacks have been called in order."""
        with self._lock:
            self._publish(1_000 * t_us)

    # --- the line, level by level

    def _slow(self, levels: str, start_ns: int) -> None:
        """Drive the line through SPI bits given as text, then let it rest."""
        for run in re.finditer("1+|0+", levels):
            self._drive(run[0][0] == "1", start_ns + self._span(run.start()))
        self._drive(self._idle_high, start_ns + self._span(len(levels)))

    def _drive(self, high: bool, t_ns: int) -> None:
        if high and self._rise_ns is None:
            self._rise(t_ns)
        elif not high and self._rise_ns is not None:
            self._fall(t_ns, t_ns - self._rise_ns)

    def _rise(self, t_ns: int) -> None:
        """A pulse begins: the low before it was a latch, or a part of the frame."""
        if t_ns - self._low_ns >= self._windows.latch_ns:
            self._latch()
        elif self._bits and self._begins:
            self.early_writes += 1
        elif self._bits and not self._windows.allows_period(t_ns - self._bit_ns):
            self.violations += 1
        self._begins = False
        self._rise_ns = self._bit_ns = t_ns

    def _fall(self, t_ns: int, high_ns: int) -> None:
        """A pulse ends: its length is a bit, which the chain shifts in; beyond the last LED it runs off the end."""
        self.violations += not self._windows.allows(high_ns)
        if self._bits < 24 * self._count:
            self._received = self._received << 1 | self._windows.bit(high_ns)
            self._bits += 1
        self._rise_ns, self._low_ns = None, t_ns

    def _latch(self) -> None:
        """The chips take over what they received; one whose 24 bits are not complete keeps its colour."""
        whole = self._bits // 24
        if whole:
            received = (self._received >> self._bits % 24).to_bytes(3 * whole)
            self._wire = received + self._wire[3 * whole :]
            frame = bytes(self._to_cells(self._wire))
            self._coming.append((Latch(_up(self._low_ns + self._windows.latch_ns), frame), self._draw_ma()))
        self._bits = self._received = 0

    def _publish(self, t_ns: int) -> None:
        """Show the latches up to `t_ns`."""
        if self._bits and self._rise_ns is None and self._low_ns + self._windows.latch_ns <= t_ns:
            self._latch()
        while self._coming and 1_000 * self._coming[0][0].t_us <= t_ns:
            self.latched, self.current_ma = self._coming.popleft()
            self.frames += 1
            self.peak_ma = max(self.peak_ma, self.current_ma)
            for tell in self.on_latch:
                tell(*self.latched)

    # --- the line, a frame at a time

    def _quick(self, data: bytes, start_ns: int) -> bool:
        """Receive zeros, one whole frame in symbols, zeros; False, and nothing done, for anything else."""
        body = data.strip(b"\0")
        if not self._regular or len(body) != 9 * self._count:
            return False
        first_ns = start_ns + self._span(8 * data.index(body))
        if self._bits and first_ns - self._low_ns < self._windows.latch_ns:
            return False
        received = 0
        for place, (allowed, carried) in enumerate(_TABLES):
            sent = body[place::3]
            if sent.translate(None, allowed):
                return False
            received |= int.from_bytes(sent.translate(carried))
        self._latch()
        self._bits, self._received = 24 * self._count, received
        self._low_ns = first_ns + self._span(8 * len(body) - (1 if body[-1] & 2 else 2))
        return True

    def _draw_ma(self) -> float:
        """The current of the whole chain, whatever of it is seen."""
        return sum(ma * sum(self._wire[at::3]) for at, ma in enumerate(self._draws_ma)) + IDLE_MA * self._count

    def _keeps_time(self) -> bool:
        """Whether both symbols are within the windows at this clock, to the nanosecond on either side."""
        windows = self._windows
        short, long, period = (self._span(symbols) for symbols in (1, 2, 3))
        return all(
            windows.allows(short + ns)
            and windows.allows(long + ns)
            and windows.allows_period(period + ns)
            and (windows.bit(short + ns), windows.bit(long + ns)) == (0, 1)
            for ns in (0, 1)
        )

    def _lead(self) -> int:
        """How many high bits come out ahead of this transfer."""
        return self._lead_bits if self._lead_bits and self._leads.random() < self._lead_rate else 0

    def _span(self, symbols: int) -> int:
        """How long so many SPI bits take, in ns."""
        return symbols * 1_000_000_000 // self._hz


def _sent(value: int) -> bytes:
    """One byte of colour as three SPI bytes: a symbol of three SPI bits for each of its bits."""
    symbols = "".join("110" if bit == "1" else "100" for bit in f"{value:08b}")
    return int(symbols, 2).to_bytes(3)


def _tables(place: int, bits: int) -> tuple[bytes, bytes]:
    """For the SPI byte at `place` of the three: what it may be, and the `bits` of the colour that each carries."""
    carried = {_sent(value)[place]: value & bits for value in range(256)}
    return bytes(carried), bytes(carried.get(sent, 0) for sent in range(256))


_TABLES = (_tables(0, 0b1110_0000), _tables(1, 0b0001_1000), _tables(2, 0b0000_0111))


def _wiring(chain: Sequence[int], order: str) -> Callable[[bytes], tuple[int, ...]]:
    """What picks RGB in cell order out of the bytes of the chain."""
    led_of = {cell: led for led, cell in reversed([*enumerate(chain)])}
    return itemgetter(*(3 * led_of[cell] + order.index(colour) for cell in range(len(led_of)) for colour in "RGB"))


def _binary(data: bytes) -> str:
    """Bytes as the bits of the wire, most significant first."""
    return f"{int.from_bytes(data):0{8 * len(data)}b}" if data else ""


def _up(t_ns: int) -> int:
    """Microseconds, rounded up."""
    return -(-t_ns // 1_000)
