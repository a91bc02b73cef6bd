"""A chain of LEDs that believes only its data line."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hal import ws2812
from sim.faults import Faults
from sim.strip import WS2812, Latch, Strip

LEDS = 49
HZ = 2_400_000
COLOURS = Random(5).randbytes(3 * LEDS)
frames = st.binary(min_size=3 * LEDS, max_size=3 * LEDS)


def bare(wire: bytes) -> bytes:
    """Bytes of colour as three SPI bits a bit, with no silence before or after: what a simple driver sends."""
    symbols = "".join("110" if value >> bit & 1 else "100" for value in wire for bit in range(7, -1, -1))
    return int(symbols or "0", 2).to_bytes(3 * len(wire))


def strip_of(leds: int = LEDS, spi_hz: int = HZ, faults: Faults = Faults(), seed: int = 0) -> Strip:  # noqa: B008
    """A chain in cell order whose wire brings red first, so that the wire reads like the frame."""
    return Strip(range(leds), order="RGB", spi_hz=spi_hz, faults=faults, seed=seed)


def shown(strip: Strip, data: bytes, t_us: int = 1_000) -> bytes:
    """What the chain shows once `data` was clocked out and the line was silent for a while."""
    strip.transfer(data, t_us)
    strip.settle(strip.busy_until_us + 400)
    return strip.latched.frame


# --- decoding


@given(frames)
def test_what_the_driver_encodes_is_what_the_chain_shows(frame: bytes) -> None:
    """Every frame that the driver encodes is decoded from its levels byte for byte, with no timing violation."""
    strip = strip_of()
    assert frame == shown(strip, ws2812.encode(frame))
    assert (1, 0, 0) == (strip.frames, strip.violations, strip.early_writes)


@given(frames, st.permutations(range(LEDS)), st.permutations("RGB"))
def test_chain_and_colour_order_are_wiring(frame: bytes, chain: list[int], order: list[str]) -> None:
    """A frame sent in the order of chain and colours is shown as RGB in the order of cells, whatever these are."""
    wire = b"".join(bytes(frame[3 * cell + "RGB".index(colour)] for colour in order) for cell in chain)
    assert frame == shown(Strip(chain, order="".join(order), spi_hz=HZ), ws2812.encode(wire))


def test_green_comes_first_unless_told() -> None:
    """The first byte on the wire is the green of the first LED."""
    strip = Strip(range(2), spi_hz=HZ)
    assert bytes([0, 255, 0, 0, 0, 0]) == shown(strip, ws2812.encode(bytes([255, 0, 0, 0, 0, 0])))


class LevelByLevel(Strip):
    """A chain that decodes every frame level by level."""

    def _quick(self, data: bytes, start_ns: int) -> bool:
        return False


silence = st.integers(0, 120).map(bytes)
well_formed = st.tuples(silence, st.binary(min_size=9, max_size=9).map(bare), silence).map(b"".join)
sized = st.tuples(silence, st.binary(max_size=12).map(bare), silence).map(b"".join)
anything = st.binary(max_size=120)


@st.composite
def spoilt(draw: st.DrawFn) -> bytes:
    """A well-formed frame with a few bits turned over."""
    data = bytearray(draw(well_formed))
    for at in draw(st.lists(st.integers(0, 8 * len(data) - 1), min_size=1, max_size=3)):
        data[at // 8] ^= 0x80 >> at % 8
    return bytes(data)


transfers = st.lists(st.tuples(well_formed | sized | spoilt() | anything, st.integers(0, 700)), max_size=6)
wrong = st.builds(Faults, idle_high=st.booleans(), lead_bits=st.integers(0, 40), lead_rate=st.sampled_from([0, 0.5, 1]))


@given(transfers, st.just(Faults()) | wrong, st.sampled_from([1_900_000, HZ, 2_500_003, 3_900_000]), st.integers(0, 99))
def test_quick_and_slow_decoding_are_one(sent: list[tuple[bytes, int]], faults: Faults, spi_hz: int, seed: int) -> None:
    """Any transfers at any gaps, well-formed or not, decode the same as a whole and level by level."""
    quick = Strip(range(3), spi_hz=spi_hz, faults=faults, seed=seed)
    slow = LevelByLevel(range(3), spi_hz=spi_hz, faults=faults, seed=seed)
    seen: list[list[object]] = [[], []]
    for strip, log in zip((quick, slow), seen, strict=True):
        t_us = 0
        strip.on_latch.append(lambda t_us, frame, log=log: log.append((t_us, frame)))  # type: ignore[misc]
        for data, gap_us in sent:
            strip.transfer(data, t_us)
            log.append((strip.busy_until_us, strip.due_us, strip.violations, strip.early_writes))
            t_us = strip.busy_until_us + gap_us
            strip.settle(t_us)
        strip.settle(t_us + 1_000)
        log.append((strip.frames, strip.latched, strip.peak_ma))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("last", [b"\x00", b"\x01"])
@pytest.mark.parametrize("silent", range(6))
def test_quick_and_slow_decoding_latch_in_the_same_microsecond(silent: int, last: bytes) -> None:
    """The last low of a frame begins where its last bit has it, wherever the frame begins within a microsecond."""
    due = [strip(range(3), spi_hz=HZ) for strip in (Strip, LevelByLevel)]
    for strip in due:
        strip.transfer(bytes(silent) + bare(bytes(8) + last), 0)
    assert due[1].due_us == due[0].due_us


def test_every_single_bit_slip_decodes_as_it_is() -> None:
    """Each one bit of a frame turned over, and each dropped, reads the same in both ways of decoding (case A20)."""
    bits = "".join(f"{byte:08b}" for byte in bytes(2) + bare(b"\x00\xffabcd") + bytes(2))
    slips = [bits[:at] + "10"[int(bits[at])] + bits[at + 1 :] for at in range(len(bits))]
    slips += [bits[:at] + bits[at + 1 :] + "0" for at in range(len(bits))]
    for slip in slips:
        quick, slow = Strip(range(2), spi_hz=HZ), LevelByLevel(range(2), spi_hz=HZ)
        frames = [shown(strip, int(slip, 2).to_bytes(len(bits) // 8)) for strip in (quick, slow)]
        assert frames[1] == frames[0]
        assert (slow.violations, slow.busy_until_us) == (quick.violations, quick.busy_until_us)


def test_frames_of_the_driver_take_the_quick_way() -> None:
    """What the driver sends is decoded as a whole, not level by level."""
    strip = strip_of()
    assert strip._quick(ws2812.encode(COLOURS), 0)
    assert not strip._quick(ws2812.encode(COLOURS)[:-1] + b"\1", 10_000_000)


# --- timing


def test_where_a_wrong_clock_breaks_the_colours() -> None:
    """From 84 to 151 % of its clock a frame reads clean; from 80 to 158 % it still reads right, outside the datasheet;
    slower it reads all white, faster all black, at 167 to 192 % with nothing to be seen wrong (cases A15, A16, A24).
    """
    seen = {}
    for pct in range(40, 201):
        strip = strip_of(faults=Faults(spi_pct=pct))
        frame = shown(strip, ws2812.encode(COLOURS))
        kind = {COLOURS: "right", b"\xff" * 147: "white", bytes(147): "black"}[frame]
        seen[pct] = kind + (" clean" if not strip.violations else "")
    assert {
        "white": [*range(40, 80)],
        "right": [*range(80, 84), *range(152, 159)],
        "right clean": [*range(84, 152)],
        "black": [*range(159, 167), *range(193, 201)],
        "black clean": [*range(167, 193)],
    } == {kind: [pct for pct in seen if seen[pct] == kind] for kind in dict.fromkeys(seen.values())}


def test_every_clock_the_driver_accepts_reads_clean() -> None:
    """A clock that the driver does not refuse makes no timing violation (case A24)."""
    accepted = [hz for hz in range(1_000_000, 10_000_000, 25_000) if ws2812.problem(hz) is None]
    assert len(accepted) > 10
    for spi_hz in accepted:
        strip = strip_of(spi_hz=spi_hz)
        assert COLOURS == shown(strip, ws2812.encode(COLOURS, spi_hz))
        assert 0 == strip.violations


def pulses(*times_ns: int) -> tuple[str, int]:
    """Levels at 1 GHz from high and low times in turn."""
    return "".join("10"[turn % 2] * ns for turn, ns in enumerate(times_ns)), 1_000_000_000


@pytest.mark.parametrize(
    ("high_ns", "bit", "violations"),
    [
        (199, 0, 1),
        (200, 0, 0),
        (500, 0, 0),
        (501, 0, 1),
        (525, 0, 1),
        (526, 1, 1),
        (549, 1, 1),
        (550, 1, 0),
        (1_000, 1, 0),
        (1_001, 1, 1),
    ],
)
def test_pulses_are_judged_at_the_edges_of_the_windows(high_ns: int, bit: int, violations: int) -> None:
    """A pulse reads as a 0 up to 525 ns and as a 1 beyond; outside 200-500 and 550-1000 ns it is a violation."""
    levels, spi_hz = pulses(*[high_ns, 1_250 - high_ns] * 24)
    strip = strip_of(1, spi_hz)
    assert bytes([255 * bit] * 3) == shown(strip, int(levels, 2).to_bytes(len(levels) // 8))
    assert 24 * violations == strip.violations


@pytest.mark.parametrize(("low_ns", "violations"), [(249, 23), (250, 0), (1_450, 0), (1_451, 23)])
def test_bits_follow_each_other_in_time(low_ns: int, violations: int) -> None:
    """Bits that follow in less than 650 or more than 1850 ns are violations."""
    levels, spi_hz = pulses(*[400, low_ns] * 24)
    levels += "0" * (-len(levels) % 8)
    strip = strip_of(1, spi_hz)
    shown(strip, int(levels, 2).to_bytes(len(levels) // 8))
    assert violations == strip.violations


# --- glitches ahead of a frame


@pytest.mark.parametrize("lead_bits", range(8 * ws2812.GLITCH_BYTES + 1))
def test_leading_glitches_leave_the_frame_right(lead_bits: int) -> None:
    """High bits ahead of the driver's frame, as many as it allows for, change no LED (cases A19, A20)."""
    strip = strip_of(faults=Faults(lead_bits=lead_bits))
    for turn, frame in enumerate((COLOURS, bytes(147), COLOURS)):
        data = ws2812.encode(frame)
        assert frame == shown(strip, data, 10_000 * turn)
        assert 0 <= strip.busy_until_us - 10_000 * turn - (8 * len(data) + lead_bits) / 2.4 < 1
    assert 3 == strip.frames


