"""A simulated board whose wiring is not what its profile says: lines that changed places, turned diodes, lost wires.

`Copper` is the matrix as current finds it, each contact with its own diode, driven from either side. Where
`sim.contacts.SimLines` believes the profile, this believes a `Miswiring`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, fields, replace
from typing import Any

from firmware.games.morbak import parse_cell
from hal.errors import PartError, ProfileError
from hal.mapped import walks
from hal.ports import Clock
from hal.profile import Profile
from hal.wiring import Degrees, turned
from sim import faults as sim_faults
from sim.contacts import Contacts
from sim.faults import Faults

ORDERS = ("row-major", "serpentine", "columns", "reversed", "shuffled")
ALL = frozenset(range(49))


@dataclass(frozen=True, slots=True)
class Miswiring:
    """What is wired otherwise; the defaults are a board as its profile has it.

    `swap_rows`, `swap_columns`: two lines of the wiring that have changed places, from 0. `rotate_deg`, `mirror`: how
    the wiring really lies. `order`: how the LEDs really run over the cells; `colours`: of the wire. `shift`: LEDs by
    which the light is late (case A19). `dark`: cells whose LED is dead. `turned`: cells whose diode is the other way
    round. `lost_row`, `lost_column`: a wire that is off. `no_pull_up`: a column without one. `bridged`: cells whose
    contacts are one. `joined_rows`, `joined_columns`: two lines of the wiring that a bridge makes one.
    """

    swap_rows: tuple[int, int] | None = None
    swap_columns: tuple[int, int] | None = None
    rotate_deg: Degrees | None = None
    mirror: bool | None = None
    order: str | None = None
    colours: str | None = None
    shift: int = 0
    dark: frozenset[int] = frozenset()
    turned: frozenset[int] = frozenset()
    lost_row: int | None = None
    lost_column: int | None = None
    no_pull_up: int | None = None
    bridged: frozenset[int] = frozenset()
    joined_rows: tuple[int, int] | None = None
    joined_columns: tuple[int, int] | None = None


AS_SAID = Miswiring()


def parse(given: list[str]) -> tuple[Faults, Miswiring]:
    """Faults from `KEY=VALUE` each: those of `sim.faults` and of `Miswiring`. Raises ProfileError naming the fault.

    Lines are counted from 1 and columns by letter too (`swap_rows=3+4`, `lost_column=c`), cells joined with `+`.
    """
    ours = {field.name for field in fields(Miswiring)}
    mine: dict[str, Any] = {}
    others: list[str] = []
    for text in given:
        key, _, value = (piece.strip() for piece in text.partition("="))
        if key not in ours:
            others.append(text)
            continue
        try:
            mine[key] = _read(key, value)
        except (ValueError, KeyError) as error:
            raise ProfileError("faults", key, value, f"write {_wanted(key)}") from error
    known = {field.name for field in fields(Faults)}
    for text in others:
        if (key := text.partition("=")[0].strip()) not in known:
            raise ProfileError("faults", key, None, f"no such fault; there are: {', '.join(sorted(known | ours))}")
    return sim_faults.parse(",".join(others)), replace(AS_SAID, **mine)


def _read(key: str, value: str) -> object:
    if key.endswith(("_rows", "_columns")):
        first, second = (_line(each) for each in value.split("+"))
        return first, second
    if key in ("lost_row", "lost_column", "no_pull_up"):
        return _line(value)
    if key in ("dark", "turned", "bridged"):
        return ALL if value == "all" else frozenset(parse_cell(each) for each in value.split("+"))
    return _other(key, value)


def _other(key: str, value: str) -> object:
    if key == "mirror":
        return {"on": True, "off": False}[value]
    if key == "rotate_deg":
        return {"0": 0, "90": 90, "180": 180, "270": 270}[value]
    if key == "shift":
        return int(value)
    known = ORDERS if key == "order" else ("RGB", "RBG", "GRB", "GBR", "BRG", "BGR")
    return known[known.index(value)]


def _line(text: str) -> int:
    at = ord(text) - ord("a") if len(text) == 1 and text.isalpha() else int(text) - 1
    if not 0 <= at < 16:
        raise ValueError(text)
    return at


def _wanted(key: str) -> str:
    return {
        "swap_rows": "two rows of the wiring, such as 3+4",
        "swap_columns": "two columns of the wiring, such as c+d",
        "joined_rows": "two rows of the wiring, such as 3+4",
        "joined_columns": "two columns of the wiring, such as c+d",
        "lost_row": "a row of the wiring, such as 5",
        "lost_column": "a column of the wiring, such as c",
        "no_pull_up": "a column of the wiring, such as c",
        "mirror": "on or off",
        "rotate_deg": "0, 90, 180 or 270",
        "shift": "a whole number of LEDs",
        "order": " or ".join(ORDERS),
        "colours": "the order of the wire's colours, such as RGB",
    }.get(key, "cells joined with +, such as a1+d4, or all")


def cells_of(profile: Profile, wrong: Miswiring) -> tuple[int, ...]:
    """The cell that really lies at each place of the wiring."""
    board = profile.board
    rotate_deg = board.rotate_deg if wrong.rotate_deg is None else wrong.rotate_deg
    mirror = board.mirror if wrong.mirror is None else wrong.mirror
    cells = turned(board.rows, board.columns, rotate_deg, mirror)
    rows, columns = list(range(board.wired[0])), list(range(board.wired[1]))
    for lines, swap in ((rows, wrong.swap_rows), (columns, wrong.swap_columns)):
        if swap is not None:
            lines[swap[0]], lines[swap[1]] = lines[swap[1]], lines[swap[0]]
    return tuple(cells[row * len(columns) + column] for row in rows for column in columns)


def chain_of(profile: Profile, wrong: Miswiring) -> tuple[int, ...]:
    """The cell over each LED of the chain."""
    board = profile.board
    if wrong.order is None:
        return profile.chain
    if wrong.order == "reversed":
        return profile.chain[::-1]
    if wrong.order == "shuffled":
        return tuple(random.Random(1).sample(range(profile.cells), profile.cells))
    kinds = [*walks(board.rows, board.columns)]  # up and right first; each kind there and back second
    return kinds[{"row-major": 0, "serpentine": 1, "columns": 2}[wrong.order]].cells


class Copper:
    """The lines of a matrix as it is really wired; implements `hal.ports.Lines`.

    `exchanged`: columns are driven and rows read, as by a profile that names the pins of one for the other.
    """

    def __init__(
        self, profile: Profile, contacts: Contacts, clock: Clock, wrong: Miswiring, faults: Faults, *, exchanged: bool
    ) -> None:
        self._wired, self._clock, self._contacts, self._wrong = profile.board.wired, clock, contacts, wrong
        self._cells, self._exchanged = cells_of(profile, wrong), exchanged
        self._diodes = profile.matrix.diodes if faults.diodes is None else faults.diodes
        self._known: dict[int, int] = {-1: 0}  # by line; none is driven at -1
        self._closed, self._line = 0, -1
        self._fail_rate, self._fails = faults.lines_fail_rate, sim_faults.stream(0, "lines")
        self._smears, self._before = profile.matrix.settle_us < faults.settle_us, -1

    def select(self, row: int | None) -> None:
        """Drive one line, or none. Raises PartError where the fault is that lines fail."""
        if self._fail_rate and self._fails.random() < self._fail_rate:
            raise PartError(f"matrix: row {row} cannot be driven (simulated fault lines_fail_rate)")
        self._before = self._line if self._smears else -1
        self._line = -1 if row is None else row

    def read(self) -> int:
        """The lines of the other side, bit set where current finds the driven one."""
        closed = self._contacts.closed(self._clock.now_us())
        if closed != self._closed:
            self._closed, self._known = closed, {-1: 0}
        word = self._word(self._line)
        return word | self._word(self._before) if self._smears else word

    def close(self) -> None:
        """Drive nothing."""
        self._line = self._before = -1

    def _word(self, line: int) -> int:
        word = self._known.get(line)
        if word is None:
            word = self._known[line] = self._reading(line)
        return word

    def _reading(self, line: int) -> int:
        """Which of the lines of the other side a driven one pulls low."""
        flows = self._flows()
        driven, side = ("column", "row") if self._exchanged else ("row", "column")
        reached = {(driven, line)}
        while True:
            more = {start for start, end in flows if end in reached} - reached
            if not more:
                break
            reached |= more
        word = sum(1 << at for what, at in reached if what == side)
        floating = self._wrong.no_pull_up
        return word | (1 << floating if floating is not None and not self._exchanged else 0)

    def _flows(self) -> list[tuple[tuple[str, int], tuple[str, int]]]:
        """Where current may flow, from line to line."""
        wrong, wide = self._wrong, self._wired[1]
        closed = self._closed
        if any(closed >> cell & 1 for cell in wrong.bridged):
            closed |= sum(1 << cell for cell in wrong.bridged)
        flows = []
        for what, joined in (("row", wrong.joined_rows), ("column", wrong.joined_columns)):
            if joined is not None:
                first, second = ((what, at) for at in joined)
                flows += [(first, second), (second, first)]
        for place, cell in enumerate(self._cells):
            up, right = divmod(place, wide)
            if not closed >> cell & 1 or up == wrong.lost_row or right == wrong.lost_column:
                continue
            row, column = ("row", up), ("column", right)
            if not self._diodes or cell not in wrong.turned:
                flows.append((column, row))
            if not self._diodes or cell in wrong.turned:
                flows.append((row, column))
        return flows
