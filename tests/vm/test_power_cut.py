"""The first promise on a real ext4: after a power cut the position the players last saw, or one action earlier."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from tests.vm.machine import KIT
from tests.vm.power_cut import PowerCut, blank_card

pytestmark = pytest.mark.vm

NOTHING = "0 nothing"


class Seen:
    """What the players saw on the board, told by the machine itself before each cut."""

    def __init__(self) -> None:
        self.before = self.states = [NOTHING]
        self.actions = 0
        self.unusual: list[str] = []

    def restarted(self, lines: list[str]) -> str:
        """Take in what a machine told; returns what it found, "" if it was cut before it could say so."""
        found = ""
        for line in lines:
            word, _, told = line.partition(" ")
            if word == "UNUSUAL":
                self.unusual.append(told)
            elif word == "FOUND":
                found, self.before, self.states = told, self.states, [told]
            elif word == "SHOWN":
                self.states.append(told)
                self.actions += 1
            else:
                raise AssertionError("the player failed:\n" + "\n".join(lines))
        return found

    def keeps(self, found: str) -> bool:
        """Whether what a restart found is what was last seen before it, or one action earlier."""
        return found in self.before[-2:]


def cut(machine: PowerCut, chance: random.Random, *arguments: str) -> list[str]:
    """Pull the plug at some moment of play, or once in four of booting, recovery included."""
    seed = ("--seed", str(chance.getrandbits(32)))
    if chance.random() < 0.25:
        return machine.cut(chance.uniform(0.3, 1.5), *seed, *arguments)
    return machine.cut(chance.uniform(0, 0.5), *seed, *arguments, ready="FOUND")


@pytest.mark.long
def test_a_power_cut_takes_one_action_at_most(tmp_path: Path, seed: int, prove: bool) -> None:
    """After every cut the restart finds, whole and unrepaired, the position last seen or the one before that action."""
    chance, seen = random.Random(seed), Seen()
    machine = PowerCut(blank_card(tmp_path / "card.img"), sys.executable, KIT / "inside/player.py")
    cuts, restarts, newest = 200 if prove else 6, 0, 0
    for number in range(cuts + 1):
        lines = cut(machine, chance) if number < cuts else machine.run("--look")
        if found := seen.restarted(lines):
            assert seen.keeps(found), f"cut {number}: seen {seen.before[-2:]}, found {found}"
            restarts += 1
            newest += found == seen.before[-1]
    assert [] == seen.unusual
    assert seen.actions > cuts
    print(f"{cuts} power cuts, {seen.actions} actions seen; of {restarts} restarts {newest} had the newest of them")


def test_without_flushing_a_power_cut_takes_more(tmp_path: Path, seed: int) -> None:
    """The negative control: with synchronous=OFF, and all else the same, a cut loses more than one action."""
    seen = Seen()
    machine = PowerCut(blank_card(tmp_path / "card.img"), sys.executable, KIT / "inside/player.py", "--careless")
    seen.restarted(machine.cut(0.3, "--seed", str(seed), ready="SHOWN"))
    found = seen.restarted(machine.run("--look"))
    assert len(seen.before) > 2
    assert not seen.keeps(found), "nothing was lost: the test above proves nothing"
