"""What a test of a board has at hand, on the simulator."""

from __future__ import annotations

import pytest

from hal.bench import BenchClock, Fingers, Lights, Rgb, number
from hal.errors import BoardError, PartError
from hal.hands import TestBoard
from hal.jig import Unsupported
from hal.profile import load, shipped
from hal.real_jig import RealJig
from sim.faults import Faults
from sim.jig import SimJig
from tests.serial_rig import World

SIM = load(shipped("sim"))


def at_hand(faults: Faults | None = None) -> tuple[SimJig, BenchClock, Fingers, Lights]:
    jig = SimJig(SIM) if faults is None else SimJig(SIM, faults)
    clock = BenchClock(jig)
    return jig, clock, Fingers(jig, clock), Lights(jig, clock)


def test_a_cell_has_a_name_and_a_number() -> None:
    """Cells go by either; one that the board does not have is refused."""
    jig = at_hand()[0]
    assert [24, 24, 0, 48] == [number(jig, cell) for cell in ("d4", 24, "a1", 48)]
    for cell in ("h1", 49, -1, "D4"):
        with pytest.raises(BoardError, match="is no cell of this board: they are a1 to g7, or 0 to 48"):
            number(jig, cell)


def test_fingers_press_hold_and_chord() -> None:
    """A press and a release are two moves with scans between; a hold and a chord return what was heard of them."""
    _, clock, fingers, _ = at_hand()
    fingers.press("a1", "b1")
    assert [(0, True), (1, True)] == [(edge.cell, edge.down) for edge in clock.scan(50_000)]
    fingers.release("a1", 1)
    assert {(0, False), (1, False)} == {(edge.cell, edge.down) for edge in clock.scan(50_000)}
    held = fingers.hold("d4", 500_000)
    assert [(24, True), (24, False)] == [(edge.cell, edge.down) for edge in held]
    assert 490_000 < held[1].t_us - held[0].t_us < 520_000
    assert {(0, True), (48, True), (0, False), (48, False)} == {
        (edge.cell, edge.down) for edge in fingers.chord(["a1", "g7"], 300_000)
    }
    assert 10 == len(clock.edges)


def test_time_passes_with_scans_and_without() -> None:
    """Waiting is time in which nobody scans, so that what happened in it is heard afterwards; `until` ends early."""
    jig, clock, fingers, _ = at_hand()
    begun_us = clock.now_us()
    fingers.press(3)
    clock.wait(200_000)
    assert (begun_us + 200_000, []) == (clock.now_us(), clock.edges)
    assert 1 == len(clock.until(lambda: clock.edges))
    assert clock.now_us() < begun_us + 210_000
    assert [] == clock.until(lambda: False, 20_000)
    assert jig.now_us() == clock.now_us() >= begun_us + 220_000


def test_a_board_that_tells_nothing_is_scanned_for_a_while() -> None:
    """A dead cell ends a hold after three seconds each way, without its edges."""
    _, clock, fingers, _ = at_hand(Faults(dead=frozenset({24})))
    assert [] == fingers.hold("d4", 100_000)
    assert clock.now_us() > 6_000_000


def test_lights_are_what_the_chain_shows() -> None:
    """What is shown is read back by name, as bright as the limit lets it become; nothing else is lit."""
    _, _, _, lights = at_hand()
    seen = lights.show({"d4": (255, 0, 0), 0: (0, 0, 255)})
    assert ["a1", "d4"] == list(seen)
    assert seen["d4"].red > 200 and seen["a1"] == Rgb(0, 0, seen["a1"].blue)
    assert Rgb(0, 0, 0) == lights.all()[1]
    assert {} == lights.show({})


def test_light_that_cannot_be_seen_is_not_guessed() -> None:
    """A chain that cannot be read back is unsupported; a board whose cable is out has failed."""
    world = World()
    board = world.open()
    hands = TestBoard(board, world.clock.now_us, world.step)
    jig = RealJig(board, board.profile, "pty", hands)
    jig.now_us, jig.wait = world.clock.now_us, world.step  # type: ignore[assignment]
    clock = BenchClock(jig)
    assert {} == Lights(jig, clock).lit()
    jig.lit = lambda: None
    with pytest.raises(Unsupported, match="what simulated board shows cannot be read back from its chain"):
        Lights(jig, clock).lit()
    world.unplug()
    clock.scan(1_000_000)
    with pytest.raises(PartError, match="the cable is out"):
        Lights(jig, clock).lit()
