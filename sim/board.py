"""The simulated board: the real matrix board on simulated copper and light, with both to hold it by."""

from __future__ import annotations

from collections.abc import Callable

from hal.board import MatrixBoard
from hal.ports import Clock
from hal.profile import Profile
from hal.ws2812 import Ws2812Leds
from sim.contacts import Contacts, SimLines
from sim.faults import HEALTHY, Faults
from sim.strip import Strip


class SimBoard(MatrixBoard):
    """A `MatrixBoard` whose contacts and strip are at hand: press `contacts`, look at `strip`.

    `lines` and `leds` are its wires, for who drives them in its place.

    `faults.diodes` changes the copper alone: the firmware goes on believing its profile. `pause` blocks for so many
    microseconds while a frame is on the wire, as a write to a bus does; without it a write returns at once and
    whoever moves `clock` keeps to `strip.busy_until_us`.
    """

    def __init__(
        self,
        profile: Profile,
        clock: Clock,
        *,
        faults: Faults = HEALTHY,
        seed: int = 0,
        pause: Callable[[int], None] | None = None,
    ) -> None:
        leds = profile.leds
        self.contacts = Contacts(profile.cells, faults, seed)
        self.strip = Strip(profile.lights, order=leds.colour_order, spi_hz=leds.spi_hz, faults=faults, seed=seed)
        self._clock, self._pause = clock, pause
        self._diodes = profile.matrix.diodes
        self.lines = SimLines(
            self.contacts,
            clock,
            *profile.board.wired,
            turned=profile.turned,
            diodes=self._diodes if faults.diodes is None else faults.diodes,
            wait_us=profile.matrix.settle_us,
            faults=faults,
            seed=seed,
        )
        idles_high = leds.line_idles == "high"
        self.leds = Ws2812Leds(self._transfer, profile.led_count, leds.spi_hz, idles_high=idles_high)
        super().__init__(profile, self.lines, self.leds)

    def change(self, faults: Faults) -> None:
        """Let the board have other faults from now on; of the strip only whether it answers changes."""
        self.contacts.change(faults)
        self.lines.change(faults, diodes=self._diodes if faults.diodes is None else faults.diodes)
        self.strip.change(faults)

    def wire(self) -> bytes:
        """What the strip decoded from its wire and shows now: RGB in cell order, linear wire values."""
        self.strip.settle(self._clock.now_us())
        return self.strip.latched.frame[: 3 * self._profile.cells]

    def _transfer(self, data: bytes) -> None:
        """Write to the simulated bus, for as long as that takes."""
        start_us = self._clock.now_us()
        self.strip.transfer(data, start_us)
        if self._pause is not None:
            self._pause(self.strip.busy_until_us - start_us)
            self.strip.settle(self._clock.now_us())
