"""The contacts under the cells as metal, and the lines that see them.

`Contacts` is what fingers move: each move starts a bounce train whose end is certain. `SimLines` is what the scan
sees of it through rows and columns: with diodes each contact alone, without them whatever copper connects.

Threads: any thread may hold and let go while another scans; one lock guards the moves, a scan between two moves
takes none. Calls for one cell come in the order of their times: a later call replaces what earlier ones had planned
from its time on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from heapq import heapify, heappop
from itertools import count, repeat
from random import Random
from threading import Lock
from typing import NamedTuple

from hal.errors import PartError
from hal.ports import Clock
from sim.faults import HEALTHY, Faults, stream

NEVER_US = 1 << 62
MOST_BOUNCES = 5


class Flip(NamedTuple):
    """The metal of one cell takes a level at a time; `order` decides between flips of the same time."""

    t_us: int
    order: int
    cell: int
    closed: bool


class Glitch(NamedTuple):
    """From `t_us` on the contacts in `mask` read as the opposite of what they are."""

    t_us: int
    mask: int


def train(t_us: int, closed: bool, bounce_us: int, random: Random) -> list[tuple[int, bool]]:
    """A bounce train: the times and levels of one move, none before `t_us`, the last one being `closed`.

    The contact first moves at `t_us` and is at rest exactly `bounce_us` later, the worst its length allows.
    """
    bounces = random.randint(1, min(MOST_BOUNCES, bounce_us // 2)) if bounce_us > 1 else 0
    if not bounces:
        return [(t_us, closed)]
    between = random.sample(range(1, bounce_us), 2 * bounces - 1)
    times = [0, *sorted(between), bounce_us]
    return [(t_us + offset, closed ^ (turn % 2 == 1)) for turn, offset in enumerate(times)]


def glitches(cells: int, faults: Faults, random: Random) -> Iterator[Glitch]:
    """Lone glitches for ever, one at a time, on any cell: a beginning and an end in turn, by rising time."""
    t_us = 0
    while faults.glitch_hz:
        t_us += 1 + int(random.expovariate(faults.glitch_hz) * 1e6)
        yield Glitch(t_us, 1 << random.randrange(cells))
        t_us += random.randint(1, max(1, faults.glitch_us))
        yield Glitch(t_us, 0)
    yield from repeat(Glitch(NEVER_US, 0))


class Contacts:
    """Contacts that move at given times, bounce, and stay closed while at least one holder holds them."""

    def __init__(self, cells: int, faults: Faults = HEALTHY, seed: int = 0) -> None:
        self._holders: list[set[Hashable]] = [set() for _ in range(cells)]
        self._bounce_us = faults.bounce_us
        self._stuck, self._alive = _mask(faults.stuck), ~_mask(faults.dead)
        self._bounces = stream(seed, "bounce")
        self._glitches = glitches(cells, faults, stream(seed, "glitch"))
        self._glitch = next(self._glitches)
        self._flips: list[Flip] = []
        self._order = count()
        self._lock = Lock()
        self._metal = self._noise = 0
        self._closed = self._stuck
        self._due_us = self._glitch.t_us

    def hold(self, holder: Hashable, cell: int, t_us: int) -> None:
        """`holder` presses a cell from `t_us` on; the contact moves then, unless somebody holds it already."""
        with self._lock:
            first = not self._holders[cell]
            self._holders[cell].add(holder)
            if first:
                self._move(cell, True, t_us)

    def let_go(self, holder: Hashable, cell: int, t_us: int) -> None:
        """`holder` lifts off a cell at `t_us`; the contact moves then, unless somebody else still holds it."""
        with self._lock:
            self._lift(holder, cell, t_us)

    def press(self, cell: int, t_us: int) -> None:
        """Somebody who needs no name presses a cell from `t_us` on."""
        self.hold(None, cell, t_us)

    def release(self, cell: int, t_us: int) -> None:
        """The one who needs no name lifts off a cell at `t_us`."""
        self.let_go(None, cell, t_us)

    def change(self, faults: Faults) -> None:
        """Let other faults be in the metal from now on, but for glitches; bounces on their way stay as they are."""
        with self._lock:
            self._bounce_us = faults.bounce_us
            self._stuck, self._alive = _mask(faults.stuck), ~_mask(faults.dead)
            self._due_us = 0  # look again at the next reading

    def held(self) -> int:
        """Mask of the cells that somebody holds, whatever their contacts make of it."""
        with self._lock:
            return _mask(cell for cell, holders in enumerate(self._holders) if holders)

    def closed(self, t_us: int) -> int:
        """Mask of the contacts that conduct at `t_us`: the truth, bounces, glitches and broken cells included.

        Times do not go back: what has moved by a later time asked for stays moved.
        """
        if t_us >= self._due_us:
            with self._lock:
                self._advance(t_us)
        return self._closed

    def _lift(self, holder: Hashable, cell: int, t_us: int) -> None:
        holders = self._holders[cell]
        if holder in holders:
            holders.remove(holder)
            if not holders:
                self._move(cell, False, t_us)

    def _move(self, cell: int, closed: bool, t_us: int) -> None:
        """Plan a bounce train, in place of what the cell had planned from `t_us` on."""
        self._flips = [flip for flip in self._flips if flip.cell != cell or flip.t_us < t_us]
        for flip_us, level in train(t_us, closed, self._bounce_us, self._bounces):
            self._flips.append(Flip(flip_us, next(self._order), cell, level))
        heapify(self._flips)
        self._due_us = min(self._flips[0].t_us, self._glitch.t_us)

    def _advance(self, t_us: int) -> None:
        """Move the metal to where it is at `t_us`."""
        while self._flips and self._flips[0].t_us <= t_us:
            flip = heappop(self._flips)
            bit = 1 << flip.cell
            self._metal = self._metal | bit if flip.closed else self._metal & ~bit
        while self._glitch.t_us <= t_us:
            self._noise, self._glitch = self._glitch.mask, next(self._glitches)
        self._closed = (self._metal ^ self._noise | self._stuck) & self._alive
        self._due_us = min(self._flips[0].t_us if self._flips else NEVER_US, self._glitch.t_us)


def with_diodes(mask: int, rows: int, columns: int) -> tuple[int, ...]:
    """The columns that each row shows when current flows one way only: its own closed contacts."""
    row = (1 << columns) - 1
    return tuple(mask >> first & row for first in range(0, rows * columns, columns))


def without_diodes(mask: int, rows: int, columns: int) -> tuple[int, ...]:
    """The columns that each row shows when current flows both ways: all that closed contacts connect to it.

    Three corners of a rectangle show the fourth: a ghost (case D1).
    """
    words = list(with_diodes(mask, rows, columns))
    for column in range(columns):  # rows on one column become one wire; once for each column, order does not matter
        joined = [row for row in range(rows) if words[row] >> column & 1]
        wire = 0
        for row in joined:
            wire |= words[row]
        for row in joined:
            words[row] = wire
    return tuple(words)


def placing(turned: Sequence[int] | None) -> Callable[[int], int]:
    """What gives the mask of places in the wiring for one of cells, by the cell at each place; None = the same."""
    if turned is None or list(turned) == list(range(len(turned))):
        return lambda cells: cells
    return lambda cells: _mask(place for place, cell in enumerate(turned) if cells >> cell & 1)


class SimLines:
    """Rows and columns over simulated contacts; implements `hal.ports.Lines`.

    `turned`: the cell at each place of the wiring, where that is not the same.
    `wait_us` is how long the driver lets the columns settle, `faults.settle_us` what they need: with less, a row
    also shows the columns of the row selected before it (case D18).
    """

    def __init__(
        self,
        contacts: Contacts,
        clock: Clock,
        rows: int,
        columns: int,
        *,
        diodes: bool,
        wait_us: int,
        turned: Sequence[int] | None = None,
        faults: Faults = HEALTHY,
        seed: int = 0,
    ) -> None:
        self._places = placing(turned)
        self._now_us, self._closed = clock.now_us, contacts.closed
        self._rows, self._columns = rows, columns
        self._wire = with_diodes if diodes else without_diodes
        self._smears = wait_us < faults.settle_us
        self._fail_rate, self._fails = faults.lines_fail_rate, stream(seed, "lines")
        self._selected = self._before = rows  # the place after the last row: no row
        self._mask = 0
        self._words: tuple[int, ...] = (0,) * (rows + 1)

    def change(self, faults: Faults, *, diodes: bool) -> None:
        """Let other faults be in the lines from now on."""
        self._fail_rate = faults.lines_fail_rate
        self._wire = with_diodes if diodes else without_diodes
        self._mask = -1  # work the words out anew

    def select(self, row: int | None) -> None:
        """Drive one row, or none. Raises PartError where the fault is that lines fail."""
        if self._fail_rate and self._fails.random() < self._fail_rate:
            raise PartError(f"matrix: row {row} cannot be driven (simulated fault lines_fail_rate)")
        if self._smears:
            self._before = self._selected
        self._selected = self._rows if row is None else row

    def read(self) -> int:
        """The columns of the selected row now, bit `column` set where they conduct."""
        mask = self._closed(self._now_us())
        if mask != self._mask:
            self._mask = mask
            self._words = (*self._wire(self._places(mask), self._rows, self._columns), 0)
        return self._words[self._selected] | self._words[self._before]

    def close(self) -> None:
        """Leave every row at rest. May be called twice."""
        self._selected = self._before = self._rows


def _mask(cells: Iterable[int]) -> int:
    """The mask with the bits of these cells."""
    mask = 0
    for cell in cells:
        mask |= 1 << cell
    return mask
