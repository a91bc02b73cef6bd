"""The countdown before a board falls asleep: night goes round it like a clock's hand, and its lights go out.

Stars come up on the empty cells of the border: a ring of pale lights that glimmer. Then, from the middle of the mover's
edge and clockwise, one after the other goes out; behind it the cells of the position, inner ones too, go over into the
look of a paused board. What is still awake, tide included, is the time that is left.
"""

from __future__ import annotations

from typing import NamedTuple

from firmware.grounds import CELLS, COLUMNS, OFFSETS, Ground, ring
from firmware.palette import Colour, mix, scale
from firmware.rhythm import breath, swing
from firmware.snapshot import Countdown, Side

# Neither side's colour; at its height 20 or more (CIEDE2000) from both, dimmed or not, and from a neutralised cell.
# Between its levels lie 0.09 of luminance: no glimmer counts as a change (WCAG 2.2).
STAR_LOW, STAR_HIGH = 0.1, 0.24
STAR_US = 4_400_000
ARRIVE_US, RISE_US = 900_000, 400_000
FALL_US = 1_000_000
STEPS = 64


class Hour(NamedTuple):
    """When night comes to a cell, and when a star comes up on it (None: it has none)."""

    place: slice
    rise_us: int | None
    fall_us: int


def nightfall(awake: Ground, asleep: Ground, cells: str, mover: Side | None, pale: Colour, time: Countdown) -> Ground:
    """From the ground `awake` at the start of the countdown to the ground `asleep` at its end, cell by cell."""
    hours = _hours(cells, mover, time)
    star = breath(pale, STAR_LOW, STAR_HIGH, STAR_US)
    last = [_going(pale, step / STEPS) for step in range(STEPS)]

    def ground(t_us: int) -> bytearray:
        frame, night = awake(t_us), asleep(t_us)
        if t_us >= time.end_us:
            return night
        for place, rise_us, fall_us in hours:
            age_us = t_us - fall_us
            if age_us >= FALL_US:
                frame[place] = night[place]
            elif age_us >= 0:
                frame[place] = (
                    last[age_us * STEPS // FALL_US] if rise_us is not None else _mixed(frame, night, place, age_us)
                )
            elif rise_us is not None and t_us > rise_us:
                light = star.at(age_us + STAR_US // 2)  # each at its height when its hour has come
                share = min(1.0, (t_us - rise_us) / RISE_US)
                frame[place] = light if share == 1 else mix(bytes(frame[place]), light, share)
        return frame

    return ground


def _mixed(frame: bytearray, night: bytearray, place: slice, age_us: int) -> Colour:
    return mix(bytes(frame[place]), bytes(night[place]), swing(age_us / FALL_US / 2))


def _going(pale: Colour, age: float) -> Colour:
    """A star that goes out, from its height to nothing."""
    return scale(pale, STAR_HIGH * (1 - swing(age / 2)))


def _hours(cells: str, mover: Side | None, time: Countdown) -> tuple[Hour, ...]:
    """Night comes to all rings at the same angle; the middle of the board goes last."""
    hours = []
    dusk_us = time.start_us + min(ARRIVE_US + RISE_US, (time.end_us - time.start_us) // 4)
    for radius in range(COLUMNS // 2 + 1):
        round_ = ring(radius) if radius else (CELLS // 2,)
        home = len(round_) // 2 if mover == "b" else 0
        for number in range(len(round_)):
            cell = round_[(home + number) % len(round_)]
            turn = number / len(round_) if radius else 1.0
            fall_us = dusk_us + round(max(0, time.end_us - FALL_US - dusk_us) * turn)
            outer = radius == COLUMNS // 2 and cells[cell] == "."
            rise_us = time.start_us + round(ARRIVE_US * turn) if outer else None
            hours.append(Hour(slice(OFFSETS[cell], OFFSETS[cell] + 3), rise_us, fall_us))
    return tuple(hours)
