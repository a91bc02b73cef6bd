"""Host and board with a cable between them: nothing wrong, lost or doubled, whatever the cable does."""

from __future__ import annotations

from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hal import link
from hal.link_clock import DeviceClock
from hal.link_device import MOST_EDGES, Device
from hal.link_frames import FrameSender
from hal.link_host import LOST_US, Host
from sim.cable import CableFaults
from sim.faults import Faults
from tests.link_rig import BUDGET, SIM, Rig, dim, on_the_strip

BAD = CableFaults(
    byte_error_rate=0.001, loss_rate=0.01, duplicate_rate=0.01, reorder_rate=0.01, stall_rate=0.003, split_rate=0.2
)


def moves(rig: Rig, first: int = 0) -> list[tuple[int, bool]]:
    return [(edge.cell, edge.down) for edge in rig.edges[first:]]


def started(*arguments: object, **more: object) -> Rig:
    rig = Rig(*arguments, **more)  # type: ignore[arg-type]
    rig.run(300_000)
    while not rig.host.report and rig.now_us < 10_000_000:  # greetings are lost too
        rig.run(100_000)
    assert rig.host.up
    return rig


def test_a_board_says_what_it_is() -> None:
    """A handshake tells geometry, LEDs, colour order, rates, limits, firmware, id and the reason of the last reset."""
    about = started().host.about
    assert about is not None
    assert (7, 7, b"GRB", 1000, 10_000, "sim", 2100) == (
        about.rows, about.columns, about.colour_order, about.scan_hz, about.lag_us, about.unique, about.supply_ma,
    )  # fmt: skip
    assert (SIM.lights, "simulated board", "power on") == (about.lights, about.name, link.RESETS[about.reset])


def test_edges_come_with_their_own_times() -> None:
    """A touch comes as its two edges, at the times of the scans that saw them, in the host's own time."""
    rig = started()
    pressed_us = rig.now_us
    rig.press(24)
    rig.run(50_000)
    released_us = rig.now_us
    rig.release(24)
    rig.run(40_000)
    assert [(24, True), (24, False)] == moves(rig)
    # one scan, and half of what the cable takes both ways, which no clock can tell apart
    assert 0 <= rig.edges[0].t_us - pressed_us <= 4_000
    assert 0 <= rig.edges[1].t_us - released_us <= 8_000  # the contact bounces for 3 ms


def test_a_word_comes_every_five_milliseconds() -> None:
    """Unasked: what is known is never older than the release debounce, a word and the way of 1 ms each (case D22)."""
    rig = started()
    rig.lag_us.clear()
    rig.tap(3)
    assert max(rig.lag_us) <= 10_000 + 5_000 + 4_000


def test_the_boards_clock_may_run_ahead_and_fast() -> None:
    """An hour of a clock that runs 50 ppm fast: edges are still placed within 4 ms."""
    rig = started()
    rig.clock.advance_to(rig.now_us + 3_600_000_000)
    rig.run(2_000_000)
    rig.edges.clear()
    pressed_us = rig.now_us
    rig.tap(5)
    assert 0 <= rig.edges[0].t_us - pressed_us <= 4_000


def test_frames_arrive_whole_or_as_what_changed() -> None:
    """A frame shows as it was sent; one that changes little is sent as the change, which is shorter."""
    rig = started()
    first = dim(Random(1).randbytes(147))
    rig.host.frames.wanted = first
    rig.run(30_000)
    assert (on_the_strip(first), True) == (rig.lit(), rig.host.frames.settled)
    second = b"\1\2\3" + first[3:]
    rig.host.frames.wanted = second
    sent = rig.host.frames.next(rig.now_us, 20_000)
    assert sent is not None and link.DELTA == sent[0] and len(sent[1]) == 10
    rig.run(60_000)  # that one was taken away: it is sent again
    assert on_the_strip(second) == rig.lit()


def test_a_frame_that_was_lost_is_sent_again_as_a_whole() -> None:
    """A change whose fate is not known is no base for another one."""
    sender = FrameSender()
    sender.wanted = bytes(147)
    sender.next(0, 20_000)
    sender.acknowledged(1, True)
    sender.wanted = b"\1" + bytes(146)
    assert link.DELTA == (sender.next(1_000, 20_000) or (0,))[0]
    assert sender.next(20_999, 20_000) is None
    assert (link.FRAME, b"\3\0" + sender.wanted) == sender.next(21_000, 20_000)


