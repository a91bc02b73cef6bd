"""What watching costs the scan: how late it begins without watchers and with twenty of them at 60 frames a second.

`python -m tests.bench.bench_watchers [SECONDS]`. Two boards, one after the other, each in play with fingers drumming,
so that there are frames to send; the watchers live in a process of their own, as they would.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.live import Live, running

WATCHERS = 20
# A process that opens so many sockets and counts what it gets.
WATCH = """
import sys, threading, time
from websockets.sync.client import connect
port, count, seconds = (int(word) for word in sys.argv[1:])
got = [0] * count
def watch(at):
    with connect(f"ws://127.0.0.1:{port}/api/v1/events") as socket:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            got[at] += isinstance(socket.recv(timeout=5), bytes)
threads = [threading.Thread(target=watch, args=(at,)) for at in range(count)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(sum(got) / count / seconds)
"""


@contextmanager
def in_play() -> Iterator[Live]:
    """A board on which the first turn has begun."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "morbak.toml"
        settings.write_text("[phases]\nlobby_ms = 50\nlot_ms = 50\n")
        with running("--seed", "1", "--config", str(settings)) as live:
            live.tap("d4")
            while live.state()["phase"] != "play":
                time.sleep(0.05)
            yield live


def drum(live: Live, seconds: float) -> None:
    """A tap ten times a second, so that the board has something to show."""
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        live.tap("c3")
        time.sleep(0.05)


def late_us(live: Live) -> dict[str, int]:
    """How late scans began."""
    late: dict[str, int] = live.json("GET", "/api/v1/latency")[1]["scan_late"]
    return late


def main() -> None:
    """Print both side by side."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with in_play() as live:
        drum(live, seconds)
        before = late_us(live)
    with in_play() as live:
        command = [sys.executable, "-c", WATCH, str(live.port), str(WATCHERS), str(seconds)]
        watching = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        drum(live, seconds)
        during = late_us(live)
        rate_hz = float(watching.communicate()[0])
    print(f"scan begins late by, us    {'nobody':>10} {WATCHERS:>6} watching at {rate_hz:.0f} frames/s")
    for name in ("p50_us", "p99_us", "max_us"):
        print(f"  {name:24} {before[name]:>10,} {during[name]:>10,}")


if __name__ == "__main__":
    main()
