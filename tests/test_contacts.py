"""The contacts as metal, and what rows and columns show of them."""

from __future__ import annotations

from collections import deque
from itertools import combinations, pairwise, product, takewhile
from random import Random
from sys import getswitchinterval, setswitchinterval
from threading import Event, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hal.errors import PartError
from sim.clock import VirtualClock
from sim.contacts import MOST_BOUNCES, Contacts, SimLines, glitches, train, with_diodes, without_diodes
from sim.faults import Faults, stream

ROWS = COLUMNS = 7
CELLS = ROWS * COLUMNS
STILL = Faults(bounce_us=0)
masks = st.integers(0, (1 << CELLS) - 1)


def mask_of(*cells: int) -> int:
    """The mask of some cells."""
    return sum(1 << cell for cell in set(cells))


def lines_over(
    contacts: Contacts, clock: VirtualClock, diodes: bool = True, faults: Faults = STILL, wait_us: int = 10
) -> SimLines:
    """Lines over contacts, on a 7 x 7 matrix."""
    return SimLines(contacts, clock, ROWS, COLUMNS, diodes=diodes, wait_us=wait_us, faults=faults)


def scanned(lines: SimLines) -> tuple[int, ...]:
    """The columns that each row shows in one pass."""
    words = []
    for row in range(ROWS):
        lines.select(row)
        words.append(lines.read())
    return tuple(words)


def changes(contacts: Contacts, until_us: int) -> list[tuple[int, int]]:
    """Each time before `until_us` at which the closed contacts differ from a microsecond earlier, and the mask."""
    seen = [(t_us, contacts.closed(t_us)) for t_us in range(until_us)]
    return [after for before, after in pairwise(seen) if before[1] != after[1]]


# --- moving and bouncing


@given(st.integers(0, 10**9), st.booleans(), st.integers(0, 20_000), st.integers())
def test_a_bounce_train_ends_where_it_should(t_us: int, closed: bool, bounce_us: int, seed: int) -> None:
    """A train starts with the move at its own time, turns each time, and ends in the right state when it is over."""
    flips = train(t_us, closed, bounce_us, Random(seed))
    times, levels = zip(*flips, strict=True)
    assert (t_us, closed, closed) == (times[0], levels[0], levels[-1])
    assert t_us + (bounce_us if bounce_us > 1 else 0) == times[-1]
    assert all(earlier < later for earlier, later in pairwise(times))
    assert all(one != other for one, other in pairwise(levels))
    assert len(flips) in range(3 if bounce_us > 1 else 1, 2 * MOST_BOUNCES + 2, 2)


def test_contacts_move_at_their_time_and_not_before() -> None:
    """A press and a release move the contact at their times, bounce for 3 ms, and rest where they should."""
    contacts = Contacts(CELLS, Faults(bounce_us=3_000), seed=4)
    contacts.press(24, 10_000)
    contacts.release(24, 20_000)
    seen = changes(contacts, 30_000)
    press = [(t_us, mask) for t_us, mask in seen if t_us < 20_000]
    release = [(t_us, mask) for t_us, mask in seen if t_us >= 20_000]
    assert [(10_000, 1 << 24), (13_000, 1 << 24)] == [press[0], press[-1]]
    assert [(20_000, 0), (23_000, 0)] == [release[0], release[-1]]
    assert len(press) > 1 < len(release)


def test_same_seed_same_bounces() -> None:
    """Two boards of one seed bounce alike; another seed bounces otherwise."""
    trains = []
    for seed in (1, 1, 2):
        contacts = Contacts(CELLS, seed=seed)
        contacts.press(0, 100)
        trains.append(changes(contacts, 4_000))
    assert trains[0] == trains[1] != trains[2]


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.integers(0, 6_000)), max_size=30), st.integers())
def test_contacts_come_to_rest_where_fingers_are(moves: list[tuple[int, bool, int]], seed: int) -> None:
    """However quickly cells are pressed and lifted, 3 ms later each contact is closed exactly where it is held."""
    contacts, t_us, down = Contacts(CELLS, seed=seed), 0, set[int]()
    for cell, pressed, after_us in moves:
        t_us += after_us
        (contacts.press if pressed else contacts.release)(cell, t_us)
        (down.add if pressed else down.discard)(cell)
        contacts.closed(t_us)
    assert mask_of(*down) == contacts.closed(t_us + 3_000) == contacts.held()


