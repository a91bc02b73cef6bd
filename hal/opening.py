"""A board opened on its real parts, by what its profile says."""

from __future__ import annotations

from hal import drivers
from hal.board import DEAF_US, MatrixBoard
from hal.drivers import gpiozero_parts
from hal.errors import PartError
from hal.ports import Leds
from hal.profile import Profile
from hal.supply import Supply


def open_board(profile: Profile) -> MatrixBoard:
    """The board of a profile, at rest and dark. Raises PartError, one sentence that says what to do."""
    lines = drivers.open_lines(profile)
    try:
        leds = drivers.open_leds(profile)
    except BaseException:
        lines.close()
        raise
    buttons, sounder = gpiozero_parts.open_buttons(profile), gpiozero_parts.open_sounder(profile)
    return MatrixBoard(profile, lines, leds, Supply(), buttons, sounder, deaf_us=DEAF_US)


def open_lights(profile: Profile) -> MatrixBoard:
    """The LEDs of a profile without its contacts, for a board that only shows. Raises nothing: see its health."""
    leds: Leds
    try:
        leds = drivers.open_leds(profile)
    except PartError as fault:
        leds = _Absent(fault)
    return MatrixBoard(profile, _Untouched(), leds, Supply())


class _Untouched:
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
