"""What each meaning looks like, what wins where two meet, and that nothing but snapshot and time decides."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.lights import MENU_LEVEL, MENU_PALE_LEVEL, Lights
from firmware.palette import DEFAULT, scale
from firmware.scenes import CORNERS, EDGES
from firmware.snapshot import Countdown, MenuLight, Pattern, Pips, Side, Snapshot, Touch
from sim.flashes import seen
from tests.light import LIGHTS, MS, S, at, board, cell, course, frames, leading, text, wire

STORED = Path(__file__).with_name("lights_frames.txt")

CELLS = board(a1="a", c1="b", b2="x", c2="y", d3="A", e3="B", f4="*", d4="a", e5="a", f6="a", g6="b", c7="y")
PLAY = Snapshot(phase="play", cells=CELLS, mover="a")
LINE = tuple(cell(name) for name in ("c3", "d4", "e5", "f6"))
WON = Snapshot(phase="result", cells=CELLS[:16] + "a" + CELLS[17:], winner="a", line=LINE, last_cell=LINE[0])
EMPTY = PLAY._replace(cells="." * 49)

# Side a asks for a draw, side b can resign.
ASKING = (MenuLight(2, "a", True, False), MenuLight(46, "b", False, True), MenuLight(45, "b", False, False))
# Options: on each side the second of three, and in another group the first of two.
GROUPS = tuple(
    MenuLight(first + step * place, side, place in (1, 3), False, place >= 3)
    for side, first, step in (("a", 0, 1), ("b", 48, -1))
    for place in range(5)
)

# What is stored as text: a name, a snapshot, times in milliseconds.
PICTURES: list[tuple[str, Snapshot, tuple[int, ...]]] = [
    ("turn of a", PLAY, (0, 1_500, 4_800)),
    ("turn of b", PLAY._replace(mover="b"), (0, 4_800)),
    ("touches", PLAY._replace(touches=(Touch(9, 0, 800 * MS, None, "a"), Touch(6, 0, None, None, None))), (0, 400)),
    ("refused", PLAY._replace(patterns=(Pattern(8, "refused", 0),)), (0, 300, 500)),
    ("hold wanted", PLAY._replace(patterns=(Pattern(9, "hold", 0, "a"),)), (0, 225, 575)),
    ("last action", PLAY._replace(mover="b", last_cell=24), (0, 200)),
    ("low time", PLAY._replace(low_us=0, urgent_us=2 * S), (0, 500, 2_250)),
    ("ghosts", PLAY._replace(ghosts=1 << 8 | 1 << 13), (0, 500)),
    ("fault", PLAY._replace(fault_us=0), (0, 1_000)),
    ("won by a line", WON, (0, 580, 1_200, 3_000)),
    ("won without a line", WON._replace(line=(), winner="b"), (3_000,)),
    ("draw", WON._replace(line=(), winner=None), (3_000,)),
    ("paused", PLAY._replace(phase="paused"), (0, 3_000)),
    ("menu", PLAY._replace(phase="menu", menu=ASKING), (0, 500)),
    ("options in two groups", Snapshot(phase="menu", menu=GROUPS), (0,)),
    ("countdown", PLAY._replace(countdown=Countdown(0, 20 * S)), (1_500, 10_000, 19_000)),
    ("cleaning", PLAY._replace(phase="paused", cleans=Countdown(0, 30 * S)), (0, 1_500, 16_500)),
    ("game played again", PLAY._replace(phase="replay", last_cell=24), (0, 200, 6_000)),
    ("its end", WON._replace(phase="replay"), (580, 3_000)),
    ("pips", PLAY._replace(pips=Pips((5, 7), (0, 1), S)), (0,)),
    ("safe", Snapshot(phase="safe"), (0,)),
    ("lobby", Snapshot(phase="lobby"), (0, 2_000)),
    ("lobby of a rematch", Snapshot(phase="lobby", starter="b"), (0,)),
    ("lot", Snapshot(phase="lobby", starter="b", lot_us=0), (0, 300, 1_300, 1_600, 2_000)),
    ("attract", Snapshot(), (0, 10_000, 40_000, 44_000, 49_000)),
]


def pictures() -> str:
    """Every picture as text, headed by its name and time."""
    return "\n\n".join(
        f"{name}, {time_ms} ms\n{text(LIGHTS.frame(snapshot, time_ms * MS))}"
        for name, snapshot, times in PICTURES
        for time_ms in times
    )


def test_every_meaning_looks_as_stored() -> None:
    """Frames of every meaning agree with the stored ones (look at a change, then store it with MORBAK_STORE=1)."""
    if os.environ.get("MORBAK_STORE") == "1":
        STORED.write_text(pictures() + "\n", encoding="utf-8")
    stored, drawn = STORED.read_text(encoding="utf-8").rstrip().split("\n\n"), pictures().split("\n\n")
    assert [picture.split("\n")[0] for picture in stored] == [picture.split("\n")[0] for picture in drawn]
    assert [] == [(was, now) for was, now in zip(stored, drawn, strict=True) if was != now]


# -- pure in time -------------------------------------------------------------------------------------------------


def test_the_same_inputs_give_the_same_bytes() -> None:
    """Frames do not depend on the object, on what it drew before, or on the order of times."""
    inputs = [(snapshot, time_ms * MS) for _, snapshot, times in PICTURES for time_ms in times]
    once = [LIGHTS.frame(*each) for each in inputs]
    assert once == [LIGHTS.frame(*each) for each in reversed(inputs)][::-1]
    assert once[::7] == [Lights().frame(*each) for each in inputs[::7]]
    assert once == [LIGHTS.frame(Snapshot(*snapshot), t_us) for snapshot, t_us in inputs]


# -- cells --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("char", "colour"), [("a", "ff7a18"), ("b", "1e6bff"), ("*", "3a3440")])
def test_lit_and_neutralised_cells_are_steady(char: str, colour: str) -> None:
    """A lit cell has its side's colour at any time, a neutralised one its own; nothing in it moves."""
    assert {bytes.fromhex(colour)} == set(course(PLAY._replace(cells=board(d4=char)), 24, 0, 13 * S))


