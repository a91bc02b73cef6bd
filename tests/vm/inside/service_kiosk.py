"""Runs inside the virtual Pi under systemd with logind: the screen's service, its browser a stand-in that is small.

The compositor is real, its output in memory. Prints as JSON who runs where, and what becomes of a browser and of a
supervisor that are killed.
"""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.request
from pathlib import Path

import vpi
from service import PORT, morbak, run, show, until

KIOSK = "morbak-kiosk"
DROP_IN = Path("/run/systemd/system/morbak-kiosk.service.d/headless.conf")
# This machine has no screen and no virtual terminals; logind gives no session to a terminal that it does not know.
HEADLESS = """[Service]
Environment=WLR_BACKENDS=headless WLR_RENDERER=pixman WLR_LIBINPUT_NO_DEVICES=1
TTYPath=
StandardInput=null
TTYReset=no
TTYVHangup=no
TTYVTDisallocate=no
"""
# Found before the system's own, as what an administrator has installed is.
BROWSER = Path("/usr/local/bin/chromium")
PAGE = f"""#!/usr/bin/python3
import os, socket, time, urllib.request
compositor = socket.socket(socket.AF_UNIX)
compositor.connect(os.path.join(os.environ["XDG_RUNTIME_DIR"], os.environ["WAYLAND_DISPLAY"]))
compositor.settimeout(1)
while True:
    urllib.request.urlopen(urllib.request.Request("http://127.0.0.1:{PORT}/api/v1/kiosk", method="POST"), timeout=9)
    try:
        if not compositor.recv(1):
            break
    except TimeoutError:
        pass
"""


def beaten(since_s: float) -> bool:
    """Whether the page has lived after a moment."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/api/v1/kiosk", timeout=5) as answer:
            age_ms = json.load(answer)["age_ms"]
    except OSError:
        return False
    return age_ms is not None and time.monotonic() - age_ms / 1000 > since_s


def processes(*options: str) -> list[int]:
    """The processes that `pgrep` finds."""
    return [int(pid) for pid in run("pgrep", *options, check=False).stdout.split()]


def supervisor() -> int:
    """The process of the service."""
    return int(show("MainPID", KIOSK))


def killed(pid: int) -> list[int]:
    """Kill a process, wait until there is another compositor, and a page; the compositors that there are then."""
    before, killed_s = processes("-x", "cage"), time.monotonic()
    os.kill(pid, signal.SIGKILL)
    until(lambda: processes("-x", "cage") not in ([], before) and beaten(killed_s + 1), 60)
    return processes("-x", "cage")


def main() -> None:
    """Install, kill, look."""
    BROWSER.write_text(PAGE)
    BROWSER.chmod(0o755)
    DROP_IN.parent.mkdir(parents=True)
    DROP_IN.write_text(HEADLESS)
    run("systemctl", "start", "dbus.service", "systemd-logind.service")
    began_s = time.monotonic()
    morbak("install", "--board", "reference", "--kiosk")
    vpi.until(lambda: beaten(began_s), 60)
    board, first = show("MainPID"), supervisor()
    told = {
        "session": "session-" in Path(f"/proc/{first}/cgroup").read_text(),
        "said": show("StatusText", KIOSK),
        "browser": len(killed(processes("-f", str(BROWSER))[-1])),
        "same": supervisor() == first,
        "supervisor": len(killed(first)),
        "another": supervisor() not in (0, first),
        "board": show("MainPID") == board,
        "log": run("journalctl", "-t", KIOSK, "-o", "cat").stdout.splitlines(),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
