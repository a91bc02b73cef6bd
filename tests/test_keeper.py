"""What is saved when, and how the next action waits for the last one's commit."""

from __future__ import annotations

from itertools import pairwise

import pytest

from firmware.clock import Limits
from firmware.engine import Engine, Surroundings
from firmware.game import Game
from firmware.game_record import game_from, match_from, save_of
from firmware.games import morbak
from firmware.lights import Lights
from firmware.match import Match
from firmware.record import format_record, parse_record
from firmware.save import Save
from sim.fingers import chord, hold, tap
from tests.scene import BETWEEN_US, MS, NO_LIMITS, S, Scene

MATCH = Match(morbak.STANDARD, Limits())


class Disk:
    """A disk that takes what it is given at once, or when it is told to."""

    def __init__(self) -> None:
        self.saved = 0
        self.fault: str | None = None
        self.stalled = False
        self.saves: list[tuple[Save, bool]] = []
        self.beats: list[Save] = []
        self.put_n = 0

    def put(self, save: Save, finished: bool) -> int:
        self.saves.append((save, finished))
        self.put_n += 1
        if not self.stalled:
            self.saved = self.put_n
        return self.put_n

    def heartbeat(self, save: Save) -> None:
        self.beats.append(save)


def scene_on(disk: Disk, **options: object) -> Scene:
    scene = Scene(**options)
    scene.drive.engine = Engine(scene.table, scene.drive.board, Lights(), Surroundings(disk))
    return scene


def moves_of(disk: Disk) -> list[str]:
    return list(disk.saves[-1][0].record.moves)


def part_of(scene: Scene) -> dict[str, object]:
    return dict(scene.drive.engine.document(scene.now_us)["health"]["parts"]["journal"])


def test_every_action_is_saved_with_what_belongs_to_it() -> None:
    """One save an action, with all moves, times and clocks, that reads back as a record."""
    disk = Disk()
    scene = scene_on(disk, limits=NO_LIMITS).play()
    before = len(disk.saves)
    scene.moves("d4", "xd4", "!d4")
    assert 3 == len(disk.saves) - before
    save, finished = disk.saves[-1]
    assert (["d4", "xd4", "!d4"], False, True) == (list(save.record.moves), finished, save.running)
    assert save.record == parse_record(format_record(save.record))


def test_a_result_finishes_its_game() -> None:
    """The save of a result is marked finished and is its game's last, and the next game has the next number."""
    disk = Disk()
    scene = scene_on(disk, limits=NO_LIMITS).play().moves("a1", "a7", "b1", "b7", "c1", "c7", "d1")
    save, finished = disk.saves[-1]
    assert (1, True, "line") == (save.game, finished, save.record.reason)
    before = len(disk.saves)
    scene.wait(4 * S)
    scene.tap("e4")
    scene.wait(5 * S)
    assert {(2, False)} == {(save.game, finished) for save, finished in disk.saves[before:]}


def test_the_next_action_waits_for_the_commit() -> None:
    """While the disk is silent the next action is lit but not judged; it counts with its own time once it answers."""
    disk = Disk()
    scene = scene_on(disk, limits=NO_LIMITS).play()
    disk.stalled = True
    scene.tap("d4")
    scene.wait(BETWEEN_US)
    scene.tap("e5")
    assert ["d4"] == [move.text for move in scene.table.game.moves]
    assert any(touch.cell == morbak.parse_cell("e5") for touch in scene.table.snapshot.touches)
    tapped_us = scene.now_us
    disk.stalled, disk.saved = False, disk.put_n
    scene.drive.engine.saved(scene.now_us)
    assert ["d4", "e5"] == [move.text for move in scene.table.game.moves]
    assert scene.table.take_played()[-1].t_us < tapped_us


def test_after_a_second_play_goes_on_and_not_saved_shows() -> None:
    """A disk that does not answer for a second stops nothing; board and page say that nothing is saved."""
    disk = Disk()
    scene = scene_on(disk, limits=NO_LIMITS).play()
    disk.stalled = True
    scene.tap("d4")
    scene.wait(BETWEEN_US)
    scene.tap("e5")
    scene.wait(1 * S)
    assert ["d4", "e5"] == [move.text for move in scene.table.game.moves]
    for text in ("c6", "f2", "g4", "b3"):  # nothing waits a second time, and what shows stays
        scene.wait(500 * MS)
        assert [text] == scene.tap(text)
        part = part_of(scene)
        assert (False, True) == (part["ok"], part["text"].startswith("not saved"))
        assert scene.drive.engine._picture.snapshot.fault_us is not None
    disk.stalled, disk.saved = False, disk.put_n
    scene.wait(1 * S)
    assert part_of(scene)["ok"]


