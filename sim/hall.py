"""A board in a hall for a day: the whole firmware on one state directory, through restarts and power cuts.

Everything that must outlive a restart is read back from that directory: journal, parked games, what was chosen at the
board. Wall time is a function handed to the journal; the board's own clock never hears of it.
"""

from __future__ import annotations

import gc
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random

from firmware import chosen
from firmware.assembly import new_table
from firmware.config import Settings
from firmware.engine import Engine, Surroundings
from firmware.lights import Lights
from firmware.snapshot import Phase
from firmware.state_directory import StateDirectory
from firmware.table import Table
from sim.board import SimBoard
from sim.clock import VirtualClock
from sim.disk import SlowStore
from sim.drive import Drive
from sim.hands import Tally
from sim.memory import memory
from sim.people import People
from sim.reasons import Outcome, Reasons
from sim.watch import Frames, Watch

S = 1_000_000
BOOT_US = 3 * S
# A clock that is not saved loses at most this (promise 1), and what the disk still had to do.
LOST_US = 5 * S + 200_000
MONTHS_US = 153 * 24 * 3600 * S  # five of them
UNSYNCED_US = 90 * S  # after a power cut, until the time server has answered again


class Wall:
    """The wall time of a computer without a battery: wrong until a time server has answered, and after a power cut."""

    def __init__(self, now_us: Callable[[], int]) -> None:
        """`now_us`: time since the day began, through power cuts too."""
        self._now_us = now_us
        self._start = datetime(2026, 3, 1, 9, tzinfo=timezone(timedelta(hours=1)))
        self._wrong_us, self._synced_us = MONTHS_US, 1 << 62
        self.synced_ever = False

    @property
    def begun(self) -> datetime:
        """When the day began, by a clock that is right."""
        return self._start + timedelta(microseconds=MONTHS_US)

    @property
    def synced(self) -> bool:
        """Whether a time server has answered since the power came."""
        return self._now_us() >= self._synced_us

    def sync(self) -> None:
        """A time server answers for the first time: the clock jumps by five months."""
        self._wrong_us, self._synced_us, self.synced_ever = 0, self._now_us(), True

    def power_cut(self) -> None:
        """The clock goes on from where a file says it was, an hour ago, until it is set again."""
        if self.synced_ever:
            self._synced_us = self._now_us() + UNSYNCED_US

    def __call__(self) -> tuple[str, bool]:
        """For `firmware.journal`: wall time in ISO 8601, and whether it is known to be right."""
        synced = self.synced
        wrong_us = 0 if synced else 3600 * S if self.synced_ever else self._wrong_us
        now = self._start + timedelta(microseconds=MONTHS_US + self._now_us() - wrong_us)
        return now.isoformat(timespec="seconds"), synced


