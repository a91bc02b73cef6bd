"""A complete game through the page, in a real browser, by touch and by keyboard."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import Page, expect

from tests.browser import Fingers, opened
from tests.live import Live, running

pytestmark = [pytest.mark.browser, pytest.mark.realtime]

OTHER = {"a": "b", "b": "a"}


def guard(live: Live) -> None:
    """Let 300 ms of the game's own time go by: the guard after an action is over."""
    state = live.state()
    mover = state["to_move"]
    until_ms = state["clocks_ms"][mover] - 300
    while live.state()["clocks_ms"][mover] > until_ms:
        pass


def until(live: Live, key: str, value: object, within_s: float = 15) -> None:
    """Wait until the state says so; fails if it does not in time."""
    deadline_s = time.monotonic() + within_s
    while (found := live.state()[key]) != value:
        assert time.monotonic() < deadline_s, f"{key} is {found}, never {value}"


def start(live: Live, page: Page, fingers: Fingers) -> str:
    """From the invitation to the first turn; returns who starts."""
    fingers.tap("d4")
    page.wait_for_selector("body[data-phase=play]", timeout=8000)
    starter: str = live.state()["starter"]
    return starter


def act(live: Live, fingers: Fingers, action: str) -> None:
    """One action by the touch it wants."""
    guard(live)
    cell = action[-2:]
    fingers.down(cell)
    if len(action) == 2:
        fingers.up(cell)
        until(live, "last_action", action)
    else:
        until(live, "last_action", action)
        fingers.up(cell)


def test_a_complete_game_by_touch() -> None:
    """Two people light, permute, are refused with a reason, block, neutralise, win, and the loser starts anew."""
    with running("--seed", "3") as live, opened(live) as page:
        fingers = Fingers(page)
        starter = start(live, page, fingers)
        expect(page.locator(f"#turn-{starter}")).to_be_visible()
        expect(page.locator(f"#turn-{starter}")).to_have_text(re.compile("your turn"))
        act(live, fingers, "d4")
        act(live, fingers, "xd4")
        guard(live)
        fingers.tap("d4")  # wants a hold
        until(live, "refusal", {"code": "hold", "cell": "d4", "n": 1})
        expect(page.locator("#hint")).to_contain_text("hold", ignore_case=True)
        for action in ("a1", "a7", "#a1", "b7", "!d4", "c7", "b1", "g6"):
            act(live, fingers, action)
        guard(live)
        fingers.tap("a1")  # his own blocked cell
        until(live, "refusal", {"code": "own_blocked", "cell": "a1", "n": 2})
        expect(page.locator("#hint")).to_contain_text("blocked")
        for action in ("c1", "g5", "d1"):
            act(live, fingers, action)
        page.wait_for_selector("body[data-phase=result]")
        state = live.state()
        assert (starter, "line", ["a1", "b1", "c1", "d1"]) == (state["result"], state["reason"], state["line"])
        expect(page.locator(f"#name-{starter}")).to_contain_text("wins")
        page.wait_for_function("() => performance.now() - (window.t0 ??= performance.now()) > 3100")
        fingers.tap("e4")
        page.wait_for_selector("body[data-phase=lobby]")
        page.wait_for_selector("body[data-phase=play]", timeout=8000)
        assert OTHER[starter] == live.state()["starter"]


def test_two_fingers_on_the_glass_cancel() -> None:
    """Two touch points at once are two contacts, and neither acts."""
    with running("--seed", "3") as live, opened(live) as page:
        fingers = Fingers(page)
        start(live, page, fingers)
        fingers.down("d4")
        fingers.down("e5")
        fingers.up("d4")
        fingers.up("e5")
        guard(live)
        assert live.state()["last_action"] is None
        act(live, fingers, "e5")


class Keys:
    """A keyboard, and nothing else."""

    def __init__(self, page: Page) -> None:
        self._keyboard, self._cell = page.keyboard, "d4"  # where the cursor begins

    def go(self, cell: str) -> None:
        """Move the cursor to a cell with the arrows."""
        right, up = "abcdefg".index(cell[0]) - "abcdefg".index(self._cell[0]), int(cell[1]) - int(self._cell[1])
        for count, key in ((right, "ArrowRight"), (-right, "ArrowLeft"), (up, "ArrowUp"), (-up, "ArrowDown")):
            for _ in range(count):
                self._keyboard.press(key)
        self._cell = cell

    def tap(self, cell: str) -> None:
        """Enter on a cell."""
        self.go(cell)
        self._keyboard.press("Enter")

    def act(self, live: Live, action: str) -> None:
        """One action by the key it wants."""
        guard(live)
        self.go(action[-2:])
        self._keyboard.down("Enter")
        if len(action) > 2:
            until(live, "last_action", action)
        self._keyboard.up("Enter")
        until(live, "last_action", action)


