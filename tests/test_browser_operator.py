"""The operator's page in a real browser: what it says and what its keys do, on a desktop and on a phone."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect, sync_playwright

from firmware.ctl_socket import ask
from tests.browser import FLAGS
from tests.conftest import CHROMIUM
from tests.live import Live, running

pytestmark = [pytest.mark.browser, pytest.mark.realtime]


# What reaches over the right edge of the screen.
WIDE = """() => [...document.querySelectorAll("main *")]
    .filter((each) => each.getBoundingClientRect().right > innerWidth)
    .map((each) => `${each.tagName} ${each.id} ${each.textContent}`)"""


class Board:
    """A running board and its token."""

    def __init__(self, live: Live, state: Path) -> None:
        self.live, self.state = live, state
        self.token = (state / "token").read_text(encoding="ascii").strip()

    def do(self, **command: object) -> dict[str, Any]:
        return ask(self.state / "ctl.sock", json.dumps(command).encode())


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    state = tmp_path_factory.mktemp("state")
    with running("--seed", "1", "--state", str(state)) as live:
        yield Board(live, state)


@contextmanager
def opened(board: Board, path: str, *, width: int = 1280, height: int = 800, locale: str = "en-GB") -> Iterator[Page]:
    """A page of the board; fails on any error the page reports, its policy included."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            context = browser.new_context(viewport={"width": width, "height": height}, locale=locale)
            page = context.new_page()
            problems: list[str] = []
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on("console", lambda told: problems.append(told.text) if told.type == "error" else None)
            page.goto(f"http://127.0.0.1:{board.live.port}{path}")
            yield page
            assert [] == [problem for problem in problems if "401" not in problem]
        finally:
            browser.close()


def test_without_the_token_the_page_shows_nothing_and_asks_for_it(board: Board) -> None:
    """A wrong token is said to be wrong; the right one opens the page, and a reload keeps it."""
    with opened(board, "/operator") as page:
        expect(page.locator("h1")).to_have_text("This page is for the operator.")
        expect(page.locator("#desk")).to_be_hidden()
        page.fill("#token", "wrong")
        page.press("#token", "Enter")
        expect(page.locator("#wants")).to_have_text("That is not the board’s token.")
        page.fill("#token", board.token)
        page.press("#token", "Enter")
        expect(page.locator("h1")).to_have_text("The board is well.")
        page.reload()
        expect(page.locator("h1")).to_have_text("The board is well.")


def test_the_link_opens_the_page_and_the_token_leaves_the_address(board: Board) -> None:
    """The token behind the # is taken at once, so that nobody reads it off the screen or finds it in the history."""
    with opened(board, f"/operator#{board.token}") as page:
        expect(page.locator("h1")).to_have_text("The board is well.")
        assert f"http://127.0.0.1:{board.live.port}/operator" == page.url
        assert board.token not in page.content()


def test_a_cell_is_put_out_of_use_and_back_on_the_map(board: Board) -> None:
    """A cell that is chosen on the map tells its figures; a key masks it, and the sentence says so."""
    with opened(board, f"/operator#{board.token}") as page:
        page.get_by_role("button", name="f2:").click()
        page.get_by_role("button", name="Put out of use").click()
        expect(page.locator("#wants")).to_have_text("One cell is out of use: f2.")
        assert ["f2"] == board.live.state()["masked"]
        page.get_by_role("button", name="Put back into use").click()
        expect(page.locator("#wants")).to_have_text("")
        assert [] == board.live.state()["masked"]


def test_what_is_set_counts_at_once(board: Board) -> None:
    """Times, language and quiet hours are sent when they are changed, and shown as the board has them."""
    with opened(board, f"/operator#{board.token}") as page:
        page.get_by_label("Time a game").select_option("10 minutes")
        expect(page.locator("#told")).to_have_text("Set.")
        page.get_by_label("Quiet hours").check()
        expect(page.locator("#hour")).to_contain_text("not set yet")
        with page.expect_response(lambda answer: answer.request.method == "POST"):
            page.get_by_label("Brightness").select_option("35 %")
        settings = board.do(do="status")["settings"]
    assert (600, "22:00-08:00", 35) == (settings["total_s"], settings["quiet"], settings["brightness_pct"])
    assert {"done": "settings"} == board.do(do="settings", total_s=None, quiet=None, brightness_pct=None)


