"""Light that fills the board: the tide walks to the mover's edge, the lot is fair, the weather never rests."""

from __future__ import annotations

from itertools import pairwise

import pytest

from firmware.grounds import TIDE_STEP_US
from firmware.palette import DARK, DEFAULT
from firmware.scenes import CALM_STEPS, EDGES, LOT_CHASE_US, LOT_US, RING, TIDE_SHAPE, Weather
from firmware.snapshot import RISE_GAP_US, Side, Snapshot
from sim.flashes import seen
from tests.light import LIGHTS, MS, S, at, board, course, frames, leading

TIDE_US = len(TIDE_SHAPE) * TIDE_STEP_US
LOBBY = Snapshot(phase="lobby")


def lot(starter: Side) -> Snapshot:
    return LOBBY._replace(starter=starter, lot_us=0)


# -- the tide -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mover", ["a", "b"])
def test_the_tide_walks_to_the_movers_edge(mover: Side) -> None:
    """The crest reaches the rows one after the other, the mover's own edge last, and comes back every 9.6 s."""
    shown = Snapshot(phase="play", mover=mover)
    crests = []
    for row in range(7):
        levels = [leading(colour) for colour in course(shown, row * 7, 0, 2 * TIDE_US, TIDE_STEP_US)]
        assert levels[: len(TIDE_SHAPE)] == levels[len(TIDE_SHAPE) :]
        crests.append(next(step for step, (one, two) in enumerate(pairwise(levels)) if one < 6 == two))
    away = crests if mover == "b" else crests[::-1]
    steps = [(later - sooner) % len(TIDE_SHAPE) for sooner, later in pairwise(away)]
    assert [7] * 6 == steps
    assert 9_600 * MS == TIDE_US


@pytest.mark.parametrize("mover", ["a", "b"])
def test_the_tide_changes_by_single_levels(mover: Side) -> None:
    """Every 200 ms some row may change, by one level, all its cells alike, and never more than three rows at once."""
    levels = [leading(colour) for colour in DEFAULT.tide(mover)]
    shown = Snapshot(phase="play", mover=mover)
    rows = [
        [[leading(at(frame, row * 7 + column)) for column in range(7)] for row in range(7)]
        for _, frame in frames(shown, 0, TIDE_US + TIDE_STEP_US, TIDE_STEP_US)
    ]
    assert all(len(set(row)) == 1 for frame in rows for row in frame)
    for sooner, later in pairwise(rows):
        changed = [(one[0], two[0]) for one, two in zip(sooner, later, strict=True) if one != two]
        assert len(changed) <= 3
        assert all(abs(one - two) <= 1 for one, two in changed)
    assert set(levels) == {row[0] for frame in rows for row in frame}


# -- lobby and lot ------------------------------------------------------------------------------------------------


def test_the_lobby_shows_both_edges() -> None:
    """Before the lot both edges breathe in their sides' colours, and nothing else is lit."""
    for _, frame in frames(LOBBY, 0, 4 * S, 50 * MS):
        assert {*EDGES["a"], *EDGES["b"]} == {number for number in range(49) if any(at(frame, number))}
        assert {0} == {at(frame, number).index(max(at(frame, number))) for number in EDGES["a"]}
        assert {2} == {at(frame, number).index(max(at(frame, number))) for number in EDGES["b"]}
        assert min(leading(at(frame, number)) for number in EDGES["a"]) >= 60
    assert 1 >= seen(frames(LOBBY, 0, 9 * S)).worst


@pytest.mark.parametrize("starter", ["a", "b"])
def test_a_rematch_shows_the_starters_edge(starter: Side) -> None:
    """Where there is no lot the starter's edge stands in his full colour, and nothing else."""
    shown = LOBBY._replace(starter=starter)
    expected = b"".join(DEFAULT.side(starter) if number in EDGES[starter] else DARK for number in range(49))
    assert {expected} == {frame for _, frame in frames(shown, 0, 5 * S, 100 * MS)}


@pytest.mark.parametrize("starter", ["a", "b"])
def test_the_lot_settles_on_the_starters_edge(starter: Side) -> None:
    """After 2 s, and without a jump, the lot stands as a rematch does."""
    settled = LIGHTS.frame(LOBBY._replace(starter=starter), 0)
    assert {settled} == {frame for _, frame in frames(lot(starter), LOT_US, 6 * S, 100 * MS)}
    last = LIGHTS.frame(lot(starter), LOT_US - 1)
    assert max(abs(one - two) for one, two in zip(last, settled, strict=True)) <= 1


