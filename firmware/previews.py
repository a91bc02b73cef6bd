"""The light that answers a finger, kept within the flash limit.

One cell never rises twice within `RISE_GAP_US`: a preview stays lit that long from its rise, a press meanwhile keeps
it lit, and a pattern waits until the gap is over. A running pattern is not restarted, and a touch under it shows
when it has ended (design, "What light means").
"""

from __future__ import annotations

from typing import NamedTuple

from firmware.snapshot import RISE_GAP_US, Pattern, Side, Touch

# look.md: refused is white and back twice in 1 s (its second rise half way), "hold wanted" fills once.
PATTERN_US = {"refused": 1_000_000, "hold": 700_000}
LAST_RISE_US = {"refused": 500_000, "hold": 0}
HAZE_US = 1_000_000  # look.md: ghosts swell at 1 Hz
# What happens is judged up to this long after its own time: the longest release debounce and a scan. Light that was to
# rise meanwhile has risen, and stays its least time.
JUDGED_US = 250_000


class Haze(NamedTuple):
    """Cells that cannot be told apart, as they are shown: since when, and until when after they are gone.

    One swell of their light takes `HAZE_US`; it is always shown whole, so that ghosts which come and go with fingers
    do not flash.
    """

    cells: int = 0
    since_us: int = 0
    until_us: int | None = 0

    def seen(self, ghosts: int, t_us: int) -> Haze:
        """The haze after a scan with these ghosts."""
        if ghosts and self.until_us is not None and t_us >= self.until_us:
            return Haze(ghosts, t_us, None)
        if ghosts:
            return Haze(self.cells | ghosts, self.since_us, None)
        swells = -(-(t_us - self.since_us) // HAZE_US)
        return self._replace(until_us=self.since_us + swells * HAZE_US)


class Previews:
    """Which cells answer a finger now, and which run a pattern."""

    def __init__(self) -> None:
        self._touches: dict[int, Touch] = {}
        self._hidden: dict[int, Touch] = {}  # under a pattern: they rise when it has ended
        self._patterns: dict[int, Pattern] = {}
        self._rise_us: dict[int, int] = {}  # the last rise of each cell that has answered lately

    @property
    def touches(self) -> tuple[Touch, ...]:
        """Every touch that lights a cell or is about to."""
        return (*self._touches.values(), *self._hidden.values())

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """Every pattern that runs or is about to."""
        return tuple(self._patterns.values())

    def answers(self, cell: int) -> bool:
        """Whether the cell is lit for a finger that is still on it, or will be."""
        touch = self._touches.get(cell)
        return cell in self._hidden or (touch is not None and touch.until_us is None)

    def lit(self, cell: int, t_us: int) -> bool:
        """Whether a touch lights the cell at `t_us`."""
        self._surface(cell, t_us)
        touch = self._touches.get(cell)
        if touch is None or self._runs(cell, t_us):
            return False
        return touch.rise_us <= t_us and (touch.until_us is None or t_us <= touch.until_us)

    def press(self, cell: int, t_us: int, full_us: int | None, side: Side | None) -> None:
        """Light up under a finger at once, or as soon as the flash limit allows."""
        self._surface(cell, t_us)
        pattern = self._patterns.get(cell)
        if pattern is not None and t_us < _end_us(pattern):
            self._hidden[cell] = Touch(cell, _end_us(pattern), full_us, None, side)
            return
        rise_us = self._touches[cell].rise_us if self.lit(cell, t_us) else self._free_us(cell, t_us)
        self._rise_us[cell] = rise_us
        self._touches[cell] = Touch(cell, rise_us, full_us, None, side)

    def end(self, cell: int, t_us: int) -> None:
        """The finger is up, or can no longer act: the light goes out, not before its least time."""
        self._surface(cell, t_us + JUDGED_US)
        self._hidden.pop(cell, None)
        touch = self._touches.get(cell)
        if touch is not None and touch.until_us is None:
            self._touches[cell] = touch._replace(until_us=max(t_us, touch.rise_us + RISE_GAP_US))

    def end_all(self, t_us: int) -> None:
        """Every finger counts for nothing now."""
        for cell in self._touches.keys() | self._hidden.keys():
            self.end(cell, t_us)

    def bloom(self, cell: int, t_us: int) -> int:
        """The touch became an action; returns when its bloom may begin.

        The light of a touch passes into the bloom without a fall, so without a new rise; after a pattern the bloom
        waits for its gap.
        """
        self._surface(cell, t_us + JUDGED_US)
        start_us = t_us if self.lit(cell, t_us) else self._free_us(cell, t_us)
        for answers in (self._touches, self._hidden, self._patterns):
            answers.pop(cell, None)
        self._rise_us[cell] = start_us
        return start_us

    def refuse(self, pattern: Pattern) -> None:
        """Answer a touch that did nothing, from `start_us` on or when its gap is over.

        A pattern that runs is not restarted.
        """
        cell, t_us = pattern.cell, pattern.start_us
        self.end(cell, t_us)
        running = self._patterns.get(cell)
        if running is not None and t_us < _end_us(running):
            return
        start_us = self._free_us(cell, t_us)
        self._patterns[cell] = pattern._replace(start_us=start_us)
        self._rise_us[cell] = start_us + LAST_RISE_US[pattern.kind]

    def clear(self, t_us: int) -> None:
        """A new phase begins: patterns stop, lights under fingers go out in their time."""
        self._patterns.clear()
        self.end_all(t_us)

    def prune(self, t_us: int) -> bool:
        """Forget what is over at `t_us`; True if anything was."""
        for cell in list(self._hidden):
            self._surface(cell, t_us)
        old = [c for c, touch in self._touches.items() if touch.until_us is not None and touch.until_us <= t_us]
        done = [c for c, pattern in self._patterns.items() if _end_us(pattern) <= t_us]
        for cell in old:
            del self._touches[cell]
        for cell in done:
            del self._patterns[cell]
        for cell in [c for c, rise_us in self._rise_us.items() if rise_us + RISE_GAP_US <= t_us]:
            del self._rise_us[cell]
        return bool(old or done)

    def _surface(self, cell: int, t_us: int) -> None:
        """A touch whose pattern has ended by `t_us` shows."""
        touch = self._hidden.get(cell)
        if touch is not None and touch.rise_us <= t_us:
            self._touches[cell] = self._hidden.pop(cell)
            self._rise_us[cell] = touch.rise_us

    def _runs(self, cell: int, t_us: int) -> bool:
        pattern = self._patterns.get(cell)
        return pattern is not None and pattern.start_us <= t_us < _end_us(pattern)

    def _free_us(self, cell: int, t_us: int) -> int:
        return max(t_us, self._rise_us.get(cell, t_us - RISE_GAP_US) + RISE_GAP_US)


def _end_us(pattern: Pattern) -> int:
    return pattern.start_us + PATTERN_US[pattern.kind]