@pytest.mark.parametrize(("char", "side"), [("x", "a"), ("y", "b")])
def test_permuted_cells_breathe_in_four_seconds(char: str, side: Side) -> None:
    """A permuted cell swings from 60 to 100 % of its owner's light, lowest at 0 and 4 s, highest at 2 s (case H13)."""
    colours = course(PLAY._replace(cells=board(d4=char)), 24, 0, 8 * S, 10 * MS)
    levels = [leading(colour) / 255 for colour in colours]
    assert colours[:400] == colours[400:]
    assert ((0.6, 0), (1.0, 198)) == ((round(min(levels), 2), levels.index(min(levels))), (max(levels), 198))
    assert DEFAULT.side(side) == colours[200]
    assert sorted(levels[:200]) == levels[:200]
    assert sorted(levels[200:400], reverse=True) == levels[200:400]


@pytest.mark.parametrize(("char", "side"), [("A", "a"), ("B", "b")])
def test_blocked_cells_have_a_core_that_pulses_once_in_three_seconds(char: str, side: Side) -> None:
    """A blocked cell is its owner's colour with a touch of pale, and all pale once, in the middle of three seconds."""
    colours = course(PLAY._replace(cells=board(d4=char)), 24, 0, 6 * S, 10 * MS)
    paleness = [min(wire(colour)) for colour in colours]
    assert colours[:300] == colours[300:]
    assert DEFAULT.pale(side) == colours[150]
    assert min(wire(DEFAULT.side(side))) < min(paleness) < 0.2 * max(paleness)
    assert 1 == sum(sooner < max(paleness) / 2 <= later for sooner, later in pairwise(paleness[:300]))
    assert {0 if side == "a" else 2} == {colour.index(max(colour)) for colour in colours}


