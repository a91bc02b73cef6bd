"""What happens, as events with a name and fields: for journald with its own fields, else as one line of text.

`say("game_ended", game=12, result="a")` is `game_ended game=12 result=a` on a terminal, and in the journal also
`MORBAK_EVENT=game_ended` and `MORBAK_GAME=12`: `journalctl MORBAK_EVENT=game_ended` finds them all. The last lines are
kept in memory for whoever asks the board (`Recent`). Other log records go the same ways.
"""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import sys
from collections import deque
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

log = logging.getLogger("morbak")

JOURNAL: Final = "/run/systemd/journal/socket"
KEPT: Final = 400
# A line longer than this is cut in memory: a stack is, and 400 of them must not fill a Pi.
LONGEST: Final = 4000
# As syslog numbers them.
PRIORITIES: Final = {logging.DEBUG: 7, logging.INFO: 6, logging.WARNING: 4, logging.ERROR: 3, logging.CRITICAL: 2}


def say(name: str, level: int = logging.INFO, **fields: object) -> None:
    """Log an event with its fields; fields that are None are left out."""
    told = {key: value for key, value in fields.items() if value is not None}
    text = " ".join([name, *(f"{key}={_shown(value)}" for key, value in told.items())])
    log.log(level, "%s", text, extra={"event": name, "fields": told})


def _shown(value: object) -> str:
    text = str(value)
    return text if re.fullmatch(r"[\w.:/+%-]+", text) else json.dumps(text, ensure_ascii=False)


class Recent(logging.Handler):
    """Keeps the last lines in memory; for any thread."""

    def __init__(self, kept: int = KEPT) -> None:
        super().__init__()
        self._kept: deque[dict[str, Any]] = deque(maxlen=kept)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one line."""
        at = datetime.fromtimestamp(record.created).astimezone().isoformat(timespec="seconds")
        self._kept.append({"at": at, "level": record.levelname.lower(), "text": self.format(record)[:LONGEST]})

    def lines(self, most: int = KEPT) -> list[dict[str, Any]]:
        """The last lines, oldest first: `at` (wall time), `level`, `text`."""
        return list(self._kept.copy())[-most:] if most else []


class Journal(logging.Handler):
    """Sends records to journald with their fields, by its native protocol; what it does not take goes to stderr."""

    def __init__(self, address: str = JOURNAL) -> None:
        super().__init__()
        self._address = address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)  # a journal that hangs must not hold up a game

    def emit(self, record: logging.LogRecord) -> None:
        """Send one record."""
        text = self.format(record)
        fields = {"MESSAGE": text, "PRIORITY": str(PRIORITIES.get(record.levelno, 6)), "SYSLOG_IDENTIFIER": "morbak"}
        if (event := getattr(record, "event", None)) is not None:
            fields["MORBAK_EVENT"] = event
            fields |= {f"MORBAK_{key.upper()}": str(value) for key, value in getattr(record, "fields", {}).items()}
        try:
            self._socket.sendto(b"".join(_field(name, value) for name, value in fields.items()), self._address)
        except OSError:
            print(f"<{fields['PRIORITY']}>{text}", file=sys.stderr)

    def close(self) -> None:
        """Let the socket go."""
        self._socket.close()
        super().close()


def _field(name: str, value: str) -> bytes:
    """One field as journald reads it: a value of several lines is preceded by its length, 64 bits, low byte first."""
    data = value.encode(errors="replace")
    if b"\n" not in data:
        return b"%b=%b\n" % (name.encode(), data)
    return b"%b\n%b%b\n" % (name.encode(), len(data).to_bytes(8, "little"), data)


def under_journald(environ: Mapping[str, str], fd: int = 2) -> bool:
    """Whether a stream is journald's own: systemd names its device and inode in $JOURNAL_STREAM (systemd.exec(5))."""
    try:
        stat = os.fstat(fd)
    except OSError:
        return False
    return environ.get("JOURNAL_STREAM") == f"{stat.st_dev}:{stat.st_ino}"


def listen(environ: Mapping[str, str] = os.environ) -> Recent:
    """Have everything logged go to journald where this process is a service, else to stderr; and keep the last of it.

    Called once, by a board that runs.
    """
    root, recent = logging.getLogger(), Recent()
    if under_journald(environ) and Path(JOURNAL).exists():
        for handler in root.handlers[:]:
            root.removeHandler(handler)
        root.addHandler(Journal())
    root.addHandler(recent)
    return recent
