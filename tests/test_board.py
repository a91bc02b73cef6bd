"""A whole board on stub lines and stub LEDs: edges in, frames out, and what happens when a part fails."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from hal.board import MatrixBoard
from hal.errors import PartError
from hal.pixels import Limiter, Pixels
from hal.ports import Board, Capabilities, Edge, Part, Scan
from hal.profile import Profile, load, shipped

SIM = load(shipped("sim"))
BARE = SIM._replace(matrix=msgspec.structs.replace(SIM.matrix, diodes=False))
WHITE = b"\xff" * 147
DIM = b"\x60" * 147


class Contacts:
    """Lines whose mask is set by hand; with `fault` set every read raises it."""

    def __init__(self) -> None:
        self.mask, self.row = 0, 0
        self.fault: PartError | None = None
        self.closed = 0

    def select(self, row: int | None) -> None:
        self.row = row or 0

    def read(self) -> int:
        if self.fault is not None:
            raise self.fault
        return self.mask >> 7 * self.row & 127

    def close(self) -> None:
        self.closed += 1


class Chain:
    """LEDs that keep every frame; with `fault` set every write and the close raise it."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.fault: PartError | None = None
        self.closed = 0

    def write(self, frame: bytes) -> None:
        if self.fault is not None:
            raise self.fault
        self.frames.append(frame)

    def close(self) -> None:
        self.closed += 1
        self.write(bytes(147))


def opened(profile: Profile = SIM) -> tuple[MatrixBoard, Contacts, Chain]:
    """A board with its contacts and its chain."""
    contacts, chain = Contacts(), Chain()
    return MatrixBoard(profile, contacts, chain), contacts, chain


def test_a_matrix_board_is_a_board() -> None:
    """A matrix board offers what the port promises, with the name and geometry of its profile."""
    open_board: Callable[[], Board] = lambda: opened()[0]  # noqa: E731
    assert Capabilities("simulated board", 7, 7) == open_board().capabilities


def test_a_touch_comes_in_as_press_and_release() -> None:
    """A touch on d4 is a press at once and a release once it has lasted, each with its own time."""
    board, contacts, _ = opened()
    scans = []
    for t_us in range(0, 40_000, 1_000):
        contacts.mask = (1 << 24) if 3_000 <= t_us < 20_000 else 0
        scans.append(board.scan(t_us))
    assert list(range(0, 40_000, 1_000)) == [scan.t_us for scan in scans]
    found = [(scan.t_us, edge) for scan in scans for edge in scan.edges]
    assert [(3_000, Edge(3_000, 24, True)), (30_000, Edge(20_000, 24, False))] == found
    assert [t_us - 10_000 for t_us in range(0, 40_000, 1_000)] == [scan.known_us for scan in scans]


def test_the_board_scans_fast_while_touched_and_slowly_at_rest() -> None:
    """From the first contact until the release is certain the next scan is due in 1 ms, else in 5 ms."""
    board, contacts, _ = opened()
    periods = []
    for t_us in range(0, 30_000, 1_000):
        contacts.mask = int(5_000 <= t_us < 8_000)
        periods.append(board.scan(t_us).period_us)
    assert periods == [5_000] * 5 + [1_000] * 13 + [5_000] * 12


def test_ghosts_are_reported_and_frozen_without_diodes() -> None:
    """Without diodes the corners of a rectangle are named in the scan and make no edge; with diodes they are presses
    (cases D1, D3)."""
    rectangle = 1 | 1 << 2 | 1 << 14 | 1 << 16
    board, contacts, _ = opened(BARE)
    contacts.mask = rectangle
    assert Scan(0, (), rectangle, -10_000, 1_000) == board.scan(0)
    contacts.mask = 1
    assert Scan(1_000, (Edge(1_000, 0, True),), 0, -9_000, 1_000) == board.scan(1_000)
    board, contacts, _ = opened()
    contacts.mask = rectangle
    assert (board.scan(0).ghosts, len(board.scan(0).edges) or 4) == (0, 4)


def test_fingers_in_a_rectangle_stay_down() -> None:
    """Without diodes two fingers stay pressed while a third makes a rectangle for longer than a release lasts."""
    board, contacts, _ = opened(BARE)
    edges: list[Edge] = []
    for t_us in range(0, 60_000, 1_000):
        contacts.mask = 0b101 if t_us < 20_000 or t_us >= 40_000 else 0b101 << 14 | 0b101
        edges += board.scan(t_us).edges
    assert [Edge(0, 0, True), Edge(0, 2, True)] == edges


def test_a_frame_goes_out_as_pixels_and_limiter_make_it() -> None:
    """Frames reach the chain through gamma, order and current limit, each from the state the last one left."""
    board, _, chain = opened()
    pixels, limiter = Pixels(SIM), Limiter(SIM)
    state, expected = limiter.start, []
    for t_us in range(0, 500_000, 16_667):
        board.show(WHITE, t_us)
        out, state = limiter.step(pixels.chain(WHITE), t_us, state)
        expected.append(out)
    assert expected == chain.frames
    assert len(board.wire()) == 147
    assert pixels.cells(chain.frames[-1]) == board.wire()


