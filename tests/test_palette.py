"""The palette can be told apart by every eye, measured by CIEDE2000 under simulated colour blindness."""

from __future__ import annotations

from itertools import combinations
from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt

import pytest

from firmware.grounds import PAUSED_HIGH, PAUSED_LOW
from firmware.lights import DIM_LEVEL, DRAW_LEVEL, MENU_LEVEL, MENU_PALE_LEVEL
from firmware.nightfall import STAR_HIGH
from firmware.palette import DARK, DEFAULT, FLOOR, GAMMA, Colour, luminance, mix, scale
from firmware.snapshot import Side

Triple = tuple[float, float, float]
Matrix = tuple[Triple, Triple, Triple]

# Machado, Oliveira and Fernandes (2009), severity 1.0, for linear sRGB.
SIGHTS: dict[str, Matrix] = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
TO_XYZ: Matrix = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
# Sharma, Wu and Dalal (2005), table 1: Lab, Lab, distance.
SHARMA: list[tuple[Triple, Triple, float]] = [
    ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
    ((50.0, -1.3802, -84.2814), (50.0, 0.0, -82.7485), 1.0000),
    ((50.0, 0.0, 0.0), (50.0, -1.0, 2.0), 2.3669),
    ((50.0, 2.4900, -0.0010), (50.0, -2.4900, 0.0009), 7.1792),
    ((50.0, 2.4900, -0.0010), (50.0, -2.4900, 0.0011), 7.2195),
    ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
    ((50.0, 2.5, 0.0), (61.0, -5.0, 29.0), 22.8977),
    ((50.0, 2.5, 0.0), (56.0, -27.0, -3.0), 31.9030),
    ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
    ((6.7747, -0.2908, -2.4247), (5.8714, -0.0985, -2.2286), 0.6377),
    ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
]


def ciede2000(one: Triple, two: Triple) -> float:
    """The colour difference of two Lab colours (CIE 142-2001, in the form of Sharma, Wu and Dalal)."""
    (l1, a1, b1), (l2, a2, b2) = one, two
    mean7 = ((hypot(a1, b1) + hypot(a2, b2)) / 2) ** 7
    stretch = 1.5 - 0.5 * sqrt(mean7 / (mean7 + 25.0**7))
    c1, c2 = hypot(a1 * stretch, b1), hypot(a2 * stretch, b2)
    h1, h2 = degrees(atan2(b1, a1 * stretch)) % 360, degrees(atan2(b2, a2 * stretch)) % 360
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    if turn == -180:
        turn = 180.0
    mean_l, mean_c = (l1 + l2) / 2, (c1 + c2) / 2
    mean_h = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    t = (
        1
        - 0.17 * cos(radians(mean_h - 30))
        + 0.24 * cos(radians(2 * mean_h))
        + 0.32 * cos(radians(3 * mean_h + 6))
        - 0.20 * cos(radians(4 * mean_h - 63))
    )
    light = (l2 - l1) / (1 + 0.015 * (mean_l - 50) ** 2 / sqrt(20 + (mean_l - 50) ** 2))
    chroma = (c2 - c1) / (1 + 0.045 * mean_c)
    hue = 2 * sqrt(c1 * c2) * sin(radians(turn / 2)) / (1 + 0.015 * mean_c * t)
    bend = 2 * sqrt(mean_c**7 / (mean_c**7 + 25.0**7)) * sin(radians(60 * exp(-(((mean_h - 275) / 25) ** 2))))
    return sqrt(light**2 + chroma**2 + hue**2 - bend * chroma * hue)


def lab(colour: Colour, sight: str) -> Triple:
    """A colour in CIE Lab (D65) as an eye with that sight takes it."""
    linear = [(byte / 255) ** GAMMA for byte in colour]
    r, g, b = (min(1.0, max(0.0, dot(row, linear))) for row in SIGHTS[sight])
    x, y, z = (dot(row, (r, g, b)) for row in TO_XYZ)
    fx, fy, fz = (root(value / white) for value, white in ((x, 0.9505), (y, 1.0), (z, 1.089)))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def dot(row: Triple, values: list[float] | Triple) -> float:
    return sum(factor * value for factor, value in zip(row, values, strict=True))


