"""How long contacts bounce is measured a cell, from the scans alone."""

from __future__ import annotations

from hal.bounces import KEPT, Bounces
from hal.debounce import Debounce
from sim.drive import Drive
from sim.faults import Faults
from sim.fingers import hold
from tests.scene import MS, Scene


def press(bounces: Bounces, debounce: Debounce, start_us: int, gaps: tuple[tuple[int, int], ...], up_us: int) -> None:
    """One touch of cell 3 with openings from and to the times of `gaps`, after its start."""
    for t_us in range(start_us, start_us + up_us + 30_000, 1000):
        after_us = t_us - start_us
        closed = after_us < up_us and not any(from_us <= after_us < to_us for from_us, to_us in gaps)
        mask = int(closed) << 3
        bounces.step(t_us, mask, debounce.step(t_us, mask))


def test_a_bounce_lasts_from_the_first_contact_to_the_last_closing() -> None:
    """Two openings of a press, the last over after 7 ms: it bounced for 7 ms; a clean one for 0."""
    bounces, debounce = Bounces(), Debounce(0, 10_000)
    press(bounces, debounce, 0, (), 100_000)
    assert {3: 0} == bounces.longest_us()
    press(bounces, debounce, 200_000, ((2000, 3000), (5000, 7000)), 100_000)
    assert {3: 7000} == bounces.longest_us()


def test_a_contact_that_was_cleaned_is_well_again() -> None:
    """Only the last presses count."""
    bounces, debounce = Bounces(), Debounce(0, 10_000)
    press(bounces, debounce, 0, ((2000, 9000),), 100_000)
    for turn in range(1, KEPT + 1):
        assert 9000 == bounces.longest_us()[3]
        press(bounces, debounce, turn * 200_000, (), 100_000)
    assert 0 == bounces.longest_us()[3]


def test_what_opens_after_a_rest_is_no_bounce_of_the_press() -> None:
    """The bounces of a finger that leaves, however short its touch, are not taken for those of its press."""
    bounces, debounce = Bounces(), Debounce(0, 10_000)
    press(bounces, debounce, 0, ((1000, 2000), (20_000, 22_000), (23_000, 24_000)), 26_000)
    assert {3: 2000} == bounces.longest_us()


def test_a_board_measures_its_contacts_and_its_current() -> None:
    """Contacts that bounce for up to 9 ms show as that, those that do not show as less; current within its budget."""
    worn, good = (
        Scene(Drive(seed=4, faults=Faults(bounce_us=us)))  # the longest bounce that the copper makes
        for us in (9 * MS, 1 * MS)
    )
    for scene in (worn, good):
        scene.wait(50 * MS)
        for at in range(6):
            scene.do(hold("b2", 0, 100 * MS), settle_us=200 * MS + at)
    measures = worn.drive.board.measures()
    assert 9 * MS + 2 * MS >= measures.bounces_us[8] > good.drive.board.measures().bounces_us[8]
    assert measures.current_ma is not None
    assert measures.budget_ma is not None
    assert 0 < measures.current_ma <= measures.budget_ma
