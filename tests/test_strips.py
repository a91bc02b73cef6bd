"""The LEDs along the players' edges: what is left of special moves and of time."""

from __future__ import annotations

import msgspec
import pytest

from firmware.clock import Limits
from firmware.palette import DARK, DEFAULT, scale
from firmware.strips import SIDES, left_us, lit
from hal.profile import Profile, load, shipped
from tests.scene import NO_LIMITS, S, Scene, playing

CELLS = 49


def profile_with(a: int, b: int) -> Profile:
    sim = load(shipped("sim"))
    return sim._replace(edge_strips=msgspec.structs.replace(sim.edge_strips, a=a, b=b))


def strips(scene: Scene) -> tuple[list[int], list[int]]:
    """The light of each LED of both strips, as the frame has it: the brightest channel."""
    frame = scene.drive.engine._frames._frame
    a, b = scene.drive.board.capabilities.strips
    assert 3 * (CELLS + a + b) == len(frame)
    leds = [max(frame[at : at + 3]) for at in range(3 * CELLS, len(frame), 3)]
    return leds[:a], leds[a:]


@pytest.mark.parametrize(
    ("left", "whole", "expected"),
    [(7, 7, 7), (0, 7, 0), (1, 7, 1), (1, 1_000_000, 1), (6, 12, 4), (5, 0, 0), (9, 7, 7)],
)
def test_a_share_is_shown_in_whole_leds(left: int, whole: int, expected: int) -> None:
    """Of seven LEDs none are lit only where nothing is left, all only near the whole."""
    assert expected == lit(7, left, whole)


def test_each_strip_has_its_sides_colour_and_third() -> None:
    """The mover's strip shines fully in his colour, the other's at a third; time beyond the moves at 15 % of either."""
    scene = playing(profile=profile_with(14, 14), limits=Limits(140 * S, None))
    scene.moves("d4", "xd4", "c3", "xc3")
    frame, mover = scene.drive.engine._frames._frame[3 * CELLS :], scene.table.game.mover
    for at, side in enumerate(("a", "b")):
        colour, level, moves = (DEFAULT.side(side), 1, 14) if side == mover else (DEFAULT.side(side), 1 / 3, 10)
        strip = frame[42 * at : 42 * at + 42]
        assert scale(colour, level) * moves + scale(colour, level * 0.15) * (14 - moves) == strip


def test_each_side_has_its_own_time() -> None:
    """The clock that runs takes from its side's strip only, and at its end that is dark but for the moves."""
    scene = playing(profile=profile_with(14, 14), limits=Limits(140 * S, None))
    rails = scene.table.snapshot.rails
    own, t_us = SIDES.index(rails.running), rails.since_us
    for spent_s, left in ((30, 110), (140, 0), (150, 0)):
        found = [left_us(rails, side, t_us + spent_s * S) for side in SIDES]
        assert (left * S, 140 * S) == (found[own], found[1 - own])
    uneven = rails._replace(left_us=(50 * S, 70 * S), running=None)
    assert [50 * S, 70 * S] == [left_us(uneven, side, t_us + S) for side in SIDES]


def test_special_moves_go_out_one_by_one() -> None:
    """Each permutation puts one LED of its side out; the mover's strip is the brighter."""
    scene = playing(profile=profile_with(7, 7), limits=NO_LIMITS)
    first = scene.table.game.starter
    own = "ab".index(first)
    shown = strips(scene)
    assert [7, 7] == [sum(map(bool, strip)) for strip in shown]
    assert min(shown[own]) > max(shown[1 - own]) > 0
    scene.moves("d4", "xd4", "c3")
    assert (7, 6) == (sum(map(bool, strips(scene)[own])), sum(map(bool, strips(scene)[1 - own])))


def test_time_glows_beyond_the_moves() -> None:
    """What a strip does not need for special moves tells of time, dimly, and goes out as that runs."""
    scene = playing(profile=profile_with(14, 14), limits=Limits(140 * S, None))
    own = "ab".index(scene.table.game.starter)
    scene.moves("d4", "xd4", "c3", "xc3", "e5", "xe5", "a1")  # the other side has 4 of 7 left, and is to move
    before = strips(scene)[1 - own]
    assert 14 == sum(map(bool, before))
    assert [True] * 8 + [False] * 6 == [light == max(before) for light in before]
    scene.wait(40 * S)
    assert 10 == sum(map(bool, strips(scene)[1 - own]))
    scene.wait(60 * S)
    assert 8 == sum(map(bool, strips(scene)[1 - own]))


def test_a_board_without_a_game_has_dark_strips() -> None:
    """Nobody has anything left while nobody plays."""
    scene = Scene(profile=profile_with(7, 9))
    scene.wait(S)
    assert ([0] * 7, [0] * 9) == strips(scene)
    assert 0 == max(DARK)


def test_a_board_without_strips_has_frames_of_its_cells() -> None:
    """Where there are no strips a frame has three bytes a cell, no more."""
    scene = playing(limits=NO_LIMITS)
    assert ((0, 0), 3 * CELLS) == (scene.drive.board.capabilities.strips, len(scene.drive.engine._frames._frame))
