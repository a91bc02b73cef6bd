"""How long a touch takes, hop by hop: always measured, in bounded memory."""

from __future__ import annotations

from array import array

HOPS = ("queue", "frame", "wire", "total")
KEPT = 4096


class Latencies:
    """The last `KEPT` times of one hop, in microseconds, and the longest ever."""

    def __init__(self) -> None:
        self.count = 0
        self.max_us = 0
        self._ring = array("q")

    def add(self, us: int) -> None:
        """Count one time."""
        if len(self._ring) < KEPT:
            self._ring.append(us)
        else:
            self._ring[self.count % KEPT] = us
        self.count += 1
        self.max_us = max(self.max_us, us)

    def report(self) -> dict[str, int]:
        """Count, p50, p99 and max in microseconds; zeros while nothing was measured."""
        ordered = sorted(self._ring) or [0]
        last = len(ordered) - 1
        p50_us, p99_us = ordered[last // 2], ordered[last * 99 // 100]
        return {"count": self.count, "p50_us": p50_us, "p99_us": p99_us, "max_us": self.max_us}


class LatencyMeter:
    """From an edge to the latched frame that answers it.

    Hops: `queue` edge -> table, `frame` table -> frame drawn, `wire` frame -> latched, `total` edge -> latched.
    """

    def __init__(self) -> None:
        self.hops = {hop: Latencies() for hop in HOPS}
        self.late = Latencies()  # how late each scan began

    def touch(self, edge_us: int, heard_us: int, drawn_us: int, latched_us: int) -> None:
        """Count one press that has been answered with light."""
        times = (heard_us - edge_us, drawn_us - heard_us, latched_us - drawn_us, latched_us - edge_us)
        for hop, us in zip(HOPS, times, strict=True):
            self.hops[hop].add(us)

    def report(self) -> dict[str, dict[str, int]]:
        """Every hop and the lateness of scans, as counts, p50, p99 and max in microseconds."""
        return {hop: times.report() for hop, times in self.hops.items()} | {"scan_late": self.late.report()}
