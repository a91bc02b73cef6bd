"""Pixels: a frame as the eye should see it becomes the bytes of the LED chain, within what the supply can give.

One gamma stage for the whole system, then balance and brightness in 16 bits, then the current limit, which is below
every effect and cannot be bypassed. Pure: the limiter's state is handed in and out, so the same states at the same
times give the same bytes.
"""

from __future__ import annotations

from functools import cache
from operator import itemgetter
from struct import Struct
from typing import NamedTuple

from hal.profile import VISIBLE, Profile

_FULL = 65_535
# A colour is lit from this level of its leading channel on: VISIBLE on the wire at the usual gamma of 2.2, rounded.
LIT_SRGB = 32
# Colours remembered. A frame has one a cell, effects a few hundred; 4096 take 0.8 MB.
_REMEMBERED = 4_096
# The limiter's unit of current: steps of 1/255 of a channel and whole per cents of the model, both without rounding.
_UNITS_PER_UA = 255 * 100
# Of the time between two frames at most this much lets current rise. After a second's rest a step is as hard on the
# supply as after one frame, so a rise always goes through frames (case H1); 60 of them a second fit.
_RISE_US = 20_000
# When the limit lets go, light comes back by 1/256 in this time: 3 % a frame, all of it in half a second.
_EASE_US = 2_000
_EASED_US = 256 * _EASE_US


class LimiterState(NamedTuple):
    """What the limiter remembers from one frame to the next.

    `t_us`: when the last frame was, None before the first. `ramp`: the current the supply has got used to.
    `eased_us`: how long the limit has been letting go, `_EASED_US` where it does not hold. `halved`: the supply's
    voltage sags, so only half of the budget is asked for (case H7); whoever measures it says so here.
    """

    t_us: int | None
    ramp: int
    eased_us: int = _EASED_US
    halved: bool = False


@cache
def _dimmed(scale: int) -> bytes:
    """The table that dims a wire byte to scale/256, rounded down; the lowest visible levels are left alone.

    The three lowest steps of every channel stay, so that the limiter never darkens what is lit: a profile's supply
    carries them on all cells at once.
    """
    return bytes(low + ((value - low) * scale >> 8) for value in range(256) for low in (min(value, VISIBLE),))


