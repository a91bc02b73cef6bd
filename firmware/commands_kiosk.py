"""`morbak kiosk`: the page on the screen of this machine, in a browser that is started anew when its page is dead."""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from types import FrameType
from typing import Final, NoReturn

from firmware.app import RealClock
from firmware.arguments import Misuse, port
from firmware.kiosk import Beat, Heart, command, complaint, obituary
from firmware.notify import Notifier

log = logging.getLogger("morbak")

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
PERIOD_S: Final = 0.5
ASKS_S: Final = 2.0
ENDS_S: Final = 3.0


def add_kiosk(parser: argparse.ArgumentParser) -> None:
    """`morbak kiosk`."""
    parser.add_argument("--port", type=port, default=8700, help="port of the board's page (default: 8700)")
    parser.add_argument("--lang", choices=("fr", "en"), help="language of the page (default: the browser's)")
    parser.set_defaults(command=_kiosk)


def _kiosk(parsed: argparse.Namespace) -> int:
    browser = next((name for name in BROWSERS if shutil.which(name)), None)
    if browser is None or shutil.which("cage") is None:
        raise Misuse("the screen needs cage and chromium: sudo apt install cage chromium xwayland.")
    # A service may write into the directory that systemd has made for it, and not into that of its user's session.
    own = os.environ.get("RUNTIME_DIRECTORY") or os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    os.environ["XDG_RUNTIME_DIR"] = own
    address = f"http://127.0.0.1:{parsed.port}/?kiosk" + (f"&lang={parsed.lang}" if parsed.lang else "")
    signal.signal(signal.SIGTERM, _end)
    with contextlib.closing(Notifier.of()) as notifier:
        while _shown(browser, address, parsed.port, notifier):
            pass  # a page that has lived gets another browser at once; one that has not, another start of all of it
    return 1


def _end(_signal: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(0)


def _shown(browser: str, address: str, port: int, notifier: Notifier) -> bool:
    """One browser, until it ends or its page dies; whether its page has ever lived."""
    with tempfile.TemporaryDirectory(prefix="profile-", ignore_cleanup_errors=True) as profile:
        screen = subprocess.Popen(  # noqa: S603 - programs that are named here
            command(browser, address, profile), start_new_session=True, stderr=subprocess.PIPE, text=True
        )
        try:
            return _watch(screen, port, notifier)
        finally:
            _see_off(screen)


def _watch(screen: subprocess.Popen[str], port: int, notifier: Notifier) -> bool:
    """Feed the watchdog while the page lives; whether it ever has."""
    clock, said = RealClock(), _Said(screen)
    heart, ready = Heart(clock.now_us()), False
    while screen.poll() is None:
        beat = _beat(port)
        if not heart.step(clock.now_us(), beat):
            log.error("the page on the screen has died; the browser is started anew.")
            return heart.felt
        if not ready and (heart.felt or beat == "away"):
            ready = True
            notifier.ready()
        notifier.feed()
        shown = "the page is shown" if heart.felt else "the browser starts"
        notifier.status("the board is away" if beat == "away" else shown)
        time.sleep(PERIOD_S)
    if heart.felt:
        log.error("the browser has ended with exit status %d; another is started.", screen.returncode)
    else:
        log.error("%s", obituary(screen.returncode, said.complaints()))
    return heart.felt


class _Said:
    """What a screen says: cage's first and last complaint are kept for a sentence, the rest is passed on."""

    def __init__(self, screen: subprocess.Popen[str]) -> None:
        assert screen.stderr is not None
        self._kept: list[str] = []
        self._lines = screen.stderr
        self._thread = threading.Thread(target=self._run, name="said", daemon=True)
        self._thread.start()

    def complaints(self) -> list[str]:
        """The complaints of a screen that has ended."""
        self._thread.join(ENDS_S)  # a browser that outlives its compositor may hold the pipe
        return self._kept

    def _run(self) -> None:
        for line in self._lines:
            if (words := complaint(line)) is None:
                sys.stderr.write(line)
            else:
                self._kept = [*self._kept[:1], words]


def _beat(port: int) -> Beat:
    """How long ago the page was painted, as the board has felt it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ASKS_S)
    try:
        connection.request("GET", "/api/v1/kiosk")
        age_ms = json.loads(connection.getresponse().read())["age_ms"]
        return None if age_ms is None else int(age_ms) * 1000
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return "away"
    finally:
        connection.close()


def _see_off(screen: subprocess.Popen[str]) -> None:
    """End the compositor, and with it the browser and all that it has started."""
    screen.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        screen.wait(ENDS_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(screen.pid, signal.SIGKILL)
    screen.wait()
