"""The order of things: edges and deadlines are judged by their own times, and a press is answered with light at once.

Edges come in with their own times and wait until the scan says that all edges up to that time are known (`advance`).
Only the light of a press does not wait (`feed`). What a tap, a hold or a chord means is left to the table, which is
one of these. Pure: no clock, no chance, no I/O.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import insort
from collections.abc import Callable, Iterator
from typing import NamedTuple

from firmware.gesture import Chord, Event, Gesture, TouchTimes
from firmware.hearing import GHOSTS, PRESS, RELEASE, Heard, Hearing
from firmware.previews import Haze, Previews
from firmware.snapshot import Side, Snapshot
from hal.ports import Scan

# A masked cell whose contact flickers is told of no more often.
MASKED_AGAIN_US = 5_000_000
Deadline = tuple[int, Callable[[int], None]]


class Answer(NamedTuple):
    """How a cell answers a finger: in whose colour (None: white), and for how long a hold fills it, if one means
    something."""

    side: Side | None = None
    hold_us: int | None = None


class Judging(ABC):
    """Judges edges and deadlines in order; `_tap`, `_hold` and `_chord` say what they come to."""

    def __init__(self, touch_times: TouchTimes, start_us: int) -> None:
        """Fingers down at `start_us` are dead until lifted."""
        self.gesture = Gesture(touch_times, guard_until_us=start_us + 1)
        self.previews = Previews()
        self.haze = Haze()
        self._hearing = Hearing()
        self._known_us = self._touched_us = start_us
        self._ghosts = 0
        self._orders: list[Deadline] = []  # buttons, operators and losses of sight, in the order of their times
        self._blind_us: int | None = None  # since when nothing is known of the contacts
        self.out: frozenset[int] = frozenset()  # cells that were put out of use
        self._stuck: frozenset[int] = frozenset()
        self.doubted: frozenset[int] = frozenset()  # cells that have been stuck, until one is touched as fingers do
        self._masked_us: dict[int, int] = {}  # when the masked cells were last told of
        self._snapshot: Snapshot | None = None

    # -- in ------------------------------------------------------------------------------------------------------

    def feed(self, scan: Scan) -> None:
        """Take what a scan has found: a press lights its cell at once, everything else waits for `advance`."""
        for edge in scan.edges:
            self._hearing.edge(edge)
            if edge.down and edge.cell not in self.out:
                self._light(edge.cell, edge.t_us)
        if scan.ghosts != self._ghosts:
            self._ghosts = scan.ghosts
            self.haze = self.haze.seen(scan.ghosts, scan.t_us)
            self._hearing.ghosts(scan.ghosts, scan.t_us)
            self._snapshot = None

    def order(self, t_us: int, act: Callable[[int], None]) -> None:
        """Have something done in its turn, as of `t_us`."""
        insort(self._orders, (t_us, act), key=lambda order: order[0])

    def unseen(self, since_us: int, until_us: int | None) -> None:
        """Nothing is known of the contacts from `since_us` until `until_us` (None: yet): it does not count as time.

        Nothing comes by itself meanwhile, and fingers that were on the board count for nothing until lifted.
        """
        self.order(since_us, self._lose_sight)
        if until_us is not None:
            self.order(until_us, self._regain_sight)

    def _lose_sight(self, t_us: int) -> None:
        if self._blind_us is None:
            self._blind_us = t_us
            self._lift_all(t_us)

    def _regain_sight(self, t_us: int) -> None:
        if self._blind_us is None:
            return
        self._lift_all(t_us)
        self.gesture.rest(t_us)
        lost_us, self._blind_us = t_us - self._blind_us, None
        self._go_on(lost_us, t_us)

    def advance(self, known_us: int) -> None:
        """Judge everything up to `known_us` in the order of its own time.

        At the same time a hold that is complete comes first, then edges, orders and limits: what is finished at a
        limit beats it (rules, "Time").
        """
        while self.step(known_us):
            pass

    def step(self, known_us: int) -> bool:
        """Judge one thing, if there is one up to `known_us`; False if there was none."""
        t_us = self.due_us
        if t_us is None or t_us > known_us:
            self._known_us = max(self._known_us, known_us)
            if self.previews.prune(self._known_us):
                self._snapshot = None
            return False
        if self._blind_us is None and self.gesture.due_us == t_us:
            self._advance_gesture(t_us)
        elif self._hearing.due_us == t_us:
            self._hear(self._hearing.pop())
        elif self._orders and self._orders[0][0] == t_us:
            self._snapshot = None
            self._orders.pop(0)[1](t_us)
            if self._blind_us is not None:
                self._halt(t_us)
        else:
            self._time_up(t_us)
        if self.gesture.stuck != self._stuck:
            self._stuck = frozenset(self.gesture.stuck)
            self.doubted |= self._stuck
            self._masks_changed()
        return True

    # -- out -----------------------------------------------------------------------------------------------------

    @property
    def stuck(self) -> frozenset[int]:
        """Cells with a finger or a closed contact on them for 20 s and more."""
        return self._stuck

    @property
    def masked(self) -> frozenset[int]:
        """Cells that count for nothing: stuck, or put out of use."""
        return self._stuck | self.out

    def put_out(self, cells: frozenset[int]) -> None:
        """Have these cells, and no others, out of use: dead or unreliable ones."""
        self.out = cells
        self._masks_changed()

    @property
    def due_us(self) -> int | None:
        """The next time at which something is to be judged; None while nothing waits."""
        waiting = [self._hearing.due_us, self._orders[0][0] if self._orders else None]
        if self._blind_us is None:
            waiting += [self.gesture.due_us, *(t_us for t_us, _ in self._deadlines())]
        return min((t for t in waiting if t is not None), default=None)

    # -- what it means: the table's ------------------------------------------------------------------------------

    @abstractmethod
    def _answers(self, cell: int, t_us: int) -> Answer | None:
        """How `cell` answers a press at `t_us`; None where it stays as it is."""

    @abstractmethod
    def _touch(self, t_us: int) -> None:
        """A finger comes down at `t_us`, before anything is made of it."""

    @abstractmethod
    def _tap(self, cell: int, t_us: int) -> None: ...

    @abstractmethod
    def _hold(self, cell: int, t_us: int) -> None: ...

    @abstractmethod
    def _chord(self, name: str, t_us: int) -> None: ...

    @abstractmethod
    def _armed(self, before: tuple[Chord, int] | None, t_us: int) -> None:
        """The two fingers of a chord are down, or (`before`: it was armed) were not held long enough."""

    @abstractmethod
    def _masked_touch(self, cell: int, t_us: int) -> None:
        """Somebody touches a masked cell."""

    @abstractmethod
    def _masks_changed(self) -> None:
        """Other cells than before are masked."""

    @abstractmethod
    def _deadlines(self) -> Iterator[Deadline]:
        """What will happen by itself if nobody acts, with its time."""

    @abstractmethod
    def _halt(self, t_us: int) -> None:
        """Out of sight: let a clock stand still from `t_us` on, if one runs."""

    @abstractmethod
    def _go_on(self, lost_us: int, t_us: int) -> None:
        """Go on at `t_us` as if the last `lost_us` had not been."""

    # -- judged in order -------------------------------------------------------------------------------------------

    def _light(self, cell: int, t_us: int) -> None:
        """Light a cell under a finger, unless it is known already that this touch counts for nothing."""
        if t_us < self.gesture.guard_until_us or self.gesture.spoiled or self._blind_us is not None:
            return
        answer = self._answers(cell, t_us)
        if answer is not None:
            full_us = None if answer.hold_us is None else t_us + answer.hold_us
            self.previews.press(cell, t_us, full_us, answer.side)
            self._snapshot = None

    def _advance_gesture(self, t_us: int) -> None:
        armed, events = self.gesture.armed, self.gesture.advance(t_us)
        self._understand(events)
        fired = any(event.kind == "chord" for event in events)
        if armed is not None and self.gesture.armed is None and not fired:
            self._armed(armed, t_us)  # its fingers have rested too long

    def _hear(self, heard: Heard) -> None:
        armed = self.gesture.armed
        if heard.order != GHOSTS and heard.what in self.out:
            self._hear_masked(heard)
        elif heard.order == RELEASE:
            self._trust(heard.what, heard.t_us)
            self._understand(self.gesture.release(heard.what, heard.t_us))
            self.previews.end(heard.what, heard.t_us)
        elif heard.order == PRESS:
            if self._blind_us is not None:
                self.gesture.guard(heard.t_us + 1)
            self._touch(heard.t_us)
            self._touched_us = heard.t_us
            self._understand(self.gesture.press(heard.what, heard.t_us))
        else:
            self._understand(self.gesture.ghosts(heard.what, heard.t_us))
        if armed != self.gesture.armed:
            self._armed(armed, heard.t_us)
        self._snapshot = None

    def _hear_masked(self, heard: Heard) -> None:
        """A masked cell counts for nothing; whoever taps it is told, but not again and again by a broken contact."""
        told_us = self._masked_us.get(heard.what)
        if heard.order == PRESS and (told_us is None or heard.t_us >= told_us + MASKED_AGAIN_US):
            self._masked_us[heard.what] = heard.t_us
            self._masked_touch(heard.what, heard.t_us)

    def _understand(self, events: list[Event]) -> None:
        for event in events:
            if event.kind == "tap":
                self._tap(event.cell, event.t_us)
            elif event.kind == "hold":
                self._hold(event.cell, event.t_us)
            elif event.kind == "chord":
                self._chord(event.name, event.t_us)
            elif event.kind != "press":
                self.previews.end(event.cell, event.t_us)
            elif not self.previews.answers(event.cell):
                self._light(event.cell, event.t_us)  # came while the phase before did not answer
        self._snapshot = None

    def _trust(self, cell: int, t_us: int) -> None:
        """A contact that closes and opens as under a finger does what it should."""
        pressed_us = self.gesture.live.get(cell)
        if cell in self.doubted and pressed_us is not None and t_us >= pressed_us + self.gesture.times.tap_min_us:
            self.doubted -= {cell}
            self._masks_changed()

    def _time_up(self, t_us: int) -> None:
        """Do what is due first; of two at the same time, the one named first."""
        self._snapshot = None
        _, act = min(self._deadlines(), key=lambda deadline: deadline[0])
        act(t_us)

    def _lift_all(self, t_us: int) -> None:
        """Every finger that is down counts for nothing until lifted."""
        self.gesture.kill(t_us)
        self.previews.end_all(t_us)
