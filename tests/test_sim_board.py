"""The simulated board: the real matrix board between simulated contacts and a simulated strip."""

from __future__ import annotations

from itertools import combinations, product

import msgspec
import pytest

from hal.board import MatrixBoard
from hal.ports import Board, Edge
from hal.profile import Profile, load, shipped
from hal.ws2812 import wire_us
from sim.board import SimBoard
from sim.clock import VirtualClock
from sim.faults import HEALTHY, Faults

WHITE = b"\xff" * 147
DARK = bytes(147)


def profile_with(*, diodes: bool = True, colours: str = "GRB", step: int = 1) -> Profile:
    """The shipped profile, with other copper, other LEDs or a chain that runs the other way."""
    profile = load(shipped("sim"))
    return profile._replace(
        matrix=msgspec.structs.replace(profile.matrix, diodes=diodes),
        leds=msgspec.structs.replace(profile.leds, colour_order=colours),
        chain=profile.chain[::step],
    )


class Rig:
    """A simulated board in virtual time, scanned at its own pace."""

    def __init__(self, profile: Profile | None = None, faults: Faults = HEALTHY, seed: int = 0) -> None:
        self.clock = VirtualClock()
        self.board = SimBoard(profile or profile_with(), self.clock, faults=faults, seed=seed)
        self.edges: list[Edge] = []
        self.ghosts = 0
        self._scan_us = 0

    def run_until(self, t_us: int) -> None:
        """Scan until `t_us`, collecting edges and ghosts."""
        while self._scan_us <= t_us:
            self.clock.advance_to(self._scan_us)
            scan = self.board.scan(self._scan_us)
            self.edges += scan.edges
            self.ghosts |= scan.ghosts
            self._scan_us += scan.period_us
        self.clock.advance_to(t_us)

    def tap(self, cell: int, t_us: int) -> None:
        """Tap a cell for 30 ms."""
        self.board.contacts.press(cell, t_us)
        self.board.contacts.release(cell, t_us + 30_000)

    def show(self, frame: bytes) -> None:
        """Show a frame now and let time pass until it is on the strip."""
        self.board.show(frame, self.clock.now_us())
        self.clock.advance_to(self.board.strip.busy_until_us)


@pytest.mark.parametrize(("rotate_deg", "mirror"), [(90, False), (180, True), (270, False)])
def test_a_board_that_lies_another_way_is_felt_and_lit_at_its_cells(rotate_deg: int, mirror: bool) -> None:
    """However the wiring lies under the cells, a touch is that of its cell and the light is under it."""
    sim = load(shipped("sim"))
    board = msgspec.structs.replace(sim.board, rotate_deg=rotate_deg, mirror=mirror)
    lying = sim._replace(board=board)
    rig = Rig(lying._replace(chain=lying.turned))
    for cell in (0, 5, 24, 42, 48):
        start_us = rig.clock.now_us()
        rig.tap(cell, start_us + 1_000)
        rig.run_until(start_us + 60_000)
        assert [(cell, True), (cell, False)] == [(edge.cell, edge.down) for edge in rig.edges]
        rig.edges.clear()
    for cell in (0, 5, 24, 42, 48):
        rig.show(bytes(3 * cell) + b"\xff\xff\xff" + bytes(3 * (48 - cell)))
        assert [cell] == [at for at in range(49) if any(rig.board.wire()[3 * at : 3 * at + 3])]


def test_every_cell_is_felt_once() -> None:
    """Each of the 49 cells, bouncing 3 ms, makes one press and one release, at the scan that first sees each."""
    for cell in range(49):
        rig, press_us = Rig(seed=cell), 101_000 + cell * 107  # at every time of an idle scan period
        rig.board.contacts.press(cell, press_us)
        rig.board.contacts.release(cell, 160_500)
        rig.run_until(300_000)
        assert [(cell, True), (cell, False)] == [(edge.cell, edge.down) for edge in rig.edges]
        press, release = rig.edges
        assert press_us <= press.t_us <= press_us + 3_000 + 5_000
        assert 160_500 <= release.t_us <= 163_500 + 1_000


def test_ghosts_are_flagged_on_a_board_without_diodes() -> None:
    """On each two-row rectangle three fingers of a board without diodes press no fourth cell, and are flagged."""
    profile = profile_with(diodes=False)
    for (top, foot), (left, right) in product(combinations(range(7), 2), [(0, 1), (0, 6), (2, 5)]):
        corners = [row * 7 + column for row in (top, foot) for column in (left, right)]
        rig = Rig(profile, Faults(bounce_us=0))
        for turn, cell in enumerate(corners[:3]):
            rig.board.contacts.press(cell, 10_000 * (turn + 1))
        rig.run_until(60_000)
        assert corners[:2] == [edge.cell for edge in rig.edges]
        assert sum(1 << cell for cell in corners) == rig.ghosts


