"""The test's end of the wires, inside the virtual Pi.

`run` puts this file on PYTHONPATH. The firmware must not import it: it has /dev/gpiochip0, /dev/spidev0.0,
/dev/leds0 and /dev/ttyACM0, as on a Pi.
"""

from __future__ import annotations

import os
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

BOARD = Path("/sys/kernel/debug/board-sim")
PARAMETERS = Path("/sys/module/board_sim/parameters")
CHIP = "/dev/gpiochip0"

T = TypeVar("T")


def get(name: str) -> int:
    """A knob, counter or level mask of the board: see README.md for the list."""
    return int((BOARD / name).read_text(), 0)


def put(name: str, value: int) -> None:
    """Set a knob, or start a counter over."""
    (BOARD / name).write_text(hex(value))


def lines(which: str) -> list[int]:
    """GPIO lines of the matrix, `which` being "rows" or "cols"."""
    return [int(line) for line in (PARAMETERS / which).read_text().split(",")]


def keys(*cells: tuple[int, int]) -> int:
    """Mask of (row, column) cells, for the knobs pressed, stuck and dead."""
    return sum(1 << (row * len(lines("cols")) + column) for row, column in set(cells))


def press(*cells: tuple[int, int]) -> int:
    """Close exactly these contacts; none opens all. Returns the instant, monotonic ns."""
    put("pressed", keys(*cells))
    return get("pressed_ns")


class Frame(NamedTuple):
    """One frame on a bus: `ns` is the monotonic time when its last bit left, `length` what was sent.

    `data` holds the first 16384 bytes of it.
    """

    number: int
    ns: int
    speed_hz: int
    length: int
    data: bytes


def frames(bus: str) -> list[Frame]:
    """The last 64 frames of "spi" or "leds", oldest first."""
    rows = [line.split() for line in (BOARD / bus / "log").read_text().splitlines()]
    return [
        Frame(int(n), int(ns), int(hz), int(length), bytes.fromhex("".join(data))) for n, ns, hz, length, *data in rows
    ]


def until(condition: Callable[[], T], seconds: float = 5, step_s: float = 0.005) -> T:
    """The first true value of `condition()`; TimeoutError if there is none in time."""
    end_s = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end_s:
            raise TimeoutError(f"still {value!r} after {seconds:g} s")
        time.sleep(step_s)
    return value


def tell(line: str) -> None:
    """Say a line outside, as a light says it to whoever looks: once this returns, no power cut can take it back.

    Standard output goes through pipes and may lose its last lines in a cut.
    """
    fd = os.open("/dev/ttyS0", os.O_WRONLY | os.O_NOCTTY)
    try:
        os.write(fd, f"{line}\n".encode())
        termios.tcdrain(fd)
    finally:
        os.close(fd)


class UsbSerial:
    """A USB serial board on the virtual Pi's port: the host side is /dev/ttyACMn, ours is /dev/ttyGS0."""

    def __init__(self, vendor: int = 0x2E8A, product: int = 0x0005, serial: str = "E6614", name: str = "Board") -> None:
        self.gadget = Path("/sys/kernel/config/usb_gadget/board")
        for folder in ("strings/0x409", "configs/c.1", "functions/acm.0"):
            (self.gadget / folder).mkdir(parents=True, exist_ok=True)
        (self.gadget / "idVendor").write_text(hex(vendor))
        (self.gadget / "idProduct").write_text(hex(product))
        (self.gadget / "strings/0x409/serialnumber").write_text(serial)
        (self.gadget / "strings/0x409/product").write_text(name)
        (self.gadget / "configs/c.1/acm.0").symlink_to(self.gadget / "functions/acm.0")

    def plug(self) -> None:
        """Put the cable in."""
        (self.gadget / "UDC").write_text(os.listdir("/sys/class/udc")[0])

    def unplug(self) -> None:
        """Pull the cable out."""
        (self.gadget / "UDC").write_text("\n")
