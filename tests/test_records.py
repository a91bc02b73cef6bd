"""Finished games can be listed, drawn and fetched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firmware import draw
from firmware.cli import main
from firmware.clock import Limits
from firmware.game import Game
from firmware.game_record import save_of
from firmware.games import morbak
from firmware.journal import Journal
from firmware.match import Match
from firmware.record import parse_record
from firmware.state_directory import StateDirectory
from tests.live import running

Output = pytest.CaptureFixture[str]
WON = ("a1", "a7", "b1", "xa1", "!a1", "c7", "d1", "e7", "c1", "f7", "e1")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state directory with two finished games and one that is not."""
    directory = StateDirectory.open(tmp_path)
    journal, _ = Journal.open(directory, lambda: ("2026-11-30T10:00:00+01:00", True))
    for number in (1, 2, 3):
        game = Game(morbak.STANDARD, Limits(), "a")
        game.run(0)
        for turn, text in enumerate(WON[: 5 if number == 3 else 11], 1):
            game.play(morbak.parse_action(text), turn * 1_000_000)
        journal.put(save_of(game, Match(game.rules, game.clocks.limits), number, 20_000_000), game.ending is not None)
    assert journal.close()
    directory.close()
    return tmp_path


def test_finished_games_are_listed_in_order(state: Path, capsys: Output) -> None:
    """Each finished game is a line with its number and what became of it; one in progress is none."""
    assert 0 == main(["records", "--state", str(state)])
    lines = capsys.readouterr().out.splitlines()
    assert [1, 2] == [int(line.split()[0]) for line in lines]
    assert all("a wins by line" in line for line in lines)


def test_records_are_json_lines(state: Path, capsys: Output) -> None:
    """With --json every line is a record that reads back."""
    assert 0 == main(["records", "--json", "--state", str(state)])
    records = [parse_record(line) for line in capsys.readouterr().out.splitlines()]
    assert [(1, WON), (2, WON)] == [(record.seq, record.moves) for record in records]


def test_a_game_is_drawn_in_the_terminal(state: Path, capsys: Output) -> None:
    """`records show N` prints the moves and the final board, row 7 on top."""
    assert 0 == main(["records", "show", "2", "--state", str(state)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("; a began; pool 7, neutralisations 1")
    assert ["  1. a1 a7", "  3. b1 xa1", " 11. e1"] == [lines[1], lines[2], lines[6]]
    assert "1 * a a a a . ." in lines
    assert "7 b . b . b b ." in lines
    assert "  a b c d e f g" == lines[-2]


@pytest.mark.parametrize("arguments", [["show"], ["show", "3"], ["show", "99"], ["play"], ["show", "x"]])
def test_what_is_not_there_is_said(state: Path, arguments: list[str], capsys: Output) -> None:
    """A number that is missing, unfinished or unknown is said in a sentence, with status 2."""
    try:
        status = main(["records", *arguments, "--state", str(state)])
    except SystemExit as ended:
        status = int(ended.code or 0)
    assert 2 == status
    assert "Traceback" not in capsys.readouterr().err


def test_a_board_that_never_played_has_no_records(
    tmp_path: Path, capsys: Output, caplog: pytest.LogCaptureFixture
) -> None:
    """Without a journal the list is empty, a sentence beside it says so, and nothing is wrong with that."""
    assert 0 == main(["records", "--state", str(tmp_path)])
    assert (("", f"No game has been finished yet in {tmp_path}.\n"), []) == (capsys.readouterr(), caplog.records)
    assert 0 == main(["records", "--json", "--state", str(tmp_path)])
    assert ("", "") == capsys.readouterr()


@pytest.mark.realtime
def test_records_are_served(state: Path) -> None:
    """`GET /api/v1/records` gives the same lines, while the board resumes the unfinished game."""
    with running("--state", str(state)) as live:
        status, body, headers = live.request("GET", "/api/v1/records")
        assert (200, "application/jsonl") == (status, headers["content-type"].split(";")[0])
        assert [1, 2] == [json.loads(line)["seq"] for line in body.splitlines()]
        assert "paused" == live.state()["phase"]


def test_a_position_is_drawn_as_it_lies() -> None:
    """Row 7 is on top, column a at the left."""
    drawn = draw.board("a.....b/......./......./...*.../......./......./A.....B a 7:7 1:1").splitlines()
    assert ["7 a . . . . . b", "4 . . . * . . .", "1 A . . . . . B"] == [drawn[0], drawn[3], drawn[6]]
