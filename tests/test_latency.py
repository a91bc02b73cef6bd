"""The latency meter keeps true figures in bounded memory."""

from __future__ import annotations

from firmware.latency import KEPT, Latencies, LatencyMeter


def test_the_figures_are_those_of_the_times() -> None:
    """Count, median, 99th percentile and longest are those of what was added."""
    times = Latencies()
    for us in range(1, 1001):
        times.add(us)
    assert {"count": 1000, "p50_us": 500, "p99_us": 990, "max_us": 1000} == times.report()


def test_nothing_measured_is_all_zero() -> None:
    """Before the first touch every figure is zero."""
    assert {"count": 0, "p50_us": 0, "p99_us": 0, "max_us": 0} == Latencies().report()


def test_old_times_make_room_but_the_longest_stays() -> None:
    """Only the last times count for the percentiles; the longest ever is kept."""
    times = Latencies()
    times.add(9_999)
    for _ in range(3 * KEPT):
        times.add(7)
    assert {"count": 3 * KEPT + 1, "p50_us": 7, "p99_us": 7, "max_us": 9_999} == times.report()


def test_a_touch_is_split_into_hops() -> None:
    """Queue, frame and wire add up to the total."""
    meter = LatencyMeter()
    meter.touch(edge_us=100, heard_us=110, drawn_us=130, latched_us=170)
    report = meter.report()
    assert [10, 20, 40, 70] == [report[hop]["max_us"] for hop in ("queue", "frame", "wire", "total")]
    assert 0 == report["scan_late"]["count"]
