"""Scan: rows selected one after the other, columns read back, into one mask; ambiguous cells are frozen, not guessed.

Without a diode at every switch current also flows backwards: rows that share a closed column read alike, so three
fingers on the corners of a rectangle look like four (cases D1, D2, D3). Pure but for the lines it is given. Runs
unchanged under MicroPython.
"""

from hal.ports import Lines


def ghosts(mask: int, columns: int) -> int:
    """The cells of a reading that may be closed or not, on a matrix without diodes; exact for any reading.

    Rows joined by a closed column read alike, so the cells of two rows that share a column and have more than one
    column between them are ambiguous: a rectangle, or part of one whose contacts moved during the scan.
    """
    if not _three(mask):
        return 0
    row_mask, rows, at = (1 << columns) - 1, [], 0
    while mask >> at:
        rows.append((at, mask >> at & row_mask))
        at += columns
    found = 0
    for first, (upper_at, upper) in enumerate(rows):
        for lower_at, lower in rows[first + 1 :]:
            both = upper | lower
            if upper & lower and both & both - 1:
                found |= upper << upper_at | lower << lower_at
    return found


def _three(mask: int) -> bool:
    """Whether at least three cells are in a mask."""
    rest = mask & mask - 1
    return bool(rest & rest - 1) if rest else False


def detour(closed: int, stuck: int, rows: int, columns: int) -> int | None:
    """Of a reading without diodes what is closed, where two edge cells are held for a known stuck cell; else None.

    With a finger on an edge cell of its row and one on an edge cell of its column a stuck cell makes a rectangle, whose
    fourth corner reads closed too. It is expected and left out. Fingers on that corner and one of the two read alike;
    nothing is meant by them, so they count as the pair that is.
    """
    fingers = closed & ~stuck
    if not _three(fingers) or _three(fingers & fingers - 1):
        return None
    for cell in (cell for cell in range(rows * columns) if stuck >> cell & 1):
        row, column = divmod(cell, columns)
        if row in (0, rows - 1) or column in (0, columns - 1):
            continue
        for end, side in ((0, 0), (0, columns - 1), (rows - 1, 0), (rows - 1, columns - 1)):
            pair = 1 << row * columns + side | 1 << end * columns + column
            if fingers == pair | 1 << end * columns + side:
                return closed & stuck | pair
    return None


class Scanner:
    """Reads a matrix of rows x columns through its lines.

    With `diodes` every reading is true; without, each is checked for ghosts. `turned`: the cell at each place of the
    wiring, where that is not the same; all masks handed in and out are of cells.
    """

    def __init__(
        self, lines: Lines, rows: int, columns: int, *, diodes: bool, turned: tuple[int, ...] | None = None
    ) -> None:
        self._lines, self._columns, self._diodes = lines, columns, diodes
        self._size = rows, columns
        self._rows = tuple((row, row * columns) for row in range(rows))
        self._turned = None if turned == tuple(range(rows * columns)) else turned
        self._checked = self._closed = self._ghosts = self._stuck = 0

    def expect(self, stuck: int) -> None:
        """These cells are known to be stuck: the ghost that one makes with two edge cells held for it is none."""
        self._stuck, self._checked = stuck, -1

    def step(self, accepted: int) -> tuple[int, int]:
        """Scan once: the mask of closed cells, and that of the ambiguous ones. Raises PartError when a line fails.

        Ambiguous cells keep their state in `accepted`, the mask they were last accepted in.
        """
        select, read = self._lines.select, self._lines.read
        mask = 0
        for row, at in self._rows:
            select(row)
            mask |= read() << at
        select(None)  # between scans nothing is driven
        if mask != self._checked:
            self._checked, self._closed = mask, self._cells(mask)
            self._ghosts = 0 if self._diodes else self._cells(ghosts(mask, self._columns))
            meant = detour(self._closed, self._stuck, *self._size) if self._ghosts and self._stuck else None
            if meant is not None:
                self._closed, self._ghosts = meant, 0
        unsure = self._ghosts
        return self._closed & ~unsure | accepted & unsure, unsure

    def _cells(self, places: int) -> int:
        """The mask of cells for one of places."""
        if self._turned is None:
            return places
        cells = 0
        while places:
            lowest = places & -places
            cells |= 1 << self._turned[lowest.bit_length() - 1]
            places ^= lowest
        return cells
