"""A simulated board at the far end of a cable, with its contacts and strip at hand; what it may be told as a test
board it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hal import link
from hal.device_board import DeviceBoard, about
from hal.ports import Clock
from hal.profile import Profile
from sim.board import SimBoard
from sim.faults import HEALTHY, Faults

FIRMWARE = "morbak-board simulator"


class SimDevice:
    """A simulated `board` whose wires a `DeviceBoard` drives; implements `sim.cable.Peer`."""

    def __init__(
        self,
        profile: Profile,
        clock: Clock,
        *,
        faults: Faults = HEALTHY,
        seed: int = 0,
        test: bool = True,
        unique: str = "sim",
        pause: Callable[[int], None] | None = None,
    ) -> None:
        self.board = SimBoard(profile, clock, faults=faults, seed=seed, pause=pause)
        self._profile, self._faults, self._test, self._unique = profile, faults, test, unique
        self._boot = seed << 8 & 0xFFFFFFFF
        self._pressed = 0
        self.restart("power on")

    def restart(self, why: str = "program") -> None:
        """Begin anew, as after power-up or the watchdog; the contacts stay as they are."""
        self._boot += 1
        reset = link.RESETS.index(why)
        what = about(
            self._profile, firmware=FIRMWARE, unique=self._unique, boot=self._boot, reset=reset, test=self._test
        )
        self._far = DeviceBoard(self._profile, self.board.lines, self.board.leds, what)

    @property
    def stats(self) -> link.Stats:
        """How the board has been doing since it started."""
        return self._far.device.stats()

    @property
    def period_us(self) -> int:
        """When to scan next, after the last scan."""
        return self._far.period_us

    def step(self, t_us: int, data: bytes) -> bytes:
        """One scan at `t_us`."""
        out = self._far.step(t_us, data)
        tests, self._far.device.tests = self._far.device.tests, []
        for what, argument in tests:
            self._do(what, argument, t_us)
        return out

    def close(self) -> None:
        """Leave the LEDs dark."""
        self.board.close()

    def _do(self, what: int, argument: int, t_us: int) -> None:
        if what == link.CONTACTS:
            for cell in range(self._profile.cells):
                down = bool(argument >> cell & 1)
                if down != bool(self._pressed >> cell & 1):
                    move = self.board.contacts.hold if down else self.board.contacts.let_go
                    move("link", cell, t_us)
            self._pressed = argument
        elif what in (link.STUCK, link.DEAD):
            cells = frozenset(cell for cell in range(self._profile.cells) if argument >> cell & 1)
            if what == link.STUCK:
                self._faults = replace(self._faults, stuck=cells, dead=self._faults.dead - cells)
            else:
                self._faults = replace(self._faults, dead=cells, stuck=self._faults.stuck - cells)
            self.board.change(self._faults)
        elif what == link.RESTART:
            self.restart()
        elif what == link.READ:
            self.board.strip.settle(t_us)
            self._far.device.say_shown(self.board.strip.latched.frame)
