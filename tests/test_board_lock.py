"""Two test runs never share a board."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hal.board_lock import BoardInUse, BoardLock


def test_a_board_is_one_runs_and_the_next_ones_afterwards(tmp_path: Path) -> None:
    """Who comes second is told in one sentence who has the board; another board is free, and so is this one later."""
    first = BoardLock("/dev/ttyACM0", tmp_path)
    with pytest.raises(BoardInUse, match=f"^/dev/ttyACM0 is being tested by process {os.getpid()}: wait until that"):
        BoardLock("/dev/ttyACM0", tmp_path)
    BoardLock("/dev/ttyACM1", tmp_path).close()
    first.close()
    first.close()
    BoardLock("/dev/ttyACM0", tmp_path).close()


def test_a_lock_that_cannot_be_had_is_no_free_board(tmp_path: Path) -> None:
    """A name that leads elsewhere is not followed, and nothing is written there."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("kept")
    (tmp_path / "morbak-board-x.lock").symlink_to(elsewhere)
    with pytest.raises(BoardInUse, match="cannot be opened, so nobody knows whether the board is free"):
        BoardLock("x", tmp_path)
    assert "kept" == elsewhere.read_text()
