"""Hop 5: what fingers come to, judged edge by edge."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from firmware.gesture import Chord, Event, Gesture, TouchTimes

MS = 1000
TIMES = TouchTimes()
CHORD = Chord("corners", 500 * MS)


def kinds(events: list[Event]) -> list[tuple[str, int]]:
    return [(event.kind, event.cell) for event in events]


def play(gesture: Gesture, script: list[tuple[int, str, int]], end_ms: int) -> list[tuple[str, int, int]]:
    """Run edges given in milliseconds together with every deadline; returns (kind, cell, ms)."""
    events: list[Event] = []
    for t_ms, what, cell in [*script, (end_ms, "end", 0)]:
        while (due_us := gesture.due_us) is not None and due_us <= t_ms * MS:
            events += gesture.advance(due_us)
        if what == "+":
            events += gesture.press(cell, t_ms * MS)
        elif what == "-":
            events += gesture.release(cell, t_ms * MS)
    return [(event.kind, event.cell, event.t_us // MS) for event in events]


def test_a_press_and_release_is_a_tap() -> None:
    """A finger that comes down on one cell and is lifted is a tap at the time of its release."""
    assert [("press", 24, 100), ("tap", 24, 180)] == play(Gesture(TIMES), [(100, "+", 24), (180, "-", 24)], 5000)


def test_noise_is_not_a_tap() -> None:
    """A press shorter than tap_min_us comes to nothing, one of exactly tap_min_us is a tap."""
    assert [("press", 3, 0), ("short", 3, 19)] == play(Gesture(TIMES), [(0, "+", 3), (19, "-", 3)], 100)
    assert [("press", 3, 0), ("tap", 3, 20)] == play(Gesture(TIMES), [(0, "+", 3), (20, "-", 3)], 100)


def test_a_hold_is_told_once_when_it_is_complete() -> None:
    """A cell held for hold_us is a hold at that time, told once, and still a tap when lifted."""
    expected = [("press", 9, 0), ("hold", 9, 800), ("tap", 9, 2000)]
    assert expected == play(Gesture(TIMES), [(0, "+", 9), (2000, "-", 9)], 3000)


def test_a_release_at_the_end_of_a_hold_completes_it() -> None:
    """A finger lifted in the very microsecond in which its hold is complete has held it."""
    assert [("press", 9, 0), ("hold", 9, 800), ("tap", 9, 800)] == play(
        Gesture(TIMES), [(0, "+", 9), (800, "-", 9)], 900
    )


def test_a_second_cell_cancels_both_until_all_are_up() -> None:
    """A second live cell cancels both, and nothing commits until the last finger is up."""
    script = [
        (0, "+", 1),
        (50, "+", 2),
        (100, "-", 1),
        (150, "+", 3),
        (200, "-", 2),
        (900, "-", 3),
        (950, "+", 4),
        (999, "-", 4),
    ]
    expected = [
        ("press", 1, 0),
        ("press", 2, 50),
        ("cancel", 1, 50),
        ("cancel", 2, 50),
        ("press", 3, 150),
        ("cancel", 3, 150),
        ("press", 4, 950),
        ("tap", 4, 999),
    ]
    assert expected == play(Gesture(TIMES), script, 1000)


def test_every_pair_of_cells_cancels() -> None:
    """Whatever two cells are down together, neither acts, in either order of lifting."""
    for one, other in combinations(range(49), 2):
        for first, last in ((one, other), (other, one)):
            script = [(0, "+", one), (10, "+", other), (2000, "-", first), (2050, "-", last)]
            acts = [event for event in play(Gesture(TIMES), script, 2100) if event[0] in ("tap", "hold", "chord")]
            assert [] == acts


def test_a_palm_is_ignored() -> None:
    """Four cells and more at once come to nothing, and the board is ready again when all are up."""
    script = [(t, "+", t) for t in range(6)] + [(100 + t, "-", t) for t in range(6)] + [(200, "+", 7), (240, "-", 7)]
    assert [("tap", 7, 240)] == [event for event in play(Gesture(TIMES), script, 3000) if event[0] in ("tap", "hold")]


def test_four_corners_held_are_a_palm_and_restart_nothing() -> None:
    """Held for 6 s the corners come to nothing, their menu included: a board in public is restarted by its operator,
    and one that freezes by its watchdog, which needs no finger (case G10).
    """
    gesture = Gesture(TIMES)
    gesture.chords = {frozenset((0, 48)): Chord("menu", 2000 * MS)}
    script = [(t, "+", cell) for t, cell in enumerate((0, 6, 42, 48))] + [
        (6000 + cell, "-", cell) for cell in (0, 6, 42, 48)
    ]
    assert [] == [event for event in play(gesture, script, 9000) if event[0] in ("tap", "hold", "chord")]


def test_a_chord_fires_while_it_is_held() -> None:
    """Exactly the two cells of a chord arm it and nothing else; it fires when both were held long enough."""
    gesture = Gesture(TIMES)
    gesture.chords = {frozenset((0, 6)): CHORD}
    script = [(0, "+", 0), (700, "+", 6), (1300, "-", 0), (1400, "-", 6)]
    expected = [("press", 0, 0), ("press", 6, 700), ("cancel", 0, 1200), ("cancel", 6, 1200), ("chord", 0, 1200)]
    assert expected == play(gesture, script, 2000)


def test_a_chord_is_broken_by_a_third_cell_or_by_lifting() -> None:
    """A third live cell, or lifting either cell early, cancels a chord until all are up."""
    for script in (
        [(0, "+", 0), (10, "+", 6), (100, "+", 20), (120, "-", 20), (900, "-", 0), (901, "-", 6)],
        [(0, "+", 0), (10, "+", 6), (400, "-", 6), (450, "+", 6), (1900, "-", 0), (1901, "-", 6)],
    ):
        gesture = Gesture(TIMES)
        gesture.chords = {frozenset((0, 6)): CHORD}
        assert [] == [event for event in play(gesture, script, 2000) if event[0] in ("tap", "hold", "chord")]


def test_a_resting_cell_leaves_the_gesture() -> None:
    """A cell down for 5 s leaves the gesture until lifted, counts for no second cell, and play goes on (case D26)."""
    script = [(0, "+", 5), (6000, "+", 9), (6100, "-", 9), (7000, "-", 5), (7250, "+", 5), (7400, "-", 5)]
    events = play(Gesture(TIMES), script, 8000)
    assert [("hold", 5, 800), ("left", 5, 5000), ("tap", 9, 6100), ("tap", 5, 7400)] == [
        event for event in events if event[0] in ("hold", "left", "tap", "cancel")
    ]


def test_a_rested_contact_that_flickers_is_no_finger() -> None:
    """Closed again sooner than a finger could lift, however often, it counts for nothing (case G11)."""
    script = [(0, "+", 5), (6000, "-", 5), (6020, "+", 5), (6200, "-", 5), (6449, "+", 5), (7500, "-", 5)]
    events = play(Gesture(TIMES), [*script, (7750, "+", 5), (7850, "-", 5)], 8000)
    assert [6020, 6449] == [event[2] for event in events if event[0] == "dead"]
    assert [("hold", 5, 800), ("tap", 5, 7850)] == [event for event in events if event[0] in ("hold", "tap")]


def test_a_resting_hand_leaves_the_gesture() -> None:
    """Several cells resting for 5 s each leave one by one, and then a tap elsewhere acts again."""
    script = [(0, "+", 1), (100, "+", 2), (200, "+", 3), (5300, "+", 40), (5400, "-", 40)]
    events = play(Gesture(TIMES), script, 6000)
    assert [("left", 1, 5000), ("left", 2, 5100), ("left", 3, 5200)] == [e for e in events if e[0] == "left"]
    assert [("tap", 40, 5400)] == [e for e in events if e[0] == "tap"]


def test_a_cell_pressed_for_20_s_is_reported_until_lifted() -> None:
    """A cell that stays down 20 s is reported as stuck, dead fingers included, until it is lifted."""
    gesture = Gesture(TIMES, guard_until_us=1)
    gesture.press(3, 0)
    gesture.press(4, 5)
    play(gesture, [], 20_000)
    assert {3} == gesture.stuck
    play(gesture, [], 20_001)
    assert {3, 4} == gesture.stuck
    gesture.release(3, 30_000 * MS)
    assert {4} == gesture.stuck
    assert gesture.due_us is None


def test_fingers_down_at_power_up_are_dead() -> None:
    """A finger that lies on the board at power-up is dead until lifted (case D27)."""
    gesture = Gesture(TIMES, guard_until_us=1)
    assert [("dead", 8, 0)] == play(gesture, [(0, "+", 8), (400, "-", 8)], 900)
    assert [("press", 8, 1000), ("tap", 8, 1100)] == play(gesture, [(1000, "+", 8), (1100, "-", 8)], 1200)


def test_the_guard_kills_quick_second_taps() -> None:
    """A press before the guard's end is dead until lifted, one at its end is live."""
    gesture = Gesture(TIMES)
    gesture.guard(250 * MS)
    script = [(249, "+", 1), (250, "+", 2), (300, "-", 2), (900, "-", 1)]
    assert [("dead", 1, 249), ("press", 2, 250), ("tap", 2, 300)] == play(gesture, script, 2000)