class Limiter:
    """Keeps the current of a chain within the budget of its supply, and its rise within the supply's slew.

    For frames at t1 < t2 of any sequence: the current stays at or under the budget, and rises by no more than the
    slew x (t2 - t1) and what may always come at once: what one cell draws at full, or a tenth of the budget.
    """

    def __init__(self, profile: Profile) -> None:
        power = profile.power
        red, green, blue = (ua * power.model_scale_pct for ua in power.channel_ua)
        weights = {"R": red, "G": green, "B": blue}
        self._first, self._second, self._third = (weights[channel] for channel in profile.leds.colour_order)
        count, cell = profile.led_count, profile.leds.per_cell
        self._idle = count * power.idle_ua * power.model_scale_pct * 255
        self._least = self._idle + VISIBLE * count * (red + green + blue)
        self._budget = power.budget_ua * _UNITS_PER_UA
        self._slew = power.slew_ma_per_ms * _UNITS_PER_UA  # a mA/ms is a uA/us
        # On a large board the lowest visible level of all cells draws more than one cell at full. A tenth of the
        # budget is a step that no supply notices, and keeps a change of scene from dipping for a frame.
        self._free = max(max(255 * cell, VISIBLE * count) * (red + green + blue), self._budget // 10)
        self.start = LimiterState(None, self._idle)

    def current_ma(self, chain: bytes) -> float:
        """What the chain draws with these bytes, by the model."""
        return self._current(chain) / (1000 * _UNITS_PER_UA)

    def step(self, chain: bytes, t_us: int, state: LimiterState) -> tuple[bytes, LimiterState]:
        """The chain's bytes at `t_us`, dimmed as a whole as far as current asks for, and the state after them."""
        last_us, ramp, eased_us, halved = state
        # Half, but for what keeps all that is lit visible, without which the board would be dark.
        budget = max(self._budget // 2, self._least) if halved else self._budget
        if last_us is not None and t_us > last_us:
            passed_us = min(t_us - last_us, _RISE_US)
            ramp += self._slew * passed_us
            eased_us += passed_us
        current = self._current(chain)
        allowed = min(ramp + self._free, budget)
        if current <= allowed and eased_us >= _EASED_US:
            return chain, LimiterState(t_us, min(ramp, current), halved=halved)
        eased_us = self._eased(chain, current, (allowed, budget), eased_us)
        chain = chain.translate(_dimmed(min(eased_us // _EASE_US, self._scale(chain, current, allowed))))
        return chain, LimiterState(t_us, min(ramp, self._current(chain)), eased_us, halved)

    def _eased(self, chain: bytes, current: int, limits: tuple[int, int], eased_us: int) -> int:
        """How far the budget lets go: falls as far as current asks for at once, comes back by `_EASE_US` a scale.

        A frame that draws no more than may come at any time is shown as it is. The ramp needs no easing: it rises
        by itself, within a frame or two, and a slower one would show as a flicker.
        """
        allowed, budget = limits
        if current <= min(allowed, self._idle + self._free):
            return _EASED_US
        return min(eased_us, self._scale(chain, current, budget) * _EASE_US)

    def _current(self, chain: bytes) -> int:
        colours = self._first * sum(chain[0::3]) + self._second * sum(chain[1::3]) + self._third * sum(chain[2::3])
        return self._idle + colours

    def _scale(self, chain: bytes, current: int, allowed: int) -> int:
        """The brightest of 257 scales that the current allows."""
        if current <= allowed:
            return 256
        least = self._current(chain.translate(_dimmed(0)))
        return (allowed - least) * 256 // (current - least)


class _Colours(dict[bytes, bytes]):
    """Wire bytes by sRGB colour, worked out when first asked for; a full table starts anew."""

    def __init__(self, profile: Profile) -> None:
        super().__init__()
        leds = profile.leds
        self._levels = [[round((v / 255) ** leds.gamma * share * _FULL) for v in range(256)] for share in leds.balance]
        self.brightness_pct = leds.brightness_pct
        self._order = ["RGB".index(channel) for channel in leds.colour_order]

    def __missing__(self, colour: bytes) -> bytes:
        if len(self) >= _REMEMBERED:
            self.clear()
        if max(colour) < LIT_SRGB:
            return self.setdefault(colour, bytes(3))
        light = [levels[value] for levels, value in zip(self._levels, colour, strict=True)]
        wire = self[colour] = self._wire([light[channel] for channel in self._order])
        return wire

    def _wire(self, light: list[int]) -> bytes:
        """Three 16-bit channels at the set brightness; what is lit stays visible, whatever gamma and balance."""
        lead = max(light)
        if 255 * lead * self.brightness_pct < VISIBLE * 100 * _FULL:
            return bytes(_nearest(VISIBLE * level, lead) for level in light)
        return bytes(_nearest(255 * level * self.brightness_pct, 100 * _FULL) for level in light)


def _nearest(numerator: int, denominator: int) -> int:
    """Division rounded to the nearest integer, halves up."""
    return (2 * numerator + denominator) // (2 * denominator)


class Pixels:
    """Frames to chain bytes for one board, and back.

    The LEDs of edge strips follow those of the cells in a frame, side a's first; a frame of the cells alone leaves
    them dark.
    """

    def __init__(self, profile: Profile) -> None:
        lights = profile.lights
        shown = max(lights) + 1
        self._bytes, self._edges = 3 * profile.cells, bytes(3 * (shown - profile.cells))
        self._unpack = Struct("3s" * shown).unpack
        straight = lights == tuple(range(shown))
        self._in_chain_order = itemgetter(slice(None)) if straight else itemgetter(*lights)
        self._colours = _Colours(profile)
        self._channels = itemgetter(*_channel_places(profile))

    @property
    def brightness_pct(self) -> int:
        """At how much of full all light shows."""
        return self._colours.brightness_pct

    def dim(self, brightness_pct: int) -> None:
        """Show all light at `brightness_pct` of full from the next frame on."""
        if brightness_pct != self._colours.brightness_pct:
            self._colours.brightness_pct = brightness_pct
            self._colours.clear()

    def chain(self, frame: bytes) -> bytes:
        """What the LEDs get for a frame (rows x columns x 3 bytes, sRGB, cell order), but for the current limit."""
        if len(frame) != self._bytes + len(self._edges):
            if len(frame) != self._bytes:
                raise ValueError(f"a frame of {len(frame)} bytes where {self._bytes} are wanted: three a cell")
            frame += self._edges
        return b"".join(map(self._colours.__getitem__, self._in_chain_order(self._unpack(frame))))

    def cells(self, chain: bytes) -> bytes:
        """The wire values of a chain as rows x columns x 3 bytes RGB in cell order."""
        return bytes(self._channels(chain))


def _channel_places(profile: Profile) -> list[int]:
    """Where in the chain's bytes the red, green and blue of each cell are; of several LEDs under it the first."""
    position = {cell: 3 * profile.leds.per_cell * at for at, cell in enumerate(profile.chain)}
    places = [profile.leds.colour_order.index(channel) for channel in "RGB"]
    return [position[cell] + place for cell in range(profile.cells) for place in places]
