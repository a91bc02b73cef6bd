"""Debian's chromium on the board's page, touched as a person would."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tests.conftest import CHROMIUM
from tests.live import Live
from tests.stub_board import StubBoard

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def opened(
    live: Live | StubBoard, *, width: int = 1280, height: int = 800, locale: str = "en-GB", **options: Any
) -> Iterator[Page]:
    """The page of a board in a browser with a touch screen; fails on any error the page reports."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            viewport = {"width": width, "height": height}
            context = browser.new_context(viewport=viewport, has_touch=True, locale=locale, **options)  # type: ignore[arg-type]
            page = context.new_page()
            problems: list[str] = []
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on("console", lambda told: problems.append(told.text) if told.type == "error" else None)
            page.goto(f"http://127.0.0.1:{live.port}/")
            page.wait_for_selector("body[data-link=open]")
            yield page
            assert [] == problems
        finally:
            browser.close()


class Fingers:
    """Touch points on the glass; each cell has its own."""

    def __init__(self, page: Page) -> None:
        self._page, self._cdp = page, page.context.new_cdp_session(page)
        self._points: dict[str, dict[str, float]] = {}

    def down(self, cell: str) -> None:
        """A finger comes down on a cell."""
        box = self._page.locator(f"[data-cell={cell}]").bounding_box()
        assert box is not None
        point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2, "id": float(len(self._points))}
        self._points[cell] = point
        self._send("touchStart")

    def up(self, cell: str) -> None:
        """The finger is lifted."""
        del self._points[cell]
        self._send("touchEnd")

    def tap(self, cell: str) -> None:
        """A short touch."""
        self.down(cell)
        self.up(cell)

    def _send(self, kind: str) -> None:
        self._cdp.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(self._points.values())})
