"""What helps: all gestures in words, where one can play, and how a cell out of use is played all the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from firmware.games import morbak
from firmware.menu import PLACES
from tests.browser import opened
from tests.camera import SETTLED
from tests.stub_board import STATE, StubBoard, stub_board
from tests.test_browser_page import LANGUAGES, OUTSIDE, SIZES
from tests.test_page_files import GESTURES

pytestmark = [pytest.mark.browser, pytest.mark.realtime]

README = Path(__file__).parent.parent / "README.md"
POSITION = "....b../..ba..b/.Bab.a./..bAab./.axB*a./.y.a.../....ba. a 5:3 0:1"
LEGAL = [action.text for action in morbak.legal(morbak.parse_position(POSITION))]
MATCH = {"series": 3, "score": {"a": 0, "b": 1.5}, "over": False}
PLAY = {
    "phase": "play",
    "starter": "a",
    "to_move": "a",
    "position": POSITION,
    "pools": {"a": 5, "b": 3},
    "neutralisations": {"a": 0, "b": 1},
    "move_left_ms": 9_000,
    "legal": LEGAL,
    "last_action": "g6",
    "match": MATCH,
}
PANELS = {"help": "gestures", "code-open": "code", "world-open": "world"}
# Whatever of the page an open panel lies over; what is in it is its own.
COVERED = """(id) => {
  const panel = document.getElementById(id).getBoundingClientRect();
  const words = "#slab, #past, #hint, .turn, .name, .clock, .pip, .diamond, #settings button, #invitation, #lessons p";
  return [...document.querySelectorAll(words)]
    .filter((element) => element.checkVisibility({ visibilityProperty: true }))
    .filter((element) => element.children.length || element.textContent || element.tagName === "I")
    .filter((element) => !element.closest("#lessons .picture"))
    .filter((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      const box = (element.id !== "slab" && element.textContent ? range : element).getBoundingClientRect();
      return panel.left < box.right && box.left < panel.right && panel.top < box.bottom && box.top < panel.bottom;
    })
    .map((element) => element.id || element.className || element.textContent);
}"""
NARROW = ((390, 844), (800, 480))


def pages(page: Page) -> list[str]:
    """Every gesture that the open help shows, turning its pages round once."""
    shown: list[str] = []
    more = page.locator("#gestures-more")
    page.evaluate(SETTLED)  # the page measures what has changed its size in the frame after
    while not set(now := page.locator("#gestures li:visible").all_inner_texts()) <= set(shown):
        shown += now
        assert [] == page.evaluate(COVERED, "gestures") + page.evaluate(OUTSIDE)
        if not more.is_visible():
            break
        more.click()
        page.evaluate(SETTLED)
    return shown


@pytest.mark.parametrize("phase", ["attract", "play"])
def test_help_lists_every_gesture_and_covers_nothing(phase: str) -> None:
    """On every screen, in both languages, all gestures can be read, a page at a time, and nothing lies beneath them."""
    with stub_board() as board, opened(board) as page:
        board.say(**(PLAY if phase == "play" else {}))
        page.wait_for_selector(f"body[data-phase={phase}]")
        page.locator("#help").click()
        expect(page.locator("#help")).to_have_attribute("aria-expanded", "true")
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            for _ in LANGUAGES:
                assert len(GESTURES) == len(set(pages(page)))
                page.locator("#lang").click()
        page.locator("#help").click()
        expect(page.locator("#gestures")).to_be_hidden()


def test_what_counts_now_comes_first() -> None:
    """Help begins with the gestures of the moment it is opened in, and stays as it is while it is read."""
    with stub_board() as board, opened(board) as page:
        first = page.locator("#gestures li").first
        page.locator("#help").click()
        expect(first).to_have_text("nobody plays: tap any cell")
        board.say(**PLAY)
        page.wait_for_selector("body[data-phase=play]")
        expect(first).to_have_text("nobody plays: tap any cell")
        page.locator("#help").click()
        page.locator("#help").click()
        expect(first).to_have_text("tap: light an empty cell")


# Each row of the table of gestures that README has, and where help says it.
ROWS = {
    "nobody plays: tap any cell": "start",
    "before and during the lot: lift the first finger, then hold `a1` and `g7` for 2 s": "options",
    "play: tap / hold": "tap",
    "play, pause: hold your own two corners for 0.5 s": "pools",
    "play, pause, result: hold `a1` and `g7` for 2 s": "menu",
    "pause: tap any cell": "paused",
    "result: tap any cell, after 3 s": "result",
    "a replay: tap any cell": "replay",
    "nightfall: tap any cell": "night",
    "play, a masked cell: hold an edge cell of its row and one of its column for 1 s": "masked",
    "any: the start button, where there is one": "button",
}


def test_help_has_every_row_of_the_table_of_gestures() -> None:
    """What README's table of all gestures has, help has too."""
    table = README.read_text("utf-8").partition("### All gestures")[2].partition("\n\n")[2].partition("\n\n")[0]
    rows = [row.split(" | ")[:2] for row in table.splitlines()[2:]]
    assert list(ROWS) == [f"{when.removeprefix('| ')}: {gesture}" for when, gesture in rows]
    assert set(ROWS.values()) <= set(GESTURES)


