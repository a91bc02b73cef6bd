"""Wire: the bytes of an LED chain become the high and low times a WS2812 reads, sent as the bits of an SPI bus.

Three SPI bits, a symbol, carry one bit of colour: 100 is a 0, 110 is a 1. At 2.4 MHz that is 417 ns or 833 ns high
in 1.25 us. Pure: no bus is opened here; whoever owns one hands in a function that sends bytes.
"""

from __future__ import annotations

from collections.abc import Callable

from hal.errors import PartError

SPI_HZ = 2_400_000
# Low for this long shows the frame. 50 us in old data sheets, 280 us in parts of the same name since (case A33).
LATCH_US = 300
# A frame starts with this many bytes that a bus may spoil: a phantom start bit, a line that idles high (cases A19,
# A20). On such a bus one latch time of silence follows, in which the chain forgets what it made of them. A line that
# idles low needs none, which shows a touch 0.3 ms sooner; a slip heals with the next frame there.
GLITCH_BYTES = 4

# A bit lasts 1.25 us +-150 ns. Within it all four pulses of this code keep the WS2812B data sheet's +-150 ns too.
_BIT_NS = (1_100, 1_400)


def problem(spi_hz: int) -> str | None:
    """Why a WS2812 would misread this SPI clock, in one sentence; None if it reads it (cases A15, A24)."""
    shortest_ns, longest_ns = _BIT_NS
    if shortest_ns * spi_hz <= 3_000_000_000 <= longest_ns * spi_hz:
        return None
    bit_ns = 3_000_000_000 / spi_hz
    return f"a bit would last {bit_ns:.0f} ns and a WS2812 wants {shortest_ns} to {longest_ns} ns"


def divided_hz(core_hz: int, spi_hz: int, divider_hz: int | None = None) -> int:
    """What a Pi's SPI controller makes of the clock that was asked for: its own clock over an even number.

    `core_hz` drives it; `divider_hz` is what the kernel took that for when it chose the number, where that differs:
    a core that changes its speed takes the LEDs' clock along (cases A15, A16). As the kernel's spi-bcm2835 and spi-dw.
    """
    divider = -(-(divider_hz or core_hz) // spi_hz)
    return core_hz // (divider + divider % 2)


def timed_hz(sent_bytes: int, took_ns: int) -> int:
    """The clock of a bus that took so long for so many bytes, or a slower one: a busy machine only adds to the time."""
    return sent_bytes * 8_000_000_000 // max(took_ns, 1)


def too_fast(real_hz: int, spi_hz: int) -> bool:
    """Whether a timed clock is not the one that was asked for; a core clock that slips up is off by 1.6 (case A15)."""
    return 4 * real_hz > 5 * spi_hz


def too_slow(real_hz: int, spi_hz: int) -> bool:
    """Whether a timed clock may be slower than asked for; a quarter is left for what a write costs beside its bits."""
    return 5 * real_hz < 4 * spi_hz


def latch_bytes(spi_hz: int) -> int:
    """SPI bytes that take at least LATCH_US."""
    return -(-LATCH_US * spi_hz // 8_000_000)


def lead_bytes(spi_hz: int, idles_high: bool) -> int:
    """Zero bytes ahead of the first colour."""
    return GLITCH_BYTES + (latch_bytes(spi_hz) if idles_high else 0)


def wire_us(count: int, spi_hz: int = SPI_HZ, *, idles_high: bool = True) -> int:
    """How long one frame of `count` LEDs keeps the wire, silence before and after it included; rounded up."""
    sent = lead_bytes(spi_hz, idles_high) + 9 * count + latch_bytes(spi_hz)
    return -(-sent * 8_000_000 // spi_hz)


def _symbols(value: int) -> bytes:
    """The three SPI bytes of one byte of colour, most significant bit first."""
    return int("".join("110" if bit == "1" else "100" for bit in f"{value:08b}"), 2).to_bytes(3, "big")


# Three tables for `bytes.translate`: the first, second and third SPI byte of every byte of colour.
_FIRST, _SECOND, _THIRD = (bytes(column) for column in zip(*map(_symbols, range(256)), strict=True))


def encode(chain: bytes, spi_hz: int = SPI_HZ, *, idles_high: bool = True) -> bytes:
    """One frame as SPI bytes: silence, three symbols' bytes a byte in chain order, silence long enough to show it."""
    start = lead_bytes(spi_hz, idles_high)
    end = start + 3 * len(chain)
    wire = bytearray(end + latch_bytes(spi_hz))
    wire[start:end:3] = chain.translate(_FIRST)
    wire[start + 1 : end : 3] = chain.translate(_SECOND)
    wire[start + 2 : end : 3] = chain.translate(_THIRD)
    return bytes(wire)


class Ws2812Leds:
    """A chain of `count` WS2812 on any SPI-like `transfer`: implements `Leds`, one transfer a frame.

    `transfer` sends bytes, returns when they are on the wire and raises OSError when it cannot. `idles_high`: the
    data line may be high between transfers. Raises ValueError for a clock that a WS2812 would misread.
    """

    def __init__(
        self, transfer: Callable[[bytes], None], count: int, spi_hz: int = SPI_HZ, *, idles_high: bool = True
    ) -> None:
        reason = problem(spi_hz)
        if reason is not None:
            raise ValueError(f"spi_hz = {spi_hz}: {reason}")
        self._transfer, self._count, self._spi_hz, self._idles_high = transfer, count, spi_hz, idles_high
        self._open = True

    def blank(self) -> Ws2812Leds:
        """Make the chain dark: what a crash left on it must not stay (case A28). Returns itself. Raises PartError."""
        self.write(bytes(3 * self._count))
        return self

    def write(self, frame: bytes) -> None:
        """Send one whole frame, three bytes an LED in chain and colour order. Raises PartError when the bus fails."""
        if len(frame) != 3 * self._count:
            raise ValueError(f"a frame of {len(frame)} bytes for {self._count} LEDs: each takes 3")
        try:
            self._transfer(encode(frame, self._spi_hz, idles_high=self._idles_high))
        except PartError:
            raise
        except OSError as fault:
            raise PartError(f"the LED chain does not take a frame: {fault}") from fault

    def close(self) -> None:
        """Leave the chain dark. A second call does nothing. Raises PartError when the bus fails."""
        if self._open:
            self._open = False
            self.blank()
