"""The drawer of a simulated board: its time and its faults, switched on the page."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser import Fingers, opened
from tests.live import running
from tests.stub_board import stub_board
from tests.test_browser import start, until

pytestmark = [pytest.mark.browser, pytest.mark.realtime]


def test_faults_are_switched_in_the_drawer() -> None:
    """Each switch says whether it is on; a stuck cell and an unplugged board show on the page, and can be mended."""
    with running("--seed", "3") as live, opened(live) as page:
        fingers = Fingers(page)
        page.locator("#world-open").click()
        expect(page.locator("#world")).to_be_visible()
        switch = {name: page.get_by_role("button", name=name) for name in ("time stands still", "unplugged", "bounce")}
        for button in switch.values():
            expect(button).to_have_attribute("aria-pressed", "false")
        start(live, page, fingers)
        fingers.tap("e5")
        until(live, "last_action", "e5")
        page.get_by_role("button", name="e5 stays pressed").click()
        expect(page.get_by_role("button", name="e5 stays pressed")).to_have_attribute("aria-pressed", "true")
        assert ["e5"] == live.json("GET", "/api/v1/sim/world")[1]["stuck"]
        page.get_by_role("button", name="e5 stays pressed").click()
        switch["unplugged"].click()
        expect(page.locator("#notice")).to_contain_text("The lights do not answer.")
        expect(page.locator("#notice")).to_contain_text("The cells do not feel touch.")
        switch["unplugged"].click()
        expect(page.locator("#notice")).to_be_empty()
        switch["time stands still"].click()
        expect(switch["time stands still"]).to_have_attribute("aria-pressed", "true")
        assert live.json("GET", "/api/v1/sim/world")[1]["paused"]


def test_one_panel_at_a_time_stands_in_the_corner() -> None:
    """Opening a panel closes the one before; its own button closes it."""
    with running("--seed", "3") as live, opened(live) as page:
        panels = {"help": "#gestures", "code-open": "#code", "world-open": "#world"}
        for button, panel in panels.items():
            page.locator(f"#{button}").click()
            assert [name == panel for name in panels.values()] == [
                page.locator(name).is_visible() for name in panels.values()
            ]
        page.locator("#world-open").click()
        expect(page.locator("#world")).to_be_hidden()


def test_a_real_board_has_no_drawer() -> None:
    """Where there is no world to change the page offers none."""
    with stub_board() as board, opened(board) as page:
        expect(page.locator("#help")).to_be_visible()
        expect(page.locator("#world-open")).to_be_hidden()
