"""Every path through menu and options by touch on the page, from both seats: agreed to, refused, timed out, chosen."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from firmware.games import morbak
from firmware.menu import CONSENT, OPTIONS, PLACES, Item, Kind
from firmware.snapshot import Side
from tests.browser import Fingers, opened
from tests.live import Json, Live, running
from tests.test_browser_menu import open_by_fingers

pytestmark = [pytest.mark.browser, pytest.mark.realtime]

# Shortened where a test would only wait; a hold is long, so that a tap of a busy browser is none.
SETTINGS = """
[touch]
hold_ms = 1500
turn_guard_ms = 50
[phases]
lobby_ms = 2500
lot_ms = 100
menu_hold_ms = 500
menu_ask_s = 5
menu_idle_s = 15
result_deaf_ms = 100
replay_step_ms = 50
"""
SIDES: tuple[Side, ...] = ("a", "b")
OTHER: dict[Side, Side] = {"a": "b", "b": "a"}
GUARD_S = 0.08


class Table:
    """A page and the board behind it, with the fingers of both players."""

    def __init__(self, live: Live, fingers: Fingers) -> None:
        self.live, self.fingers = live, fingers

    def until(self, holds: Callable[[Json], bool], why: str) -> Json:
        """Wait until the board's state is so."""
        deadline_s = time.monotonic() + 15
        while not holds(state := self.live.state()):
            assert time.monotonic() < deadline_s, f"{why}: {state['phase']}, {state['menu']}"
        return state

    def phase(self, phase: str) -> Json:
        state = self.until(lambda state: state["phase"] == phase, phase)
        time.sleep(GUARD_S)
        return state

    def asked(self, item: Item | None) -> None:
        self.until(lambda state: (state["menu"]["asked"] or {}).get("item") == item, f"asked {item}")
        time.sleep(GUARD_S)

    def cell(self, side: Side, item: Item, kind: Kind = "menu") -> str:
        places = PLACES[kind].items()
        return next(morbak.cell_name(cell) for cell, place in places if (place.side, place.item) == (side, item))

    def tap(self, side: Side, item: Item, kind: Kind = "menu") -> None:
        self.fingers.tap(self.cell(side, item, kind))

    def hold(self, side: Side, item: Item, phase: str) -> Json:
        cell = self.cell(side, item)
        self.fingers.down(cell)
        state = self.until(lambda state: state["phase"] == phase, phase)
        self.fingers.up(cell)
        time.sleep(GUARD_S)
        return state

    def menu(self) -> None:
        open_by_fingers(self.live, self.fingers)
        time.sleep(GUARD_S)

    def play(self, *cells: str) -> None:
        """Into a game, and light these cells."""
        self.fingers.tap("d4")
        self.phase("play")
        for cell in cells:
            self.fingers.tap(cell)
            self.until(lambda state, cell=cell: state["last_action"] == cell, cell)  # type: ignore[misc]
            time.sleep(GUARD_S)


@contextmanager
def table(tmp_path: Path) -> Iterator[Table]:
    settings = tmp_path / "settings.toml"
    settings.write_text(SETTINGS, encoding="utf-8")
    with running("--seed", "3", "--config", str(settings)) as live, opened(live) as page:
        yield Table(live, Fingers(page))


def test_every_request_is_refused_times_out_and_is_agreed_to(tmp_path: Path) -> None:
    """Pause, takeback, draw and new game from each seat: the other's tap and time refuse, his hold agrees."""
    led_to = {"pause": "paused", "takeback": "play", "draw": "result", "new_game": "lobby"}
    with table(tmp_path) as at:
        at.play("d4", "e5")
        for side in SIDES:
            for item in sorted(CONSENT, key=list(led_to).index):
                at.menu()
                at.tap(side, item)
                at.asked(item)
                at.tap(OTHER[side], item)
                at.asked(None)
                at.tap(side, item)
                at.asked(item)
                at.tap(side, item)  # the asker takes it back
                at.asked(None)
                at.tap(side, item)
                at.asked(item)
                at.asked(None)  # nobody has answered
                at.tap(side, item)
                at.asked(item)
                state = at.hold(OTHER[side], item, led_to[item])
                last = {"pause": "e5", "draw": "e5", "takeback": "d4", "new_game": None}
                assert (last[item], item == "draw") == (state["last_action"], state["reason"] == "agreement")
                back_to_play(at, item)


def back_to_play(at: Table, item: Item) -> None:
    """After what was agreed to, a game with two actions again."""
    if item == "takeback":
        at.fingers.tap("e5")
        at.until(lambda state: state["last_action"] == "e5", "e5")
    elif item == "pause":
        at.fingers.tap("d4")
        at.phase("play")
    else:
        if item == "draw":
            at.fingers.tap("d4")
        at.phase("play")
        for cell in ("d4", "e5"):
            at.fingers.tap(cell)
            at.until(lambda state, cell=cell: state["last_action"] == cell, cell)  # type: ignore[misc]
            time.sleep(GUARD_S)
    time.sleep(GUARD_S)


@pytest.mark.parametrize("side", SIDES)
def test_what_needs_no_consent(tmp_path: Path, side: Side) -> None:
    """Each seat closes and chooses by a tap and resigns by a hold; a menu that is left alone closes."""
    with table(tmp_path) as at:
        at.play("d4")
        at.menu()
        for item, key in (("brightness", "brightness_pct"), ("language", "language"), ("marks", "marks")):
            before = at.live.state()["chosen"][key]
            at.tap(side, item)
            at.until(lambda state, key=key, before=before: state["chosen"][key] != before, item)  # type: ignore[misc]
            time.sleep(GUARD_S)
        at.tap(side, "close")
        at.phase("play")
        at.menu()
        at.phase("play")  # by itself
        at.menu()
        state = at.hold(side, "resign", "result")
        assert (OTHER[side], "resignation") == (state["result"], state["reason"])


@pytest.mark.parametrize("side", SIDES)
def test_a_result_is_seen_again(tmp_path: Path, side: Side) -> None:
    """After a game each seat opens the menu and sees the game again; a tap ends that, and the next is a rematch."""
    with table(tmp_path) as at:
        at.play("d4", "a1", "d5", "a2", "d6", "a3", "d7")
        at.phase("result")
        time.sleep(0.2)
        at.menu()
        at.tap(side, "replay")
        state = at.until(lambda state: state["replay"] is not None and state["replay"]["at"] == 7, "replay")
        assert (state["position"], 7) == (state["replay"]["position"], state["replay"]["of"])
        at.fingers.tap("d4")
        at.until(lambda state: state["replay"] is None, "the end of the replay")
        time.sleep(GUARD_S)
        assert "result" == at.live.state()["phase"]
        at.fingers.tap("d4")
        at.phase("lobby")


@pytest.mark.parametrize("side", SIDES)
def test_every_option_is_chosen(tmp_path: Path, side: Side) -> None:
    """In the lobby each seat sets each option; the game is played by the last ones set."""
    with table(tmp_path) as at:
        at.fingers.tap("d4")
        at.phase("lobby")
        at.menu()
        for item in OPTIONS:
            if item is not None and item != "close":
                at.tap(side, item, "options")
                cell = at.cell(side, item, "options")
                at.until(lambda state, cell=cell: state["menu"]["cells"][cell]["on"], item)  # type: ignore[misc]
                time.sleep(GUARD_S)
        at.tap(side, "close", "options")
        at.phase("lobby")
        state = at.phase("play")
        assert ({"a": None, "b": None}, None) == (state["clocks_ms"], state["move_left_ms"])
        assert ({"a": 6, "b": 6}, 5) == (state["pools"], state["match"]["series"])
