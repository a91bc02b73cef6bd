"""A board whose process is killed comes back with the game as it was."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest

from tests.live import running
from tests.live_play import QUICK, after, to_play, touch

pytestmark = pytest.mark.realtime


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
