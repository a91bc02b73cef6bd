"""Clocks of simulated worlds: one that moves only when it is told to, and one that can be stopped."""

from __future__ import annotations

from threading import Lock

from hal.ports import Clock


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


class StoppableClock:
    """Another clock's time, less what it was stopped for; implements `hal.ports.Clock`. For any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lost_us = 0
        self._stopped_us: int | None = None
        self._lock = Lock()

    def now_us(self) -> int:
        """Microseconds since the other clock's start; never goes back."""
        with self._lock:
            return self._now_us()

    def stop(self) -> None:
        """Stand still from now on; a clock that stands goes on standing."""
        with self._lock:
            self._stopped_us = self._now_us()

    def go(self) -> None:
        """Run on from where it stands; a clock that runs goes on running."""
        with self._lock:
            if self._stopped_us is not None:
                self._lost_us = self._clock.now_us() - self._stopped_us
                self._stopped_us = None

    def _now_us(self) -> int:
        return self._clock.now_us() - self._lost_us if self._stopped_us is None else self._stopped_us
