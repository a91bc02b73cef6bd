"""Debounce over many scan periods, in virtual time: one press and one release a touch, then silence."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hal.debounce import Debounce
from hal.ports import Edge

CELL = 24
PRESS = (0, 6_000)
PERIODS = [1_000 * ms for ms in range(1, 21)]


def contact(moves: list[int], t_us: int) -> bool:
    """Whether a contact is closed that moves at these times, first closing."""
    return sum(move <= t_us for move in moves) % 2 == 1


def replay(debounce: Debounce, moves: list[int], period_us: int, until_us: int, start_us: int = 0) -> list[Edge]:
    """The edges of one contact scanned at a period."""
    edges: list[Edge] = []
    for t_us in range(start_us, until_us, period_us):
        edges += debounce.step(t_us, contact(moves, t_us) << CELL)
    return edges


def train(rng: random.Random, start_us: int, length_us: int, count: int) -> list[int]:
    """The times of an odd number of moves from `start_us`, the last `length_us` later: a change and its bounce."""
    between = sorted(rng.sample(range(1, length_us), 2 * count - 1))
    return [start_us, *(start_us + at for at in between), start_us + length_us]


@pytest.mark.parametrize("period_us", PERIODS)
@pytest.mark.parametrize("press_us", PRESS)
def test_a_touch_with_bounce_is_one_press_and_one_release_then_silence(period_us: int, press_us: int) -> None:
    """At scan periods of 1 to 20 ms a touch that bounces on both ends is one press and one release, and a minute
    after it nothing more (cases D5, D6)."""
    rng = random.Random(period_us)
    for _ in range(10):
        down_us = rng.randrange(40_000)
        moves = train(rng, down_us, 5_000, 5) + train(rng, down_us + 120_000, 5_000, 5)
        debounce = Debounce(press_us, 10_000)
        edges = replay(debounce, moves, period_us, 400_000, rng.randrange(period_us))
        assert [(edge.cell, edge.down) for edge in edges] == [(CELL, True), (CELL, False)]
        pressed, released = edges
        assert down_us <= pressed.t_us < down_us + 5_000 + period_us
        assert down_us + 120_000 <= released.t_us < down_us + 125_000 + period_us
        assert replay(debounce, [], period_us, 60_400_000, 400_000) == []


def test_an_eager_press_counts_at_its_first_contact() -> None:
    """With press_us 0 a press is reported by the scan that first saw the contact, with that scan's time."""
    debounce = Debounce(0, 10_000)
    assert (Edge(7_000, CELL, True),) == debounce.step(7_000, 1 << CELL)
    assert debounce.accepted == 1 << CELL


def test_a_deferred_press_counts_once_it_has_lasted() -> None:
    """With press_us a press is reported when it has lasted, with the time of the scan that first saw it (case D7)."""
    debounce = Debounce(3_000, 10_000)
    closed = 1 << CELL
    reported = [debounce.step(t_us, closed) for t_us in (1_000, 2_000, 3_999, 4_000)]
    assert [(), (), (), (Edge(1_000, CELL, True),)] == reported


def test_a_release_counts_once_it_has_lasted() -> None:
    """A release is reported when it has lasted, with the time of the scan that first saw its last open stretch."""
    debounce = Debounce(0, 10_000)
    masks = {0: 1, 1_000: 0, 2_000: 1, 3_000: 0, 12_999: 0, 13_000: 0, 14_000: 0}
    reported = [debounce.step(t_us, mask) for t_us, mask in masks.items()]
    assert [(Edge(0, 0, True),), (), (), (), (), (Edge(3_000, 0, False),), ()] == reported


@pytest.mark.parametrize("period_us", PERIODS)
def test_a_lone_glitch_is_no_press_where_presses_are_deferred(period_us: int) -> None:
    """A contact closed for 5 ms is no press where 6 ms are wanted, and a short touch where none are (case D7)."""
    for start_us in range(0, 20_000, 500):
        moves = [start_us, start_us + 5_000]
        assert replay(Debounce(6_000, 10_000), moves, period_us, 200_000) == []
        eager = replay(Debounce(0, 10_000), moves, period_us, 200_000)
        assert [True, False][: len(eager)] == [edge.down for edge in eager]
        assert len(eager) in ((0, 2) if period_us > 5_000 else (2,))


@pytest.mark.parametrize("period_us", PERIODS)
@pytest.mark.parametrize("press_us", PRESS)
def test_a_bounce_longer_than_the_release_still_gives_pairs(period_us: int, press_us: int) -> None:
    """A contact that bounces for 47 ms, the worst reported, gives presses and releases in turn, the last a release."""
    rng = random.Random(period_us)
    for _ in range(10):
        moves = train(rng, 1_000, 47_000, 6) + train(rng, 200_000, 47_000, 6)
        edges = replay(Debounce(press_us, 10_000), moves, period_us, 400_000)
        assert [index % 2 == 0 for index in range(len(edges))] == [edge.down for edge in edges]
        assert len(edges) % 2 == 0
        assert len(edges) >= 2


