"""A host and a simulated board with a faulty cable between them, in virtual time."""

from __future__ import annotations

from hal.link_host import Host
from hal.ports import Edge
from hal.profile import Profile, load, shipped
from sim.cable import SOUND, Cable, CableFaults
from sim.clock import VirtualClock
from sim.device import SimDevice
from sim.faults import HEALTHY, Faults

SIM = load(shipped("sim"))
TICK_US = 1_000
BUDGET = 100, 2_100_000, 1_250, (13_750, 20_000, 18_750)
# The board's clock is not the host's: it began long before, and runs faster by 50 ppm.
BOARD_AHEAD_US = 987_654_321


class BoardClock:
    """The board's own time for that of the host's clock."""

    def __init__(self, clock: VirtualClock, ppm: int = 50) -> None:
        self._clock, self._ppm, self.ahead_us = clock, ppm, BOARD_AHEAD_US

    def now_us(self) -> int:
        now_us = self._clock.now_us()
        return now_us + now_us * self._ppm // 1_000_000 + self.ahead_us


class Rig:
    """A `host`, a `cable` and a `device`; `edges`: all that has been heard, `unknown`: when nothing was known."""

    def __init__(
        self, faults: CableFaults = SOUND, seed: int = 0, contacts: Faults = HEALTHY, profile: Profile = SIM
    ) -> None:
        self.clock = VirtualClock(1_000_000)
        self.board_clock = BoardClock(self.clock)
        self.device = SimDevice(profile, self.board_clock, faults=contacts, seed=seed)
        self.cable = Cable(faults, seed)
        self.host = Host(seed)
        self.host.allow(*BUDGET)
        self.edges: list[Edge] = []
        self.unknown: list[tuple[int, int]] = []
        self.known_us = 0
        self.lag_us: list[int] = []

    @property
    def now_us(self) -> int:
        return self.clock.now_us()

    def run(self, us: int) -> None:
        """Let both ends do what they do, once a millisecond, for so long."""
        end_us = self.now_us + us
        while self.now_us < end_us:
            self.clock.advance_to(self.now_us + TICK_US)
            self._tick(self.now_us)

    def press(self, cell: int) -> None:
        self.device.board.contacts.press(cell, self.board_clock.now_us())

    def release(self, cell: int) -> None:
        self.device.board.contacts.release(cell, self.board_clock.now_us())

    def tap(self, cell: int, us: int = 60_000) -> None:
        """Press for so long, lift, and wait until that is known on a sound cable."""
        self.press(cell)
        self.run(us)
        self.release(cell)
        self.run(40_000)

    def lit(self) -> bytes:
        """What the strip shows, red first."""
        strip = self.device.board.strip
        strip.settle(self.board_clock.now_us())
        return bytes(strip.latched.frame)

    def _tick(self, t_us: int) -> None:
        cable = self.cable
        out = self.host.poll(t_us)
        if cable.plugged:
            cable.down.send(out, t_us)
        cable.up.send(self.device.step(self.board_clock.now_us(), cable.down.receive(t_us)), t_us)
        if not cable.plugged:
            cable.up.clear()
        self.host.feed(cable.up.receive(t_us), t_us)
        heard = self.host.take()
        if heard.unknown is not None:
            self.unknown.append(heard.unknown)
        for edge in heard.edges:
            assert edge.t_us > self.known_us, f"{edge} comes after everything up to {self.known_us} was known"
            assert edge.t_us <= t_us, f"{edge} lies in the future of {t_us}"
        assert self.known_us <= heard.known_us <= t_us
        self.known_us = heard.known_us
        self.edges += heard.edges
        if self.host.up:
            self.lag_us.append(t_us - heard.known_us)


def dim(frame: bytes) -> bytes:
    """A frame that no limit holds back."""
    return bytes(value // 4 for value in frame)


def on_the_strip(frame: bytes) -> bytes:
    """The chain's bytes, green first, as a strip that decodes them shows them: red first."""
    return b"".join(bytes((frame[at + 1], frame[at], frame[at + 2])) for at in range(0, len(frame), 3))
