"""Who held up the loop: a thread that asks it for an answer twice a second, and looks at its stack when none comes."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
import traceback
from types import FrameType
from typing import Final

from firmware.events import say

PERIOD_S: Final = 0.5
# A start imports the page's server, and computes for as long; nobody plays yet.
GRACE_S: Final = 3.0
# The scan goes on meanwhile and no touch is lost; but a finger waits for its light. Human eyes notice from 100 ms on, a
# busy machine's scheduler alone makes 100 to 200.
STALL_S: Final = 0.25
# The same culprit is told of no more often.
AGAIN_S: Final = 60.0
OURS: Final = ("/firmware/", "/hal/", "/sim/")


class Stalls:
    """Watches the loop of this thread; `count` stalls so far, the longest of `longest_s`."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        period_s: float = PERIOD_S,
        stall_s: float = STALL_S,
        grace_s: float = GRACE_S,
    ) -> None:
        """Begins after `grace_s`, and ends with `close`."""
        self.count, self.longest_s = 0, 0.0
        self._loop, self._period_s, self._stall_s = loop, period_s, stall_s
        self._grace_s = grace_s
        self._watched = threading.get_ident()
        self._answered, self._end = threading.Event(), threading.Event()
        self._told_s: dict[str, float] = {}
        self._thread = threading.Thread(target=self._run, name="stalls", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Watch no longer."""
        self._end.set()
        self._answered.set()
        self._thread.join(5 * self._period_s)

    def _run(self) -> None:
        self._end.wait(self._grace_s)
        while not self._end.wait(self._period_s):
            self._answered.clear()
            begun_s = time.monotonic()
            try:
                self._loop.call_soon_threadsafe(self._answered.set)
            except RuntimeError:  # the loop is closed
                return
            if self._answered.wait(self._stall_s):
                continue
            frame = sys._current_frames().get(self._watched)
            stack = [] if frame is None else traceback.format_stack(frame)
            where = culprit(frame)
            del frame
            if time.monotonic() >= self._told_s.get(where, -AGAIN_S) + AGAIN_S:
                self._told_s = {where: time.monotonic()}
                say("loop_stalls", logging.WARNING, culprit=where, stack="".join(stack[-12:]))
            self._answered.wait()
            lasted_s = time.monotonic() - begun_s
            self.count, self.longest_s = self.count + 1, max(self.longest_s, lasted_s)
            if not self._end.is_set():
                say("loop_runs_again", logging.WARNING, culprit=where, after_ms=round(1000 * lasted_s))


def culprit(frame: FrameType | None) -> str:
    """The innermost function of ours on a stack, and what it is waiting for: `firmware/x.py:12 f in time.sleep`."""
    inner = frame
    if inner is not None and inner.f_code.co_filename.endswith("selectors.py"):
        return "nobody: the loop is at rest and is not given the processor"
    while frame is not None:
        name = frame.f_code.co_filename
        if any(part in name for part in OURS) and not name.endswith(("/cli.py", "/stalls.py")):
            at = "/".join(name.split("/")[-2:])
            below = "" if frame is inner or inner is None else f", in {inner.f_code.co_name}"
            return f"{at}:{frame.f_lineno} {frame.f_code.co_name}{below}"
        frame = frame.f_back
    return "unknown" if inner is None else f"{inner.f_code.co_filename.split('/')[-1]} {inner.f_code.co_name}"
