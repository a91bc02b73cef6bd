"""A virtual day of visitors: nothing unexplained, nothing lost, and the oracle notices what it should."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from firmware.cli import main
from firmware.clock import Limits
from firmware.course import Course
from firmware.engine import Engine
from firmware.keeper import Keeper
from firmware.phases import PhaseTimes
from sim.day import Day, Report, day
from sim.hall import Wall
from sim.memory import Memory
from sim.reasons import Reasons
from tests.scene import NO_LIMITS, Scene

S = 1_000_000
SHORT_H = 0.3  # 18 minutes: some visitors, a jump, a restart, a power cut


def lived(tmp_path: Path, seed: int = 1, hours: float = SHORT_H, **more: Any) -> Report:
    return Day(seed, hours, tmp_path, **more).run()


@pytest.mark.long
def test_a_day_of_visitors_is_explained_and_loses_nothing(prove: bool, seed: int) -> None:
    """Every phase has its reason, every game its record, no touch is lost, memory stays, 24 h in 20 CPU minutes."""
    hours = 24 if prove else 1.3
    report = day(hours, seed)
    assert ([], 0) == (report.violations, report.lost_touches)
    assert hours * 3600 * S <= report.virtual_us
    assert report.cpu_s < hours * 50
    assert report.worst_fps["attract"] >= 10
    assert report.scans >= 195 * report.virtual_us // S
    assert (True, True) == (report.jumped_at_us is not None, report.growth_pct() is not None)
    kinds = ("visitors", "restarts", "power_cuts") + (("parked", "resumed") if prove else ())
    assert [] == [kind for kind in kinds if report.counts[kind] < 1]


def test_visitors_come_back_to_a_parked_game(tmp_path: Path) -> None:
    """Of this seed's few visitors some leave a game and others go on with it, through a restart and a power cut."""
    report = lived(tmp_path, seed=1)
    kinds = ("visitors", "restarts", "power_cuts", "parked", "resumed")
    assert ([], []) == (report.violations, [kind for kind in kinds if report.counts[kind] < 1])


def test_the_jump_of_the_wall_clock_changes_nothing_on_the_board(tmp_path: Path, seed: int) -> None:
    """Five months more on the wall, or none: the same frames and the same actions, byte for byte."""
    jumped = lived(tmp_path / "with", seed)
    stayed = lived(tmp_path / "without", seed, jump=False)
    assert jumped.digest == stayed.digest
    assert [] == jumped.violations + stayed.violations
    assert (stayed.games, 0) == (jumped.games, stayed.counts["dated"])


def test_another_seed_is_another_day(tmp_path: Path) -> None:
    """The digest of frames and actions is that of its seed."""
    assert lived(tmp_path / "1", 1, 0.1).digest != lived(tmp_path / "2", 2, 0.1).digest


def test_a_day_without_hours_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """The command says in a sentence what to give."""
    assert 2 == main(["soak", "--day", "--hours", "0"])
    assert "morbak: a day of 0 hours shows nothing: give --hours 1 or more.\n" == capsys.readouterr().err


def test_a_day_is_no_number_of_games(capsys: pytest.CaptureFixture[str]) -> None:
    """Games and a day together, the usual number too, and hours without a day, are refused in a sentence."""
    for games in ("3", "50"):
        with pytest.raises(SystemExit) as ended:
            main(["soak", "--day", "--games", games])
        assert 2 == ended.value.code
        assert "argument --games: not allowed with argument --day" in capsys.readouterr().err
    assert 2 == main(["soak", "--hours", "2"])
    assert "morbak: --hours is how long a day is: give --day with it.\n" == capsys.readouterr().err


def test_a_wall_clock_is_right_from_its_first_answer_on() -> None:
    """It jumps by five months, and goes back an hour, unsynced for 90 s, after a power cut (case F19)."""
    now_us = [0]
    wall = Wall(lambda: now_us[0])
    assert ("2026-03-01T09:00:00+01:00", False) == wall()
    now_us[0] = 60 * S
    wall.sync()
    assert ("2026-08-01T09:01:00+01:00", True) == wall()
    wall.power_cut()
    assert ("2026-08-01T08:01:00+01:00", False) == wall()
    now_us[0] += 90 * S
    assert ("2026-08-01T09:02:30+01:00", True) == wall()


# -- what the day must notice --------------------------------------------------------------------------------------


