"""The host's side of the link against boards that are foreign, broken or hostile: no exception, nothing made up."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from hal import link
from hal.link_frames import FrameSender
from hal.link_host import GAP_US, MOST_EDGES, Host
from hal.ports import Edge
from tests.link_rig import Rig

CELLS = 49


class Far:
    """A far end that says whatever a test wants, to a `host` that has greeted it; a word a millisecond."""

    def __init__(self) -> None:
        self.host = Host(6)
        self.host.allow(100, 2_100_000, 1_250, (20_000, 13_750, 18_750))
        self.about = Rig().device._far.device.about
        self.t_us, self.number, self.first = 2_000_000, 0, 0
        self.edges: list[Edge] = []
        self.greet()

    def greet(self) -> None:
        """Answer the host's HELLO; edges are counted anew."""
        while True:
            heard = link.Splitter().feed(self.host.poll(self.t_us))
            if any(header.kind == link.HELLO for header, _ in heard):
                break
            self.t_us += 1_000
        self.first = 0
        self.say(link.WELCOME, link.welcome(self.about))
        assert self.host.up

    def say(self, kind: int, body: bytes) -> None:
        self.t_us, self.number = self.t_us + 1_000, self.number + 1
        self.host.poll(self.t_us)
        self.host.feed(link.frame(kind, self.host._session, self.number & 0xFFFF, 0, body), self.t_us)
        self.edges += self.host.take().edges

    def report(self, edges: Iterable[tuple[int, bool]] = (), down: int = 0, **fields: int) -> None:
        """A true report, but for what is said otherwise; `edges`: cells and ways, at its own time."""
        now_us = fields.get("now_us", self.t_us)
        told = link.Report(
            now_us, now_us, now_us, 0, 1, 0, 0, 0, self.first, tuple((now_us, *edge) for edge in edges), 0, down
        )
        self.say(link.REPORT, link.report(told._replace(**fields), CELLS))
        self.first = self.host._expected


@pytest.mark.parametrize("edges", [[(3, True), (3, True)], [(3, False)], [(3, True), (4, False), (3, False)]])
def test_a_cell_goes_down_and_up_in_turn(edges: list[tuple[int, bool]]) -> None:
    """A press of a cell that is down and a lift of one that is up are dropped with their report, three times running
    they begin a new session (case D18)."""
    far = Far()
    far.report()
    down = 0
    for cell, _ in edges:
        down ^= 1 << cell
    for up in (True, True, False):
        far.report(edges, down, first=0)
        assert ([], up) == (far.edges, far.host.up)


@pytest.mark.parametrize("back_us", [1, 1 << 32])
def test_a_clock_that_goes_back_begins_a_new_session(back_us: int) -> None:
    """A board whose 32-bit microseconds went round, or whose clock was set, is greeted anew; from then on what is known
    follows its new clock, where it would have stood still for weeks."""
    far = Far()
    far.report(now_us=1 << 33)
    far.report(now_us=(1 << 33) + 1_000)
    far.report(now_us=(1 << 33) + 1_000 - back_us)
    assert not far.host.up
    far.greet()
    far.t_us += GAP_US
    for number in range(50):
        far.report(now_us=(1 << 33) + 2_000 - back_us + 1_000 * number)
    assert far.t_us - far.host.take().known_us < 2_000


def test_a_clock_that_leaps_ahead_is_followed() -> None:
    """A board whose clock was set an hour forward loses no edge, and they come at the time when they were told."""
    far = Far()
    far.report()
    far.report([(3, True)], 1 << 3, now_us=far.t_us + 3_600_000_000)
    [edge] = far.edges
    assert far.t_us - 2_000 <= edge.t_us <= far.t_us


