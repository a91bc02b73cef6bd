"""Frames to chain bytes: one gamma stage, lit stays visible, and no sequence of frames asks too much of the supply."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hal.pixels import Limiter, LimiterState, Pixels
from hal.profile import Profile, load, shipped

PROVE = os.environ.get("MORBAK_PROVE") == "1"
SIM = load(shipped("sim"))
DARK = bytes(147)
WHITE = b"\xff" * 147
# Every colour of look.md.
PALETTE = ["FF7A18", "1E6BFF", "FFE3C4", "BFD6FF", "3A3440", "9B5BFF", "FFFFFF"]


def board(section: str = "leds", **values: object) -> Profile:
    """The simulated board with some keys of one section set to other values."""
    return SIM._replace(**{section: msgspec.structs.replace(getattr(SIM, section), **values)})


def wire(profile: Profile, colour: bytes) -> bytes:
    """The wire's red, green and blue for a colour, shown on all cells."""
    pixels = Pixels(profile)
    cells = pixels.cells(pixels.chain(colour * profile.cells))
    assert cells == cells[:3] * profile.cells
    return cells[:3]


def ideal(colour: bytes, pct: int = 100, gamma: float = 2.2) -> list[float]:
    """The wire value of each channel before rounding."""
    return [255 * (value / 255) ** gamma * pct / 100 for value in colour]


def test_there_is_one_gamma_stage() -> None:
    """At full brightness a channel is its gamma curve rounded to the nearest, dark below the visible level."""
    for value in range(256):
        (level,) = ideal(bytes([value]))
        got = wire(SIM, bytes([value, value, value]))
        assert bytes([round(level) if round(level) >= 3 else 0] * 3) == got


def test_a_ramp_keeps_its_levels() -> None:
    """An even input ramp never falls on the wire and keeps every level from the visible one on (case A31)."""
    ramp = [wire(SIM, bytes([value] * 3))[0] for value in range(256)]
    assert sorted(ramp) == ramp
    steps = sorted({round(255 * (v / 255) ** 2.2) for v in range(256)} - {1, 2})
    assert steps == sorted(set(ramp))
    assert len(steps) == 182


@pytest.mark.parametrize("pct", [1, 10, 50])
def test_a_dimmed_ramp_uses_the_levels_there_are(pct: int) -> None:
    """Brightness works on fine steps: a dimmed ramp uses every level from visible to its brightest (cases A31, H9)."""
    dimmed = board(brightness_pct=pct)
    ramp = [wire(dimmed, bytes([value] * 3))[0] for value in range(256)]
    assert sorted(ramp) == ramp
    top = max(3, round(255 * pct / 100))
    distinct = set(ramp)
    assert {0, 3, top} <= distinct
    assert len(distinct) >= 0.8 * (top - 1)


@given(st.binary(min_size=3, max_size=3))
def test_brightness_never_darkens_on_the_way_up(colour: bytes) -> None:
    """More brightness is never less light, in any channel of any colour (case A7)."""
    steps = [wire(board(brightness_pct=pct), colour) for pct in (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 100)]
    for dimmer, brighter in pairwise(steps):
        assert all(low <= high for low, high in zip(dimmer, brighter, strict=True)), steps


@given(st.binary(min_size=3, max_size=3), st.integers(1, 100))
def test_a_colour_is_dark_or_visible(colour: bytes, pct: int) -> None:
    """A colour with a leading channel of 3/255 or more at full brightness keeps that at any; every other is dark."""
    got = wire(board(brightness_pct=pct), colour)
    lit = max(wire(SIM, colour)) > 0
    assert lit == (max(ideal(colour)) >= 2.5)
    assert lit == (max(got) >= 3)
    assert lit or got == bytes(3)


@given(st.binary(min_size=3, max_size=3), st.integers(1, 100))
def test_a_colour_keeps_its_hue(colour: bytes, pct: int) -> None:
    """At any brightness each channel is within rounding of the colour scaled as a whole (case H9)."""
    got = wire(board(brightness_pct=pct), colour)
    want = ideal(colour, pct)
    if max(got) > 0:
        raised = max(1.0, 3 / max(want))
        assert all(abs(have - raised * level) <= 0.51 for have, level in zip(got, want, strict=True))


