"""Noise: a line that moves without a touch is found, and no way to play is taken for it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import msgspec
import pytest

from firmware.gesture import Gesture, TouchTimes
from hal.board import MatrixBoard
from hal.debounce import Debounce
from hal.noise import Noise, Noisy
from hal.ports import Edge, Part
from hal.profile import load, shipped
from sim.contacts import train
from tests.test_board import SIM, Chain, Contacts, opened

STRAIGHT = tuple(range(49))
S = 1_000_000


def heard(mask_at: Callable[[int], int], until_us: int = 3 * S, turned: tuple[int, ...] = STRAIGHT) -> Noisy | None:
    """What is found to be noisy by a scan every millisecond."""
    noise, debounce = Noise(7, 7, turned), Debounce(0, 10_000)
    for t_us in range(0, until_us, 1_000):
        mask = mask_at(t_us)
        noise.step(t_us, mask, debounce.step(t_us, mask))
    return noise.noisy()


def glitching(cells: list[int], hz: int, length_us: int, seed: int) -> Callable[[int], int]:
    """Lone contacts on these cells, `hz` a second in all."""
    random, ends = Random(seed), dict.fromkeys(cells, 0)

    def mask_at(t_us: int) -> int:
        if random.random() < hz / 1_000:
            ends[random.choice(cells)] = t_us + length_us
        return sum(1 << cell for cell, end_us in ends.items() if t_us < end_us)

    return mask_at


def test_a_board_at_rest_is_quiet() -> None:
    """Where nothing moves nothing is noisy."""
    assert heard(lambda _: 0) is None


@pytest.mark.parametrize("length_us", [1_000, 3_000, 5_000])
@pytest.mark.parametrize("column", [0, 3, 6])
def test_a_noisy_column_is_named(column: int, length_us: int, seed: int) -> None:
    """Contacts of 1 to 5 ms all over one column are that column's, whichever it is (cases C13, D25)."""
    found = heard(glitching([7 * row + column for row in range(7)], 40, length_us, seed))
    assert found is not None
    assert (None, column) == (found.row, found.column)
    assert 20 <= found.contacts <= 60


def test_a_noisy_row_and_a_noisy_contact_are_named(seed: int) -> None:
    """Contacts all over one row are that row's, and those of one cell are that cell's."""
    row = heard(glitching(list(range(14, 21)), 40, 3_000, seed))
    assert row is not None
    assert (2, None) == row[:2]
    cell = heard(glitching([24], 40, 3_000, seed))
    assert cell is not None
    assert (3, 3) == cell[:2]


def test_a_column_that_hums_is_named() -> None:
    """A column without a pull-up, which follows the mains at 100 Hz and never rests, is named (case D29)."""
    column = sum(1 << 7 * row + 2 for row in range(7))
    found = heard(lambda t_us: column if t_us % 10_000 < 5_000 else 0)
    assert found is not None
    assert (None, 2) == found[:2]


