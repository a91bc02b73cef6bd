"""A simulated board on a workbench, wrongly wired if so wished, with a simulated person at it, in virtual time."""

from __future__ import annotations

from collections.abc import Callable

from hal.guide import Ask
from hal.ports import Leds, Lines
from hal.profile import Profile
from hal.selftest_report import Rung
from hal.ws2812 import Ws2812Leds
from sim.clock import VirtualClock
from sim.contacts import Contacts
from sim.faults import HEALTHY, Faults
from sim.miswiring import AS_SAID, Copper, Miswiring, chain_of
from sim.strip import Strip
from sim.tester import Tester


class Workbench:
    """Implements `firmware.station.Station`. `strip`: what a person sees, whatever the profile believes.

    `lines_as`, `leds_as`: put a driver of its own between, for drivers that are wrong.
    """

    rung: Rung = "simulated"
    scan_us = 500
    person, exchanges, who = False, True, ""

    def __init__(
        self,
        profile: Profile,
        faults: Faults = HEALTHY,
        wrong: Miswiring = AS_SAID,
        *,
        seed: int = 0,
        lines_as: Callable[[Lines], Lines] = lambda lines: lines,
        leds_as: Callable[[Leds], Leds] = lambda leds: leds,
    ) -> None:
        self._profile, self._faults, self._wrong, self._seed = profile, faults, wrong, seed
        self._lines_as, self._leds_as = lines_as, leds_as
        self.clock = VirtualClock()
        self.contacts = Contacts(profile.cells, faults, seed)
        leds = profile.leds
        chain = chain_of(profile, wrong)
        edges = range(profile.cells, profile.led_count - profile.cells * (leds.per_cell - 1))
        self.strip = Strip(
            [cell for cell in chain for _ in range(leds.per_cell)] + list(edges),
            order=wrong.colours or leds.colour_order,
            spi_hz=leds.spi_hz,
            faults=faults,
            seed=seed,
        )
        self._tester = Tester(self.contacts, self._seen, profile.board.columns, seed)

    def lines(self, profile: Profile, *, exchanged: bool) -> Lines:  # noqa: ARG002 - the copper is what it is
        """The lines of the copper."""
        copper = Copper(self._profile, self.contacts, self.clock, self._wrong, self._faults, exchanged=exchanged)
        return self._lines_as(copper)

    def leds(self, profile: Profile) -> Leds:
        """The chain, dark."""
        leds = profile.leds
        driver = Ws2812Leds(self._transfer, profile.led_count, leds.spi_hz, idles_high=leds.line_idles == "high")
        return self._leds_as(driver.blank())

    def supply(self) -> None:
        """Nobody knows."""

    def now_us(self) -> int:
        """Virtual time."""
        return self.clock.now_us()

    def wait_until(self, t_us: int) -> None:
        """Let virtual time pass."""
        self.clock.advance_to(max(t_us, self.clock.now_us()))

    def lit_us(self) -> int | None:
        """When the strip will have latched; None where nothing is on its way."""
        return self.strip.due_us

    def typed(self, ask: Ask) -> str | None:
        """What the person types, who also moves now."""
        return self._tester.step(self.clock.now_us(), ask)

    def told(self) -> None:
        """Nothing but what is scanned."""

    def close(self) -> None:
        """Nothing is held."""

    def _transfer(self, data: bytes) -> None:
        self.strip.transfer(data, self.clock.now_us())

    def _seen(self) -> bytes:
        """The light of the cells."""
        self.strip.settle(self.clock.now_us())
        frame = bytearray(self.strip.latched.frame[: 3 * self._profile.cells])
        if shift := self._wrong.shift:
            chain = chain_of(self._profile, self._wrong)
            late = bytearray(len(frame))
            for led, cell in enumerate(chain[shift:]):
                before = chain[led]
                late[3 * cell : 3 * cell + 3] = frame[3 * before : 3 * before + 3]
            frame = late
        for cell in self._wrong.dark:
            frame[3 * cell : 3 * cell + 3] = bytes(3)
        return bytes(frame)