@pytest.mark.parametrize("phase", ["play", "paused", "result"])
@pytest.mark.parametrize("winner", [None, "a", "b"])
def test_whatever_is_lit_is_visible(phase: str, winner: Side | None) -> None:
    """Every state of a cell has 3 or more on its leading channel at every time, in every phase that shows positions."""
    states = board(a1="a", b1="b", c1="x", d1="y", e1="A", f1="B", g1="*", a7="a", b7="b")
    lit = [number for number, char in enumerate(states) if char != "."]
    for line in ((), (0, 2)) if winner else ((),):
        shown = Snapshot(phase, cells=states, mover="a", winner=winner, line=line)  # type: ignore[arg-type]
        dimmest = min(leading(at(frame, number)) for _, frame in frames(shown, 0, 13 * S, 21 * MS) for number in lit)
        assert dimmest >= 3


@pytest.mark.parametrize("mover", ["a", "b"])
def test_the_tide_is_on_empty_cells_only(mover: Side) -> None:
    """On a turn each empty cell has one of the levels of the mover's tide, and nobody's turn has none."""
    for _, frame in frames(PLAY._replace(mover=mover), 0, 10 * S, 100 * MS):
        assert {at(frame, number) for number, char in enumerate(CELLS) if char == "."} <= set(DEFAULT.tide(mover))
    assert bytes(147) == LIGHTS.frame(EMPTY._replace(mover=None), 0)


def test_a_paused_board_breathes_at_a_third() -> None:
    """Paused, every cell has a third of its light in the mean, the whole board breathes in 6 s, and no tide runs."""
    paused = Snapshot(phase="paused", cells=board(a1="a", c3="b"), mover="a")
    levels = [leading(colour) / 255 for colour in course(paused, 0, 0, 12 * S, 10 * MS)]
    assert levels[:600] == levels[600:]
    assert 0.33 == round(sum(levels) / len(levels), 2)
    assert (0.25, 0.41) == (round(levels[0], 2), round(levels[300], 2))
    assert sorted(levels[:300]) == levels[:300]
    assert sorted(levels[300:600], reverse=True) == levels[300:600]
    assert {0, 16} == {number for number in range(49) if any(at(LIGHTS.frame(paused, 0), number))}


def test_a_menu_shows_what_is_chosen_and_what_belongs_together() -> None:
    """At rest a cell is dim in its side's colour, in another group in its pale one; chosen it is full."""
    frame = LIGHTS.frame(Snapshot(phase="menu", menu=GROUPS), 0)
    for light in GROUPS:
        colour = DEFAULT.pale(light.side) if light.pale else DEFAULT.side(light.side)
        level = 1.0 if light.chosen else MENU_PALE_LEVEL if light.pale else MENU_LEVEL
        assert scale(colour, level) == at(frame, light.cell)
    assert {light.cell for light in GROUPS} == {number for number in range(49) if any(at(frame, number))}


# -- results ------------------------------------------------------------------------------------------------------


def test_light_runs_along_the_line_and_then_it_stays() -> None:
    """The cells of the line turn pale one after the other; then they stand in the winner's full colour."""
    paleness = {number: [min(wire(c)) for c in course(WON, number, 450 * MS, 3 * S, 5 * MS)] for number in LINE}
    peaks = [paleness[number].index(max(paleness[number])) for number in LINE]
    assert sorted(peaks) == peaks
    assert len(LINE) == len(set(peaks))
    for number in LINE:
        assert max(paleness[number]) > 100
        assert {DEFAULT.a} == set(course(WON, number, 2 * S, 12 * S))


def test_all_else_dims_in_a_result() -> None:
    """Beside the line no cell has more than a quarter of its light, none vanishes, and the empty ones are dark."""
    for t_us, frame in frames(WON, 600 * MS, 13 * S, 50 * MS):
        whole = LIGHTS.frame(PLAY._replace(cells=WON.cells, mover=None), t_us)
        for number in set(range(49)) - set(LINE):
            if WON.cells[number] == ".":
                assert bytes(3) == at(frame, number)
            else:
                assert 3 <= leading(at(frame, number)) <= max(3, leading(at(whole, number)) / 4)