@pytest.mark.parametrize(
    ("ppm", "placed_us", "long_us"),
    [(-500, (0, 6_000), 5_000), (500, (0, 6_000), 5_000)]
    + [(ppm, (-8_000, 8_000), 8_000) for ppm in (-50_000, 50_000)],
)
def test_a_clock_that_is_too_fast_or_too_slow_by_far_is_followed(
    ppm: int, placed_us: tuple[int, int], long_us: int
) -> None:
    """500 ppm, more than any quartz, and 5 %, a resonator in place of one: edges are placed within 6 and 8 ms all the
    time and come in order, a touch is as long as it was, and no session is lost."""
    rig = Rig()
    rig.board_clock._ppm = ppm
    rig.run(300_000)
    for _ in range(5):
        rig.run(2_003_000)
        rig.edges.clear()
        pressed_us = rig.now_us
        rig.tap(5)
        assert [True, False] == [edge.down for edge in rig.edges]
        assert placed_us[0] <= rig.edges[0].t_us - pressed_us <= placed_us[1]
        assert abs(rig.edges[1].t_us - rig.edges[0].t_us - 60_000) <= long_us
    assert 1 == rig.host.sessions


def test_a_board_that_says_all_but_how_its_contacts_are_is_gone() -> None:
    """Statistics and refusals are no sign of life: a board that sends no report is left within half a second."""
    far = Far()
    far.say(link.REFUSED, link.refused(link.WRONG_SIZE))
    assert (False, link.WRONG_SIZE) == (far.host.telling, far.host.refusal)
    for _ in range(500):
        far.say(link.STATS, link.stats(link.Stats(*[0] * 8)))
        if not far.host.up:
            break
    assert not far.host.up


def test_a_refusal_is_over_with_the_next_report() -> None:
    """A board that has refused a message and reports since is not called one that refuses."""
    far = Far()
    far.say(link.REFUSED, link.refused(link.WRONG_SIZE))
    far.report()
    assert far.host.refusal is None and far.host.telling


def test_edges_that_nobody_takes_are_kept_as_what_they_come_to() -> None:
    """A board that is lit and never scanned, or one that never says how far its edges are known, fills no memory: in
    the end the cells are as they are."""
    far = Far()
    far.report()
    far.report([(7, True)], 1 << 7)
    for number in range(2 * MOST_EDGES):
        down = 1 << 7 | (0 if number % 2 else 1 << 3)
        report = link.Report(
            far.t_us, far.t_us, far.t_us, 0, 1, 0, 0, 0, far.host._expected, ((far.t_us, 3, not number % 2),), 0, down
        )
        far.t_us, far.number = far.t_us + 1_000, far.number + 1
        body = link.report(report, CELLS)
        far.host.feed(link.frame(link.REPORT, far.host._session, far.number, 0, body), far.t_us)
        assert len(far.host._edges) <= MOST_EDGES + 1
    state = 1 << 7
    for edge in far.host.take().edges:
        assert bool(state >> edge.cell & 1) != edge.down
        state ^= 1 << edge.cell
    assert 1 << 7 == state == far.host.down


def test_a_host_that_is_slow_still_notices_a_silent_board() -> None:
    """Whoever looks only every 0.3 s excuses a silence once, not for ever."""
    far = Far()
    far.report()
    for _ in range(10):
        far.t_us += 300_000
        far.host.poll(far.t_us)
    assert not far.host.up


def test_acknowledgements_of_what_was_never_sent_change_nothing() -> None:
    """A board that says it shows a frame that it was never sent, or did a test that it was never told, is sent what it
    lacks, no more often than any other."""
    far = Far()
    far.report()
    far.host.frames.wanted = bytes([9]) * 147
    far.host.test(link.CONTACTS, 1)
    sent = 0
    for number in range(200):
        far.report(frame=(7 * number) % 50 + 30_000, test=99)
        sent += sum(header.kind == link.FRAME for header, _ in link.Splitter().feed(far.host.poll(far.t_us)))
    assert not far.host.frames.settled and not far.host.tested
    assert sent <= 11


def test_a_board_that_shows_something_else_again_and_again_is_not_flooded() -> None:
    """A board that says it shows a frame, then that it shows none, and so on, is sent the frame 50 times a second at
    most."""
    far = Far()
    far.report()
    frames = far.host.frames
    frames.wanted = bytes([9]) * 147
    for number in range(1_000):
        far.report(frame=frames._flight_number if number % 2 else 0)
    assert 10 <= frames._number <= 51