def test_nothing_is_placed_after_it_was_heard() -> None:
    """After a slow first word the board's clock seems late; a quick one puts that right at once, not by and by."""
    clock = DeviceClock()
    clock.heard(0, 100_000, None)
    clock.heard(1_000, 101_000 - 99_000, None)
    assert 2_000 == clock.host_us(1_000)


def test_a_host_with_nothing_to_say_says_little() -> None:
    """After a touch has been acknowledged the host beats ten times a second and says nothing else."""
    rig = started()
    rig.tap(3)
    before = rig.host._number
    rig.run(1_000_000)
    assert 9 <= rig.host._number - before <= 11


def test_of_frames_the_latest_wins() -> None:
    """Frames that follow each other faster than the cable takes them are left out, and the last one shows."""
    rig = started(CableFaults(delay_us=15_000))
    before = rig.device.stats.frames
    for number in range(100):
        rig.host.frames.wanted = bytes([number % 50]) * 147
        rig.run(1_000)
    rig.run(100_000)
    assert bytes([49]) * 147 == rig.lit()
    assert rig.device.stats.frames - before < 10


def test_nothing_lights_before_limits_are_told() -> None:
    """A board that has been told no limits shows nothing of a frame."""
    device = Device(started().host.about)
    device.feed(link.frame(link.HELLO, 1, 1, 0, link.hello()), 0)
    device.feed(link.frame(link.FRAME, 1, 2, 0, b"\1\0" + b"\xff" * 147), 0)
    assert bytes(147) == device.lit


@pytest.mark.parametrize(
    ("brightness_pct", "budget_ua", "most"), [(100, 2_100_000, 201), (10, 2_100_000, 25), (100, 61_250, 0)]
)
def test_no_frame_passes_the_limits_that_were_told(brightness_pct: int, budget_ua: int, most: int) -> None:
    """White is dimmed to the brightness and to the current that the host allows, and the report says so."""
    rig = Rig()
    rig.host.allow(brightness_pct, budget_ua, *BUDGET[2:])
    rig.run(300_000)
    rig.host.frames.wanted = b"\xff" * 147
    rig.run(50_000)
    assert bytes([most]) * 147 == rig.lit()
    assert rig.host.report is not None and rig.host.report.flags & link.LIMITED