def test_copper_that_contradicts_the_profile_makes_ghosts() -> None:
    """A board that is told of diodes it does not have feels a fourth finger: the fault is real."""
    rig = Rig(profile_with(diodes=True), Faults(bounce_us=0, diodes=False))
    for cell in (0, 1, 7):
        rig.board.contacts.press(cell, 10_000)
    rig.run_until(60_000)
    assert {0, 1, 7, 8} == {edge.cell for edge in rig.edges}


def test_a_row_that_settles_too_slowly_smears() -> None:
    """Columns that need longer than the profile waits show a finger in the next row too (case D18)."""
    rig = Rig(faults=Faults(bounce_us=0, settle_us=6))
    rig.board.contacts.press(3, 10_000)
    rig.run_until(60_000)
    assert {3, 10} == {edge.cell for edge in rig.edges}


@pytest.mark.parametrize(("colours", "step"), [("GRB", 1), ("BRG", 1), ("GRB", -1)])
def test_the_wire_is_what_the_strip_shows(colours: str, step: int) -> None:
    """A frame shows when the strip has latched it, not before, and then is what the driver meant, in cell order."""
    rig = Rig(profile_with(colours=colours, step=step))
    frame = bytes(range(100, 100 + 147))
    rig.board.show(frame, 0)
    assert DARK == rig.board.wire()
    latch_us = rig.board.strip.due_us
    assert latch_us is not None
    rig.clock.advance_to(latch_us - 1)
    assert DARK == rig.board.wire()
    rig.clock.advance_to(latch_us)
    assert DARK != rig.board.wire()
    assert MatrixBoard.wire(rig.board) == rig.board.wire()
    assert (1, 0, 0) == (rig.board.strip.frames, rig.board.strip.violations, rig.board.strip.early_writes)


def test_no_frame_asks_for_more_than_the_supply_gives() -> None:
    """White frames at 60 a second, from power-up on, stay within the budget by the unscaled physics (case H1)."""
    rig = Rig()
    power = load(shipped("sim")).power
    for turn in range(120):
        rig.clock.advance_to(turn * 16_667)
        rig.show(WHITE)
        rig.board.wire()
    assert 120 == rig.board.strip.frames
    assert 1_000 < rig.board.strip.peak_ma <= power.supply_ma * power.budget_pct / 100


def test_a_write_blocks_for_the_time_on_the_wire() -> None:
    """With a pause given, a write blocks it for the wire time of a frame, after which the frame shows."""
    clock, pauses = VirtualClock(), list[int]()

    def pause(us: int) -> None:
        pauses.append(us)
        clock.advance_to(clock.now_us() + us)

    board = SimBoard(profile_with(), clock, pause=pause)
    board.show(WHITE, clock.now_us())
    assert [wire_us(49, idles_high=False)] == pauses
    assert 1 == board.strip.frames
    assert DARK != board.strip.latched.frame


def test_close_leaves_the_strip_dark() -> None:
    """A closed board is dark, and may be closed again."""
    rig = Rig()
    rig.show(WHITE)
    rig.board.close()
    rig.board.close()
    rig.clock.advance_to(rig.board.strip.busy_until_us)
    assert DARK == rig.board.wire()
    assert 2 == rig.board.strip.frames


def test_failing_leds_do_not_stop_the_contacts() -> None:
    """LEDs that fail are named in the health; contacts go on, and the strip shows what it showed."""
    rig = Rig(faults=Faults(leds_fail_rate=1))
    rig.show(WHITE)
    rig.board.contacts.press(24, 10_000)
    rig.run_until(30_000)
    health = rig.board.health()
    assert (False, True) == (health["leds"].ok, health["matrix"].ok)
    assert "leds_fail_rate" in health["leds"].text
    assert DARK == rig.board.wire()
    assert [24] == [edge.cell for edge in rig.edges]


def test_failing_lines_do_not_stop_the_leds() -> None:
    """Lines that fail are named in the health; the LEDs go on."""
    rig = Rig(faults=Faults(lines_fail_rate=1))
    rig.run_until(30_000)
    rig.show(WHITE)
    health = rig.board.health()
    assert (True, False) == (health["leds"].ok, health["matrix"].ok)
    assert "lines_fail_rate" in health["matrix"].text
    assert DARK != rig.board.wire()


def test_a_wrong_clock_reaches_the_strip() -> None:
    """A bus at 40 % of its clock, as when the core clock scales down, turns a dark frame white (case A16)."""
    rig = Rig(faults=Faults(spi_pct=40))
    rig.show(DARK)
    rig.clock.advance_to(rig.clock.now_us() + 400)
    assert WHITE == rig.board.wire()
    assert 0 < rig.board.strip.violations


def test_a_simulated_board_is_a_board() -> None:
    """The simulated board keeps the promises of the port by type, and names itself after its profile."""
    board: Board = SimBoard(profile_with(), VirtualClock())
    assert ("simulated board", 7, 7, False, (0, 0)) == board.capabilities
