"""The whole firmware on simulated wires in virtual time: one thread, every step in the order of its time.

The driver does what the app's threads do, no more: it scans when a scan is due, hands what was found to the loop's
steps, and draws a frame when one is due and the LED bus is free. The same seed gives the same bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from random import Random
from typing import Protocol

from firmware.clock import Limits
from firmware.engine import Engine
from firmware.games import morbak
from firmware.gesture import TouchTimes
from firmware.lights import Lights
from firmware.match import Match
from firmware.phases import PhaseTimes
from firmware.sight import Sight
from firmware.table import Table
from hal.profile import Profile, load, shipped
from sim.board import SimBoard
from sim.clock import VirtualClock
from sim.faults import HEALTHY, Faults
from sim.fingers import Finger

CHECK_US = 500_000
SCAN, LIGHT, FINGER, CHECK, DISK = range(5)


class Disk(Protocol):
    """What is on its way to a disk, in virtual time; `sim.disk.SlowStore` is one."""

    @property
    def due_us(self) -> int | None:
        """When something is due; None where nothing is on its way."""

    def step(self, t_us: int) -> None:
        """Have on the disk what is due at `t_us`."""


class Drive:
    """A board, its firmware and its fingers, moved on by `run_until`. `scans`: how many there have been."""

    def __init__(
        self,
        *,
        seed: int = 0,
        profile: Profile | None = None,
        faults: Faults = HEALTHY,
        rules: morbak.Rules = morbak.STANDARD,
        limits: Limits = Limits(),  # noqa: B008 - a constant
        touch_times: TouchTimes = TouchTimes(),  # noqa: B008
        phase_times: PhaseTimes = PhaseTimes(),  # noqa: B008
        assemble: Callable[[SimBoard, VirtualClock], tuple[Engine, Disk]] | None = None,
        start_us: int = 0,
    ) -> None:
        """Power up at `start_us`; contacts that are closed then belong to fingers that are dead until lifted.

        `assemble` puts the firmware on the board in place of rules, limits and times, together with its disk.
        """
        self.clock = VirtualClock(start_us)
        self.board = SimBoard(profile or load(shipped("sim")), self.clock, faults=faults, seed=seed)
        self.disk: Disk | None = None
        if assemble is not None:
            self.engine, self.disk = assemble(self.board, self.clock)
        else:
            chance = Random(f"{seed}/lot")
            table = Table(
                Match(rules, limits),
                touch_times,
                phase_times,
                lambda: chance.choice(("a", "b")),
                brightness_pct=self.board.brightness_pct,
                sound=self.board.capabilities.sound,
            )
            self.engine = Engine(table, self.board, Lights())
        self.table = self.engine.table
        self.heard: list[Callable[[int], None]] = []  # called after the loop's step, with its time
        self.moved: list[Callable[[Finger], None]] = []  # called with every finger, when it moves
        self.scans = 0
        self._fingers: deque[Finger] = deque()
        self._scan_us = self._check_us = start_us
        self._ghosts = 0
        self._sight = Sight()

    @property
    def now_us(self) -> int:
        """Virtual time."""
        return self.clock.now_us()

    def fingers(self, moves: Iterable[Finger]) -> None:
        """Move contacts at the times of `moves`, which must follow those given before."""
        self._fingers.extend(moves)

    def run_until(self, t_us: int) -> None:
        """Do everything that is due up to `t_us`, fingers before scans before light at the same time."""
        while True:
            due_us, what = self._next()
            if due_us > t_us:
                break
            self.clock.advance_to(due_us)
            if what == SCAN:
                self._scan(due_us)
            elif what == LIGHT:
                self._light(due_us)
            elif what == FINGER:
                self._finger(due_us)
            elif what == DISK:
                self._saved(due_us)
            else:
                self.engine.check(due_us)
                self._check_us = due_us + CHECK_US
        self.clock.advance_to(t_us)
        self.board.strip.settle(t_us)

    def run_for(self, us: int) -> None:
        """Go on for `us` microseconds."""
        self.run_until(self.now_us + us)

    def _next(self) -> tuple[int, int]:
        now_us = self.clock.now_us()
        light_us = max(now_us, self.engine.frame_due_us, self.board.strip.busy_until_us)
        due_us, what = (self._scan_us, SCAN) if self._scan_us <= light_us else (light_us, LIGHT)
        if self._fingers and self._fingers[0].t_us <= due_us:
            due_us, what = max(now_us, self._fingers[0].t_us), FINGER
        disk_us = self.disk.due_us if self.disk is not None else None
        if disk_us is not None and disk_us < due_us:
            due_us, what = max(now_us, disk_us), DISK
        return (self._check_us, CHECK) if self._check_us < due_us else (due_us, what)

    def _scan(self, t_us: int) -> None:
        scan = self.board.scan(t_us)
        self.scans += 1
        self._scan_us = t_us + scan.period_us
        due_us, unseen = self.engine.due_us, self._sight.step(scan)
        if (
            unseen
            or scan.edges
            or scan.buttons
            or scan.ghosts != self._ghosts
            or (due_us is not None and due_us <= scan.known_us)
        ):
            self._ghosts = scan.ghosts
            if unseen is not None:
                self.engine.lost(unseen)
            self.engine.hear(scan, t_us)
            for call in self.heard:
                call(t_us)

    def _finger(self, t_us: int) -> None:
        move = self._fingers.popleft()
        (self.board.contacts.press if move.down else self.board.contacts.release)(move.cell, t_us)
        for call in self.moved:
            call(move)

    def _saved(self, t_us: int) -> None:
        """The disk has come further, as the journal's thread tells the loop."""
        assert self.disk is not None
        self.disk.step(t_us)
        self.engine.saved(t_us)
        for call in self.heard:
            call(t_us)

    def _light(self, t_us: int) -> None:
        strip = self.board.strip
        strip.settle(t_us)
        if self.engine.light(t_us):
            self.engine.latched(strip.due_us or t_us)