def test_the_wire_is_dark_before_the_first_frame() -> None:
    """Before the first frame the wire is all zero."""
    assert bytes(147) == opened()[0].wire()


def test_a_frame_of_another_length_changes_nothing() -> None:
    """A frame that is not three bytes a cell is refused and nothing is sent."""
    board, _, chain = opened()
    with pytest.raises(ValueError, match="a frame of 3 bytes where 147 are wanted"):
        board.show(b"abc", 0)
    assert chain.frames == []


def test_a_healthy_board_says_what_it_is() -> None:
    """Health names both parts, with the current they may ask for, and says the same while nothing changes."""
    board, _, _ = opened()
    expected = {
        "matrix": Part(True, "7 x 7 contacts with diodes"),
        "leds": Part(True, "49 LEDs, at most 2100 mA"),
    }
    assert expected == board.health()
    board.show(WHITE[:3] + bytes(144), 0)
    assert Part(True, "49 LEDs, at most 2100 mA") == board.health()["leds"]
    assert Part(True, "7 x 7 contacts without diodes") == opened(BARE)[0].health()["matrix"]


def test_a_matrix_that_fails_is_named_and_recovers() -> None:
    """While lines fail there are no edges and nothing more is known; LEDs go on; then all is as before (case D21)."""
    board, contacts, chain = opened()
    contacts.mask = 1
    board.scan(100_000)
    contacts.mask, contacts.fault = 3, PartError("row 1 does not answer")
    assert Scan(101_000, (), 0, 90_000, 1_000) == board.scan(101_000)
    assert Scan(106_000, (), 0, 90_000, 1_000) == board.scan(106_000)
    assert Part(False, "the contacts do not answer: row 1 does not answer") == board.health()["matrix"]
    board.show(DIM, 107_000)
    assert len(chain.frames) == 1
    assert board.health()["leds"].ok
    contacts.fault = None
    assert Scan(111_000, (Edge(111_000, 1, True),), 0, 101_000, 1_000) == board.scan(111_000)
    assert board.health()["matrix"].ok


def test_a_matrix_that_fails_from_the_start_knows_nothing() -> None:
    """Lines that fail from the first scan on leave the horizon before all time."""
    board, contacts, _ = opened()
    contacts.fault = PartError("no lines")
    assert [board.scan(t_us).known_us for t_us in (5_000_000, 5_005_000)] == [-10_000, -10_000]


def test_leds_that_fail_are_named_and_recover() -> None:
    """While the chain fails play goes on and the wire is what it got last; then it ramps up from idle (promise 5)."""
    board, contacts, chain = opened()
    contacts.mask = 1
    for t_us in range(0, 600_000, 16_667):
        board.show(DIM, t_us)
    last = board.wire()
    chain.fault = PartError("the bus is gone")
    board.show(WHITE, 610_000)
    assert Part(False, "the LEDs do not answer: the bus is gone") == board.health()["leds"]
    assert last == board.wire()
    assert (Edge(611_000, 0, True),) == board.scan(611_000).edges
    assert board.health()["matrix"].ok
    chain.fault = None
    board.show(DIM, 620_000)
    assert board.health()["leds"].ok
    first, again = chain.frames[0], chain.frames[-1]
    assert first == again
    assert again < chain.frames[-2]


def test_closing_leaves_the_leds_dark_and_the_lines_at_rest() -> None:
    """Close darkens the chain, rests the lines and leaves the wire dark; twice is allowed."""
    board, contacts, chain = opened()
    board.show(DIM, 0)
    board.close()
    assert (bytes(147), 1) == (chain.frames[-1], contacts.closed)
    assert bytes(147) == board.wire()
    board.close()


def test_closing_rests_the_lines_even_if_the_leds_fail() -> None:
    """LEDs that fail at close raise their error after the lines are at rest; lines that fail raise theirs after the
    LEDs are dark (case A28)."""
    board, contacts, chain = opened()
    chain.fault = PartError("the bus is gone")
    with pytest.raises(PartError, match="the bus is gone"):
        board.close()
    assert contacts.closed == 1

    class Stuck(Contacts):
        def close(self) -> None:
            raise PartError("the lines are gone")

    chain = Chain()
    with pytest.raises(PartError, match="the lines are gone"):
        MatrixBoard(SIM, Stuck(), chain).close()
    assert [bytes(147)] == chain.frames


def test_what_is_no_fault_of_a_part_is_not_hidden() -> None:
    """An error that is not a PartError comes through: it is a mistake in the program."""
    board, contacts, _ = opened()
    contacts.read = lambda: 1 // 0  # type: ignore[method-assign]
    with pytest.raises(ZeroDivisionError):
        board.scan(0)


def test_a_frame_that_is_held_back_says_so_until_it_is_full() -> None:
    """A scene that the ramp holds back is `dimmed` until, sent again, it has come up."""
    board, _, chain = opened()
    seen = []
    for turn in range(40):
        board.show(b"\xff" * 63 + bytes(84), turn * 16_667)
        seen.append(board.dimmed)
    assert (True, False) == (seen[0], seen[-1])
    assert sorted(seen, reverse=True) == seen
    assert chain.frames[-1] == max(chain.frames)
