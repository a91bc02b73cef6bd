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
import time
from types import FrameType
from typing import Final, NoReturn

from firmware.app import RealClock
from firmware.arguments import Misuse, port
from firmware.kiosk import Beat, Heart, command
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
    if not os.environ.get("XDG_RUNTIME_DIR"):
        os.environ["XDG_RUNTIME_DIR"] = os.environ.get("RUNTIME_DIRECTORY", tempfile.gettempdir())
    address = f"http://127.0.0.1:{parsed.port}/?kiosk" + (f"&lang={parsed.lang}" if parsed.lang else "")
    signal.signal(signal.SIGTERM, _end)
    with tempfile.TemporaryDirectory(prefix="profile-", ignore_cleanup_errors=True) as profile:
        screen = subprocess.Popen(  # noqa: S603 - programs that are named here
            command(browser, address, profile), start_new_session=True
        )
        try:
            return _watch(screen, parsed.port)
        finally:
            _see_off(screen)


def _end(_signal: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(0)


def _watch(screen: subprocess.Popen[bytes], port: int) -> int:
    """Until the browser ends or its page dies; systemd then starts another."""
    clock = RealClock()
    heart, ready = Heart(clock.now_us()), False
    with contextlib.closing(Notifier.of()) as notifier:
        while screen.poll() is None:
            beat = _beat(port)
            if not heart.step(clock.now_us(), beat):
                log.error("the page on the screen has died; the browser is started anew.")
                return 1
            if not ready and (heart.felt or beat == "away"):
                ready = True
                notifier.ready()
            notifier.feed()
            notifier.status("the board is away" if beat == "away" else "the page is shown")
            time.sleep(PERIOD_S)
    log.error("the browser has ended with exit status %d; another is started.", screen.returncode)
    return 1


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


def _see_off(screen: subprocess.Popen[bytes]) -> None:
    """End the compositor, and with it the browser and all that it has started."""
    screen.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        screen.wait(ENDS_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(screen.pid, signal.SIGKILL)
    screen.wait()
