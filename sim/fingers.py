"""Fingers: scripted ones for scenes, random ones for long runs. Pure; chance is handed in.

A finger's move is when, which cell, down or up; moves are tuples, so a list of them sorts by time. Scripts are built
from `tap`, `hold`, `press`, `release` and `chord`, whose cells are names or numbers, and put in order by `script`:

    script(tap("d4", 1_000_000), hold("c3", 2_000_000, 900_000), chord(("a1", "g7"), 4_000_000, 2_100_000))

Bounce is not theirs: the contacts add it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from random import Random
from typing import NamedTuple

from firmware.games.morbak import parse_cell

TAP_US = 60_000
ROWS = COLUMNS = 7


class Finger(NamedTuple):
    """At `t_us` a finger comes down on a cell, or leaves it."""

    t_us: int
    cell: int
    down: bool


Moves = tuple[Finger, ...]


# --- scripts


def press(cell: str | int, t_us: int) -> Moves:
    """A finger comes down at `t_us`."""
    return (Finger(t_us, _cell(cell), True),)


def release(cell: str | int, t_us: int) -> Moves:
    """A finger leaves at `t_us`."""
    return (Finger(t_us, _cell(cell), False),)


def hold(cell: str | int, t_us: int, for_us: int) -> Moves:
    """A finger comes down at `t_us` and stays for `for_us`."""
    return press(cell, t_us) + release(cell, t_us + for_us)


def tap(cell: str | int, t_us: int, for_us: int = TAP_US) -> Moves:
    """A short touch at `t_us`."""
    return hold(cell, t_us, for_us)


def chord(cells: Iterable[str | int], t_us: int, for_us: int) -> Moves:
    """Several fingers come down together at `t_us` and stay for `for_us`."""
    return tuple(move for cell in cells for move in hold(cell, t_us, for_us))


def script(*parts: Iterable[Finger]) -> list[Finger]:
    """The moves of all parts in the order of their times; at the same time fingers leave before others come.

    Raises ValueError for a finger that comes down on a cell that is down, or leaves one that is not.
    """
    moves = sorted((move for part in parts for move in part), key=lambda move: (move.t_us, move.down, move.cell))
    down: set[int] = set()
    for move in moves:
        if move.down == (move.cell in down):
            state = "down already" if move.down else "not down"
            raise ValueError(f"script: cell {move.cell} is {state} at {move.t_us} us; mend the times of its moves")
        down ^= {move.cell}
    return moves


def _cell(cell: str | int) -> int:
    return parse_cell(cell) if isinstance(cell, str) else cell


# --- chance


class Habit(NamedTuple):
    """Something hands do: how often, relative to the others, and the moves it makes from a time on."""

    weight: int
    moves: Callable[[Random, int], Moves]


def _anywhere(random: Random) -> int:
    return random.randrange(ROWS * COLUMNS)


def _tap(random: Random, t_us: int) -> Moves:
    """A touch that plays."""
    return tap(_anywhere(random), t_us, random.randrange(30_000, 300_000))


def _noise(random: Random, t_us: int) -> Moves:
    """A touch too short to mean anything."""
    return tap(_anywhere(random), t_us, random.randrange(500, 20_000))


def _hold(random: Random, t_us: int) -> Moves:
    """A touch long enough for a scarce action, sometimes for a resting hand."""
    longest_us = random.choice((1_000_000, 1_000_000, 2_000_000, 7_000_000))
    return hold(_anywhere(random), t_us, random.randrange(800_000, longest_us))


def _early(random: Random, t_us: int) -> Moves:
    """A hold given up."""
    return hold(_anywhere(random), t_us, random.randrange(200_000, 800_000))


def _second(random: Random, t_us: int) -> Moves:
    """A second cell while the first is down."""
    first, second = random.sample(range(ROWS * COLUMNS), 2)
    later_us = t_us + random.randrange(0, 400_000)
    return hold(first, t_us, random.randrange(50_000, 1_500_000)) + hold(
        second, later_us, random.randrange(20_000, 1_000_000)
    )


def _palm(random: Random, t_us: int) -> Moves:
    """A block of cells, coming and leaving raggedly."""
    row, column = random.randrange(ROWS - 1), random.randrange(COLUMNS - 2)
    cells = [(row + down) * COLUMNS + column + right for down in range(2) for right in range(3)]
    return tuple(
        move
        for cell in random.sample(cells, random.randint(4, 6))
        for move in hold(cell, t_us + random.randrange(30_000), random.randrange(80_000, 900_000))
    )


def _drum(random: Random, t_us: int) -> Moves:
    """The same cell again and again."""
    cell, every_us = _anywhere(random), random.randrange(60_000, 180_000)
    return tuple(
        move
        for turn in range(random.randint(3, 10))
        for move in tap(cell, t_us + turn * every_us, random.randrange(5_000, every_us - 5_000))
    )


def _swipe(random: Random, t_us: int) -> Moves:
    """Along a row or a column, each cell left a little after the next is reached."""
    line, along_row = random.randrange(7), random.random() < 0.5
    cells = [line * COLUMNS + step if along_row else step * COLUMNS + line for step in range(7)]
    every_us = random.randrange(10_000, 90_000)
    return tuple(
        move
        for step, cell in enumerate(cells[:: random.choice((1, -1))])
        for move in hold(cell, t_us + step * every_us, every_us + random.randrange(-8_000, 20_000))
    )


HABITS = (
    Habit(40, _tap),
    Habit(10, _noise),
    Habit(16, _hold),
    Habit(8, _early),
    Habit(8, _second),
    Habit(4, _palm),
    Habit(5, _drum),
    Habit(4, _swipe),
)


def hand(random: Random, t_us: int = 0, habits: Sequence[Habit] = HABITS) -> Iterator[Finger]:
    """One hand for ever: one habit after the other, with pauses between, by rising time."""
    weights = [habit.weight for habit in habits]
    while True:
        t_us += random.choice((20_000, 100_000, 300_000, 600_000)) + random.randrange(200_000)
        moves = sorted(random.choices(habits, weights)[0].moves(random, t_us))
        yield from moves
        t_us = moves[-1].t_us


def wander(random: Random, t_us: int = 0, habits: Sequence[Habit] = HABITS) -> Iterator[Finger]:
    """Both sides at once for ever: two hands that know nothing of each other, by rising time.

    A cell that both press comes down with the first and leaves with the last, as a contact does.
    """
    sides = [hand(Random(random.randbytes(16)), t_us, habits) for _ in range(2)]
    fingers = [0] * (ROWS * COLUMNS)
    for move in merge(*sides):
        before = fingers[move.cell]
        fingers[move.cell] += 1 if move.down else -1
        if 0 in (before, fingers[move.cell]):
            yield move