def test_cleaning_counts_down_and_ending_a_game_wants_two_presses(board: Board) -> None:
    """While the board is wiped the page says how long still; what cannot be undone is asked again."""
    while board.live.state()["phase"] == "attract":
        board.live.tap("d4")
    with board.live.watch() as watch:
        watch.phase("play")
    with opened(board, f"/operator#{board.token}") as page:
        page.get_by_role("button", name="Clean, 30 s").click()
        expect(page.locator("h1")).to_have_text("Wipe the board now.")
        expect(page.locator("#wants")).to_contain_text("nothing for")
        page.locator("#end").click()
        assert "paused" == board.live.state()["phase"]
        page.get_by_role("button", name="Press again").click()
        expect(page.locator("#told")).to_have_text("The board is free.")
    assert "attract" == board.live.state()["phase"]


def test_a_report_is_saved_and_the_log_is_read(board: Board, tmp_path: Path) -> None:
    """The bundle comes as a file without the token; the log shows who did what, the newest first."""
    with opened(board, f"/operator#{board.token}") as page:
        with page.expect_download() as download:
            page.get_by_role("button", name="Save a report").click()
        download.value.save_as(tmp_path / "r.zip")
        page.get_by_role("button", name="Show").click()
        expect(page.locator("#log li").last).to_contain_text("Settings")
    with zipfile.ZipFile(tmp_path / "r.zip") as archive:
        assert not any(board.token.encode() in archive.read(name) for name in archive.namelist())


@pytest.mark.parametrize("locale", ["en-GB", "fr-FR"])
def test_the_page_fits_a_phone_and_is_accessible(board: Board, locale: str) -> None:
    """On 360 pixels nothing is wider than the screen, every key is large enough for a thumb, and axe finds nothing."""
    with opened(board, f"/operator#{board.token}", width=360, height=740, locale=locale) as page:
        page.wait_for_selector("body[data-view=desk] #settings select")
        expect(page.locator("#about")).to_contain_text("plateau simulé, " if locale == "fr-FR" else "simulated board, ")
        page.locator("#map button").first.click()
        assert (360, []) == (page.evaluate("document.documentElement.scrollWidth"), page.evaluate(WIDE))
        for key in page.locator("button:visible").all():
            box = key.bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= 38, key.inner_text()
        found = Axe().run(page)
        assert 0 == found.violations_count, found.generate_report()


def test_the_operators_code_shows_on_the_boards_own_screen(board: Board) -> None:
    """Held in the menu, the operator's item shows a code on the page, for as long as the menu is open."""
    live = board.live
    while live.state()["phase"] == "attract":
        live.tap("d4")
    with live.watch() as watch:
        watch.phase("play")
        assert 404 == live.request("GET", "/api/v1/qr/operator")[0]
        live.touch("a1", True)
        live.touch("g7", True)
        watch.phase("menu")
        live.touch("a1", False)
        live.touch("g7", False)
        with opened(board, "/") as page:
            page.wait_for_selector("body[data-phase=menu]")
            live.touch("f2", True)
            expect(page.locator("#code")).to_be_visible()
            live.touch("f2", False)
            assert page.locator("#code-picture").evaluate("(picture) => picture.decode().then(() => true)")
            status, code, headers = live.request("GET", "/api/v1/qr/operator")
            assert (200, True, "no-store") == (status, code.startswith(b"<svg"), headers["cache-control"])
            board.do(do="end")
            expect(page.locator("#code-words")).to_have_text("The rules, to take along")
    assert 404 == live.request("GET", "/api/v1/qr/operator")[0]