def test_a_complete_game_by_keyboard_alone() -> None:
    """Without a pointer: from the invitation through every kind of action and the menu to a line, and its rematch."""
    with running("--seed", "3") as live, opened(live) as page:
        keys = Keys(page)
        keys.tap("d5")
        page.wait_for_selector("body[data-phase=play]", timeout=8000)
        starter = live.state()["starter"]
        for action in ("d4", "xd4", "a1", "a7", "!d4", "b7"):
            keys.act(live, action)
        guard(live)
        page.keyboard.down("m")
        until(live, "phase", "menu")
        page.keyboard.up("m")
        keys.tap("g1")
        until(live, "phase", "play")
        for action in ("#a1", "c7", "b1", "g6", "c1", "g5", "d1"):
            keys.act(live, action)
        assert ("result", starter, "line") == tuple(live.state()[key] for key in ("phase", "result", "reason"))
        page.wait_for_function("() => performance.now() - (window.t0 ??= performance.now()) > 3100")
        keys.tap("d4")
        page.wait_for_selector("body[data-phase=play]", timeout=8000)
        assert OTHER[starter] == live.state()["starter"]


def test_a_hold_released_early_spends_nothing() -> None:
    """A mouse button let go before the hold is complete leaves the cell and the pool as they were, and says why."""
    with running("--seed", "3") as live, opened(live) as page:
        fingers = Fingers(page)
        starter = start(live, page, fingers)
        act(live, fingers, "d4")
        guard(live)
        page.locator("[data-cell=d4]").hover()
        page.mouse.down()
        page.wait_for_selector(f"#ring[data-on=d4][data-side={OTHER[starter]}]")
        page.wait_for_function("() => document.querySelector('#ring .fill').getAnimations()[0].currentTime > 300")
        page.mouse.up()
        until(live, "refusal", {"code": "hold", "cell": "d4", "n": 1})
        assert ({"a": 7, "b": 7}, "d4") == (live.state()["pools"], live.state()["last_action"])
        expect(page.locator("#hint")).to_have_text("let go too soon: hold to permute")
        expect(page.locator("#ring")).not_to_have_attribute("data-on", "d4")


def test_a_mouse_plays_too() -> None:
    """A click lights, a mouse button held down permutes."""
    with running("--seed", "3") as live, opened(live) as page:
        start(live, page, Fingers(page))
        page.locator("[data-cell=d4]").click()
        until(live, "last_action", "d4")
        guard(live)
        page.locator("[data-cell=d4]").hover()
        page.mouse.down()
        until(live, "last_action", "xd4")
        page.mouse.up()


def test_the_language_is_the_browsers_and_can_be_switched() -> None:
    """A French browser is greeted in French; a press of the switch, also in a game, changes all."""
    with running("--seed", "3") as live, opened(live, locale="fr-FR") as page:
        expect(page.locator("html")).to_have_attribute("lang", "fr")
        page.locator("#lang").click()
        expect(page.locator("html")).to_have_attribute("lang", "en")
        fingers = Fingers(page)
        starter = start(live, page, fingers)
        turn = page.locator(f"#turn-{starter}")
        expect(turn).to_have_text("your turn")
        page.locator("#lang").click()
        expect(turn).to_have_text("à vous de jouer")
        act(live, fingers, "d4")
        expect(page.locator("#past")).to_contain_text("a allumé d4.")
        page.locator("#lang").click()
        expect(page.locator("#past")).to_contain_text("lit d4.")


def test_the_page_shows_what_the_wire_got() -> None:
    """A lit cell is bright on the screen where a dark one is not."""
    with running("--seed", "3") as live, opened(live) as page:
        fingers = Fingers(page)
        start(live, page, fingers)
        act(live, fingers, "d4")
        guard(live)
        cells = live.json("GET", "/api/v1/frame")[1]["cells"]
        lit, dark = (sum(bytes.fromhex(cells[cell][1:])) for cell in (24, 0))
        assert lit > 200 > 40 > dark
