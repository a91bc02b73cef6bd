"""The simulator as a jig: contacts and light of a board in this process, in virtual time."""

from __future__ import annotations

import pytest

from hal.jig import Jig, Unsupported
from hal.ports import Edge
from hal.profile import load, shipped
from sim.jig import SimJig

SIM = load(shipped("sim"))


def scanned(jig: Jig, us: int) -> list[Edge]:
    """What is heard in so long, scanned at the board's own pace."""
    edges: list[Edge] = []
    end_us = jig.now_us() + us
    while jig.now_us() < end_us:
        scan = jig.board.scan(jig.now_us())
        edges += scan.edges
        jig.wait(scan.period_us)
    return edges


def moves(edges: list[Edge]) -> list[tuple[int, bool]]:
    return [(edge.cell, edge.down) for edge in edges]


def test_a_finger_is_heard_when_it_comes_and_when_it_leaves() -> None:
    """A contact closes and opens when it is told to, and each is heard once."""
    jig = SimJig(SIM)
    jig.press(24)
    down_us = jig.now_us()
    first = scanned(jig, 50_000)
    jig.release(24)
    assert ([(24, True)], [(24, False)]) == (moves(first), moves(scanned(jig, 50_000)))
    assert 0 <= first[0].t_us - down_us < 10_000
    jig.press(3)
    jig.close()
    assert 0 == jig.board.contacts.held()


def test_light_is_what_the_strip_has_latched() -> None:
    """What is lit is read off the data line: dark until the frame has been latched, dark once closed."""
    jig = SimJig(SIM)
    jig.board.show(b"\xff\0\0" + bytes(144), jig.now_us())
    assert bytes(147) == jig.lit()
    jig.wait(10_000)
    lit = jig.lit()
    assert lit[0] and not any(lit[1:])
    jig.close()
    jig.wait(10_000)
    assert bytes(147) == jig.lit()


def test_a_fault_comes_and_goes() -> None:
    """A stuck cell is heard down until it is mended; what was not named stays as it was."""
    jig = SimJig(SIM)
    jig.fault(dead=[1])
    jig.fault(stuck=[0])
    jig.press(1)
    assert [(0, True)] == moves(scanned(jig, 50_000))
    jig.fault(stuck=())
    assert [(0, False)] == moves(scanned(jig, 50_000))


def test_what_a_simulator_cannot_do_is_a_sentence() -> None:
    """No cable, no fault of one, none that is in the copper: each is refused and nothing changes."""
    jig = SimJig(SIM)
    for fault in ({"settle_us": 5}, {"mute_ms": 5}, {"stuck": [3], "stcuk": [2]}):
        with pytest.raises(Unsupported, match="is no fault that a simulated board"):
            jig.fault(**fault)
    assert [] == scanned(jig, 50_000)
    for pull in (jig.unplug, jig.plug):
        with pytest.raises(Unsupported, match="has no cable"):
            pull()
