"""Push buttons and a buzzer through gpiozero, both optional: a board without them, or on which they fail, plays.

A button is an input with a pull-up; it is sampled and debounced elsewhere, since gpiozero's bounce_time loses edges
(case C12). A passive buzzer is a PWM output, played by a thread of its own.
"""

from __future__ import annotations

import threading
from math import asin, pi
from typing import Any

from hal import pins
from hal.drivers.gpiozero_factory import pin_factory
from hal.errors import PartError
from hal.ports import Buttons, Note, Sounder
from hal.profile import Profile


class Missing:
    """A part that could not be opened; it says why whenever it is used, so that the health names it."""

    def __init__(self, fault: PartError) -> None:
        self._fault = fault

    def read(self) -> frozenset[str]:
        """Raises the PartError of the opening."""
        raise PartError(str(self._fault))

    def play(self, notes: tuple[Note, ...], volume_pct: int) -> None:  # noqa: ARG002 - the port has them
        """Raises the PartError of the opening."""
        raise PartError(str(self._fault))

    def close(self) -> None:
        """There is nothing to let go."""


def open_buttons(profile: Profile) -> Buttons | None:
    """The buttons of a profile, None where it has none. Raises nothing: one that fails says so when it is read."""
    if profile.buttons.start is None:
        return None
    try:
        return GpiozeroButtons({"start": pins.parse(profile.buttons.start)})
    except PartError as fault:
        return Missing(fault)


def open_sounder(profile: Profile) -> Sounder | None:
    """The buzzer of a profile, None where it has none. Raises nothing: one that fails says so when it is played."""
    if profile.buzzer.pin is None:
        return None
    try:
        return GpiozeroSounder(pins.parse(profile.buzzer.pin))
    except PartError as fault:
        return Missing(fault)


class GpiozeroButtons:
    """Implements `Buttons`: each from its pin to ground."""

    def __init__(self, by_name: dict[str, pins.Pin]) -> None:
        """Raises PartError for a pin that is taken or that there is not."""
        factory = pin_factory(tuple(by_name.values()))
        self._devices: dict[str, Any] = {}
        try:
            for name, pin in by_name.items():
                self._devices[name] = _device("InputDevice", pin, pull_up=True, pin_factory=factory)
        except BaseException:
            self.close()
            raise

    def read(self) -> frozenset[str]:
        """The names of those that are pressed now, undebounced. Raises PartError."""
        try:
            return frozenset(name for name, device in self._devices.items() if device.is_active)
        except Exception as fault:
            # Whatever a pin factory raises is a part that fails.
            raise PartError(f"a button cannot be read: {fault}") from fault

    def close(self) -> None:
        """Let the pins go. May be called twice."""
        devices, self._devices = self._devices, {}
        for device in devices.values():
            device.close()


class GpiozeroSounder:
    """Implements `Sounder` on a passive buzzer: the pitch is the frequency of the pulses, the volume their width."""

    def __init__(self, pin: pins.Pin) -> None:
        """Raises PartError for a pin that is taken, that there is not, or that has no pulses."""
        factory = pin_factory((pin,))
        self._device = _device("PWMOutputDevice", pin, initial_value=0, frequency=440, pin_factory=factory)
        self._changed = threading.Condition()
        self._wanted: tuple[tuple[Note, ...], int] | None = None
        self._fault: Exception | None = None
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="sound", daemon=True)
        self._thread.start()

    def play(self, notes: tuple[Note, ...], volume_pct: int) -> None:
        """Begin to play, in place of what plays now; returns at once. Raises PartError for what failed before."""
        with self._changed:
            fault, self._fault = self._fault, None
            self._wanted = (notes, volume_pct)
            self._changed.notify_all()
        if fault is not None:
            raise PartError(f"the buzzer cannot be played: {fault}")

    def close(self) -> None:
        """Be silent and let the pin go. May be called twice."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()
        self._device.close()

    def _run(self) -> None:
        while (wanted := self._next()) is not None:
            try:
                self._sound(*wanted)
            except Exception as fault:  # noqa: BLE001 - whatever a pin factory raises; told at the next sound
                self._fault = fault

    def _next(self) -> tuple[tuple[Note, ...], int] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._closing or self._wanted is not None)
            wanted, self._wanted = self._wanted, None
            return None if self._closing else wanted

    def _sound(self, notes: tuple[Note, ...], volume_pct: int) -> None:
        try:
            for note in notes:
                self._device.value = 0
                if note.hz:
                    self._device.frequency = note.hz
                    self._device.value = width(volume_pct)
                with self._changed:
                    if self._changed.wait_for(lambda: self._closing or self._wanted is not None, note.ms / 1000):
                        break
        finally:
            self._device.value = 0


def width(volume_pct: int) -> float:
    """How much of a period a pulse lasts for a volume: the loudest is half of it, as its first harmonic is then."""
    return asin(volume_pct / 100) / pi


def _device(kind: str, pin: pins.Pin, **options: Any) -> Any:
    """A device of gpiozero. Raises PartError, whatever a pin factory raises."""
    import gpiozero

    if pin.bcm is None:
        raise PartError(f"{pin} is no pin of a Pi's header, and gpiozero, which works it, knows no other")
    try:
        return getattr(gpiozero, kind)(f"GPIO{pin.bcm}", **options)
    except Exception as fault:
        raise PartError(f"GPIO{pin.bcm} cannot be opened: {fault}; `gpioinfo` shows who has which line") from fault
