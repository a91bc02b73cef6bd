"""Colours of the board and the two sums of light done with them.

A colour is three bytes sRGB, as the eye should see it. Levels and shares are in linear light: half the level is half
the photons, not half the byte. The gamma is the one that `hal.pixels` applies afterwards.
"""

from __future__ import annotations

from typing import NamedTuple

from firmware.snapshot import Side

Colour = bytes

GAMMA = 2.2
# The dimmest leading byte that still reaches 3/255 on the wire: (34/255)^2.2 x 255 = 3.03.
FLOOR = 34
DARK: Colour = bytes(3)

_LIGHT: tuple[float, ...] = tuple((byte / 255) ** GAMMA for byte in range(256))


def mix(under: Colour, over: Colour, share: float) -> Colour:
    """`over` laid on `under` by `share` (0 to 1), summed in linear light."""
    rest = 1.0 - share
    return bytes(
        round(255 * (_LIGHT[low] * rest + _LIGHT[high] * share) ** (1 / GAMMA))
        for low, high in zip(under, over, strict=True)
    )


def scale(colour: Colour, level: float) -> Colour:
    """The colour at `level` (0 to 1) of its light, its hue kept, never dimmer than `FLOOR`. Not for `DARK`."""
    factor = max(level ** (1 / GAMMA), FLOOR / max(colour))
    return bytes(round(byte * factor) for byte in colour)


def luminance(colour: Colour) -> float:
    """Relative luminance, 0 to 1 (WCAG 2.2 weights, with the board's gamma)."""
    red, green, blue = (_LIGHT[byte] for byte in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


class Palette(NamedTuple):
    """Every colour the board uses.

    `a`, `b`: the sides. `a_pale`, `b_pale`: what their blocked cells and blooms go to; it keeps the side's hue.
    `a_tide`, `b_tide`: the levels of the empty cells, dimmest first. `mist`: the bloom of a cell that loses its
    colour. `white`: whatever is not about a side. `fault`: a part that has failed.
    """

    a: Colour
    b: Colour
    a_pale: Colour
    b_pale: Colour
    a_tide: tuple[Colour, ...]
    b_tide: tuple[Colour, ...]
    neutralised: Colour
    mist: Colour
    white: Colour
    fault: Colour

    def side(self, side: Side | None) -> Colour:
        """A side's colour; white for nobody's."""
        return self.white if side is None else self.a if side == "a" else self.b

    def pale(self, side: Side) -> Colour:
        """What a side's colour goes to at the height of a pulse."""
        return self.a_pale if side == "a" else self.b_pale

    def tide(self, side: Side) -> tuple[Colour, ...]:
        """The levels of the empty cells on a side's turn."""
        return self.a_tide if side == "a" else self.b_tide


# The tide's levels on the wire: (3..6,1,0) for a, (0,0,4) (0,0,5) (0,1,5) (0,1,6) for b. One step of green is most of
# what the eye sees down here: without it orange sinks to red; with it in every step the blue would be teal.
DEFAULT = Palette(
    a=bytes.fromhex("ff7a18"),
    b=bytes.fromhex("1e6bff"),
    a_pale=bytes.fromhex("ffe3c4"),
    b_pale=bytes.fromhex("bfd6ff"),
    a_tide=tuple(bytes((byte, 21, 0)) for byte in (34, 39, 43, 47)),
    b_tide=tuple(bytes((0, *rest)) for rest in ((0, 39), (0, 43), (21, 43), (21, 47))),
    neutralised=bytes.fromhex("3a3440"),
    mist=bytes.fromhex("d8cfe6"),
    white=bytes.fromhex("ffffff"),
    fault=bytes.fromhex("9b5bff"),
)
