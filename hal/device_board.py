"""A matrix and an LED chain at the far end of a cable: the board's side of the link on any `Lines` and `Leds`. Pure.

What a microcontroller does in `hal/pico`, for a Pi with a profile and for the simulator.
"""

from __future__ import annotations

from hal import link
from hal.debounce import Debounce
from hal.errors import PartError
from hal.link import Welcome
from hal.link_device import Device
from hal.matrix import Scanner
from hal.ports import Leds, Lines
from hal.profile import Profile


def about(profile: Profile, *, firmware: str, unique: str, boot: int, reset: int = 0, test: bool = False) -> Welcome:
    """What a board with this profile says of itself. `test`: it may be told to press its own cells."""
    board, matrix, power = profile.board, profile.matrix, profile.power
    idle_ua, red_ua, green_ua, blue_ua = (
        -(-ua * power.model_scale_pct // 100) for ua in (power.idle_ua, *power.channel_ua)
    )
    return Welcome(
        version=link.VERSION,
        rows=board.rows,
        columns=board.columns,
        strip_a=profile.edge_strips.a,
        strip_b=profile.edge_strips.b,
        flags=(link.TEST_BOARD if test else 0) | (link.DIODES if matrix.diodes else 0),
        reset=reset,
        boot=boot,
        colour_order=profile.leds.colour_order.encode(),
        scan_hz=matrix.scan_hz,
        lag_us=max(matrix.press_us, matrix.release_us),
        supply_ma=power.budget_ua // 1000,
        idle_ua=idle_ua,
        red_ua=red_ua,
        green_ua=green_ua,
        blue_ua=blue_ua,
        name=board.name,
        firmware=firmware,
        unique=unique,
        lights=profile.lights,
    )


class DeviceBoard:
    """Scans, debounces and lights for a host; `device` is its side of the link, `period_us` when to scan next.

    A part that fails is told to the host and tried again. For `deaf_us` from the first scan that succeeds contacts
    are read, but count for nothing.
    """

    def __init__(self, profile: Profile, lines: Lines, leds: Leds, what: Welcome, *, deaf_us: int = 0) -> None:
        self.device = Device(what)
        matrix = profile.matrix
        self._leds = leds
        self._scanner = Scanner(lines, *profile.board.wired, diodes=matrix.diodes, turned=profile.turned)
        self._debounce = Debounce(matrix.press_us, matrix.release_us)
        self._busy_us, self._idle_us = matrix.scan_period_us, matrix.idle_period_us
        self.period_us = self._busy_us
        self._deaf_us, self._hears_us = deaf_us, None if deaf_us else 0
        self._lit = b""
        self._due_us: int | None = None
        self._mask = 0

    def step(self, t_us: int, data: bytes) -> bytes:
        """One scan at `t_us`, with what the host has sent since the last; returns what it is to be sent."""
        device = self.device
        device.feed(data, t_us)
        if self._due_us is not None and t_us - self._due_us > self.period_us:
            device.overruns += 1
        self._scan(t_us)
        self._due_us = t_us + self.period_us
        out = device.poll(t_us)
        if device.lit != self._lit or device.leds_fail:
            self._light(device.lit)
        return out

    def _scan(self, t_us: int) -> None:
        try:
            mask, ghosts = self._scanner.step(self._debounce.accepted)
        except PartError:
            self.device.contacts_fail = True
            return
        self.device.contacts_fail = False
        if self._hears_us is None:
            self._hears_us = t_us + self._deaf_us
        if t_us < self._hears_us:
            return
        edges = self._debounce.step(t_us, mask)
        self.device.bounces += (mask ^ self._mask).bit_count() - len(edges)
        self._mask = mask
        self.period_us = self._busy_us if mask or ghosts or self._debounce.accepted else self._idle_us
        self.device.scanned(self._debounce.known_us(t_us), edges, ghosts)

    def _light(self, frame: bytes) -> None:
        try:
            self._leds.write(frame)
        except PartError:
            self.device.leds_fail = True
        else:
            self.device.leds_fail, self._lit = False, frame