def test_a_result_without_a_line_leaves_the_winner_lit() -> None:
    """On time or resignation the winner's cells go on as before, the loser's dim, the winner's edge glows."""
    won = WON._replace(line=(), winner="b")
    frame, whole = LIGHTS.frame(won, 3 * S), LIGHTS.frame(PLAY._replace(cells=won.cells), 3 * S)
    for number, char in enumerate(won.cells):
        if char in "bBy":
            assert at(whole, number) == at(frame, number)
        elif char != ".":
            assert leading(at(frame, number)) <= leading(at(whole, number)) / 4 + 1
        else:
            assert (number in EDGES["b"]) == any(at(frame, number))
    assert max(leading(at(LIGHTS.frame(Snapshot("result", winner="b"), t * S), 48)) for t in range(6)) in range(3, 15)


def test_a_draw_dims_everything_and_shows_both_edges() -> None:
    """In a draw every cell goes to a third, and what is empty of both edges glows faintly in its side's colour."""
    draw = Snapshot("result", cells=board(d4="a", e4="b"))
    frame = LIGHTS.frame(draw, 3 * S)
    assert [85, 85] == [leading(at(frame, number)) for number in (24, 25)]
    lit = {number for number in range(49) if any(at(frame, number))}
    assert {24, 25, *EDGES["a"], *EDGES["b"]} == lit
    assert max(leading(at(frame, number)) for number in lit - {24, 25}) <= 12


def test_no_result_flashes() -> None:
    """From the winning touch to the standing line no cell flashes more than three times in any second."""
    for shown in (WON, WON._replace(line=(), winner="b"), WON._replace(line=(), winner=None)):
        flashes = seen([(-1, LIGHTS.frame(PLAY, 0)), *frames(shown, 0, 5 * S)])
        assert flashes.worst <= 3
        assert flashes.gap_us() >= 340 * MS


# -- precedence ---------------------------------------------------------------------------------------------------

D4 = 24
GHOST: dict[str, Any] = {"ghosts": 1 << D4, "ghosts_us": -500 * MS}  # at its height at 0
REFUSED: dict[str, Any] = {"patterns": (Pattern(D4, "refused", 0),)}
TOUCH: dict[str, Any] = {"touches": (Touch(D4, 0, None, None, "a"),)}
BLOOM: dict[str, Any] = {"last_cell": D4, "last_us": -1}
LADDER = [GHOST, REFUSED, TOUCH, BLOOM]


@pytest.mark.parametrize("higher", range(4))
@pytest.mark.parametrize("lower", range(4))
def test_one_cell_shows_the_highest_of_its_meanings(higher: int, lower: int) -> None:
    """Of two meanings of one cell the higher shows as if it were alone: ghost, pattern, touch, bloom, base."""
    if higher < lower:
        alone = PLAY._replace(**LADDER[higher])
        assert LIGHTS.frame(alone, 0) == LIGHTS.frame(alone._replace(**LADDER[lower]), 0)
        assert at(LIGHTS.frame(alone, 0), D4) != at(LIGHTS.frame(PLAY, 0), D4)


def test_a_touch_under_a_pattern_shows_when_it_has_ended() -> None:
    """While a refusal runs the touch on its cell is not to be seen; at its end it is."""
    both = PLAY._replace(**(REFUSED | TOUCH))
    assert course(PLAY._replace(**REFUSED), D4, 0, 1 * S) == course(both, D4, 0, 1 * S)
    assert course(PLAY._replace(**TOUCH), D4, 1 * S, 2 * S) == course(both, D4, 1 * S, 2 * S)


def test_low_time_gives_way_to_everything_but_the_tide() -> None:
    """Of low time only the empty cells of the mover's edge speak, and each stops for any other meaning of its own."""
    low = PLAY._replace(low_us=-500 * MS)
    calm, frame = LIGHTS.frame(PLAY, 0), LIGHTS.frame(low, 0)
    assert {1, 3, 4, 5, 6} == {number for number in range(49) if at(frame, number) != at(calm, number)}
    others: list[dict[str, Any]] = [
        {"patterns": (Pattern(1, "refused", 0),)},
        {"touches": (Touch(1, 0, None, None, "a"),)},
    ]
    for other in others:
        assert at(LIGHTS.frame(PLAY._replace(**other), 0), 1) == at(LIGHTS.frame(low._replace(**other), 0), 1)


