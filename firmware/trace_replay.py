"""A trace played again: the same steps at the same times, and the first thing that is not as it was. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import NamedTuple, TypeVar

from msgspec import UnsetType

from firmware import quiet, sight
from firmware.engine import Evening, Picture, Surroundings
from firmware.game_record import game_from, match_from
from firmware.games import morbak
from firmware.gesture import TouchTimes
from firmware.lights import Lights
from firmware.match import Match
from firmware.menu import MenuTimes
from firmware.phases import PhaseTimes
from firmware.save import Save
from firmware.snapshot import Side
from firmware.table import Table
from firmware.trace import (
    Act,
    Begin,
    Check,
    End,
    Entry,
    Frame,
    Head,
    Hear,
    Step,
    TraceError,
    Unseen,
    digest,
    operation,
)
from firmware.trace_witness import ToldAnswer, Witness
from hal.ports import Capabilities, Edge, Measures, Note, Part, Scan

NOTHING = "nothing"
T = TypeVar("T")


class Difference(Exception):
    """What is not as it was recorded; the text is one sentence with line, time, what was expected and what came."""


class _Dark:
    """Implements `Board`: takes every frame, and shows nothing."""

    dimmed = False

    def __init__(self, head: Head) -> None:
        self.capabilities: Capabilities = head.board
        self.brightness_pct = head.brightness_pct

    def scan(self, t_us: int) -> Scan:
        return Scan(t_us, (), 0, 0, 1_000)

    def show(self, frame: bytes, t_us: int) -> bool:  # noqa: ARG002
        return True

    def tone(self, notes: tuple[Note, ...], volume_pct: int) -> None: ...

    def expect(self, stuck: int) -> None: ...

    def dim(self, brightness_pct: int) -> None: ...

    def wire(self) -> bytes:
        return b""

    def health(self) -> dict[str, Part]:
        return {}

    def measures(self) -> Measures:
        return Measures()

    def close(self) -> None: ...


class _Disk:
    """Implements `Store`: has come as far as the trace tells."""

    def __init__(self) -> None:
        self.saved, self._put = 0, 0
        self.fault: str | None = None

    def put(self, save: Save, finished: bool) -> int:  # noqa: ARG002
        self._put += 1
        return self._put

    def heartbeat(self, save: Save) -> None: ...


class _Sender:
    """Implements `Answering`: gone when the trace says so."""

    def __init__(self, waits: Callable[[], bool]) -> None:
        self.waits = waits

    def give(self, refused: str | None) -> None: ...


class _Player(Witness):
    """An engine that is told what the trace tells. `pictures`: those that frames may still come of, by number."""

    pictures: deque[Picture]
    parts_told: dict[str, Part]

    def __init__(self, table: Table, head: Head, disk: _Disk | None, evening: Evening) -> None:
        self.pictures, self.parts_told = deque(), {}
        super().__init__(table, _Dark(head), Lights(), Surroundings(disk, evening=evening))
        self.pictures.append(self._picture)

    def did(self, step: Callable[[], object]) -> list[str]:
        """Take a step; what came of it."""
        try:
            with self._witnessed():
                step()
        except Difference:
            raise
        except Exception:  # noqa: BLE001 - a step that failed is told like all else that came of it
            return list(self._did)
        return list(self._did)

    def drawn(self, number: int, dimmed: bool, t_us: int) -> tuple[bytes | None, int] | None:
        """The frame of a picture, and how bright; None where that picture is not there."""
        while self.pictures and self.pictures[0].n < number:
            self.pictures.popleft()
        if not self.pictures or self.pictures[0].n != number:
            return None
        picture = self.pictures[0]
        return self._draw(picture, dimmed, t_us), picture.brightness_pct

    def operate(self, line: Act, number: int, gone: Callable[[int], bool]) -> None:
        """An operator's action or order comes."""
        what = operation(line.command)
        assert what is not None  # or it would not have been read
        sender = _Sender(lambda: not gone(number))
        self.act(what, line.t, ToldAnswer(number, sender, self._did.append, lambda _: None))

    def _publish(self, press: Edge | None, t_us: int) -> None:
        super()._publish(press, t_us)
        self.pictures.append(self._picture)

    def _outside(self) -> tuple[Mapping[str, Part], int]:
        return self.parts_told, self.lost_edges


class Count(NamedTuple):
    """How much of a trace was the same so far; `us`: how long it took when it was recorded."""

    lines: int = 0
    actions: int = 0
    frames: int = 0
    us: int = 0


