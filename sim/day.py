"""A virtual day of visitors in front of the whole firmware: what `morbak soak --day` runs.

The day begins with a wall clock that is five months behind; at a random moment of a game a time server answers for the
first time. In its middle lies a night. Now and then the program is started anew, and now and then the power fails.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from firmware import record
from sim.hall import Hall
from sim.memory import Memory, memory
from sim.visitors import Visitors

S = 1_000_000
HOUR_US = 3600 * S
# Of a day the night takes this part, counted from its beginning: a parked game must outlast it.
NIGHT = (0.55, 0.85)
LEAST_FPS = 10
SAMPLE_US = 60 * S  # of memory
# The bound on memory. What a board takes that is started anew in the same process, whose heap has holes from
# the one before, as no real board is (up to 3 MB of 36 at once), is not counted: `Hall.restarts_bytes`.
MOST_GROWTH_PCT = {"live blocks": 2.0, "resident memory": 2.0}
# A day of 24 hours has so many of each; a shorter one has no fewer than one.
RESTARTS = 5
# Before the hall opens the board plays its miniatures, and fills the tables that it keeps: an eighth of a day.
OPENING_US = 15 * 60 * S
EARLY_US = 2700 * S


@dataclass
class Report:
    """What a day has found."""

    games: int = 0
    plies: int = 0
    touches: int = 0
    lost_touches: int = 0
    virtual_us: int = 0
    cpu_s: float = 0.0
    frames: int = 0
    scans: int = 0
    commits: int = 0
    fps: dict[str, float] = field(default_factory=dict)
    worst_fps: dict[str, int] = field(default_factory=dict)
    records: int = 0
    jumped_at_us: int | None = None
    memory: dict[int, Memory] = field(default_factory=dict)  # the most of each hour, from 0
    violations: list[str] = field(default_factory=list)
    results: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    digest: str = ""

    def growth_pct(self) -> tuple[float, float] | None:
        """By how much the most blocks and resident bytes of all later hours exceed those of the first.

        None in a day that has no second hour. The most, as caches with a bound fill and are emptied again.
        """
        later = [memory for hour, memory in self.memory.items() if hour > 0]
        if not later or 0 not in self.memory:
            return None
        first = self.memory[0]
        blocks = max(sample.blocks for sample in later) / first.blocks
        rss = max(sample.rss_bytes for sample in later) / first.rss_bytes
        return round(100 * (blocks - 1), 3), round(100 * (rss - 1), 3)

    def figures(self) -> dict[str, object]:
        """As the command prints it; all but `cpu_s` and memory repeats with the seed."""
        growth = self.growth_pct()
        rss_bytes = max((memory.rss_bytes for memory in self.memory.values()), default=0)
        return {
            "virtual_s": round(self.virtual_us / S, 3),
            "cpu_s": round(self.cpu_s, 3),
            "frames": self.frames,
            "scans": self.scans,
            "fps": self.fps,
            "worst_second_fps": self.worst_fps,
            "games": self.games,
            "records": self.records,
            "plies": self.plies,
            "touches": self.touches,
            "lost_touches": self.lost_touches,
            "violations": len(self.violations),
            "results": dict(sorted(self.results.items())),
            "commits": self.commits,
            "jump_at_s": None if self.jumped_at_us is None else round(self.jumped_at_us / S, 3),
            **dict(sorted(self.counts.items())),
            "blocks_growth_pct": None if growth is None else growth[0],
            "rss_growth_pct": None if growth is None else growth[1],
            "rss_mb": round(rss_bytes / 1e6, 1),
            "digest": self.digest,
        }


class Day:
    """One day; `run` lives it. With `jump` False no time server ever answers, and nothing else is different."""

    def __init__(self, seed: int, hours: float, directory: Path, *, jump: bool = True) -> None:
        self.report = Report()
        self._digest = hashlib.sha256()
        self._chance = Random(f"{seed}/day")
        self._end_us = round(hours * HOUR_US)
        self._night_us = [round(share * self._end_us) for share in NIGHT]
        self._sample_us = 0
        self._jump, self._jump_us = jump, self._chance.randrange(self._end_us // 8, self._end_us // 3)
        restarts = [(self._when(turn), power) for power in (False, True) for turn in range(self._each(hours))]
        self.hall = self.make_hall(seed, directory)
        self.visitors = Visitors(self.hall, Random(f"{seed}/visitors"), restarts)
        self.visitors.in_turn.append(self._sync)

    def make_hall(self, seed: int, directory: Path) -> Hall:
        """The hall of this day, where its board is switched on."""
        return Hall(seed, directory, self.report, self._digest.update)

    def run(self) -> Report:
        """Live the day, then look at what it has left."""
        hall, report = self.hall, self.report
        opening_us = min(OPENING_US, self._end_us // 8)
        while hall.now_us < opening_us:
            hall.drive.run_for(min(SAMPLE_US, opening_us))
            self._sample(memory())
        while hall.now_us < self._end_us:
            night = self._night_us[0] <= hall.now_us < self._night_us[1]
            if night:
                self.visitors.present = False
            if hall.now_us >= self._sample_us:
                self._sample_us = hall.now_us + SAMPLE_US
                self._sample(memory())
            self.visitors.step(min(SAMPLE_US, self._night_us[1] - hall.now_us) if night else 0)
        hall.drive.run_for(S)  # what was on its way is on the disk
        self._check_memory()
        self._check_records(hall.records())
        hall.end()
        self._sum_up()
        return report

    @staticmethod
    def _each(hours: float) -> int:
        return max(1, round(RESTARTS * hours / 24))

    def _when(self, turn: int) -> int:
        """The first start of each kind falls into the first hour: what it loads once is no growth after that."""
        return self._chance.randrange(self._end_us if turn else min(self._end_us, EARLY_US))

    def _sample(self, now: Memory) -> None:
        """Keep the most of each hour."""
        hour = self.hall.now_us // HOUR_US
        now = now._replace(rss_bytes=now.rss_bytes - self.hall.restarts_bytes)
        most = self.report.memory.get(hour, now)
        self.report.memory[hour] = Memory(max(most.blocks, now.blocks), max(most.rss_bytes, now.rss_bytes))

    def _sync(self) -> None:
        """The first answer of a time server, while a clock of the game runs: nothing on the board may notice."""
        hall, report = self.hall, self.report
        if report.jumped_at_us is not None or hall.now_us < self._jump_us:
            return
        report.jumped_at_us = hall.now_us
        table = hall.table
        before = table.due_us, table.phase, table.game and table.game.clocks, hall.drive.engine.frame_due_us
        if self._jump:
            hall.wall.sync()
        after = table.due_us, table.phase, table.game and table.game.clocks, hall.drive.engine.frame_due_us
        hall.people.expect(before == after, f"the jump of the wall clock made {after} of {before}")

    # -- in the end --------------------------------------------------------------------------------------------------

    def _check_memory(self) -> None:
        for (what, most_pct), pct in zip(MOST_GROWTH_PCT.items(), self.report.growth_pct() or (), strict=False):
            if pct >= most_pct:
                self.report.violations.append(f"{what}: {pct} % more than in the first hour")

    def _check_records(self, lines: list[str]) -> None:
        """Every result of a game with moves is in the journal; dates only of a clock that was set; order by number."""
        violations = self.report.violations
        results = {number: was for number, was in self.hall.results.items() if not was.startswith(" ")}
        told = [json.loads(line) for line in lines]
        for number, read in record.replay(lines):
            if isinstance(read, record.RecordError):
                violations.append(f"record {number} does not read back: {read}")
        numbers = [record["seq"] for record in told]
        if numbers != sorted(set(numbers)):
            violations.append(f"records are in the order {numbers}")
        ended = {record["seq"]: record for record in told if record.get("result") is not None}
        for number, was in results.items():
            found = ended.get(number)
            if found is None or was != f"{' '.join(found['moves'])} {found['result']} {found['reason']}":
                violations.append(f"game {number} is in the journal as {found}, and was {was}")
        if set(ended) != set(results):
            violations.append(f"games {sorted(set(ended) ^ set(results))} are on one side only")
        if not self.hall.wall.synced_ever and any("date" in record for record in told):
            violations.append("a record has a date of a clock that was never set")
        self.report.records = len(told)
        self.report.counts["dated"] = sum("date" in record for record in told)

    def _sum_up(self) -> None:
        hall, report = self.hall, self.report
        report.virtual_us, report.scans, report.commits = hall.now_us, hall.scans, hall.commits
        report.frames, report.games = sum(hall.frames.count.values()), len(hall.results)
        report.fps = {phase: round(hall.frames.fps(phase), 1) for phase in sorted(hall.frames.count)}
        report.worst_fps = dict(sorted(hall.frames.worst_fps.items()))
        report.counts.update(hall.counts)
        report.digest = self._digest.hexdigest()
        slowest = hall.frames.worst_fps.get("attract")
        if slowest is not None and slowest < LEAST_FPS:
            report.violations.append(f"a second of attract had {slowest} frames, fewer than {LEAST_FPS}")


def day(hours: float, seed: int, *, jump: bool = True) -> Report:
    """Live a day of `hours` on a state directory of its own; the same seed gives the same day."""
    begun_s = time.process_time()
    with tempfile.TemporaryDirectory(prefix="morbak-day-") as directory:
        report = Day(seed, hours, Path(directory), jump=jump).run()
    report.cpu_s = time.process_time() - begun_s
    return report
