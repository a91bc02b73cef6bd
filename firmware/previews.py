"""The light that answers a finger, kept within the flash limit.

One cell never rises twice within `RISE_GAP_US`: a preview stays lit that long from its rise, a press meanwhile keeps
it lit, and a pattern waits until the gap is over. A running pattern is not restarted, and a touch under it shows
when it has ended (design, "What light means").
"""

from __future__ import annotations

from typing import Literal

from firmware.snapshot import RISE_GAP_US, Pattern, Touch

# look.md: refused is white and back twice in 1 s (its second rise half way), "hold wanted" fills once.
PATTERN_US = {"refused": 1_000_000, "hold": 700_000}
LAST_RISE_US = {"refused": 500_000, "hold": 0}


class Previews:
    """Which cells answer a finger now, and which run a pattern."""

    def __init__(self) -> None:
        self._touches: dict[int, Touch] = {}
        self._patterns: dict[int, Pattern] = {}
        self._rise_us: dict[int, int] = {}  # the last rise of each cell that has answered lately

    @property
    def touches(self) -> tuple[Touch, ...]:
        """Every cell that answers a finger, in the order of the touches."""
        return tuple(self._touches.values())

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """Every pattern that runs or is about to."""
        return tuple(self._patterns.values())

    def answers(self, cell: int) -> bool:
        """Whether the cell is lit for a finger that is still on it."""
        touch = self._touches.get(cell)
        return touch is not None and touch.until_us is None

    def lit(self, cell: int, t_us: int) -> bool:
        """Whether a touch lights the cell at `t_us` (and no pattern does)."""
        touch = self._touches.get(cell)
        if touch is None or cell in self._patterns:
            return False
        return touch.rise_us <= t_us and (touch.until_us is None or t_us <= touch.until_us)

    def press(self, cell: int, t_us: int, full_us: int | None, plays: bool) -> None:
        """Light up under a finger at once, or as soon as the flash limit allows."""
        pattern = self._patterns.get(cell)
        if pattern is not None and t_us < pattern.start_us + PATTERN_US[pattern.kind]:
            rise_us = pattern.start_us + PATTERN_US[pattern.kind]
        elif self.lit(cell, t_us):
            rise_us = self._touches[cell].rise_us  # still lit: no new rise
        else:
            rise_us = self._free_us(cell, t_us)
        self._rise_us[cell] = rise_us
        self._touches[cell] = Touch(cell, rise_us, full_us, None, plays)

    def end(self, cell: int, t_us: int) -> None:
        """The finger is up, or can no longer act: the light goes out, not before its least time."""
        touch = self._touches.get(cell)
        if touch is not None and touch.until_us is None:
            self._touches[cell] = touch._replace(until_us=max(t_us, touch.rise_us + RISE_GAP_US))

    def end_all(self, t_us: int) -> None:
        """Every finger counts for nothing now."""
        for cell in self._touches:
            self.end(cell, t_us)

    def bloom(self, cell: int, t_us: int) -> int:
        """The touch became an action; returns when its bloom may begin.

        The light of a touch passes into the bloom without a fall, so without a new rise; after a pattern the bloom
        waits for its gap.
        """
        start_us = t_us if self.lit(cell, t_us) else self._free_us(cell, t_us)
        self._touches.pop(cell, None)
        self._patterns.pop(cell, None)
        self._rise_us[cell] = start_us
        return start_us

    def refuse(self, cell: int, kind: Literal["refused", "hold"], t_us: int) -> None:
        """Answer a touch that did nothing; a pattern that runs is not restarted."""
        self.end(cell, t_us)
        pattern = self._patterns.get(cell)
        if pattern is not None and t_us < pattern.start_us + PATTERN_US[pattern.kind]:
            return
        start_us = self._free_us(cell, t_us)
        self._patterns[cell] = Pattern(cell, kind, start_us)
        self._rise_us[cell] = start_us + LAST_RISE_US[kind]

    def clear(self, t_us: int) -> None:
        """A new phase begins: patterns stop, lights under fingers go out in their time."""
        self._patterns.clear()
        self.end_all(t_us)

    def prune(self, t_us: int) -> bool:
        """Forget what is over at `t_us`; True if anything was."""
        old = [c for c, touch in self._touches.items() if touch.until_us is not None and touch.until_us <= t_us]
        done = [c for c, p in self._patterns.items() if p.start_us + PATTERN_US[p.kind] <= t_us]
        for cell in old:
            del self._touches[cell]
        for cell in done:
            del self._patterns[cell]
        for cell in [c for c, rise_us in self._rise_us.items() if rise_us + RISE_GAP_US <= t_us]:
            del self._rise_us[cell]
        return bool(old or done)

    def _free_us(self, cell: int, t_us: int) -> int:
        return max(t_us, self._rise_us.get(cell, t_us - RISE_GAP_US) + RISE_GAP_US)
