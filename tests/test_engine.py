"""The steps put together: numbers of states, health, the slot between loop and LEDs."""

from __future__ import annotations

from firmware.engine import Engine
from firmware.lights import Lights
from firmware.state import document
from hal.ports import Part
from sim.faults import Faults
from tests.scene import MS, S, Scene, playing


def engine(scene: Scene) -> Engine:
    return scene.drive.engine


def test_each_change_has_the_next_number() -> None:
    """`seq` rises by one with each change of state and stands while only the clocks run."""
    scene = playing()
    first = engine(scene).document(scene.now_us)["seq"]
    scene.wait(3 * S)
    assert first == engine(scene).document(scene.now_us)["seq"]
    scene.tap("d4")
    assert first + 1 == engine(scene).document(scene.now_us)["seq"]
    assert first + 1 == engine(scene).document(scene.now_us)["seq"]


def test_the_clocks_run_in_the_document() -> None:
    """The mover's clocks fall with time, the other's stands."""
    scene = playing()
    mover = scene.table.game.mover
    other = "b" if mover == "a" else "a"
    before = document(scene.table, scene.table.phase_us, {})
    after = document(scene.table, scene.table.phase_us + 2500 * MS, {})
    assert ({mover: 897_500, other: 900_000}, 117_500) == (after["clocks_ms"], after["move_left_ms"])
    assert ({mover: 900_000, other: 900_000}, 120_000) == (before["clocks_ms"], before["move_left_ms"])


def test_failing_leds_are_named_and_do_not_stop_the_game() -> None:
    """LEDs that do not answer show in the health, and touches go on being actions (promise 5)."""
    scene = playing(faults=Faults(leds_fail_rate=1.0))
    scene.wait(1 * S)
    health = engine(scene).document(scene.now_us)["health"]
    assert (False, False) == (health["ok"], health["parts"]["leds"]["ok"])
    assert ["d4"] == scene.tap("d4")


def test_a_failed_part_shows_on_the_board_until_it_works() -> None:
    """A part that fails lights a corner, and the corner goes dark when it works again."""
    scene = playing()
    scene.drive.board.health = lambda: {"leds": Part(False, "unplugged")}  # type: ignore[method-assign]
    scene.wait(1 * S)
    assert engine(scene)._picture.snapshot.fault_us is not None
    scene.drive.board.health = lambda: {"leds": Part(True, "ok")}  # type: ignore[method-assign]
    scene.wait(1 * S)
    assert engine(scene)._picture.snapshot.fault_us is None


def test_lost_edges_are_counted_and_shown() -> None:
    """A touch that the queue could not take is told as a loss (promise 3)."""
    scene = playing()
    engine(scene).lost_edges = 2
    scene.wait(1 * S)
    part = engine(scene).document(scene.now_us)["health"]["parts"]["queue"]
    assert (False, True) == (part["ok"], part["text"].startswith("2 touches"))


def test_lights_are_the_same_for_the_same_snapshot() -> None:
    """What is on the wire is a function of snapshot and time alone."""
    scene = playing().moves("d4", "xd4")
    snapshot = scene.table.snapshot
    assert Lights().frame(snapshot, scene.now_us) == Lights().frame(snapshot, scene.now_us)
