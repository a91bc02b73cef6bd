"""Hop 5: edges become touches with a meaning: tap, hold, chord, or nothing.

There is no timer inside: `due_us` says when something will be decided, `advance` decides it. Edges and deadlines must
be handed in in the order of their times; the table does so, once every edge up to that time is known.

A cell that is down is in one of two states. *Live*: it may still become an action. *Dead*: it counts for nothing
until lifted (it was down when the turn changed, it was pressed too soon after a commit, or it has rested too long).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

Kind = Literal["press", "dead", "tap", "short", "hold", "cancel", "chord", "left"]


class TouchTimes(NamedTuple):
    """How long a finger has to do what, in microseconds (design, "What a touch means")."""

    tap_min_us: int = 20_000
    hold_us: int = 800_000
    turn_guard_us: int = 250_000
    leave_us: int = 5_000_000
    stuck_us: int = 20_000_000


class Chord(NamedTuple):
    """Two cells that mean something when they alone are held together for `hold_us`.

    `within_us`: the second must come down so soon after the first; None where it may come at any time.
    """

    name: str
    hold_us: int
    within_us: int | None = None


class Event(NamedTuple):
    """What a finger has come to at `t_us`.

    `press`: a live press began. `dead`: a press that counts for nothing. `tap`: the only live cell was lifted.
    `short`: lifted too early to be a touch (noise). `hold`: the only live cell has been held long enough.
    `cancel`: this live cell can no longer act. `chord`: fired, `name` says which. `left`: rested too long.
    """

    kind: Kind
    t_us: int
    cell: int
    name: str = ""


class Gesture:
    """The fingers on the board, and what they may still become."""

    def __init__(self, times: TouchTimes, guard_until_us: int = 0) -> None:
        """Presses at or before `guard_until_us` less one are dead: hands that lie on the board at power-up."""
        self.times = times
        self.chords: Mapping[frozenset[int], Chord] = {}
        self.guard_until_us = guard_until_us
        self.stuck: set[int] = set()
        self._live: dict[int, int] = {}  # cell -> time of its press, in the order of the presses
        self._dead: dict[int, int] = {}
        self._flickers: dict[int, int] = {}  # when a contact opened that had rested
        self._spoiled = False
        self._held = False  # the hold of the only live cell has been told
        self._chord: tuple[Chord, int] | None = None  # armed, and when it fires
        self._ghosts = 0

    @property
    def spoiled(self) -> bool:
        """Nothing can commit until every live finger is up."""
        return self._spoiled

    @property
    def armed(self) -> tuple[Chord, int] | None:
        """The chord whose two fingers are down, and when it fires; None where none waits."""
        return self._chord

    @property
    def live(self) -> Mapping[int, int]:
        """The cells that may still act, and when each was pressed."""
        return self._live

    @property
    def down(self) -> frozenset[int]:
        """Every cell with a finger on it, live or dead."""
        return frozenset(self._live) | frozenset(self._dead)

    @property
    def due_us(self) -> int | None:
        """The next time at which holding still decides something; None while no finger is down."""
        if not self._live and not self._dead:
            return None
        times = [t + self.times.stuck_us for c, t in (self._live | self._dead).items() if c not in self.stuck]
        times += [t + self.times.leave_us for t in self._live.values()]
        if self._may_hold():
            times.append(next(iter(self._live.values())) + self.times.hold_us)
        if self._chord:
            times.append(self._chord[1])
        return min(times, default=None)

    def press(self, cell: int, t_us: int) -> list[Event]:
        """A finger came down. A second live cell arms a chord or cancels both.

        A contact that has rested for `leave_us` and closes again within `turn_guard_us` flickers, and is no finger.
        """
        if cell in self._live or cell in self._dead:
            return []
        opened_us = self._flickers.get(cell)
        flickers = opened_us is not None and t_us < opened_us + self.times.turn_guard_us
        if not flickers:
            self._flickers.pop(cell, None)
        if flickers or t_us < self.guard_until_us:
            self._dead[cell] = t_us
            return [Event("dead", t_us, cell)]
        self._live[cell] = t_us
        events = [Event("press", t_us, cell)]
        if self._spoiled:
            return [*events, Event("cancel", t_us, cell)]
        if len(self._live) == 1:
            self._held = False
            return events
        return events + self._second(t_us)

    def release(self, cell: int, t_us: int) -> list[Event]:
        """A finger was lifted. The only live cell becomes a tap, if it was down long enough to be no noise."""
        self.stuck.discard(cell)
        dead_us = self._dead.pop(cell, None)
        if dead_us is not None:
            if cell in self._flickers or t_us >= dead_us + self.times.leave_us:
                self._flickers[cell] = t_us
            return []
        pressed_us = self._live.pop(cell, None)
        if pressed_us is None:
            return []
        if self._chord:
            return self._spoil(t_us)
        if self._spoiled:
            self._heal()
            return []
        long_enough = t_us - pressed_us >= self.times.tap_min_us
        return [Event("tap" if long_enough else "short", t_us, cell)]

    def ghosts(self, mask: int, t_us: int) -> list[Event]:
        """Some cells cannot be told apart (three fingers or more): nothing commits until all are up."""
        self._ghosts = mask
        if not mask:
            self._heal()
            return []
        return [] if self._spoiled else self._spoil(t_us)

    def advance(self, t_us: int) -> list[Event]:
        """Decide what is due at `t_us`: holds and chords first, then who has rested too long."""
        events: list[Event] = []
        if self._may_hold():
            cell, pressed_us = next(iter(self._live.items()))
            if pressed_us + self.times.hold_us <= t_us:
                self._held = True
                events.append(Event("hold", t_us, cell))
        if self._chord and self._chord[1] <= t_us:
            name = self._chord[0].name
            cell = next(iter(self._live))
            events += [*self._spoil(t_us), Event("chord", t_us, cell, name)]
        events += self._leave(t_us)
        self._report(t_us)
        return events

    def kill(self, t_us: int) -> list[Event]:
        """The turn or the phase has changed: every finger that is down counts for nothing until lifted."""
        events = [Event("dead", t_us, cell) for cell in self._live]
        self._dead |= self._live
        self._live.clear()
        self._chord = None
        self._heal()
        return events

    def rest(self, t_us: int) -> None:
        """Dead fingers, which were out of sight, have rested since `t_us` only."""
        self._dead = dict.fromkeys(self._dead, t_us)

    def guard(self, until_us: int) -> None:
        """Presses before `until_us` are dead: a quick second tap must not play the opponent's move."""
        self.guard_until_us = max(self.guard_until_us, until_us)

    def _may_hold(self) -> bool:
        return len(self._live) == 1 and not self._spoiled and not self._held

    def _second(self, t_us: int) -> list[Event]:
        chord = self.chords.get(frozenset(self._live)) if self._chord is None else None
        if chord is None or (chord.within_us is not None and t_us - min(self._live.values()) > chord.within_us):
            return self._spoil(t_us)
        self._chord = (chord, t_us + chord.hold_us)
        return []

    def _spoil(self, t_us: int) -> list[Event]:
        self._chord = None
        self._spoiled = True
        events = [Event("cancel", t_us, cell) for cell in self._live]
        self._heal()
        return events

    def _heal(self) -> None:
        if not self._live and not self._ghosts:
            self._spoiled = False

    def _leave(self, t_us: int) -> list[Event]:
        resting = [c for c, pressed_us in self._live.items() if pressed_us + self.times.leave_us <= t_us]
        if not resting:
            return []
        events = self._spoil(t_us) if self._chord else []
        for cell in resting:
            self._dead[cell] = self._live.pop(cell)
        self._heal()
        return events + [Event("left", t_us, cell) for cell in resting]

    def _report(self, t_us: int) -> None:
        for cell, pressed_us in (self._live | self._dead).items():
            if pressed_us + self.times.stuck_us <= t_us:
                self.stuck.add(cell)