def test_a_line_is_named_as_it_is_wired() -> None:
    """On a board turned a quarter the cells of one row are those of a column's wire."""
    turned = tuple((6 - place % 7) * 7 + place // 7 for place in range(49))
    found = heard(glitching([14 + at for at in range(7)], 40, 3_000, 1), turned=turned)
    assert found is not None
    assert (None, 4) == found[:2]


@pytest.mark.parametrize("bounce_us", [0, 3_000, 5_000])
def test_drumming_is_no_noise(bounce_us: int, seed: int) -> None:
    """Seven fingers that drum on one row, ten times a second each and bouncing all they can, are no noise."""
    random = Random(seed)
    flips: list[tuple[int, int, bool]] = []
    for cell in range(7):
        t_us = random.randrange(50_000)
        while t_us < 3 * S:
            flips += [(at_us, cell, closed) for at_us, closed in train(t_us, True, bounce_us, random)]
            flips += [(at_us, cell, closed) for at_us, closed in train(t_us + 40_000, False, bounce_us, random)]
            t_us += random.randint(95_000, 120_000)
    flips.sort()
    mask = 0

    def mask_at(t_us: int) -> int:
        nonlocal mask
        while flips and flips[0][0] <= t_us:
            _, cell, closed = flips.pop(0)
            mask = mask | 1 << cell if closed else mask & ~(1 << cell)
        return mask

    assert heard(mask_at) is None


def test_a_held_contact_that_crackles_a_little_is_no_noise() -> None:
    """A worn contact that opens for 1 ms twenty times a second under a finger is no noise: debounce hides it."""
    assert heard(lambda t_us: 1 << 24 if t_us % 50_000 >= 1_000 else 0) is None


def test_a_finger_that_slides_over_the_board_is_no_noise() -> None:
    """A sleeve that wipes over seven rows in a second, 20 ms a cell, is no noise."""
    assert heard(lambda t_us: 1 << t_us // 20_000 % 49) is None


def test_noise_is_told_until_it_has_been_quiet_for_ten_seconds() -> None:
    """A line that has stopped is told for ten seconds more, and then no longer (case D30)."""
    noise, debounce = Noise(7, 7, STRAIGHT), Debounce(0, 10_000)
    loud = glitching([24], 60, 2_000, 1)
    told = []
    for t_us in range(0, 20 * S, 1_000):
        mask = loud(t_us) if t_us < 2 * S else 0
        noise.step(t_us, mask, debounce.step(t_us, mask))
        if noise.noisy() is not None:
            told.append(t_us)
    assert (S, 12 * S) == (told[0], told[-1] + 1_000)


def test_a_noisy_line_shows_in_the_health_with_its_pin(seed: int) -> None:
    """The health names the line, its pin and what to look at; touches go on being heard."""
    profile = load(shipped("reference"))
    contacts = Contacts()
    board = MatrixBoard(profile, contacts, Chain())
    loud = glitching([7 * row + 2 for row in range(7)], 40, 3_000, seed)
    for t_us in range(0, 2 * S, 1_000):
        contacts.mask = loud(t_us)
        board.scan(t_us)
    part = board.health()["matrix"]
    assert not part.ok
    assert part.text.startswith("column 3, GPIO22 (J8:15), is noisy: ")
    assert "pull-up" in part.text


def test_a_board_is_deaf_until_its_lines_have_settled() -> None:
    """For half a second from its first scan a real board hears nothing and knows nothing (cases C13, D25); what is
    still closed then is a press of that time."""
    contacts = Contacts()
    board = MatrixBoard(load(shipped("reference")), contacts, Chain(), deaf_us=500_000)
    scans = []
    for t_us in range(5 * S, 5 * S + 600_000, 1_000):
        contacts.mask = 1 if t_us < 5 * S + 100_000 else 1 << 24
        scans.append(board.scan(t_us))
    edges = [edge for scan in scans for edge in scan.edges]
    assert [(5 * S + 500_000, 24, True)] == [tuple(edge) for edge in edges]
    assert {-10_000} == {scan.known_us for scan in scans[:500]}
    assert 5 * S + 490_000 == scans[500].known_us
    assert {1_000} == {scan.period_us for scan in scans}
    assert board.health()["matrix"].ok


def beside_the_leds(press_us: int, frame: bytes) -> list[Edge]:
    """The edges of a second in which d4 is touched, and e4 reads closed for 3 ms after each frame that is lit."""
    matrix = msgspec.structs.replace(SIM.matrix, press_us=press_us)
    board, contacts, _ = opened(SIM._replace(matrix=matrix))
    edges: list[Edge] = []
    for t_us in range(0, S, 1_000):
        since_us = t_us % 17_000
        if since_us == 0:
            board.show(frame, t_us)
        touched, coupled = 300_000 <= t_us < 400_000, any(board.wire()) and since_us < 3_000
        contacts.mask = touched << 24 | coupled << 25
        edges += board.scan(t_us).edges
    return edges


@pytest.mark.parametrize("frame", [bytes(147), b"\xff" * 147], ids=["dark", "white"])
def test_light_presses_no_sensor(frame: bytes) -> None:
    """A pad that sees each frame of white go by is not touched by it where presses are deferred, and no finger is lost
    (case D24).
    """
    assert [(300_000, 24, True), (400_000, 24, False)] == [tuple(edge) for edge in beside_the_leds(6_000, frame)]


def test_what_light_does_to_a_contact_is_no_touch() -> None:
    """On bare contacts the same is seen, and each is too short to be a touch: it commits nothing (case D24)."""
    ours = [edge for edge in beside_the_leds(0, b"\xff" * 147) if edge.cell == 25]
    gesture = Gesture(TouchTimes())
    came = [event for edge in ours for event in (gesture.press if edge.down else gesture.release)(25, edge.t_us)]
    assert {"press", "short"} == {event.kind for event in came}


def test_a_board_that_is_not_deaf_hears_at_once() -> None:
    """A simulated board hears from its first scan on."""
    board, contacts, _ = opened()
    contacts.mask = 1
    assert 1 == len(board.scan(0).edges)
    assert Part(True, "7 x 7 contacts with diodes") == board.health()["matrix"]
