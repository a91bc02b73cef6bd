"""What a restart finds on the board: games, results, the score of a series; in virtual time, on a real journal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from firmware.engine import Engine, Surroundings
from firmware.game_record import game_from, match_from
from firmware.journal import DATABASE, Found, Journal
from firmware.journal_records import records
from firmware.lights import Lights
from firmware.state import document
from firmware.state_directory import StateDirectory
from sim.fingers import chord, hold, tap
from tests.scene import BETWEEN_US, MS, NO_LIMITS, S, Scene

WON = ("d4", "a1", "d5", "a2", "d6", "a3", "d7")
NOW = ("2026-11-30T12:00:00+01:00", True)


@contextmanager
def board(state: Path, **options: object) -> Iterator[tuple[Scene, Found]]:
    """A board on a state directory, with what stands in it; closing it is the end of the power."""
    with closing(StateDirectory.open(state)) as directory:
        journal, found = Journal.open(directory, lambda: NOW)
        scene = Scene(**options)
        scene.table.number = found.games
        if found.save is not None:
            scene.table.resume(game_from(found.save), match_from(found.save), found.save.game, 0)
        scene.drive.engine = Engine(scene.table, scene.drive.board, Lights(), Surroundings(Waiting(journal)))
        try:
            yield scene, found
        finally:
            assert journal.close()


class Waiting:
    """A journal whose every save is on the disk before the next step, as virtual time has no second to wait."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    saved = 10**9

    @property
    def fault(self) -> str | None:
        return self._journal.fault

    def put(self, save: object, finished: bool) -> int:
        return int(self._journal.put(save, finished))  # type: ignore[arg-type]

    def heartbeat(self, save: object) -> None:
        self._journal.heartbeat(save)  # type: ignore[arg-type]


def score(scene: Scene) -> dict[str, float]:
    """The points of each side that has some."""
    points: dict[str, float] = document(scene.table, scene.now_us, {})["match"]["score"]
    return {side: n for side, n in points.items() if n}


def option(scene: Scene, cell: str) -> None:
    scene.tap(cell)
    scene.wait(BETWEEN_US)


def best_of_3(scene: Scene) -> str:
    """Into the first game of a series; returns who starts."""
    scene.wait(50 * MS)
    option(scene, "d4")
    scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
    scene.wait(BETWEEN_US)
    for cell in ("e2", "d1", "g1", "g2"):  # best of 3, no limits, close
        option(scene, cell)
    scene.wait(5 * S)
    assert ("play", 3) == (scene.table.phase, scene.table.match.series)
    return str(scene.table.game.starter)


def test_a_game_goes_on_with_its_match(tmp_path: Path) -> None:
    """A restart in the middle of a game finds its position, its limits and its series, paused."""
    with board(tmp_path) as (scene, _):
        best_of_3(scene)
        scene.moves("d4", "e5", "xe5")
        position = scene.position
    with board(tmp_path) as (scene, _):
        assert ("paused", position, 1) == (scene.table.phase, scene.position, scene.table.number)
        assert (3, NO_LIMITS) == (scene.table.match.series, scene.table.match.limits)
        scene.wait(BETWEEN_US)
        scene.tap("d4")
        assert ("play", position) == (scene.table.phase, scene.position)


def test_a_result_stands_after_a_restart_and_the_series_goes_on(tmp_path: Path) -> None:
    """A power cut while a result shows loses neither the result nor the score; the loser starts the next game."""
    with board(tmp_path) as (scene, _):
        winner = best_of_3(scene)
        scene.moves(*WON)
        assert "result" == scene.table.phase
    with board(tmp_path) as (scene, _):
        told = document(scene.table, scene.now_us, {})
        assert ("result", winner, "line") == (told["phase"], told["result"], told["reason"])
        assert (1, False) == (told["match"]["score"][winner], told["match"]["over"])
        scene.wait(3_500 * MS)
        option(scene, "d4")
        assert ("lobby", 2) == (scene.table.phase, scene.table.number)
        assert winner != scene.table.game.starter
        scene.wait(5 * S)
        scene.moves("a1", "d4", "a2", "d5", "a3", "d6", "b7", "d7")
        assert {winner: 2.0} == score(scene)


