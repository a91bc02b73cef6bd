"""What a guided walk tells of a board's wiring: which line lies under which row, and how the LEDs run. Pure.

Places are counted as they are wired, cells as they lie: see `hal.wiring`. Nothing is guessed: what touches have not
told, and no elimination of all else tells, stays None.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import msgspec

from hal.guide import bits, name
from hal.profile import Profile
from hal.wiring import Degrees, turned, wired_size

# Of LEDs that run regularly but for so many, the others are named; of more it is no pattern.
FEW = 6
# So many cells are named one by one.
MANY = 8


class Sample(NamedTuple):
    """A cell that was touched by name, and the place that answered."""

    cell: int
    place: int


class Axes(NamedTuple):
    """The wired line under each row and each column of cells; `swapped`: columns of cells are rows of the wiring."""

    swapped: bool
    rows: tuple[int, ...]
    columns: tuple[int, ...]

    def place(self, cell: int, wired_columns: int) -> int:
        """The place under a cell."""
        row, column = divmod(cell, len(self.columns))
        up, right = self.rows[row], self.columns[column]
        return right * wired_columns + up if self.swapped else up * wired_columns + right


class Turn(NamedTuple):
    """How a profile says the same: orientation, then in what order the wiring's rows and columns are to be named."""

    rotate_deg: Degrees
    mirror: bool
    rows: tuple[int, ...]
    columns: tuple[int, ...]

    @property
    def displaced(self) -> tuple[list[int], list[int]]:
        """The rows, and the columns, that are not where the orientation alone would have them."""
        return tuple([at for at, line in enumerate(lines) if at != line] for lines in (self.rows, self.columns))  # type: ignore[return-value]


def axes(samples: Sequence[Sample], size: tuple[int, int], wired: tuple[int, int]) -> Axes | None:
    """What the samples tell, a line that alone is missing by elimination; None where they do not tell enough.

    `size`: rows and columns of cells; `wired`: of the wiring. None too where they contradict each other.
    """
    at = [(*divmod(sample.cell, size[1]), *divmod(sample.place, wired[1])) for sample in samples]
    votes = 0
    for first, second in combinations(at, 2):
        along = first[0] == second[0], first[1] == second[1]
        if along in ((True, False), (False, True)):
            votes += (first[2] == second[2]) - (first[3] == second[3]) if along[0] else 0
            votes += (first[3] == second[3]) - (first[2] == second[2]) if along[1] else 0
    swapped = votes < 0
    if not votes or size != (wired[::-1] if swapped else wired):
        return None
    rows = _lines({row: right if swapped else up for row, _, up, right in at}, size[0])
    columns = _lines({column: up if swapped else right for _, column, up, right in at}, size[1])
    if rows is None or columns is None:
        return None
    found = Axes(swapped, rows, columns)
    return found if all(found.place(sample.cell, wired[1]) == sample.place for sample in samples) else None


def _lines(told: dict[int, int], count: int) -> tuple[int, ...] | None:
    missing, free = set(range(count)) - set(told), set(range(count)) - set(told.values())
    if len(missing) > 1 or len(missing) != len(free):
        return None
    told |= dict(zip(missing, free, strict=True))
    return tuple(told[at] for at in range(count))