class Hall:
    """The board, its people and whoever watches both; new ones after each restart, one tally for all of them."""

    def __init__(self, seed: int, directory: Path, tally: Tally, seen: Callable[[bytes], None]) -> None:
        self._seed, self._base, self._tally, self._seen = seed, directory, tally, seen
        self._boot = 0
        self._path = directory / "state"
        self._begun_us = 0  # when the power came, on the day's clock
        self._scans = self._commits = 0
        self.restarts_bytes = 0  # by how much the process grew while the board was started anew
        self.frames = Frames()
        self.results: dict[int, Outcome] = {}
        self.counts: Counter[str] = Counter()
        self.wall = Wall(lambda: self.now_us)
        self._power_up(0)

    @property
    def now_us(self) -> int:
        """Time since the day began."""
        return self._begun_us + self._clock.now_us()

    @property
    def scans(self) -> int:
        """Scans so far, of all starts."""
        return self._scans + self.drive.scans

    @property
    def commits(self) -> int:
        """Saves on the disk so far."""
        return self._commits + self._store.commits

    def records(self) -> list[str]:
        """The finished games in the journal."""
        return list(self._store.journal.records())

    def replay_over(self) -> None:
        """Wait until no game plays itself again."""
        while self.table.replay is not None:
            self.drive.run_until(self.table.replay.due_us + S)

    # -- starts and ends ---------------------------------------------------------------------------------------------

    def restart(self) -> None:
        """The program is ended in order, as for an update, and comes back 3 s later."""
        with self._started_anew():
            self._close(self._store.close())
            self.counts["restarts"] += 1
            self._come_back(self._clock.now_us() + BOOT_US, exact=True)

    def cut(self) -> None:
        """The power fails: what the disk has is all there is; the board's own clock begins anew."""
        with self._started_anew():
            behind = self._store.behind
            self._keeper.close()
            lost = self._path
            self._path = self._base / f"state.{self._boot}"
            shutil.copytree(lost, self._path)
            self._close(self._store.lose())
            shutil.rmtree(lost)
            self.counts["power_cuts"] += 1
            self._begun_us += self._clock.now_us() + BOOT_US
            self.wall.power_cut()
            self._come_back(0, exact=not behind)

    def end(self) -> None:
        """The day is over."""
        self._close(self._store.close())

    @contextmanager
    def _started_anew(self) -> Iterator[None]:
        before = memory()
        yield
        self.restarts_bytes += memory().rss_bytes - before.rss_bytes

    def _close(self, written: bool) -> None:
        self.watch.finish()
        kept = self._keeper.close()
        self._state.close()
        if not (written and kept):
            self.people.violated("the state was not written in order")
        self._scans += self.drive.scans
        self._commits += self._store.commits

    def _power_up(self, start_us: int) -> None:
        self._boot += 1
        self.drive = Drive(seed=self._seed * 1_000 + self._boot, assemble=self._assemble, start_us=start_us)
        self.table = self.drive.table
        chance = Random(f"{self._seed}/{self._boot}/people")
        self.people = People(self.drive, chance, self._tally, self._seen, announce=self._announce)
        self.reasons = Reasons(self.drive, self.people.violated, self.results, self.counts)
        self.watch = Watch(self.drive, self.people.violated, self._seen, self.frames)
        self.drive.run_for(S // 10)

    def _assemble(self, board: SimBoard, clock: VirtualClock) -> tuple[Engine, SlowStore]:
        """As `firmware.assembly` does, but for the threads of the app, and with a disk of virtual time."""
        self._clock = clock
        chance = Random(f"{self._seed}/{self._boot}/lot")
        self._state = StateDirectory.open(self._path)
        last, sentence = chosen.load(self._path)
        self._keeper = chosen.ChosenKeeper(self._path, last)
        self._store = SlowStore(self._state, self.wall, clock, chance)
        told = [sentence, self._state.trouble, *self._store.found.sentences]
        self.told = [text for text in told if text is not None]
        table = new_table(board, clock, Settings(), chance, self._store.found, last)
        return self._engine(table, board), self._store

    def _engine(self, table: Table, board: SimBoard) -> Engine:
        return Engine(table, board, Lights(), Surroundings(self._store, choose=self._keeper.put))

    def _announce(self, phase: Phase) -> None:
        self.reasons.announce(phase)

    # -- what a restart must find ------------------------------------------------------------------------------------

    def _come_back(self, start_us: int, exact: bool) -> None:
        """Start anew; the table must be as it was, or one action earlier where the disk was behind (promise 1)."""
        stood, earlier = self.reasons.now, self.reasons.earlier
        brightness, running_us = self.table.chosen, self._used_us()
        del self.drive, self.table, self.people, self.reasons, self.watch, self._store, self._keeper
        gc.collect()  # as an old process is gone before a new one comes
        self._power_up(start_us)
        people, now = self.people, self.reasons.now
        for sentence in self.told:
            people.violated(f"after a start: {sentence}")
        people.expect(self.table.chosen == brightness, f"{brightness} was chosen, now it is {self.table.chosen}")
        expected = [stood] if exact else [stood, earlier]
        if now not in expected:
            people.violated(f"after a start there is {now}, not {expected[0]}")
        if now != stood and stood is not None:
            self.counts["one_earlier"] += 1
            if stood.ending is not None and (now is None or now.number == stood.number):
                self.results.pop(stood.number, None)
        elif self.table.game is not None and running_us is not None:
            for was_us, is_us in zip(running_us, self.table.game.clocks.used_us, strict=True):
                late = f"a clock of {was_us} us came back as {is_us} us"
                people.expect(0 <= was_us - is_us <= LOST_US, late)
        phase = "attract" if now is None else "paused" if now.ending is None else "result"
        people.expect(self.table.phase == phase, f"after a start the board is in {self.table.phase}, not {phase}")
        if self.table.game is not None:
            people.clock.adopt(self.table.game)

    def _used_us(self) -> tuple[int, int] | None:
        """What both sides have thought by now."""
        game = self.table.game
        return None if game is None else game.clocks.stop(self._clock.now_us()).used_us
