"""Settling: the time a column needs after a row was selected."""

from __future__ import annotations

from time import perf_counter_ns


def settle(settle_us: int) -> None:
    """Wait so long, awake: asleep it would be 50 us and more. The clock costs no system call."""
    until_ns = perf_counter_ns() + 1000 * settle_us
    while perf_counter_ns() < until_ns:
        pass
