"""Light that comes once on one cell: the answer to a finger, patterns, the bloom of an action, warnings.

Each function makes a `Layer`: from when until when it shines, and its colour over whatever lies beneath. A layer keeps
the flash limit by itself; how far layers of one cell lie apart is the business of whoever gives the times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from firmware.palette import DARK, Colour, luminance, mix, scale
from firmware.rhythm import Rhythm, breath, glow, swing
from firmware.snapshot import Pattern, Touch

FOREVER_US = 1 << 62

PREVIEW_LEVEL = 0.4
BLOOM_US = 400_000
REFUSED_US = 1_000_000
REFUSED_EVERY_US = 500_000
# White at once and long enough to be seen, gone well before the second time.
REFUSED_WHITE_US, REFUSED_FALL_US = 140_000, 240_000
HOLD_US = 700_000
HOLD_FILL_US = 450_000
GHOST_US = 1_000_000
GHOST_LEVEL = 1 / 3
FAULT_US = 2_000_000
FADE_US = 500_000
CREST_RISE_US, CREST_FALL_US = 80_000, 520_000
LOW_US = 1_000_000
# Low time swings between these luminances: 0.05 apart, so well under the 0.10 from which WCAG 2.2 speaks of a flash.
LOW_LIGHT, LOW_LIGHT_HIGH = 0.012, 0.062

Paint = Callable[[int, Colour], Colour]


class Layer(NamedTuple):
    """What one cell shows from `start_us` until before `end_us`: `paint(t_us, colour beneath)`."""

    start_us: int
    end_us: int
    paint: Paint


def touch(touch: Touch, colour: Colour, end_us: int) -> Layer:
    """The preview: 40 % of the colour, rising to all of it until a hold is complete."""
    start_us, full_us = touch.rise_us, touch.full_us

    def paint(t_us: int, _under: Colour) -> Colour:
        held = 0.0 if full_us is None else min(1.0, (t_us - start_us) / max(1, full_us - start_us))
        return scale(colour, PREVIEW_LEVEL + (1 - PREVIEW_LEVEL) * held)

    return Layer(start_us, end_us, paint)


def refused(pattern: Pattern, white: Colour) -> Layer:
    """White and back, twice in a second."""

    def paint(t_us: int, under: Colour) -> Colour:
        age_us = (t_us - pattern.start_us) % REFUSED_EVERY_US
        return mix(under, white, 1.0 if age_us < REFUSED_WHITE_US else glow(age_us, REFUSED_WHITE_US, REFUSED_FALL_US))

    return Layer(pattern.start_us, pattern.start_us + REFUSED_US, paint)


def hold(pattern: Pattern, colour: Colour) -> Layer:
    """Fills from dark to the colour once and falls back: this touch wants to be held."""

    def paint(t_us: int, under: Colour) -> Colour:
        age_us = t_us - pattern.start_us
        if age_us < HOLD_FILL_US:
            return mix(DARK, colour, (age_us / HOLD_FILL_US) ** 2)  # about even steps for the eye
        return mix(under, colour, 1 - swing((age_us - HOLD_FILL_US) / (HOLD_US - HOLD_FILL_US) / 2))

    return Layer(pattern.start_us, pattern.start_us + HOLD_US, paint)


def bloom(start_us: int, pale: Colour) -> Layer:
    """The last action: pale at once, then down to what its cell has become."""
    return once(start_us, 0, BLOOM_US, pale)


def crest(start_us: int, pale: Colour) -> Layer:
    """The light that runs along a line passes here."""
    return once(start_us, CREST_RISE_US, CREST_FALL_US, pale)


def once(start_us: int, rise_us: int, fall_us: int, colour: Colour) -> Layer:
    """A colour that comes in `rise_us` and goes in `fall_us`, over what lies beneath."""
    return Layer(
        start_us,
        start_us + rise_us + fall_us,
        lambda t_us, under: mix(under, colour, glow(t_us - start_us, rise_us, fall_us)),
    )


def fade(start_us: int, before: Rhythm) -> Layer:
    """What the cell showed before goes over into what lies beneath."""
    return Layer(
        start_us,
        start_us + FADE_US,
        lambda t_us, under: mix(before.at(t_us), under, swing((t_us - start_us) / FADE_US / 2)),
    )


def swell(start_us: int, colour: Colour, period_us: int) -> Layer:
    """A colour that comes and goes over what lies beneath, from nothing at `start_us` on."""
    return Layer(start_us, FOREVER_US, lambda t_us, under: mix(under, colour, swing((t_us - start_us) / period_us)))


def show(until_us: int, colour: Colour) -> Layer:
    """A colour, whatever lies beneath, until a time."""
    return Layer(0, until_us, lambda _t_us, _under: colour)


def ghost(start_us: int, end_us: int, white: Colour) -> Layer:
    """An ambiguous cell: white at a third, 1 Hz; from nothing, and to nothing where it ends with one of its swells."""
    return swell(start_us, scale(white, GHOST_LEVEL), GHOST_US)._replace(end_us=end_us)


def fault(start_us: int, violet: Colour) -> Layer:
    """A part has failed: violet at 0.5 Hz."""
    return swell(start_us, violet, FAULT_US)


def low_rhythm(colour: Colour) -> Rhythm:
    """The swing of low time, of the same luminance whatever the colour."""
    light = luminance(colour)
    return breath(colour, LOW_LIGHT / light, LOW_LIGHT_HIGH / light, LOW_US)


def low(start_us: int, urgent_us: int | None, rhythm: Rhythm) -> Layer:
    """The mover runs short of time: 1 Hz, and 2 Hz from `urgent_us` on, without a break between them."""

    def paint(t_us: int, _under: Colour) -> Colour:
        urgency_us = 0 if urgent_us is None else max(0, t_us - max(urgent_us, start_us))
        return rhythm.at(t_us - start_us + urgency_us)

    return Layer(start_us, FOREVER_US, paint)