def test_no_frame_has_the_number_of_none() -> None:
    """After 65535 frames, 18 minutes of 60 a second, the next one is number 1: 0 says that none is shown."""
    sender, numbers = FrameSender(), []
    for frame in range(0xFFFF + 2):
        sender.wanted = bytes([frame % 2]) * 3
        _, body = sender.next(frame, 20_000) or (0, b"\0\0")
        numbers.append(body[0] | body[1] << 8)
        sender.acknowledged(numbers[-1], True)
    assert [1, 0xFFFF, 1] == [numbers[0], numbers[0xFFFE], numbers[0xFFFF]]
    assert 0 not in numbers and sender.settled


def test_welcomes_that_come_again_change_nothing() -> None:
    """Copies of the WELCOME in the middle of a session, and greetings of a board without one, neither begin another
    session nor lose an edge."""
    far = Far()
    far.report()
    for number in range(20):
        far.say(link.WELCOME, link.welcome(far.about))
        far.host.feed(link.frame(link.WELCOME, 0, 1, 0, link.welcome(far.about)), far.t_us)
        far.report([(3, number % 2 == 0)], 8 * (number % 2 == 0))
    assert [number % 2 == 0 for number in range(20)] == [edge.down for edge in far.edges]
    assert 1 == far.host.sessions and far.host.up


def test_numbers_that_go_round_lose_nothing() -> None:
    """Reports with an edge each while the numbers of messages and edges go round: every edge comes once."""
    far = Far()
    far.report()
    far.number = far.host._heard_number = far.host._expected = begin = 0xFFFE - 500
    count = 1_000
    for number in range(begin, begin + count):
        down = number % 2 == 0
        told = link.Report(
            far.t_us, far.t_us, far.t_us, 0, 1, 0, 0, 0, number & 0xFFFF, ((far.t_us, 3, down),), 0, 8 * down
        )
        far.t_us, far.number = far.t_us + 1_000, far.number + 1
        body = link.report(told, CELLS)
        far.host.feed(link.frame(link.REPORT, far.host._session, far.number & 0xFFFF, 0, body), far.t_us)
        far.edges += far.host.take().edges
    assert [number % 2 == 0 for number in range(begin, begin + count)] == [edge.down for edge in far.edges]
    assert 1 == far.host.sessions


def test_edges_come_in_the_order_of_their_own_times() -> None:
    """A release is told later than it was; with a press that came meanwhile it is put in its place, and no cell is
    lifted before it was pressed."""
    far = Far()
    far.report([(3, True)], 1 << 3)
    now_us = far.t_us
    told = (now_us, 9, True), (now_us - 900, 3, False), (now_us - 5_000, 9, False)
    report = link.Report(now_us, now_us, now_us, 0, 1, 0, 0, 0, far.first, told, 0, 0)
    far.edges.clear()
    far.say(link.REPORT, link.report(report, CELLS))
    assert 3 == len(far.edges)
    assert sorted(edge.t_us for edge in far.edges) == [edge.t_us for edge in far.edges]
    assert [True, False] == [edge.down for edge in far.edges if edge.cell == 9]


def test_a_frame_that_was_lost_leaves_again_at_once() -> None:
    """A board that has heard what was said after a frame and does not show it is sent it again 20 ms after the last,
    however often; one that has heard nothing since is slow, and is left alone for longer and longer."""
    times = {}
    for heard in (True, False):
        far, times[heard] = Far(), list[int]()
        far.report()
        far.host.frames.wanted, heard_us, ack = bytes([9]) * 147, far.t_us, 0
        for _ in range(200):
            far.t_us += 1_000
            for header, _ in link.Splitter().feed(far.host.poll(far.t_us)):
                if heard:
                    heard_us, ack = far.t_us, header.number
                if header.kind == link.FRAME:
                    times[heard].append(far.t_us)
            far.number += 1
            report = link.Report(far.t_us, heard_us, far.t_us, 0, 1, 0, 0, 0, 0, (), 0, 0)
            body = link.report(report, CELLS)
            far.host.feed(link.frame(link.REPORT, far.host._session, far.number, ack, body), far.t_us)
    assert len(times[True]) >= 8 and len(times[False]) <= 4
