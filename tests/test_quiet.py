"""Quiet hours and dark screens: decided from the local minute alone, never by timers on the wall clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from firmware.engine import Evening
from firmware.quiet import QUIET_DARK_US, QUIET_PCT, Hours, Screen, hours, screen, text
from tests.scene import NO_LIMITS, S, Scene

NIGHT = Hours(22 * 60, 8 * 60)
PARIS = ZoneInfo("Europe/Paris")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [("", None), ("22:00-08:00", NIGHT), ("12:30-13:45", Hours(750, 825)), ("00:00-00:00", Hours(0, 0))],
)
def test_hours_are_read_and_written(given: str, wanted: Hours | None) -> None:
    """Hours read as they are written, and are written as they were read."""
    assert (wanted, given) == (hours(given), text(wanted))


@pytest.mark.parametrize("given", ["22-8", "24:00-08:00", "22:00", "22:60-08:00", "22:00-08:00 ", "22:00-08:00\n"])
def test_what_are_no_hours_is_refused(given: str) -> None:
    """Anything else is an error that shows how hours are written."""
    with pytest.raises(ValueError, match="22:00-08:00"):
        hours(given)


def test_hours_hold_from_their_first_minute_to_before_their_last() -> None:
    """Over midnight or not, the first minute belongs to them, the last does not; equal times are the whole day."""
    assert [True, True, True, False, False] == [NIGHT.hold(minute) for minute in (1320, 0, 479, 480, 1319)]
    assert [True, False] == [Hours(60, 120).hold(minute) for minute in (60, 120)]
    assert {True} == {Hours(5, 5).hold(minute) for minute in range(1440)}


@pytest.mark.parametrize(
    ("day", "elapsed_h"),
    [("2026-03-28", 9), ("2026-10-24", 11), ("2026-06-01", 10)],
    ids=["spring", "autumn", "summer"],
)
def test_a_night_with_a_change_of_summer_time_begins_and_ends_by_the_clock_on_the_wall(
    day: str, elapsed_h: int
) -> None:
    """From 22:00 to 08:00 local time are 9, 11 or 10 hours, begun once and ended once (case F18)."""
    start = datetime.fromisoformat(f"{day}T12:00").replace(tzinfo=PARIS).astimezone(UTC)
    quiet = []
    for minute in range(24 * 60):
        local = (start + timedelta(minutes=minute)).astimezone(PARIS)
        quiet.append(screen(NIGHT, 60 * local.hour + local.minute, "attract", 0, 0).quiet)
    assert (60 * elapsed_h, 2) == (sum(quiet), sum(a != b for a, b in pairwise(quiet)))


def test_nobody_knows_the_time_and_it_is_not_quiet() -> None:
    """While no time server has set the clock the board is awake (case F19)."""
    assert Screen(False, False) == screen(NIGHT, None, "attract", 10 * QUIET_DARK_US, 0)


@pytest.mark.parametrize(
    ("minute", "phase", "untouched_s", "off_s", "dark"),
    [
        (0, "attract", 60, 0, True),
        (0, "attract", 59, 0, False),
        (0, "paused", 600, 0, False),
        (0, "play", 600, 10, False),
        (720, "attract", 86_400, 0, False),
        (720, "attract", 600, 600, True),
        (720, "attract", 599, 600, False),
        (0, "attract", 20, 10, True),
    ],
)
def test_a_screen_is_dark_when_nobody_is_there(
    minute: int, phase: str, untouched_s: int, off_s: int, dark: bool
) -> None:
    """Dark after a minute without a touch in quiet hours, else after the time that is set, and never in a game (F7)."""
    assert dark == screen(NIGHT, minute, phase, untouched_s * S, off_s * S).dark  # type: ignore[arg-type]


class Wall:
    """A wall clock that a test turns."""

    minute: int | None = 12 * 60

    def evening(self) -> Evening:
        return Evening(NIGHT, lambda: self.minute)


def at_night(wall: Wall) -> Scene:
    scene = Scene(limits=NO_LIMITS)
    scene.drive.engine._evening = wall.evening()
    scene.wait(S)
    return scene


def test_a_board_at_night_is_dim_and_dark_until_somebody_touches_it() -> None:
    """In quiet hours a free board shines at a tenth and its screens go dark; a touch wakes both and is no move (F8)."""
    wall = Wall()
    scene = at_night(wall)
    engine = scene.drive.engine
    wall.minute = 23 * 60
    scene.wait(S)
    assert (True, False, QUIET_PCT) == (*engine.screen, engine._picture.brightness_pct)
    scene.wait(QUIET_DARK_US)
    assert {"quiet": True, "dark": True} == engine.document(scene.now_us)["screen"]
    scene.tap("d4")
    assert ("lobby", False, 100) == (scene.table.phase, engine.screen.dark, engine._picture.brightness_pct)
    scene.wait(5 * S)
    assert ("play", 0) == (scene.table.phase, len(scene.table.game.moves))


def test_no_deadline_of_a_game_hears_of_the_wall_clock() -> None:
    """The clock is set by hours, back and forth, and is lost: due times, phase and clocks stay what they were (F18)."""
    wall = Wall()
    scene = at_night(wall)
    scene.play()
    before = scene.table.due_us, scene.table.phase, scene.table.game.clocks
    for minute in (0, 1439, 23 * 60, None, 8 * 60, 7 * 60 + 59):
        wall.minute = minute
        scene.wait(S)
        assert before == (scene.table.due_us, scene.table.phase, scene.table.game.clocks)
