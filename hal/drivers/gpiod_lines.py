"""The key matrix on the kernel's GPIO chip, through gpiod 2: one call selects a row, one reads all columns.

Rows are open drain, so that idle ones float: two closed contacts in a column would join a high row to a low one
otherwise. Columns are pulled up and read low where a contact is closed; both are seen normalised here.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from fcntl import ioctl
from struct import Struct
from typing import TYPE_CHECKING

from hal.drivers import INSTALL, gpio_chips, lacking
from hal.drivers.gpio_chips import Chip, Place
from hal.drivers.settling import settle
from hal.errors import PartError
from hal.pins import Pin
from hal.ports import Lines
from hal.profile import Profile

if TYPE_CHECKING:
    from gpiod import LineRequest, LineSettings

CONSUMER = "morbak"
# linux/gpio.h: struct gpio_v2_line_values is the bits and the mask of a request's lines. The library's own calls make
# an enum a line and cost six times as much, a third of a scan's period on the smallest Pi; it keeps the lines.
_VALUES = Struct("=QQ")
_GET_VALUES, _SET_VALUES = 0xC010_B40E, 0xC010_B40F
# A program that is being replaced lets go of its lines within this time.
RETRY_S = (0.1, 0.2, 0.4)


def open_lines(profile: Profile, pause: Callable[[float], None] = time.sleep) -> Lines:
    """The matrix of a profile, at rest. Raises PartError, one sentence that says what to do."""
    try:
        import gpiod
    except ImportError as fault:
        raise lacking("gpiod", "gpiod") from fault
    if not hasattr(gpiod, "request_lines"):
        raise PartError(
            "the installed gpiod is version 1, which reads lines one by one, and 2 is wanted: "
            f"`{INSTALL}` in an environment without the system's python3-libgpiod"
        )
    found = chips()
    matrix = profile.matrix
    rows = gpio_chips.place(matrix.row_pins, found, "matrix.rows")
    columns = gpio_chips.place(matrix.column_pins, found, "matrix.columns")
    return GpiodLines(rows, columns, matrix.settle_us, (matrix.row_pins, matrix.column_pins), pause)


def chips() -> list[Chip]:
    """Every chip of this computer that we may open. Raises PartError where there is none."""
    import gpiod

    found, faults = [], []
    for path in gpio_chips.devices():
        try:
            with gpiod.Chip(path) as chip:
                info = chip.get_info()
                names = tuple(chip.get_line_info(offset).name or "" for offset in range(info.num_lines))
                found.append(Chip(path, info.label, names))
        except OSError as fault:
            faults.append(gpio_chips.refused(path, fault))
    if not found:
        raise faults[0]
    return found


class GpiodLines:
    """Implements `Lines` on lines of one chip for the rows and of one for the columns."""

    def __init__(
        self,
        rows: Place,
        columns: Place,
        settle_us: int,
        pins: tuple[Sequence[Pin], Sequence[Pin]],
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """`pins`: the rows' and the columns', to name one that is taken. Raises PartError."""
        from gpiod import LineSettings
        from gpiod.line import Bias, Direction, Drive, Value

        idle = LineSettings(
            direction=Direction.OUTPUT, drive=Drive.OPEN_DRAIN, active_low=True, output_value=Value.INACTIVE
        )
        sense = LineSettings(direction=Direction.INPUT, bias=Bias.PULL_UP, active_low=True)
        self._rows: LineRequest | None = _request(rows, idle, pins[0], pause)
        try:
            self._columns: LineRequest | None = _request(columns, sense, pins[1], pause)
        except BaseException:
            self._rows.release()
            raise
        self._rows_fd, self._columns_fd = self._rows.fd, self._columns.fd
        self._settle_us = settle_us
        self._moves = _moves(len(rows.offsets))
        self._values = bytearray(_VALUES.pack(0, (1 << len(columns.offsets)) - 1))
        self._selected: int | None = None

    def select(self, row: int | None) -> None:
        """Drive one row low (the others float), or none; returns once the columns have settled. Raises PartError."""
        if self._rows is None:
            raise PartError("the matrix is closed")
        if row != self._selected:
            try:
                ioctl(self._rows_fd, _SET_VALUES, self._moves[self._selected, row])
            except OSError as fault:
                raise PartError(f"row {row} cannot be driven: {fault.strerror}") from fault
            self._selected = row
        if row is not None and self._settle_us:
            settle(self._settle_us)

    def read(self) -> int:
        """All columns of the selected row in one read, bit `column` set where a contact is closed. Raises PartError."""
        if self._columns is None:
            raise PartError("the matrix is closed")
        try:
            ioctl(self._columns_fd, _GET_VALUES, self._values)
        except OSError as fault:
            raise PartError(f"the columns cannot be read: {fault.strerror}") from fault
        closed: int = _VALUES.unpack(self._values)[0]
        return closed

    def close(self) -> None:
        """Let every row float and give the lines back. May be called twice."""
        rows, columns = self._rows, self._columns
        self._rows = self._columns = None
        if rows is not None:
            if self._selected is not None:
                with suppress(OSError):  # a chip that is gone drives nothing
                    ioctl(self._rows_fd, _SET_VALUES, self._moves[self._selected, None])
            rows.release()
        if columns is not None:
            columns.release()


def _moves(count: int) -> dict[tuple[int | None, int | None], bytes]:
    """What to set, by the row that was selected and the one that is to be."""
    bits = {None: 0} | {row: 1 << row for row in range(count)}
    return {(before, after): _VALUES.pack(bits[after], bits[before] | bits[after]) for before in bits for after in bits}


def _request(place: Place, settings: LineSettings, pins: Sequence[Pin], pause: Callable[[float], None]) -> LineRequest:
    """The lines, ours alone. Lines that are taken are asked for again for a while; raises PartError naming who has them
    (case C7)."""
    import gpiod

    for pause_s in (*RETRY_S, None):
        try:
            request = gpiod.request_lines(place.chip.path, {place.offsets: settings}, CONSUMER)
        except OSError as fault:
            if fault.errno != errno.EBUSY:
                raise gpio_chips.refused(place.chip.path, fault) from fault
            if pause_s is None:
                raise _taken(place, pins) from fault
            pause(pause_s)
        else:
            assert list(place.offsets) == request.offsets, "bits of a request are in the order asked for"
            return request
    raise AssertionError


def _taken(place: Place, pins: Sequence[Pin]) -> PartError:
    """The error for lines that somebody else has, by name."""
    import gpiod

    with gpiod.Chip(place.chip.path) as chip:
        for offset, pin in zip(place.offsets, pins, strict=True):
            info = chip.get_line_info(offset)
            if info.used:
                holder = f"by {info.consumer!r}" if info.consumer else "by the kernel"
                return PartError(f"{pin} is in use {holder}: stop that program; `gpioinfo` shows who has which line")
    return PartError(f"a line of {place.chip.path} is in use: `gpioinfo` shows who has which line")
