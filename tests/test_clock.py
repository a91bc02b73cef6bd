"""The game clocks."""

from __future__ import annotations

from firmware.clock import Clocks, Deadline, Limits

S = 1_000_000
BOTH = Limits(900 * S, 120 * S)


def test_a_clock_runs_only_on_its_own_turn() -> None:
    """Only the mover's total falls, and the move time starts anew with each turn."""
    clocks = Clocks(BOTH).start("a", 0).next_turn("b", 10 * S)
    assert (890 * S, 893 * S) == (clocks.left_us("a", 17 * S), clocks.left_us("b", 17 * S))
    assert 113 * S == clocks.move_left_us(17 * S)


def test_a_pause_keeps_what_the_turn_has_used() -> None:
    """A stopped clock stands still, and the move goes on where it stopped."""
    clocks = Clocks(BOTH).start("b", 0).stop(30 * S)
    assert (900 * S, 870 * S, 90 * S) == (
        clocks.left_us("a", 99 * S),
        clocks.left_us("b", 99 * S),
        clocks.move_left_us(99 * S),
    )
    assert None is clocks.deadline
    assert Deadline(190 * S, "move") == clocks.start("b", 100 * S).deadline


def test_the_nearer_limit_is_the_deadline() -> None:
    """The deadline is the move limit, or the total where that is nearer; in the same instant the total."""
    assert Deadline(120 * S, "move") == Clocks(BOTH).start("a", 0).deadline
    assert Deadline(60 * S, "total") == Clocks(BOTH, used_us=(840 * S, 0)).start("a", 0).deadline
    assert Deadline(120 * S, "total") == Clocks(BOTH, used_us=(780 * S, 0)).start("a", 0).deadline


def test_either_limit_may_be_off() -> None:
    """Without a limit nothing is left to run out."""
    free = Clocks(Limits(None, None)).start("a", 0)
    assert (None, None, None) == (free.deadline, free.left_us("a", 5 * S), free.move_left_us(5 * S))
    assert Deadline(900 * S, "total") == Clocks(Limits(900 * S, None)).start("a", 0).deadline
    assert Deadline(120 * S, "move") == Clocks(Limits(None, 120 * S)).start("a", 0).deadline


def test_nothing_falls_below_zero() -> None:
    """Past its limit a clock shows zero."""
    clocks = Clocks(BOTH).start("a", 0)
    assert (0, 0) == (clocks.left_us("a", 1000 * S), clocks.move_left_us(1000 * S))
