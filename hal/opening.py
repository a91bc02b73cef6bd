"""A board opened on its real parts, by what its profile says."""

from __future__ import annotations

from hal import drivers
from hal.board import DEAF_US, MatrixBoard
from hal.drivers import gpiozero_parts
from hal.errors import PartError
from hal.link_profile import DRIVER as SERIAL
from hal.ports import Board, Leds
from hal.profile import Profile
from hal.supply import Supply


def open_board(profile: Profile) -> Board:
    """The board of a profile, at rest and dark. Raises PartError, one sentence that says what to do."""
    if profile.matrix.driver == SERIAL:
        from hal.drivers import serial_board  # which puts its light together as this file does

        return serial_board.open_board(serial_board.place(profile.file))
    lines = drivers.open_lines(profile)
    try:
        leds = drivers.open_leds(profile)
    except BaseException:
        lines.close()
        raise
    buttons, sounder = gpiozero_parts.open_buttons(profile), gpiozero_parts.open_sounder(profile)
    return MatrixBoard(profile, lines, leds, Supply(), buttons, sounder, deaf_us=DEAF_US)


def open_lights(profile: Profile) -> Board:
    """The LEDs of a profile without its contacts, for a board that only shows. Raises nothing: see its health.

    A board at the end of a cable has its contacts too.
    """
    leds: Leds
    try:
        if profile.matrix.driver == SERIAL:
            return open_board(profile)
        leds = drivers.open_leds(profile)
    except PartError as fault:
        leds = _Absent(fault)
    return MatrixBoard(profile, Untouched(), leds, Supply())


class Untouched:
    """Contacts that are left alone; implements `Lines`."""

    def select(self, row: int | None) -> None:
        """Nothing is driven."""

    def read(self) -> int:
        """Nothing is touched."""
        return 0

    def close(self) -> None:
        """Nothing is held."""


class _Absent:
    """LEDs that could not be opened; implements `Leds`."""

    def __init__(self, fault: PartError) -> None:
        self._fault = fault

    def write(self, frame: bytes) -> None:  # noqa: ARG002
        """Raises the PartError that opening them has raised."""
        raise self._fault

    def close(self) -> None:
        """Nothing is lit."""
