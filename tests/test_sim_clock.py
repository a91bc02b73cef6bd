"""Virtual time."""

from __future__ import annotations

import pytest

from sim.clock import VirtualClock


def test_time_stands_still_until_advanced() -> None:
    """A virtual clock shows the time it was last advanced to, and no other."""
    clock = VirtualClock(start_us=5)
    assert [5, 5] == [clock.now_us(), clock.now_us()]
    clock.advance_to(1_000_000)
    clock.advance_to(1_000_000)
    assert 1_000_000 == clock.now_us()


def test_time_does_not_go_back() -> None:
    """Advancing to a past time is refused with both times named, and the clock stays."""
    clock = VirtualClock(start_us=100)
    with pytest.raises(ValueError, match="99 us is past: it is 100 us"):
        clock.advance_to(99)
    assert 100 == clock.now_us()