def test_an_idle_high_line_leaves_the_frame_right() -> None:
    """A line that rests high adds a bit that the driver's silence makes the chain forget (case A19)."""
    strip = strip_of(faults=Faults(idle_high=True))
    for turn, frame in enumerate((COLOURS, bytes(147), COLOURS)):
        assert frame == shown(strip, ws2812.encode(frame), 10_000 * turn)


@pytest.mark.parametrize("faults", [Faults(idle_high=True), Faults(lead_bits=1)])
def test_without_silence_the_first_led_is_stuck_green(faults: Faults) -> None:
    """The same faults right ahead of the first bit make it a 1: a dark chain shows green first (case A19)."""
    strip = Strip(range(LEDS), spi_hz=HZ, faults=faults)
    for turn in range(3):
        assert bytes([0, 128, 0]) + bytes(144) == shown(strip, bare(bytes(147)) + bytes(100), 1_000 + 10_000 * turn)
    assert 3 == strip.frames


@pytest.mark.parametrize(("faults", "first"), [(Faults(idle_high=True), 128), (Faults(lead_bits=1), 0)])
def test_with_too_short_a_silence_the_chain_is_shifted(faults: Faults, first: int) -> None:
    """The same faults a moment ahead of the frame add a bit of their own: every LED is shifted by it (case A19)."""
    strip = strip_of(faults=faults)
    shifted = (int.from_bytes(COLOURS) >> 1).to_bytes(147)
    assert bytes([first | shifted[0]]) + shifted[1:] == shown(strip, bytes(2) + bare(COLOURS) + bytes(100))


