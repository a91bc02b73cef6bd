"""A faulty cable between a board and its host: what goes in at one end comes out at the other, or not quite."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Protocol

from hal.errors import ProfileError
from sim.faults import stream


@dataclass(frozen=True, slots=True)
class CableFaults:
    """What a cable does to bytes, each way; the defaults are a sound one.

    `byte_error_rate`: of the bytes, that one to eight of their bits turn over. Of the writes: `loss_rate` vanish,
    `duplicate_rate` come twice, `reorder_rate` come after the next one, `stall_rate` hold all that follows for up to
    `stall_us`, `split_rate` come in two pieces. `delay_us`: how long a byte takes. `burst_hz`: bursts of noise a
    second, in which each byte that passes is replaced, each `burst_us` long. `unplug_hz`: how often a second the cable
    is pulled out, for up to `unplug_us`.
    """

    byte_error_rate: float = 0.0
    loss_rate: float = 0.0
    duplicate_rate: float = 0.0
    reorder_rate: float = 0.0
    stall_rate: float = 0.0
    stall_us: int = 50_000
    split_rate: float = 0.0
    delay_us: int = 200
    burst_hz: float = 0.0
    burst_us: int = 20_000
    unplug_hz: float = 0.0
    unplug_us: int = 4_000_000


SOUND = CableFaults()


def parse(pairs: list[str]) -> CableFaults:
    """Faults from `KEY=VALUE` each. Raises ProfileError naming the key, the value and the rule."""
    known = {field.name: int if field.type == "int" else float for field in fields(CableFaults)}
    given: dict[str, float] = {}
    for key, _, value in (pair.partition("=") for pair in pairs):
        if key not in known:
            near = get_close_matches(key, known, n=1, cutoff=0.0)[0]
            raise ProfileError("cable", key, value, f"no such fault; the nearest is {near}")
        most = 1 if key.endswith("_rate") else 1_000_000_000
        least = 2 if key == "stall_us" else 0
        try:
            given[key] = known[key](value)
        except ValueError as error:
            kind = "a whole number" if known[key] is int else "a number"
            raise ProfileError("cable", key, value, f"write {kind} from {least} to {most}") from error
        if not least <= given[key] <= most:
            raise ProfileError("cable", key, value, f"it must be from {least} to {most}")
    return CableFaults(**given)  # type: ignore[arg-type]


class OneWay:
    """One direction of a cable. Times do not go back."""

    def __init__(self, faults: CableFaults, seed: int, name: str) -> None:
        self.faults = faults
        self._random = stream(seed, f"cable {name}")
        self._way: deque[tuple[int, bytes]] = deque()
        self._held: bytes | None = None
        self._free_us = 0
        self._burst_us = self._quiet_us = 0  # a burst's begin and end
        self.harmed = 0

    def clear(self) -> None:
        """What is on its way is gone."""
        self._way.clear()
        self._held = None

    def stall(self, t_us: int, us: int) -> None:
        """Let nothing more come out for so long."""
        self._free_us = max(self._free_us, t_us) + us

    def noise(self, t_us: int, us: int) -> None:
        """Replace every byte that goes in from now on, for so long."""
        self._burst_us, self._quiet_us = t_us, t_us + us

    def send(self, data: bytes, t_us: int) -> None:
        """Put bytes in at `t_us`."""
        if not data:
            return
        faults, chance = self.faults, self._random.random
        if chance() < faults.loss_rate:
            self.harmed += 1
            return
        data = self._noise(data, t_us)
        if chance() < faults.stall_rate:
            self._free_us = max(self._free_us, t_us) + self._random.randrange(1, faults.stall_us)
        if self._held is not None:
            pieces, self._held = [data, self._held], None
        elif chance() < faults.reorder_rate:
            self.harmed += 1
            self._held = data
            return
        else:
            pieces = [data]
        if chance() < faults.duplicate_rate:
            self.harmed += 1
            pieces.append(data)
        if len(data) > 1 and chance() < faults.split_rate:
            at = self._random.randrange(1, len(data))
            pieces = [data[:at], data[at:], *pieces[1:]] if pieces[0] is data else pieces
        for piece in pieces:
            self._free_us = max(self._free_us, t_us + faults.delay_us)
            self._way.append((self._free_us, piece))

    def receive(self, t_us: int) -> bytes:
        """What has come out by `t_us`."""
        out = b""
        while self._way and self._way[0][0] <= t_us:
            out += self._way.popleft()[1]
        return out

    def _noise(self, data: bytes, t_us: int) -> bytes:
        faults, random = self.faults, self._random
        if faults.burst_hz and t_us >= self._quiet_us:
            self.noise(self._quiet_us + int(random.expovariate(faults.burst_hz) * 1e6), faults.burst_us)
        if self._burst_us <= t_us < self._quiet_us:
            self.harmed += 1
            return random.randbytes(len(data))
        if not faults.byte_error_rate:
            return data
        spoilt = bytearray(data)
        for at in range(len(spoilt)):
            if random.random() < faults.byte_error_rate:
                spoilt[at] ^= random.randrange(1, 256)
                self.harmed += 1
        return bytes(spoilt)


class Peer(Protocol):
    """Whoever is at the other end, moved on together with the clock."""

    def step(self, t_us: int, data: bytes) -> bytes:
        """Take what has come by `t_us`; returns what goes back."""


class Cable:
    """Both directions, and whether it is plugged in."""

    def __init__(self, faults: CableFaults = SOUND, seed: int = 0) -> None:
        self.down, self.up = OneWay(faults, seed, "down"), OneWay(faults, seed, "up")
        self.plugged = True
        self._faults, self._random = faults, stream(seed, "cable plug")
        self._moves_us: int | None = None

    def pass_time(self, t_us: int) -> None:
        """Pull it out or put it back, where the faults have somebody pull at it."""
        if not self._faults.unplug_hz:
            return
        if self._moves_us is not None and t_us >= self._moves_us:
            self._moves_us = None
            if self.plugged:
                self.unplug()
            else:
                self.plug()
        if self._moves_us is None:
            out_us = self._random.randrange(self._faults.unplug_us + 1)
            stays_us = int(self._random.expovariate(self._faults.unplug_hz) * 1e6) if self.plugged else out_us
            self._moves_us = t_us + stays_us

    def unplug(self) -> None:
        """Pull it out; what is on its way is lost."""
        self.plugged = False
        self.down.clear()
        self.up.clear()

    def noise(self, t_us: int, us: int) -> None:
        """Replace every byte both ways for so long."""
        self.down.noise(t_us, us)
        self.up.noise(t_us, us)

    def plug(self) -> None:
        """Put it back in."""
        self.plugged = True
