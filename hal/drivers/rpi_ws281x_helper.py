"""The small process that owns the LEDs for rpi_ws281x: frames come in by a pipe, a word goes out for each.

`python -m hal.drivers.rpi_ws281x_helper COUNT PIN CHANNEL DMA`. The library needs root, holds the interpreter's lock
while it draws, and may crash at exit (case A28): all of that stays in here. It is initialised once in the life of a
process (case A27), never scales brightness (case A31), and the chain is dark before the first frame and after the
last, however the end comes: end of the pipe, SIGTERM, SIGHUP. A library that hangs is ended by an alarm, since
whoever started this may not be allowed to.

`--caller USER`, as systemd starts it for each call on its socket: the kernel must say that USER has called, and the
numbers come as the first line.

In: 3 bytes an LED, as they go on the wire. Out, a line each: `ready`, `ok` for a frame, `dark` at the end,
`failed CODE TEXT`; a code of 0 is none of the library's.
"""

from __future__ import annotations

import os
import pwd
import re
import signal
import socket
import struct
import sys
from typing import Any

FREQUENCY_HZ = 800_000
# Brightness 255 is none: the library multiplies by (255 + 1) / 256.
NO_BRIGHTNESS = 255
# The strip type of lib/ws2811.h that sends bytes as they are given; colour order is the profile's, applied before.
AS_GIVEN = 0x0010_0800
ARGUMENTS = 4
# What the numbers may be (lib/ws2811.c; DMA 5 is the SD card's): somebody else's process asks, and this one is root.
MOST_LEDS = 5_000
CHANNELS = {10: (0,), 12: (0,), 18: (0,), 13: (1,), 19: (1,), 21: (0,)}
DMA = 10
LINE_BYTES = 64
# A frame takes milliseconds, the first access to the chip tenths of a second.
HANGS_S = 5


class Ended(Exception):
    """The pipe ended, or somebody asked for the end."""


class Refused(Exception):
    """What was asked for is not done; the text is half a sentence."""


def main(arguments: list[str]) -> int:
    """Draw frames until the end. Exit status 0 when the chain is dark, 1 when it could not be driven."""
    try:
        count, pin, channel, dma = numbers(called(arguments[1]) if arguments[:1] == ["--caller"] else arguments)
    except (Refused, Ended) as fault:
        say(f"failed 0 {fault}")
        return 1
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


def called(user: str) -> list[str]:
    """The first line of whoever has called, if it is `user`, or root. Raises Refused, and Ended without a line."""
    caller = socket.socket(fileno=os.dup(0))
    _, uid, _ = struct.unpack("3i", caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    caller.close()
    if uid not in (0, pwd.getpwnam(user).pw_uid):
        raise Refused(f"the LED helper works for {user} alone, and user {uid} has called")
    line = b""
    while not line.endswith(b"\n"):
        if len(line) >= LINE_BYTES:
            raise Refused("the LED helper was told no numbers")
        part = os.read(0, 1)  # the frames behind it are not for now
        if not part:
            raise Ended
        line += part
    return line.decode("ascii", errors="replace").split()


def numbers(arguments: list[str]) -> tuple[int, int, int, int]:
    """Count, pin, channel, DMA. Raises Refused for what no chain is driven by."""
    if len(arguments) != ARGUMENTS or not all(re.fullmatch(r"[0-9]{1,5}", number) for number in arguments):
        raise Refused(f"the helper takes {ARGUMENTS} numbers: COUNT PIN CHANNEL DMA")
    count, pin, channel, dma = map(int, arguments)
    if not 1 <= count <= MOST_LEDS or channel not in CHANNELS.get(pin, ()) or dma != DMA:
        raise Refused(f"{count} LEDs on GPIO{pin}, channel {channel}, DMA {dma} cannot be driven")
    return count, pin, channel, dma


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
        signal.alarm(HANGS_S)
        strip = PixelStrip(count, pin, FREQUENCY_HZ, dma, False, NO_BRIGHTNESS, channel, AS_GIVEN)
        strip.begin()
        signal.alarm(0)
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
    signal.alarm(HANGS_S)
    strip.show()
    signal.alarm(0)


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
