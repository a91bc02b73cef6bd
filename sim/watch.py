"""What holds for every frame of a board, whatever is done to it: current, flashes, timing of the wire; frames counted.

Knows the design and the wire alone. A watch belongs to one board from its power-up on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from firmware.snapshot import Phase
from hal.profile import load, shipped
from sim.drive import Drive
from sim.flashes import Flashes

S = 1_000_000
MOST_FLASHES = 3  # in any second, by WCAG's definition
# A still picture is refreshed once a second (design, hop 10); a frame more may pass until it is due and latched.
LONGEST_STILL_US = 1_050_000


@dataclass
class Frames:
    """Frames and time by phase; `worst_fps`: the fewest frames within a whole second of one phase."""

    count: Counter[Phase] = field(default_factory=Counter)
    time_us: Counter[Phase] = field(default_factory=Counter)
    worst_fps: dict[Phase, int] = field(default_factory=dict)

    def fps(self, phase: Phase) -> float:
        """Frames a second in a phase, over all of it; 0 where it never was."""
        time_us = self.time_us[phase]
        return self.count[phase] * S / time_us if time_us else 0.0


class Watch:
    """Looks at every frame that latches."""

    def __init__(
        self, drive: Drive, violated: Callable[[str], None], seen: Callable[[bytes], None], frames: Frames | None = None
    ) -> None:
        """`violated` gets a sentence for what must not be, `seen` every frame with its time, as bytes."""
        self._drive, self._violated, self._seen = drive, violated, seen
        self._budget_ma = _budget_ma()
        self._flashes = Flashes(wire=True)
        self._told = 0
        self.frames = Frames() if frames is None else frames
        self._latched_us = self._second_us = drive.now_us
        self._phase, self._phase_us = drive.table.phase, drive.now_us
        self._in_second = 0
        drive.board.strip.on_latch.append(self._latched)

    def finish(self) -> None:
        """What can only be said in the end."""
        strip = self._drive.board.strip
        self._expect(strip.violations == 0, f"{strip.violations} pulses outside the LEDs' timing")
        self._expect(strip.early_writes == 0, f"{strip.early_writes} frames written before the latch")
        self._expect(self._drive.engine.lost_edges == 0, f"{self._drive.engine.lost_edges} edges lost")
        self._count_until(self._drive.now_us)

    def _latched(self, t_us: int, frame: bytes) -> None:
        self._seen(t_us.to_bytes(8) + frame)
        if self._drive.board.strip.current_ma > self._budget_ma:
            self._violated(f"{self._drive.board.strip.current_ma:.0f} mA asked for at {t_us}")
        self._flashes.see(t_us, frame)
        if self._flashes.worst > max(MOST_FLASHES, self._told):
            self._told = self._flashes.worst
            self._violated(f"{self._told} flashes of one cell in a second, up to {t_us}")
        still_us = t_us - self._latched_us
        self._expect(still_us <= LONGEST_STILL_US, f"no frame for {still_us} us before {t_us}")
        self._count(t_us)

    # -- frames ----------------------------------------------------------------------------------------------------

    def _count(self, t_us: int) -> None:
        if t_us - self._second_us >= S or self._drive.table.phase != self._phase:
            self._count_until(t_us)
        self._latched_us = t_us
        self._in_second += 1
        self.frames.count[self._phase] += 1

    def _count_until(self, t_us: int) -> None:
        """A second is over, or the phase: what was counted in it belongs to that phase."""
        phase, frames = self._phase, self.frames
        frames.time_us[phase] += t_us - self._second_us
        if t_us - self._second_us >= S:
            frames.worst_fps[phase] = min(self._in_second, frames.worst_fps.get(phase, self._in_second))
            self._flashes.forget(self._second_us)
        self._phase, self._second_us, self._in_second = self._drive.table.phase, t_us, 0

    def _expect(self, holds: bool, otherwise: str) -> None:
        if not holds:
            self._violated(otherwise)


def _budget_ma() -> float:
    power = load(shipped("sim")).power
    return power.supply_ma * power.budget_pct / 100