def test_killed_fingers_count_for_nothing_until_lifted() -> None:
    """When the turn changes every finger that is down is dead: no tap, no hold, no second cell."""
    gesture = Gesture(TIMES)
    play(gesture, [(0, "+", 1), (5, "+", 2)], 10)
    assert [("dead", 1), ("dead", 2)] == kinds(gesture.kill(10 * MS))
    script = [(20, "+", 30), (90, "-", 30), (100, "-", 1), (3000, "-", 2)]
    assert [("press", 30, 20), ("tap", 30, 90)] == play(gesture, script, 4000)


def test_ghosts_cancel_until_all_are_up() -> None:
    """Ambiguous cells cancel what is under way, and nothing commits until ghosts and fingers are gone (case D1)."""
    gesture = Gesture(TIMES)
    events = gesture.press(0, 0) + gesture.ghosts(0b11, 10 * MS) + gesture.release(0, 20 * MS)
    events += gesture.press(1, 30 * MS) + gesture.release(1, 90 * MS) + gesture.ghosts(0, 100 * MS)
    assert [("press", 0), ("cancel", 0), ("press", 1), ("cancel", 1)] == kinds(events)
    assert [("press", 1, 110), ("tap", 1, 160)] == play(gesture, [(110, "+", 1), (160, "-", 1)], 200)


