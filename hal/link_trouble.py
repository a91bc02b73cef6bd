"""Why there is no board at the end of a cable: one sentence for each kind of what is there instead. Pure."""

from __future__ import annotations

from typing import NamedTuple

from hal import link

# A board that reboots when its port is opened is given so long (case E7).
PATIENCE_US = 3_000_000
# More than any board says: 200 words a second of 60 bytes, and a frame's acknowledgements.
BABBLE_BYTES_PER_S = 60_000
# A board that was greeted so often on one open port breaks off again and again.
MANY_SESSIONS = 3
# Between two lines of the log about one cable, at first and at most; and after how long without a change as at first.
TELL_US, MOST_US, CALM_US = 2_000_000, 3_600_000_000, 60_000_000


class Line(NamedTuple):
    """What has been seen of a port. `opened_us`: since when it is open, None while it is not, and `fault` why not; of
    one that was given up and is open again, `fault` is what was wrong before.

    `heard`: bytes that came; `sample`: the first of them; `stuck_us`: since when it takes nothing, if it does not.
    """

    where: str
    opened_us: int | None = None
    fault: str = ""
    heard: int = 0
    sample: bytes = b""
    stuck_us: int | None = None


class Greeting(NamedTuple):
    """How far the greeting has got. `refusal`, `version`, `banners`, `good`: as in `hal.link_host.Host`.

    `begun`: sessions since the port was opened; `echoes`: messages that only a host sends.
    """

    refusal: int | None = None
    version: int | None = None
    banners: int = 0
    good: int = 0
    begun: int = 0
    echoes: int = 0


class Telling:
    """Which of the sentences about one cable are worth a line of the log: what changes all the time is told less and
    less often, and what has not changed for a minute at once."""

    def __init__(self) -> None:
        self._told = self._last = ""
        self._told_us = self._since_us = self._wait_us = 0

    def due(self, text: str, t_us: int) -> bool:
        """Whether `text`, which holds at `t_us`, is to be told now; "" is told as the end of what was told before."""
        if t_us - self._since_us > CALM_US:
            self._wait_us = 0
        if text != self._last:
            self._last, self._since_us = text, t_us
        if text == self._told or t_us - self._told_us <= self._wait_us:
            return False
        self._wait_us = max(TELL_US, min(2 * self._wait_us, MOST_US))
        self._told, self._told_us = text, t_us
        return True


def sentence(line: Line, greeting: Greeting, t_us: int) -> str:
    """Why nothing is known of a board at `t_us`, and what to do."""
    where = line.where
    if line.opened_us is None:
        return line.fault or f"{where}: not found; plug the board in, or name its port"
    if greeting.version is not None:
        older = "older" if greeting.version < link.VERSION else "newer"
        which = "its firmware" if greeting.version < link.VERSION else "this program"
        return (
            f"{where}: the board speaks version {greeting.version} of the link, which is {older} than "
            f"{link.VERSION}, the one spoken here; update {which}"
        )
    if line.stuck_us is not None and t_us - line.stuck_us > 1_000_000:
        return f"{where}: the device takes nothing that is sent; press its reset button, or pull its cable out and in"
    if t_us - line.opened_us < PATIENCE_US:
        return line.fault or f"{where}: waiting for the board to answer"
    return f"{where}: {_answer(line, greeting, (t_us - line.opened_us) / 1e6)}"


def _answer(line: Line, greeting: Greeting, open_s: float) -> str:
    if greeting.banners:
        return "the board speaks but does not hear; look at the wire to its receiver, or at the cable"
    if greeting.refusal is not None:
        return f"the board refuses what it is told (reason {greeting.refusal}); update its firmware"
    if greeting.echoes:
        return "what is sent there comes back, and no board answers; name the board's port, or look at its wires"
    if 0 < greeting.begun < MANY_SESSIONS:
        return "the board was there and says nothing any more; press its reset button, or pull its cable out and in"
    if greeting.good:
        return "the board is there and breaks off again and again; try another cable, without a hub"
    if not line.heard:
        return "nothing is said there; is it the board's port, and does its firmware run?"
    if line.heard / open_s > BABBLE_BYTES_PER_S:
        return f"something babbles there, {line.heard / open_s / 1000:.0f} kB a second, and it is no board; unplug it"
    shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in line.sample[:24])
    return f"another device is there, which says {shown!r}; name the board's port, or install its firmware"