def test_the_lot_cannot_be_told_before_it_is_home() -> None:
    """Whoever is to start, the chase is the same to the byte, and for the first time differs when both are home."""
    both = zip(frames(lot("a"), 0, LOT_US, 5 * MS), frames(lot("b"), 0, LOT_US, 5 * MS), strict=True)
    first = next(t_us for (t_us, one), (_, two) in both if one != two)
    assert LOT_CHASE_US < first <= LOT_CHASE_US + 100 * MS


@pytest.mark.parametrize("starter", ["a", "b"])
def test_the_lot_runs_round_the_board_in_both_colours(starter: Side) -> None:
    """Every cell round the board is lit by either side before the end, no other cell is, and it is never dark."""
    seen_by: dict[Side, set[int]] = {"a": set(), "b": set()}
    for _, frame in frames(lot(starter), 0, LOT_CHASE_US, 5 * MS):
        assert max(frame) >= 100
        lit = {number for number in range(49) if any(at(frame, number))}
        assert lit <= set(RING)
        for number in lit:
            if leading(at(frame, number)) >= 100:
                seen_by["a" if at(frame, number)[0] > at(frame, number)[2] else "b"].add(number)
    assert {"a": set(RING), "b": set(RING)} == seen_by


@pytest.mark.parametrize("starter", ["a", "b"])
@pytest.mark.parametrize("lobby_us", range(0, 4_000_000, 500_000))
def test_the_lot_keeps_the_flash_limit(starter: Side, lobby_us: int) -> None:
    """From the lobby into the lot and on, at any breath of the edges, rises of a cell are 340 ms apart or more."""
    flashes = seen(
        [
            *frames(LOBBY, 0, lobby_us + S),
            *frames(LOBBY._replace(starter=starter, lot_us=lobby_us + S), lobby_us + S, lobby_us + 5 * S),
        ]
    )
    assert flashes.worst <= 3
    assert flashes.gap_us() >= RISE_GAP_US


# -- weather ------------------------------------------------------------------------------------------------------

WEATHER = Weather(DEFAULT)


def weather(seconds: int, step_us: int, calm: int = 0) -> list[tuple[int, bytes]]:
    """Frames of the weather alone, by time."""
    return [(t_us, bytes(WEATHER(t_us, calm))) for t_us in range(0, seconds * S, step_us)]


@pytest.mark.parametrize("calm", [0, CALM_STEPS - 1])
def test_the_weather_never_leaves_the_board_dark_or_still(calm: int) -> None:
    """In ten minutes every cell is visible at every time, and the picture is another one every few frames."""
    pictures = [frame for _, frame in weather(600, 500 * MS, calm)]
    assert min(leading(at(frame, number)) for frame in pictures for number in range(0, 49, 4)) >= 3
    assert not [one for one, two in pairwise(pictures) if one == two]


def test_the_weather_burns_nothing_in() -> None:
    """Over ten minutes each cell has had both colours at their height, and none is bright for most of the time."""
    pictures = [frame for _, frame in weather(600, S)]
    for number in range(49):
        colours = [at(frame, number) for frame in pictures]
        assert max(colour[0] for colour in colours) > 100 < max(colour[2] for colour in colours)
        assert 0.1 < sum(leading(colour) > 20 for colour in colours) / len(colours) < 0.6


def test_the_weather_is_slow() -> None:
    """From frame to frame at 30 a second no byte moves by more than four, and nothing in it is a flash."""
    pictures = weather(60, 33_333)
    fastest = max(
        max(abs(one - two) for one, two in zip(sooner, later, strict=True))
        for (_, sooner), (_, later) in pairwise(pictures[:600])
    )
    assert fastest <= 4
    assert 0 == seen(pictures).worst


def test_the_weather_gives_way_by_small_steps() -> None:
    """From calm to calm no cell grows brighter and no byte moves by more than four; a quarter of the light is left."""
    for t_us in range(0, 60 * S, 7 * S):
        steps = [bytes(WEATHER(t_us, calm)) for calm in range(CALM_STEPS)]
        for one, two in pairwise(steps):
            assert all(0 <= more - less <= 4 for more, less in zip(one, two, strict=True))
        brightest = max(range(49), key=lambda number: leading(at(steps[0], number)))
        assert 0.25 == pytest.approx(leading(at(steps[-1], brightest)) / leading(at(steps[0], brightest)), abs=0.03)


# -- a game played again ------------------------------------------------------------------------------------------

