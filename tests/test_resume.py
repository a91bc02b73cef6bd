"""A board whose process is killed comes back with the game as it was."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random

import pytest

from tests.live import Json, Live, running
from tests.live_play import QUICK, after, guard, quiet, to_play, touch, until
from tests.test_journal_faults import look

pytestmark = pytest.mark.realtime


CLOCK_LOST_MS = 5_000  # at most, in the player's favour (promise 1)


class Restarts:
    """One board that is killed and started again, and what its players know of the game."""

    def __init__(self, folder: Path, random: Random) -> None:
        self.directory, self._random = folder / "state", random
        (folder / "quick.toml").write_text(QUICK, encoding="utf-8")
        self._options = ("--seed", "1", "--state", str(self.directory), "--config", str(folder / "quick.toml"))
        self.allowed: list[str] = []  # the positions that a restart may find; none: it is the first
        self._seen: Json = {}
        self._seen_s = self._killed_s = self._acted_s = self._saved_s = 0.0

    @contextmanager
    def board(self) -> Iterator[Live]:
        """The board started again, checked, and killed at the end."""
        with running(*self._options) as live:
            self._check(live.state())
            self.acts()
            yield live
            live.process.kill()
            self._killed_s = time.monotonic()

    def acts(self) -> None:
        """An action, or a game gone on with, comes now; the one before it was saved after its own time."""
        self._saved_s, self._acted_s = self._acted_s, time.monotonic()

    def watch(self, live: Live, most: int) -> Json:
        """Look at the board so many times or less; what was seen last is what it must come back with."""
        for _ in range(self._random.randrange(1, most)):
            self._seen_s = time.monotonic()
            self._seen = live.state()
        return self._seen

    def _check(self, state: Json) -> None:
        if not self.allowed:
            return
        assert state["position"] in self.allowed, (self.allowed, state)
        assert state["phase"] == "paused" or (state["phase"], bool(state["result"])) == ("result", True)
        if state["position"] == self._seen["position"]:
            same = ("starter", "to_move", "pools", "neutralisations", "result", "reason")
            assert [self._seen[key] for key in same] == [state[key] for key in same]
            unseen_ms = 1000 * (self._killed_s - self._seen_s) + 1
            lost_ms = min(CLOCK_LOST_MS, 1000 * (self._killed_s - self._saved_s) + 1)
            for side in "ab":
                back_ms = state["clocks_ms"][side] - self._seen["clocks_ms"][side]
                assert -unseen_ms <= back_ms <= lost_ms, (side, unseen_ms, lost_ms, self._seen, state)


@pytest.mark.long
def test_kill_9_loses_no_action_that_was_seen(tmp_path: Path, seed: int, prove: bool) -> None:
    """After kill -9 the position is the one last seen, or the one the touch under way led to; the board is paused with
    the same pools and neutralisations, and clocks that have lost 5 s at most, in the players' favour."""
    random = Random(seed)
    restarts = Restarts(tmp_path, random)
    for _ in range(50 if prove else 5):
        with restarts.board() as live:
            for _ in range(random.randrange(5)):
                state, action = touched(live, random, restarts)
                until(live, lambda now, state=state: bool(now["position"] != state["position"]))  # type: ignore[misc]
                if len(action) > 2:
                    live.touch(action[-2:], False)
            touched(live, random, restarts)
            seen = restarts.watch(live, 40)
            if seen["position"] not in restarts.allowed:  # a pass that was forced
                restarts.allowed = [seen["position"]]


def touched(live: Live, random: Random, restarts: Restarts) -> tuple[Json, str]:
    """The touch of any legal action, on its way; returns the state before it, and the action."""
    to_play(live)
    guard(live)
    state = live.state()
    action = random.choice(state["legal"])
    restarts.allowed = [state["position"], after(state, action)]
    restarts.acts()
    touch(live, action)
    return state, action


def to_menu(live: Live) -> Json:
    """Open the menu in play; returns the state."""
    to_play(live)
    guard(live)
    live.touch("a1", True)
    live.touch("g7", True)
    state = until(live, lambda state: bool(state["phase"] == "menu"))
    live.touch("a1", False)
    live.touch("g7", False)
    guard(live)
    return state


def cell_of(state: Json, side: str, item: str) -> str:
    """Where an item of the open menu lies for a side."""
    cells: dict[str, Json] = state["menu"]["cells"]
    return next(name for name, place in cells.items() if (place["side"], place["item"]) == (side, item))


@pytest.mark.long
@pytest.mark.parametrize("story", ["menu", "asked", "pause", "takeback"])
def test_kill_9_in_the_menu(story: str, tmp_path: Path, seed: int, prove: bool) -> None:
    """Killed while the menu is open, while something is asked, or while a pause or a takeback is agreed to, the board
    comes back paused, before or after what was agreed, and no takeback that was seen is forgotten."""
    random = Random(seed)
    restarts, backs = Restarts(tmp_path, random), 0
    for number in range(13 if prove else 2):
        with restarts.board() as live:
            state = to_play(live)
            action = quiet(state, random)
            assert action is not None
            guard(live)
            restarts.acts()
            touch(live, action)
            now = until(live, lambda state, action=action: bool(state["last_action"] == action))  # type: ignore[misc]
            restarts.allowed = [now["position"]]
            menu = to_menu(live)
            item = "takeback" if story == "takeback" else "pause"
            if story != "menu":
                live.tap(cell_of(menu, "a", item))
            if story in ("pause", "takeback"):
                until(live, lambda state: bool(state["menu"]["asked"]))
                if story == "takeback":
                    restarts.allowed.append(state["position"])
                live.touch(cell_of(menu, "b", item), True)
                if number == 0:
                    until(live, lambda state: bool(state["phase"] != "menu"))
            seen = restarts.watch(live, 40)
        found, _ = look(restarts.directory)
        assert found.save is not None
        assert isinstance(found.save.record.takebacks, tuple)
        undone = story == "takeback" and seen["phase"] == "play"
        assert backs + undone <= len(found.save.record.takebacks) <= backs + (story == "takeback")
        backs = len(found.save.record.takebacks)


def test_a_second_board_on_the_same_state_is_refused(tmp_path: Path) -> None:
    """One process a state directory: a second says who has it and ends with status 2."""
    with running("--state", str(tmp_path)) as first:
        second = ExitStack()
        with pytest.raises(AssertionError, match="ended with 2"):
            second.enter_context(running("--state", str(tmp_path)))
        assert first.process.poll() is None
