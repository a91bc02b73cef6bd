"""Runs inside the virtual Pi under systemd: an installed board, steered by `morbak ctl`, restarted, and its log.

Prints as JSON what was answered, what is on the board after a restart by order, and what the journal has of it.
"""

from __future__ import annotations

import json

from service import UNIT, morbak, run, show, state, until

KEPT_IN = "/var/lib/morbak-board/token"


def fields(event: str) -> list[dict[str, str]]:
    """What the journal has of an event, as fields."""
    said = run("journalctl", "-o", "json", f"MORBAK_EVENT={event}").stdout
    return [json.loads(line) for line in said.splitlines()]


def main() -> None:
    """Steer, restart, read."""
    morbak("install", "--board", "reference")
    until(lambda: state().get("phase") == "attract")
    first = show("MainPID")
    health = morbak("ctl", "health", check=False)
    quiet = morbak("ctl", "settings", "quiet=22:00-08:00", "total_s=300")
    morbak("ctl", "restart")
    until(lambda: show("MainPID") not in (first, "0") and state().get("phase") == "attract")
    settings = json.loads(morbak("ctl", "settings", "--json").stdout)["settings"]
    nobody = run("runuser", "-u", "nobody", "--", "/opt/morbak/bin/morbak", "ctl", "health", check=False, cwd="/")
    told = {
        "health": health.stdout,
        "set": quiet.stdout,
        "kept": [settings["quiet"], settings["total_s"]],
        "active": show("ActiveState"),
        "result": show("Result"),
        "token": morbak("token").stdout.split()[0] == run("cat", KEPT_IN).stdout.strip(),
        "nobody": [nobody.returncode, nobody.stderr],
        "events": [[line["MESSAGE"], line["PRIORITY"], line["MORBAK_DOES"]] for line in fields("operator")],
        "started": len(fields("started")),
        "unit": {line["_SYSTEMD_UNIT"] for line in fields("started")} == {f"{UNIT}.service"},
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