def test_a_rare_slip_heals_with_the_next_frame() -> None:
    """A phantom bit in one transfer of ten spoils frames without silence, each healed by the next one (case A20)."""
    strip = strip_of(faults=Faults(lead_bits=1, lead_rate=0.1))
    right = [COLOURS == shown(strip, bytes(2) + bare(COLOURS), 100_000 * turn) for turn in range(500)]
    assert 20 < right.count(False) < 90
    assert 7 > max(map(len, "".join(".x"[not ok] for ok in right).split(".")))


# --- latch


def test_the_chain_takes_over_after_280_us_of_low() -> None:
    """Nothing is shown until the line was low for 280 us, then the whole frame, at that time (case A33)."""
    strip = strip_of()
    strip.transfer(bare(COLOURS), 1_000)
    assert 1_000 + 1_470 == strip.busy_until_us
    last_low_us = 2_470 - (417e-3 if COLOURS[-1] & 1 else 833e-3)
    assert strip.due_us is not None
    assert 0 <= strip.due_us - (last_low_us + 280) < 1
    strip.settle(strip.due_us - 1)
    assert (Latch(0, bytes(147)), 0) == (strip.latched, strip.frames)
    strip.settle(strip.due_us)
    assert (Latch(2_750, COLOURS), 1) == (strip.latched, strip.frames)
    assert strip.due_us is None


def test_a_latch_inside_a_transfer_has_its_own_time() -> None:
    """A frame followed by silence in one transfer is shown 280 us after its last bit, not when the transfer ends."""
    strip, told = strip_of(), list[tuple[int, bytes]]()
    strip.on_latch.append(lambda t_us, frame: told.append((t_us, frame)))
    strip.transfer(bare(COLOURS) + bytes(90) + bare(bytes(147)), 1_000)
    assert 2_750 == strip.due_us
    strip.settle(2_749)
    assert [] == told
    strip.settle(2_750)
    assert [(2_750, COLOURS)] == told
    strip.settle(10_000)
    assert [COLOURS, bytes(147)] == [frame for _, frame in told]
    assert all(earlier < later for (earlier, _), (later, _) in pairwise(told))


