"""The world around a simulated board that runs: its time can be stopped, and parts of it broken and mended by hand."""

from __future__ import annotations

from dataclasses import replace

from firmware.web.messages import Condition
from sim.board import SimBoard
from sim.clock import StoppableClock
from sim.faults import Faults

LONG_BOUNCE_US = 25_000  # a worn contact: longer than the release debounce of 10 ms


class World:
    """Changes a running board on simulated wires; for any thread."""

    def __init__(self, board: SimBoard, clock: StoppableClock, faults: Faults) -> None:
        """`faults`: those the board was made with, to which it returns."""
        self.board, self.clock, self._faults = board, clock, faults
        self.condition = Condition(stuck=faults.stuck)

    def change(self, condition: Condition) -> None:
        """Let the world be like this from now on."""
        self.condition = condition
        self.clock.stop() if condition.paused else self.clock.go()
        self.board.change(
            replace(
                self._faults,
                bounce_us=LONG_BOUNCE_US if condition.bounce else self._faults.bounce_us,
                diodes=False if condition.ghost else self._faults.diodes,
                stuck=condition.stuck,
                lines_fail_rate=1.0 if condition.unplug else self._faults.lines_fail_rate,
                leds_fail_rate=1.0 if condition.unplug else self._faults.leds_fail_rate,
            )
        )
