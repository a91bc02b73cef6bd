"""The light that answers a finger keeps to the flash limit."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from firmware.previews import PATTERN_US, Previews
from firmware.snapshot import RISE_GAP_US, Pattern, Touch

MS = 1000


def test_a_press_lights_at_once() -> None:
    """A first press rises in the microsecond of its edge and stays lit while the finger is down."""
    previews = Previews()
    previews.press(5, 1000, None, "a")
    assert (Touch(5, 1000, None, None, "a"),) == previews.touches


def test_a_short_touch_stays_lit_its_least_time() -> None:
    """A preview stays lit 340 ms from its rise, or until the finger is up if that is later."""
    previews = Previews()
    previews.press(5, 0, None, "a")
    previews.end(5, 50 * MS)
    assert [340 * MS] == [touch.until_us for touch in previews.touches]
    previews.press(6, 0, None, "a")
    previews.end(6, 900 * MS)
    assert 900 * MS == previews.touches[1].until_us


def test_a_press_meanwhile_keeps_it_lit() -> None:
    """A press while the cell is still lit is no new rise."""
    previews = Previews()
    previews.press(5, 0, None, "a")
    previews.end(5, 50 * MS)
    previews.press(5, 100 * MS, None, "a")
    assert (Touch(5, 0, None, None, "a"),) == previews.touches


def test_a_refusal_waits_for_its_gap_and_is_not_restarted() -> None:
    """A pattern rises 340 ms after the preview it follows, and a second refusal meanwhile does not restart it."""
    previews = Previews()
    previews.press(5, 0, None, None)
    previews.refuse(Pattern(5, "refused", 60 * MS))
    assert (Pattern(5, "refused", 340 * MS),) == previews.patterns
    previews.press(5, 500 * MS, None, None)
    previews.refuse(Pattern(5, "refused", 560 * MS))
    assert (Pattern(5, "refused", 340 * MS),) == previews.patterns


def test_a_touch_under_a_pattern_shows_when_it_has_ended() -> None:
    """A press while a pattern runs rises when the pattern is over."""
    previews = Previews()
    previews.refuse(Pattern(5, "hold", 0, "a"))
    previews.press(5, 100 * MS, 900 * MS, "a")
    assert (Touch(5, PATTERN_US["hold"], 900 * MS, None, "a"),) == previews.touches


def test_what_is_over_is_forgotten() -> None:
    """Lights that are out and patterns that have run are dropped, and pruning says so once."""
    previews = Previews()
    previews.press(5, 0, None, "a")
    previews.refuse(Pattern(5, "refused", 60 * MS))
    assert previews.prune(340 * MS)
    assert () == previews.touches
    assert previews.prune(1340 * MS)
    assert ((), ()) == (previews.touches, previews.patterns)
    assert not previews.prune(1341 * MS)


STEPS = st.lists(
    st.tuples(st.integers(0, 700), st.sampled_from(["press", "end", "refuse", "hold", "bloom"])), max_size=60
)


@given(STEPS)
def test_one_cell_never_rises_twice_within_the_gap(steps: list[tuple[int, str]]) -> None:
    """Whatever is touched and refused on one cell, its rises are at least 340 ms apart."""
    previews, t_us, rises = Previews(), 0, set[int]()
    for wait_ms, what in steps:
        t_us += wait_ms * MS
        bloom_us: set[int] = set()
        if what == "press":
            previews.press(5, t_us, None, "a")
        elif what == "end":
            previews.end(5, t_us)
        elif what == "bloom":
            lit = previews.lit(5, t_us)
            bloom_us = {previews.bloom(5, t_us)} if not lit else set()
        else:
            previews.refuse(Pattern(5, "refused" if what == "refuse" else "hold", t_us))
        rises = {rise_us for rise_us in rises if rise_us <= t_us} | bloom_us  # what was to come may be replaced
        rises |= {touch.rise_us for touch in previews.touches}
        for pattern in previews.patterns:
            rises |= {pattern.start_us} | ({pattern.start_us + 500 * MS} if pattern.kind == "refused" else set())
        previews.prune(t_us)
    assert [] == [(a, b) for a, b in pairwise(sorted(rises)) if b - a < RISE_GAP_US]
