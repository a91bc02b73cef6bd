"""A game that plays itself again on the board, from the menu after a result and from a pause."""

from __future__ import annotations

import pytest

from firmware.game import Game
from firmware.games import morbak
from firmware.menu import PLACES, Item
from firmware.replay import END_US, Replay
from firmware.snapshot import Side
from firmware.state import document
from sim.fingers import chord, hold, tap
from tests.scene import BETWEEN_US, MS, S, Scene, playing

WON = ("d4", "a1", "xa1", "!a1", "d5", "g2", "#d4", "g3", "d6", "g4", "d7")
STEP_US = 900 * MS
SIDES: list[Side] = ["a", "b"]


def cell_of(side: Side, item: Item) -> int:
    return next(cell for cell, place in PLACES["menu"].items() if (place.side, place.item) == (side, item))


def opened(scene: Scene) -> Scene:
    scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
    assert "menu" == scene.table.phase
    scene.wait(BETWEEN_US)
    return scene


def after_a_game() -> Scene:
    scene = playing().moves(*WON)
    assert "result" == scene.table.phase
    scene.wait(3_500 * MS)
    return scene


def offered(scene: Scene) -> set[str]:
    return {cell["item"] for cell in document(scene.table, scene.now_us, {})["menu"]["cells"].values()}


def watched(scene: Scene, for_us: int) -> list[str]:
    """The positions that the board shows meanwhile, each once."""
    seen: list[str] = []
    for _ in range(for_us // (100 * MS)):
        replay = document(scene.table, scene.now_us, {})["replay"]
        if replay is None:
            break
        assert scene.table.snapshot.cells == morbak.cells(morbak.parse_position(replay["position"], morbak.STANDARD))
        if not seen or seen[-1] != replay["position"]:
            seen.append(replay["position"])
        scene.wait(100 * MS)
    return seen


@pytest.mark.parametrize("side", SIDES)
def test_a_result_can_be_seen_again(side: Side) -> None:
    """The menu after a game replays it from the empty board to its end, once, and returns to the result."""
    scene = opened(after_a_game())
    assert {"replay", "brightness", "language", "marks", "close"} == offered(scene)
    scene.do(tap(cell_of(side, "replay"), 0), settle_us=0)
    scene.wait(30 * MS)
    expected = [morbak.format_position(state) for state in scene.table.game.states()]
    assert expected == watched(scene, 30 * S)
    assert ("result", None) == (scene.table.phase, scene.table.replay)
    assert "result" == scene.table.snapshot.phase


def test_a_touch_ends_a_replay_and_is_nothing_else() -> None:
    """A tap ends the replay; it is no rematch, and the next tap is."""
    scene = opened(after_a_game())
    scene.do(tap(cell_of("a", "replay"), 0))
    scene.wait(2 * S)
    assert "replay" == scene.table.snapshot.phase
    scene.tap("d4")
    assert ("result", None) == (scene.table.phase, scene.table.replay)
    scene.wait(BETWEEN_US)
    scene.tap("d4")
    assert "lobby" == scene.table.phase


def test_a_paused_game_can_be_seen_again() -> None:
    """In a pause the replay shows the game so far; afterwards it is paused as before, with the same clocks."""
    scene = opened(playing().moves(*WON[:6]))
    scene.do(tap(cell_of("a", "pause"), 0))
    scene.wait(BETWEEN_US)
    scene.do(hold(cell_of("b", "pause"), 0, 900 * MS))
    scene.wait(BETWEEN_US)
    before = document(scene.table, scene.now_us, {})
    assert "paused" == before["phase"]
    scene.do(tap(cell_of("b", "replay"), 0) if opened(scene) else [])
    assert 7 == len(watched(scene, 30 * S)) == len(WON[:6]) + 1
    after = document(scene.table, scene.now_us, {})
    assert [before[key] for key in ("phase", "position", "clocks_ms")] == [
        after[key] for key in ("phase", "position", "clocks_ms")
    ]


def test_no_replay_of_nothing() -> None:
    """A game that is paused before its first move offers none."""
    scene = playing()
    scene.table.press_button(scene.now_us)
    scene.wait(BETWEEN_US)
    assert "replay" not in offered(opened(scene))


def test_no_replay_in_play() -> None:
    """While a clock runs nothing is replayed."""
    assert "replay" not in offered(opened(playing().moves("d4")))


def test_the_replay_blooms_and_ends_with_the_line() -> None:
    """Each action blooms when it is shown, and the winning line shows with the last."""
    scene = opened(after_a_game())
    scene.do(tap(cell_of("a", "replay"), 0))
    replay = scene.table.replay
    while replay.at < len(WON):
        last = scene.table.snapshot
        assert (None, ()) == (last.winner, last.line)
        scene.wait(replay.due_us - scene.now_us + 20 * MS)
        cell = morbak.parse_action(WON[replay.at - 1]).cell
        assert (cell, replay.shown_us) == (scene.table.snapshot.last_cell, scene.table.snapshot.last_us)
    last = scene.table.snapshot
    assert (scene.table.game.ending.result, scene.table.game.ending.line) == (last.winner, last.line)


def test_a_replay_may_go_round() -> None:
    """With `loop` the game begins again after its end; else it is over."""
    game = playing().moves("d4", "e5").table.game
    assert isinstance(game, Game)
    for loop, after in ((False, [1, 2, 2]), (True, [1, 2, 0])):
        replay, seen = Replay(game, 4, 0, STEP_US, loop=loop), []
        for _ in range(3):
            going = replay.step(replay.due_us)
            seen.append(replay.at)
            expected_us = STEP_US if replay.at < 2 else END_US
            assert expected_us == replay.due_us - replay.shown_us
        assert (after, loop) == (seen, going)
