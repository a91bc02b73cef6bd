"""The checker of flashes finds what it is there to find."""

from __future__ import annotations

from itertools import pairwise

import pytest

from sim.flashes import Flashes, light, seen

WHITE, DARK, ORANGE, BLUE = b"\xff" * 3, bytes(3), b"\xff\x7a\x18", b"\x1e\x6b\xff"


def blinker(colour: bytes, other: bytes, period_us: int, length_us: int = 5_000_000) -> Flashes:
    """One cell that is `colour` for the first half of each period."""
    times = range(0, length_us, 16_667)
    return seen((t_us, colour if t_us % period_us < period_us / 2 else other) for t_us in times)


def test_a_blinker_of_4_hz_is_caught() -> None:
    """Four flashes in a second are counted as four."""
    assert 4 == blinker(WHITE, DARK, 250_000).worst


def test_a_blinker_of_three_a_second_passes() -> None:
    """Rises 340 ms apart stay at three in any second."""
    flashes = blinker(WHITE, DARK, 340_000)
    assert 3 == flashes.worst
    assert 320_000 < flashes.gap_us() < 360_000


def test_a_blinker_of_250_ms_is_caught_however_short_its_light() -> None:
    """One frame of light four times a second counts as four flashes."""
    frames = ((step * 10_000, WHITE if step % 25 == 0 else DARK) for step in range(300))
    assert 4 == seen(frames).worst


def test_a_change_of_less_than_a_tenth_is_no_flash() -> None:
    """Opposing changes of 0.09 of the greatest luminance do not count, of 0.11 they do."""
    grey = {round(light(bytes([level] * 3), False).luminance, 2): bytes([level] * 3) for level in range(256)}
    assert 0 == blinker(grey[0.19], grey[0.10], 200_000).worst
    assert 5 == blinker(grey[0.21], grey[0.10], 200_000).worst


def test_changes_among_bright_lights_are_no_flash() -> None:
    """Where the darker of the two is 0.80 or brighter nothing counts."""
    flashes = blinker(WHITE, b"\xe8" * 3, 200_000)
    assert (0, {}, {}) == (flashes.worst, dict(flashes.rises), dict(flashes.falls))


def test_a_slow_sum_of_small_steps_is_one_rise() -> None:
    """Steps too small to count on their own add up to one change while they go one way."""
    ramp = [*range(0, 256, 4), *range(255, -1, -4)]
    flashes = seen((step * 16_667, bytes([level] * 3)) for step, level in enumerate(ramp))
    assert ([1], [1]) == ([len(flashes.rises[0])], [len(flashes.falls[0])])


def test_red_and_blue_of_one_luminance_are_a_red_flash() -> None:
    """Saturated red against another colour counts even where the luminance hardly changes."""
    red, blue = b"\xa0\x00\x00", b"\x00\x30\xff"
    assert abs(light(red, False).luminance - light(blue, False).luminance) < 0.1
    flashes = blinker(red, blue, 200_000)
    assert 5 == flashes.worst
    assert not flashes.rises


def test_orange_is_a_saturated_red_but_its_fading_is_none() -> None:
    """Side a's colour is red by the definition; going to dark and back keeps its chromaticity within bounds."""
    assert light(ORANGE, False).red
    assert not blinker(ORANGE, DARK, 1_000_000).reds
    assert blinker(ORANGE, BLUE, 1_000_000).reds


def test_cells_are_counted_apart() -> None:
    """Two cells that take turns do not add up; the worst of them counts."""
    frames = [(step * 100_000, WHITE + DARK if step % 5 == 0 else DARK + WHITE) for step in range(50)]
    flashes = seen(frames)
    assert 2 == flashes.worst
    assert all(later - sooner == 500_000 for rises in flashes.rises.values() for sooner, later in pairwise(rises))


@pytest.mark.parametrize(("wire", "worst"), [(False, 0), (True, 4)])
def test_wire_values_are_taken_as_linear(wire: bool, worst: int) -> None:
    """A byte of 64 is a quarter of the light on the wire, but a twentieth of it in sRGB."""
    times = range(0, 3_000_000, 16_667)
    frames = ((t_us, b"\x40" * 3 if t_us % 250_000 < 125_000 else DARK) for t_us in times)
    assert worst == seen(frames, wire).worst
