"""Frames on their way to a board: the latest wins, one is in flight, what is not acknowledged is sent anew. Pure."""

from __future__ import annotations

from hal import link

# What is not acknowledged is sent again after this, or three round trips of a slower board; then after twice as long,
# and so on: a board that is slow to take a frame in does not become quicker by another one.
RETRY_US = 20_000
MOST_DOUBLINGS = 4
_LONG_AGO_US = -(1 << 62)


class FrameSender:
    """What a board shows, and what is to be sent so that it shows what it should.

    `shown`: the frame that the board says it shows; empty where that is not known.
    """

    def __init__(self) -> None:
        self.wanted: bytes | None = None
        self._number = 0
        self.forget()

    def forget(self) -> None:
        """A session begins: the board is dark, and whoever lights it begins anew."""
        self.wanted = None
        self.shown, self._shown_number = b"", 0
        self._flight, self._flight_number, self._flight_us = b"", 0, _LONG_AGO_US
        self._missed = 0

    @property
    def settled(self) -> bool:
        """The board shows what it was told to show last."""
        return self.wanted is not None and self.wanted == self.shown

    @property
    def flying(self) -> bool:
        """A frame is on its way, and what has become of it is not known."""
        return bool(self._flight)

    def acknowledged(self, number: int, passed: bool) -> None:
        """The board says which frame it shows; `passed`: it has heard that one, or what was sent after it."""
        if self._flight and number == self._flight_number:
            self.shown, self._shown_number, self._flight, self._missed = self._flight, number, b"", 0
        elif self._flight and passed:
            self._missed = 0  # it was lost, and is not on its way through a slow board
        elif not self._flight and self.shown and number != self._shown_number:
            self.shown = b""  # it shows something else: send it all

    def next(self, t_us: int, retry_us: int) -> tuple[int, bytes] | None:
        """The kind and body of the message to be sent at `t_us`, if one is."""
        wanted = self.wanted
        if wanted is None or (self._flight and t_us - self._flight_us < retry_us << min(self._missed, MOST_DOUBLINGS)):
            return None
        if not self._flight and wanted == self.shown:
            return None
        if not self.shown and t_us - self._flight_us < retry_us:
            return None  # it has said that it shows this one, and then that it shows another
        lost = bool(self._flight)
        self._missed += lost
        self._number = self._number % 0xFFFF + 1
        self._flight, self._flight_number, self._flight_us = wanted, self._number, t_us
        full = self._number.to_bytes(2, "little") + wanted
        if not lost and len(self.shown) == len(wanted):
            base = self._shown_number.to_bytes(2, "little")
            changes = full[:2] + base + link.delta(self.shown, wanted)
            if len(changes) < len(full):
                return link.DELTA, changes
        return link.FRAME, full
