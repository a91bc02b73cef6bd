"""How long the phases around a game last, and which two cells mean something together."""

from __future__ import annotations

from typing import NamedTuple

from firmware.detours import detours
from firmware.gesture import Chord
from firmware.menu import MenuTimes
from firmware.snapshot import Phase


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
    park_us: int = 300_000_000
    countdown_us: int = 20_000_000
    detour_us: int = 1_000_000
    # Long enough to see each action and its bloom (400 ms), short enough that a long game of 60 takes a minute.
    replay_step_us: int = 900_000


MENU_CORNERS, OTHER_CORNERS = frozenset((0, 48)), frozenset((6, 42))


def menu_corners(masked: frozenset[int]) -> frozenset[int]:
    """The opposite corners that open the menu: a1 and g7, or if one of them cannot be touched, a7 and g1."""
    return OTHER_CORNERS if masked & MENU_CORNERS else MENU_CORNERS


def chords(
    times: PhaseTimes, phase: Phase, masked: frozenset[int], doubted: frozenset[int] = frozenset()
) -> dict[frozenset[int], Chord]:
    """Own two corners show the pools; opposite corners open the menu, in the lobby the options.

    In play two edge cells play for a `masked` cell, one of its row and one of its column; `doubted` ones do not.
    """
    pips = Chord("pips", times.pips_hold_us)
    menu = {menu_corners(masked): Chord("menu", times.menu_hold_us)}
    if phase in ("play", "paused"):
        shown = {frozenset((0, 6)): pips, frozenset((42, 48)): pips} | menu
        return shown | detours(masked, times.detour_us, doubted) if phase == "play" else shown
    return menu if phase in ("lobby", "result") else {}
