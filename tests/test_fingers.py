"""Fingers, scripted and random."""

from __future__ import annotations

from collections import Counter
from itertools import islice, pairwise
from random import Random

import pytest

from sim.fingers import HABITS, Finger, Habit, Moves, chord, hand, hold, press, release, script, tap, wander

MS = 1_000


def test_scripts_are_put_in_order() -> None:
    """Parts in any order become moves by rising time; at one time fingers leave before others come."""
    moves = script(hold("c3", 100, 900), tap("d4", 50, 50), chord(("a1", 48), 1_000, 10), press(1, 9), release(1, 30))
    assert [
        Finger(9, 1, True),
        Finger(30, 1, False),
        Finger(50, 24, True),
        Finger(100, 24, False),
        Finger(100, 16, True),
        Finger(1_000, 16, False),
        Finger(1_000, 0, True),
        Finger(1_000, 48, True),
        Finger(1_010, 0, False),
        Finger(1_010, 48, False),
    ] == moves


@pytest.mark.parametrize(
    ("moves", "said"),
    [
        (tap("d4", 10, 100) + press("d4", 50), "cell 24 is down already at 50 us"),
        (release("a1", 5), "cell 0 is not down at 5 us"),
        (hold("a1", 5, -1), "cell 0 is not down at 4 us"),
    ],
)
def test_impossible_scripts_are_refused(moves: Moves, said: str) -> None:
    """A finger cannot come down twice on one cell, nor leave one it is not on."""
    with pytest.raises(ValueError, match=said):
        script(moves)


@pytest.mark.parametrize("habit", HABITS, ids=lambda habit: habit.moves.__name__)
def test_every_habit_is_possible(habit: Habit) -> None:
    """Each habit, a thousand times, begins at its time or later, keeps to the board, and ends with all fingers up."""
    for seed in range(1_000):
        moves = script(habit.moves(Random(seed), 5_000))
        assert 5_000 <= moves[0].t_us
        assert all(0 <= move.cell < 49 for move in moves)
        assert 2 * sum(move.down for move in moves) == len(moves)


def touches(moves: list[Finger]) -> list[tuple[int, int, int]]:
    """Each touch as cell, when, how long."""
    since: dict[int, int] = {}
    found = []
    for move in moves:
        if move.down:
            since[move.cell] = move.t_us
        else:
            found.append((move.cell, since[move.cell], move.t_us - since.pop(move.cell)))
    return found


def test_random_fingers_do_everything_hands_do() -> None:
    """Ten thousand random moves hold short noise, taps, early lifts, full holds, resting hands, every cell, palms,
    swipes, and the same cell in quick succession.
    """
    moves = list(islice(wander(Random(1)), 10_000))
    lengths = Counter(
        "noise"
        if us < 5 * MS
        else "tap"
        if us < 200 * MS
        else "early"
        if us < 800 * MS
        else "hold"
        if us < 5_000 * MS
        else "rest"
        for _, _, us in touches(moves)
    )
    assert all(lengths[kind] >= 20 for kind in ("noise", "tap", "early", "hold", "rest")), lengths
    down, most = set[int](), Counter[int]()
    for move in moves:
        down ^= {move.cell}
        most[len(down)] += 1
    assert all(most[count] >= 20 for count in range(1, 7)), most
    assert 49 == len({move.cell for move in moves})
    presses = [move for move in moves if move.down]
    assert sum(one.cell == other.cell and other.t_us - one.t_us < 200 * MS for one, other in pairwise(presses)) > 100


def test_random_fingers_come_in_order_and_repeat() -> None:
    """Moves rise in time, each one turns its cell, and the same seed gives the same moves."""
    moves = list(islice(wander(Random(7), 500), 5_000))
    assert moves == list(islice(wander(Random(7), 500), 5_000))
    assert moves != list(islice(wander(Random(8), 500), 5_000))
    assert all(one.t_us <= other.t_us for one, other in pairwise(moves))
    assert 500 < moves[0].t_us
    down: set[int] = set()
    for move in moves:
        assert move.down == (move.cell not in down)
        down ^= {move.cell}


def test_one_hand_does_one_thing_at_a_time() -> None:
    """A hand begins nothing before its last touch is over; two hands overlap."""
    taps = (Habit(1, lambda random, t_us: tap(random.randrange(49), t_us)),)
    one = list(islice(hand(Random(2), habits=taps), 1_000))
    assert all(move.down == (turn % 2 == 0) for turn, move in enumerate(one))
    both = list(islice(wander(Random(2), habits=taps), 1_000))
    assert 20 < sum(one.down and other.down for one, other in pairwise(both))
