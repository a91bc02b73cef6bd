"""Virtual time: a clock that moves only when it is told to, so that a run is the same on every machine."""

from __future__ import annotations


class VirtualClock:
    """A monotonic clock in microseconds that stands still until it is advanced; implements `hal.ports.Clock`."""

    def __init__(self, start_us: int = 0) -> None:
        self._now_us = start_us

    def now_us(self) -> int:
        """Microseconds since the start of the run; never goes back."""
        return self._now_us

    def advance_to(self, t_us: int) -> None:
        """Move to `t_us`, or stay where that is now. Raises ValueError for a time that is past."""
        if t_us < self._now_us:
            raise ValueError(f"virtual time {t_us} us is past: it is {self._now_us} us, and time does not go back")
        self._now_us = t_us
