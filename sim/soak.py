"""Whole games through simulated wires in virtual time: what `morbak soak` runs.

Matches differ in rules and clocks; who touches what, and what each touch must come to, is `sim.people`'s.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from dataclasses import dataclass, field
from random import Random

from firmware.clock import Limits
from firmware.games import morbak
from sim.drive import Drive
from sim.people import People
from sim.watch import Watch

S = 1_000_000
GAMES_A_MATCH = 5
MOST_MOVES = 150


@dataclass
class Report:
    """What a soak has found."""

    games: int = 0
    plies: int = 0
    touches: int = 0
    lost_touches: int = 0
    virtual_us: int = 0
    cpu_s: float = 0.0
    violations: list[str] = field(default_factory=list)
    results: Counter[str] = field(default_factory=Counter)
    digest: str = ""

    def figures(self) -> dict[str, object]:
        """As the command prints it; everything but `cpu_s` repeats with the seed."""
        return {
            "games": self.games,
            "plies": self.plies,
            "touches": self.touches,
            "lost_touches": self.lost_touches,
            "violations": len(self.violations),
            "virtual_s": round(self.virtual_us / S, 3),
            "cpu_s": round(self.cpu_s, 3),
            "results": dict(sorted(self.results.items())),
            "digest": self.digest,
        }


def soak(games: int, seed: int) -> Report:
    """Play `games` games in matches of five; the same seed gives the same report but for `cpu_s`."""
    report, digest = Report(), hashlib.sha256()
    begun_s = time.process_time()
    for number, first in enumerate(range(0, games, GAMES_A_MATCH)):
        rules, limits = _options(number)
        drive = Drive(seed=seed * 1_000 + number, rules=rules, limits=limits)
        chance = Random(f"{seed}/{number}/people")
        people = People(drive, chance, report, digest.update, peaceful=number % 4 == 2)
        watch = Watch(drive, people.violated, digest.update)
        _match(people, min(GAMES_A_MATCH, games - first))
        watch.finish()
        report.virtual_us += drive.now_us
    report.cpu_s = time.process_time() - begun_s
    report.digest = digest.hexdigest()
    return report


def _match(people: People, games: int) -> None:
    """Several games in a row on one board, from power-up to the last result."""
    people.drive.run_for(100_000)
    people.tap_into("lobby")
    people.wait_in_lobby(lot=True)
    for number in range(games):
        if number:
            people.rematch()
            people.wait_in_lobby(lot=False)
        _game(people)


def _game(people: People) -> None:
    game = people.table.game
    assert game is not None
    while game.ending is None and len(game.moves) < MOST_MOVES:
        if people.table.phase == "paused":  # three time-outs running have parked the game
            people.tap_into("play")
        else:
            people.turn()
    if game.ending is None:
        people.violated(f"a game of {len(game.moves)} moves has not ended")
        return
    people.ended()


def _options(number: int) -> tuple[morbak.Rules, Limits]:
    """Every match another way: usual rules mostly, then lite, no blocks, scarce, and clocks that run out."""
    return (
        (morbak.STANDARD, Limits()),
        (morbak.LITE, Limits(None, 8 * S)),
        (morbak.STANDARD, Limits(25 * S, 5 * S)),
        (morbak.Rules(pool=3, block=False, neutralisations=2), Limits(None, None)),
        (morbak.Rules(pool=0, block=True, neutralisations=0), Limits(40 * S, None)),
    )[number % 5]
