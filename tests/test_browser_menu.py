"""The menu through the page: opened by key and by two fingers, in words, and everything two people agree on in it."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Page, expect

from tests.browser import Fingers, opened
from tests.camera import SETTLED
from tests.live import Live, running
from tests.test_browser import act, start, until
from tests.test_browser_page import LANGUAGES, OUTSIDE, SIZES

pytestmark = [pytest.mark.browser, pytest.mark.realtime]

GUARD_OVER = "() => new Promise((done) => setTimeout(done, 300))"
# Words of an open menu that reach beyond their cell.
SPILT = """() => [...document.querySelectorAll(".word:not(:empty)")].filter((word) => {
    const range = document.createRange();
    range.selectNodeContents(word);
    const [ink, cell] = [range, word].map((part) => part.getBoundingClientRect());
    return ink.left < cell.left || ink.right > cell.right || ink.top < cell.top || ink.bottom > cell.bottom;
  }).map((word) => word.textContent)"""


def misfits(page: Page) -> list[str]:
    """What does not fit on any screen in any language: off the window, or out of its cell."""
    found = []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for _ in LANGUAGES:
            where = f"{width}x{height} {page.locator('html').get_attribute('lang')}"
            page.evaluate(SETTLED)
            found += [f"{where}: {what}" for check in (OUTSIDE, SPILT) for what in page.evaluate(check)]
            page.locator("#lang").click()
    return found


def open_by_key(live: Live, page: Page) -> None:
    """Hold M until the menu is open; the guard after the action or the tap before is over by then."""
    page.evaluate(GUARD_OVER)
    page.keyboard.down("m")
    until(live, "phase", "menu")
    page.keyboard.up("m")
    expect(page.locator("#past")).to_have_text("The menu is open.")


def open_by_fingers(live: Live, fingers: Fingers) -> None:
    """Hold the opposite corners until the menu is open."""
    fingers.down("a1")
    fingers.down("g7")
    until(live, "phase", "menu")
    fingers.up("a1")
    fingers.up("g7")


def asked(live: Live, fingers: Fingers, cell: str, item: str | None) -> None:
    """Tap a cell of the menu, after which `item` is asked, or nothing."""
    fingers.tap(cell)
    deadline_s = time.monotonic() + 15
    while item != ((now := live.state()["menu"]["asked"]) and now["item"]):
        assert time.monotonic() < deadline_s, f"asked is {now}, not {item}"


def agree(live: Live, fingers: Fingers, cell: str, phase: str) -> None:
    """Hold a cell of the menu until that has led to a phase."""
    fingers.down(cell)
    until(live, "phase", phase)
    fingers.up(cell)


def test_the_m_key_opens_a_menu_in_words() -> None:
    """M held opens the menu; its cells have words for eyes and ears, a hint tells what a tap does, close closes."""
    with running("--seed", "3") as live, opened(live) as page:
        fingers = Fingers(page)
        start(live, page, fingers)
        open_by_key(live, page)
        words = {cell: page.locator(f"[data-cell={cell}] .word") for cell in ("a1", "b1", "g1", "g7", "d4")}
        assert ["pause", "", "close", "pause", ""] == [word.inner_text() for word in words.values()]
        label = "a1: Orange, pause. tap to ask for a pause."
        expect(page.locator("[data-cell=a1]")).to_have_attribute("aria-label", label)
        expect(page.locator("[data-cell=d4]")).to_have_attribute("aria-label", "d4: not in the menu.")
        page.locator("[data-cell=d7]").hover()
        expect(page.locator("#hint")).to_have_text("hold to resign: Orange wins")
        page.locator("[data-cell=d7]").click()
        expect(page.locator("#hint")).to_have_text("let go too soon: hold to resign")
        fingers.tap("g1")
        until(live, "phase", "play")
        expect(words["a1"]).to_have_text("")


def test_a_draw_is_offered_refused_and_agreed_on() -> None:
    """Two fingers open the menu; an offer is told with the time to answer; a tap refuses it, a hold accepts."""
    with running("--seed", "3") as live, opened(live) as page:
        fingers = Fingers(page)
        start(live, page, fingers)
        open_by_fingers(live, fingers)
        asked(live, fingers, "c1", "draw")
        expect(page.locator("#past")).to_have_text("Orange offers a draw.")
        expect(page.locator("#hint")).to_contain_text("hold the white cell to accept")
        expect(page.locator("#turn-b")).to_have_text("your answer: 14 s")
        expect(page.locator("#turn-b")).to_have_text("your answer: 13 s")
        asked(live, fingers, "e7", None)
        expect(page.locator("#turn-b")).not_to_contain_text("answer")
        asked(live, fingers, "c1", "draw")
        agree(live, fingers, "e7", "result")
        expect(page.locator("#past")).to_have_text("You agreed to a draw.")
        assert ("draw", "agreement") == (live.state()["result"], live.state()["reason"])


def test_an_action_is_taken_back_and_the_game_paused() -> None:
    """A takeback and a pause agreed on by mouse and finger are told; the pause says what a tap and the corners do."""
    with running("--seed", "3") as live, opened(live) as page:
        fingers = Fingers(page)
        start(live, page, fingers)
        act(live, fingers, "d4")
        act(live, fingers, "e5")
        open_by_key(live, page)
        page.locator("[data-cell=b1]").click()
        expect(page.locator("#past")).to_have_text("Orange asks to take back.")
        page.locator("[data-cell=f7]").hover()
        expect(page.locator("#hint")).to_have_text("hold to accept, tap to refuse")
        page.mouse.down()
        until(live, "last_action", "d4")
        page.mouse.up()
        page.mouse.move(2, 2)
        expect(page.locator("#past")).to_have_text("Orange lit d4.")
        open_by_key(live, page)
        asked(live, fingers, "a1", "pause")
        agree(live, fingers, "g7", "paused")
        expect(page.locator("#hint")).to_have_text("tap to go on, hold a1 and g7 for the menu")
        clock = page.locator("#clock-b").inner_text()
        open_by_key(live, page)
        expect(page.locator("#turn-b")).to_have_text("")
        assert clock == page.locator("#clock-b").inner_text()


def test_the_menu_fits() -> None:
    """On every screen, in both languages, menu words stay in their cells, also while an answer is awaited."""
    with running("--seed", "3") as live, opened(live) as page:
        fingers = Fingers(page)
        start(live, page, fingers)
        act(live, fingers, "d4")
        open_by_key(live, page)
        asked(live, fingers, "b1", "takeback")
        assert [] == misfits(page)
