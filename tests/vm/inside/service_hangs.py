"""Runs inside the virtual Pi under systemd: a board that is installed, then hangs in one part after the other.

Prints as JSON how soon it was active, what it may do, and for each hang the seconds to the watchdog's bite and to the
game being back, the position before and after, and what the log says.
"""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import vpi
from service import PROGRAM, UNIT, log, morbak, run, show, state, until

from firmware.games import morbak as rules

HANGS = Path("/run/systemd/system/morbak-board.service.d/hangs.conf")
# The service as it is, but with a bug that waits for its file.
BUGGY = """[Service]
ExecStart=
ExecStart={python} {script} run --board ${{MORBAK_BOARD}} --host ${{MORBAK_HOST}} --port ${{MORBAK_PORT}}
"""
DOWN_S = 0.1


def tap(cell: str) -> None:
    """A finger on the wires."""
    vpi.press(divmod(rules.parse_cell(cell), 7))
    time.sleep(DOWN_S)
    vpi.press()


def tapped_into(phase: str, cell: str = "d4") -> None:
    """Tap until the board is in a phase."""
    for _ in range(20):
        if state().get("phase") == phase:
            return
        tap(cell)
        time.sleep(0.5)
    raise RuntimeError(f"not in {phase}: {state()}\n{log()}")


def lit() -> bool:
    """Whether the LEDs have got a frame in the last second."""
    frames = vpi.frames("spi")
    return bool(frames) and time.monotonic_ns() - frames[-1].ns < 1_000_000_000


def played() -> str:
    """A game with two actions in it; its position."""
    until(lambda: state().get("phase") == "attract")
    time.sleep(0.7)  # for the first half second contacts count for nothing
    tap("d4")
    until(lambda: state().get("phase") == "play", 20)
    for cell in ("a1", "b2"):
        before = state()["position"]
        time.sleep(0.4)
        tap(cell)
        until(lambda before=before: state()["position"] != before)
    position: str = state()["position"]
    return position


def hang(part: str) -> dict[str, object]:
    """Let one part hang, and see the watchdog bite and the game come back."""
    tapped_into("play")
    time.sleep(0.5)
    before, killed, process = state()["position"], int(show("NRestarts")), show("MainPID")
    hung_s = time.monotonic()
    Path(f"/run/hang-{part}").touch()
    until(lambda: show("MainPID") != process, 20)
    killed_s = time.monotonic()
    until(lambda: int(show("NRestarts")) > killed and show("ActiveState") == "active" and lit() and state(), 30)
    back_s = time.monotonic()
    after = state()
    said = log().split("Watchdog timeout")[-1]
    return {
        "part": part,
        "killed_s": round(killed_s - hung_s, 2),
        "back_s": round(back_s - hung_s, 2),
        "same": before == after["position"],
        "phase": after["phase"],
        "named": f"standing still: {part}" in log(),
        "traced": "most recent call first" in said,
    }


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
