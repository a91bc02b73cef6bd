"""A game on a real USB serial port, which is pulled out in the middle and comes back under another name."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.vm.machine import KIT
from tests.vm.test_gpio import PATIENCE, replayed, told
from tests.vm.test_vm import inside

pytestmark = pytest.mark.vm


def test_a_game_goes_on_after_a_replug_under_another_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`morbak trace record --board serial:auto` plays a game to its end through a real ttyACM. The cable is pulled out
    for three seconds and comes back as another port; the clocks stood still, and light and touch go on (cases E1, E2,
    G24). Its trace is replayed on this computer, which has no such port: the same.
    """
    script = str(KIT / "inside/cable_game.py")
    ran = inside(*PATIENCE, "--bind", f"{tmp_path}:/srv", "--", sys.executable, script, "/srv/game.jsonl")
    assert (0, "") == (ran.returncode, ran.stderr)
    game = json.loads(ran.stdout)
    assert (["ttyACM0", "ttyACM1"], game["first"], [True] * 7, 0) == (
        game["names"],
        game["result"],
        game["seen"],
        game["status"],
    )
    assert game["noticed_ms"] < 1_000 + 1_000  # with a second for a busy machine
    assert game["found_ms"] < 3_000 + 1_000
    # the clock stood: it lost what passed until sight was lost and after it was back, not the seconds between
    assert game["spent_ms"] < game["out_ms"] - 2_000
    replayed(tmp_path / "game.jsonl", "serial", 7)
    assert '"do":"unseen"' in (tmp_path / "game.jsonl").read_text()
    with capsys.disabled():
        print(
            f"\na cable out for {game['out_ms']:.0f} ms: noticed in {game['noticed_ms']:.0f} ms, found "
            f"{game['found_ms']:.0f} ms after the plug, the mover's clock lost {game['spent_ms']:.0f} ms"
        )


def test_a_pi_is_a_board_at_the_end_of_a_cable() -> None:
    """`morbak board serve --board reference` hands the GPIO and the LEDs of a Pi to a host: each cell is told once down
    and once up, a frame of the host's leaves the SPI bus, and when serving ends the board is dark.
    """
    found = told("served_board.py")
    edges = [[cell, up] for cell in range(49) for up in (False, True)]
    assert {"edges": edges, "light": True, "dark": True, "name": "MORBAK board", "shorts": 0} == found
