"""What a board shows that waits for players: slow weather, and once a minute a miniature that plays by itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from firmware.grounds import OFFSETS, Ground
from firmware.miniature import Miniature, miniature
from firmware.palette import FLOOR, GAMMA, Palette, mix
from firmware.rhythm import swing
from firmware.scenes import CALM_STEPS, Weather
from firmware.snapshot import Snapshot

CYCLE_US = 60_000_000
WEATHER_US = 37_000_000
# The board's own light in a miniature: bright against the weather, and plainly less than in play.
LEVEL = 0.42
SECOND_US = 1_000_000


class Attract:
    """Makes the ground of attract from the time at which it began; `drawn` draws a snapshot as in play."""

    def __init__(self, palette: Palette, drawn: Callable[[Snapshot], Ground]) -> None:
        self._weather = Weather(palette)
        self._drawn = drawn
        self._miniature = lru_cache(maxsize=2)(miniature)
        self._ready: tuple[Snapshot, Ground] | None = None

    def ground(self, phase_us: int, touched: bool) -> Ground:
        """Weather, with a miniature in each minute since `phase_us`; which one comes first follows from it too.

        `touched`: somebody is there; the game is gone at once, so that nobody takes it for his own.
        """
        first = phase_us // SECOND_US

        def ground(t_us: int) -> bytearray:
            cycle, age_us = divmod(max(0, t_us - phase_us), CYCLE_US)
            if age_us < WEATHER_US:
                return self._weather(t_us)
            small, age_us = self._miniature(first + cycle), age_us - WEATHER_US
            frame = self._weather(t_us, round(small.calm(age_us) * (CALM_STEPS - 1)))
            return frame if touched else self._played(small, age_us, frame)

        return ground

    def _played(self, small: Miniature, age_us: int, frame: bytearray) -> bytearray:
        """The frame with the lit cells of a miniature laid over it."""
        share = swing(small.share(age_us) / 2)
        if share == 0:
            return frame
        game = self._drawn_once(small.scene(age_us))(age_us).translate(SHADE)
        for cell in small.cells:
            place = slice(OFFSETS[cell], OFFSETS[cell] + 3)
            colour = game[place]
            if any(colour):
                frame[place] = colour if share == 1 else mix(bytes(frame[place]), bytes(colour), share)
        return frame

    def _drawn_once(self, snapshot: Snapshot) -> Ground:
        """Scenes last for many frames, so the last one is kept ready."""
        if self._ready is None or self._ready[0] is not snapshot:
            self._ready = snapshot, self._drawn(snapshot)
        return self._ready[1]


# Bytes at `LEVEL` of their light. What is lit stays visible: its leading byte is never taken below the floor.
SHADE = bytes(max(round(byte * LEVEL ** (1 / GAMMA)), min(byte, FLOOR)) for byte in range(256))