EDGES = st.lists(st.tuples(st.integers(1, 900), st.integers(0, 4)), max_size=40)


@given(EDGES)
def test_an_act_is_explained_by_its_own_finger(steps: list[tuple[int, int]]) -> None:
    """Every tap and hold belongs to a cell that was alone from its press on, whatever the fingers did."""
    gesture, t_ms, down, script = Gesture(TIMES), 0, set[int](), []
    for wait_ms, cell in steps:
        t_ms += wait_ms
        script.append((t_ms, "-" if cell in down else "+", cell))
        down ^= {cell}
    for kind, cell, at_ms in play(gesture, script, t_ms + 6000):
        if kind not in ("tap", "hold"):
            continue
        began_ms = max(t for t, what, c in script if c == cell and what == "+" and t <= at_ms)
        assert at_ms - began_ms >= (20 if kind == "tap" else 800)
        started = [c for t, what, c in script if what == "+" and began_ms < t < at_ms]
        assert [] == started


@given(EDGES)
def test_the_gesture_always_comes_to_rest(steps: list[tuple[int, int]]) -> None:
    """Once all fingers are up nothing is due and nothing stays spoiled."""
    gesture, t_us = Gesture(TIMES), 0
    down: set[int] = set()
    for wait_ms, cell in steps:
        t_us += wait_ms * MS
        while (due_us := gesture.due_us) is not None and due_us <= t_us:
            gesture.advance(due_us)
        (gesture.release if cell in down else gesture.press)(cell, t_us)
        down ^= {cell}
    for cell in down:
        gesture.release(cell, t_us)
    assert gesture.due_us is None
    assert not gesture.spoiled
    assert frozenset() == gesture.down
