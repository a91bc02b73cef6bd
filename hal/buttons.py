"""Push buttons: polled, debounced, told once a press. Pure but for the buttons it is given."""

from __future__ import annotations

from hal.ports import Buttons

# A finger presses a button for 50 ms and more; two readings 10 ms apart outlast the bounce of a push button (case C12).
POLL_US = 10_000


class ButtonWatch:
    """Tells each press of a button once, when it has been read twice in a row."""

    def __init__(self, buttons: Buttons) -> None:
        self._buttons = buttons
        self._due_us: int | None = None
        self._last: frozenset[str] = frozenset()
        self._pressed: frozenset[str] | None = None  # None: what is pressed at power-up is no press

    def step(self, t_us: int) -> frozenset[str] | None:
        """The buttons whose press is certain at `t_us`, each told once; None between polls. Raises PartError."""
        if self._due_us is not None and t_us < self._due_us:
            return None
        self._due_us = t_us + POLL_US
        read = self._buttons.read()
        pressed = self._pressed if self._pressed is not None else read
        steady = (read & self._last) | (pressed & (read | self._last))
        self._last, self._pressed = read, steady
        return steady - pressed