def test_contacts_closed_at_the_first_scan_are_presses_of_that_scan() -> None:
    """Fingers that rest on the board at power-up are presses with the first scan's time."""
    assert (Edge(5_000, 0, True), Edge(5_000, 48, True)) == Debounce(0, 10_000).step(5_000, 1 | 1 << 48)
    deferred = Debounce(2_000, 10_000)
    assert deferred.step(5_000, 1) == ()
    assert (Edge(5_000, 0, True),) == deferred.step(7_000, 1)


def test_edges_of_one_scan_come_by_own_time_then_releases_first_then_by_cell() -> None:
    """The edges of one scan are ordered by own time, of one time releases before presses, then by cell."""
    debounce = Debounce(4_000, 4_000)
    masks = {0: 0b00011, 4_000: 0b00011, 6_000: 0b10011, 7_000: 0b11110, 8_000: 0b11100}
    before = [debounce.step(t_us, mask) for t_us, mask in masks.items()]
    assert [len(edges) for edges in before] == [0, 2, 0, 0, 0]
    expected = (
        Edge(6_000, 4, True),
        Edge(7_000, 0, False),
        Edge(7_000, 2, True),
        Edge(7_000, 3, True),
        Edge(8_000, 1, False),
    )
    assert expected == debounce.step(12_000, 0b11100)


@pytest.mark.parametrize(
    ("moves", "touches"),
    [
        ([0, 3_000], 1),  # a tap shorter than the debounce
        ([0, 3_000, 100_000, 103_000], 2),  # and another one
        ([0, 40_000, 44_000, 90_000], 1),  # opened for less than the debounce
        ([0, 40_000, 60_000, 63_000, 120_000, 160_000], 3),
    ],
)
def test_every_press_has_its_release_and_the_next_is_a_press(moves: list[int], touches: int) -> None:
    """The traces on which a library's bounce time lost a release, and then the next press, give whole pairs (C12)."""
    edges = replay(Debounce(0, 10_000), moves, 1_000, 300_000)
    assert [True, False] * touches == [edge.down for edge in edges]


def test_a_missed_scan_loses_no_time() -> None:
    """Debounce counts time and not scans: a scan that comes late finds what has lasted (case D16)."""
    debounce = Debounce(0, 10_000)
    debounce.step(0, 1)
    debounce.step(1_000, 0)
    assert (Edge(1_000, 0, False),) == debounce.step(201_000, 0)


SCANS = st.lists(st.tuples(st.integers(1, 6_000), st.integers(0, 15)), max_size=60)


def timed(scans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Scans as (time, mask) from scans as (time since the last, mask)."""
    t_us, out = 0, []
    for after_us, mask in scans:
        t_us += after_us
        out.append((t_us, mask))
    return out


def by_definition(scans: list[tuple[int, int]], cell: int, press_us: int, release_us: int) -> list[tuple[int, Edge]]:
    """The edges of a cell with the time of the scan that reports them, from all its samples, one rule at a time."""
    down, edges = False, []
    for at, (t_us, mask) in enumerate(scans):
        closed = bool(mask >> cell & 1)
        stretch = []
        for earlier_us, earlier in reversed(scans[: at + 1]):
            if bool(earlier >> cell & 1) != closed:
                break
            stretch.append(earlier_us)
        if closed != down and t_us - stretch[-1] >= (press_us if closed else release_us):
            down = closed
            edges.append((t_us, Edge(stretch[-1], cell, closed)))
    return edges


@given(SCANS, st.sampled_from([0, 1_000, 7_000]), st.integers(1, 12_000))
def test_edges_are_those_of_the_definition(scans: list[tuple[int, int]], press_us: int, release_us: int) -> None:
    """On any stream of masks the edges and the scans that report them are those the definition gives."""
    times = timed(scans)
    debounce = Debounce(press_us, release_us)
    reported = [(t_us, edge) for t_us, mask in times for edge in debounce.step(t_us, mask)]
    expected = [pair for cell in range(4) for pair in by_definition(times, cell, press_us, release_us)]
    assert len(expected) == len(reported)
    assert sorted(expected) == sorted(reported)


@given(SCANS, st.sampled_from([0, 1_000, 7_000]), st.integers(1, 12_000))
def test_what_is_known_is_final(scans: list[tuple[int, int]], press_us: int, release_us: int) -> None:
    """No edge is ever reported whose own time is at or before a horizon returned earlier, and the horizon rises."""
    debounce = Debounce(press_us, release_us)
    known_us = debounce.known_us(0)
    for t_us, mask in timed(scans):
        for edge in debounce.step(t_us, mask):
            assert known_us < edge.t_us <= t_us
        assert known_us < debounce.known_us(t_us) <= t_us
        known_us = debounce.known_us(t_us)


def test_the_horizon_lags_by_the_longer_debounce() -> None:
    """What is known at a scan is all up to the longer of press and release debounce before it."""
    assert Debounce(0, 10_000).known_us(100_000) == 90_000
    assert Debounce(12_000, 10_000).known_us(100_000) == 88_000
