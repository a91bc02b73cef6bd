"""A board opened on its real parts, by what its profile says."""

from __future__ import annotations

from hal import drivers
from hal.board import DEAF_US, MatrixBoard
from hal.drivers import gpiozero_parts
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
