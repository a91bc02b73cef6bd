"""How tests speak of frames: one cell of a frame, its light on the wire, a frame as text, frames by time."""

from __future__ import annotations

from collections.abc import Iterator

from firmware.lights import Lights
from firmware.palette import GAMMA
from firmware.snapshot import Snapshot

MS = 1_000
S = 1_000_000
FRAME_US = 16_667  # 60 frames a second
LIGHTS = Lights()


def cell(name: str) -> int:
    """The number of a cell by its name: a1 is 0, g7 is 48."""
    return "1234567".index(name[1]) * 7 + "abcdefg".index(name[0])


def board(**cells: str) -> str:
    """49 characters with those of the named cells set: board(a1="x")."""
    return "".join(cells.get("abcdefg"[number % 7] + "1234567"[number // 7], ".") for number in range(49))


def at(frame: bytes, number: int) -> bytes:
    """The three bytes of a cell."""
    return frame[number * 3 : number * 3 + 3]


def wire(colour: bytes) -> list[int]:
    """What goes out to the LED at full brightness."""
    return [round((byte / 255) ** GAMMA * 255) for byte in colour]


def leading(colour: bytes) -> int:
    """The greatest of the wire values."""
    return max(wire(colour))


def frames(snapshot: Snapshot, start_us: int, end_us: int, step_us: int = FRAME_US) -> Iterator[tuple[int, bytes]]:
    """Frames by time, as at 60 frames a second."""
    return ((t_us, LIGHTS.frame(snapshot, t_us)) for t_us in range(start_us, end_us, step_us))


def course(snapshot: Snapshot, number: int, start_us: int, end_us: int, step_us: int = FRAME_US) -> list[bytes]:
    """The colours of one cell over a time."""
    return [at(frame, number) for _, frame in frames(snapshot, start_us, end_us, step_us)]


def text(frame: bytes) -> str:
    """Row 7 first, a colour a cell in hex, dots for dark: what lies on the table, seen from side a."""
    rows = (range(first, first + 7) for first in range(42, -1, -7))
    return "\n".join(" ".join(at(frame, number).hex().replace("000000", "......") for number in row) for row in rows)
