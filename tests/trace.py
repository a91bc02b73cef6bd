"""What a page costs the browser: the time of its main thread between frames, from Chromium's own trace."""

from __future__ import annotations

from statistics import mean, median
from typing import Any, NamedTuple

from playwright.sync_api import Page

CATEGORIES = ["toplevel", "disabled-by-default-devtools.timeline"]
FRAMES_HZ = 30  # of the attract scene; a busier scene has more frames, each with less between


class Cost(NamedTuple):
    """CPU time of the main thread in milliseconds, by thirtieths of a second: median, mean, and how many there were."""

    median_ms: float
    mean_ms: float
    count: int


def main_thread(page: Page, seconds: float, throttled: int) -> Cost:
    """Trace a page for a while with its CPU slowed down by a factor."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": throttled})
    page.wait_for_timeout(1000)
    events: list[dict[str, Any]] = []
    over: list[bool] = []
    devtools.on("Tracing.dataCollected", lambda told: events.extend(told["value"]))
    devtools.on("Tracing.tracingComplete", lambda _: over.append(True))
    devtools.send("Tracing.start", {"traceConfig": {"includedCategories": CATEGORIES}})
    page.wait_for_timeout(seconds * 1000)
    devtools.send("Tracing.end")
    while not over:
        page.wait_for_timeout(20)
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    return _cost(events)


def _cost(events: list[dict[str, Any]]) -> Cost:
    threads = [(event["pid"], event["tid"]) for event in events if _is_main(event)]
    tasks = [
        event
        for event in events
        if event["name"] == "RunTask" and event["ph"] == "X" and (event["pid"], event["tid"]) in threads
    ]
    first_us, last_us = min(task["ts"] for task in tasks), max(task["ts"] for task in tasks)
    between_us = 1_000_000 / FRAMES_HZ
    spent_ms = [0.0] * (int((last_us - first_us) / between_us) + 1)
    for task in tasks:
        spent_ms[int((task["ts"] - first_us) / between_us)] += task["tdur"] / 1000
    return Cost(median(spent_ms), mean(spent_ms), len(spent_ms))


def _is_main(event: dict[str, Any]) -> bool:
    return event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
