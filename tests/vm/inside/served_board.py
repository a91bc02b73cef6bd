"""Runs inside the virtual Pi: `morbak board serve --board reference` makes its GPIO and SPI a board at a port, and a
host plays on that.

Prints as JSON: `edges` as they came when each row was closed, `light` (the frame is on the SPI bus), `dark` (once
serving has ended nothing is lit), `name`, `shorts`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

import vpi
import wired

from hal.drivers.serial_board import SerialBoard, open_board
from hal.ports import Edge
from sim.strip import Strip

PORT = "/root/board"
DEAF_S = 0.7


def now_us() -> int:
    """The time."""
    return time.monotonic_ns() // 1000


def shown() -> bytes:
    """What the last frame on the SPI bus lights."""
    profile, frame = wired.REFERENCE, vpi.frames("spi")[-1]
    strip = Strip(profile.chain, order=profile.leds.colour_order, spi_hz=profile.leds.spi_hz)
    strip.transfer(frame.data, 0)
    strip.settle(strip.busy_until_us + 1_000)
    return bytes(strip.latched.frame)


def scan_for(board: SerialBoard, s: float) -> list[Edge]:
    """What the board says within so long."""
    edges: list[Edge] = []
    end_us = now_us() + int(s * 1e6)
    while now_us() < end_us:
        scan = board.scan(now_us())
        edges += scan.edges
        time.sleep(scan.period_us / 1e6)
    return edges


def main() -> None:
    """Serve, and play on it."""
    command = [sys.executable, "-m", "firmware.cli", "board", "serve", "--board", "reference", "--port", PORT]
    serving = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert serving.stdout is not None
    name = serving.stdout.readline().split(" is at ")[0]
    board = open_board(PORT)
    scan_for(board, DEAF_S)
    edges = []
    for row in range(7):
        vpi.press(*((row, column) for column in range(7)))
        edges += scan_for(board, 0.15)
    vpi.press()
    edges += scan_for(board, 0.15)
    board.show(b"\xff\x80\0" * 49, now_us())
    scan_for(board, 0.15)
    light = shown() == board.wire() and any(shown())
    board.close()
    serving.terminate()
    serving.wait(10)
    moves = sorted((edge.cell, not edge.down) for edge in edges)
    print(
        json.dumps(
            {"edges": moves, "light": light, "dark": not any(shown()), "name": name, "shorts": vpi.get("shorts")}
        )
    )


if __name__ == "__main__":
    main()