def test_a_board_never_asks_its_own_supply_for_more() -> None:
    """A host that allows more than the board's supply gives is not believed."""
    rig = Rig()
    rig.host.allow(100, 100_000_000, *BUDGET[2:])
    rig.run(300_000)
    rig.host.frames.wanted = b"\xff" * 147
    rig.run(50_000)
    level = rig.lit()[0]
    assert 49 * (1_250 + level * sum(BUDGET[3]) // 255) <= 2_100_000


@pytest.mark.parametrize("number", range(4))
def test_no_touch_is_lost_or_doubled_on_a_bad_cable(number: int, seed: int) -> None:
    """200 touches over a cable that corrupts, loses, doubles, reorders, stalls and splits: each comes once, in order,
    and the last frame shows."""
    rig, chance = started(BAD, seed + number), Random(seed + number)
    wanted: list[tuple[int, bool]] = []
    rig.edges.clear()
    for _ in range(200):
        cell = chance.randrange(49)
        rig.host.frames.wanted = frame = dim(chance.randbytes(147))
        rig.tap(cell, chance.randrange(25_000, 90_000))
        wanted += [(cell, True), (cell, False)]
    rig.run(500_000)
    assert wanted == moves(rig)
    assert on_the_strip(frame) == rig.lit()
    assert rig.host.splitter.bad > 20
    assert 1 == rig.host.sessions


def test_after_a_burst_of_noise_all_is_known_again_within_100_ms(seed: int) -> None:
    """Of 100 bursts of 20 ms, after 99 everything is known as before within 100 ms of their end."""
    rig = started(CableFaults(), seed)
    late = []
    for _ in range(100):
        rig.cable.noise(rig.now_us, 20_000)
        rig.press(8)
        rig.run(20_000)
        ended_us = rig.now_us
        while rig.known_us < ended_us:
            rig.run(1_000)
        late.append(rig.now_us - ended_us)
        rig.release(8)
        rig.run(60_000)
    assert sorted(late)[98] <= 100_000
    assert [(8, True), (8, False)] * 100 == moves(rig)
    assert 1 == rig.host.sessions


def test_drumming_while_the_cable_stalls_is_heard_in_order() -> None:
    """More edges than a report holds wait on the board and come in their order, each with its own time."""
    rig = started()
    rig.cable.up.stall(rig.now_us, 400_000)
    wanted = []
    for cell in range(10):
        rig.tap(cell, 25_000)
        wanted += [(cell, True), (cell, False)]
    rig.run(300_000)
    assert wanted == moves(rig)
    times = [edge.t_us for edge in rig.edges]
    assert sorted(times) == times and times[-1] - times[0] > 500_000
    assert 1 == rig.host.sessions


def test_a_cable_that_is_out_is_noticed_and_nothing_more_is_known() -> None:
    """Within a second of an unplug the board counts as gone, and what is known stands still (case E1)."""
    rig = started()
    rig.cable.unplug()
    rig.run(20_000)
    known_us, pulled_us = rig.known_us, rig.now_us
    while rig.host.up:
        rig.run(10_000)
    assert rig.now_us - pulled_us < 1_000_000
    rig.run(3_000_000)
    assert known_us == rig.known_us


@pytest.mark.parametrize("out_us", [600_000, 5_000_000])
@pytest.mark.parametrize("restarts", [False, True])
def test_after_a_replug_state_is_told_and_no_touch_is_made_up(out_us: int, restarts: bool) -> None:
    """What was pressed before and lifted while the cable was out is lifted, what is pressed now is down, and the time
    between is told as not known; the board that comes back is dark until it is lit (cases G6, G24)."""
    rig = started()
    rig.tap(3)
    rig.press(10)
    rig.run(50_000)
    rig.edges.clear()
    rig.unknown.clear()
    rig.cable.unplug()
    rig.run(out_us // 2)
    rig.release(10)
    rig.press(20)
    if restarts:
        rig.device.restart()
    rig.run(out_us // 2)
    known_us = rig.known_us
    plugged_us = rig.now_us
    rig.cable.plug()
    rig.run(600_000)
    assert [(10, False), (20, True)] == moves(rig)
    [(since_us, until_us)] = rig.unknown
    assert known_us == since_us and plugged_us - 20_000 <= until_us <= plugged_us + 300_000
    assert [since_us + 1, until_us] == [edge.t_us for edge in rig.edges]
    assert bytes(147) == rig.lit() and not rig.host.frames.settled
    rig.tap(30)
    assert [(30, True), (30, False)] == moves(rig, 2)


def test_a_press_just_before_an_unplug_is_lifted_after_it() -> None:
    """A press is told ahead of what is known; when it was lifted unseen its release still comes after it."""
    rig = started()
    rig.press(10)
    while not rig.edges:
        rig.run(1_000)
    rig.cable.unplug()
    rig.release(10)
    rig.run(1_500_000)
    rig.cable.plug()
    rig.run(600_000)
    assert [(10, True), (10, False)] == moves(rig)
    assert rig.edges[0].t_us < rig.edges[1].t_us


def test_a_board_goes_dark_when_its_host_is_gone() -> None:
    """Three seconds without a word from the host, and the LEDs are dark."""
    rig = started()
    rig.host.frames.wanted = bytes([40]) * 147
    rig.run(50_000)
    rig.cable.unplug()
    rig.run(2_900_000)
    assert bytes([40]) * 147 == rig.lit()
    rig.run(200_000)
    assert bytes(147) == rig.lit()


def test_a_host_that_leaves_says_so() -> None:
    """The board is dark a moment after its host has said good-bye."""
    rig = started()
    rig.host.frames.wanted = bytes([40]) * 147
    rig.run(50_000)
    rig.cable.down.send(rig.host.bye(rig.now_us), rig.now_us)
    rig.device.step(rig.board_clock.now_us(), rig.cable.down.receive(rig.now_us + 10_000))
    rig.clock.advance_to(rig.now_us + 10_000)
    assert bytes(147) == rig.lit()


def test_more_edges_than_a_board_can_keep_are_counted() -> None:
    """A host that acknowledges nothing loses the oldest edges, the report says how many, and of what it has no room for
    nothing is said to be known."""
    rig = started()
    device = Device(rig.host.about)
    device.feed(link.frame(link.HELLO, 1, 1, 0, link.hello()), 0)
    device.feed(link.frame(link.SET, 1, 2, 0, link.settings(link.Settings(1, 5, 100, 1, 1, 1, 1, 1))), 0)
    for t_us in range(1000, 1000 + MOST_EDGES + 6):
        device.scanned(t_us + 500, ((t_us, t_us % 49, True),), 0)
    [*_, (_, body)] = link.Splitter().feed(device.poll(9000))
    report = link.read_report(body, 49)
    assert (6, 6, 16) == (report.lost, report.first, len(report.edges))
    assert report.edges[-1][0] == report.known_us  # the next edge waits for the next report


def test_what_is_acknowledged_is_so_at_once() -> None:
    """Limits and frames are acknowledged by a report of the same moment, however seldom words come otherwise."""
    device = Device(started().host.about)
    device.feed(link.frame(link.HELLO, 1, 1, 0, link.hello()), 0)
    device.poll(1)
    told = link.Settings(9, 200, 100, *BUDGET[1:3], *BUDGET[3])
    for number, kind, body, wanted in (
        (2, link.SET, link.settings(told), (9, 0)),
        (3, link.FRAME, b"\5\0" + bytes(147), (9, 5)),
    ):
        device.feed(link.frame(kind, 1, number, 0, body), number * 1_000)
        [(header, said)] = link.Splitter().feed(device.poll(number * 1_000))
        report = link.read_report(said, 49)
        assert (link.REPORT, *wanted) == (header.kind, report.settings, report.frame)
        assert b"" == device.poll(number * 1_000 + 500)


def test_words_come_often_while_a_cell_is_down() -> None:
    """A host that wants a word every 200 ms gets one every 5 ms while a cell is down or an edge waits."""
    device = Device(started().host.about)
    device.feed(link.frame(link.HELLO, 1, 1, 0, link.hello()), 0)
    device.feed(link.frame(link.SET, 1, 2, 0, link.settings(link.Settings(1, 200, 100, 1, 1, 1, 1, 1))), 0)
    device.poll(0)
    words = {}
    for down in (False, True):
        device.scanned(1_000, ((1_000, 3, True),) if down else (), 0)
        begun_us = 1_000_000 * (1 + down)
        words[down] = sum(bool(device.poll(t_us)) for t_us in range(begun_us, begun_us + 1_000_000, 1_000))
    assert 5 <= words[False] <= 6 and 195 <= words[True] <= 202


@pytest.mark.parametrize("version", [0, 2, 255])
def test_other_versions_are_refused_by_both(version: int) -> None:
    """A board refuses a host of another version, a host a board of one, and each says which."""
    rig = started()
    device = Device(rig.host.about)
    device.feed(link.frame(link.HELLO, 9, 1, 0, link.hello(version)), 0)
    [(header, body)] = link.Splitter().feed(device.poll(1))
    assert (link.REFUSED, 9, link.VERSION, link.WRONG_VERSION) == (*header[:2], link.version_of(body), body[7])
    host = Host(1)
    host.poll(0)
    host.feed(link.frame(link.WELCOME, 2, 1, 1, link.hello(version) + b"whatever"), 1)
    assert (False, link.WRONG_VERSION, version) == (host.up, host.refusal, host.version)


@pytest.mark.parametrize(
    ("kind", "body", "why"),
    [
        (99, b"", link.UNKNOWN),
        (link.FRAME, b"\1\0" + bytes(146), link.WRONG_SIZE),
        (link.FRAME, b"", link.WRONG_SIZE),
        (link.DELTA, b"\2\0\0\0\x31\0\1\1\2\3", link.WRONG_SIZE),
        (link.SET, b"\1", link.WRONG_SIZE),
        (link.TEST, b"\1\1\xff", link.NO_TEST_BOARD),
    ],
)
def test_what_a_board_cannot_do_it_refuses(kind: int, body: bytes, why: int) -> None:
    """An unknown message, wrong sizes and tests on a board that is no test board are refused with their code and
    change nothing (case G8)."""
    device = Device(started().host.about._replace(flags=0))
    device.feed(link.frame(link.HELLO, 1, 1, 0, link.hello()), 0)
    device.poll(1)
    device.feed(link.frame(kind, 1, 2, 0, body), 2)
    [(header, told)] = link.Splitter().feed(device.poll(3))
    assert (link.REFUSED, why) == (header.kind, told[7])
    assert (bytes(147), []) == (device.lit, device.tests)


def test_a_straggling_greeting_brings_no_old_session_back() -> None:
    """A late copy of a former session's HELLO is not answered; one of the present session is, and changes nothing."""
    device = Device(started().host.about)
    for session in (1, 2):
        device.feed(link.frame(link.HELLO, session, 1, 0, link.hello()), 0)
    device.poll(1)
    device.feed(link.frame(link.HELLO, 1, 1, 0, link.hello()), 2)
    assert b"" == device.poll(3)
    device.feed(link.frame(link.HELLO, 2, 1, 0, link.hello()), 2)
    assert 1 == len(link.Splitter().feed(device.poll(3)))


def test_a_greeting_that_is_not_heard_for_long_is_still_answered() -> None:
    """A host that hears nothing for ten seconds greets on and on, by which the board knows that it is there: the same
    session is answered as soon as there is a way back."""
    device = Device(started().host.about)
    for number in range(1, 51):
        device.feed(link.frame(link.HELLO, 7, number, 0, link.hello()), 200_000 * number)
        sent = link.Splitter().feed(device.poll(200_000 * number + 1_000))
        assert [(link.WELCOME, 7)] == [(header.kind, header.session) for header, _ in sent]


def test_a_host_whose_welcome_was_lost_is_not_shut_out() -> None:
    """A board answers a greeting, the answer is lost, and before the next one another program greets it: the board
    takes the greetings that follow for stragglers, and the host begins another session after a second (case E4)."""
    device, host = Device(started().host.about), Host(500)
    device.feed(host.poll(200_000), 200_000)
    device.poll(201_000)
    device.feed(link.frame(link.HELLO, 7, 1, 0, link.hello()), 202_000)
    device.poll(203_000)
    answered_us = next(
        t_us
        for t_us in range(204_000, 10_000_000, 1_000)
        if (device.feed(host.poll(t_us), t_us), host.feed(device.poll(t_us), t_us), host.up)[-1]
    )
    assert answered_us <= 1_300_000


def test_two_hosts_at_one_board_make_nothing_up(seed: int) -> None:
    """Two programs at one port greet the same board and take words from each other: none hears a touch twice or out of
    turn, neither raises, and whoever stays has the board within a second (case E4)."""
    rig, other, chance = started(), Host(500), Random(seed)
    other.allow(*BUDGET)
    turns = {id(host): dict[int, bool]() for host in (rig.host, other)}
    for tick in range(20_000):
        rig.clock.advance_to(rig.now_us + 1_000)
        said = rig.host.poll(rig.now_us) + (other.poll(rig.now_us) if tick < 15_000 else b"")
        said = rig.device.step(rig.board_clock.now_us(), said)
        hears = rig.host if tick >= 15_000 or chance.random() < 0.5 else other
        hears.feed(said, rig.now_us)
        if tick % 350 == 100:
            (rig.release if tick % 700 > 350 else rig.press)(24)
        for host in (rig.host, other):
            for edge in host.take().edges:
                assert edge.down != turns[id(host)].get(edge.cell, False)
                turns[id(host)][edge.cell] = edge.down
        assert tick != 16_000 or rig.host.telling


def test_a_report_that_contradicts_itself_is_not_believed() -> None:
    """Edges that do not lead to the cells that are told to be down are dropped, three times running begin a new
    session (case D18)."""
    rig = started()
    host, report = rig.host, rig.host.report
    assert report is not None
    for number in range(1, 4):
        body = link.report(report._replace(now_us=report.now_us + number, down=1 << 9), 49)
        assert host.up
        host.feed(link.frame(link.REPORT, host._session, host._heard_number + 1, 0, body), rig.now_us)
        assert () == host.take().edges
    assert not host.up


def test_a_test_board_does_what_it_is_told_once() -> None:
    """Cells pressed, stuck and dead by order show as such; each order is done once, also on a bad cable."""
    rig = started(BAD, 5)
    for mask in (1 << 4, 1 << 4 | 1 << 40, 0):
        rig.host.test(link.CONTACTS, mask)
        rig.run(150_000)
    assert [(4, True), (40, True)] == moves(rig)[:2] and {(4, False), (40, False)} == set(moves(rig)[2:])
    rig.edges.clear()
    rig.host.test(link.STUCK, 1 << 7)
    rig.run(100_000)
    rig.host.test(link.DEAD, 1 << 7)
    rig.run(100_000)
    assert ([(7, True), (7, False)], True) == (moves(rig), rig.host.tested)


def test_an_order_that_is_sent_again_is_not_done_again() -> None:
    """A TEST under the number of the last one, in another message, is acknowledged and no more."""
    device = Device(started().host.about)
    device.feed(link.frame(link.HELLO, 1, 1, 0, link.hello()), 0)
    for number, test in ((2, 1), (3, 1), (4, 2)):
        device.feed(link.frame(link.TEST, 1, number, 0, bytes((test, link.RESTART, 0))), number)
    assert [(link.RESTART, 0)] * 2 == device.tests


def test_a_board_that_falls_silent_or_starts_anew_comes_back() -> None:
    """A mute of a second and a restart by order are noticed, and the next session begins within three seconds."""
    rig = started()
    for order, argument in ((link.MUTE, 1000), (link.RESTART, 0)):
        sessions = rig.host.sessions
        rig.host.test(order, argument)
        rig.run(3_000_000)
        assert (True, sessions + 1) == (rig.host.up, rig.host.sessions)
    assert rig.host.about is not None and "program" == link.RESETS[rig.host.about.reset]


def test_statistics_are_told_when_asked_for() -> None:
    """Scan rate, scans, bounces, messages that were none and frames are counted."""
    rig = started(contacts=Faults(bounce_us=9_000))
    rig.run(1_500_000)
    for cell in range(10):
        rig.tap(cell)
    rig.cable.down.send(b"\1\2\3\0", rig.now_us)
    rig.run(10_000)
    rig.host.ask()
    rig.run(20_000)
    stats = rig.host.stats
    assert stats is not None
    assert stats.scan_hz in (999, 1000)  # a second of its own clock, which is fast
    assert (1, 3, 0, 0) == (stats.bad, stats.babble, stats.lost, stats.overruns)
    assert 2000 < stats.scans and 0 < stats.bounces <= 200


def test_what_cannot_be_told_apart_is_told() -> None:
    """Three fingers on a matrix without diodes: the fourth cell of their rectangle is told as a ghost, and no more once
    a finger is lifted; it goes neither down nor up."""
    rig = started(profile=SIM._replace(matrix=msgspec.structs.replace(SIM.matrix, diodes=False)))
    for cell in (0, 1, 7):
        rig.press(cell)
        rig.run(50_000)
    assert rig.host.take().ghosts >> 8 & 1
    rig.release(1)
    rig.run(50_000)
    assert (0, {0, 1, 7}) == (rig.host.take().ghosts, {edge.cell for edge in rig.edges})


def test_contacts_that_do_not_answer_are_told() -> None:
    """Lines that fail: the report says so and nothing more is known; LEDs that fail are told too."""
    rig = started()
    rig.device.board.change(Faults(lines_fail_rate=1.0, leds_fail_rate=1.0))
    rig.host.frames.wanted = bytes([9]) * 147
    rig.run(50_000)
    known_us = rig.known_us
    rig.run(500_000)
    assert rig.host.report is not None
    assert link.NO_CONTACTS | link.NO_LEDS == rig.host.report.flags
    assert rig.known_us - known_us < 1_000 and rig.host.up
    rig.device.board.change(Faults())
    rig.run(50_000)
    assert (0, bytes([9]) * 147) == (rig.host.report.flags, rig.lit())


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from("nmg"), st.binary(max_size=120), st.integers(0, 600_000)), max_size=30))
def test_no_bytes_are_too_strange_for_host_and_board(pieces: list[tuple[str, bytes, int]]) -> None:
    """Noise, messages of any kind and body, and true messages in between: neither side raises or grows."""
    rig = Rig()
    rig.run(20_000)
    t_us = rig.now_us
    for number, (what, data, wait_us) in enumerate(pieces):
        t_us += wait_us
        kind = data[0] if data else 0
        if what == "m":
            data = link.frame(kind, rig.host._session, number + 50, 0, data[1:])
        elif what == "g":
            data = link.frame(kind % 9 + (0x80 if number % 2 else 0), rig.host._session, number + 50, 0, data[1:])
        rig.host.feed(data, t_us)
        rig.host.feed(rig.device.step(t_us, data + rig.host.poll(t_us)), t_us)
        rig.host.take()
    assert len(rig.host.splitter._held) < 2100


def test_the_host_forgets_what_was_sent_long_ago() -> None:
    """An hour of silence does not fill the host's memory."""
    host = Host(1)
    for t_us in range(0, 3_600_000_000, LOST_US):
        host.poll(t_us)
    assert len(host._sent_us) <= 64