@pytest.fixture
def wall_us(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How far the wall clock has jumped, for a timer that goes by it."""
    jumped_us = [0]
    sync = Wall.sync

    def synced(self: Wall) -> None:
        sync(self)
        jumped_us[0] = 153 * 24 * 3600 * S

    monkeypatch.setattr(Wall, "sync", synced)
    return jumped_us


def test_a_timer_by_the_wall_clock_is_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wall_us: list[int]
) -> None:
    """A limit that comes by the wall clock has come when the clock jumps."""
    deadlines = Course._deadlines

    def by_the_wall(self: Course) -> Any:
        return ((t_us - wall_us[0], act) for t_us, act in deadlines(self))

    monkeypatch.setattr(Course, "_deadlines", by_the_wall)
    assert_noticed(tmp_path, "the jump of the wall clock made")


def reasons(limits: Limits, **times: int) -> tuple[Scene, list[str]]:
    """A game that has begun, and what the reasons complain of from then on."""
    scene, told = Scene(limits=limits, phase_times=PhaseTimes(**times)), []
    why = Reasons(scene.drive, told.append, {}, Counter())
    why.wild = True  # these touches need no announcement
    scene.play().moves("d4", "e5")
    why.wild = False
    return scene, told


def test_what_the_design_says_is_explained() -> None:
    """A game that falls asleep, one that three time-outs park, and the way on to attract: no complaint."""
    for limits in (NO_LIMITS, Limits(None, 60 * S)):
        scene, told = reasons(limits)
        scene.wait(430 * S)
        assert ("attract", []) == (scene.table.phase, told)


def test_parking_without_a_countdown_is_noticed() -> None:
    """A board that falls asleep without having shown it was not ignored by anybody."""
    scene, told = reasons(NO_LIMITS, countdown_us=2 * S)
    scene.wait(310 * S)
    assert 1 == len(told) and told[0].startswith("parked after a countdown of")


def test_parking_too_soon_is_noticed() -> None:
    """Four minutes without a touch are not five."""
    scene, told = reasons(NO_LIMITS, park_us=240 * S)
    scene.wait(310 * S)
    assert 1 == len(told) and "without a touch, not 300 s" in told[0]


def test_parking_after_two_time_outs_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit a move it takes three time-outs running (ruling 3)."""
    monkeypatch.setattr("firmware.course.TIMEOUTS_TO_PARK", 2)
    scene, told = reasons(Limits(None, 60 * S))
    scene.wait(130 * S)
    assert 1 == len(told) and told[0].startswith("parked without three time-outs running")


def test_a_dropped_game_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A parked game that is gone when the next visitors come is lost."""
    monkeypatch.setattr(Course, "_left_alone", Course._vacate)
    scene, told = reasons(NO_LIMITS)
    scene.wait(430 * S)
    assert ["game 1 of 2 moves was lost"] == told


def test_a_return_to_attract_too_soon_is_noticed() -> None:
    """Two minutes without a touch are two minutes."""
    scene, told = reasons(NO_LIMITS, idle_us=119 * S)
    scene.wait(430 * S)
    assert 1 == len(told) and "without a touch, not 120 s" in told[0]


def test_a_phase_that_nobody_asked_for_is_noticed() -> None:
    """The touch that resumes a game is to be announced by whoever makes it."""
    scene, told = reasons(NO_LIMITS)
    scene.wait(310 * S)
    scene.tap("a1")
    assert 1 == len(told) and told[0].startswith("paused became play, and nobody had asked for it")


def test_a_save_that_is_not_put_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What never comes to the disk is missed at the next start."""

    def forgets(self: Keeper, *_: object) -> None:
        pass

    monkeypatch.setattr(Keeper, "_put", forgets)
    monkeypatch.setattr(Keeper, "beat", forgets)
    monkeypatch.setattr("sim.day.RESTARTS", 24 * 20)
    assert_noticed(tmp_path, "after a start there is")


def test_a_slow_attract_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nine frames a second while inviting are too few."""
    monkeypatch.setattr("firmware.frames.ATTRACT_US", 111_111)
    assert_noticed(tmp_path, "frames, fewer than 10", hours=0.05)


def test_a_leak_is_noticed() -> None:
    """More blocks or more resident bytes than in the first hour, by 2 %, are a violation."""
    report = Report(memory={0: Memory(2000, 1000), 1: Memory(2039, 900), 2: Memory(1000, 1021)})
    assert (1.95, 2.1) == report.growth_pct()
    assert None is Report(memory={0: Memory(1, 1)}).growth_pct()


def test_a_leak_in_every_frame_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Something kept of each frame shows in the second hour (hours of 6 minutes here)."""
    kept: list[object] = []
    light = Engine.light

    def leaks(self: Engine, t_us: int) -> bool:
        kept.append([t_us])
        return light(self, t_us)

    monkeypatch.setattr(Engine, "light", leaks)
    monkeypatch.setattr("sim.day.HOUR_US", 360 * S)
    monkeypatch.setattr("sim.day.SAMPLE_US", 30 * S)
    report = Day(1, 3, tmp_path).run()
    assert ["live blocks"] == [text[:11] for text in report.violations if text.startswith("live blocks")]


def assert_noticed(tmp_path: Path, sentence: str, hours: float = SHORT_H) -> None:
    """The first complaint of a day is this one; the day may not even come to its end."""
    begun_s = time.process_time()
    lived_day = Day(1, hours, tmp_path)
    try:
        lived_day.run()
    except (AssertionError, KeyError, ValueError):
        assert lived_day.report.violations
    assert any(sentence in violation for violation in lived_day.report.violations), lived_day.report.violations[:5]
    assert time.process_time() - begun_s < 60
