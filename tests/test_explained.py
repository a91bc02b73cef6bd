"""No touch that is not one: every action of a long random run is explained by the fingers that were on the board.

The checker knows the moves of the fingers, the rules of touch as the design words them, and nothing of the code that
judges touches. It allows for what lies between a finger and an edge's own time (bounce, a scan that may be 5 ms away)
wherever that decides in favour of an action: what it finds has no explanation at all.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from random import Random
from typing import NamedTuple

import pytest

from firmware.clock import Limits
from firmware.games import morbak
from sim.drive import Drive
from sim.fingers import Finger, chord, hold, press, script, tap, wander

MS = 1_000
S = 1_000_000
# design.md, "What a touch means"
TAP_MIN_US, HOLD_US, GUARD_US, LEAVE_US = 20 * MS, 800 * MS, 250 * MS, 5 * S
# design.md, "Phases"; the lot begins when the lobby has been shown, and play within 5 s
DEAF_US, LOBBY_US, LOT_US = 3 * S, 2_000 * MS, 2_500 * MS
MOVE_US = 10 * S  # short, so that turns are missed too
TIMEOUTS_TO_PARK = 3
# An edge's own time is at most this much after the finger's move: 3 ms of bounce, an idle scan every 5 ms.
LATE_US = 3 * MS + 5 * MS
# A contact that closes again sooner than this may never have been seen open: 10 ms of debounce, and LATE_US.
BRIDGED_US = 10 * MS + LATE_US
LONGEST_US = 20 * S  # no finger of `wander` rests longer


class Contact(NamedTuple):
    """A finger on a cell, from `down_us` to `up_us`; `since_us`: where the touch began of which it may be a part."""

    down_us: int
    up_us: int
    cell: int
    since_us: int


class Happening(NamedTuple):
    """At `t_us` an action was played (its text), or a phase began (its name)."""

    t_us: int
    what: str
    starter: str = ""


PHASES = {"attract", "lobby", "play", "paused", "result"}


# -- what the fingers did ----------------------------------------------------------------------------------------------


def contacts(moves: Iterable[Finger]) -> list[Contact]:
    """Every contact of a list of moves, by its beginning; fingers that are down at the end stay down."""
    down: dict[int, Contact] = {}
    found: list[Contact] = []
    for t_us, cell, is_down in moves:
        before = down.get(cell)
        if is_down:
            bridged = before is not None and t_us - before.up_us < BRIDGED_US
            down[cell] = Contact(t_us, LONGEST_US + t_us, cell, before.since_us if before and bridged else t_us)
        else:
            assert before is not None
            down[cell] = before._replace(up_us=t_us)
            found.append(down[cell])
    return sorted(found + [last for last in down.values() if last not in found])


class Fingers:
    """All contacts of a run, and whether they explain a tap or a hold."""

    def __init__(self, moves: Iterable[Finger]) -> None:
        self._all = contacts(moves)
        self._of: dict[int, list[Contact]] = defaultdict(list)
        for contact in self._all:
            self._of[contact.cell].append(contact)

    def tapped(self, t_us: int, free_us: int, cells: Iterable[int] = range(49)) -> bool:
        """Whether at `t_us` the only live finger was lifted from one of `cells`, after `TAP_MIN_US` or more."""
        return any(
            TAP_MIN_US <= t_us - first.down_us < LEAVE_US + LATE_US
            and last.up_us <= t_us <= last.up_us + LATE_US
            and self._alone(first, t_us, free_us)
            for cell in cells
            for first, last in self._touches(cell, t_us)
        )

    def held(self, t_us: int, free_us: int, cell: int) -> bool:
        """Whether at `t_us` the only live finger had been on `cell` for `HOLD_US`, and was on it still."""
        return any(
            first.down_us <= t_us - HOLD_US <= first.down_us + LATE_US
            and last.up_us + LATE_US >= t_us
            and self._alone(first, t_us, free_us)
            for first, last in self._touches(cell, t_us)
        )

    def _touches(self, cell: int, t_us: int) -> Iterator[tuple[Contact, Contact]]:
        """What may have been one touch on a cell by `t_us`: its first contact and its last."""
        own = self._of[cell]
        before = own[bisect_left(own, t_us - LONGEST_US, key=lambda c: c.down_us) : bisect_right(own, (t_us, 1 << 62))]
        for at, first in enumerate(before):
            for last in before[at:]:
                if last.since_us <= first.down_us:
                    yield first, last

    def _alone(self, own: Contact, t_us: int, free_us: int) -> bool:
        """Whether the press may have been a live one, and no other live finger was surely down until `t_us`."""
        if own.down_us + LATE_US < free_us:
            return False  # in the guard, or down when the turn or the phase changed
        start = bisect_left(self._all, own.down_us - LONGEST_US, key=lambda c: c.down_us)
        end = bisect_left(self._all, t_us - LATE_US, key=lambda c: c.down_us)
        return not any(
            other.cell != own.cell
            and other.up_us > own.down_us + LATE_US  # both were down together
            and other.up_us - other.down_us >= LATE_US  # long enough to be seen
            and other.since_us >= free_us  # it was alive
            and max(own.down_us, other.down_us) + LATE_US < other.since_us + LEAVE_US  # and had not left yet
            for other in self._all[start:end]
        )


# -- what came of it ---------------------------------------------------------------------------------------------------


class Checker:
    """Goes through all that happened in order, and keeps what the rules of touch do not explain."""

    def __init__(self, fingers: Fingers) -> None:
        self._fingers = fingers
        self.unexplained: list[Happening] = []
        self._phase, self._phase_us = "attract", 0
        self._free_us = 0  # before it a press is dead
        self._turn_us = 0
        self._timeouts = 0
        self._lot = True
        self._state = morbak.initial()

    def see(self, happening: Happening) -> None:
        """Judge the next thing that happened."""
        explained = self._entered(happening) if happening.what in PHASES else self._played(happening)
        if not explained:
            self.unexplained.append(happening)

    def _played(self, happening: Happening) -> bool:
        t_us, text, _ = happening
        action = morbak.parse_action(text)
        lawful = self._phase == "play" and t_us <= self._turn_us + MOVE_US
        if action == morbak.PASS:
            lawful &= t_us == self._turn_us + MOVE_US
            self._timeouts += 1
            self._state = morbak.pass_turn(self._state)
        else:
            lawful &= action in morbak.legal(self._state)
            lawful &= self._touched(action, t_us)
            self._timeouts = 0
            self._state = morbak.apply(self._state, action)
        self._turn_us, self._free_us = t_us, t_us + GUARD_US
        return lawful

    def _touched(self, action: morbak.Action, t_us: int) -> bool:
        if action.kind == "light":
            return self._fingers.tapped(t_us, self._free_us, [action.cell])
        return self._fingers.held(t_us, self._free_us, action.cell)

    def _entered(self, happening: Happening) -> bool:
        t_us, phase, starter = happening
        lawful = self._may_enter(phase, t_us)
        guard_us = {"lobby": GUARD_US, "result": DEAF_US, "play": GUARD_US if self._phase == "paused" else 0}
        self._free_us = max(t_us + guard_us.get(phase, 0), self._free_us)
        if (self._phase, phase) == ("lobby", "play"):
            self._state = morbak.initial(morbak.STANDARD, "a" if starter == "a" else "b")
            self._lot = False
        if phase == "play":
            self._turn_us, self._timeouts = t_us, 0
        self._phase, self._phase_us = phase, t_us
        return lawful

    def _may_enter(self, phase: str, t_us: int) -> bool:
        match self._phase, phase:
            case ("attract" | "result", "lobby") | ("paused", "play"):
                return self._fingers.tapped(t_us, self._free_us)
            case "lobby", "play":
                return t_us == self._phase_us + LOT_US + (LOBBY_US if self._lot else 0)
            case "play", "result":
                return morbak.outcome(self._state) is not None and t_us == self._turn_us
            case "play", "paused":
                return self._timeouts == TIMEOUTS_TO_PARK and t_us == self._turn_us
        return False


def unexplained(moves: Iterable[Finger], happenings: Iterable[Happening]) -> list[Happening]:
    """Everything that happened although no finger and no clock explains it."""
    checker = Checker(Fingers(moves))
    for happening in happenings:
        checker.see(happening)
    return checker.unexplained


def happened(moves: list[Finger], seed: int) -> list[Happening]:
    """Put the fingers on a board; everything that came of them, in order."""
    drive = Drive(seed=seed, limits=Limits(None, MOVE_US))
    seen: list[Happening] = []
    entered = [0]

    def look(_: int) -> None:
        table = drive.table
        seen.extend(Happening(*played) for played in table.take_played())
        if table.phase_us != entered[0]:
            entered[0] = table.phase_us
            seen.append(Happening(table.phase_us, table.phase, table.game.starter if table.game else ""))

    drive.heard.append(look)
    drive.fingers(moves)
    drive.run_until(moves[-1].t_us + S)
    return seen


@pytest.mark.long
def test_random_fingers_make_no_action_that_no_touch_explains(prove: bool, seed: int) -> None:
    """Of 100,000 random moves of both sides' fingers at once each action and change of phase is explained (case G1)."""
    moves = list(islice(wander(Random(seed)), 100_000 if prove else 6_000))
    seen = happened(moves, seed)
    assert [] == unexplained(moves, seen), f"MORBAK_SEED={seed}"
    kinds = Counter(morbak.parse_action(what).kind if what not in PHASES else what for _, what, _ in seen)
    assert len(moves) // 40 <= kinds["light"] + kinds["permute"] + kinds["block"] + kinds["neutralise"], kinds
    assert {"lobby", "play", "light", "pass"} <= set(kinds), kinds


