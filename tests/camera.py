"""A camera on the page of a running board, and the fingers that lead the board to what is worth a picture."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page

from tests.browser import opened
from tests.live import Live, running

# A desktop, the kiosk's attract screen, a small panel, a kiosk on its end, a phone.
SIZES = ((1280, 800), (1280, 720), (800, 480), (1080, 1920), (390, 844))
LANGUAGES = ("en", "fr")

# Side a starts with this seed (sim: the lot is drawn from it).
SEED = "3"
TOUCH_S = 0.08

SETTLED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60))))"


class Camera:
    """Takes one moment in every size and language."""

    def __init__(self, page: Page, folder: Path, live: Live | None = None) -> None:
        self.page, self._folder, self._live = page, folder, live

    def still(self, moment: str) -> None:
        """Take a moment while the board's time stands still."""
        assert self._live is not None
        self._live.json("POST", "/api/v1/sim/world", {"paused": True})
        self.take(moment)
        self._live.json("POST", "/api/v1/sim/world", {"paused": False})

    def take(self, moment: str, ready: Callable[[], None] = lambda: None) -> None:
        """`ready` brings the moment about anew before each picture."""
        for language in LANGUAGES:
            for width, height in SIZES:
                self.page.set_viewport_size({"width": width, "height": height})
                ready()
                self.page.evaluate(SETTLED)
                self.page.screenshot(path=self._folder / f"{moment}-{width}x{height}-{language}.png")
            self.page.evaluate("() => document.getElementById('lang').click()")
        print(moment, flush=True)


def until(live: Live, key: str, value: object, within_s: float = 30) -> None:
    """Wait until the state says so; fails if it does not."""
    deadline_s = time.monotonic() + within_s
    while live.state()[key] != value:
        if time.monotonic() > deadline_s:
            raise AssertionError(f"{key} is {live.state()[key]}, not {value} within {within_s} s")
        time.sleep(0.01)


def tap(live: Live, cell: str) -> None:
    """A touch as long as a person's."""
    live.touch(cell, True)
    time.sleep(TOUCH_S)
    live.touch(cell, False)


def act(live: Live, action: str, guard_s: float = 0.3) -> None:
    """One action by the touch it wants, once the guard after the last one is over."""
    time.sleep(guard_s)
    cell = action[-2:]
    live.touch(cell, True)
    if len(action) > 2:
        until(live, "last_action", action)
    time.sleep(TOUCH_S)
    live.touch(cell, False)
    until(live, "last_action", action)


@contextmanager
def filmed(settings: str, folder: Path) -> Iterator[tuple[Live, Camera]]:
    """A board with these settings, and a camera on its page."""
    with tempfile.TemporaryDirectory() as config:
        path = Path(config) / "morbak.toml"
        path.write_text(settings)
        with running("--seed", SEED, "--config", str(path)) as live, opened(live) as page:
            yield live, Camera(page, folder, live)


def start(live: Live) -> None:
    """From the invitation to the first turn."""
    tap(live, "d4")
    until(live, "phase", "play")


@contextmanager
def greyed(camera: Camera) -> Iterator[None]:
    """Whoever looks sees no colours for a while."""
    devtools = camera.page.context.new_cdp_session(camera.page)
    devtools.send("Emulation.setEmulatedVisionDeficiency", {"type": "achromatopsia"})
    yield
    devtools.send("Emulation.setEmulatedVisionDeficiency", {"type": "none"})


@contextmanager
def opened_panel(camera: Camera, button: str) -> Iterator[None]:
    """A panel that is open for a while."""
    press = f"() => document.getElementById('{button}').click()"
    camera.page.evaluate(press)
    yield
    camera.page.evaluate(press)


def open_menu(live: Live) -> None:
    """Hold the opposite corners until the menu is open; does nothing where it is."""
    if live.state()["phase"] == "menu":
        return
    for down in (True, False):
        for cell in ("a1", "g7"):
            live.touch(cell, down)
        until(live, "phase", "menu")


def ask(live: Live, cell: str) -> None:
    """Ask from a cell of the menu, unless that is asked already."""
    open_menu(live)
    if live.state()["menu"]["asked"] is None:
        tap(live, cell)
    while live.state()["menu"]["asked"] is None:
        time.sleep(0.01)