@pytest.mark.parametrize("taken", range(16))
@pytest.mark.parametrize("touched", range(16))
def test_a_fault_shows_in_the_first_corner_away_from_play(taken: int, touched: int) -> None:
    """The violet takes the first of a1, g1, a7, g7 that is empty and untouched, else the first untouched."""
    names = ("a1", "g1", "a7", "g7")
    cells = board(**{name: "a" for bit, name in enumerate(names) if taken >> bit & 1})
    touches = tuple(Touch(CORNERS[bit], 0, None, None, "a") for bit in range(4) if touched >> bit & 1)
    calm = PLAY._replace(cells=cells, touches=touches)
    frame, whole = LIGHTS.frame(calm._replace(fault_us=-1 * S), 0), LIGHTS.frame(calm, 0)
    changed = [number for number in range(49) if at(frame, number) != at(whole, number)]
    free = [CORNERS[bit] for bit in range(4) if not (taken | touched) >> bit & 1]
    untouched = [CORNERS[bit] for bit in range(4) if not touched >> bit & 1]
    assert (free or untouched)[:1] == changed
    assert all(DEFAULT.fault == at(frame, number) for number in changed)


# -- any snapshot at any time -------------------------------------------------------------------------------------

CELL = st.integers(0, 48)
TIME = st.integers(-3 * S, 20 * S)
MAYBE_TIME = st.none() | TIME
LEFT = st.integers(0, 49)
SIDE = st.none() | st.sampled_from(("a", "b"))
SNAPSHOTS = st.builds(
    Snapshot,
    phase=st.sampled_from(("attract", "lobby", "play", "paused", "menu", "result", "safe", "replay")),
    phase_us=TIME,
    cells=st.text("...abABxy*", min_size=49, max_size=49),
    mover=SIDE,
    last_cell=st.none() | CELL,
    last_us=TIME,
    touches=st.lists(
        st.builds(Touch, CELL, TIME, MAYBE_TIME, MAYBE_TIME, st.sampled_from(["a", "b", None])), max_size=4
    ).map(tuple),
    patterns=st.lists(
        st.builds(Pattern, CELL, st.sampled_from(("refused", "hold")), TIME), max_size=3, unique_by=lambda p: p.cell
    ).map(tuple),
    low_us=MAYBE_TIME,
    urgent_us=MAYBE_TIME,
    starter=SIDE,
    lot_us=MAYBE_TIME,
    winner=SIDE,
    line=st.sets(CELL, max_size=12).map(lambda line: tuple(sorted(line))),
    ghosts=st.integers(0, 2**49 - 1) | st.just(0),
    ghosts_us=TIME,
    fault_us=MAYBE_TIME,
    menu=st.lists(
        st.builds(MenuLight, CELL, st.sampled_from(("a", "b")), st.booleans(), st.booleans(), st.booleans()), max_size=4
    ).map(tuple),
    asked_us=TIME,
    pips=st.none() | st.builds(Pips, st.tuples(LEFT, LEFT), st.tuples(LEFT, LEFT), TIME),
    countdown=st.none() | st.builds(Countdown, TIME, TIME),
    cleans=st.none() | st.builds(Countdown, TIME, TIME),
)


@settings(max_examples=300)
@given(SNAPSHOTS, st.lists(st.integers(0, 20 * S), min_size=1, max_size=6))
def test_any_snapshot_has_a_frame_at_any_time(snapshot: Snapshot, times: list[int]) -> None:
    """Whatever the snapshot holds, at whatever time, there is a whole frame and no exception."""
    assert [147] * len(times) == [len(LIGHTS.frame(snapshot, t_us)) for t_us in times]
