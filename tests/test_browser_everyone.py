"""The page for every eye and ear: axe finds nothing in any phase, and every word can be read on whatever lies below."""

from __future__ import annotations

import importlib.resources
from base64 import b64encode
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser import Fingers, opened
from tests.live import Live, running
from tests.stub_board import EMPTY, StubBoard, stub_board
from tests.test_browser import act, until
from tests.test_browser_menu import GUARD_OVER, asked, open_by_fingers

pytestmark = [pytest.mark.browser, pytest.mark.realtime]

AXE = (importlib.resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
LEAST = 7.0
# The colour of every element that shows words of its own and what lies below, as CSS has them; the slab is no colour.
INKS = """() => [...document.querySelectorAll("p, h2, li, button, span, figcaption, b")]
  .filter((element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
  .filter((element) => !element.closest("#slab, #live"))
  .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
  .map((element) => [element.id || element.textContent, getComputedStyle(element).color])"""
GROUND = (11, 12, 16)
# The brightest pixel within each word's box once the ink is gone, sRGB.
BELOW = """async ([png, boxes]) => {
  const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes]));
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
  context.drawImage(bitmap, 0, 0);
  return boxes.map(({ x, y, width, height }) => {
    const { data } = context.getImageData(x, y, width, height);
    const pixels = Array.from({ length: data.length / 4 }, (_, at) => [...data.slice(4 * at, 4 * at + 3)]);
    const light = ([r, g, b]) => 0.2126 * r ** 2.2 + 0.7152 * g ** 2.2 + 0.0722 * b ** 2.2;
    return pixels.reduce((best, pixel) => (light(pixel) > light(best) ? pixel : best));
  });
}"""
WORDS = """() => [...document.querySelectorAll(".word:not(:empty)")].map((word) => {
  const range = document.createRange();
  range.selectNodeContents(word);
  const { x, y, width, height } = range.getBoundingClientRect();
  word.style.color = "transparent";
  const slab = document.querySelector("#slab").getBoundingClientRect();
  const whole = Math.round;
  return { x: whole(x - slab.x), y: whole(y - slab.y), width: whole(width), height: whole(height) };
})"""
INK = (241, 239, 236)
MENU = {
    "kind": "menu",
    "cells": {name: {"side": "a", "item": item, "on": False} for name, item in (("b4", "draw"), ("d4", "new_game"))},
    "asked": None,
}


def luminance(colour: tuple[int, ...]) -> float:
    """Relative luminance of sRGB bytes, as WCAG has it."""
    r, g, b = ((c / 255) / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: tuple[int, ...], two: tuple[int, ...]) -> float:
    """The contrast ratio of WCAG."""
    light, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def violations(page: Page, where: str) -> list[str]:
    """What axe has against the page as it is now, in both languages."""
    page.evaluate(AXE)
    found = []
    for _ in range(2):
        told: list[dict[str, Any]] = page.evaluate("(rules) => axe.run(document, rules)", RULES)["violations"]
        found += [f"{where}: {rule['id']} {[node['html'][:90] for node in rule['nodes']]}" for rule in told]
        page.evaluate("() => document.getElementById('lang').click()")
    return found


def faint(page: Page) -> list[str]:
    """Words outside the slab with less contrast than wanted."""
    inks: list[tuple[str, str]] = page.evaluate(INKS)
    assert inks
    read = [(name, tuple(int(float(part)) for part in colour[4:-1].split(","))) for name, colour in inks]
    return [f"{name} {colour}" for name, colour in read if contrast(colour, GROUND) < LEAST]


def test_axe_finds_nothing_in_any_phase() -> None:
    """From the invitation to a replay, with every panel open and marks on, axe has nothing to say."""
    with running("--seed", "3") as live, opened(live) as page:
        fingers = Fingers(page)
        found = violations(page, "attract") + faint(page)
        for panel in ("help", "code-open", "world-open"):
            page.locator(f"#{panel}").click()
            found += violations(page, panel) + faint(page)
            page.locator(f"#{panel}").click()
        found += options(live, page, fingers)
        page.wait_for_selector("body[data-phase=play]", timeout=10_000)
        page.locator("#marks").click()
        for action in ("d4", "e5", "#d4"):
            act(live, fingers, action)
        found += violations(page, "play, marks") + faint(page)
        open_by_fingers(live, fingers)
        found += violations(page, "menu") + faint(page)
        if live.state()["phase"] != "menu":  # axe may take longer than a menu waits
            open_by_fingers(live, fingers)
        asked(live, fingers, "c1", "draw")
        fingers.down("e7")
        until(live, "phase", "result")
        fingers.up("e7")
        found += violations(page, "result") + faint(page)
        assert [] == found


def options(live: Live, page: Page, fingers: Fingers) -> list[str]:
    """Open the options of the lobby, look, and close them."""
    fingers.tap("d4")
    until(live, "phase", "lobby")
    page.evaluate(GUARD_OVER)
    open_by_fingers(live, fingers)
    found = violations(page, "options") + faint(page)
    fingers.tap("g2")
    until(live, "phase", "lobby")
    return found


def test_axe_finds_nothing_when_parts_fail_or_the_board_is_away() -> None:
    """Trouble is told to everyone, too."""
    with stub_board() as board, opened(board) as page:
        board.say(phase="lobby")
        page.wait_for_selector("body[data-phase=lobby]")
        found = violations(page, "lobby") + faint(page)
        board.say(phase="play", starter="a", to_move="a", legal=["d4"], match=MATCH)
        board.say(masked=["d4", "e5"])
        board.fail(leds="the LEDs do not answer", journal="not saved", cells="pressed")
        page.wait_for_selector("body[data-trouble]")
        page.locator("#moves").click()
        found += violations(page, "trouble, moves, cells out of use") + faint(page)
        board.fail()
        board.say(phase="menu", menu={**MENU, "asked": {"item": "draw", "by": "b", "left_ms": 9_000}})
        page.wait_for_selector("body[data-phase=menu]")
        found += violations(page, "asked") + faint(page)
        board.say(phase="paused", menu=None, replay={"seq": 3, "at": 2, "of": 9, "position": EMPTY})
        page.wait_for_selector("body[data-phase=replay]")
        found += violations(page, "replay") + faint(page)
        for phase in ("paused", "safe"):
            board.say(phase=phase, menu=None, replay=None)
            page.wait_for_selector(f"body[data-phase={phase}]")
            found += violations(page, phase) + faint(page)
        board.stop()
        page.wait_for_selector("body[data-link=away]")
        found += violations(page, "away") + faint(page)
        assert [] == found


MATCH = {"series": 3, "score": {"a": 1.5, "b": 0}, "over": False}
# Wire colours from a dim cell to a white one, through those of a menu.
LIGHTS = ["000000", "0a0200", "280800", "501000", "ff3202", "00052d", "020a46", "0226ff", "ffffff", "808080", "ffb06a"]


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_words_on_cells_can_be_read_on_any_light(lang: str) -> None:
    """A word on a cell has 7:1 against the brightest spot below it, whatever the cell's light."""
    with stub_board() as board, opened(board, locale=lang) as page:
        board.say(phase="menu", starter="a", to_move="a", menu=MENU)
        page.wait_for_selector(".word:not(:empty)")
        boxes = page.evaluate(WORDS)
        least = {light: min(worst(board, page, boxes, light)) for light in LIGHTS}
        assert {} == {light: round(found, 1) for light, found in least.items() if found < LEAST}


def worst(board: StubBoard, page: Page, boxes: list[dict[str, int]], light: str) -> list[float]:
    """The contrast of each word on cells of a wire colour."""
    board.shine(bytes.fromhex(light))
    page.wait_for_timeout(150)
    png = b64encode(page.locator("#slab").screenshot()).decode()
    below: list[list[int]] = page.evaluate(BELOW, [png, boxes])
    return [contrast(INK, tuple(pixel)) for pixel in below]
