"""`morbak board serve`: this computer's board, or a simulated one, at the end of a cable for another computer."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from firmware.app import RealClock
from firmware.arguments import group
from firmware.commands_cable import Worn, add_cable, stopping
from hal.drivers import SIMULATED
from hal.profile import Profile, load, shipped

FIRMWARE = "morbak-board"
EXAMPLES = """examples:
  morbak board serve --board sim --port /tmp/board        a simulated board, at a port that is made there
  morbak run --board serial:/tmp/board                    in another terminal: play on it
  morbak board serve --board reference --port /dev/ttyGS0   this Pi's board, for the computer at its USB port
"""


class Peer(Protocol):
    """A board that does what its end of the link asks for, once a scan. `period_us`: when to scan next."""

    @property
    def period_us(self) -> int: ...

    def step(self, t_us: int, data: bytes) -> bytes: ...

    def close(self) -> None: ...


def add_serve(
    parser: argparse.ArgumentParser,
    simulated: Callable[[Profile, str], Peer],
    worn: Callable[[str, str, list[str], int], Worn],
) -> None:
    """`morbak board serve` and `cable`; `simulated` makes a simulated board, with a name of its own, `worn` a cable."""
    commands = group(parser)
    add_cable(commands.add_parser("cable", help="a worn cable between a board and this computer"), worn)
    serve = commands.add_parser("serve", help="be the board at the end of a cable")
    serve.epilog, serve.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    serve.add_argument("--board", default="sim", help="a board that ships, or the path of a profile (default: sim)")
    serve.add_argument("--port", required=True, help="the port; where there is none yet a pseudo terminal is made")
    serve.set_defaults(command=lambda parsed: _serve(parsed, simulated))


def _serve(parsed: argparse.Namespace, simulated: Callable[[Profile, str], Peer]) -> int:
    from hal.drivers.device_port import DevicePort

    profile = load(Path(parsed.board) if parsed.board.endswith(".toml") else shipped(parsed.board))
    stopped = stopping()  # first, so that no signal leaves a name without a port
    port = DevicePort(parsed.port)
    try:
        peer = simulated(profile, parsed.port) if profile.matrix.driver == SIMULATED else _Real(profile)
        print(f"{profile.board.name} is at {parsed.port}; Ctrl-C ends", flush=True)
        now_us = RealClock().now_us
        try:
            while not stopped:
                data = port.read()
                t_us = now_us()  # once they are here: nothing is heard before it was sent
                port.write(peer.step(t_us, data))
                port.wait((t_us + peer.period_us - now_us()) / 1e6)
        finally:
            peer.close()
    finally:
        port.close()
    return 0


class _Real:
    """The board of this machine; implements `Peer`."""

    def __init__(self, profile: Profile) -> None:
        from hal import drivers
        from hal.board import DEAF_US
        from hal.device_board import DeviceBoard, about

        self._lines = drivers.open_lines(profile)
        try:
            self._leds = drivers.open_leds(profile)
        except BaseException:
            self._lines.close()
            raise
        what = about(profile, firmware=FIRMWARE, unique=os.uname().nodename, boot=time.time_ns() & 0xFFFFFFFF)
        self._far = DeviceBoard(profile, self._lines, self._leds, what, deaf_us=DEAF_US)
        self.step = self._far.step

    @property
    def period_us(self) -> int:
        """When to scan next."""
        return self._far.period_us

    def close(self) -> None:
        """Leave the LEDs dark and the lines at rest."""
        try:
            self._leds.close()
        finally:
            self._lines.close()
