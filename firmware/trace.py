"""The text form of a trace: everything that enters the firmware and what comes of it, one JSON object a line. Pure.

The first line tells what the board was and what stood on it when it started; each later one is a step of the engine
with all that it was told (`firmware.engine`), a frame that was sent, or the end. Times are the board's own
microseconds. No line holds a token, a name or a date.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import IO, Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from firmware.choosing import Chosen
from firmware.clock import Limits
from firmware.games import morbak
from firmware.operator_commands import AnyCommand, Refused, at_the_table
from firmware.orders import Order
from firmware.save import Save
from firmware.snapshot import Side
from hal.ports import Capabilities, Part, Scan

VERSION: Final = 1
# Of frames that follow each other a second, and of a new picture, the first is written whole, the others as a digest.
WHOLE_US: Final = 1_000_000
MOST_LINE: Final = 1 << 20
Us = Annotated[int, Meta(ge=0, le=2**53 - 1)]
UsOrNone = Us | None


class TraceError(Exception):
    """A file that is no trace, is newer than this program, or is damaged; the text is one sentence."""


class Line(msgspec.Struct, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="do", tag=str.lower):
    """Any line. `n`: its number, from 1; it is there once a line has been read."""

    n: int = 0


class Timed(Line):
    """A line that belongs to a time."""

    t: Us


class Head(Line, tag="trace"):
    """What stood there at the start, at `t`: of the board, of the settings, and (`found`) the game that was on it.

    `saves`: whether games are saved, so that an action waits for the one before; `games`: how many there have been.
    """

    v: int
    software: str
    board: Capabilities
    driver: str
    t: Us
    touch: dict[str, Us]
    phases: dict[str, Us]
    menu: dict[str, Us]
    rules: morbak.Rules
    limits: Limits
    series: Literal[1, 3, 5]
    chosen: Chosen
    brightness_pct: int
    quiet: str
    screen_off: Us
    coded: bool = False
    saves: bool = False
    games: Us = 0
    found: Save | None = None


class Begin(Timed):
    """The first scan that knew anything."""


class Unseen(Line):
    """Nothing was known of the contacts from `since` until `until` (None: yet)."""

    since: Us
    until: UsOrNone


class Step(Timed, kw_only=True):
    """A step of the loop at `t`. What it was told, where that has changed: `saved`: how far the disk has come; `fault`:
    what is in its way; `lots`: those drawn in it; `gone`: actions of an operator, by number, whose sender had gone.

    `did`: what came of it, in order.
    """

    saved: Us | UnsetType = UNSET
    fault: str | UnsetType | None = UNSET
    lots: tuple[Side, ...] = ()
    gone: tuple[int, ...] = ()
    did: tuple[str, ...] = ()


class Hear(Step, kw_only=True):
    """A scan was handled."""

    scan: Scan


class Act(Step, kw_only=True):
    """An operator's action or order came."""

    command: AnyCommand


class Saved(Step):
    """The disk has come further."""


class Check(Step, kw_only=True):
    """A look at every part's health: `parts`: those that have changed (None: gone), `lost`: edges that were lost so
    far, `minute`: of the day, where it was asked for."""

    parts: dict[str, Part | None] = {}
    lost: Us | UnsetType = UNSET
    minute: int | UnsetType | None = UNSET


class Frame(Timed):
    """A frame that was sent: of picture `p`, at `t`, at `pct` of full where that has changed; `cells`: all its bytes,
    or `sum`: their digest. `dimmed`: the current limit held the last one back."""

    p: Us
    pct: int | UnsetType = UNSET
    dimmed: bool = False
    cells: bytes | UnsetType = UNSET
    sum: str | UnsetType = UNSET


class End(Timed):
    """Nothing was recorded after this: the board was stopped, the file was full, or the disk was too far `behind`, and
    `lost` steps and frames are not here."""

    reason: Literal["stopped", "full", "behind"]
    lost: Us = 0


Entry = Head | Begin | Unseen | Hear | Act | Saved | Check | Frame | End
_decoder = msgspec.json.Decoder(Entry)
_encoder = msgspec.json.Encoder(order="deterministic")


class _Version(msgspec.Struct):
    do: Literal["trace"]
    v: int


def digest(data: bytes) -> str:
    """What stands for bytes that are not written out."""
    return blake2b(data, digest_size=8).hexdigest()


