"""The shells: a scan thread, an LED thread and the loop around the steps of `Engine`. Nothing is decided here.

Electricity is read by one thread, paced by absolute deadlines; LEDs are written by one thread, latest picture wins;
all meaning happens in the loop's thread. Between the scan thread and the loop lies a bounded queue that loses
nothing: were it ever full, the loss is counted and shown.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from firmware.engine import Engine
from firmware.games import morbak
from firmware.orders import Order
from firmware.sight import Sight, Unseen
from hal.errors import PartError
from hal.ports import Board, Clock, Scan

log = logging.getLogger("morbak")

# 1024 scans with edges: more than four seconds of seven fingers drumming while the loop stands still.
QUEUE_SCANS = 1024
# Health is asked for this often; a part that fails shows within a second.
CHECK_S = 0.5
# A thread that computes gives way after 1 ms: the scan's p99 lateness under load falls from 4.5 to 1.5 ms.
SWITCH_S = 0.001
# A scan this late is not caught up: the next is due one period from now.
CATCH_UP_US = 10_000
# An operator's action waits for the disk as a touch does, 1 s at most; what takes longer is called off.
ACT_S = 2.0
# A frame, a scan or a failing bus takes milliseconds; a thread that is not back by then hangs and is left behind.
STOP_S = 2.0


class RealClock:
    """Monotonic microseconds of the machine."""

    def now_us(self) -> int:
        """Microseconds since an arbitrary start; never goes back."""
        return time.monotonic_ns() // 1000


class _Thread(ABC):
    """A thread whose failure ends the app instead of vanishing."""

    def __init__(self, name: str, failed: Callable[[BaseException], None]) -> None:
        self._stop = threading.Event()
        self._failed = failed
        self.rounds = 0  # rises as long as the thread does what it is for
        self._thread = threading.Thread(target=self._guarded, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask it to end, and wait for that."""
        self._stop.set()
        self._thread.join(timeout=STOP_S)
        if self._thread.is_alive():
            log.error("the thread %s does not end within %g s and is left behind", self._thread.name, STOP_S)

    @abstractmethod
    def run(self) -> None:
        """What the thread does until `_stop` is set."""

    def _guarded(self) -> None:
        try:
            self.run()
        except BaseException as error:  # noqa: BLE001 - handed to the app, which ends with it
            self._failed(error)


