"""Who walks away: parking without a limit a move, its countdown, waking, and what waits for the next visitors."""

from __future__ import annotations

import pytest

from firmware.clock import Limits
from firmware.state import document
from sim.fingers import chord, hold, tap
from tests.scene import BETWEEN_US, MS, NO_LIMITS, S, Scene, playing

NO_MOVE_LIMIT = Limits(900 * S, None)


def parks_in_s(scene: Scene) -> float | None:
    left_ms = document(scene.table, scene.now_us, {})["parks_in_ms"]
    return None if left_ms is None else left_ms / 1000


def test_an_untouched_game_is_parked_after_5_min() -> None:
    """Without a limit a move, 5 min without a touch park a game; its clock stands, its position stays."""
    scene = playing(limits=NO_MOVE_LIMIT).moves("d4", "e5")
    touched_us, position = scene.now_us, scene.position
    scene.wait(299 * S)
    assert "play" == scene.table.phase
    scene.wait(2 * S)
    assert ("paused", position) == (scene.table.phase, scene.position)
    left_ms = document(scene.table, scene.now_us, {})["clocks_ms"]
    scene.wait(60 * S)
    assert left_ms == document(scene.table, scene.now_us, {})["clocks_ms"]
    scene.wait(61 * S)
    assert ("attract", position) == (scene.table.phase, scene.position)
    assert touched_us + 425 * S > scene.now_us


def test_the_last_20_s_are_a_countdown() -> None:
    """The lights and the state tell of the last 20 s, and of nothing before."""
    scene = playing(limits=NO_LIMITS).moves("d4")
    since_us = scene.table._touched_us
    countdown = scene.table.snapshot.countdown
    assert (since_us + 280 * S, since_us + 300 * S) == countdown
    scene.wait(countdown.start_us - scene.now_us - MS)
    assert None is parks_in_s(scene)
    scene.wait(2 * S)
    assert 18 <= parks_in_s(scene) <= 18.1


def test_a_touch_in_the_countdown_wakes_and_is_no_move() -> None:
    """Any touch cancels the countdown; neither it nor a quick second one plays, the next after that does (case F8)."""
    scene = playing(limits=NO_LIMITS).moves("d4")
    scene.wait(290 * S)
    assert [] == scene.do(tap("a1", 0), tap("c2", 100 * MS))
    assert ("play", None) == (scene.table.phase, parks_in_s(scene))
    scene.wait(250 * S)
    assert ("play", None) == (scene.table.phase, parks_in_s(scene))
    assert ["e5"] == scene.tap("e5")


def test_the_touch_that_wakes_lights_nothing() -> None:
    """The cell under the finger that ends a countdown stays as it is, so that nobody takes the touch for a move."""
    scene = playing(limits=NO_LIMITS).moves("d4")
    scene.wait(290 * S)
    scene.drive.board.contacts.press(0, scene.now_us)
    scene.wait(30 * MS)
    assert ((), None) == (scene.table.snapshot.touches, parks_in_s(scene))


def test_a_finger_that_rests_counts_as_one_touch() -> None:
    """A hand left on the board does not keep a game from being parked."""
    scene = playing(limits=NO_LIMITS).moves("d4")
    scene.do(hold("a1", 0, 320 * S))
    assert "paused" == scene.table.phase


def test_with_a_move_limit_time_outs_park() -> None:
    """With a limit a move there is no countdown; three time-outs running park the game (ruling 3), and after a pause
    it takes three more."""
    scene = playing(limits=Limits(None, 60 * S)).moves("d4")
    assert None is scene.table.countdown
    assert ["--", "--"] == [played.text for played in scene.wait(130 * S)]
    assert "play" == scene.table.phase
    assert ["--"] == [played.text for played in scene.wait(60 * S)]
    assert "paused" == scene.table.phase
    scene.tap("d4")
    assert ["--", "--"] == [played.text for played in scene.wait(130 * S)]
    assert "play" == scene.table.phase


def test_a_pause_lasts_as_long_as_somebody_is_there() -> None:
    """The 2 min after which a paused game waits in attract run from the last touch."""
    scene = playing(limits=NO_LIMITS)
    scene.table.press_button(scene.now_us)
    scene.wait(100 * S)
    scene.do(chord(["a1", "g1"], 0, 600 * MS))
    scene.wait(110 * S)
    assert "paused" == scene.table.phase
    scene.wait(10 * S)
    assert "attract" == scene.table.phase


def test_the_total_limit_still_counts() -> None:
    """Without a limit a move the total time goes on losing the game, before the board falls asleep."""
    scene = playing(limits=Limits(100 * S, None)).moves("d4")
    scene.wait(101 * S)
    assert "result" == scene.table.phase


def test_a_parked_game_is_never_lost() -> None:
    """However long nobody comes, the game waits; a tap shows it paused, another goes on with it, neither is a move."""
    scene = playing(limits=NO_LIMITS).moves("d4", "e5", "xe5")
    position, game = scene.position, scene.table.game
    scene.wait(900 * S)
    assert ("attract", position) == (scene.table.phase, scene.position)
    assert [] == scene.tap("g7")
    assert ("paused", position) == (scene.table.phase, scene.position)
    scene.wait(BETWEEN_US)
    assert [] == scene.tap("a1")
    assert ("play", position) == (scene.table.phase, scene.position)
    scene.wait(BETWEEN_US)
    assert ["a1"] == scene.tap("a1")
    assert game is scene.table.game


def test_an_open_menu_stops_the_countdown() -> None:
    """Whoever opens the menu is there: the five minutes run from when it closes."""
    scene = playing(limits=NO_LIMITS).moves("d4")
    scene.wait(270 * S)
    scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
    scene.wait(40 * S)  # the menu has closed by itself after 30 s
    assert "play" == scene.table.phase
    scene.wait(280 * S)
    assert "play" == scene.table.phase
    scene.wait(15 * S)
    assert "paused" == scene.table.phase


@pytest.mark.parametrize("goes_on", [False, True])
def test_who_finds_a_parked_game_starts_a_match_of_his_own(goes_on: bool) -> None:
    """A new game instead of one that was found parked has the usual options, no score, and its starter by lot; whoever
    goes on with it first plays its match."""
    scene = playing(limits=NO_LIMITS).moves("d4")
    scene.table.match = scene.table.match._replace(series=3, halves=(2, 0))
    scene.wait(430 * S)
    assert "attract" == scene.table.phase
    starter = scene.table.game.starter
    for _ in range(2 if goes_on else 1):
        scene.tap("d4")
        scene.wait(BETWEEN_US)
    scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
    scene.wait(BETWEEN_US)
    scene.do(tap("e1", 0))
    scene.wait(BETWEEN_US)
    scene.do(hold("c7", 0, 900 * MS))
    game = scene.table.game
    expected = ("lobby", starter, (3, (2, 0))) if goes_on else ("lobby", None, (1, (0, 0)))
    assert expected == (scene.table.phase, game and game.starter, scene.table.match[2:])
