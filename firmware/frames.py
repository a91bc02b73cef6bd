"""Which frame is due when: at once after something happened, 60 a second while light moves, one a second at rest."""

from __future__ import annotations

from firmware.snapshot import Snapshot
from firmware.strips import Drawing

MOVING_US = 16_667
ATTRACT_US = 33_333
# A wire fault in a still picture heals within this time (case A20).
REFRESH_US = 1_000_000


class Frames:
    """Decides when the LEDs get a frame, and which; owned by whoever owns the LEDs."""

    def __init__(self, lights: Drawing) -> None:
        self._lights = lights
        self._snapshot: Snapshot | None = None
        self._frame = b""
        self._drawn_us = self._sent_us = self._next_us = -REFRESH_US

    def due_us(self, snapshot: Snapshot) -> int:
        """When the next frame is to be drawn; a time that has passed = now."""
        return self._next_us if snapshot is self._snapshot else self._drawn_us

    def step(self, snapshot: Snapshot, t_us: int, dimmed: bool = False) -> bytes | None:
        """The frame for `t_us`, or None where the LEDs show it already and need no refresh.

        `dimmed`: the current limit held the last one back; it is sent again until it has recovered.
        """
        frame = self._lights.frame(snapshot, t_us)
        gap_us = ATTRACT_US if snapshot.phase == "attract" else MOVING_US
        on_time = snapshot is self._snapshot and t_us - self._next_us < gap_us // 2
        self._next_us = (self._next_us if on_time else t_us) + gap_us  # a little late costs the next one nothing
        self._snapshot, self._drawn_us = snapshot, t_us
        if frame == self._frame and not dimmed and t_us - self._sent_us < REFRESH_US:
            return None
        self._frame, self._sent_us = frame, t_us
        return frame