def test_a_later_move_replaces_what_was_planned() -> None:
    """A release inside the bounce of its press ends that bounce: from its time on only its own train is seen."""
    for seed in range(20):
        quick, slow = (Contacts(CELLS, Faults(bounce_us=3_000), seed=seed) for _ in range(2))
        quick.press(3, 5_000)
        quick.release(3, 5_500)
        slow.press(3, 0)
        slow.release(3, 5_500)
        assert [slow.closed(t_us) for t_us in range(5_500, 9_000)] == [
            quick.closed(t_us) for t_us in range(5_500, 9_000)
        ]


# --- holders


def test_a_contact_is_closed_while_anybody_holds_it() -> None:
    """Of several holders the first one closes a contact and the last one opens it."""
    contacts = Contacts(CELLS, STILL)
    contacts.hold("page", 8, 10)
    contacts.hold("post", 8, 20)
    contacts.hold("page", 8, 30)
    contacts.let_go("page", 8, 40)
    assert 1 << 8 == contacts.closed(40) == contacts.held()
    contacts.let_go("page", 8, 50)
    contacts.let_go("stranger", 8, 50)
    assert 1 << 8 == contacts.closed(50)
    contacts.let_go("post", 8, 60)
    assert [1 << 8, 0] == [contacts.closed(59), contacts.closed(60)]
    assert 0 == contacts.held()


def test_a_second_holder_moves_nothing() -> None:
    """A contact does not bounce again when a second holder comes, nor when one of two leaves."""
    contacts = Contacts(CELLS, Faults(bounce_us=1_000))
    contacts.hold("page", 8, 10)
    contacts.hold("post", 8, 2_000)
    contacts.let_go("page", 8, 3_000)
    assert 1_010 == changes(contacts, 5_000)[-1][0]


