"""What a board's clock says, in the host's time. Pure.

Every report bounds how far the two clocks are apart: it came after it was sent, and what it acknowledges was sent
before it was heard. The truth lies between the bounds; they widen with the drift that two quartzes can have.
"""

from __future__ import annotations

# Two quartzes of 100 ppm each.
DRIFT_PPM = 200
# How fast the estimate follows, so that a finger's 20 ms stay 20 ms.
SLEW_PPM = 1_000


class DeviceClock:
    """The board's clock less the host's, estimated; times of the board in, times of the host out."""

    def __init__(self) -> None:
        self._ahead_us: int | None = None
        self._least_us = self._most_us = 0
        self._t_us = 0

    @property
    def known(self) -> bool:
        """Whether there is an estimate."""
        return self._ahead_us is not None

    def heard(self, now_us: int, t_us: int, acked: tuple[int, int] | None) -> None:
        """A report that the board sent at its `now_us` came at our `t_us`.

        `acked`: when the board heard, by its clock, what we had sent at which time of ours; None = not known.
        """
        passed_us = t_us - self._t_us if self.known else 0
        self._t_us = t_us
        least_us = now_us - t_us
        most_us = acked[0] - acked[1] if acked is not None else None
        if self._ahead_us is None:
            self._least_us, self._most_us = least_us, least_us if most_us is None else max(least_us, most_us)
            self._ahead_us = (self._least_us + self._most_us) // 2
            return
        drift_us = 1 + passed_us * DRIFT_PPM // 1_000_000
        self._least_us = max(self._least_us - drift_us, least_us)
        self._most_us += drift_us
        if most_us is not None:
            self._most_us = min(self._most_us, most_us)
        if self._least_us > self._most_us:  # the clocks have drifted further than clocks do: believe what came last
            self._least_us, self._most_us = least_us, max(least_us, self._most_us if most_us is None else most_us)
        wanted_us = (self._least_us + self._most_us) // 2
        slew_us = 1 + passed_us * SLEW_PPM // 1_000_000
        self._ahead_us += max(-slew_us, min(slew_us, wanted_us - self._ahead_us))
        self._ahead_us = max(min(self._ahead_us, self._most_us), least_us)  # nothing is heard before it was sent

    def host_us(self, device_us: int) -> int:
        """A time of the board's clock as ours; only once `known`."""
        assert self._ahead_us is not None
        return device_us - self._ahead_us
