"""What watching costs the scan: how late it begins without watchers and with twenty of them at 60 frames a second.

`python -m tests.bench.bench_watchers [SECONDS [ROUNDS]]`. A board in play with fingers drumming; the watchers live in a
process of their own, as they would. A frame that equals the last one is not sent, and no position changes its light 60
times a second for long (six breathing cells do so 36 times); so the board runs as it is but for one step of one cell,
which every frame has anew. The watchers take computing time from the board, as on a real board they do not: in the
third column they look at another board beside it, so that only their company is measured.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from tests.live import Live, running

WATCHERS = 20
# The board's own command, whose light rests in no frame.
RESTLESS = """
from itertools import count
from firmware.cli import main
from firmware.lights import Lights
frame_of, number = Lights.frame, count()
def frame(self, snapshot, t_us):
    return bytes([next(number) % 2]) + frame_of(self, snapshot, t_us)[1:]
Lights.frame = frame
raise SystemExit(main())
"""
# A process that opens so many sockets and counts what it gets, in one thread.
WATCH = """
import asyncio, sys
from websockets.asyncio.client import connect
port, count, seconds = (int(word) for word in sys.argv[1:])
async def watch():
    got = 0
    async with connect(f"ws://127.0.0.1:{port}/api/v1/events", compression=None) as socket:
        try:
            async with asyncio.timeout(seconds):
                async for message in socket:
                    got += isinstance(message, bytes)
        except TimeoutError:
            return got / seconds
async def main():
    rates = await asyncio.gather(*(watch() for _ in range(count)))
    print(min(rates), sum(rates) / count)
asyncio.run(main())
"""
PERCENTILES = ("p50_us", "p99_us", "max_us")


@contextmanager
def in_play() -> Iterator[Live]:
    """A board on which the first turn has begun."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "morbak.toml"
        settings.write_text("[phases]\nlobby_ms = 50\nlot_ms = 50\n")
        with running("--seed", "1", "--config", str(settings), program=("-c", RESTLESS)) as live:
            live.tap("d4")
            while live.state()["phase"] != "play":
                time.sleep(0.05)
            yield live


def drum(live: Live, seconds: float) -> None:
    """A tap ten times a second."""
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        live.tap("c3")
        time.sleep(0.05)


def measure(seconds: int, watched: bool, elsewhere: bool = False) -> tuple[dict[str, int], list[float]]:
    """How late scans began on a board, and the least and the mean rate of frames that its watchers got."""
    with in_play() as live, in_play() as other:
        command = [sys.executable, "-c", WATCH, str((other if elsewhere else live).port), str(WATCHERS), str(seconds)]
        watching = subprocess.Popen(command, stdout=subprocess.PIPE, text=True) if watched else None
        drum(live, seconds)
        late: dict[str, int] = live.json("GET", "/api/v1/latency")[1]["scan_late"]
        rates = [float(word) for word in watching.communicate()[0].split()] if watching is not None else []
    return late, rates


def main() -> None:
    """Print the three side by side: the medians of some rounds, which take turns."""
    seconds, rounds = (*(int(word) for word in sys.argv[1:]), *(20, 3)[len(sys.argv) - 1 :])
    kinds = {"nobody": (False, False), "20 watching": (True, False), "20 elsewhere": (True, True)}
    found: dict[str, list[tuple[dict[str, int], list[float]]]] = {name: [] for name in kinds}
    for _ in range(rounds):
        for name, kind in kinds.items():
            found[name].append(measure(seconds, *kind))
    rates = [rate for _, rate in found["20 watching"]]
    print(f"frames a second, of the slowest watcher and on average: {median(r[0] for r in rates):.1f}", end=", ")
    print(f"{median(r[1] for r in rates):.1f}")
    print(f"{'a scan begins late by, us':26}" + "".join(f"{name:>14}" for name in kinds))
    for key in PERCENTILES:
        print(f"  {key:24}" + "".join(f"{median(late[key] for late, _ in found[name]):>14,.0f}" for name in kinds))


if __name__ == "__main__":
    main()
