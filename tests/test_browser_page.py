"""The page in a real browser: no touch outlives its finger, words for everything, room on every screen."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser import opened
from tests.camera import SETTLED
from tests.live import Live, running
from tests.test_browser import until

pytestmark = [pytest.mark.browser, pytest.mark.realtime]

SIZES = ((1280, 800), (1280, 720), (800, 480), (1080, 1920), (390, 844))
LANGUAGES = ("en", "fr")
BRIEF = "[touch]\nturn_guard_ms = 1\n[phases]\nlobby_ms = 50\nlot_ms = 50\n"
# Cells far enough apart that a game of them has no line; each test lights those it needs.
CELLS = ["a1", "d2", "g1", "b4", "e5", "g3", "a6", "d7", "f7", "c3"]

ANSWERED = 40  # a preview has at least 40 % of 255, an empty cell no more than 8
# Every word and every cell that shows, and reaches beyond the window.
OUTSIDE = """() => [...document.querySelectorAll("p, h2, li, button, [data-cell]")]
  .filter((element) => element.checkVisibility({ visibilityProperty: true }) && element.id !== "live")
  .filter((element) => element.children.length || element.textContent || element.dataset.cell)
  .filter((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const box = (element.dataset.cell ? element : range).getBoundingClientRect();
    return box.left < 0 || box.top < 0 || box.right > innerWidth || box.bottom > innerHeight;
  })
  .map((element) => element.id || element.className || element.dataset.cell || element.textContent)"""
SCROLLS = """() => {
  const { scrollWidth, scrollHeight } = document.documentElement;
  return scrollWidth > innerWidth || scrollHeight > innerHeight;
}"""


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A board in the middle of a game that takes as many touches as all tests make."""
    settings = tmp_path_factory.mktemp("page") / "morbak.toml"
    settings.write_text(BRIEF)
    with running("--seed", "3", "--config", str(settings)) as board:
        while board.state()["phase"] != "play":
            if board.state()["phase"] == "attract":
                board.tap("d4")
        yield board


def empty(live: Live) -> str:
    """A cell that nobody has lit yet."""
    free = live.state()["legal"]
    return next(cell for cell in CELLS if cell in free)


def until_played(live: Live, action: str) -> None:
    """Wait until the board has accepted an action; fails if it never does."""
    until(live, "last_action", action)


def press(live: Live, page: Page, cell: str) -> None:
    """Press a cell with the mouse; returns when the board's light has answered."""
    page.locator(f"[data-cell={cell}]").hover()
    page.mouse.down()
    deadline_s = time.monotonic() + 5
    while level(live, cell) < ANSWERED:
        assert time.monotonic() < deadline_s, f"{cell} does not answer"


def level(live: Live, cell: str) -> int:
    """The leading wire value of a cell."""
    wire = live.json("GET", "/api/v1/frame")[1]["cells"][7 * (int(cell[1]) - 1) + "abcdefg".index(cell[0])]
    return max(bytes.fromhex(wire[1:]))


def light(live: Live, page: Page) -> str:
    """Light an empty cell; returns which."""
    cell = empty(live)
    press(live, page, cell)
    page.mouse.up()
    until_played(live, cell)
    return cell


def misfits(page: Page) -> list[str]:
    """What does not fit, by screen and language."""
    found = []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for _ in LANGUAGES:
            where = f"{width}x{height} {page.locator('html').get_attribute('lang')}"
            page.evaluate(SETTLED)
            found += [f"{where}: {what}" for what in page.evaluate(OUTSIDE)]
            found += [f"{where}: scrolls"] if page.evaluate(SCROLLS) else []
            page.locator("#lang").click()
    return found


def test_a_pointer_that_leaves_its_cell_has_let_go(live: Live) -> None:
    """Sliding off a cell with the button down is a release, as sliding a finger off the board's is."""
    with opened(live) as page:
        cell = empty(live)
        press(live, page, cell)
        page.mouse.move(2, 2)
        until_played(live, cell)
        page.mouse.up()


def test_a_window_without_focus_holds_nothing(live: Live) -> None:
    """When the window loses the focus every finger of the page is up."""
    with opened(live) as page:
        cell = empty(live)
        press(live, page, cell)
        page.evaluate("() => window.dispatchEvent(new Event('blur'))")
        until_played(live, cell)


@pytest.mark.parametrize("end", ["reload", "close"])
def test_a_page_that_goes_lets_go(live: Live, end: str) -> None:
    """A page reloaded or a tab closed with a finger down leaves no contact closed on the board."""
    with opened(live) as page:
        cell = empty(live)
        press(live, page, cell)
        page.reload() if end == "reload" else page.close()
        until_played(live, cell)


