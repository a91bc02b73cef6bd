"""An engine that puts everything it is told, and everything that comes of it, on a tape. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from msgspec import UNSET, UnsetType

from firmware import operator_commands, quiet, sight
from firmware.engine import ALONE, Evening, Picture, Surroundings
from firmware.game_record import save_of
from firmware.games import morbak
from firmware.lights import Lights
from firmware.operator_commands import AnyCommand
from firmware.orders import Order
from firmware.snapshot import Side
from firmware.table import Answering, Table
from firmware.trace import VERSION, Act, Begin, Check, Frame, Head, Hear, Line, Saved, Step, Unseen
from firmware.trace_witness import ToldAnswer, Witness
from hal.ports import Board, Part, Scan


class Slot:
    """The place of a line on the tape, taken when its step begins; `line` is there when the step is over."""

    __slots__ = ("line",)

    def __init__(self, line: Line | None = None) -> None:
        self.line = line


class Tape(Protocol):
    """Where lines go, in the order in which their slots were put."""

    def put(self, slot: Slot) -> None:
        """Take a slot. For any thread; never waits, never raises."""


class Recorded(Witness):
    """An engine with a tape; it does what any engine does, but within one step it sees the disk come no further."""

    def __init__(
        self,
        table: Table,
        board: Board,
        lights: Lights,
        around: Surroundings = ALONE,
        *,
        tape: Tape,
        software: str,
        driver: str,
    ) -> None:
        """`table`: as it starts, with what was found on the board. `driver`: of its contacts, for whoever reads."""
        self._tape = tape
        self._step: Step | None = None
        self._acts = 0
        self._told_saved, self._told_fault = 0, None if around.store is None else around.store.fault
        self._told_parts: dict[str, Part] = {}
        self._told_lost = 0
        self._told_minute: int | UnsetType | None = UNSET
        self._draw_lot, table.draw_lot = table.draw_lot, self._lot
        self._ask_minute = around.evening.minute
        head = _head(table, board, around.evening, software, driver)
        head.saves = around.store is not None
        tape.put(Slot(head))
        evening = around.evening._replace(minute=self._minute)
        super().__init__(table, board, lights, around._replace(evening=evening))

    # -- steps -------------------------------------------------------------------------------------------------------

    def begin(self, t_us: int) -> None:
        """As `Engine.begin`."""
        self._tape.put(Slot(Begin(t=t_us)))
        super().begin(t_us)

    def lost(self, unseen: sight.Unseen) -> None:
        """As `Engine.lost`."""
        self._tape.put(Slot(Unseen(since=unseen.since_us, until=unseen.until_us)))
        super().lost(unseen)

    def hear(self, scan: Scan, t_us: int) -> bool:
        """As `Engine.hear`."""
        with self._taped(Hear(t=t_us, scan=scan)):
            return super().hear(scan, t_us)

    def act(self, action: morbak.Action | Order, t_us: int, answer: Answering) -> None:
        """As `Engine.act`."""
        self._acts += 1
        told = ToldAnswer(self._acts, answer, self._did.append, self._sender_gone)
        with self._taped(Act(t=t_us, command=_command(action))):
            super().act(action, t_us, told)

    def saved(self, t_us: int) -> bool:
        """As `Engine.saved`."""
        if self._step is not None:  # a part of another step
            return super().saved(t_us)
        with self._taped(Saved(t=t_us)):
            return super().saved(t_us)

    def check(self, t_us: int) -> None:
        """As `Engine.check`."""
        with self._taped(Check(t=t_us)):
            super().check(t_us)

    @contextmanager
    def _taped(self, step: Step) -> Iterator[None]:
        slot = Slot()
        self._tape.put(slot)
        self._step = step
        try:
            with self._witnessed():
                self._tell_disk(step)
                yield
        finally:
            step.did, self._step = tuple(self._did), None
            slot.line = step

    # -- what a step is told -----------------------------------------------------------------------------------------

    def _tell_disk(self, step: Step) -> None:
        if self._store is None:
            return
        if self._store.saved != self._told_saved:
            step.saved = self._told_saved = self._store.saved
        if self._store.fault != self._told_fault:
            step.fault = self._told_fault = self._store.fault

    def _sender_gone(self, number: int) -> None:
        if self._step is not None:
            self._step.gone += (number,)

    def _lot(self) -> Side:
        lot = self._draw_lot()
        if self._step is not None:
            self._step.lots += (lot,)
        return lot

    def _minute(self) -> int | None:
        minute = self._ask_minute()
        if isinstance(self._step, Check) and minute != self._told_minute:
            self._step.minute = self._told_minute = minute
        return minute

    def _outside(self) -> tuple[Mapping[str, Part], int]:
        parts, lost = super()._outside()
        if isinstance(self._step, Check):
            changed = {name: part for name, part in parts.items() if self._told_parts.get(name) != part}
            self._step.parts = changed | dict.fromkeys(self._told_parts.keys() - parts.keys())
            self._told_parts = dict(parts)
            if lost != self._told_lost:
                self._step.lost = self._told_lost = lost
        return parts, lost

    # -- the LEDs' side ----------------------------------------------------------------------------------------------

    def _draw(self, picture: Picture, dimmed: bool, t_us: int) -> bytes | None:
        frame = super()._draw(picture, dimmed, t_us)
        if frame is not None:
            line = Frame(t=t_us, p=picture.n, pct=picture.brightness_pct, dimmed=dimmed, cells=frame)
            self._tape.put(Slot(line))
        return frame


def _command(what: morbak.Action | Order) -> AnyCommand:
    """What an operator sent."""
    if isinstance(what, morbak.Action):
        return operator_commands.Act(what.text)
    if what.kind in ("mask", "unmask"):
        kind = operator_commands.Mask if what.kind == "mask" else operator_commands.Unmask
        return kind(morbak.cell_name(what.cell))
    if what.kind == "choose":
        return operator_commands.Settings(**dict(what.changes))
    return PLAIN[what.kind]()


PLAIN: dict[str, Callable[[], AnyCommand]] = {
    "clean": operator_commands.Clean,
    "end": operator_commands.End,
    "pause": operator_commands.Pause,
    "resume": operator_commands.Resume,
}


def _head(table: Table, board: Board, evening: Evening, software: str, driver: str) -> Head:
    """What stands there before the first step."""
    phases = table.times._asdict()
    menu = phases.pop("menu")
    t_us = table.phase_us
    return Head(
        v=VERSION,
        software=software,
        board=board.capabilities,
        driver=driver,
        t=t_us,
        touch=table.gesture.times._asdict(),
        phases=phases,
        menu=menu._asdict(),
        rules=table.given.rules,
        limits=table.given.limits,
        series=table.given.series,
        chosen=table.chosen,
        brightness_pct=table.brightness_pct,
        quiet=quiet.text(evening.hours),
        screen_off=evening.screen_off_us,
        coded=table.coded,
        games=table.number,
        found=None if table.game is None else save_of(table.game, table.match, table.number, t_us),
    )