def test_an_open_panel_hides_no_rail() -> None:
    """With any panel open, on every screen, both players still see name, clock, pips and whose turn it is."""
    with stub_board() as board, opened(board) as page:
        board.say(**PLAY)
        page.wait_for_selector("body[data-phase=play]")
        page.evaluate("() => document.body.setAttribute('data-world', '')")
        for button, panel in PANELS.items():
            page.locator(f"#{button}").click()
            expect(page.locator(f"#{panel}")).to_be_visible()
            for width, height in SIZES:
                page.set_viewport_size({"width": width, "height": height})
                for side in "ab":
                    for part in ("name", "clock", "pips"):
                        expect(page.locator(f"#{part}-{side}")).to_be_visible()
                expect(page.locator("#turn-a")).to_be_visible()
                for _ in LANGUAGES:
                    page.evaluate(SETTLED)
                    where = (button, width, page.locator("html").get_attribute("lang"))
                    assert (*where, []) == (*where, page.evaluate(COVERED, panel) + page.evaluate(OUTSIDE))
                    page.locator("#lang").click()


def test_where_one_can_play_shows_on_demand() -> None:
    """A press shows a dot where a tap plays and an outline where a hold does, says so, and takes both away again."""
    with stub_board() as board, opened(board) as page:
        expect(page.locator("#moves")).to_be_hidden()
        board.say(**PLAY)
        dots, outlines = (page.locator(f"#grid .move[data-move={kind}]") for kind in ("tap", "hold"))
        taps = [text for text in LEGAL if len(text) == 2]
        expect(dots).to_have_count(len(taps))
        expect(outlines).to_have_count(len(LEGAL) - len(taps))
        expect(dots.first).to_be_hidden()
        page.locator("#moves").click()
        expect(page.locator("#moves")).to_have_attribute("aria-pressed", "true")
        expect(dots.first).to_be_visible()
        expect(outlines.first).to_be_visible()
        expect(page.locator("#hint")).to_have_text("dot: tap; outline: hold")
        board.say(legal=[], phase="paused")
        expect(page.locator("#grid .move:visible")).to_have_count(0)
        board.say(**PLAY)
        page.locator("#moves").click()
        expect(dots.first).to_be_hidden()


def masked(board: StubBoard, *names: str, **changed: object) -> None:
    """Cells out of use, as the board tells of them."""
    part = {"cells": {"ok": False, "text": "the board's own words"}}
    health = {"ok": False, "parts": STATE["health"]["parts"] | part}
    board.say(**(PLAY | {"masked": list(names), "health": health} | changed))


