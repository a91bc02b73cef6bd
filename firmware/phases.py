"""How long the phases around a game last, and which two cells mean something together."""

from __future__ import annotations

from typing import NamedTuple

from firmware.gesture import Chord
from firmware.menu import MenuTimes


class PhaseTimes(NamedTuple):
    """Times around a game, and when a mover is short of time, in microseconds (design, "Phases")."""

    lobby_us: int = 2_000_000
    lot_us: int = 2_500_000
    result_deaf_us: int = 3_000_000
    idle_us: int = 120_000_000
    low_us: int = 30_000_000
    urgent_us: int = 10_000_000
    pips_us: int = 1_500_000
    pips_hold_us: int = 500_000
    menu_hold_us: int = 2_000_000
    menu: MenuTimes = MenuTimes()


def chords(times: PhaseTimes) -> dict[frozenset[int], Chord]:
    """Own two corners show the pools; opposite corners, a1 and g7, open the menu."""
    pips = Chord("pips", times.pips_hold_us)
    return {
        frozenset((0, 6)): pips,
        frozenset((42, 48)): pips,
        frozenset((0, 48)): Chord("menu", times.menu_hold_us),
    }