def turn(found: Axes, profile: Profile) -> Turn:
    """The orientation that displaces the fewest lines; of equal ones the profile's, then the plainest."""
    board = profile.board
    wired = board.wired
    place_of = [found.place(cell, wired[1]) for cell in range(profile.cells)]

    def candidates() -> Iterator[Turn]:
        degrees: tuple[Degrees, ...] = (0, 90, 180, 270)
        for rotate_deg, mirror in product(degrees, (False, True)):
            if wired_size(board.rows, board.columns, rotate_deg) != wired:
                continue
            cells = turned(board.rows, board.columns, rotate_deg, mirror)
            rows = [place_of[cells[row * wired[1]]] // wired[1] for row in range(wired[0])]
            columns = [place_of[cells[column]] % wired[1] for column in range(wired[1])]
            straight = all(
                place_of[cells[row * wired[1] + column]] == rows[row] * wired[1] + columns[column]
                for row, column in product(range(wired[0]), range(wired[1]))
            )
            if straight:
                yield Turn(rotate_deg, mirror, tuple(rows), tuple(columns))

    def cost(each: Turn) -> tuple[int, bool, bool, int]:
        same = (each.rotate_deg, each.mirror) == (board.rotate_deg, board.mirror)
        return sum(map(len, each.displaced)), not same, each.mirror, each.rotate_deg

    return min(candidates(), key=cost)


class Walk(NamedTuple):
    """A regular way over all cells: from a corner along rows or columns, there and back or always the same way."""

    text: str
    cells: tuple[int, ...]


def walks(rows: int, columns: int) -> Iterator[Walk]:
    """Every regular way that a chain of LEDs may run over rows x columns cells."""
    for up, right, along_rows, snake in product((True, False), (True, False), (True, False), (False, True)):
        ys = range(rows) if up else range(rows - 1, -1, -1)
        xs = range(columns) if right else range(columns - 1, -1, -1)
        lines = (
            [[y * columns + x for x in xs] for y in ys] if along_rows else [[y * columns + x for y in ys] for x in xs]
        )
        cells = [cell for at, line in enumerate(lines) for cell in (line[::-1] if snake and at % 2 else line)]
        way = "there and back" if snake else "always the same way"
        first, towards = name(cells[0], columns), name(lines[0][-1], columns)
        kind = "row by row" if along_rows else "column by column"
        yield Walk(f"{kind} from {first} towards {towards}, {way}", tuple(cells))


def told(cell_of: Sequence[int | None], rows: int, columns: int, per_cell: int = 1) -> str:
    """How the LEDs run, in words; LEDs are counted along the chain from 0, of several under a cell the first."""
    best = min(walks(rows, columns), key=lambda walk: sum(a != b for a, b in zip(walk.cells, cell_of, strict=True)))
    odd = [at for at, cell in enumerate(cell_of) if cell != best.cells[at]]
    if len(odd) > FEW:
        return "the LEDs run in no regular order"
    exceptions = ", ".join(
        f"LED {at * per_cell} ({'nowhere' if (c := cell_of[at]) is None else name(c, columns)})" for at in odd
    )
    return f"the LEDs run {best.text}" + (f", but for {exceptions}" if odd else "")


def order(cell_of: Sequence[int], profile: Profile, found: Turn) -> str | list[str]:
    """`leds.order` of a profile with this turn: the shortest way to say it."""
    board = profile.board
    cells = turned(board.rows, board.columns, found.rotate_deg, found.mirror)
    places = tuple(cells.index(cell) for cell in cell_of)
    wired = wired_size(board.rows, board.columns, found.rotate_deg)
    for known, walk in zip(("row-major", "serpentine"), walks(*wired), strict=False):  # the first two are these
        if places == walk.cells:
            return known
    return [name(place, wired[1]) for place in places]


def numbers(cell_of: Sequence[int | None], per_cell: int = 1) -> dict[int, str]:
    """The number of each cell's (first) LED along the chain, from 0."""
    return {cell: str(led * per_cell) for led, cell in enumerate(cell_of) if cell is not None}


def drawn(text_of: Mapping[int, str], dead: int, stuck: int, size: tuple[int, int]) -> list[str]:
    """The board seen from side a: a text at each cell (-- for none), x a dead contact, ! one that is stuck."""
    rows, columns = size
    wide = max([2, *map(len, text_of.values())]) + 1
    lines = []
    for row in range(rows - 1, -1, -1):
        cells = range(row * columns, (row + 1) * columns)
        marks = ["x" if dead >> cell & 1 else "!" if stuck >> cell & 1 else " " for cell in cells]
        shown = [f"{text_of.get(cell, '--'):>{wide}}{mark}" for cell, mark in zip(cells, marks, strict=True)]
        lines.append(f"{row + 1:>2} {''.join(shown)}".rstrip())
    return [*lines, "   " + " ".join(f"{chr(ord('a') + at):>{wide}}" for at in range(columns))]


def whole_lines(cells: int, rows: int, columns: int) -> tuple[list[int], list[int], int]:
    """Of a mask the rows that are all in it, the columns that are, and the rest."""
    full_rows = [row for row in range(rows) if _row(row, columns) & ~cells == 0]
    full_columns = [at for at in range(columns) if _column(at, rows, columns) & ~cells == 0]
    rest = cells
    for row in full_rows:
        rest &= ~_row(row, columns)
    for column in full_columns:
        rest &= ~_column(column, rows, columns)
    return full_rows, full_columns, rest


def _row(row: int, columns: int) -> int:
    return (1 << columns) - 1 << row * columns


def _column(column: int, rows: int, columns: int) -> int:
    return sum(1 << row * columns + column for row in range(rows))


def names(cells: int, columns: int) -> str:
    """The cells of a mask by name; of many the first, and how many more."""
    shown = [name(cell, columns) for cell in bits(cells)]
    more = f" and {len(shown) - MANY} more" if len(shown) > MANY + 1 else ""
    return ", ".join(shown[:MANY] if more else shown) + more


def exchanged(profile: Profile) -> Profile:
    """The profile of a board whose rows are driven as columns and read as rows: what turned diodes want."""
    board, matrix = profile.board, profile.matrix
    rotate_deg: Degrees = 90 if board.rotate_deg in (0, 180) else 0
    if board.rows == board.columns:
        rotate_deg = board.rotate_deg
    return profile._replace(
        board=msgspec.structs.replace(board, rotate_deg=rotate_deg),
        matrix=msgspec.structs.replace(matrix, rows=matrix.columns, columns=matrix.rows),
    )


def changes(original: Profile, base: Profile, wanted: dict[str, Any]) -> dict[str, Any]:
    """Of what a profile should say, as `section.key`, what the original says otherwise.

    `base`: the profile that was walked with. An order that is spelled otherwise and means the same is left alone.
    """
    sections = {"board": original.board, "matrix": original.matrix, "leds": original.leds}
    now = {key: getattr(sections[key.split(".")[0]], key.split(".")[1]) for key in wanted}
    found = {key: value for key, value in wanted.items() if value != _plain(now[key])}
    if "leds.order" in found and not {"board.rotate_deg", "board.mirror"} & set(found) and base is original:
        cells = turned(original.board.rows, original.board.columns, wanted["board.rotate_deg"], wanted["board.mirror"])
        now_places = [cells.index(cell) for cell in original.chain]
        if now_places == _places(found["leds.order"], *original.board.wired):
            del found["leds.order"]
    return found


def _places(order: str | list[str], rows: int, columns: int) -> list[int]:
    """The places that an order means."""
    if isinstance(order, str):
        return list(dict(zip(("row-major", "serpentine"), walks(rows, columns), strict=False))[order].cells)
    return [[name(place, columns) for place in range(rows * columns)].index(each) for each in order]


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
