"""Wall time, which is only ever written to records, and whether it is known to be right."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

# systemd-timesyncd makes this file when it has heard from a time server since the start (case F19).
SYNCHRONIZED = Path("/run/systemd/timesync/synchronized")


def wall() -> tuple[str, bool]:
    """The local time in ISO 8601 with its offset, and whether the clock has been set by a time server."""
    return datetime.now().astimezone().isoformat(timespec="seconds"), SYNCHRONIZED.exists()


def minute() -> int | None:
    """The local minute of the day, by the machine's time zone; None while no time server has set the clock."""
    if not SYNCHRONIZED.exists():
        return None
    now = datetime.now().astimezone()
    return 60 * now.hour + now.minute
