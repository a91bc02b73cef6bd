"""A pin factory of gpiozero on the simulated board: anyone's gpiozero program sees its contacts.

`GPIOZERO_PIN_FACTORY=morbak_sim` chooses it; $MORBAK_BOARD says how the board is wired (default: reference). The
program finds its board in `Device.pin_factory`: `contacts` to press, `put` for what is wired to other pins.
gpiozero is imported when the factory is first asked for.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cache
from threading import Event, Thread
from typing import Any

from firmware.app import RealClock
from hal.ports import Clock
from hal.profile import Profile, load, shipped
from sim.contacts import Contacts, placing
from sim.wires import Wires

BOARD = "MORBAK_BOARD"
PI_3B = 0xA02082  # a revision whose header is that of every later Pi
# Pins whose edges somebody waits for are looked at this often.
LOOK_S = 0.001
_PULLS = {"up": True, "down": False, "floating": None}


def __getattr__(name: str) -> Any:
    if name == "SimFactory":
        return _factory_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def wired(profile: Profile, contacts: Contacts, clock: Clock, *, diodes: bool | None = None) -> Wires:
    """The copper of a profile's matrix over some contacts; `diodes` where it is not as the profile says."""
    placed = placing(profile.turned)
    matrix = profile.matrix
    rows, columns = ([pin.bcm for pin in pins] for pins in (matrix.row_pins, matrix.column_pins))
    return Wires(
        [line for line in rows if line is not None],
        [line for line in columns if line is not None],
        lambda: placed(contacts.closed(clock.now_us())),
        diodes=matrix.diodes if diodes is None else diodes,
    )


class _Pin:
    """A pin on simulated copper. It keeps its state, not its past."""

    # Of gpiozero's PiPin, which stands behind.
    factory: Any
    info: Any
    when_changed: Any
    _number: int
    _call_when_changed: Callable[[float, bool], None]

    def __init__(self, factory: Any, info: Any) -> None:
        super().__init__(factory, info)  # type: ignore[call-arg]
        self._wires: Wires = factory.wires
        self._output, self._pull = False, "floating"
        self._state, self._edges = 0.0, "both"
        self._frequency: float | None = None
        self._bounce: float | None = None
        self._seen = False
        if info.pull:
            self._set_pull(info.pull)

    def close(self) -> None:
        self.when_changed = None
        self._frequency = None
        self._set_function("input")
        self._set_pull(self.info.pull or "floating")

    def output_with_state(self, state: float) -> None:
        self._state = state
        self._set_function("output")

    def _get_function(self) -> str:
        return "output" if self._output else "input"

    def _set_function(self, value: str) -> None:
        if value not in ("input", "output"):
            raise _errors().PinInvalidFunction("function must be input or output")
        self._output = value == "output"
        self._wires.drive(self._number, self._state >= 0.5 if self._output else None)

    def _get_state(self) -> float | bool:
        if self._output and self._frequency is not None:
            return self._state
        return self._wires.level(self._number)

    def _set_state(self, value: float) -> None:
        if not self._output:
            raise _errors().PinSetInput(f"cannot set state of pin {self!r}")
        self._state = value
        self._wires.drive(self._number, value >= 0.5)

    def _get_pull(self) -> str:
        return self._pull

    def _set_pull(self, value: str) -> None:
        if value not in _PULLS:
            raise _errors().PinInvalidPull("pull must be floating, up, or down")
        self._pull = value
        self._wires.pull(self._number, _PULLS[value])

    def _get_frequency(self) -> float | None:
        return self._frequency

    def _set_frequency(self, value: float | None) -> None:
        self._frequency = value

    def _get_bounce(self) -> float | None:
        return self._bounce

    def _set_bounce(self, value: float | None) -> None:
        self._bounce = value

    def _get_edges(self) -> str:
        return self._edges

    def _set_edges(self, value: str) -> None:
        self._edges = value

    def _enable_event_detect(self) -> None:
        self._seen = self._wires.level(self._number)
        self.factory.watch(self)

    def _disable_event_detect(self) -> None:
        self.factory.unwatch(self)

    def look(self) -> None:
        """Tell whoever waits for it that the level has changed."""
        level = self._wires.level(self._number)
        if level != self._seen:
            self._seen = level
            if self._edges in ("both", "rising" if level else "falling"):
                self._call_when_changed(self.factory.ticks(), level)


class _Factory:
    """gpiozero's pins on a simulated board: `contacts` to press, `wires` to look at, `put` for other pins.

    Edges that a program waits for are found every millisecond by a thread, or by `look` where `watching` is off.
    """

    pin: Callable[[int | str], Any]  # of gpiozero's PiFactory, which stands behind

    def __init__(
        self,
        profile: Profile | None = None,
        contacts: Contacts | None = None,
        clock: Clock | None = None,
        *,
        diodes: bool | None = None,
        watching: bool = True,
    ) -> None:
        super().__init__()
        self.profile = profile or load(shipped(os.environ.get(BOARD, "reference")))
        self.contacts = contacts or Contacts(self.profile.cells)
        self.clock = clock or RealClock()
        self.wires = wired(self.profile, self.contacts, self.clock, diodes=diodes)
        self.pin_class = _pin_class()
        self._watched: tuple[_Pin, ...] = ()
        self._watching, self._end = watching, Event()
        self._thread: Thread | None = None

    def close(self) -> None:
        self._end.set()
        if self._thread is not None:
            self._thread.join(1)
        super().close()  # type: ignore[misc]

    def put(self, pin: int | str, level: bool | None) -> None:
        """Put a level from outside on a pin, such as that of a button (low = pressed); None = let go."""
        self.wires.put(self.pin(pin)._number, level)

    def look(self) -> None:
        """Tell every change of level since the last look."""
        for pin in self._watched:
            pin.look()

    def watch(self, pin: _Pin) -> None:
        """Look at a pin from now on."""
        self._watched = (*self._watched, pin)
        if self._watching and self._thread is None:
            self._thread = Thread(target=self._look_on, name="sim pins", daemon=True)
            self._thread.start()

    def unwatch(self, pin: _Pin) -> None:
        """Look at it no more."""
        self._watched = tuple(one for one in self._watched if one is not pin)

    def _look_on(self) -> None:
        while not self._end.wait(LOOK_S):
            self.look()

    def _get_revision(self) -> int:
        return PI_3B

    @staticmethod
    def ticks() -> float:
        return time.monotonic()

    @staticmethod
    def ticks_diff(later: float, earlier: float) -> float:
        return later - earlier


def _errors() -> Any:
    from gpiozero import exc

    return exc


@cache
def _pin_class() -> Any:
    from gpiozero.pins.pi import PiPin

    return type("SimPin", (_Pin, PiPin), {})


@cache
def _factory_class() -> Any:
    from gpiozero.pins.pi import PiFactory

    return type("SimFactory", (_Factory, PiFactory), {"__module__": __name__})
