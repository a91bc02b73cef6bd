"""A bundle for a bug report: how the board is, its log, its settings and its machine; without what identifies anybody.

Left out of every file are the operator's token, names of users in paths, the name of the machine and addresses in
its networks.
"""

from __future__ import annotations

import io
import json
import os
import pwd
import re
import shutil
import socket
import subprocess
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

LINES: Final = 2000
JOURNAL: Final = ("journalctl", "--unit=morbak-board*", f"--lines={LINES}", "--output=short-iso", "--no-pager")
PATIENCE_S: Final = 10
# Users who are nobody.
OURS: Final = {"", "root", "morbak"}
PEOPLE: Final = range(1000, 60_000)  # by Debian's count
# Of IPv6, shortened by :: or not, and of network cards.
_GROUPS: Final = "(?:[0-9a-f]{1,4}:){%s}"
ADDRESS: Final = rf"\b(?:{_GROUPS % '1,7'}(?::[0-9a-f]{{1,4}}){{1,6}}|{_GROUPS % '3,7'}[0-9a-f]{{0,4}})\b"
README: Final = """A report of a MORBAK board, without tokens, names of users and of the machine, and addresses.

status.json    how the board is: parts, cells, figures, settings
log.txt        its last lines
state.json     the position and what is shown, as GET /api/v1/state
latency.json   how long touches take, hop by hop
machine.json   what morbak doctor says
journal.txt    what the system's journal has of it, where it may be read
"""


def bundle(files: Mapping[str, str], secrets: Iterable[str] = ()) -> bytes:
    """Files as a zip archive, each redacted. The same files give the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {"README.txt": README, **files}.items():
            archive.writestr(zipfile.ZipInfo(f"morbak-report/{name}"), redact(text, secrets), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def redact(text: str, secrets: Iterable[str] = (), environ: Mapping[str, str] = os.environ) -> str:
    """A text without tokens, homes, users, the machine's name and addresses of machines."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[token]")
    home = environ.get("HOME", "")
    if len(home) > 1 and home != "/root":
        text = text.replace(home, "~")
    text = re.sub(r"/home/[^/\s\"']+", "~", text)
    named = ({environ.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER")} | _people()) - OURS
    for word, mark in [*((name, "[user]") for name in sorted(named)), (socket.gethostname(), "[host]")]:
        if len(word) > 1:
            text = re.sub(rf"\b{re.escape(word)}\b", mark, text)
    text = re.sub(r"\b(?!127\.)(\d{1,3}\.){3}(?!0\b)\d{1,3}\b", "[address]", text)  # nor a version such as 0.2.2.0
    return re.sub(ADDRESS, "[address]", text, flags=re.IGNORECASE)


def _people() -> set[str]:
    """The users of this machine who are persons."""
    return {user.pw_name for user in pwd.getpwall() if user.pw_uid in PEOPLE}


def of_board(status: Mapping[str, Any], lines: Iterable[Mapping[str, Any]], more: Mapping[str, Any]) -> dict[str, str]:
    """The files that a running board gives; `more`: other documents by their names."""
    log = "".join(f"{line['at']} {line['level']:8} {line['text']}\n" for line in lines)
    documents = {"status": status, **more}
    return {"log.txt": log} | {f"{name}.json": json.dumps(value, indent=1) for name, value in documents.items()}


def of_machine(state: Path) -> dict[str, str]:
    """The files that the machine gives, with or without a board that runs. Takes some seconds."""
    from hal import doctor, doctor_facts
    from hal.profile import load, shipped

    probe = doctor_facts.here(state)
    findings = [each._asdict() for each in doctor.examine(probe, load(shipped("reference")))]
    machine = {"findings": findings, "versions": doctor_facts.versions()}
    return {"machine.json": json.dumps(machine, indent=1), "journal.txt": _journal()}


def _journal() -> str:
    if shutil.which(JOURNAL[0]) is None:
        return ""
    try:
        done = subprocess.run(  # noqa: S603 - our own command
            JOURNAL, capture_output=True, timeout=PATIENCE_S, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"not readable: {error}\n"
    return done.stdout.decode(errors="replace")
