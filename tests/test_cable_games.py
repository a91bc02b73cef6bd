"""Whole games over a bad cable in virtual time: no action is wrong, lost or doubled, whatever the cable does."""

from __future__ import annotations

from random import Random

import pytest

from sim.cable import CableFaults
from tests.cable_players import BACK_US, Players
from tests.serial_rig import World

NOISY = CableFaults(byte_error_rate=0.001)


class CabledTable(Players):
    """People at a simulated board, in virtual time; `bursts_us`: how long after each burst of noise the contacts were
    known again, and how long after it a press that came at its end was answered by light on the board.
    """

    def __init__(self, seed: int) -> None:
        self.world = World(NOISY, seed)
        self._bursts = Random(f"{seed}/bursts")
        self.bursts_us: list[tuple[int, int]] = []
        self._ended_us = 0
        self.sit(self.world.open(), seed)

    def now_us(self) -> int:
        return self.world.clock.now_us()

    def pass_time(self, us: int) -> None:
        self.world.step(us)

    def press(self, cell: int) -> None:
        self.world.device.board.contacts.press(cell, self.world.board_clock.now_us())

    def release(self, cell: int) -> None:
        self.world.device.board.contacts.release(cell, self.world.board_clock.now_us())

    def pull_out(self) -> None:
        self.world.unplug()

    def put_back(self) -> None:
        self.world.plug(self.chance.choice(("/dev/ttyACM0", "/dev/ttyACM1")))

    def restart(self) -> None:
        self.world.device.restart()

    def before_touch(self) -> None:
        """At every third turn noise comes over the cable, and the finger comes down at its end."""
        if self._bursts.random() < 1 / 3:
            burst_us = self._bursts.randrange(5_000, 50_000)
            self.world.cable.noise(self.now_us(), burst_us)
            self.play_for(burst_us)
            self._ended_us = self.now_us()

    def touch(self, cell: int, us: int = 60_000) -> None:
        if not self._ended_us:
            super().touch(cell, us)
            return
        ended_us, self._ended_us = self._ended_us, 0
        known_us = lit_us = 0
        self.press(cell)
        while not (known_us and lit_us):
            self.play_for(1_000)
            known_us = known_us or (self.known_to_us >= ended_us) * self.now_us()
            lit_us = lit_us or (self.answered_us >= ended_us) * self.now_us()
            assert self.now_us() - ended_us < BACK_US
        self.bursts_us.append((known_us - ended_us, lit_us - ended_us))
        self.play_for(max(0, us - (self.now_us() - ended_us)))
        self.release(cell)
        self.play_for(60_000)


def p99(values: list[int]) -> int:
    return sorted(values)[-1 - len(values) // 100]


@pytest.mark.long
def test_games_over_a_bad_cable_have_the_moves_that_were_made(
    seed: int, prove: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """One byte in a thousand is wrong, bursts of noise drown the cable, it is pulled out again and again: each action
    counts once and as it was meant, unseen fingers do nothing, clocks stand; after a burst all is known and a press is
    answered by light within 100 ms, after a replug the board is back within three seconds."""
    games, pulls = (200, 50) if prove else (2, 6)
    plies, replugs_us, known_us, lit_us = 0, list[int](), list[int](), list[int]()
    for number in range(games):
        table = CabledTable(seed + number)
        plies += table.play((number + 1) * pulls // games - number * pulls // games, 150)
        replugs_us += table.replugs_us
        known_us += [known for known, _ in table.bursts_us]
        lit_us += [lit for _, lit in table.bursts_us]
    with capsys.disabled():
        print(
            f"\n{games} games, {plies} plies over a bad cable in virtual time. {len(replugs_us)} replugs: back in "
            f"{p99(replugs_us) / 1e6:.2f} s at p99. {len(lit_us)} bursts of noise: contacts known "
            f"{p99(known_us) / 1e3:.0f} ms after, a press answered by light {p99(lit_us) / 1e3:.0f} ms after, at p99"
        )
    assert p99(replugs_us) <= 3_000_000
    assert p99(known_us) <= p99(lit_us) <= 100_000