def test_what_is_in_the_way_of_saving_is_told() -> None:
    """A fault of the disk shows on the board and in the state at once, and for as long as it lasts."""
    disk = Disk()
    scene = scene_on(disk).play()
    disk.fault = "The disk is full: make room."
    scene.wait(1 * S)
    assert {"ok": False, "text": "not saved: The disk is full: make room."} == part_of(scene)
    assert scene.drive.engine._picture.snapshot.fault_us is not None
    disk.fault = None
    scene.wait(1 * S)
    assert {"ok": True, "text": "ok"} == part_of(scene)
    assert scene.drive.engine._picture.snapshot.fault_us is None


def test_a_running_clock_is_never_5_s_behind() -> None:
    """While a clock runs it is saved every 4 s, and half a second later at most; in a pause and before a game nothing
    is (promise 1)."""
    disk = Disk()
    scene = scene_on(disk)
    scene.wait(60 * S)
    assert ([], []) == (disk.beats, disk.saves)
    scene.play()
    scene.wait(51 * S)
    used = [sum(save.used_us) for save in disk.beats]
    assert 10 <= len(used)
    assert all(3_900 * MS <= later - sooner <= 4_600 * MS for sooner, later in pairwise(used))


def test_whoever_acts_quickly_needs_no_more_saves() -> None:
    """The save of an action holds the clocks too: nothing is written beside those of actions every 3 s (case F10)."""
    disk = Disk()
    scene = scene_on(disk, limits=NO_LIMITS).play()
    for text in ("d4", "e5", "c6", "f2", "g4", "b3"):
        scene.wait(3 * S)
        assert [text] == scene.tap(text)
    assert [] == disk.beats


def test_a_game_that_is_left_is_finished_without_a_result() -> None:
    """A new game from the menu closes the old one's record without a result, its clocks as they were saved last."""
    disk = Disk()
    scene = scene_on(disk, limits=NO_LIMITS).play().moves("d4")
    scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
    scene.wait(10 * S)
    scene.do(tap("e1", 0))
    scene.do(hold("c7", 0, 900 * MS))
    assert "lobby" == scene.table.phase
    save, finished = disk.saves[-1]
    assert (disk.beats[-1].used_us, False) == (save.used_us, save.running)
    assert (1, True, True, None, ["d4"]) == (save.game, finished, save.left, save.record.result, moves_of(disk))


@pytest.mark.parametrize("texts", [[], ["d4"], ["d4", "xd4", "!d4", "c3", "e5"]])
def test_a_game_comes_back_as_it_was(texts: list[str]) -> None:
    """A game set up from its save has the same position, moves, clocks and takebacks, to the millisecond."""
    game, t_us = Game(morbak.LITE, Limits(), "b"), 0
    game.run(0)
    for text in texts:
        t_us += 1_234_567
        game.play(morbak.parse_action(text), t_us)
    if texts:
        game.take_back(t_us + S)
        game.play(morbak.parse_action(texts[-1]), t_us + 2 * S)
    again = game_from(save_of(game, MATCH, 7, t_us + 3 * S))
    assert (game.state, game.moves, game.undone, game.timeouts) == (
        again.state,
        again.moves,
        again.undone,
        again.timeouts,
    )
    assert [us // MS for us in game.times_us] == [us // MS for us in again.times_us]
    stopped = game.clocks.stop(t_us + 3 * S)
    assert (stopped.used_us, stopped.move_used_us) == (again.clocks.used_us, again.clocks.move_used_us)
    assert None is again.clocks.running


def test_time_outs_in_a_row_come_back() -> None:
    """How many turns running were lost by time is part of the game: three of them park it, restart or not."""
    game = Game(morbak.STANDARD, Limits(), "a")
    game.run(0)
    for turn in (1, 2):
        game.time_up(turn * 120 * S)
    again = game_from(save_of(game, MATCH, 1, 241 * S))
    assert (2, [0, 1]) == (again.timeouts_running, again.timeouts)


def test_a_resumed_game_waits_for_a_touch() -> None:
    """After a restart the game is paused with its clocks standing; a tap goes on with it and is no move."""
    game = Game(morbak.STANDARD, Limits(), "a")
    game.run(0)
    game.play(morbak.parse_action("d4"), 5 * S)
    save = save_of(game, MATCH, 3, 7 * S)
    disk = Disk()
    scene = scene_on(disk)
    scene.table.resume(game_from(save), match_from(save), save.game, 0)
    scene.wait(60 * S)
    assert [] == disk.beats
    assert ("paused", 3) == (scene.table.phase, scene.table.number)
    assert (895 * S, 898 * S) == tuple(scene.table.game.clocks.left_us(side, scene.now_us) for side in ("a", "b"))
    assert [] == scene.tap("c3")
    assert ("play", ["d4"]) == (scene.table.phase, [move.text for move in scene.table.game.moves])
