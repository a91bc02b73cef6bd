"""A virtual day of a board in a kiosk: quiet hours through a change of summer time, its log and its disk bounded.

The same visitors, restarts and power cuts as any day, but the day has a local time: noon to noon, with the night in
which the clock of Paris goes back. At every check of the board's health the oracle works out for itself, from the
instant and the time zone alone, whether it is quiet, and what screen and light should be.
"""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from firmware.chronicle import Chronicle
from firmware.engine import Engine, Evening, Surroundings
from firmware.events import KEPT, Recent
from firmware.lights import Lights
from firmware.quiet import QUIET_DARK_US, QUIET_PCT, Hours
from firmware.table import Table
from hal.ports import Clock
from sim.board import SimBoard
from sim.day import Day, Report
from sim.hall import Hall, Wall
from sim.hands import Tally
from sim.memory import Memory

ZONE: Final = ZoneInfo("Europe/Paris")
# 25 hours lie between this noon and the next: at 3:00 it is 2:00 again.
NOON: Final = datetime(2026, 10, 24, 12, tzinfo=ZONE)
NIGHT: Final = Hours(22 * 60, 8 * 60)
# What the log of this board may keep, so that it rotates within the day: a file of so many bytes, and one before it.
LOG_BYTES: Final = 3_000
MOST_LOGGED: Final = 2_000_000  # a day; a journal that is allowed 50 MB keeps three weeks
MOST_DISK: Final = 8_000_000


class KioskEngine(Engine):
    """An engine that is looked at after each check. `looks`: who looks."""

    looks: tuple[Callable[[int], None], ...] = ()

    def check(self, t_us: int) -> None:
        """As ever, and then let the day look."""
        super().check(t_us)
        for look in self.looks:
            look(t_us)


class LocalTime:
    """The time in Paris on the day of the change, for a wall that tells another day's."""

    def __init__(self, wall: Wall, start: datetime) -> None:
        self._wall, self._start = wall, start.astimezone(UTC)

    def now(self) -> datetime | None:
        """The local time; None while the wall is not known to be right."""
        told, synced = self._wall()
        if not synced:
            return None
        return (self._start + (datetime.fromisoformat(told) - self._wall.begun)).astimezone(ZONE)

    def minute(self) -> int | None:
        """The local minute of the day, as the board is told."""
        now = self.now()
        return None if now is None else 60 * now.hour + now.minute


Looks = Callable[[Engine, Clock, LocalTime], tuple[Callable[[int], None], ...]]


class KioskHall(Hall):
    """A hall whose board knows the hour, and is looked at after each check by whom `looks` names."""

    def __init__(
        self,
        seed: int,
        directory: Path,
        tally: Tally,
        seen: Callable[[bytes], None],
        looks: Looks,
        start: datetime,
    ) -> None:
        """`start`: the local time at which the day begins."""
        self._looks, self._local_start = looks, start
        super().__init__(seed, directory, tally, seen)

    def _engine(self, table: Table, board: SimBoard) -> Engine:
        local = LocalTime(self.wall, self._local_start)
        evening = Evening(NIGHT, local.minute)
        around = Surroundings(self._store, choose=self._keeper.put, evening=evening)
        engine = KioskEngine(table, board, Lights(), around)
        engine.looks = self._looks(engine, self._clock, local)
        return engine