@pytest.mark.parametrize("name", PALETTE)
@pytest.mark.parametrize("share", [1.0, 0.5, 0.25])
def test_no_colour_of_the_palette_is_black_at_the_lowest_brightness(name: str, share: float) -> None:
    """Every colour of the board is visible at 1 % brightness, whatever the balance (cases A7, A31)."""
    got = wire(board(brightness_pct=1, balance=(1.0, share, share)), bytes.fromhex(name))
    assert max(got) >= 3


def test_the_sides_stay_apart_at_the_lowest_brightness() -> None:
    """At 1 % brightness side a is red on the wire and side b is blue."""
    dim = board(brightness_pct=1)
    assert tuple(wire(dim, bytes.fromhex("FF7A18"))) == (3, 1, 0)
    assert tuple(wire(dim, bytes.fromhex("1E6BFF"))) == (0, 0, 3)


def test_balance_scales_light_and_not_the_eye() -> None:
    """A balance of one half halves a channel on the wire."""
    assert tuple(wire(board(balance=(1.0, 0.5, 0.25)), b"\xff\xff\xff")) == (255, 128, 64)


@pytest.mark.parametrize("colours", ["RGB", "RBG", "GRB", "GBR", "BRG", "BGR"])
def test_the_chain_gets_its_order(colours: str) -> None:
    """Cells go out in chain order with their channels in colour order, and come back in cell order as RGB."""
    rng = random.Random(colours)
    chain = tuple(rng.sample(range(49), 49))
    profile = board(colour_order=colours, gamma=1.0)._replace(chain=chain)
    pixels = Pixels(profile)
    frame = bytes(rng.randrange(3, 256) for _ in range(147))
    expected = b"".join(bytes(frame[3 * cell + "RGB".index(channel)] for channel in colours) for cell in chain)
    assert expected == pixels.chain(frame)
    assert frame == pixels.cells(expected)


def test_geometry_comes_from_the_profile() -> None:
    """A board of 2 rows and 3 columns has frames of 18 bytes."""
    small = board("board", rows=2, columns=3)._replace(chain=(0, 1, 2, 5, 4, 3))
    assert (
        Pixels(small._replace(leds=msgspec.structs.replace(SIM.leds, gamma=1.0, colour_order="RGB"))).chain(
            b"abcdefghijklmnopqr"
        )
        == b"abcdefghipqrmnojkl"
    )


def test_a_frame_of_another_length_is_refused() -> None:
    """A frame that is not three bytes a cell is refused by its length."""
    with pytest.raises(ValueError, match="a frame of 146 bytes where 147 are wanted"):
        Pixels(SIM).chain(bytes(146))


def test_more_colours_than_are_remembered_come_out_the_same() -> None:
    """Colours beyond those remembered are worked out anew, with the same bytes."""
    pixels = Pixels(SIM)
    frames = [
        bytes(byte for cell in range(49) for byte in (index, cell, 7 * (index + cell) % 256)) for index in range(200)
    ]
    once = [pixels.chain(frame) for frame in frames]
    assert once == [pixels.chain(frame) for frame in frames]
    assert once[-1] == Pixels(SIM).chain(frames[-1])


# The current limit. The model is worked out anew here: 16, 11, 15 mA a channel, 1 mA idle, x 1.25 (case H6).

IDLE_MA = 1.25 * 49
BUDGET_MA = 2100.0
FREE_MA = 210.0  # a tenth of the budget; never less than what one cell draws at full
CELL_MA = 1.25 * 42
SLEW_MA_PER_US = 0.020


def drawn_ma(chain: bytes) -> float:
    """What a GRB chain of 49 draws, by the model."""
    green, red, blue = (sum(chain[at::3]) for at in range(3))
    return IDLE_MA + 1.25 * (16 * red + 11 * green + 15 * blue) / 255


def shown(limiter: Limiter, frames: list[tuple[int, bytes]]) -> Iterator[tuple[int, bytes, LimiterState]]:
    """What the limiter makes of chain bytes at their times, from power-up."""
    state = limiter.start
    for t_us, chain in frames:
        out, state = limiter.step(chain, t_us, state)
        yield t_us, out, state


def test_the_model_has_its_golden_numbers() -> None:
    """By the measured model a white LED draws 43 mA and a dark one 1 mA, a quarter added (case H6)."""
    limiter = Limiter(SIM)
    assert limiter.current_ma(DARK) == 61.25
    assert limiter.current_ma(WHITE) == 49 * 43 * 1.25
    assert limiter.current_ma(b"\x00\xff\x00" + DARK[3:]) == 61.25 + 20
    assert limiter.current_ma(b"\xff\x00\x00" + DARK[3:]) == 61.25 + 13.75
    assert limiter.current_ma(b"\x00\x00\xff" + DARK[3:]) == 61.25 + 18.75


