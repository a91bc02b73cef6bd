"""The lowest rung: a simulated board in this process, in virtual time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hal.jig import Rung, Unsupported
from hal.profile import Profile
from sim.board import SimBoard
from sim.clock import VirtualClock
from sim.faults import HEALTHY, Faults

# What a board that is open can have otherwise from one moment to the next; the rest is in its copper and its bus.
CHANGES = frozenset({"bounce_us", "stuck", "dead", "diodes", "leds_fail_rate", "lines_fail_rate"})


class SimJig:
    """Implements `hal.jig.Jig`; the same faults and seed give the same run. `clock` moves only by `wait`."""

    rung: Rung = "sim"
    exact = True

    def __init__(self, profile: Profile, faults: Faults = HEALTHY, seed: int = 0) -> None:
        self.profile, self._faults = profile, faults
        self.clock = VirtualClock(1_000_000)
        self.now_us = self.clock.now_us
        self.board = SimBoard(profile, self.clock, faults=faults, seed=seed)

    def wait(self, us: int) -> None:
        """Let virtual time pass."""
        self.clock.advance_to(self.now_us() + us)

    def press(self, cell: int) -> None:
        """Close a contact now; it bounces as the faults have it."""
        self.board.contacts.press(cell, self.now_us())

    def release(self, cell: int) -> None:
        """Open a contact now."""
        self.board.contacts.release(cell, self.now_us())

    def lit(self) -> bytes:
        """What the strip has decoded from its own data line and latched by now."""
        return self.board.wire()

    def fault(self, **keys: Any) -> None:
        """Other faults from now on. Raises Unsupported for what cannot change while a board is open."""
        for key, value in keys.items():
            if key not in CHANGES:
                raise Unsupported(
                    f"{key} = {value!r} is no fault that a simulated board in this process can get while it is open; "
                    f"those are {', '.join(sorted(CHANGES))}, the others it has from the start"
                )
        self._faults = replace(self._faults, **{key: _cells(value) for key, value in keys.items()})
        self.board.change(self._faults)

    def unplug(self) -> None:
        """Raises Unsupported."""
        raise Unsupported("a simulated board in this process has no cable to pull out")

    def plug(self, name: str | None = None) -> None:  # noqa: ARG002
        """Raises Unsupported."""
        raise Unsupported("a simulated board in this process has no cable to put in")

    def close(self) -> None:
        """Lift all fingers and leave the board dark."""
        for cell in range(self.profile.cells):
            self.release(cell)
        self.board.close()


def _cells(value: Any) -> Any:
    return frozenset(value) if isinstance(value, list | tuple | set) else value