GAME = board(a1="a", c1="b", b2="x", c3="y", d3="A", e3="B", f4="*", d4="a", e5="a", g5="b", d7="b")
REPLAY = Snapshot(phase="replay", cells=GAME, last_cell=24, last_us=2 * S)
BORDER = [number for number in RING if GAME[number] == "."]


def test_two_lights_walk_round_a_game_played_again() -> None:
    """On the empty border two pale lights walk clockwise, half a ring apart, round the board in 24 s, for ever."""
    calm = REPLAY._replace(cells="." * 49, last_cell=None)
    shown = list(frames(calm, 0, 24 * S, 100 * MS))
    heads = {n: [t_us for t_us, frame in shown if at(frame, n) == max(at(f, n) for _, f in shown)] for n in RING}
    peaks = [heads[number][0] % (12 * S) for number in RING]
    assert all(900 * MS <= (later - sooner) % (12 * S) <= 1_100 * MS for sooner, later in pairwise(peaks))
    assert all(peaks[place] == peaks[place + 12] for place in range(12))
    assert [frame for _, frame in shown[:120]] == [frame for _, frame in shown[120:]]
    assert all(2 <= sum(any(at(frame, number)) for number in RING) <= 10 for _, frame in shown)
    assert not any(any(at(frame, number)) for _, frame in shown for number in set(range(49)) - set(RING))


def test_a_game_played_again_is_nobodys_turn() -> None:
    """Its position shines as in play, without a tide, whoever might be to move, and its walk is in neither colour."""
    for t_us, frame in frames(REPLAY, 3 * S, 16 * S, 100 * MS):
        play = LIGHTS.frame(Snapshot(phase="play", cells=GAME), t_us)
        for number in range(49):
            if number in BORDER:
                red, green, blue = at(frame, number)
                assert max(red, green, blue) - min(red, green, blue) <= 20
            else:
                assert at(play, number) == at(frame, number)
        assert frame == LIGHTS.frame(REPLAY._replace(mover="b"), t_us)


def test_the_last_action_of_a_game_played_again_blooms() -> None:
    """Its cell is pale at once and falls to what it has become."""
    assert DEFAULT.a_pale == at(LIGHTS.frame(REPLAY, 2 * S), 24)
    assert DEFAULT.a == at(LIGHTS.frame(REPLAY, 2_400 * MS), 24)


def test_a_game_played_again_ends_like_a_result() -> None:
    """When its line is complete light runs along it and all else dims, as in a result at the time of that action."""
    line = (22, 23, 24, 25)
    cells = GAME[:22] + "aaaa" + GAME[26:]
    again = REPLAY._replace(cells=cells, last_cell=25, last_us=5 * S, winner="a", line=line)
    result = again._replace(phase="result", phase_us=5 * S)
    for t_us, frame in frames(again, 5 * S, 9 * S, 20 * MS):
        whole = LIGHTS.frame(result, t_us)
        assert [at(whole, n) for n in range(49) if n not in BORDER] == [
            at(frame, n) for n in range(49) if n not in BORDER
        ]
    assert any(any(at(LIGHTS.frame(again, 8 * S), number)) for number in BORDER)


def test_a_game_played_again_keeps_the_flash_limit() -> None:
    """From play into it, over two actions and its end, back into attract: rises of a cell are 340 ms apart or more."""
    line, cells = (22, 23, 24, 25), GAME[:22] + "a.aa" + GAME[26:]
    end = REPLAY._replace(cells=cells.replace("a.aa", "aaaa"), last_cell=23, last_us=9 * S, winner="a", line=line)
    parts = (
        (Snapshot(phase="play", cells=GAME, mover="a"), 0, 2 * S),
        (REPLAY, 2 * S, 6 * S),
        (REPLAY._replace(cells=cells, last_cell=25, last_us=6 * S), 6 * S, 9 * S),
        (end, 9 * S, 16 * S),
        (Snapshot(phase_us=16 * S), 16 * S, 20 * S),
    )
    flashes = seen([pair for shown, start_us, end_us in parts for pair in frames(shown, start_us, end_us)])
    assert flashes.worst <= 3
    assert flashes.gap_us() >= RISE_GAP_US


def test_the_safe_board_is_four_dim_corners() -> None:
    """In `safe` the corners stand in dim violet and all else is dark."""
    frame = LIGHTS.frame(Snapshot(phase="safe", cells="a" * 49), 0)
    assert {0, 6, 42, 48} == {number for number in range(49) if any(at(frame, number))}
    assert 3 <= max(leading(at(frame, number)) for number in (0, 6, 42, 48)) <= 40
