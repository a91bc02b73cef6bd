"""Whoever moves the contacts of a real board: a test board by order, in virtual time at a simulated cable."""

from __future__ import annotations

from typing import Any

import pytest

from hal.errors import PartError
from hal.hands import Nobody, TestBoard
from hal.jig import Unsupported
from sim.cable import CableFaults
from sim.faults import Faults
from tests.serial_rig import World


def bench() -> tuple[World, TestBoard]:
    """A test board at a cable, and its hands."""
    world = World()
    return world, TestBoard(world.open(), world.clock.now_us, world.step)


def moves(world: World) -> list[tuple[int, bool]]:
    return [(edge.cell, edge.down) for edge in world.edges]


def test_contacts_move_by_order_before_the_call_returns() -> None:
    """A press is done when it returns, though nobody scans; what was heard meanwhile waits for the next scan."""
    world, hands = bench()
    hands.press(5)
    hands.press(6)
    assert 1 << 5 | 1 << 6 == world.device.board.contacts.held()
    hands.release(5)
    assert 1 << 6 == world.device.board.contacts.held()
    hands.close()
    assert 0 == world.device.board.contacts.held()
    world.run(100_000)
    assert [(5, True), (6, True), (5, False), (6, False)] == moves(world)


def test_a_test_board_has_the_faults_of_the_link() -> None:
    """Stuck and dead cells come and go; a mute board and one that starts anew are gone for a while and come back."""
    world, hands = bench()
    hands.fault(stuck=[3], dead={4})
    hands.press(4)
    world.run(100_000)
    assert [(3, True)] == moves(world)
    hands.fault(stuck=[])
    world.run(100_000)
    assert [(3, True), (3, False)] == moves(world)
    for fault in ({"mute_ms": 800}, {"restart": True}):
        before = world.board._host.sessions  # type: ignore[union-attr]
        hands.fault(**fault)
        world.run(3_000_000)
        assert before + 1 == world.board._host.sessions  # type: ignore[union-attr]
        assert world.board.health()["link"].ok  # type: ignore[union-attr]


def test_what_a_test_board_cannot_do_is_a_sentence() -> None:
    """Faults that no link knows are refused; moves while the cable is out have failed, and are not done later."""
    world, hands = bench()
    with pytest.raises(
        Unsupported,
        match="a test board cannot make the fault glitch_hz, only stuck, dead, mute_ms, restart, by its cable",
    ):
        hands.fault(glitch_hz=5, stuck=[1])
    with pytest.raises(Unsupported, match="nobody can pull the cable out"):
        hands.unplug()
    world.unplug()
    world.run(1_000_000)
    with pytest.raises(PartError, match=r"the cable is out or the device is gone .*; plug it in again"):
        hands.press(1)
    hands.close()
    world.plug()
    world.run(2_000_000)
    assert [] == moves(world)


def test_a_test_board_that_does_nothing_is_named() -> None:
    """A board that talks on and does not do what it is told is given up after two seconds."""
    world, hands = bench()
    world.board._host._say_test = lambda _: b""  # type: ignore[union-attr, method-assign]
    with pytest.raises(PartError, match="the test board at /dev/ttyACM0 does not do what it is told"):
        hands.press(1)


@pytest.mark.parametrize(
    ("what", "given", "said"),
    [
        ("press", (5,), "press cell 5"),
        ("release", (5,), "lift off cell 5"),
        ("unplug", (), "pull the cable out"),
        ("plug", ("ttyACM1",), "put the cable in as ttyACM1"),
    ],
)
def test_where_there_is_nobody_that_is_said(what: str, given: tuple[Any, ...], said: str) -> None:
    """Whatever wants hands names what is lacking; light cannot be seen."""
    nobody = Nobody("it is late")
    with pytest.raises(Unsupported, match=f"nobody can {said}: it is late"):
        getattr(nobody, what)(*given)
    with pytest.raises(Unsupported, match="nobody can make the fault stuck"):
        nobody.fault(stuck=[2])
    assert nobody.lit() is None
    nobody.close()


def test_light_is_read_back_from_the_chain() -> None:
    """What is lit is what the strip at the far end has latched, not what it was told; also when answers are lost."""
    world, hands = bench()
    assert bytes(147) == hands.lit()
    assert world.board is not None
    world.board.show(b"\xff\0\0" * 49, world.clock.now_us())
    world.run(50_000)
    light = hands.lit()
    assert light is not None and light[0] and not any(light[1::3])
    world.device.board.change(Faults(leds_fail_rate=1.0))
    world.board.show(b"\0\0\xff" * 49, world.clock.now_us())
    world.run(50_000)
    assert light == hands.lit()
    world.cable.up.faults = CableFaults(loss_rate=0.5)
    assert light == hands.lit()
    world.unplug()
    world.run(1_000_000)
    assert hands.lit() is None


def test_a_board_that_cannot_read_its_chain_shows_nothing() -> None:
    """A test board that never answers is asked three times, and then no more; an old answer is never taken for new."""
    world, hands = bench()
    hands.lit()
    world.device._far.device.say_shown = lambda _: None  # type: ignore[method-assign]
    asked_us = world.clock.now_us()
    assert hands.lit() is None
    assert 900_000 <= world.clock.now_us() - asked_us < 1_200_000
    asked_us = world.clock.now_us()
    assert (None, asked_us) == (hands.lit(), world.clock.now_us())
