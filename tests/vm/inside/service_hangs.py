"""Runs inside the virtual Pi under systemd: a board that is installed, then hangs in one part after the other.

Prints as JSON how soon it was active, what it may do, and for each hang the seconds to the watchdog's bite and to the
game being back, the position before and after, and what the log says.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import vpi
from service import PROGRAM, UNIT, log, morbak, run, show, state, until

from firmware.games import morbak as rules

HANGS = Path("/run/systemd/system/morbak-board.service.d/hangs.conf")
# The service as it is, but with a bug that waits for its file.
BUGGY = """[Service]
ExecStart=
ExecStart={python} {script} run --board ${{MORBAK_BOARD}} --host ${{MORBAK_HOST}} --port ${{MORBAK_PORT}}
"""
DOWN_S = 0.3
# Nobody looks for so long after a part has hung: there is one processor, and systemd keeps the times for later.
SETTLES_S = 6


def tap(cell: str) -> None:
    """A finger on the wires."""
    vpi.press(divmod(rules.parse_cell(cell), 7))
    time.sleep(DOWN_S)
    vpi.press()


def tapped(cell: str, came: Callable[[dict[str, Any]], bool]) -> None:
    """Tap a cell until something has come of it; on a busy machine a touch may be too short or too soon."""
    end_s = time.monotonic() + 60
    while not came(state()):
        if time.monotonic() > end_s:
            raise RuntimeError(f"nothing came of {cell}: {state()}\n{log()}")
        tap(cell)
        look_s = time.monotonic() + 6
        while time.monotonic() < look_s and not came(state()):
            time.sleep(0.1)


def lit() -> bool:
    """Whether the LEDs have got a frame in the last second."""
    frames = vpi.frames("spi")
    return bool(frames) and time.monotonic_ns() - frames[-1].ns < 1_000_000_000


def played() -> str:
    """A game with two actions in it; its position."""
    until(lambda: state().get("phase") == "attract")
    tapped("d4", lambda told: told.get("phase") == "play")
    for cell in ("a1", "b2"):
        before = state()["position"]
        tapped(cell, lambda told, before=before: told.get("position", before) != before)  # type: ignore[misc]
    position: str = state()["position"]
    return position


def entries(since_s: float) -> list[tuple[float, str]]:
    """What systemd and the board have logged after a moment, with its monotonic times in seconds."""
    told = run("journalctl", "-u", UNIT, "-o", "json", "--output-fields=MESSAGE").stdout.splitlines()
    found = [(int(entry["__MONOTONIC_TIMESTAMP"]) / 1e6, str(entry["MESSAGE"])) for entry in map(json.loads, told)]
    return [(at_s, message) for at_s, message in found if at_s > since_s]


def at(since_s: float, words: str) -> float:
    """When words were logged first after a moment; 0 for not yet."""
    return next((at_s for at_s, message in entries(since_s) if words in message), 0.0)


def active(since_s: float) -> float:
    """When the service became active after a moment; 0 for not yet."""
    at_s = int(show("ActiveEnterTimestampMonotonic")) / 1e6
    return at_s if at_s > since_s else 0.0


def hang(part: str) -> dict[str, object]:
    """Let one part hang, and see the watchdog bite and the game come back."""
    tapped("d4", lambda told: told.get("phase") == "play")
    Path("/run/morbak-board/starts.json").unlink()  # as after a clean minute
    time.sleep(1)
    before, slow_s = state()["position"], paced_s()
    Path(f"/run/hang-{part}").touch()
    hung = Path(f"/run/morbak-board/hung-{part}")
    hung_s = float(vpi.until(lambda: hung.exists() and hung.read_text(), 60, 0.5))
    time.sleep(SETTLES_S)
    killed_s = vpi.until(lambda: at(hung_s, "Watchdog timeout"), 30, 0.5)
    back_s = vpi.until(lambda: active(killed_s), 30, 0.5)
    after = until(state)
    messages = [message for _, message in entries(hung_s)]
    return {
        "part": part,
        "killed_s": round(killed_s - hung_s, 2),
        "back_s": round(back_s - hung_s, 2),
        "pace_s": round(max(slow_s, paced_s()), 3),
        "same": before == after["position"],
        "phase": after["phase"],
        "lit": until(lit),
        "named": any(f"standing still: {part}" in message for message in messages),
        "traced": any("most recent call first" in message for message in messages),
    }


def paced_s() -> float:
    """How long this machine takes now to start Python: what its load makes of every other time."""
    began_s = time.monotonic()
    run(str(PROGRAM / "bin/python"), "-c", "pass")
    return time.monotonic() - began_s


def main() -> None:
    """Install, play, hang."""
    dry = morbak("install", "--board", "reference", "--dry-run")
    assert not Path("/etc/systemd/system/morbak-board.service").exists()
    HANGS.parent.mkdir(parents=True)
    script = Path("/usr/local/lib/service_buggy.py")  # not below /tmp, of which a service has its own
    shutil.copy(Path(__file__).with_name(script.name), script)
    HANGS.write_text(BUGGY.format(python=PROGRAM / "bin/python", script=script))
    first = morbak("install", "--board", "reference")
    again = morbak("install")
    run("systemctl", "stop", UNIT)
    pace_s = min(paced_s() for _ in range(3))
    began_s = time.monotonic()
    run("systemctl", "start", UNIT)
    active_s = time.monotonic() - began_s
    process = Path(f"/proc/{show('MainPID')}/status").read_text()
    position = played()
    print(
        json.dumps(
            {
                "dry": dry.stdout.splitlines(),
                "first": first.stdout.splitlines(),
                "again": again.stdout.splitlines(),
                "active_s": round(active_s, 2),
                "pace_s": round(pace_s, 3),
                "status": {line.split()[0]: line.split()[1:] for line in process.splitlines() if len(line.split()) > 1},
                "health": state()["health"],
                "said": show("StatusText"),
                "position": position,
                "hangs": [hang(part) for part in ("leds", "journal", "scan", "loop")],
                "enabled": run("systemctl", "is-enabled", UNIT).stdout.strip(),
                "files": sorted(path.name for path in Path("/var/lib/morbak-board").iterdir()),
            }
        )
    )


if __name__ == "__main__":
    main()
