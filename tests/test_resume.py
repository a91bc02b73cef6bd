"""A board whose process is killed comes back with the game as it was."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest

from firmware.games import morbak
from tests.live import Json, Live, running

pytestmark = pytest.mark.realtime

QUICK = "[touch]\nhold_ms = 60\nturn_guard_ms = 20\n[phases]\nlobby_ms = 50\nlot_ms = 50\nresult_deaf_ms = 50\n"


def to_play(live: Live) -> Json:
    """Lead the board to play, from wherever it is; returns the state."""
    for _ in range(1000):
        if (state := live.state())["phase"] == "play":
            return state
        if state["phase"] in ("attract", "paused", "result"):
            live.tap("d4")
    raise AssertionError(f"the board stays in {state['phase']}")


def touch(live: Live, action: str) -> None:
    """Carry an action out by the touch it wants, without waiting for what comes of it."""
    cell = action[-2:]
    live.touch(cell, True)
    if len(action) == 2:
        live.touch(cell, False)


def after(state: Json, action: str) -> str:
    """The position that an action leads to."""
    position = morbak.parse_position(state["position"])
    return morbak.format_position(morbak.apply(position, morbak.parse_action(action)))


@pytest.mark.long
def test_kill_9_loses_no_action_that_was_seen(tmp_path: Path, seed: int, prove: bool) -> None:
    """After kill -9 the position is the one last seen, or the one the touch under way led to; never anything else."""
    config = tmp_path / "quick.toml"
    config.write_text(QUICK, encoding="utf-8")
    options = ("--seed", "1", "--state", str(tmp_path / "state"), "--config", str(config))
    random, allowed = Random(seed), {""}
    for _ in range(50 if prove else 5):
        with running(*options) as live:
            state = live.state()
            assert allowed & {"", state["position"]}, (allowed, state)
            assert "paused" == state["phase"] or allowed == {""}
            for _ in range(random.randrange(1, 6)):
                state = to_play(live)
                action = random.choice(state["legal"])
                allowed = {state["position"], after(state, action)}
                touch(live, action)
                for _ in range(random.randrange(0, 40)):
                    state = live.state()
                if len(action) > 2:
                    live.touch(action[-2:], False)
                allowed = allowed if state["position"] in allowed else {state["position"]}
                if state["phase"] == "result":
                    allowed = {""}
            live.process.kill()


def test_a_second_board_on_the_same_state_is_refused(tmp_path: Path) -> None:
    """One process a state directory: a second says who has it and ends with status 2."""
    with running("--state", str(tmp_path)) as first:
        second = ExitStack()
        with pytest.raises(AssertionError, match="ended with 2"):
            second.enter_context(running("--state", str(tmp_path)))
        assert first.process.poll() is None
