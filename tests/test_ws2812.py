"""The wire of the LEDs, read back bit by bit as a chain reads it: by how long the line is high."""

from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hal import ws2812
from hal.errors import PartError
from hal.ws2812 import GLITCH_BYTES, SPI_HZ, Ws2812Leds, encode

# The strictest parts show a frame after 280 us of low (case A33).
LATCH_NS = 280_000


def frames_shown(wire: bytes, spi_hz: int = SPI_HZ, *, idle_high: bool = False) -> list[bytes]:
    """What a chain shows at each latch: whole bytes of the bits it read since the one before.

    A bit is a 1 if its pulse passes 600 ns, the middle between the two data sheet values.
    """
    levels = "".join(f"{byte:08b}" for byte in wire)
    levels = "1" * 8 * idle_high + levels
    bits, shown = "", []
    for level, run in groupby(levels):
        ns = len(list(run)) * 1_000_000_000 / spi_hz
        if level == "1":
            bits += "1" if ns > 600 else "0"
        elif ns >= LATCH_NS:
            shown.append(bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8)))
            bits = ""
    return shown


def pulses_ns(wire: bytes, spi_hz: int) -> set[tuple[float, float]]:
    """Every pair of a high time and the low time after it, inside the data of a frame."""
    levels = "".join(f"{byte:08b}" for byte in wire).strip("0")
    runs = [len(list(run)) * 1_000_000_000 / spi_hz for _, run in groupby(levels)]
    return set(zip(runs[0:-1:2], runs[1::2], strict=True))


@given(st.binary(min_size=3, max_size=147))
def test_a_chain_reads_back_what_was_sent(chain: bytes) -> None:
    """The chain reads every byte that was encoded, shows it once, and nothing else (case A33)."""
    assert [b"", chain] == frames_shown(encode(chain))


def test_every_byte_has_its_three() -> None:
    """Each of the 256 bytes becomes the three SPI bytes of its bits, 110 for a 1 and 100 for a 0."""
    assert bytes.fromhex("924924") == encode(b"\x00").strip(b"\x00")
    assert bytes.fromhex("db6db6") == encode(b"\xff").strip(b"\x00")
    assert bytes.fromhex("9a69a6") == encode(b"\x55").strip(b"\x00")
    for value in range(256):
        assert [b"", bytes([value])] == frames_shown(encode(bytes([value])))


def test_symbols_keep_the_times_of_the_data_sheet() -> None:
    """At 2.4 MHz a 0 is 417 ns high and a 1 is 833 ns, each in a bit of 1250 ns."""
    assert {(417, 833), (833, 417)} == {(round(up), round(low)) for up, low in pulses_ns(encode(b"\x55\xaa"), SPI_HZ)}


@given(st.binary(max_size=GLITCH_BYTES), st.binary(min_size=3, max_size=9))
def test_a_glitch_at_the_start_leaves_pixel_0_right(glitch: bytes, chain: bytes) -> None:
    """Whatever a glitch makes of the first bytes of a frame, the chain shows the frame, pixel 0 first (case A19)."""
    wire = glitch + encode(chain)[len(glitch) :]
    assert chain == frames_shown(wire)[-1]


@given(st.binary(max_size=64), st.binary(min_size=3, max_size=9))
def test_noise_before_a_frame_leaves_pixel_0_right(noise: bytes, chain: bytes) -> None:
    """Whatever comes before a frame, and a line that idles high, leave what the frame shows right (cases A19, A20)."""
    assert chain == frames_shown(noise + encode(chain))[-1]
    assert chain == frames_shown(encode(chain), idle_high=True)[-1]


@pytest.mark.parametrize("spi_hz", [2_150_000, SPI_HZ, 2_500_000, 2_720_000])
def test_every_frame_includes_its_latch(spi_hz: int) -> None:
    """Every write ends with at least 300 us of low at any clock, so that no pause is needed after it (case A33)."""
    wire = encode(b"\xff" * 3, spi_hz)
    low = len(wire) - len(wire.rstrip(b"\x00"))
    assert 300 <= low * 8_000_000 / spi_hz < 304
    assert frames_shown(wire, spi_hz) == [b"", b"\xff" * 3]


def test_wire_time_is_that_of_the_bytes_sent() -> None:
    """The time on the wire is that of all bytes sent, rounded up: 2.1 ms for 49 LEDs, and under a default SPI buffer
    of 4096 bytes for the largest board (case A22)."""
    for count, spi_hz in ((1, SPI_HZ), (49, SPI_HZ), (49, 2_500_000), (256, 2_200_000)):
        sent = len(encode(bytes(3 * count), spi_hz))
        assert 0 <= ws2812.wire_us(count, spi_hz) - sent * 8_000_000 / spi_hz < 1
        assert sent < 4_096
    assert ws2812.wire_us(49) == 2_084
    assert ws2812.wire_us(49, idles_high=False) == 1_784


WINDOWS = {"0": ((250, 550), (700, 1000)), "1": ((650, 950), (300, 600))}


@pytest.mark.parametrize("spi_hz", range(1_800_000, 3_200_001, 10_000))
def test_a_clock_that_a_chain_would_misread_is_refused(spi_hz: int) -> None:
    """A clock is taken if and only if every pulse it makes is in the data sheet's windows (cases A15, A24)."""
    fits = True
    for high, low in pulses_ns(encode(b"\x55\xaa", spi_hz), spi_hz):
        (least_high, most_high), (least_low, most_low) = WINDOWS["1" if high > low else "0"]
        fits &= least_high <= high <= most_high and least_low <= low <= most_low and 1_100 <= high + low <= 1_400
    assert fits == (ws2812.problem(spi_hz) is None)
    if not fits:
        with pytest.raises(ValueError, match=f"spi_hz = {spi_hz}: .* would last .* ns and a WS2812 wants"):
            Ws2812Leds(print, 49, spi_hz)


def test_a_frame_is_one_transfer() -> None:
    """Each write is one transfer of the whole encoded frame (case B6)."""
    sent: list[bytes] = []
    leds = Ws2812Leds(sent.append, 2)
    leds.write(b"abcdef")
    leds.write(b"fedcba")
    assert [encode(b"abcdef"), encode(b"fedcba")] == sent
    Ws2812Leds(sent.append, 2, 2_700_000).write(b"abcdef")
    assert encode(b"abcdef", 2_700_000) == sent[2]


def test_closing_leaves_the_chain_dark_once() -> None:
    """Close sends one dark frame, and a second close sends nothing (case A28)."""
    sent: list[bytes] = []
    leds = Ws2812Leds(sent.append, 2)
    leds.write(b"abcdef")
    leds.close()
    leds.close()
    assert [encode(b"abcdef"), encode(bytes(6))] == sent


def test_a_frame_of_another_length_is_refused() -> None:
    """A frame that is not three bytes an LED is refused and nothing is sent."""
    sent: list[bytes] = []
    with pytest.raises(ValueError, match="a frame of 146 bytes for 49 LEDs"):
        Ws2812Leds(sent.append, 49).write(bytes(146))
    assert sent == []


def test_a_bus_that_fails_is_a_part_error() -> None:
    """What the bus raises becomes a PartError that names the chain; a PartError of the bus stays as it is."""

    def unplugged(_: bytes) -> None:
        raise OSError("no such device")

    named = PartError("spidev0.0 is busy")

    def busy(_: bytes) -> None:
        raise named

    with pytest.raises(PartError, match="the LED chain does not take a frame: no such device"):
        Ws2812Leds(unplugged, 1).write(bytes(3))
    with pytest.raises(PartError) as caught:
        Ws2812Leds(busy, 1).close()
    assert named is caught.value