def test_a_page_that_hangs_lets_go(live: Live) -> None:
    """A tab whose script hangs with a finger down renews nothing, so its contacts open within the lease of a second."""
    with opened(live) as page:
        cell = empty(live)
        press(live, page, cell)
        page.evaluate("() => setTimeout(() => { for (const end = Date.now() + 4000; Date.now() < end; ); }, 50) && 0")
        until(live, "last_action", cell, within_s=3)
        page.mouse.up()


def test_hovering_tells_the_cost_in_words(live: Live) -> None:
    """A pointer on a cell says what a touch would do, how, and what it costs."""
    with opened(live) as page:
        hint = page.locator("#hint")
        page.locator(f"[data-cell={empty(live)}]").hover()
        expect(hint).to_have_text("tap to light: it costs nothing")
        cell = light(live, page)
        expect(hint).to_have_text("hold to permute: 7 of 7 left")
        page.mouse.move(2, 2)
        expect(hint).to_have_text("")
        page.locator(f"[data-cell={cell}]").hover()
        expect(hint).to_have_text("hold to permute: 7 of 7 left")


def test_the_grid_reads_as_the_position_is(live: Live) -> None:
    """For ears each of 7 x 7 cells is a sentence that follows the position, and a change is announced."""
    with opened(live) as page:
        mover = {"a": "orange", "b": "blue"}[live.state()["to_move"]]
        grid = page.get_by_role("grid", name=re.compile("MORBAK board"))
        expect(grid.get_by_role("row")).to_have_count(7)
        expect(grid.get_by_role("gridcell")).to_have_count(49)
        label = page.locator(f"[data-cell={empty(live)}]")
        expect(label).to_have_attribute(
            "aria-label", re.compile("^[a-g][1-7]: empty. tap to light: it costs nothing.$")
        )
        cell = light(live, page)
        expect(label).to_have_attribute("aria-label", f"{cell}: {mover}. hold to permute: 7 of 7 left.")
        expect(page.locator("#live")).to_contain_text(f"{mover.capitalize()} lit {cell}.")


def test_marks_can_be_switched_and_stay(live: Live) -> None:
    """Marks tell owners and conditions without colour, at a press, and the browser keeps the choice."""
    with opened(live) as page:
        light(live, page)
        bars = page.locator("#grid .mark:not([data-owner=''])")
        expect(bars.first).to_be_hidden()
        page.locator("#marks").click()
        expect(page.locator("#marks")).to_have_attribute("aria-pressed", "true")
        expect(bars.first).to_be_visible()
        expect(page.locator("#legend")).to_be_visible()
        page.reload()
        expect(bars.first).to_be_visible()
        page.locator("#marks").click()
        expect(bars.first).to_be_hidden()


def test_who_wants_less_motion_gets_marks(live: Live) -> None:
    """Where the system asks for reduced motion, marks say from the start what rhythms say."""
    with opened(live, reduced_motion="reduce") as page:
        expect(page.locator("#marks")).to_have_attribute("aria-pressed", "true")


def test_everything_fits_in_a_game(live: Live) -> None:
    """No scrollbar and no word cut off on any screen, in both languages, with and without marks."""
    with opened(live) as page:
        page.locator(f"[data-cell={empty(live)}]").focus()
        assert [] == misfits(page)
        page.locator("#marks").click()
        assert [] == misfits(page)


def test_everything_fits_before_a_game() -> None:
    """The invitation and the lessons fit every screen in both languages."""
    with running("--seed", "3") as waiting, opened(waiting) as page:
        expect(page.locator("#welcome")).to_be_visible()
        assert [] == misfits(page)


def test_no_request_leaves_the_board(live: Live) -> None:
    """Whatever the page loads and talks to is the board itself."""
    with opened(live) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("websocket", lambda socket: asked.append(socket.url))
        page.reload()
        page.wait_for_selector("body[data-link=open]")
        page.locator("#marks").click()
        assert len(asked) > 15
        assert {f"127.0.0.1:{live.port}"} == {urlsplit(url).netloc for url in asked}


def test_the_page_comes_back_with_the_board() -> None:
    """While the board is away the page says so and claims nothing; when it is back the page is too."""
    with running("--seed", "3") as first, opened(first) as page:
        watching = page.context.new_page()  # nobody minds its console: a lost link is an error there
        watching.goto(page.url)
        page.close()
        expect(watching.locator("body")).to_have_attribute("data-link", "open")
        first.stop()
        expect(watching.locator("body")).to_have_attribute("data-link", "away")
        expect(watching.locator("#past")).to_have_text("The board is away.")
        with running("--seed", "3", "--port", str(first.port)):
            expect(watching.locator("body")).to_have_attribute("data-link", "open", timeout=10_000)
            expect(watching.locator("#past")).to_have_text("")