# -- the checker is no yes-man -----------------------------------------------------------------------------------------

START = [Happening(160 * MS, "lobby"), Happening(4_660 * MS, "play", "a")]
OPENING = tap("d4", 100 * MS)
LIT = [*START, Happening(6_060 * MS, "a1")]
T_US = 8 * S


@pytest.mark.parametrize(
    ("fingers", "played", "at_ms", "explained"),
    [
        (tap("b2", T_US), "b2", 60, True),
        (tap("b2", T_US), "b2", 67, True),
        (tap("b2", T_US), "b2", 69, False),  # long after the finger was lifted
        (tap("b2", T_US), "b2", 59, False),  # before
        (tap("b2", T_US), "b3", 60, False),  # another cell
        (tap("b2", T_US), "#a1", 60, False),  # and another action
        (tap("a1", T_US), "a1", 60, False),  # against the rules of the game
        (tap("b2", T_US, 19 * MS), "b2", 19, False),  # noise
        (tap("b2", T_US, 20 * MS), "b2", 20, True),
        (hold("a1", T_US, 900 * MS), "xa1", 800, True),
        (hold("a1", T_US, 900 * MS), "xa1", 808, True),
        (hold("a1", T_US, 900 * MS), "xa1", 809, False),
        (hold("a1", T_US, 900 * MS), "xa1", 799, False),
        (hold("a1", T_US, 780 * MS), "xa1", 800, False),  # lifted early
        (tap("a1", T_US), "xa1", 60, False),  # a scarce action by a tap
        (hold("b2", T_US, 900 * MS), "b2", 800, False),  # a light by a hold
        (hold("b2", T_US, 900 * MS), "b2", 900, True),
        (hold("b2", T_US, 5_100 * MS), "b2", 5_100, False),  # a resting hand
        (tap("b2", T_US) + tap("c3", T_US + 30 * MS), "b2", 60, False),  # two cells
        (tap("b2", T_US) + tap("c3", T_US + 30 * MS), "c3", 90, False),
        (tap("b2", T_US) + tap("c3", T_US + 30 * MS, 7 * MS), "b2", 60, True),  # a contact that no scan may have seen
        (tap("b2", T_US) + tap("c3", T_US + 53 * MS), "b2", 60, True),  # the first may have been lifted before
        (chord(["b2", "c3", "d4", "e5"], T_US, 300 * MS), "b2", 300, False),  # a palm
        (hold("c3", 6_500 * MS, 4 * S) + tap("b2", T_US), "b2", 60, False),  # a finger that still counts
        (hold("c3", 6_200 * MS, 4 * S) + tap("b2", T_US), "b2", 60, True),  # one that is dead: it came in the guard
        (hold("c3", 4_500 * MS, 5 * S) + tap("b2", T_US), "b2", 60, True),  # or before play began
        (hold("c3", 6_500 * MS, 9 * S) + tap("b2", 11_600 * MS), "b2", 3_660, True),  # or has rested 5 s
        (tap("b2", 6_300 * MS), "b2", -1_640, False),  # in the guard
        (tap("b2", T_US, 10 * MS) + tap("b2", T_US + 15 * MS, 45 * MS), "b2", 60, True),  # a touch with a gap
        (tap("b2", T_US, 30 * MS) + tap("b2", T_US + 60 * MS, 15 * MS), "b2", 75, False),  # noise after a touch
        ((), "--", 8_060, True),
        ((), "--", 8_059, False),
        (hold("b2", T_US + 7 * S, 1_063 * MS), "b2", 8_063, False),  # out of time
        (hold("b2", T_US + 7 * S, 1_060 * MS), "b2", 8_060, True),  # at the limit, which it beats
    ],
)
def test_the_checker_knows_what_explains_an_action(
    fingers: tuple[Finger, ...], played: str, at_ms: int, explained: bool
) -> None:
    """A touch as the design words it explains its action, and nothing else does."""
    moves = script(OPENING, tap("a1", 6_000 * MS), fingers)
    action = Happening(T_US + at_ms * MS, played)
    try:
        found = unexplained(moves, [*LIT, action])
    except morbak.IllegalAction:
        found = [action]
    assert ([] if explained else [action]) == found


@pytest.mark.parametrize(
    ("fingers", "phases", "explained"),
    [
        (OPENING, START, True),
        (press("d4", 100 * MS), START, False),  # nobody has let go
        (OPENING, [START[0], Happening(4_661 * MS, "play", "a")], False),
        (OPENING, [START[1]], False),  # a game out of nothing
        (OPENING, [*START, Happening(6 * S, "result")], False),
        (OPENING, [*START, Happening(14_660 * MS, "paused")], False),
        (OPENING + hold("b2", 4_500 * MS, S), [*START, Happening(5_500 * MS, "b2")], False),  # down when play began
        (OPENING + hold("b2", 4_660 * MS, S), [*START, Happening(5_660 * MS, "b2")], True),
        (OPENING + tap("d4", 9 * S), [*START, Happening(9_060 * MS, "lobby")], False),
    ],
)
def test_the_checker_knows_what_leads_to_a_phase(
    fingers: tuple[Finger, ...], phases: list[Happening], explained: bool
) -> None:
    """A tap leads from attract to the lobby, time from there to play, and nothing out of a game that is going on."""
    assert explained == (unexplained(script(fingers), phases) == [])