def test_the_first_frame_ramps_from_idle() -> None:
    """At power-up white comes up from what one cell draws, however late the first frame is (case H1)."""
    for t_us in (0, 3_600_000_000):
        ((_, out, _),) = shown(Limiter(SIM), [(t_us, WHITE)])
        assert drawn_ma(out) <= IDLE_MA + FREE_MA
        assert min(out) >= 3


def test_the_first_frame_of_a_large_board_is_visible_too() -> None:
    """On 16 x 16 cells, where all at the lowest visible level draw more than one at full, none is darkened."""
    large = board("board", rows=16, columns=16)._replace(chain=tuple(range(256)))
    ((_, out, _),) = shown(Limiter(large), [(0, b"\xff" * 768)])
    assert out == b"\x03" * 768


Scene = Callable[[random.Random], bytes]
SCENES: list[Scene] = [
    lambda _: DARK,
    lambda _: WHITE,
    lambda rng: rng.randbytes(147),
    lambda rng: bytes([rng.randrange(256)]) * 147,
    lambda rng: bytes(3 * rng.randrange(49)).ljust(147, b"\xff"),
    lambda rng: rng.randbytes(3) * 49,
    lambda rng: bytes(byte // rng.randrange(1, 40) for byte in rng.randbytes(147)),
]


@pytest.mark.long
@pytest.mark.parametrize("supply_ma", [131, 400, 3000, 10_000])
def test_no_sequence_of_frames_asks_too_much(supply_ma: int) -> None:
    """No frame of random scenes at random times passes the budget, the first included, and from any frame to any
    later one current rises by no more than the slew and what may always come at once (case H1)."""
    limiter = Limiter(board("power", supply_ma=supply_ma))
    budget_ma = 0.7 * supply_ma
    free_ma = max(CELL_MA, budget_ma / 10)
    rng = random.Random(supply_ma)
    for _ in range(25_000 if PROVE else 250):
        t_us, frames = rng.randrange(10**9), []
        for _ in range(8):
            t_us += rng.choice((0, 1, 700, 2_000, 16_667, 33_000, 1_000_000))
            frames.append((t_us, rng.choice(SCENES)(rng)))
        drawn = [(at_us, drawn_ma(out)) for at_us, out, _ in shown(limiter, frames)]
        assert len(frames) == len(drawn)
        for index, (at_us, ma) in enumerate(drawn):
            assert ma <= budget_ma + 1e-6
            assert ma <= IDLE_MA + free_ma + SLEW_MA_PER_US * (at_us - drawn[0][0]) + 1e-6
            for earlier_us, earlier_ma in drawn[:index]:
                assert ma - earlier_ma <= free_ma + SLEW_MA_PER_US * (at_us - earlier_us) + 1e-6


def test_a_rise_goes_through_frames_even_after_a_rest() -> None:
    """After a second's rest a step to white is no larger than after 20 ms: a supply is as surprised by it."""
    rested = [out for _, out, _ in shown(Limiter(SIM), [(0, DARK), (1_000_000, WHITE)])]
    soon = [out for _, out, _ in shown(Limiter(SIM), [(0, DARK), (20_000, WHITE)])]
    assert soon == rested
    assert drawn_ma(rested[1]) <= IDLE_MA + FREE_MA + 20 * 20


def test_a_preview_on_a_dark_board_is_not_dimmed() -> None:
    """One cell at full white comes up at once: in the first frame, a millisecond after another, and after light that
    was held back."""
    one = b"\xff\xff\xff" + DARK[3:]
    for before in ([], [(0, DARK)], [(0, WHITE), (16_000, WHITE)]):
        *_, (_, out, _) = shown(Limiter(SIM), [*before, (17_000, one)])
        assert one == out


def test_one_more_cell_dims_no_other() -> None:
    """Beside a steady scene one more cell at full comes up at once."""
    scene = bytes(30) + b"\x40" * 87 + bytes(30)
    steady = [(t_us, scene) for t_us in range(0, 2_000_000, 16_667)]
    more = b"\xff\xff\xff" + scene[3:]
    *_, (_, out, _) = shown(Limiter(SIM), [*steady, (steady[-1][0] + 1, more)])
    assert more == out


def test_what_fits_is_left_alone() -> None:
    """Frames that fit budget and slew go out as they came."""
    frames = [(16_667 * index, bytes([index // 2]) * 147) for index in range(300)]
    assert all(chain == out for (_, chain), (_, out, _) in zip(frames, shown(Limiter(SIM), frames), strict=True))


def test_the_limit_falls_at_once_and_lets_go_smoothly() -> None:
    """White is held at the budget; when the scene then fits, light comes back to full within 0.6 s, never by more than
    4 % of full a frame and never down again."""
    half = WHITE[:75] + bytes(72)
    frames = [(16_667 * index, WHITE if index < 60 else half) for index in range(120)]
    outs = [out for _, out, _ in shown(Limiter(SIM), frames)]
    assert BUDGET_MA * 0.98 <= drawn_ma(outs[59]) <= BUDGET_MA
    light = [out[0] for out in outs]
    assert sorted(light) == light
    assert max(after - before for before, after in pairwise(light[59:])) <= 0.04 * 255
    assert [half] * 24 == outs[96:]


def test_a_held_limit_is_steady() -> None:
    """A scene held at the limit does not flicker: every frame is the same."""
    outs = [out for _, out, _ in shown(Limiter(SIM), [(7_000 * index, WHITE) for index in range(400)])]
    assert len(set(outs[200:])) == 1


@given(st.binary(min_size=147, max_size=147), st.integers(131, 3000))
def test_the_limiter_dims_as_a_whole_and_darkens_nothing(chain: bytes, supply_ma: int) -> None:
    """However far it dims, no channel rises, brighter stays brighter, and the lowest visible levels stay."""
    ((_, out, _),) = shown(Limiter(board("power", supply_ma=supply_ma)), [(0, chain)])
    pairs = sorted(zip(chain, out, strict=True))
    assert all(min(asked, 3) <= given <= asked for asked, given in pairs)
    assert sorted(given for _, given in pairs) == [given for _, given in pairs]


def test_time_that_stands_or_goes_back_lets_nothing_through() -> None:
    """Frames at the same time, or an earlier one, get no more than what may always come at once."""
    frames = [(t_us, WHITE) for t_us in (50_000, 50_000, 20_000, 0, 0)]
    assert all(drawn_ma(out) <= IDLE_MA + FREE_MA for _, out, _ in shown(Limiter(SIM), frames))


@given(st.lists(st.tuples(st.integers(0, 40_000), st.sampled_from([DARK, WHITE, bytes(range(147))])), max_size=8))
def test_same_states_and_times_give_the_same_bytes(steps: list[tuple[int, bytes]]) -> None:
    """Two limiters agree byte for byte, and a step taken twice from one state gives the same (promise 4)."""
    one, other = Limiter(SIM), Limiter(SIM)
    t_us, state = 0, one.start
    for after_us, chain in steps:
        t_us += after_us
        first, again = one.step(chain, t_us, state), other.step(chain, t_us, LimiterState(*state))
        assert first == again
        assert first == one.step(chain, t_us, state)
        state = first[1]


def test_a_change_of_scene_dips_for_one_frame_at_most() -> None:
    """A scene that only the ramp holds back is full in the next frame: no slow recovery that would flicker."""
    scene = bytes(3) + b"\x30" * 144
    frames = [(0, DARK), (1_000, scene), (17_667, scene), (34_334, scene)]
    _, first, second, third = (out for _, out, _ in shown(Limiter(SIM), frames))
    assert max(first) < 0x30
    assert (scene, scene) == (second, third)


@pytest.mark.parametrize("gamma", [1.0, 1.8, 2.2, 2.8, 3.0])
@pytest.mark.parametrize("balance", [(1.0, 1.0, 1.0), (0.2, 1.0, 1.0), (1.0, 1.0, 0.2)])
def test_what_is_lit_stays_visible_whatever_the_profile(gamma: float, balance: tuple[float, float, float]) -> None:
    """The dimmest levels that the lights use keep 3 on the wire at any gamma, balance and brightness."""
    for pct in (5, 50, 100):
        pixels = board(gamma=gamma, balance=balance, brightness_pct=pct)
        for colour in (b"\x22\x00\x00", b"\x00\x00\x22", b"\x30\x16\x00"):
            assert max(wire(pixels, colour)) >= 3
