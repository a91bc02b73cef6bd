"""The Pico's code on an emulated chip under real MicroPython, and a host at its USB port, both in the chip's time.

The firmware image is named in $MORBAK_PICO_UF2; it is not part of this tree.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from hal.link_host import Host
from hal.ports import Edge

HAL = Path(__file__).parent.parent / "hal"
# What the README of hal/pico has copied to the board.
COPIED = {
    **{f"{name}.py": HAL / f"pico/{name}.py" for name in ("main", "config", "parts")},
    "hal/ports.py": HAL / "pico/ports.py",
    **{f"hal/{name}.py": HAL / f"{name}.py" for name in ("link", "link_device", "debounce", "matrix")},
}
ROWS, COLUMNS, LEDS = range(2, 9), range(9, 16), 16
TICK_NS = 1_000_000
# Blocks of the file system in the flash of a Pico, and the version of littlefs that MicroPython mounts.
BLOCK_BYTES, BLOCKS, VERSION = 4096, 352, 0x00020000
BUDGET = 100, 2_100_000, 1_250, (13_750, 20_000, 18_750)


def image() -> Path | None:
    """MicroPython for a Pico; None where there is none."""
    named = os.environ.get("MORBAK_PICO_UF2")
    return Path(named) if named and Path(named).is_file() else None


class Copper:
    """Rows pull columns low through closed contacts; without diodes, through any path of them."""

    def __init__(self) -> None:
        self.diodes, self._down = True, frozenset[int]()

    def attach(self, chip: Any) -> None:
        self._pins = chip.gpio
        for row in ROWS:
            self._pins[row].add_listener(lambda *_: self._settle())

    def press(self, *cells: int) -> None:
        """Close exactly these contacts."""
        self._down = frozenset(cells)
        self._settle()

    def _settle(self) -> None:
        low = {row for row, pin in enumerate(ROWS) if self._pins[pin].value.name == "LOW"}
        columns: set[int] = set()
        while True:
            before = set(columns)
            columns |= {cell % 7 for cell in self._down if cell // 7 in low}
            if columns == before:
                break
            if not self.diodes:
                low |= {cell // 7 for cell in self._down if cell % 7 in columns}
        for column, pin in enumerate(COLUMNS):
            if column in columns:
                self._pins[pin].set_input_value(False)
            else:
                self._pins[pin].release_input()


class PicoRig:
    """An emulated Pico with its matrix and strip, and a `host`; `edges`: all that has been heard.

    To be used as `async with`; time passes in `until` and is the chip's.
    """

    def __init__(self, folder: Path, config: str = "") -> None:
        """`config`: lines that are added to config.py."""
        from rp2040py.boards import BOARDS, resolve_firmware
        from rp2040py.device import MicroPythonDevice
        from rp2040py.external.ws2812 import Ws2812

        spec = resolve_firmware(BOARDS["pico"], "micropython", str(image()))
        self.copper, self.strip = Copper(), Ws2812(LEDS)
        wired = (lambda: self.copper, lambda: self.strip)
        self._device = MicroPythonDevice(
            board=dataclasses.replace(spec, extras=(*spec.extras, *wired)), filesystem=str(_files(folder, config))
        )
        self.host = Host(1)
        self.host.allow(*BUDGET)
        self.edges: list[Edge] = []
        self.seen = b""
        self._out = self._in = b""
        self._host_polls = True
        self._clock = self._device.simulator.clock
        self._alarm = self._clock.create_alarm(self._tick)
        self._device.cdc.on_serial_data = self._hear

    @property
    def now_us(self) -> int:
        return int(self._clock.nanos / 1000)

    async def __aenter__(self) -> PicoRig:
        await self._device.astart()
        self.host.open(self.now_us)
        self._alarm.schedule(TICK_NS)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._device.stop()

    async def until(self, true: Callable[[], object], chip_ms: int) -> None:
        """Let time pass until something is so. Raises AssertionError after so long of the chip's time."""
        end_us = self.now_us + 1000 * chip_ms
        while not true():
            assert self.now_us < end_us, f"not so after {chip_ms} ms; the board has said {self.seen[-200:]!r}"
            await asyncio.sleep(0.01)

    def pixels(self) -> list[tuple[int, ...]]:
        """What the strip shows, red first."""
        return [tuple(pixel) for pixel in self.strip.pixels]

    def hand_over(self) -> None:
        """From now on `host` is nobody: whoever wants it has the port, by `heard` and `say`."""
        self._host_polls = False

    def heard(self) -> bytes:
        """What the board has said since it was asked last."""
        said, self._in = self._in, b""
        return said

    def say(self, data: bytes) -> None:
        """Send to the board as it takes it."""
        self._out += data

    def _hear(self, data: bytes) -> None:
        self.seen = (self.seen + bytes(data))[-4000:]
        if not self._host_polls:
            self._in += bytes(data)
            return
        self.host.feed(bytes(data), self.now_us)
        self.edges += self.host.take().edges

    def _tick(self) -> None:
        self._alarm.schedule(TICK_NS)
        if self._host_polls:
            self._out += self.host.poll(self.now_us)
        fifo = self._device.cdc.tx_fifo
        while self._out and fifo.item_count < fifo.size:
            self._device.cdc.send_serial_byte(self._out[0])
            self._out = self._out[1:]


def _files(folder: Path, config: str) -> Path:
    """The board's file system, with what is copied to it."""
    from littlefs import LittleFS

    flash = LittleFS(block_size=BLOCK_BYTES, block_count=BLOCKS, disk_version=VERSION)
    flash.makedirs("hal")
    for name, source in COPIED.items():
        with flash.open(name, "wb") as file:
            file.write(source.read_bytes() + (config.encode() if name == "config.py" else b""))
    made = folder / "flash"
    made.write_bytes(bytes(flash.context.buffer))
    return made


def moves(edges: Iterable[Edge]) -> list[tuple[int, bool]]:
    return [(edge.cell, edge.down) for edge in edges]