def root(value: float) -> float:
    return float(value ** (1 / 3)) if value > (6 / 29) ** 3 else value / (3 * (6 / 29) ** 2) + 4 / 29


def apart(one: Colour, two: Colour, sight: str) -> float:
    return ciede2000(lab(one, sight), lab(two, sight))


def wire(colour: Colour) -> list[int]:
    return [round((byte / 255) ** GAMMA * 255) for byte in colour]


@pytest.mark.parametrize(("one", "two", "distance"), SHARMA)
def test_ciede2000_agrees_with_the_published_pairs(one: Triple, two: Triple, distance: float) -> None:
    """The measure used here gives the distances that its authors published, either way round."""
    assert distance == round(ciede2000(one, two), 4)
    assert distance == round(ciede2000(two, one), 4)


@pytest.mark.parametrize("sight", SIGHTS)
def test_the_pair_lies_far_apart(sight: str) -> None:
    """The two sides' colours are 55 or more apart for every sight (cases H11, H12, H14)."""
    assert apart(DEFAULT.a, DEFAULT.b, sight) >= 55


SIDES: tuple[Side, Side] = ("a", "b")

# What stands still on one board at one time; everything else differs in rhythm from what is beside it.
STEADY: dict[str, dict[str, Colour]] = {
    "play": {"a": DEFAULT.a, "b": DEFAULT.b, "neutralised": DEFAULT.neutralised},
    "touch": {
        "a": DEFAULT.a,
        "b": DEFAULT.b,
        "neutralised": DEFAULT.neutralised,
        "answered": scale(DEFAULT.white, 0.4),
    },
    "result": {
        "a": scale(DEFAULT.a, DIM_LEVEL),
        "b": scale(DEFAULT.b, DIM_LEVEL),
        "a wins": DEFAULT.a,
        "b wins": DEFAULT.b,
        "neutralised": scale(DEFAULT.neutralised, DIM_LEVEL),
    },
    "draw": {name: scale(getattr(DEFAULT, name), DRAW_LEVEL) for name in ("a", "b", "neutralised")},
    "menu": {
        "a": scale(DEFAULT.a, MENU_LEVEL),
        "b": scale(DEFAULT.b, MENU_LEVEL),
        "a chosen": DEFAULT.a,
        "b chosen": DEFAULT.b,
    },
    **{
        f"two groups of {side}": {
            "rest": scale(DEFAULT.side(side), MENU_LEVEL),
            "chosen": DEFAULT.side(side),
            "pale": scale(DEFAULT.pale(side), MENU_PALE_LEVEL),
            "pale chosen": DEFAULT.pale(side),
        }
        for side in SIDES
    },
    "countdown, awake": {
        "star at its height": scale(DEFAULT.mist, STAR_HIGH),
        **{name: getattr(DEFAULT, name) for name in ("a", "b", "neutralised")},
    },
    **{
        f"countdown, asleep at {level}": {
            "star at its height": scale(DEFAULT.mist, STAR_HIGH),
            **{name: scale(getattr(DEFAULT, name), level) for name in ("a", "b", "neutralised")},
        }
        for level in (PAUSED_LOW, PAUSED_HIGH)
    },
    "paused, low": {name: scale(getattr(DEFAULT, name), PAUSED_LOW) for name in ("a", "b", "neutralised")},
    "paused, high": {name: scale(getattr(DEFAULT, name), PAUSED_HIGH) for name in ("a", "b", "neutralised")},
}


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("board", STEADY)
def test_steady_meanings_can_be_told_apart(board: str, sight: str) -> None:
    """Any two meanings that stand still beside each other are 20 or more apart for every sight (cases H11, H12)."""
    pairs = combinations(STEADY[board].items(), 2)
    near = {f"{one}-{two}": distance for (one, x), (two, y) in pairs if (distance := apart(x, y, sight)) < 20}
    assert {} == near


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("pale", [False, True])
def test_of_every_menu_the_chosen_cells_can_be_told(pale: bool, sight: str) -> None:
    """A chosen cell is 20 or more from any cell at rest, of either group and side, as the wire rounds them."""
    rest = [scale(DEFAULT.side(side), MENU_LEVEL) for side in SIDES]
    rest += [scale(DEFAULT.pale(side), MENU_PALE_LEVEL) for side in SIDES]
    for chosen in (DEFAULT.pale(side) if pale else DEFAULT.side(side) for side in SIDES):
        assert min(apart(sent(chosen), sent(colour), sight) for colour in rest) >= 20


