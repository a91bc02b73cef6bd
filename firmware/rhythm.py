"""Light that repeats (a colour by phase) and the shapes of light that comes once. Pure functions of time."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi

from firmware.palette import Colour, Palette, mix, scale

# Phases of one period: 16 ms of a breath, 12 ms of a pulse, so no frame at 60 Hz is skipped or seen as a step.
PHASES = 256

BREATH_US = 4_000_000
BREATH_LOW = 0.6
PULSE_US = 3_000_000
# How long the core swells within its three seconds, and how pale it stays between: a blocked cell is told at a glance.
PULSE_SWELL_US = 1_000_000
PULSE_REST = 0.15


@dataclass(frozen=True, eq=False)
class Rhythm:
    """Values by phase of a period: colours, or tables that map the bytes of a whole frame.

    Each is equal to itself only, so cells can be gathered by their rhythm without comparing all its values.
    """

    period_us: int
    values: tuple[bytes, ...]

    def at(self, t_us: int) -> bytes:
        """The value at a time; periods are counted from time 0, so a change of snapshot never breaks the rhythm."""
        return self.values[t_us % self.period_us * len(self.values) // self.period_us]


def swing(turn: float) -> float:
    """0 at each whole turn, 1 half-way, smooth between (a raised cosine)."""
    return (1 - cos(2 * pi * turn)) / 2


def glow(age_us: int, rise_us: int, fall_us: int) -> float:
    """A light that comes once: 0 to 1 in `rise_us`, back to 0 in `fall_us`, quick first and slow at the end."""
    if age_us < rise_us:
        return max(0, age_us) / rise_us
    left = 1 - (age_us - rise_us) / fall_us
    return left * left if left > 0 else 0.0


def steady(colour: Colour) -> Rhythm:
    """One colour for ever."""
    return Rhythm(1, (colour,))


def breath(colour: Colour, low: float, high: float, period_us: int) -> Rhythm:
    """A colour that swings from the level `low` to `high` and back."""
    levels = (low + (high - low) * swing(phase / PHASES) for phase in range(PHASES))
    return Rhythm(period_us, tuple(scale(colour, level) for level in levels))


def pulse(colour: Colour, pale: Colour) -> Rhythm:
    """A colour with a touch of `pale` that swells to all of it, once a period and in its middle."""
    share = PULSE_SWELL_US / PULSE_US
    turns = ((phase / PHASES - 0.5) / share + 0.5 for phase in range(PHASES))
    swells = (swing(turn) if 0 < turn < 1 else 0.0 for turn in turns)
    return Rhythm(PULSE_US, tuple(mix(colour, pale, PULSE_REST + (1 - PULSE_REST) * swell) for swell in swells))


def dimmed(rhythm: Rhythm, level: float) -> Rhythm:
    """The same rhythm at `level` of its light, never below visible."""
    return Rhythm(rhythm.period_us, tuple(scale(colour, level) for colour in rhythm.values))


def voices(palette: Palette) -> dict[str, Rhythm]:
    """How each state of a cell shines, by its character in the position text (the empty cell has none)."""
    return {
        "a": steady(palette.a),
        "b": steady(palette.b),
        "x": breath(palette.a, BREATH_LOW, 1.0, BREATH_US),
        "y": breath(palette.b, BREATH_LOW, 1.0, BREATH_US),
        "A": pulse(palette.a, palette.a_pale),
        "B": pulse(palette.b, palette.b_pale),
        "*": steady(palette.neutralised),
    }
