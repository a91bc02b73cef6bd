"""Runs inside the virtual Pi under systemd: an installed board that cannot start, its safe mode, and a start by hand.

Prints as JSON how often it was started, what it says in safe mode and shows, and what becomes of it afterwards.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import vpi
from service import UNIT, log, morbak, run, show, state, until

SETTINGS = Path("/etc/morbak-board/settings.toml")


def main() -> None:
    """Break, look, mend."""
    SETTINGS.parent.mkdir()
    SETTINGS.write_text("[touch]\nhold_ms = -1\n")
    first = morbak("install", "--board", "reference", check=False)
    safe = until(lambda: state() if state().get("phase") == "safe" else None, 120)
    restarts = int(show("NRestarts"))
    until(lambda: show("ActiveState") == "active")
    time.sleep(3)
    frame = vpi.frames("spi")[-1]
    vpi.press((3, 3))
    time.sleep(0.5)
    vpi.press()
    told = {
        "first": first.returncode,
        "restarts": restarts,
        "safe": safe["safe"],
        "part": safe["health"]["parts"]["start"],
        "said": show("StatusText"),
        "still": int(show("NRestarts")) == restarts and state()["phase"] == "safe",
        "lit": any(byte not in (0x92, 0x49, 0x24) for byte in frame.data),
        "ctl": run("runuser", "-u", "morbak", "--", "/opt/morbak/bin/morbak", "ctl", "status", check=False).stdout,
    }
    before = log()
    SETTINGS.unlink()
    run("systemctl", "restart", UNIT)
    until(lambda: state().get("phase") == "attract")
    told["after"] = state()["safe"]
    told["counted"] = "Safe mode" in log()[len(before) :]
    print(json.dumps(told))


if __name__ == "__main__":
    main()
