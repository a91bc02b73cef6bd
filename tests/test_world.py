"""The world of a simulated board that runs: time that stands, faults that come and go, switched from outside."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from firmware.web.messages import BadInput, Condition, read_world, told
from hal.profile import load, shipped
from sim.board import SimBoard
from sim.clock import StoppableClock, VirtualClock
from sim.faults import HEALTHY
from sim.world import LONG_BOUNCE_US, World
from tests.live import Live, running

MS = 1_000
WORLD = "/api/v1/sim/world"
CALM = {"paused": False, "bounce": False, "ghost": False, "stuck": [], "unplug": False}


class Bench:
    """A simulated board in virtual time with its world."""

    def __init__(self) -> None:
        self.time = VirtualClock()
        self.clock = StoppableClock(self.time)
        self.board = SimBoard(load(shipped("sim")), self.clock, seed=1)
        self.world = World(self.board, self.clock, HEALTHY)

    def scans(self, count: int) -> list[tuple[int, bool]]:
        """The edges of so many scans, 1 ms apart, as cell and direction."""
        edges = []
        for _ in range(count):
            self.time.advance_to(self.time.now_us() + MS)
            edges += [(edge.cell, edge.down) for edge in self.board.scan(self.clock.now_us()).edges]
        return edges


def test_a_stopped_clock_stands_and_goes_on_where_it_stood() -> None:
    """Time that was stopped is lost for good; stopping twice and going twice change nothing."""
    time = VirtualClock()
    clock = StoppableClock(time)
    time.advance_to(1_000)
    for _ in range(2):
        clock.stop()
    time.advance_to(5_000)
    assert 1_000 == clock.now_us()
    for _ in range(2):
        clock.go()
    assert 1_000 == clock.now_us()
    time.advance_to(5_300)
    assert 1_300 == clock.now_us()
    clock.stop()
    time.advance_to(9_000)
    clock.go()
    assert 1_300 == clock.now_us()


def test_a_cell_gets_stuck_and_free_again() -> None:
    """A stuck cell is pressed without a finger, and released once it is mended."""
    bench = Bench()
    assert [] == bench.scans(50)
    bench.world.change(Condition(stuck=frozenset((24,))))
    assert [(24, True)] == bench.scans(50)
    bench.world.change(Condition())
    assert [(24, False)] == bench.scans(50)


def test_unplugged_parts_fail_and_come_back() -> None:
    """An unplugged board names both parts as failed, and is well again once it is plugged in."""
    bench = Bench()
    bench.world.change(Condition(unplug=True))
    bench.scans(2)
    bench.board.show(bytes(147), bench.clock.now_us())
    assert [False, False] == [part.ok for part in bench.board.health().values()]
    bench.world.change(Condition())
    bench.scans(2)
    bench.board.show(bytes(147), bench.clock.now_us())
    assert [True, True] == [part.ok for part in bench.board.health().values()]


def test_without_diodes_three_fingers_are_four() -> None:
    """Three corners of a rectangle show a fourth once the diodes are gone."""
    bench = Bench()
    bench.world.change(Condition(ghost=True))
    for cell in (0, 1, 7):
        bench.board.contacts.press(cell, bench.clock.now_us())
    assert {0, 1, 7, 8} == {cell for cell, down in bench.scans(50) if down}


def test_long_bounces_are_longer_than_the_firmware_waits() -> None:
    """A contact that bounces for 25 ms is at rest no sooner."""
    bench = Bench()
    bench.world.change(Condition(bounce=True))
    bench.board.contacts.press(3, 0)
    closed = [bench.board.contacts.closed(t_us) >> 3 & 1 for t_us in range(LONG_BOUNCE_US + 1)]
    assert {0, 1} == set(closed[3_001:])
    assert 1 == closed[-1]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ('{"paused":1}', "malformed"),
        ('{"speed":2}', "malformed"),
        ('{"stuck":"d4"}', "malformed"),
        ('{"stuck":["h8"]}', "unknown_cell"),
        ("[]", "malformed"),
        ("", "malformed"),
        ("\udcff".encode("utf-8", "surrogatepass"), "malformed"),
    ],
)
def test_what_is_no_change_is_refused(body: bytes | str, code: str) -> None:
    """A message that is no change of the world is refused with a code and a sentence."""
    with pytest.raises(BadInput) as refused:
        read_world(body if isinstance(body, bytes) else body.encode(), Condition())
    assert code == refused.value.code
    assert refused.value.text.endswith(".")


def test_what_is_not_named_stays() -> None:
    """A change touches only what it names, and reads back as it was told."""
    changed = read_world(b'{"stuck":["d4","a1"]}', Condition(paused=True))
    assert Condition(paused=True, stuck=frozenset((0, 24))) == changed
    assert {**CALM, "paused": True, "stuck": ["a1", "d4"]} == told(changed)


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """One board for the tests over HTTP."""
    with running("--seed", "1") as board:
        yield board


@pytest.mark.realtime
def test_a_paused_world_takes_no_time(live: Live) -> None:
    """While the world is paused no clock runs; afterwards play goes on at once."""
    live.tap("d4")
    while live.state()["phase"] != "play":
        pass
    mover = live.state()["to_move"]
    assert (200, {**CALM, "paused": True}) == live.json("POST", WORLD, {"paused": True})
    before_ms = live.state()["clocks_ms"]
    with live.watch() as watch:
        watch.until(lambda: len([told for told in watch.others if "clocks_ms" in told]) == 2)
    assert before_ms == live.state()["clocks_ms"]
    assert (200, CALM) == live.json("POST", WORLD, {"paused": False})
    with live.watch() as watch:
        live.tap("c3")
        watch.until(lambda: bool(watch.states) and watch.states[-1]["last_action"] == "c3")
    assert before_ms[mover] - 1_000 < live.state()["clocks_ms"][mover]


@pytest.mark.realtime
def test_bad_changes_change_nothing(live: Live) -> None:
    """Malformed, oversized and other sites' changes leave the world as it is."""
    big = b'{"stuck":[' + b'"d4",' * 2000 + b'"d4"]}'
    for body, headers, status in (
        (b"{", {}, 400),
        (big, {}, 413),
        (b'{"unplug":true}', {"Origin": "http://evil.example"}, 403),
        (b'{"unplug":true}', {"Host": "evil.example"}, 403),
    ):
        found, answer, _ = live.request("POST", WORLD, body, headers)
        assert status == found
        assert json.loads(answer)["error"]["text"].endswith(".")
    assert (200, CALM) == live.json("GET", WORLD)
