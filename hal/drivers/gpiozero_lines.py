"""The key matrix through gpiozero: portable, on any pin factory, pin by pin.

The selected row is an output that is low, every other row an input, so that idle ones float. No bounce_time: it loses
edges (case C12); levels are sampled and debounced elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from hal.drivers.gpiozero_factory import pin_factory
from hal.drivers.settling import settle
from hal.errors import PartError
from hal.pins import Pin
from hal.ports import Lines
from hal.profile import Profile


def open_lines(profile: Profile) -> Lines:
    """The matrix of a profile, at rest. Raises PartError, one sentence that says what to do."""
    matrix = profile.matrix
    factory = pin_factory(matrix.row_pins + matrix.column_pins)
    return GpiozeroLines(matrix.row_pins, matrix.column_pins, matrix.settle_us, factory)


class GpiozeroLines:
    """Implements `Lines` on the pins of one factory, which are reserved there like any device's."""

    def __init__(self, rows: Sequence[Pin], columns: Sequence[Pin], settle_us: int, factory: Any) -> None:
        """Raises PartError for a pin that is taken or that the factory does not have."""
        from gpiozero import GPIODevice, InputDevice

        self._settle_us = settle_us
        self._devices: list[Any] = []
        self._selected: Any = None
        with _named("the matrix cannot be opened"):
            try:
                self._rows = [self._opened(GPIODevice(_spelled(pin), pin_factory=factory)) for pin in rows]
                for device in self._rows:
                    device.pin.function = "input"
                self._columns = [
                    (1 << at, self._opened(InputDevice(_spelled(pin), pull_up=True, pin_factory=factory)))
                    for at, pin in enumerate(columns)
                ]
            except BaseException:
                self.close()
                raise

    def _opened(self, device: Any) -> Any:
        self._devices.append(device)
        return device

    def select(self, row: int | None) -> None:
        """Drive one row low (the others are inputs), or none; returns once columns have settled. Raises PartError."""
        if not self._devices:
            raise PartError("the matrix is closed")
        with _named(f"row {row} cannot be driven"):
            wanted = None if row is None else self._rows[row].pin
            if wanted is not self._selected:
                if self._selected is not None:
                    self._selected.function = "input"
                self._selected = wanted
                if wanted is not None:
                    wanted.output_with_state(False)
        if row is not None and self._settle_us:
            settle(self._settle_us)

    def read(self) -> int:
        """All columns of the selected row, one after the other, bit `column` set where a contact is closed.

        Raises PartError.
        """
        if not self._devices:
            raise PartError("the matrix is closed")
        with _named("the columns cannot be read"):
            return sum([bit for bit, device in self._columns if device.is_active])

    def close(self) -> None:
        """Let every row float and give the pins back. May be called twice. Raises PartError."""
        devices, self._devices, self._selected = self._devices, [], None
        with _named("the matrix does not close"):
            for device in devices:
                device.close()


def _spelled(pin: Pin) -> str:
    """A pin as gpiozero knows it. Raises PartError for a line that is no pin of a Pi."""
    if pin.bcm is None:
        raise PartError(f"{pin} is no pin of a Pi's header, and gpiozero knows no other: use matrix.driver = 'gpiod'")
    return f"GPIO{pin.bcm}"


@contextmanager
def _named(what: str) -> Iterator[None]:
    """Whatever a pin factory raises is a part that fails."""
    try:
        yield
    except PartError:
        raise
    except Exception as fault:
        raise PartError(f"{what}: {fault}; `gpioinfo` shows who has which line") from fault