def operation(command: AnyCommand) -> morbak.Action | Order | None:
    """What an operator's command means at the table; None for one that is none of its business."""
    try:
        return at_the_table(command)
    except Refused:
        return None


class Scribe:
    """Turns entries into lines, in their order: numbers them, and shortens what has been said already.

    `clean`: what each sentence about a fault goes through, so that it names nobody.
    """

    def __init__(self, clean: Callable[[str], str] = str) -> None:
        self.lines = 0
        self._clean = clean
        self._whole_us, self._p, self._pct = 0, -1, -1

    def line(self, entry: Line) -> bytes:
        """The next line, with its end."""
        self.lines += 1
        if isinstance(entry, Frame):
            self._shorten(entry)
        elif isinstance(entry, Step):
            self._tidy(entry)
        return b'{"n":%d,%b\n' % (self.lines, _encoder.encode(entry)[1:])

    def _shorten(self, frame: Frame) -> None:
        assert isinstance(frame.cells, bytes)
        if frame.pct == self._pct:
            frame.pct = UNSET
        else:
            assert isinstance(frame.pct, int)
            self._pct = frame.pct
        if frame.p == self._p and frame.t < self._whole_us + WHOLE_US:
            frame.sum, frame.cells = digest(frame.cells), UNSET
        else:
            self._p, self._whole_us = frame.p, frame.t

    def _tidy(self, step: Step) -> None:
        if isinstance(step.fault, str):
            step.fault = self._clean(step.fault)
        if isinstance(step, Check):
            step.parts = {
                name: part if part is None else Part(part.ok, self._clean(part.text))
                for name, part in step.parts.items()
            }


class Reader:
    """The entries of a file, one after the other; `torn`: after the last one came the beginning of a line."""

    def __init__(self, file: IO[bytes]) -> None:
        """Reads the first line, `head`. Raises TraceError."""
        self._file, self.torn, self.lines = file, False, 0
        line = self._next()
        if line is None:
            raise TraceError("there is no whole line in it: nothing was recorded.")
        try:
            version = msgspec.json.decode(line, type=_Version).v
        except (ValueError, RecursionError) as error:
            raise TraceError(f"line 1: it is no trace ({error}); `morbak trace record` makes one.") from error
        if version != VERSION:
            known = f"a trace of version {version}, and this program knows {VERSION}"
            raise TraceError(f"line 1: it is {known}; replay it with the version that recorded it.")
        head = self._entry(line)
        if not isinstance(head, Head):
            raise TraceError("line 1: it does not tell what the board was.")
        self.head = head
        self._cells = head.board.rows * head.board.columns

    def __iter__(self) -> Iterator[Entry]:
        """The lines after the first. Raises TraceError."""
        while (line := self._next()) is not None:
            entry = self._entry(line)
            wrong = _wrong(entry, self._cells)
            if wrong is not None:
                raise TraceError(f"line {self.lines}: {wrong}.")
            yield entry

    def _next(self) -> bytes | None:
        line = self._file.readline(MOST_LINE)
        if not line.endswith(b"\n"):
            if len(line) == MOST_LINE:
                raise TraceError(f"line {self.lines + 1}: damaged, it is longer than any line of a trace.")
            self.torn = line != b""
            return None
        self.lines += 1
        return line

    def _entry(self, line: bytes) -> Entry:
        try:
            entry = _decoder.decode(line)
        except (ValueError, RecursionError) as error:
            raise TraceError(f"line {self.lines}: damaged ({error}).") from error
        if entry.n > self.lines:
            raise TraceError(f"line {self.lines}: it was line {entry.n} when recorded: before it one is missing.")
        if entry.n < self.lines:
            raise TraceError(f"line {self.lines}: it was line {entry.n} when recorded: lines were added or moved.")
        return entry


def _wrong(entry: Entry, cells: int) -> str | None:
    """What no recorder writes, though it reads."""
    if isinstance(entry, Head):
        return "a second beginning"
    if isinstance(entry, Frame) and (entry.cells is UNSET) == (entry.sum is UNSET):
        return "a frame has either its cells or their sum"
    if isinstance(entry, Act) and operation(entry.command) is None:
        return "the table takes no such command"
    if isinstance(entry, Hear):
        scan = entry.scan
        if not 0 <= scan.ghosts < 1 << cells or not all(0 <= edge.cell < cells for edge in scan.edges):
            return f"a cell that is none of the board's {cells}"
    return None