def test_a_result_that_was_left_does_not_come_back(tmp_path: Path) -> None:
    """Once the players have gone the board invites others, also after a restart; the record is kept once."""
    with board(tmp_path) as (scene, _):
        best_of_3(scene)
        scene.moves(*WON)
        scene.wait(130 * S)
        assert "attract" == scene.table.phase
    with board(tmp_path) as (scene, found):
        assert ("attract", None, 1) == (scene.table.phase, found.save, found.games)
        assert 1 == scene.table.match.series
    with closing(StateDirectory.open(tmp_path)) as directory:
        journal, _ = Journal.open(directory, lambda: NOW)
        assert 1 == len(list(journal.records()))
        assert journal.close()


def test_a_result_that_was_found_is_left_for_good_too(tmp_path: Path) -> None:
    """A result that comes back after a restart and is left then does not come back again."""
    with board(tmp_path) as (scene, _):
        best_of_3(scene)
        scene.moves(*WON)
    with board(tmp_path) as (scene, _):
        assert "result" == scene.table.phase
        scene.wait(130 * S)
        assert "attract" == scene.table.phase
    with board(tmp_path) as (scene, found):
        assert ("attract", None) == (scene.table.phase, found.save)


def test_a_change_of_phase_alone_is_no_save(tmp_path: Path) -> None:
    """Opening and closing a menu in a pause writes nothing: a card wears out by writing (case F10)."""
    with board(tmp_path) as (scene, _):
        best_of_3(scene)
        scene.moves("d4")
        scene.wait(301 * S)
        assert "paused" == scene.table.phase
        puts: list[object] = []
        scene.drive.engine._keeper._store.put = lambda *save: puts.append(save) or 0
        for _ in range(3):
            scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
            scene.wait(BETWEEN_US)
            option(scene, "g1")
        assert ("paused", []) == (scene.table.phase, puts)


def test_a_parked_game_comes_back_after_a_restart(tmp_path: Path) -> None:
    """A game that was parked before a power cut is still there, and a tap goes on with it (case G6)."""
    with board(tmp_path) as (scene, _):
        best_of_3(scene)
        scene.moves("d4", "e5")
        scene.wait(430 * S)
        assert "attract" == scene.table.phase
        position = scene.position
    with board(tmp_path) as (scene, _):
        scene.wait(130 * S)
        assert ("attract", position) == (scene.table.phase, scene.position)
        option(scene, "d4")
        assert "paused" == scene.table.phase
        scene.do(tap(0, 0))
        assert ("play", position) == (scene.table.phase, scene.position)


def test_a_lobby_before_the_second_game_comes_back_as_its_empty_board(tmp_path: Path) -> None:
    """A power cut between two games of a series keeps the score; the next game waits, paused, before its first move."""
    with board(tmp_path) as (scene, _):
        winner = best_of_3(scene)
        scene.moves(*WON)
        scene.wait(3_500 * MS)
        option(scene, "d4")
        assert "lobby" == scene.table.phase
    with board(tmp_path) as (scene, _):
        assert ("paused", 2, 0) == (scene.table.phase, scene.table.number, len(scene.table.game.moves))
        assert {winner: 1.0} == score(scene)


@pytest.mark.parametrize("lot", [0, 1])
def test_a_series_outlives_a_cut_after_an_agreed_new_game(tmp_path: Path, lot: int) -> None:
    """A new game in a series is saved with its score as soon as it is agreed to; the same side begins it again."""
    with board(tmp_path, seed=lot) as (scene, _):
        winner = best_of_3(scene)
        scene.moves(*WON)
        scene.wait(3_500 * MS)
        option(scene, "d4")
        scene.wait(5 * S)
        starter = scene.table.game.starter
        scene.moves("a1", "d4")
        scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
        scene.wait(BETWEEN_US)
        option(scene, "e1")
        scene.do(hold("c7", 0, 900 * MS))
        assert ("lobby", starter, 3) == (scene.table.phase, scene.table.game.starter, scene.table.number)
    with board(tmp_path) as (scene, _):
        assert ({winner: 1.0}, 3, 0) == (score(scene), scene.table.match.series, len(scene.table.game.moves))


def test_a_game_left_before_its_first_move_is_no_record(tmp_path: Path) -> None:
    """A rematch that nobody began leaves nothing in the records, a game that was begun and left does."""
    with board(tmp_path) as (scene, _):
        best_of_3(scene)
        scene.moves(*WON)
        scene.wait(3_500 * MS)
        option(scene, "d4")
        scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
        scene.wait(125 * S)
        assert ("attract", 2) == (scene.table.phase, scene.table.number)
    assert 1 == len(list(records(tmp_path / DATABASE)))