def test_a_cell_out_of_use_is_named_with_how_to_play_it() -> None:
    """A masked cell inside the board is named in the notice, on the cell, under the pointer and for ears."""
    with stub_board() as board, opened(board) as page:
        masked(board, "d4")
        notice = page.locator("#notice")
        expect(notice).to_have_text("Cell d4 is out of use: is something on it? To play it, hold a4 and d1 for 1 s.")
        cell = page.locator("[data-cell=d4]")
        expect(cell).to_have_attribute("data-out", "")
        expect(cell).to_have_attribute("aria-label", re.compile("d4: .*out of use: hold a4 and d1 for 1\\ss.$"))
        cell.hover()
        expect(page.locator("#hint")).to_have_text("d4 is out of use: hold a4 and d1 for 1 s")
        page.mouse.move(2, 2)
        board.say(refusal={"code": "masked", "cell": "d4", "n": 1})
        expect(page.locator("#hint")).to_have_text("d4 is out of use: hold a4 and d1 for 1 s")
        masked(board, "d4", "a4", "d1")
        cell.hover()
        expect(page.locator("#hint")).to_have_text("d4 is out of use: hold g4 and d7 for 1 s")
        expect(notice).to_have_text("Cells d4, a4, d1 are out of use. How to play them: see help.")
        masked(board, *(f"{column}3" for column in "abcdefg"))
        expect(notice).to_have_text("7 cells are out of use. How to play them: see help.")


def test_a_corner_out_of_use_moves_the_chord_of_the_menu() -> None:
    """With a1 masked the other two corners open the menu: in the words, in help, and under the key M."""
    with stub_board() as board, opened(board) as page:
        masked(board, "a1")
        expect(page.locator("#notice")).to_contain_text("To play it: menu, cursor.")
        page.locator("#help").click()
        expect(page.locator("#gestures li").filter(has_text="the menu").first).to_contain_text("a7 and g1")
        page.keyboard.down("m")
        page.wait_for_timeout(100)
        page.keyboard.up("m")
        page.wait_for_timeout(100)
        downs = [touch["cell"] for touch in board.touches if touch["down"]]
        assert ["a7", "g1"] == sorted(set(downs))
        masked(board, "a1", phase="paused", legal=[])
        expect(page.locator("#hint")).to_have_text("tap to go on, hold a7 and g1 for the menu")


def test_the_cursor_of_the_menu_is_told() -> None:
    """The menu says where its cursor stands, and to the mover that a hold plays there; the ring fills for that hold."""
    items = ("pause", "draw", "resign", "close", "cursor")
    cells = {
        morbak.cell_name(cell): {"side": place.side, "item": place.item, "on": False}
        for cell, place in PLACES["menu"].items()
        if place.item in items
    }
    menu = {"kind": "menu", "cells": cells, "asked": None, "cursor": None}
    with stub_board() as board, opened(board) as page:
        masked(board, "d7", phase="menu", legal=[], menu=menu)
        own, other = page.locator("[data-cell=e2]"), page.locator("[data-cell=c6]")
        own.hover()
        expect(page.locator("#hint")).to_have_text("tap to go to the cell out of use")
        masked(board, "d7", phase="menu", legal=[], menu=menu | {"cursor": "d7"})
        expect(page.locator("#past")).to_have_text("The cursor is on d7.")
        expect(page.locator("#hint")).to_have_text("hold to play d7, tap for the next one")
        page.mouse.down()
        page.wait_for_selector("#ring[data-on=e2][data-side=a]")
        page.mouse.up()
        other.hover()
        expect(page.locator("#hint")).to_have_text("tap for the next cell out of use")


@pytest.mark.parametrize("size", NARROW)
def test_much_trouble_fits_where_room_is_short(size: tuple[int, int]) -> None:
    """Several parts and cells that fail at once are told without lying over a rail or the board."""
    with stub_board() as board, opened(board) as page:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        masked(board, "d4", "a1", "e5")
        told = {part: {"ok": False, "text": "x"} for part in ("leds", "matrix", "journal", "cells")}
        board.say(health={"ok": False, "parts": STATE["health"]["parts"] | told})
        expect(page.locator("#notice")).to_contain_text("Cells d4, a1, e5 are out of use.")
        for _ in LANGUAGES:
            page.evaluate(SETTLED)
            assert [] == page.evaluate(COVERED, "notice") + page.evaluate(OUTSIDE)
            page.locator("#lang").click()
