"""The small process that owns the LEDs for rpi_ws281x: frames come in by a pipe, a word goes out for each.

`python -m hal.drivers.rpi_ws281x_helper COUNT PIN CHANNEL DMA`. The library needs root, holds the interpreter's lock
while it draws, and may crash at exit (case A28): all of that stays in here. It is initialised once in the life of a
process (case A27), never scales brightness (case A31), and the chain is dark before the first frame and after the
last, however the end comes: end of the pipe, SIGTERM, SIGHUP.

In: 3 bytes an LED, as they go on the wire. Out, a line each: `ready`, `ok` for a frame, `dark` at the end,
`failed CODE TEXT`; a code of 0 is none of the library's.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from typing import Any

FREQUENCY_HZ = 800_000
# Brightness 255 is none: the library multiplies by (255 + 1) / 256.
NO_BRIGHTNESS = 255
# The strip type of lib/ws2811.h that sends bytes as they are given; colour order is the profile's, applied before.
AS_GIVEN = 0x0010_0800
ARGUMENTS = 4


class Ended(Exception):
    """The pipe ended, or somebody asked for the end."""


def main(arguments: list[str]) -> int:
    """Draw frames until the end. Exit status 0 when the chain is dark, 1 when it could not be driven."""
    if len(arguments) != ARGUMENTS:
        say(f"failed 0 the helper takes {ARGUMENTS} numbers: COUNT PIN CHANNEL DMA")
        return 1
    count, pin, channel, dma = map(int, arguments)
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the board too, which ends this in its own order
    try:
        strip = begun(count, pin, channel, dma)
    except Ended:
        return 0
    if strip is None:
        return 1
    return draw(strip, count)


def _end(*_: object) -> None:
    """Leave the loop once; what makes the chain dark must not be interrupted again."""
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    raise Ended


def begun(count: int, pin: int, channel: int, dma: int) -> Any:
    """The library's strip, initialised; None, and the reason said, where it cannot be."""
    try:
        from rpi_ws281x import PixelStrip
    except ImportError as fault:
        say(f"failed 0 the module rpi_ws281x is missing ({fault})")
        return None
    try:
        strip = PixelStrip(count, pin, FREQUENCY_HZ, dma, False, NO_BRIGHTNESS, channel, AS_GIVEN)
        strip.begin()
    except (RuntimeError, ValueError) as fault:
        say(f"failed {code_of(str(fault))} {fault}")
        return None
    return strip


def code_of(text: str) -> int:
    """The library's code in the text of its error, which is the only place it stands; 0 if there is none."""
    found = re.search(r"failed with code (-\d+)", text)
    return int(found[1]) if found else 0


def draw(strip: Any, count: int) -> int:
    """Show every frame that comes, and darkness at the end."""
    status = 0
    try:
        show(strip, bytes(3 * count))
        say("ready")
        while True:
            show(strip, frame(3 * count))
            say("ok")
    except (Ended, BrokenPipeError):
        pass
    except RuntimeError as fault:
        say(f"failed {code_of(str(fault))} {fault}")
        status = 1
    # Twice: the second begins once the first has left the wire.
    try:
        show(strip, bytes(3 * count))
        show(strip, bytes(3 * count))
    except RuntimeError:
        return 1
    say("dark")
    return status


def show(strip: Any, data: bytes) -> None:
    """Put one frame on the wire. Raises RuntimeError, with the library's code in its text."""
    for at in range(0, len(data), 3):
        strip.setPixelColor(at // 3, int.from_bytes(data[at : at + 3]))
    strip.show()


def frame(size: int) -> bytes:
    """The next whole frame. Raises Ended when the pipe has ended."""
    data = b""
    while len(data) < size:
        part = os.read(0, size - len(data))
        if not part:
            raise Ended
        data += part
    return data


def say(line: str) -> None:
    """A line to whoever started this; nobody listening is no fault of the LEDs."""
    try:
        os.write(1, f"{line}\n".encode())
    except BrokenPipeError:
        return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
