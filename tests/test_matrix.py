"""The scan of a key matrix, with its ghosts: nothing is reported that is not pressed."""

from __future__ import annotations

import os
from itertools import combinations

import pytest

from hal.errors import PartError
from hal.matrix import Scanner, ghosts
from hal.wiring import turned

PROVE = os.environ.get("MORBAK_PROVE") == "1"


def cells_of(mask: int) -> list[int]:
    """The cells of a mask, ascending."""
    return [cell for cell in range(mask.bit_length()) if mask >> cell & 1]


def mask_of(*cells: int) -> int:
    """The mask of some cells."""
    return sum(1 << cell for cell in cells)


class Wires:
    """A matrix of switches by electricity: current finds every way through closed switches, or one way with diodes.

    `changes` closes or opens contacts just before a row is read: {row: mask from then on}.
    """

    def __init__(self, rows: int, columns: int, *, diodes: bool) -> None:
        self.rows, self.columns, self.diodes = rows, columns, diodes
        self.closed = 0
        self.changes: dict[int, int] = {}
        self.calls: list[str] = []
        self.row: int | None = None

    def select(self, row: int | None) -> None:
        self.calls.append(f"select {row}")
        self.row = row

    def read(self) -> int:
        self.calls.append("read")
        assert self.row is not None
        self.closed = self.changes.get(self.row, self.closed)
        return self._reach(self.row)

    def close(self) -> None:
        self.calls.append("close")

    def _row(self, row: int) -> int:
        return self.closed >> row * self.columns & (1 << self.columns) - 1

    def _reach(self, row: int) -> int:
        """The columns that the selected row pulls, found wave by wave."""
        reached = self._row(row)
        while not self.diodes:
            wider = reached
            for other in range(self.rows):
                if self._row(other) & reached:
                    wider |= self._row(other)
            if wider == reached:
                break
            reached = wider
        return reached


def scanned(wires: Wires, closed: int, accepted: int = 0) -> tuple[int, int]:
    """One scan of these closed contacts: what is reported closed, and what is ambiguous."""
    wires.closed, wires.changes = closed, {}
    return Scanner(wires, wires.rows, wires.columns, diodes=wires.diodes).step(accepted)


def test_a_scan_selects_and_reads_every_row_once() -> None:
    """A scan costs one selection and one read of all columns a row, in order, and leaves no row driven
    (cases C21, D12, D14)."""
    wires = Wires(7, 7, diodes=True)
    Scanner(wires, 7, 7, diodes=True).step(0)
    expected = [call for row in range(7) for call in (f"select {row}", "read")]
    assert [*expected, "select None"] == wires.calls


def test_every_cell_has_its_own_bit() -> None:
    """Cell `row x columns + column` is that bit of the mask, on boards that are not square too."""
    for rows, columns in ((7, 7), (3, 5), (5, 3)):
        wires = Wires(rows, columns, diodes=True)
        for cell in range(rows * columns):
            assert (1 << cell, 0) == scanned(wires, 1 << cell)


def test_with_diodes_every_reading_is_true() -> None:
    """With diodes all 512 settings of a 3 x 3 board read true and none is a ghost."""
    wires = Wires(3, 3, diodes=True)
    for closed in range(512):
        assert (closed, 0) == scanned(wires, closed)


def test_without_diodes_one_or_two_fingers_read_true() -> None:
    """Without diodes every cell and every pair of cells reads true and none is a ghost."""
    wires = Wires(7, 7, diodes=False)
    for one, other in combinations(range(49), 2):
        closed = mask_of(one, other)
        assert (closed, 0) == scanned(wires, closed)
        assert (1 << one, 0) == scanned(wires, 1 << one)


