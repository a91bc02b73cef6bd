"""Rhythms repeat to the microsecond and keep their levels; shapes of light begin and end at nothing."""

from __future__ import annotations

import pytest

from firmware.palette import DEFAULT, luminance
from firmware.rhythm import PHASES, Rhythm, breath, dimmed, glow, pulse, steady, swing
from tests.light import leading


def test_a_rhythm_gives_its_values_in_even_turns() -> None:
    """Each value holds for its share of the period, and time 0 begins a period."""
    rhythm = Rhythm(400, (b"one", b"two", b"six", b"ten"))
    assert [b"one", b"one", b"two", b"six", b"ten", b"ten", b"one"] == [
        rhythm.at(t_us) for t_us in (0, 99, 100, 250, 300, 399, 400)
    ]
    assert b"ten" == rhythm.at(-1)


def test_a_steady_rhythm_never_changes() -> None:
    """One colour at any time."""
    assert {DEFAULT.a} == {steady(DEFAULT.a).at(t_us) for t_us in range(0, 10_000_000, 99_991)}


def test_swing_goes_up_and_back() -> None:
    """Nothing at whole turns, all half-way, the same on the way up and on the way down."""
    assert [0.0, 0.5, 1.0, 0.5, 0.0] == [round(swing(quarter / 4), 9) for quarter in range(5)]


@pytest.mark.parametrize(("rise_us", "fall_us"), [(0, 100), (50, 100), (300, 20)])
def test_a_glow_comes_once(rise_us: int, fall_us: int) -> None:
    """A glow rises without a fall, falls without a rise, and is nothing before and after."""
    shares = [glow(age_us, rise_us, fall_us) for age_us in range(rise_us + fall_us + 50)]
    assert 1.0 == shares[rise_us] == max(shares)
    assert sorted(shares[: rise_us + 1]) == shares[: rise_us + 1]
    assert sorted(shares[rise_us:], reverse=True) == shares[rise_us:]
    assert {0.0} == set(shares[rise_us + fall_us :])
    assert 0.0 == glow(-10, 50, 100)


@pytest.mark.parametrize("colour", [DEFAULT.a, DEFAULT.b])
def test_a_breath_keeps_to_its_levels(colour: bytes) -> None:
    """A breath from 30 to 70 % has these as its least and its greatest light."""
    levels = [leading(value) / 255 for value in breath(colour, 0.3, 0.7, 1_000).values]
    assert PHASES == len(levels)
    assert (0.3, 0.7) == (round(min(levels), 2), round(max(levels), 2))


def test_a_pulse_rests_for_two_thirds() -> None:
    """A pulse of 1 s in 3 s shows its rest for the other two."""
    values = pulse(DEFAULT.a, DEFAULT.a_pale).values
    assert 2 / 3 == pytest.approx(values.count(values[0]) / len(values), abs=0.02)
    assert DEFAULT.a_pale == max(values, key=luminance) == values[PHASES // 2]


def test_dimmed_keeps_the_rhythm() -> None:
    """A dimmed rhythm has the same period and a value for each of the old ones, at that share of its light."""
    old = breath(DEFAULT.b, 0.6, 1.0, 4_000)
    new = dimmed(old, 0.25)
    assert (old.period_us, len(old.values)) == (new.period_us, len(new.values))
    assert all(abs(leading(y) - leading(x) / 4) <= 1 for x, y in zip(old.values, new.values, strict=True))