class Replay:
    """Plays the entries that are given to it, one after the other."""

    def __init__(self, head: Head) -> None:
        """Put the board together as it was. Raises TraceError where no board can be like that."""
        self.count = Count(lines=1)
        self.end: End | None = None
        self._head, self._pct = head, -1
        self._at: Step | None = None
        self._acts, self._lots, self._gone = 0, deque[Side](), frozenset[int]()
        self._disk = _Disk() if head.saves else None
        self.minute: int | None = None
        try:
            table = self._table()
            evening = Evening(quiet.hours(head.quiet), lambda: self.minute, head.screen_off)
        except (TypeError, ValueError) as error:
            raise TraceError(f"line 1: no board is like that ({error}).") from error
        self._player = _Player(table, head, self._disk, evening)

    def take(self, entry: Entry) -> None:
        """The next line. Raises Difference where it does not come out as recorded."""
        if self.end is not None:
            raise TraceError(f"line {entry.n}: it comes after the end.")
        if isinstance(entry, Step):
            self._step(entry)
        elif isinstance(entry, Frame):
            self._frame(entry)
        elif isinstance(entry, Begin):
            self._player.begin(entry.t)
        elif isinstance(entry, Unseen):
            self._player.lost(sight.Unseen(entry.since, entry.until))
        elif isinstance(entry, End):
            self.end = entry
        t_us = getattr(entry, "t", None)
        us = self.count.us if t_us is None else max(self.count.us, t_us - self._head.t)
        self.count = self.count._replace(lines=self.count.lines + 1, us=us)

    def _step(self, step: Step) -> None:
        self._tell(step)
        did = self._player.did(lambda: self._do(step))
        for expected, got in zip_longest(step.did, did, fillvalue=NOTHING):
            if expected != got:
                raise self._differs(step.n, step.t, expected, got)
        if self._lots:
            raise self._differs(step.n, step.t, "a lot drawn", NOTHING)
        played = sum(text.startswith("played ") for text in did)
        self.count = self.count._replace(actions=self.count.actions + played)

    def _do(self, step: Step) -> None:
        player = self._player
        if isinstance(step, Hear):
            player.hear(step.scan, step.t)
        elif isinstance(step, Act):
            self._acts += 1
            player.operate(step, self._acts, lambda number: number in self._gone)
        elif isinstance(step, Check):
            player.check(step.t)
        else:
            player.saved(step.t)

    def _tell(self, step: Step) -> None:
        """What the step was told, where that has changed."""
        self._at, self._lots, self._gone = step, deque(step.lots), frozenset(step.gone)
        if self._disk is not None:
            self._disk.saved = _new(step.saved, self._disk.saved)
            self._disk.fault = _new(step.fault, self._disk.fault)
        if isinstance(step, Check):
            player = self._player
            told = player.parts_told | step.parts
            player.parts_told = {name: part for name, part in told.items() if part is not None}
            player.lost_edges = _new(step.lost, player.lost_edges)
            self.minute = _new(step.minute, self.minute)

    def _lot(self) -> Side:
        if not self._lots:
            at = self._at
            assert at is not None
            raise self._differs(at.n, at.t, "no lot drawn", "one")
        return self._lots.popleft()

    def _frame(self, line: Frame) -> None:
        drawn = self._player.drawn(line.p, line.dimmed, line.t)
        if drawn is None:
            raise self._differs(line.n, line.t, f"a frame of picture {line.p}", f"{self._player._picture.n} pictures")
        frame, pct = drawn
        self._pct = _new(line.pct, self._pct)
        if frame is None:
            raise self._differs(line.n, line.t, "a frame", "none, as it is the same as the one before")
        if pct != self._pct:
            raise self._differs(line.n, line.t, f"light at {self._pct} %", f"{pct} %")
        if isinstance(line.cells, bytes) and line.cells != frame:
            raise self._differs(line.n, line.t, *_cells_that_differ(line.cells, frame))
        if isinstance(line.sum, str) and line.sum != digest(frame):
            raise self._differs(line.n, line.t, f"a frame with the sum {line.sum}", f"one with {digest(frame)}")
        self.count = self.count._replace(frames=self.count.frames + 1)

    def _differs(self, n: int, t_us: int, expected: str, got: str) -> Difference:
        at_s = (t_us - self._head.t) / 1e6
        return Difference(f"line {n}, {at_s:.6f} s after the start: expected {expected}, got {got}.")

    def _table(self) -> Table:
        head = self._head
        if (head.board.rows, head.board.columns) != (morbak.SIZE, morbak.SIZE):
            raise ValueError("MORBAK is played on 7 x 7 cells")
        table = Table(
            Match(head.rules, head.limits, head.series),
            TouchTimes(**head.touch),
            PhaseTimes(**head.phases, menu=MenuTimes(**head.menu)),
            draw_lot=self._lot,
            start_us=head.t,
            games=head.games,
            chosen=head.chosen,
            brightness_pct=head.brightness_pct,
            sound=head.board.sound,
            coded=head.coded,
        )
        if head.found is not None:
            table.resume(game_from(head.found), match_from(head.found), head.found.game, head.t)
        return table


def _new(told: T | UnsetType, before: T) -> T:
    return before if isinstance(told, UnsetType) else told


def _cells_that_differ(expected: bytes, got: bytes) -> tuple[str, str]:
    """The first cell, or LED of a strip, that is not as it was."""
    if len(expected) != len(got):
        return f"a frame of {len(expected)} bytes", f"one of {len(got)}"
    at = next(at for at in range(0, len(got), 3) if got[at : at + 3] != expected[at : at + 3])
    cell = at // 3
    name = morbak.cell_name(cell) if cell < morbak.CELLS else f"LED {cell - morbak.CELLS} of the strips"
    return f"{name} to be {expected[at : at + 3].hex()}", got[at : at + 3].hex()
