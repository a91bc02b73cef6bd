"""A screen without a screen: sway on a headless output, in it `morbak kiosk` as a user of its own, started again as
systemd does it. Pictures are what the output shows.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.live import Live
from tests.vm.parcel import program

# As RestartSec= of the unit.
RESTART_S = 0.5
USER = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]


class Screen:
    """A running kiosk on an output of any size."""

    def __init__(self, folder: Path, port: int, lang: str) -> None:
        self._folder, self._port = folder, port
        self._env = {
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "XDG_RUNTIME_DIR": str(folder),
            "WLR_RENDERER": "pixman",
            "LANG": "C.UTF-8",
        }
        self._command = [
            str(program() / "bin/python"),
            "-m",
            "firmware.cli",
            "kiosk",
            "--port",
            str(port),
            "--lang",
            lang,
        ]
        self._ended = threading.Event()
        self._kiosk: subprocess.Popen[bytes] | None = None
        self._log = (folder / "log").open("wb")
        self._outer = self._start(["sway", "-c", str(folder / "sway.conf")], WLR_BACKENDS="headless")
        self._awaited(lambda: (folder / "wayland-1").exists())
        self._supervisor = threading.Thread(target=self._supervise, daemon=True)
        self._supervisor.start()

    def _start(self, command: list[str], **more: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*USER, *command], env=self._env | more, cwd="/", stdout=self._log, stderr=self._log, start_new_session=True
        )

    def _supervise(self) -> None:
        while not self._ended.is_set():
            self._kiosk = self._start(self._command, WLR_BACKENDS="wayland", WAYLAND_DISPLAY="wayland-1")
            self._kiosk.wait()
            self._ended.wait(RESTART_S)

    def browsers(self) -> list[int]:
        """The processes of the browser, the first one first."""
        found = subprocess.run(["pgrep", "-f", f"^/usr/lib/chromium.*{self._folder}"], capture_output=True, text=True)
        return [int(line) for line in found.stdout.split()]

    def size(self, width: int, height: int) -> None:
        """Another output."""
        (socket,) = self._folder.glob("sway-ipc.*")
        command = ["swaymsg", "-s", str(socket), f"output HEADLESS-1 resolution {width}x{height}"]
        subprocess.run(command, check=True, capture_output=True, env=self._env)

    def picture(self) -> bytes:
        """What the output shows, as PNG."""
        grim = ["grim", "-t", "png", "-"]
        return subprocess.run(
            grim, check=True, capture_output=True, env=self._env | {"WAYLAND_DISPLAY": "wayland-1"}
        ).stdout

    def said(self) -> str:
        """What the programs have logged."""
        return (self._folder / "log").read_text(errors="replace")

    def _awaited(self, holds: Callable[[], bool], within_s: float = 60) -> None:
        end_s = time.monotonic() + within_s
        while not holds():
            assert time.monotonic() < end_s, self.said()
            time.sleep(0.05)

    def close(self) -> None:
        """No more browsers, no more output."""
        self._ended.set()
        for process in (self._kiosk, self._outer):
            if process is not None:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(10)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self._supervisor.join(10)
        self._log.close()


@contextlib.contextmanager
def screen(live: Live, lang: str = "fr") -> Iterator[Screen]:
    """The page of a running board on a screen."""
    folder = Path(tempfile.mkdtemp(prefix="morbak-screen-"))
    (folder / "sway.conf").write_text("default_border none\nxwayland disable\n")
    (folder / "bin").mkdir()
    browser = folder / "bin/chromium"
    # In a container the kernel may deny a browser the sandbox that it makes for itself.
    browser.write_text(f'#!/bin/sh\nexec {shutil.which("chromium")} --no-sandbox "$@"\n')
    browser.chmod(0o755)
    shutil.chown(folder, "nobody")
    shown = Screen(folder, live.port, lang)
    try:
        yield shown
    finally:
        shown.close()
        shutil.rmtree(folder, ignore_errors=True)


def beat_ms(live: Live) -> int | None:
    """How old the last heartbeat of the page is."""
    age: int | None = live.json("GET", "/api/v1/kiosk")[1]["age_ms"]
    return age


def beating(live: Live, within_s: float, since_s: float) -> float:
    """Wait for a beat younger than a moment; returns how long after it that came."""
    end_s = time.monotonic() + within_s
    while time.monotonic() < end_s:
        age = beat_ms(live)
        if age is not None and time.monotonic() - age / 1000 > since_s:
            return time.monotonic() - age / 1000 - since_s
        time.sleep(0.05)
    raise AssertionError(f"no heartbeat within {within_s:g} s")
