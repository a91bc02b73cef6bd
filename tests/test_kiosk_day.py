"""A day in a kiosk: quiet hours by the clock on the wall, also in the night it goes back; disk, log, memory bounded."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from firmware.engine import Engine
from firmware.quiet import Screen
from sim.hall import Wall
from sim.kiosk_day import ZONE, KioskDay, LocalTime, kiosk_day

SHORT_H = 0.25
# Of a quarter of an hour in which nobody plays on through the change, which some seeds have.
SEED = 1


def lived(tmp_path: Path, seed: int, start: str) -> KioskDay:
    day = KioskDay(seed, SHORT_H, tmp_path, datetime.fromisoformat(start).replace(tzinfo=ZONE), synced=True)
    day.run()
    return day


@pytest.mark.long
def test_a_day_in_a_kiosk_keeps_quiet_hours_and_bounds(prove: bool, seed: int) -> None:
    """From noon to noon through the change of summer time; of a day that is not proved, the evening alone."""
    report = kiosk_day(24 if prove else 0.1, seed)
    assert [] == report.violations
    assert report.counts["log_lines"] > 0
    assert report.counts["log_rotations"] >= (3 if prove else 0)


def test_an_evening_becomes_quiet_at_ten(tmp_path: Path) -> None:
    """With visitors, a restart and a power cut, after which nobody knows the hour for a while."""
    day = lived(tmp_path, SEED, "2026-10-24T21:52")
    assert ([], 1) == (day.report.violations, len(day.changes))
    assert day.changes[0].startswith("quiet 22:0")
    assert day.report.counts["quiet_checks"] > 0


def test_the_night_the_clock_goes_back_stays_quiet(tmp_path: Path) -> None:
    """At 3:00 it is 2:00 again, and nothing on the board notices."""
    day = lived(tmp_path, SEED, "2026-10-25T02:52")
    assert ([], ["quiet 02:52 +0200"]) == (day.report.violations, day.changes)


def test_local_time_is_that_of_the_zone_through_the_change() -> None:
    """The oracle's own clock says 02:59, and a minute later 02:00."""
    now_us = [0]
    wall = Wall(lambda: now_us[0])
    local = LocalTime(wall, datetime(2026, 10, 25, 2, 58, tzinfo=ZONE))
    assert (None, None) == (local.now(), local.minute())
    wall.sync()
    told = []
    for minute in range(4):
        now_us[0] = minute * 60_000_000
        told.append(local.minute())
    assert [178, 179, 120, 121] == told


def test_the_oracle_notices_a_board_that_does_not_keep_quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A screen that is never dark, or dark at the wrong hour, is a violation."""
    monkeypatch.setattr(
        Engine, "_look_at_the_hour", lambda engine, _t_us: setattr(engine, "screen", Screen(False, True))
    )
    day = lived(tmp_path, 1, "2026-10-24T22:10")
    assert any("screen is dark: True" in text for text in day.report.violations)
