"""Which way round the wiring lies under the cells: contacts and LEDs turn together."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from hal.wiring import Degrees, turned, wired_size
from tests.test_pins import loaded
from tests.test_profile import changed

DEGREES: tuple[Degrees, ...] = (0, 90, 180, 270)


@pytest.mark.parametrize(
    ("rotate_deg", "mirror", "expected"),
    [
        (0, False, (0, 1, 2, 3, 4, 5)),
        (0, True, (2, 1, 0, 5, 4, 3)),
        (180, False, (5, 4, 3, 2, 1, 0)),
        (180, True, (3, 4, 5, 0, 1, 2)),
        (90, False, (3, 0, 4, 1, 5, 2)),
        (270, False, (2, 5, 1, 4, 0, 3)),
        (90, True, (0, 3, 1, 4, 2, 5)),
        (270, True, (5, 2, 4, 1, 3, 0)),
    ],
)
def test_a_board_of_two_rows_and_three_columns_turns(rotate_deg: Degrees, mirror: bool, expected: tuple[int]) -> None:
    """The eight ways a 2 x 3 board can lie, worked out on paper: a1 b1 c1 below, a2 b2 c2 above."""
    assert expected == turned(2, 3, rotate_deg, mirror)


@pytest.mark.parametrize(("rotate_deg", "mirror"), list(product(DEGREES, (False, True))))
def test_turning_loses_no_cell(rotate_deg: Degrees, mirror: bool) -> None:
    """Whichever way a board lies, every cell has one place, and neighbours stay neighbours."""
    for rows, columns in ((7, 7), (3, 5), (16, 2)):
        cells = turned(rows, columns, rotate_deg, mirror)
        assert sorted(cells) == list(range(rows * columns))
        _, wide = wired_size(rows, columns, rotate_deg)
        for place in range(len(cells) - 1):
            if (place + 1) % wide:
                (y, x), (beside_y, beside_x) = divmod(cells[place], columns), divmod(cells[place + 1], columns)
                assert 1 == abs(x - beside_x) + abs(y - beside_y)


def test_a_quarter_turn_four_times_is_none() -> None:
    """Two half turns, and a quarter turn each way, bring every cell back."""
    quarter, back = turned(7, 7, 90, False), turned(7, 7, 270, False)
    assert list(range(49)) == [quarter[back[place]] for place in range(49)]
    half = turned(7, 7, 180, False)
    assert half == tuple(quarter[quarter[place]] for place in range(49))


def test_the_chain_turns_with_the_board(tmp_path: Path) -> None:
    """A row-major chain under a board turned half round starts at g7; a listed one turns as well."""
    assert tuple(range(48, -1, -1)) == loaded(tmp_path, changed("board", rotate_deg=180)).chain
    listed = changed("board", rotate_deg=180)
    listed["leds"] |= {"order": list(range(48, -1, -1))}
    assert tuple(range(49)) == loaded(tmp_path, listed).chain


def test_a_board_that_lies_on_its_side_has_its_wiring_the_other_way_round(tmp_path: Path) -> None:
    """Under 2 x 3 cells turned a quarter the matrix has 3 rows and 2 columns, and so does the chain's order."""
    tables = changed("board", rows=2, columns=3, rotate_deg=90)
    tables["matrix"] |= {"rows": [5, 6, 12], "columns": [17, 27]}
    tables["leds"] |= {"order": ["a1", "b1", "b2", "a2", "a3", "b3"]}
    profile = loaded(tmp_path, tables)
    assert (3, 2) == profile.board.wired
    assert (3, 0, 4, 1, 5, 2) == profile.turned
    assert (3, 0, 1, 4, 5, 2) == profile.chain
