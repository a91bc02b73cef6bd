"""A board on a Raspberry Pi Pico, at the end of its USB cable: scans 1000 times a second, lights, and talks.

What it says and hears is hal/link_device.py, the same file as on the host; your wiring is in config.py.
"""

import micropython

micropython.kbd_intr(-1)  # from here on every byte is the host's: a Ctrl-C among them must not end this

import gc
import os
import time

import config
import machine
import parts

from hal import link
from hal.debounce import Debounce
from hal.link_device import Device
from hal.matrix import Scanner

FIRMWARE = "morbak-board pico 1"
# A frame of 49 LEDs at 60 a second is 10 bytes a scan.
BYTES_A_SCAN = 32
LEAST_FREE_BYTES = 40_000
RESETS = {machine.PWRON_RESET: 1, machine.WDT_RESET: 2}


def about():
    """What this board is."""
    unique = "".join("%02X" % byte for byte in machine.unique_id())  # noqa: UP031
    return link.Welcome(
        link.VERSION, len(config.ROWS), len(config.COLUMNS), 0, 0, link.DIODES if config.DIODES else 0,
        RESETS.get(machine.reset_cause(), 0), int.from_bytes(os.urandom(4), "little"), config.COLOUR_ORDER.encode(),
        config.SCAN_HZ, max(config.PRESS_US, config.RELEASE_US), config.SUPPLY_MA, config.IDLE_UA, config.RED_UA,
        config.GREEN_UA, config.BLUE_UA, config.NAME, FIRMWARE, unique, config.CHAIN,
    )  # fmt: skip


class Board:
    """The parts of this board, and its side of the link."""

    def __init__(self):
        self._chain, self._port = parts.Chain(config.LEDS), parts.Port()
        lines = parts.Lines(config.ROWS, config.COLUMNS, config.SETTLE_US)
        self._scanner = Scanner(lines, len(config.ROWS), len(config.COLUMNS), diodes=config.DIODES)
        self._debounce = Debounce(config.PRESS_US, config.RELEASE_US)
        what = about()
        self.device = Device(what, 3 * len(what.lights) + 64)
        self._mask = 0
        self._lit = self.device.lit
        self._chain.write(self._lit)

    def step(self, now_us):
        """Scan once; take what the host says, say what it must know, light what it wants."""
        device, debounce = self.device, self._debounce
        mask, ghosts = self._scanner.step(debounce.accepted)
        edges = debounce.step(now_us, mask)
        if mask != self._mask or edges:
            device.bounces += _count(mask ^ self._mask) - len(edges)
            self._mask = mask
        device.scanned(debounce.known_us(now_us), edges, ghosts)
        data = self._port.read(BYTES_A_SCAN)
        if data:
            device.feed(data, now_us)
        out = device.poll(now_us)
        if out:
            self._port.write(out)
        if device.lit is not self._lit:
            self._lit = device.lit
            self._chain.write(self._lit)


class Clock:
    """Microseconds since the start; those of the chip alone go round every 18 minutes."""

    def __init__(self):
        self._ticks, self._now_us = time.ticks_us(), 0

    def now_us(self):
        """To be called once in 9 minutes at least."""
        ticks = time.ticks_us()
        self._now_us += time.ticks_diff(ticks, self._ticks)
        self._ticks = ticks
        return self._now_us


def run():
    """Be a board, for ever; a loop that stands still is ended by the watchdog."""
    board, clock, period_us = Board(), Clock(), 1_000_000 // config.SCAN_HZ
    watchdog = machine.WDT(timeout=config.WATCHDOG_MS) if config.WATCHDOG_MS else None
    due_us = 0
    while True:
        now_us = clock.now_us()
        while now_us < due_us:
            now_us = clock.now_us()
        if now_us - due_us > period_us:
            board.device.overruns += 1
            due_us = now_us
        due_us += period_us
        board.step(now_us)
        if watchdog is not None:
            watchdog.feed()
        if gc.mem_free() < LEAST_FREE_BYTES:
            gc.collect()


def _count(mask):
    found = 0
    while mask:
        mask &= mask - 1
        found += 1
    return found


run()