def sent(colour: Colour) -> Colour:
    """The colour as the steps of the wire leave it."""
    return bytes(round(255 * (value / 255) ** (1 / GAMMA)) for value in wire(colour))


@pytest.mark.parametrize("sight", SIGHTS)
def test_whose_tide_it_is_can_be_told(sight: str) -> None:
    """At the dimmest light there is, any level of one side's tide is 14 or more from any of the other's."""
    assert min(apart(a, b, sight) for a in DEFAULT.a_tide for b in DEFAULT.b_tide) >= 14


@pytest.mark.parametrize("sight", SIGHTS)
def test_a_refusal_is_neither_side(sight: str) -> None:
    """White is 20 or more from both sides; a red would be 8 to 14 from the orange (look.md)."""
    assert min(apart(DEFAULT.white, colour, sight) for colour in (DEFAULT.a, DEFAULT.b)) >= 20


def test_the_tide_is_the_dimmest_visible_light() -> None:
    """Its levels rise one by one within 3 to 6 on the wire, on the leading channel of the side's colour."""
    assert [[3, 1, 0], [4, 1, 0], [5, 1, 0], [6, 1, 0]] == [wire(colour) for colour in DEFAULT.a_tide]
    assert [[0, 0, 4], [0, 0, 5], [0, 1, 5], [0, 1, 6]] == [wire(colour) for colour in DEFAULT.b_tide]


def test_the_floor_is_three_on_the_wire() -> None:
    """The floor is the first byte that reaches 3 on the wire, rounded either way."""
    assert 3 == int((FLOOR / 255) ** GAMMA * 255)
    assert 2 == int(((FLOOR - 1) / 255) ** GAMMA * 255)


@pytest.mark.parametrize("colour", [DEFAULT.a, DEFAULT.b, DEFAULT.neutralised, DEFAULT.fault, DEFAULT.white])
def test_levels_are_of_light_and_never_below_visible(colour: Colour) -> None:
    """A colour at a level has that share of its light on the wire, or 3 on its leading channel where that is more."""
    full = max((byte / 255) ** GAMMA * 255 for byte in colour)
    for percent in range(101):
        leading = max((byte / 255) ** GAMMA * 255 for byte in scale(colour, percent / 100))
        assert abs(leading - max(3.03, full * percent / 100)) < 0.012 * leading + 0.15
        assert max(range(3), key=colour.__getitem__) == max(range(3), key=scale(colour, percent / 100).__getitem__)


def test_lights_add_up() -> None:
    """Half of white over dark is half the light; none and all of it are the colours themselves."""
    half = mix(DARK, DEFAULT.white, 0.5)
    assert [0.5] * 3 == [round((byte / 255) ** GAMMA, 2) for byte in half]
    assert (DEFAULT.a, DEFAULT.b) == (mix(DEFAULT.a, DEFAULT.b, 0), mix(DEFAULT.a, DEFAULT.b, 1))


def test_luminance_is_that_of_wcag() -> None:
    """White is 1, dark 0, and the sides are as bright as look.md says: 0.35 and 0.18."""
    assert [1.0, 0.0, 0.35, 0.18] == [round(luminance(c), 2) for c in (DEFAULT.white, DARK, DEFAULT.a, DEFAULT.b)]
