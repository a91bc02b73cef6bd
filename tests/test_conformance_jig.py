"""The suite for whole boards on a jig: boards in order pass it, and boards with one thing wrong do not."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from hal import conformance, conformance_jig
from hal.conformance import Broken
from hal.conformance_jig import JigCheck, draws_ma
from hal.hands import TestBoard
from hal.pixels import Limiter
from hal.ports import Edge, Scan
from hal.profile import load, shipped
from hal.real_jig import RealJig
from sim.faults import Faults
from sim.jig import SimJig
from tests.serial_rig import World

BOARDS = "sim", "nine", "no-diodes", "edge-strips"
SIM = load(shipped("sim"))


@pytest.mark.parametrize("check", conformance_jig.JIGS, ids=conformance.name)
@pytest.mark.parametrize("board", BOARDS)
def test_boards_in_order_pass(board: str, check: JigCheck) -> None:
    """Boards of all kinds pass every check on the simulator."""
    check(SimJig(load(shipped(board))))


def cabled() -> RealJig:
    """A test board at a simulated cable, in virtual time."""
    world = World()
    board = world.open()
    jig = RealJig(board, board.profile, "pty", TestBoard(board, world.clock.now_us, world.step))
    jig.now_us, jig.wait = world.clock.now_us, world.step  # type: ignore[assignment]
    return jig


@pytest.mark.parametrize("check", conformance_jig.JIGS, ids=conformance.name)
def test_a_board_at_a_cable_passes(check: JigCheck) -> None:
    """A board at the end of a cable passes every check."""
    check(cabled())


class Wrong(SimJig):
    """A board that does one thing wrong: `scan` and `show` stand between."""

    def __init__(
        self,
        heard: Callable[[tuple[Edge, ...]], tuple[Edge, ...]] = lambda edges: edges,
        shown: Callable[[bytes], bytes] = lambda frame: frame,
        known: Callable[[Scan], int] = lambda scan: scan.known_us,
        faults: Faults | None = None,
    ) -> None:
        super().__init__(SIM, faults or Faults())
        scan, show = self.board.scan, self.board.show

        def scanned(t_us: int) -> Scan:
            found = scan(t_us)
            return found._replace(edges=heard(found.edges), known_us=known(found))

        self.board.scan = scanned  # type: ignore[method-assign]
        self.board.show = lambda frame, t_us: show(shown(frame), t_us)  # type: ignore[method-assign]


def moved(edges: tuple[Edge, ...]) -> tuple[Edge, ...]:
    return tuple(edge._replace(cell=(edge.cell + 7) % 49) for edge in edges)


def pressed(edges: tuple[Edge, ...]) -> tuple[Edge, ...]:
    return tuple(edge for edge in edges if edge.down)


def doubled(edges: tuple[Edge, ...]) -> tuple[Edge, ...]:
    return tuple(edge for edge in edges for _ in range(2))


def late() -> Callable[[tuple[Edge, ...]], tuple[Edge, ...]]:
    return lambda edges: tuple(edge._replace(t_us=edge.t_us + 5_000_000) for edge in edges)


def repeated() -> Callable[[tuple[Edge, ...]], tuple[Edge, ...]]:
    """Auto-repeat, as keyboards have it."""
    held: list[Edge] = []
    turns = count(1)

    def heard(edges: tuple[Edge, ...]) -> tuple[Edge, ...]:
        for edge in edges:
            held[:] = [edge] if edge.down else []
        return edges or (tuple(held) if next(turns) % 100 == 0 else ())

    return heard


def frame_of(shift: int) -> Callable[[bytes], bytes]:
    return lambda frame: frame[3 * shift :] + frame[: 3 * shift]


def swapped(frame: bytes) -> bytes:
    return bytes(frame[at - at % 3 + (1, 0, 2)[at % 3]] for at in range(len(frame)))


@pytest.mark.parametrize(
    ("wrong", "caught", "said"),
    [
        (lambda: Wrong(faults=Faults(stuck=frozenset({3}))), "at_rest_nothing_is_told", "d1 down is told"),
        (lambda: Wrong(faults=Faults(lines_fail_rate=1.0)), "at_rest_nothing_is_told", "matrix: the contacts do not"),
        (lambda: Wrong(moved), "each_cell_is_told_once", "a1 held for 60 ms is told as a2 down, a2 up"),
        (lambda: Wrong(faults=Faults(dead=frozenset({9}))), "each_cell_is_told_once", "c2 held .* is told as nothing"),
        (lambda: Wrong(pressed), "a_held_cell_is_told_once", "d4 held for 300 ms is told as d4 down$"),
        (lambda: Wrong(doubled), "a_held_cell_is_told_once", "d4 down, d4 down, d4 up, d4 up"),
        (lambda: Wrong(repeated()), "a_held_cell_is_told_once", "d4 down, d4 down"),
        (
            lambda: Wrong(pressed),
            "two_cells_are_both_told",
            "a1 down, g7 down, a1 up, g7 up is told as a1 down, g7 down$",
        ),
        (lambda: Wrong(faults=Faults(settle_us=20)), "a_whole_row_is_told", "a1, b1, c1, d1, e1, f1, g1 held"),
        (lambda: Wrong(late()), "times_are_the_edges_own", "an edge of .* us is told at"),
        (lambda: Wrong(lambda _: ()), "times_are_the_edges_own", "a finger on d4 is not told"),
        (lambda: Wrong(known=lambda scan: scan.t_us + 1), "times_are_the_edges_own", "all up to .* us is known"),
        (lambda: Wrong(shown=frame_of(1)), "each_cell_lights_alone", r"a1 alone in \(255, 0, 0\) shows as \{'g7'"),
        (lambda: Wrong(shown=swapped), "each_cell_lights_alone", "a1 alone in .* shows as"),
        (lambda: Wrong(shown=lambda frame: frame[:144] + b"\xff" * 3), "darkness_is_dark", "in the dark g7 shine"),
        (lambda: Wrong(shown=lambda frame: frame[:72] + bytes(75)), "white_keeps_to_the_budget", "white draws 1... mA"),
    ],
)
def test_boards_that_are_wrong_are_named(wrong: Callable[[], SimJig], caught: str, said: str) -> None:
    """Each fault is caught by the check for it, in a sentence that says what was told or shown instead."""
    check = next(check for check in conformance_jig.JIGS if check.__name__ == caught)
    with pytest.raises(Broken, match=said):
        check(wrong())


def test_a_board_without_a_limit_is_caught() -> None:
    """A board that passes the current limit by asks for too much in white."""
    jig = SimJig(SIM)
    jig.board._limiter.step = lambda chain, _, state: (chain, state)  # type: ignore[method-assign]
    with pytest.raises(Broken, match=r"white draws 2.* mA of 2100 mA that it may"):
        conformance_jig.white_keeps_to_the_budget(jig)


@pytest.mark.parametrize("board", BOARDS)
def test_current_is_reckoned_as_the_limit_does(board: str) -> None:
    """What light draws by the suite's own sum is what the current limit works out from the chain's bytes."""
    profile = load(shipped(board))
    chain = b"\xff" * 3 * profile.cells * profile.leds.per_cell + bytes(
        3 * (profile.led_count - profile.cells * profile.leds.per_cell)
    )
    assert pytest.approx(Limiter(profile).current_ma(chain)) == draws_ma(profile, [(255, 255, 255)] * profile.cells)