def corners(cells: tuple[int, ...], columns: int) -> bool:
    """Whether three of the cells are corners of a rectangle, by looking at every three."""
    for three in combinations(cells, 3):
        if len({cell // columns for cell in three}) == len({cell % columns for cell in three}) == 2:
            return True
    return False


@pytest.mark.parametrize(
    ("side", "fingers"), [(7, 3), (7 if PROVE else 5, 4)], ids=["every 3 of 7 x 7", "every 4 cells"]
)
@pytest.mark.long
def test_what_is_reported_is_pressed_and_only_rectangles_wait(side: int, fingers: int) -> None:
    """Without diodes, of every 3 and every 4 cells none is reported unpressed, and only corners wait (cases D1, D2)."""
    wires = Wires(side, side, diodes=False)
    for cells in combinations(range(side * side), fingers):
        closed = mask_of(*cells)
        reported, unsure = scanned(wires, closed)
        assert reported & ~closed == 0, cells
        assert reported & unsure == 0, cells
        assert (closed & ~unsure) == reported, cells
        assert corners(cells, side) == (unsure != 0), cells


def test_ghosts_are_exactly_the_cells_that_a_reading_cannot_tell() -> None:
    """Of every reading a 3 x 3 matrix can give, the ambiguous cells are those that differ among its causes."""
    wires = Wires(3, 3, diodes=False)
    causes: dict[int, list[int]] = {}
    for closed in range(512):
        wires.closed = closed
        reading = 0
        for row in range(3):
            wires.select(row)
            reading |= wires.read() << 3 * row
        causes.setdefault(reading, []).append(closed)
    assert len(causes) > 100
    for reading, settings in causes.items():
        certain = (1 << 9) - 1
        for closed in settings:
            certain &= closed
        assert (reading & ~certain) == ghosts(reading, 3), cells_of(reading)


def test_a_contact_that_moves_during_a_scan_makes_no_ghost() -> None:
    """A contact that opens or closes between two rows of a scan makes no cell appear that was never closed."""
    wires = Wires(3, 3, diodes=False)
    scanner = Scanner(wires, 3, 3, diodes=False)
    for before in range(512):
        for cell in range(9):
            after = before ^ 1 << cell
            for row in (1, 2):
                wires.closed, wires.changes = before, {row: after}
                reported, _ = scanner.step(0)
                assert reported & ~(before | after) == 0, (cells_of(before), cell, row)


def test_ambiguous_cells_keep_their_state_until_the_rectangle_is_gone() -> None:
    """Two accepted fingers stay while a third makes a rectangle, the fourth corner never appears, all ends true."""
    wires = Wires(7, 7, diodes=False)
    scanner = Scanner(wires, 7, 7, diodes=False)
    a1, c1, a3, c3, g7 = 0, 2, 14, 16, 48
    rectangle = mask_of(a1, c1, a3, c3)
    steps = [
        ((a1,), (a1,), 0),
        ((a1, c1), (a1, c1), 0),
        ((a1, c1, a3), (a1, c1), rectangle),
        ((a1, c1, a3, g7), (a1, c1, g7), rectangle),
        ((c1, a3, c3, g7), (a1, c1, g7), rectangle),
        ((c1, a3), (c1, a3), 0),
        ((), (), 0),
    ]
    accepted = 0
    for closed, expected, unsure in steps:
        wires.closed = mask_of(*closed)
        accepted, found = scanner.step(accepted)
        assert (list(expected), unsure) == (cells_of(accepted), found), closed


def test_a_rectangle_at_power_up_reports_nothing() -> None:
    """Hands that make a rectangle before the first scan press no cell."""
    wires = Wires(7, 7, diodes=False)
    assert (0, mask_of(0, 1, 7, 8)) == scanned(wires, mask_of(0, 1, 7))


def test_a_line_that_fails_is_passed_on() -> None:
    """A line that fails raises its PartError through the scan."""

    class Broken(Wires):
        def read(self) -> int:
            raise PartError("row 3 does not answer")

    with pytest.raises(PartError, match="row 3 does not answer"):
        scanned(Broken(7, 7, diodes=True), 0)


@pytest.mark.parametrize("diodes", [True, False])
def test_a_turned_board_reports_cells_and_not_places(diodes: bool) -> None:
    """Under 3 x 2 cells turned a quarter every setting of the wiring comes out turned, its ghosts too."""
    cell_at = turned(3, 2, 90, mirror=True)
    wires, straight = Wires(2, 3, diodes=diodes), Wires(2, 3, diodes=diodes)
    for closed in range(64):
        wires.closed = straight.closed = closed
        masks = Scanner(wires, 2, 3, diodes=diodes, turned=cell_at).step(0)
        expected = Scanner(straight, 2, 3, diodes=diodes).step(0)
        assert [mask_of(*(cell_at[place] for place in cells_of(mask))) for mask in expected] == list(masks)


def test_ambiguous_cells_of_a_turned_board_keep_their_state() -> None:
    """A finger on a turned board stays down while two more make a rectangle with it."""
    cell_at = turned(2, 2, 90, mirror=False)
    wires = Wires(2, 2, diodes=False)
    scanner = Scanner(wires, 2, 2, diodes=False, turned=cell_at)
    wires.closed = 1
    accepted, _ = scanner.step(0)
    wires.closed = 0b111
    assert (1 << cell_at[0], 0b1111) == (accepted, scanner.step(accepted)[1]) == scanner.step(accepted)