class ScanThread(_Thread):
    """Scans at the board's own pace and queues what the loop must know."""

    def __init__(
        self,
        board: Board,
        engine: Engine,
        clock: Clock,
        heard: Callable[[], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        super().__init__("scan", failed)
        self._board, self._engine, self._clock, self._heard = board, engine, clock, heard
        self._queue: deque[tuple[Scan, Unseen | None]] = deque()
        self._sight = Sight()
        self._ghosts = 0

    def run(self) -> None:
        due_us, begun = self._clock.now_us(), False
        while not self._stop.is_set():
            self.rounds += 1
            now_us = self._clock.now_us()
            if now_us < due_us:
                time.sleep((due_us - now_us) / 1e6)
                now_us = self._clock.now_us()
                due_us = min(due_us, now_us)  # a clock that was stopped owes no scans
            self._engine.meter.late.add(now_us - due_us)
            scan = self._board.scan(now_us)
            self._engine.scanned_us = now_us
            if not begun and scan.known_us > 0:  # lines that fail know nothing
                begun = True
                self._engine.begin(scan.t_us)
            self._queue_up(scan)
            due_us += scan.period_us
            if due_us < now_us - CATCH_UP_US:
                due_us = now_us + scan.period_us

    def take(self) -> list[tuple[Scan, Unseen | None]]:
        """Every scan queued since the last call, oldest first, and what it shows to have been out of sight."""
        scans: list[tuple[Scan, Unseen | None]] = []
        with contextlib.suppress(IndexError):
            while True:
                scans.append(self._queue.popleft())
        return scans

    def _queue_up(self, scan: Scan) -> None:
        due_us = self._engine.due_us
        # A deadline wants one scan in the queue, not one a millisecond: those would push out edges of a slow loop.
        waited_for = due_us is not None and due_us <= scan.known_us and not self._queue
        unseen = self._sight.step(scan)
        if not (scan.edges or scan.buttons or scan.ghosts != self._ghosts or waited_for or unseen):
            return
        if len(self._queue) >= QUEUE_SCANS and not unseen:  # sight is lost once a second at most
            self._engine.lost_edges += len(scan.edges)
            return
        self._ghosts = scan.ghosts
        self._queue.append((scan, unseen))
        self._heard()


class LedThread(_Thread):
    """Owns the LEDs: draws the latest picture when it is due, and leaves them dark."""

    def __init__(
        self,
        board: Board,
        engine: Engine,
        clock: Clock,
        shown: Callable[[], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        super().__init__("leds", failed)
        self._board, self._engine, self._clock, self._shown = board, engine, clock, shown
        self._changed = threading.Event()

    def wake(self) -> None:
        """The picture has changed: draw now."""
        self._changed.set()

    def stop(self) -> None:
        """Ask it to end, and wait until the LEDs are dark."""
        self._stop.set()
        self.wake()
        super().stop()

    def run(self) -> None:
        try:
            while not self._stop.is_set():
                self.rounds += 1
                self._changed.clear()
                now_us = self._clock.now_us()
                wait_us = self._engine.frame_due_us - now_us
                if wait_us > 0:
                    self._changed.wait(wait_us / 1e6)
                elif self._engine.light(now_us):
                    self._engine.latched(self._clock.now_us())
                    self._shown()
        finally:
            try:
                self._board.close()
            except PartError as error:
                log.error("the board did not close: %s", error)


class _Answer(NamedTuple):
    """What comes of an operator's action, for the request that waits for it."""

    future: asyncio.Future[str | None]

    def waits(self) -> bool:
        return not self.future.done()

    def give(self, refused: str | None) -> None:
        self.future.set_result(refused)


class App:
    """A board that plays: threads, loop and engine from start to a dark end."""

    def __init__(self, engine: Engine, clock: Clock, *, deaf: bool = False) -> None:
        """`deaf`: the contacts are never looked at, as in safe mode."""
        self.engine, self.clock, self._deaf = engine, clock, deaf
        self.again = False  # whoever ended `run` wants it started anew
        self.changed: list[Callable[[], None]] = []  # called in the loop after something happened
        # Called in the loop with the wire values of a new frame; empty while nobody watches, so that the loop sleeps.
        self.shown: list[Callable[[bytes], None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._done: asyncio.Future[None] | None = None
        self._scheduled = False
        self._wire: bytes | None = None
        self._scan = ScanThread(engine.board, engine, clock, self._hear_soon, self._fail_soon)
        self._leds = LedThread(engine.board, engine, clock, self._show_soon, self._fail_soon)

    async def run(self) -> None:
        """Play until `stop` or until a thread fails, whose error is raised; the LEDs are dark afterwards."""
        sys.setswitchinterval(SWITCH_S)
        self._loop = asyncio.get_running_loop()
        self._done = self._loop.create_future()
        self.engine.check(self.clock.now_us())
        checks = asyncio.create_task(self._check())
        checks.add_done_callback(self._checked)
        if not self._deaf:
            self._scan.start()
        self._leds.start()
        try:
            await self._done
        finally:
            checks.cancel()
            if not self._deaf:
                await asyncio.to_thread(self._scan.stop)
            await asyncio.to_thread(self._leds.stop)

    def rounds(self) -> dict[str, int]:
        """How often each thread of the board has come round; what stands still hangs."""
        leds = {"leds": self._leds.rounds}
        return leds if self._deaf else {"scan": self._scan.rounds, **leds}

    def stop(self, *, again: bool = False) -> None:
        """End `run`, to be started anew if `again`; may be called twice, from the loop's thread."""
        self.again = self.again or again
        if self._done is not None and not self._done.done():
            self._done.set_result(None)

    async def act(self, action: morbak.Action | Order) -> str | None:
        """Do an operator's action or order in its turn; returns the code of what refuses it, None where it counts.

        `not_saved` where it was not its turn within 2 s, because the disk or the scan stands still.
        """
        if self._deaf:
            return "not_in_play"
        answer = _Answer(asyncio.get_running_loop().create_future())
        self.engine.act(action, self.clock.now_us(), answer)
        try:
            return await asyncio.wait_for(answer.future, ACT_S)
        except TimeoutError:
            return "not_saved"
        finally:
            self._tell()

    async def _check(self) -> None:
        while True:
            self.engine.check(self.clock.now_us())
            self._tell()
            await asyncio.sleep(CHECK_S)

    def _checked(self, checks: asyncio.Task[None]) -> None:
        if not checks.cancelled() and (error := checks.exception()) is not None:
            self._fail(error)

    def saved_soon(self) -> None:
        """The journal has come further: judge what waited for it. For any thread."""
        if self._loop is not None:
            self._soon(self._saved)

    # -- called by the threads -----------------------------------------------------------------------------------

    def _hear_soon(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._soon(self._hear)

    def _show_soon(self) -> None:
        wire = self.engine.board.wire() if self.shown else None
        if wire != self._wire:
            self._wire = wire
            if wire is not None:
                self._soon(self._show, wire)

    def _fail_soon(self, error: BaseException) -> None:
        log.critical("a thread failed: %s", error, exc_info=error)
        self._soon(self._fail, error)

    def _soon(self, call: Callable[..., None], *args: object) -> None:
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # the loop is closed: there is nobody left to tell
            self._loop.call_soon_threadsafe(call, *args)

    # -- in the loop -----------------------------------------------------------------------------------------------

    def _hear(self) -> None:
        self._scheduled = False
        changed = False
        try:
            for scan, unseen in self._scan.take():
                if unseen is not None:
                    self.engine.lost(unseen)
                changed |= self.engine.hear(scan, self.clock.now_us())
        except Exception as error:  # noqa: BLE001 - ends the app: to play on without this touch would lose a move
            self._fail(error)
        if changed:
            self._tell()

    def _saved(self) -> None:
        if self.engine.saved(self.clock.now_us()):
            self._tell()

    def _tell(self) -> None:
        self._leds.wake()
        for call in self.changed:
            try:
                call()
            except Exception:
                log.exception("a watcher could not be told; play goes on")

    def _show(self, wire: bytes) -> None:
        for call in self.shown:
            call(wire)

    def _fail(self, error: BaseException) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_exception(error)
