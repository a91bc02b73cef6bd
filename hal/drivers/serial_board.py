"""A board at the end of a cable: implements `Board` over the link, and finds it again after it was pulled out.

Bytes are read and written where a matrix would be scanned, by `scan`, which never waits; so it needs no thread of its
own and plays in virtual time as it does in real time. While the cable is out nothing more is known of the contacts.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable

from hal import link
from hal.board import MatrixBoard
from hal.drivers import serial_port
from hal.drivers.serial_cable import ANEW_US, SEARCH_US, Cable, Ports
from hal.drivers.serial_port import Identity
from hal.errors import PartError
from hal.link_host import Host
from hal.link_profile import plain, profile_of
from hal.link_trouble import PATIENCE_US, Telling
from hal.opening import Untouched
from hal.pixels import Pixels
from hal.ports import Capabilities, Measures, Note, Part, Scan
from hal.profile import Profile

log = logging.getLogger("morbak")

PREFIX = "serial:"
# How often the port is looked at while a cell is down or light is on its way, and while nothing happens.
BUSY_US, IDLE_US = 1_000, 2_500


class LinkLeds:
    """The chain at the far end of a cable; implements `Leds`."""

    def __init__(self, cable: Cable) -> None:
        self._cable = cable

    def write(self, frame: bytes) -> None:
        """Have a frame shown; the latest wins. Raises PartError while the board is away."""
        if not self._cable.host.up:
            raise PartError("the board is not there")
        self._cable.host.frames.wanted = frame

    def close(self) -> None:
        """Nothing: the board goes dark with the good-bye."""


class SerialBoard:
    """Implements `Board`; `profile` is what the board has said of itself."""

    def __init__(self, profile: Profile, cable: Cable, now_us: Callable[[], int]) -> None:
        self.profile = profile
        self._cable, self._host, self._now_us = cable, cable.host, now_us
        self._light = MatrixBoard(profile, Untouched(), LinkLeds(cable))
        self._cells, self._dark = Pixels(profile).cells, bytes(3 * profile.led_count)
        self._unique = self._host.about.unique if self._host.about is not None else ""
        self._stranger = ""
        self._telling = Telling()
        self._busy = threading.Lock()  # one thread at a time is at the cable
        self._allowed_pct: int | None = None
        self._allow()
        self._host.accepts = self._accepts

    @property
    def capabilities(self) -> Capabilities:
        """Geometry and name."""
        return self._light.capabilities

    @property
    def dimmed(self) -> bool:
        """The current limit holds the last frame back, or the board has come back and is still dark."""
        return self._light.dimmed or (self._host.up and not self._host.frames.settled)

    def scan(self, t_us: int) -> Scan:
        """What the board has said by `t_us`. Never raises: a board that is away shows in `health`."""
        with self._busy:
            t_us = self._exchange(t_us)
            heard, host = self._host.take(), self._host
        busy = heard.edges or host.down or heard.ghosts or (host.up and not host.frames.settled)
        self._tell(t_us)
        return Scan(t_us, heard.edges, heard.ghosts, heard.known_us, BUSY_US if busy else IDLE_US)

    def show(self, frame: bytes, t_us: int) -> bool:
        """Put a frame on the LEDs, within the board's current; False while the board is away.

        It leaves at once, also where nobody scans, as in safe mode.
        """
        shown = self._light.show(frame, t_us)
        if self._busy.acquire(blocking=False):  # else the scan that is under way takes it along, or the next one
            try:
                self._exchange(t_us)
            finally:
                self._busy.release()
        return shown

    def tone(self, notes: tuple[Note, ...], volume_pct: int) -> None:
        """Nothing: this version of the link has no sound."""

    def expect(self, stuck: int) -> None:
        """Nothing: the board judges its ghosts by itself."""

    @property
    def brightness_pct(self) -> int:
        """At how much of full all light shows."""
        return self._light.brightness_pct

    def dim(self, brightness_pct: int) -> None:
        """Show all light at `brightness_pct` of full, from the next frame on; the board is told with the next scan."""
        self._light.dim(brightness_pct)

    def wire(self) -> bytes:
        """What the LEDs show, as far as the board has said so."""
        return self._cells(self._host.frames.shown or self._dark)

    def measures(self) -> Measures:
        """What the LEDs ask for, by the model of the current limit."""
        return self._light.measures()

    def health(self) -> dict[str, Part]:
        """The state of `link`, and while that is well of `matrix` and `leds`."""
        if not self._host.telling or self._host.about is None:
            return {"link": Part(False, self._stranger or self._cable.trouble(self._now_us()))}
        report, about = self._host.report, self._host.about
        cells = f"{about.rows} x {about.columns} contacts"
        matrix = Part(True, cells)
        flags, lost = (report.flags, report.lost) if report is not None else (0, 0)
        if flags & link.NO_CONTACTS:
            matrix = Part(False, "the board says that its contacts do not answer; look at its wiring")
        elif lost:
            matrix = Part(False, f"{cells}; {lost} edges were lost: the cable was out of order for too long")
        leds = self._light.health()["leds"]
        if flags & link.NO_LEDS:
            leds = Part(False, "the board says that its LEDs do not answer; look at its wiring")
        who = f"{plain(about.name)} ({plain(about.firmware)}, {plain(about.unique)}) at {self._cable.line.where}"
        return {"link": Part(True, who), "matrix": matrix, "leds": leds}

    def close(self) -> None:
        """Leave the board dark and let the port go. May be called twice."""
        self._cable.close(self._now_us())

    @property
    def about(self) -> link.Welcome:
        """What the board has said of itself."""
        assert self._host.about is not None  # there is no board without
        return self._host.about

    @property
    def where(self) -> str:
        """The port at which it is, or was last."""
        return self._cable.line.where

    @property
    def leds(self) -> LinkLeds:
        """The chain itself, in its own order: for who writes it in place of `show`, and answers for its current."""
        return LinkLeds(self._cable)

    @property
    def settled(self) -> bool:
        """The board has said that it shows what it was sent last."""
        return self._host.up and self._host.frames.settled

    @property
    def stats(self) -> link.Stats | None:
        """How the board has been doing since it started, by its last answer to `ask`; None before."""
        return self._host.stats

    def ask(self) -> None:
        """Ask for `stats`, with the next exchange."""
        self._host.ask()

    def keep_up(self, t_us: int) -> None:
        """Let the cable do what is due while nobody scans; what the board says waits for the next scan."""
        with self._busy:
            self._exchange(t_us)

    def test(self, what: int, argument: int) -> None:
        """Have a test board do something (see `hal.link`), in the order of the calls, each once."""
        self._host.test(what, argument)

    @property
    def tested(self) -> bool:
        """It has done all that it was told to, or was gone meanwhile and will not."""
        return self._host.tested

    def read_back(self) -> bytes | None:
        """What a test board has read back from its chain, told to do so last (`link.READ`); red first, cells first."""
        return self._host.shown

    def _exchange(self, t_us: int) -> int:
        """Let the cable do what is due, and return up to when it has; for who is `_busy`."""
        self._allow()
        return self._cable.step(t_us)

    def _allow(self) -> None:
        """Tell the board its limits, by the profile and the brightness that was chosen."""
        if self._allowed_pct == self.brightness_pct:
            return
        self._allowed_pct = self.brightness_pct
        power = self.profile.power
        by_colour = dict(zip("RGB", power.channel_ua, strict=True))
        first, second, third = (by_colour[colour] for colour in self.profile.leds.colour_order)
        self._host.allow(self.brightness_pct, power.budget_ua, power.idle_ua, (first, second, third))

    def _accepts(self, about: link.Welcome) -> bool:
        """Whether the board that answers can take the place of the one that was there."""
        ours, self._stranger = self.profile, ""
        try:
            other = profile_of(about, self._cable.line.where)
        except PartError as fault:
            self._stranger = str(fault)
            return False
        same = other._replace(file=ours.file, board=ours.board, matrix=ours.matrix) == ours
        if not same or about.unique != self._unique or about[1:3] != (ours.board.rows, ours.board.columns):
            self._stranger = (
                f"{self._cable.line.where}: another board is there now ({other.board.name}, {plain(about.unique)}, "
                f"{about.rows} x {about.columns}, {len(about.lights)} LEDs); plug the first one in, or start anew to "
                "play on this one"
            )
        return not self._stranger

    def _tell(self, t_us: int) -> None:
        """Log when the board comes and goes; of one that does so all the time, not each time."""
        told = "" if self._host.telling else self._stranger or self._cable.trouble(t_us)
        if self._telling.due(told, t_us):
            if told:
                log.warning("%s.", told)
            else:
                log.info("The board is there again: %s.", self._cable.line.where)


def place(board: str) -> str | None:
    """The port that `--board serial:PORT` names, "auto" for whichever has a board; None for other boards."""
    return board.removeprefix(PREFIX) if board.startswith(PREFIX) else None


def ask(board: str) -> Profile:
    """The profile of the board at `serial:PORT`, as it tells it itself. Raises PartError."""
    found = open_board(place(board))
    found.close()
    return found.profile._replace(file=board)


def _now_us() -> int:
    return time.monotonic_ns() // 1000


def open_board(
    where: str | None,
    *,
    now_us: Callable[[], int] = _now_us,
    wait: Callable[[float], None] = time.sleep,
    ports: Ports = serial_port,
) -> SerialBoard:
    """The board at `where`, a port or "auto". Raises PartError, a sentence, when none has answered within seconds."""
    if not where:
        raise PartError("the port of the board is missing: write serial:auto, or serial: and its path")
    cable = Cable(where, Host(int.from_bytes(os.urandom(2), "big")), now_us, ports)
    boards = max(1, len(list(ports.candidates(where, Identity()))))
    end_us = now_us() + boards * (ANEW_US + SEARCH_US)
    while True:
        t_us = now_us()
        cable.step(t_us)
        if cable.host.up and cable.host.about is not None:
            break
        final = cable.line.opened_us is not None and t_us - cable.line.opened_us > PATIENCE_US
        if t_us > end_us or (boards == 1 and (final or cable.host.version is not None)):
            fault = cable.trouble(t_us)
            cable.close(t_us)
            raise PartError(fault)
        wait(IDLE_US / 1e6)
    try:
        board = SerialBoard(profile_of(cable.host.about, cable.line.where), cable, now_us)
        while not cable.host.telling:
            if now_us() - t_us > PATIENCE_US:
                raise PartError(cable.trouble(now_us()))
            wait(IDLE_US / 1e6)
            board.keep_up(now_us())
        return board
    except PartError:
        cable.close(now_us())
        raise
