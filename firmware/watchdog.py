"""The watchdog's judge: whether every part of the board has moved. Pure.

systemd ends and restarts a service that does not feed its watchdog in time (case F22). A process that is alive is no
proof of anything: the dog is fed only when the scan, the LEDs' thread, the journal and the loop have each come round
since it was last fed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# A part that is well comes round twice a second, LEDs at rest with each look at the board's health; the watchdog bites
# after two seconds.
STALLED_US: Final = 1_000_000


class Judge:
    """Told how often each part has come round, it says when all of them have."""

    def __init__(self) -> None:
        self._fed: dict[str, int] = {}  # the rounds of each part when the dog was last fed
        self._seen: dict[str, int] = {}
        self._moved_us: dict[str, int] = {}

    def step(self, t_us: int, rounds: Mapping[str, int]) -> bool:
        """Whether every part has come round since this last said so, or since it was first asked."""
        if not self._fed:
            self._fed = dict(rounds)
        for part, count in rounds.items():
            if count != self._seen.get(part):
                self._seen[part], self._moved_us[part] = count, t_us
        if any(count == self._fed.get(part) for part, count in rounds.items()):
            return False
        self._fed = dict(rounds)
        return True

    def stalled(self, t_us: int) -> tuple[str, ...]:
        """The parts that have not come round for a second, by name."""
        return tuple(part for part, moved_us in self._moved_us.items() if t_us - moved_us >= STALLED_US)