class KioskDay(Day):
    """A day in a kiosk; what it finds beyond a day's is in the report's counts."""

    def __init__(
        self, seed: int, hours: float, directory: Path, start: datetime = NOON, *, synced: bool = False
    ) -> None:
        """`start`: the local time at which the day begins; `synced`: by a clock that is right from the first moment."""
        self._directory, self._local_start = directory, start
        self._logged = Recent()
        for _ in range(KEPT):  # memory is measured against a full table
            self._logged.emit(logging.LogRecord("morbak", logging.INFO, "", 0, "x" * 120, (), None))
        self._file = Rotating(directory / "log")
        self._was_quiet = False
        self.changes: list[str] = []  # when quiet hours began and ended, in local time
        super().__init__(seed, hours, directory)
        if synced:
            self.hall.wall.sync()
            self.report.jumped_at_us = 0

    def make_hall(self, seed: int, directory: Path) -> Hall:
        """A hall that knows the hour, watched at each check."""
        return KioskHall(seed, directory, self.report, self._digest.update, self._looks, self._local_start)

    def run(self) -> Report:
        """Live the day with everything logged, then judge disk and log."""
        log = logging.getLogger("morbak")
        handlers = (self._logged, self._file)
        level, propagate = log.level, log.propagate
        for handler in handlers:
            log.addHandler(handler)
        log.setLevel(logging.INFO)
        log.propagate = False
        try:
            report = super().run()
        finally:
            for handler in handlers:
                log.removeHandler(handler)
            log.setLevel(level)
            log.propagate = propagate
            self._file.close()
        counts, disk = report.counts, sum(file.stat().st_size for file in self._directory.glob("log*"))
        counts["log_lines"], counts["log_bytes"] = self._file.lines, self._file.bytes
        counts["log_disk_bytes"], counts["log_rotations"] = disk, self._file.rotations
        self._must(disk <= 2 * LOG_BYTES, f"the log takes {disk} bytes of disk")
        self._must(counts["log_bytes"] <= MOST_LOGGED, f"{counts['log_bytes']} bytes were logged")
        self._must(counts["state_bytes"] <= MOST_DISK, f"the state directory took {counts['state_bytes']} bytes")
        self._must(len(self._logged.lines()) == KEPT, "the last lines of the log are not so many as are kept")
        return report

    # -- at each check -------------------------------------------------------------------------------------------------

    def _looks(self, engine: Engine, clock: Clock, local: LocalTime) -> tuple[Callable[[int], None], ...]:
        chronicle = Chronicle(engine, clock)
        return (lambda t_us: self._look(engine, local.now(), t_us), lambda _t_us: chronicle.look())

    def _look(self, engine: Engine, now: datetime | None, t_us: int) -> None:
        """Whether it is quiet, dark and dim is what the hour and the visitors make of it."""
        table, screen = engine.table, engine.screen
        quiet = now is not None and (now.hour >= 22 or now.hour < 8)
        self._must(screen.quiet == quiet, f"at {now} the board has quiet hours: {screen.quiet}")
        alone = table.phase == "attract" and table.untouched_us(t_us) >= QUIET_DARK_US
        self._must(screen.dark == (quiet and alone), f"at {now} in {table.phase} the screen is dark: {screen.dark}")
        chosen_pct = table.chosen.brightness_pct
        if chosen_pct is None or chosen_pct > QUIET_PCT:
            dim = engine.brightness_pct <= QUIET_PCT
            self._must(dim == (quiet and table.phase == "attract"), f"at {now} in {table.phase} light is dim: {dim}")
        self.report.counts["quiet_checks"] += quiet
        self.report.counts["dark_checks"] += screen.dark
        if now is not None and quiet != self._was_quiet:
            self._was_quiet = quiet
            self.changes.append(f"{'quiet' if quiet else 'awake'} {now:%H:%M %z}")

    def _sample(self, now: Memory) -> None:
        super()._sample(now)
        size = sum(file.stat().st_size for file in self._directory.rglob("*") if file.is_file())
        self.report.counts["state_bytes"] = max(self.report.counts["state_bytes"], size)

    def _must(self, holds: bool, otherwise: str) -> None:
        if not holds and len(self.report.violations) < 20:
            self.report.violations.append(otherwise)


class Rotating(RotatingFileHandler):
    """A log that keeps `LOG_BYTES`, and as much again of what was before; counts its lines, bytes and rotations."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=LOG_BYTES, backupCount=1)
        self.lines, self.bytes, self.rotations = 0, 0, 0

    def emit(self, record: logging.LogRecord) -> None:
        """Log one line."""
        self.lines, self.bytes = self.lines + 1, self.bytes + len(self.format(record).encode()) + 1
        super().emit(record)

    def doRollover(self) -> None:  # noqa: N802 - logging's own name
        """Begin another file."""
        self.rotations += 1
        super().doRollover()


def kiosk_day(hours: float, seed: int) -> Report:
    """Live a day in a kiosk on a directory of its own; the same seed gives the same day."""
    begun_s = time.process_time()
    with tempfile.TemporaryDirectory(prefix="morbak-kiosk-") as directory:
        report = KioskDay(seed, hours, Path(directory)).run()
    report.cpu_s = time.process_time() - begun_s
    return report