def test_a_write_before_the_latch_runs_off_the_end() -> None:
    """A second frame within 280 us of the first goes on after it: all of it runs off the end (case A33)."""
    strip = strip_of()
    strip.transfer(bare(COLOURS), 1_000)
    strip.transfer(bare(bytes(147)), strip.busy_until_us + 279)
    strip.settle(20_000)
    assert (COLOURS, 1, 1) == (strip.latched.frame, strip.frames, strip.early_writes)
    assert bytes(147) == shown(strip, bare(bytes(147)), 30_000)


def test_a_write_after_the_latch_is_a_frame() -> None:
    """A second frame later than 280 us after the first is a frame of its own."""
    strip = strip_of()
    strip.transfer(bare(COLOURS), 1_000)
    strip.transfer(bare(bytes(147)), strip.busy_until_us + 280)
    assert (COLOURS, 1) == (strip.latched.frame, strip.frames)
    strip.settle(20_000)
    assert (bytes(147), 2, 0) == (strip.latched.frame, strip.frames, strip.early_writes)


def test_silence_ahead_of_a_frame_is_silence() -> None:
    """A frame that brings its own silence may follow at once: the one before it is taken over in that silence."""
    strip, told = strip_of(), list[tuple[int, bytes]]()
    strip.on_latch.append(lambda t_us, frame: told.append((t_us, frame)))
    strip.transfer(bare(COLOURS), 1_000)
    strip.transfer(bytes(90) + bare(bytes(147)), strip.busy_until_us)
    strip.settle(20_000)
    assert [(2_750, COLOURS), (4_520, bytes(147))] == told
    assert 0 == strip.early_writes


def test_half_a_frame_is_continued_before_the_latch() -> None:
    """The first LEDs of a broken frame and the first LEDs of the next fill one chain when no latch parts them."""
    strip = strip_of(2)
    strip.transfer(bare(b"abc"), 1_000)
    strip.transfer(bare(b"xyz"), strip.busy_until_us + 10)
    strip.settle(20_000)
    assert (b"abcxyz", 1) == (strip.latched.frame, strip.early_writes)


@pytest.mark.parametrize(
    ("sent", "expected"),
    [(b"", b"abcdef"), (b"xy", b"abcdef"), (b"xyz", b"xyzdef"), (b"xyzu", b"xyzdef"), (b"xyzuvwst", b"xyzuvw")],
)
def test_frames_of_other_lengths(sent: bytes, expected: bytes) -> None:
    """A short frame changes the first LEDs alone, one without its 24 bits keeps its colour, a long one runs off."""
    strip = strip_of(2)
    assert b"abcdef" == shown(strip, bare(b"abcdef"))
    assert expected == shown(strip, bare(sent), 10_000)


def test_transfers_wait_for_each_other() -> None:
    """A transfer that comes while one is on the wire begins where that one ends."""
    strip = strip_of()
    data = ws2812.encode(COLOURS)
    strip.transfer(data, 1_000)
    first = strip.busy_until_us
    assert 0 <= first - 1_000 - len(data) * 8 / 2.4 < 1
    strip.transfer(data, 1_001)
    assert 0 <= strip.busy_until_us - first - len(data) * 8 / 2.4 < 1
    assert 0 == strip.early_writes


# --- current and failure


def test_current_is_the_channel_model() -> None:
    """49 LEDs draw 49 mA dark, 2107 mA white, and by channel 16, 11 and 15 mA (case H6)."""
    strip = strip_of()
    for at, (ma, colour) in enumerate([(16, b"\xff\0\0"), (11, b"\0\xff\0"), (15, b"\0\0\xff")]):
        shown(strip, ws2812.encode(colour + bytes(144)), at * 10_000)
        assert 49 + ma == strip.current_ma
    strip = strip_of()
    assert (49, 49) == (strip.current_ma, strip.peak_ma)
    shown(strip, ws2812.encode(b"\xff" * 147), 0)
    shown(strip, ws2812.encode(bytes(147)), 10_000)
    assert (49, 2_107) == (strip.current_ma, strip.peak_ma)


def test_a_failing_bus_leaves_the_line_alone() -> None:
    """A transfer told to fail raises OSError naming the fault; the chain goes on showing what it showed."""
    strip = strip_of(faults=Faults(leds_fail_rate=1))
    with pytest.raises(OSError, match="leds_fail_rate"):
        strip.transfer(ws2812.encode(COLOURS), 1_000)
    strip.settle(50_000)
    assert (0, 0, Latch(0, bytes(147))) == (strip.frames, strip.busy_until_us, strip.latched)


def test_windows_come_from_the_datasheets() -> None:
    """The latch takes 280 us, and the windows of a 0 and a 1 do not touch."""
    assert 280_000 == WS2812.latch_ns
    assert WS2812.t0h_ns[1] < WS2812.t1h_ns[0]
