"""People at a running board: they lead it to play, act by the touch that an action wants, and know where it leads."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random

from firmware.games import morbak
from tests.live import Json, Live

# Touches and phases as quick as the board takes them, for tests that play many turns on the real clock.
QUICK = "[touch]\nhold_ms = 60\nturn_guard_ms = 20\n[phases]\nlobby_ms = 50\nlot_ms = 50\nresult_deaf_ms = 50\n"


def to_play(live: Live) -> Json:
    """Lead the board to play, from wherever it is; returns the state."""
    for _ in range(1000):
        if (state := live.state())["phase"] == "play":
            return state
        if state["phase"] in ("attract", "paused", "result"):
            live.tap("d4")
            for _ in range(50):  # a second tap might already be an action
                if live.state()["phase"] != state["phase"]:
                    break
    raise AssertionError(f"the board stays in {state['phase']}")


def guard(live: Live) -> None:
    """Let 60 ms of the game's own time go by: the guard after an action is over, and a finger has left."""
    state = live.state()
    mover = state["to_move"]
    until_ms = state["clocks_ms"][mover] - 60
    while live.state()["clocks_ms"][mover] > until_ms:
        pass


def touch(live: Live, action: str) -> None:
    """Carry an action out by the touch it wants, without waiting for what comes of it; a hold stays down."""
    cell = action[-2:]
    live.touch(cell, True)
    if len(action) == 2:
        live.touch(cell, False)


def until(live: Live, holds: Callable[[Json], bool], within_s: float = 20) -> Json:
    """The first state that something holds for; fails when none comes in time."""
    deadline_s = time.monotonic() + within_s
    while not holds(state := live.state()):
        assert time.monotonic() < deadline_s, state
    return state


def after(state: Json, action: str) -> str:
    """The position that an action leads to."""
    position = morbak.parse_position(state["position"])
    return morbak.format_position(morbak.apply(position, morbak.parse_action(action)))


def quiet(state: Json, random: Random, spare: frozenset[str] = frozenset()) -> str | None:
    """A light action that ends no game and touches no cell of `spare`; None where there is none."""
    position = morbak.parse_position(state["position"])
    lights = [text for text in state["legal"] if len(text) == 2 and text not in spare]
    random.shuffle(lights)
    return next((text for text in lights if _goes_on(position, text)), None)


def _goes_on(position: morbak.State, text: str) -> bool:
    return morbak.outcome(morbak.apply(position, morbak.parse_action(text))) is None
