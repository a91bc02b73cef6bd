"""Runs inside the virtual Pi: says what survived on the card, then writes and acknowledges until the plug is pulled.

One file is written as the journal is, the other, the control, is never flushed. With --look it only looks.
"""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import vpi

CONTROL = Path("/data/control.log")


def main() -> None:
    """FOUND integrity last rows control-bytes, then KEPT last control-bytes for every acknowledged write."""
    store = sqlite3.connect("/data/kept.db", isolation_level=None)
    store.execute("pragma journal_mode=wal")
    store.execute("pragma synchronous=full")
    store.execute("create table if not exists kept (number integer primary key, text text)")
    (sound,) = store.execute("pragma integrity_check").fetchone()
    last, rows = store.execute("select coalesce(max(number), 0), count(*) from kept").fetchone()
    vpi.tell(f"FOUND {sound} {last} {rows} {CONTROL.stat().st_size if CONTROL.exists() else 0}")
    if "--look" in sys.argv:
        return
    with CONTROL.open("ab", buffering=0) as control:
        while True:
            last += 1
            control.write(b"%099d\n" % last)
            store.execute("insert into kept values (?, ?)", (last, "x" * 200))
            vpi.tell(f"KEPT {last} {control.tell()}")


if __name__ == "__main__":
    main()
