"""The screen beside a board, and the one between its players: nothing burns in, no cursor, what is b's faces b."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser import opened
from tests.camera import SETTLED
from tests.stub_board import stub_board
from tests.test_browser_page import LANGUAGES, OUTSIDE, SCROLLS, SIZES
from tests.test_browser_states import PLAY, options

pytestmark = [pytest.mark.browser, pytest.mark.realtime]

LESSONS = ["light", "permute", "block", "neutralise", "pool", "win"]
LESSON_MS = 4_200
LEAST_APART = 8
CURSOR = "() => getComputedStyle(document.querySelector('[data-cell=d4]')).cursor"
# What animations change; the first four keys of a keyframe say when and how.
ANIMATED = """() => [...new Set(document.getAnimations().flatMap((animation) => animation.effect.getKeyframes())
  .flatMap(({ offset, easing, composite, computedOffset, ...changed }) => Object.keys(changed)))]"""
PLACES = """() => ["#welcome", "#lessons", "#settings"].map((name) => {
  const { x, y } = document.querySelector(name).getBoundingClientRect();
  return [x, y];
})"""
# How far the lessons end above the buttons, in pixels; null where they stand beside them.
APART = """() => {
  const [lessons, nav] = ["#lessons", "#settings"].map((name) => document.querySelector(name).getBoundingClientRect());
  return lessons.right < nav.left ? null : nav.top - lessons.bottom;
}"""
TURNED = "(name) => getComputedStyle(document.querySelector(name)).rotate === '180deg'"


def test_six_pictures_play_one_after_the_other() -> None:
    """Each lesson has its turn with its picture moving, by opacity and size alone; then the invitation turns."""
    with stub_board() as board, opened(board) as page:
        page.clock.install()
        page.reload()
        told = page.locator("#lessons li")
        expect(told).to_have_count(len(LESSONS))
        for at in range(len(LESSONS)):
            expect(told.nth(at)).to_have_attribute("data-told", "")
            assert set(page.evaluate(ANIMATED)) <= {"opacity", "scale"}
            assert page.evaluate("() => document.getAnimations().length") > 0
            page.clock.run_for(LESSON_MS)
        assert page.evaluate("() => document.body.hasAttribute('data-turned')")
        board.say(**PLAY)
        expect(page.locator("#lessons")).to_be_hidden()
        assert 0 == page.evaluate("() => document.getAnimations().length")


def test_words_do_not_stand_still_in_attract() -> None:
    """While nobody plays the words move a little with every lesson, and never out of the window."""
    with stub_board() as board, opened(board) as page:
        page.clock.install()
        page.reload()
        page.wait_for_selector("#lessons [data-told]")
        seen = []
        for _ in LESSONS:
            seen.append(page.evaluate(PLACES))
            page.evaluate(SETTLED)
            assert [] == page.evaluate(OUTSIDE)
            page.clock.run_for(LESSON_MS)
        assert all(len({str(place[at]) for place in seen}) > 3 for at in range(3))


@pytest.mark.parametrize("seat", ["", "?seat=table"])
def test_the_last_lesson_keeps_away_from_the_buttons(seat: str) -> None:
    """Wherever the lessons stand above the buttons there is room between them, in both languages."""
    with stub_board() as board, opened(board) as page:
        page.goto(f"{page.url}{seat}")
        page.wait_for_selector("#lessons [data-told]")
        near = {}
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            for _ in LANGUAGES:
                near[width, height, page.locator("html").get_attribute("lang")] = page.evaluate(APART)
                page.locator("#lang").click()
        assert 4 == len([apart for apart in near.values() if apart is not None])
        assert {} == {where: apart for where, apart in near.items() if apart is not None and apart < LEAST_APART}


def test_a_resting_pointer_leaves_the_picture() -> None:
    """Five seconds after its last move the cursor is gone; a move brings it back."""
    with stub_board() as board, opened(board) as page:
        page.clock.install()
        page.reload()
        page.wait_for_selector("body[data-touch]")
        page.mouse.move(300, 300)
        page.clock.run_for(4_900)
        assert "pointer" == page.evaluate(CURSOR)
        page.clock.run_for(200)
        assert "none" == page.evaluate(CURSOR)
        page.mouse.move(310, 300)
        assert "pointer" == page.evaluate(CURSOR)


def test_a_table_has_two_seats() -> None:
    """On a screen between the players b's rail, caption and menu words are turned to him, and all fits every screen."""
    with stub_board() as board, opened(board) as page:
        page.goto(f"http://127.0.0.1:{board.port}/?seat=table")
        page.wait_for_selector("body[data-link=open]")
        assert [] == misfits(page)
        board.say(**PLAY, last_action=None)
        expect(page.locator("#past-far")).to_have_text("Orange starts.")
        assert [True, True, False] == [page.evaluate(TURNED, name) for name in ("#rail-b", "#caption-far", "#rail-a")]
        assert [] == misfits(page)
        board.say(phase="menu", menu=options("series_3"))
        words = ["[data-cell=g7] .word", "[data-cell=a1] .word"]
        page.wait_for_selector(words[0])
        assert [True, False] == [page.evaluate(TURNED, name) for name in words]


def misfits(page: Page) -> list[str]:
    """What does not fit, by screen and language."""
    found = []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for _ in LANGUAGES:
            page.evaluate(SETTLED)
            found += [f"{width}x{height}: {what}" for what in page.evaluate(OUTSIDE)]
            found += [f"{width}x{height}: scrolls"] if page.evaluate(SCROLLS) else []
            page.locator("#lang").click()
    return found


def test_a_screen_is_dark_while_the_board_says_so() -> None:
    """Nothing shines on the screen while nobody is there, and all is back when somebody comes (cases F7, F8)."""
    with stub_board() as stub, opened(stub) as page:
        stage = page.locator("#stage")
        expect(stage).to_have_css("opacity", "1")
        stub.say(screen={"quiet": True, "dark": True})
        expect(stage).to_have_css("opacity", "0")
        expect(page.locator("body")).to_have_css("background-color", "rgb(0, 0, 0)")
        stub.say(screen={"quiet": True, "dark": False})
        expect(stage).to_have_css("opacity", "1")


def test_a_board_that_is_wiped_says_so() -> None:
    """While the board is deaf the page says why, in place of what else is wrong and of what a touch would do."""
    with stub_board() as stub, opened(stub) as page:
        stub.fail(journal="not saved: no room")
        stub.say(phase="paused")
        expect(page.locator("#hint")).to_contain_text("tap")
        stub.say(cleans_ms=30_000)
        expect(page.locator("#hint")).to_have_text("")
        expect(page.locator("#notice")).to_have_text("The board is being wiped and feels nothing.")
        stub.say(cleans_ms=None)
        expect(page.locator("#notice")).to_contain_text("Not saved")
