"""The first promise on a real ext4: after a power cut the position the players last saw, or one action earlier.

Whole boards are cut: contacts, table, keeper, lights and journal (`inside/player.py`). *Seen* is what a latched frame
showed. An action counts once its finger is lifted (or its hold complete): it may be on the card a moment before the
frame in which it stands. So a restart may also find that action, which nobody takes for a wrong one; such finds are
counted. An action that no finger had finished is never found.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.vm.machine import KIT
from tests.vm.power_cut import PowerCut, blank_card

pytestmark = pytest.mark.vm

NOTHING = "0 nothing"
LOST_US = 5_000_000  # of a clock, in the player's favour (promise 1)
STEP_US = 100_000  # a clock that was told has run no longer than this since


class Seen:
    """What the players saw on the board, told by the machine itself before each cut."""

    def __init__(self) -> None:
        self.before = self.states = [NOTHING]
        self.finished = self.meant = ""  # the action that a finger was finishing, before the cut and now
        self.used_us = self.told_us = (0, 0)  # of both clocks, found by the last restart, and told last before it
        self._last_us = (0, 0)
        self.actions = 0
        self.unusual: list[str] = []

    def restarted(self, lines: list[str]) -> str:
        """Take in what a machine told; returns what it found, "" if it was cut before it could say so."""
        found, clock_us = "", None
        for line in lines:
            word, _, told = line.partition(" ")
            if word == "UNUSUAL":
                self.unusual.append(told)
            elif word == "FOUND":
                found, self.before, self.states = told, self.states, [told]
                self.finished, self.meant = self.meant, ""
            elif word == "CLOCK":
                a, b = (int(us) for us in told.split())
                if clock_us is None and found:
                    self.used_us, self.told_us = (a, b), self._last_us
                clock_us = self._last_us = (a, b)
            elif word == "MEANT":
                self.meant = told
            elif word == "SHOWN":
                self.states.append(told)
                self.actions += 1
            else:
                raise AssertionError("the player failed:\n" + "\n".join(lines))
        return found

    def kept(self, found: str) -> str:
        """What was found: the `newest` position seen, the one `earlier`, one `lifted` but not yet lit; else ""."""
        if found == self.before[-1]:
            return "newest"
        if found == self.finished:
            return "lifted"
        return "earlier" if found in self.before[-2:] else ""

    def check_clocks(self, found: str) -> None:
        """What a side has used is never more than it had, and no more than 5 s are forgotten."""
        if found.split()[0] == self.before[-1].split()[0]:
            for used_us, told_us in zip(self.used_us, self.told_us, strict=True):
                assert told_us - LOST_US <= used_us <= told_us + STEP_US, (self.used_us, self.told_us)


def cut(machine: PowerCut, chance: random.Random, *arguments: str) -> list[str]:
    """Pull the plug at some moment of play, or once in four of booting, recovery included."""
    seed = ("--seed", str(chance.getrandbits(32)))
    if chance.random() < 0.25:
        return machine.cut(chance.uniform(0.3, 1.5), *seed, *arguments)
    return machine.cut(chance.uniform(0, 2.0), *seed, *arguments, ready="FOUND")


@pytest.mark.long
def test_a_power_cut_takes_one_action_at_most(tmp_path: Path, seed: int, prove: bool) -> None:
    """After every cut the restart finds, whole and unrepaired, the position last seen or the one before that action,
    and clocks that have lost 5 s at most, in the players' favour."""
    chance, seen = random.Random(seed), Seen()
    machine = PowerCut(blank_card(tmp_path / "card.img"), sys.executable, KIT / "inside/player.py")
    cuts, kinds = 200 if prove else 6, Counter[str]()
    for number in range(cuts + 1):
        lines = cut(machine, chance) if number < cuts else machine.run("--look")
        if found := seen.restarted(lines):
            kept = seen.kept(found)
            assert kept, f"cut {number}: seen {seen.before[-2:]}, meant {seen.finished}, found {found}"
            seen.check_clocks(found)
            kinds[kept] += 1
    assert [] == seen.unusual
    assert seen.actions > cuts
    print(f"{cuts} power cuts, {seen.actions} changes seen; restarts by what they found: {dict(kinds)}")


def test_without_flushing_a_power_cut_takes_more(tmp_path: Path, seed: int) -> None:
    """The negative control: with synchronous=OFF, and all else the same, a cut loses more than one action."""
    seen = Seen()
    machine = PowerCut(blank_card(tmp_path / "card.img"), sys.executable, KIT / "inside/player.py", "--careless")
    seen.restarted(machine.cut(2.0, "--seed", str(seed), ready="SHOWN"))
    found = seen.restarted(machine.run("--look"))
    assert len(seen.before) > 2
    assert not seen.kept(found), "nothing was lost: the test above proves nothing"