@pytest.mark.realtime
def test_any_thread_may_hold_while_another_scans() -> None:
    """Moves from a thread are all there in the end, however they fall between the reads of another."""
    contacts, moving = Contacts(CELLS, Faults(bounce_us=50)), Event()

    def move() -> None:
        moving.set()
        for t_us in range(3_000):
            (contacts.release if t_us // CELLS % 2 else contacts.press)(t_us % CELLS, t_us)

    interval_s = getswitchinterval()
    setswitchinterval(1e-6)
    try:
        fingers = Thread(target=move)
        fingers.start()
        moving.wait()
        t_us = 0
        while fingers.is_alive():
            contacts.closed(t_us)
            t_us = min(t_us + 1, 3_000)
        fingers.join()
    finally:
        setswitchinterval(interval_s)
    assert contacts.held() == contacts.closed(4_000)
    assert 3_000 // CELLS % 2 * ((1 << CELLS) - 1) ^ ((1 << 3_000 % CELLS) - 1) == contacts.held()


# --- broken cells and glitches


def test_stuck_and_dead_cells_do_not_move() -> None:
    """A stuck cell conducts and a dead one does not, held or not."""
    contacts = Contacts(CELLS, Faults(bounce_us=0, stuck=frozenset({5}), dead=frozenset({6})))
    assert 1 << 5 == contacts.closed(0)
    for cell in (5, 6, 7):
        contacts.press(cell, 10)
    assert mask_of(5, 7) == contacts.closed(10)
    assert mask_of(5, 6, 7) == contacts.held()
    for cell in (5, 6, 7):
        contacts.release(cell, 20)
    assert 1 << 5 == contacts.closed(20)


def test_glitches_are_lone_and_short() -> None:
    """Glitches come at their rate, on one cell at a time, each a beginning and an end within its length (case C13)."""
    faults = Faults(glitch_hz=200, glitch_us=900)
    turns = list(takewhile(lambda glitch: glitch.t_us < 10_000_000, glitches(CELLS, faults, Random(3))))
    starts, ends = turns[::2], turns[1::2]
    assert 1_600 < len(starts) < 2_000  # 200 a second, less the time that each takes
    assert all(one.t_us < other.t_us for one, other in pairwise(turns))
    assert all(1 == glitch.mask.bit_count() for glitch in starts)
    assert all(0 == glitch.mask for glitch in ends)
    assert 900 == max(end.t_us - start.t_us for start, end in zip(starts, ends, strict=False))
    assert CELLS == len({glitch.mask for glitch in starts})


def test_a_glitch_turns_a_contact_over() -> None:
    """A glitch closes an open contact and opens a held one, from its time to its end."""
    faults = Faults(bounce_us=0, glitch_hz=200)
    expected = list(takewhile(lambda glitch: glitch.t_us < 300_000, glitches(4, faults, stream(6, "glitch"))))
    contacts = Contacts(4, faults, seed=6)
    contacts.press(0, 0)
    assert [(glitch.t_us, glitch.mask ^ 1) for glitch in expected] == changes(contacts, 300_000)
    assert {0, 1, 2, 4, 8} == {glitch.mask for glitch in expected}


def test_glitches_do_not_move_bounces() -> None:
    """Switching glitches on adds them to what the same seed does without, and moves nothing else."""
    quiet, noisy, untouched = (Contacts(CELLS, Faults(glitch_hz=hz), seed=9) for hz in (0.0, 500.0, 500.0))
    for contacts in (quiet, noisy):
        contacts.press(48, 500)
    both = [(noisy.closed(t_us), quiet.closed(t_us) ^ untouched.closed(t_us)) for t_us in range(20_000)]
    assert any(seen != 1 << 48 for seen, _ in both[4_000:])
    assert all(seen == expected for seen, expected in both)


# --- what rows and columns show


@pytest.mark.parametrize("diodes", [True, False])
def test_every_cell_reads_back_at_its_row_and_column(diodes: bool) -> None:
    """Each of the 49 cells pressed alone shows in its own row at its own column, with diodes and without."""
    contacts, clock = Contacts(CELLS, STILL), VirtualClock()
    lines = lines_over(contacts, clock, diodes)
    for cell in range(CELLS):
        contacts.press(cell, 100 * cell + 50)
        contacts.release(cell, 100 * cell + 100)
    for row, column in product(range(ROWS), range(COLUMNS)):
        clock.advance_to(100 * (row * COLUMNS + column) + 49)
        assert (0,) * ROWS == scanned(lines)
        clock.advance_to(clock.now_us() + 1)
        assert tuple(1 << column if row == r else 0 for r in range(ROWS)) == scanned(lines)


def test_moves_are_seen_between_other_moves() -> None:
    """A scan sees each finger come and go while others stay."""
    contacts, clock = Contacts(CELLS, STILL), VirtualClock()
    lines, seen = lines_over(contacts, clock), []
    for t_us, (cell, down) in enumerate([(0, True), (1, True), (0, False), (8, True), (1, False)]):
        (contacts.press if down else contacts.release)(cell, t_us)
        clock.advance_to(t_us)
        seen.append(scanned(lines)[:2])
    assert [(1, 0), (3, 0), (2, 0), (2, 2), (0, 2)] == seen


def test_every_two_row_rectangle_has_its_ghost() -> None:
    """Each three corners of each rectangle show the fourth without diodes, and only themselves with them (case D1)."""
    rectangles = 0
    for (top, foot), (left, right) in product(combinations(range(ROWS), 2), combinations(range(COLUMNS), 2)):
        corners = [row * COLUMNS + column for row in (top, foot) for column in (left, right)]
        whole = with_diodes(mask_of(*corners), ROWS, COLUMNS)
        for three in combinations(corners, 3):
            rectangles += 1
            mask = mask_of(*three)
            assert whole == without_diodes(mask, ROWS, COLUMNS)
            own = with_diodes(mask, ROWS, COLUMNS)
            assert [*three] == [cell for cell in range(CELLS) if own[cell // 7] >> cell % 7 & 1]
    assert 21 * 21 * 4 == rectangles


def test_two_cells_never_make_a_ghost() -> None:
    """Every pair of cells reads the same with and without diodes, so two fingers never need any."""
    for pair in combinations(range(CELLS), 2):
        mask = mask_of(*pair)
        assert with_diodes(mask, ROWS, COLUMNS) == without_diodes(mask, ROWS, COLUMNS)


def reached(mask: int, row: int) -> int:
    """The columns that current from `row` reaches, walked wire by wire: the slow check."""
    wires, seen = deque([("row", row)]), {("row", row)}
    while wires:
        kind, place = wires.popleft()
        for cell in range(CELLS):
            if mask >> cell & 1 and place == (cell // 7 if kind == "row" else cell % 7):
                far = ("column", cell % 7) if kind == "row" else ("row", cell // 7)
                if far not in seen:
                    seen.add(far)
                    wires.append(far)
    return mask_of(*(place for kind, place in seen if kind == "column"))


@given(masks)
def test_without_diodes_current_goes_everywhere_it_can(mask: int) -> None:
    """Without diodes a row shows exactly the columns that current reaches through closed contacts."""
    assert tuple(reached(mask, row) for row in range(ROWS)) == without_diodes(mask, ROWS, COLUMNS)


@given(st.sets(st.integers(0, CELLS - 1), max_size=6))
def test_few_contacts_without_diodes(cells: set[int]) -> None:
    """With few contacts closed, as fingers do, connectivity is exact as well."""
    mask = mask_of(*cells)
    assert tuple(reached(mask, row) for row in range(ROWS)) == without_diodes(mask, ROWS, COLUMNS)


def test_too_short_a_wait_shows_the_row_before() -> None:
    """A driver that waits less than the columns need also reads the row selected before; one that waits does not."""
    seen = {}
    for wait_us in (4, 5):
        contacts, clock = Contacts(CELLS, STILL), VirtualClock()
        lines = lines_over(contacts, clock, faults=Faults(settle_us=5), wait_us=wait_us)
        contacts.press(2 * 7 + 4, 0)
        seen[wait_us] = scanned(lines)
    assert {4: (0, 0, 16, 16, 0, 0, 0), 5: (0, 0, 16, 0, 0, 0, 0)} == seen


def test_a_rest_between_scans_settles_the_columns() -> None:
    """After no row was selected nothing is left of the row before, however short the wait."""
    contacts, clock = Contacts(CELLS, STILL), VirtualClock()
    lines = lines_over(contacts, clock, faults=Faults(settle_us=5), wait_us=0)
    contacts.press(48, 0)
    lines.select(6)
    lines.select(None)
    assert 1 << 6 == lines.read()
    lines.select(0)
    assert 0 == lines.read()


def test_no_row_shows_no_column() -> None:
    """With no row driven, and after close (twice), every column is at rest."""
    contacts, clock = Contacts(CELLS, STILL), VirtualClock()
    lines = lines_over(contacts, clock)
    contacts.press(0, 0)
    assert 0 == lines.read()
    lines.select(0)
    assert 1 == lines.read()
    lines.select(None)
    assert 0 == lines.read()
    lines.select(0)
    lines.close()
    lines.close()
    assert 0 == lines.read()


def test_lines_fail_at_their_rate() -> None:
    """Lines told to fail raise a PartError that names the row and the fault; lines that are not never do."""
    contacts, clock = Contacts(CELLS, STILL), VirtualClock()
    broken = lines_over(contacts, clock, faults=Faults(lines_fail_rate=1))
    with pytest.raises(PartError, match="row 3 cannot be driven"):
        broken.select(3)
    shaky, failures = lines_over(contacts, clock, faults=Faults(lines_fail_rate=0.1)), 0
    for _ in range(1_000):
        try:
            shaky.select(0)
        except PartError:
            failures += 1
    assert 70 < failures < 130
