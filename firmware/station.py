"""Where a board is tested: its lines and LEDs, a clock, whoever sits there; and the loop that leads them through.

The loop scans as often as it can, shows what the guide wants and hands in what is typed. A real board is opened by
its drivers and answered by the terminal; a simulated one comes from `sim.workbench`.
"""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

from firmware.app import RealClock
from hal import drivers
from hal.board import MatrixBoard
from hal.errors import PartError
from hal.guide import Ask, Guide
from hal.link import Stats
from hal.matrix import Scanner
from hal.ports import Leds, Lines
from hal.profile import Profile
from hal.selftest_report import Rung
from hal.supply import Supply

# While the current limit lets light rise it is sent again, 60 times a second as in play.
FRAME_US = 16_667

Result = TypeVar("Result")


class Station(Protocol):
    """A board to be tested, and somebody at it. `rung`: on what it stands; `scan_us`: how often it can be scanned.

    `person`: whether people are asked; `exchanges`: whether rows and columns can change places; `who`: who a
    board at a cable says it is.
    """

    person: bool
    exchanges: bool
    who: str

    @property
    def rung(self) -> Rung: ...

    @property
    def scan_us(self) -> int: ...

    def lines(self, profile: Profile, *, exchanged: bool) -> Lines:
        """The lines, by a profile whose rows and columns have changed places if `exchanged`. Raises PartError."""

    def leds(self, profile: Profile) -> Leds:
        """The LEDs, dark. Raises PartError."""

    def supply(self) -> Supply | None:
        """Who knows whether the supply's voltage sags."""

    def now_us(self) -> int:
        """The time."""

    def wait_until(self, t_us: int) -> None:
        """Let time pass."""

    def lit_us(self) -> int | None:
        """When the frame that was written last shows; None as long as that is not known."""

    def typed(self, ask: Ask) -> str | None:
        """A line that was typed since the last look, if there was one."""

    def told(self) -> Stats | None:
        """What a board at a cable has counted."""

    def close(self) -> None:
        """Let the board go."""


class RealStation:
    """The board of this machine, and whoever sits at its terminal; implements `Station`."""

    rung: Rung = "real"
    scan_us = 500
    person = exchanges = True
    who = ""

    def __init__(self) -> None:
        self.now_us = RealClock().now_us
        self._heard = sys.stdin is not None

    def lines(self, profile: Profile, *, exchanged: bool) -> Lines:  # noqa: ARG002 - the profile says it already
        """The lines by the profile's driver. Raises PartError."""
        return drivers.open_lines(profile)

    def leds(self, profile: Profile) -> Leds:
        """The LEDs by the profile's driver. Raises PartError."""
        return drivers.open_leds(profile)

    def supply(self) -> Supply:
        """What this machine knows of its voltage."""
        return Supply()

    def wait_until(self, t_us: int) -> None:
        """Sleep, if there is time left."""
        left_us = t_us - self.now_us()
        if left_us > 0:
            time.sleep(left_us / 1e6)

    def lit_us(self) -> int:
        """When the driver has written; what the LEDs need after that cannot be known."""
        return self.now_us()

    def typed(self, ask: Ask) -> str | None:  # noqa: ARG002
        """A line of the terminal; never waits for one."""
        if not self._heard or not select.select([sys.stdin], [], [], 0)[0]:
            return None
        line = sys.stdin.readline()
        self._heard = bool(line)
        return line.rstrip("\n") if line else None

    def told(self) -> Stats | None:
        """Nothing: this machine scans by itself."""
        return None

    def close(self) -> None:
        """Nothing is held."""


class Sat(NamedTuple):
    """How a walk went: how often the board was really scanned, at the latest, and whether its supply held."""

    scan_us: int
    late_us: int
    supply: bool | None


def sit(
    guide: Guide[Result],
    station: Station,
    light: Profile,
    parts: tuple[Lines, Leds],
    turned: tuple[int, ...] | None,
    say: Callable[[str], None],
    scan_us: int,
) -> Sat:
    """Lead somebody through a guide, to its end. Raises PartError for a part that does not answer.

    `light`: by which frames become the chain's bytes; `turned`: the cell at each place, None to see places;
    `scan_us`: how often to scan.
    """
    board = MatrixBoard(light, *parts, station.supply())
    scanner = Scanner(parts[0], *light.board.wired, diodes=True, turned=turned)
    asked: Ask | None = None
    sent, sent_us, scans, holds, dark = b"", 0, 0, True, False
    start_us = last_us = station.now_us()
    late_us = 0
    while (ask := guide.ask) is not None:
        if ask is not asked:
            asked = ask
            say(ask.text)
        t_us = station.now_us()
        guide.step(t_us, scanner.step(0)[0])
        scans, late_us, last_us = scans + 1, max(late_us, t_us - last_us), t_us
        if guide.ask is not ask:
            continue
        if guide.show != sent or (board.dimmed and t_us - sent_us >= FRAME_US):
            sent, sent_us = guide.show, t_us
            if not board.show(sent, t_us):
                raise PartError(board.health()["leds"].text)
            dark = True
            holds = holds and board.health()["power"].ok if "power" in board.health() else holds
        if dark and (lit_us := station.lit_us()) is not None:
            dark = False
            guide.lit(lit_us)
        if (line := station.typed(ask)) is not None:
            guide.typed(line)
        station.wait_until(t_us + scan_us)
    known = "power" in board.health()
    return Sat(round((station.now_us() - start_us) / max(scans, 1)), late_us, holds if known else None)
