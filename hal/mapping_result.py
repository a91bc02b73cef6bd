"""What the walk of `morbak map` comes to: sentences, and what the profile should say. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from hal import mapped
from hal.guide import bits, mask, name
from hal.mapped import Turn, names
from hal.mapping import TRIES, Told
from hal.profile import Profile


class Finding(NamedTuple):
    """One sentence: a `note` needs no mending but the profile's, a `fault` needs hands."""

    level: Literal["note", "fault"]
    text: str


class Mapped(NamedTuple):
    """What was found. `wanted`: what the profile should say, by `section.key`; empty where too little is known.

    `cell_of`: the cell that each LED lights, None for one that was not seen; `dead`, `stuck`: masks of cells.
    `silent`: no contact has answered at all.
    """

    findings: tuple[Finding, ...]
    cell_of: tuple[int | None, ...]
    wanted: dict[str, Any]
    dead: int = 0
    stuck: int = 0
    silent: bool = False

    @property
    def faults(self) -> list[str]:
        """What no profile mends."""
        return [finding.text for finding in self.findings if finding.level == "fault"]


def result(profile: Profile, told: Told) -> Mapped:
    """What a walk over the board of a profile comes to."""
    return _Result(profile, told).result()


class _Result:
    def __init__(self, profile: Profile, told: Told) -> None:
        board = profile.board
        self.profile, self.told, self.count = profile, told, profile.cells
        self.size, self.wired = (board.rows, board.columns), board.wired
        self.findings: list[Finding] = []

    def result(self) -> Mapped:
        told = self.told
        self._rest()
        self._joints()
        if told.unlifted:
            self._fault(f"{self._places(told.unlifted)}: does not open again after a touch")
        unanswered = mask(told.unanswered - told.answered)
        if told.axes is None:
            self._lost(unanswered)
            return Mapped(tuple(self.findings), tuple(told.cell_of), {}, unanswered, silent=not told.samples)
        cell_at = [told.axes.place(cell, self.wired[1]) for cell in range(self.count)]
        stuck = mask(cell for cell in range(self.count) if told.stuck >> cell_at[cell] & 1)
        joined = mask(place for places in told.joined for place in bits(places))
        dead = unanswered & ~stuck & ~mask(cell for cell in range(self.count) if joined >> cell_at[cell] & 1)
        cell_of = told.cell_of
        self._dead(dead)
        self._diodes()
        turn = mapped.turn(told.axes, self.profile)
        self._lie(turn)
        if told.colours:
            self._chain(cell_of)
        else:
            self._fault("no LED lights, or no colour was told")
        return Mapped(tuple(self.findings), tuple(cell_of), self._wanted(turn, cell_of), dead, stuck)

    def _note(self, text: str) -> None:
        self.findings.append(Finding("note", text))

    def _fault(self, text: str) -> None:
        self.findings.append(Finding("fault", text))

    # -- contacts ---------------------------------------------------------------------------------------------------

    def _rest(self) -> None:
        """What contacts did with nobody touching."""
        rows, columns, cells = mapped.whole_lines(self.told.stuck, *self.wired)
        for column in columns:
            self._fault(
                f"{self._wire('column', column)} reads closed in every row with nobody touching: its pull-up is "
                "missing, or its wire touches ground"
            )
        for row in rows if len(columns) < self.wired[1] else ():
            self._fault(f"{self._wire('row', row)} reads closed in every column with nobody touching: it is bridged")
        if cells:
            self._fault(f"{self._places(cells)}: closed with nobody touching; the contact sticks or is bridged")
        if self.told.noisy:
            self._fault(f"{self._places(self.told.noisy)}: moves with nobody touching; look for a missing pull-up")

    def _wire(self, what: Literal["row", "column"], at: int) -> str:
        pins = self.profile.matrix.rows if what == "row" else self.profile.matrix.columns
        return f"{what} {at + 1} of the wiring" + (f" ({pins[at]})" if pins else "")

    def _places(self, places: int) -> str:
        """Places by name of the cells over them, where that is known, else as they are wired."""
        if self.told.axes is not None:
            at = [self.told.axes.place(cell, self.wired[1]) for cell in range(self.count)]
            return names(mask(at.index(place) for place in bits(places)), self.size[1])
        wired = [divmod(place, self.wired[1]) for place in bits(places)]
        return ", ".join(f"row {row + 1} column {column + 1} of the wiring" for row, column in wired)

    def _joints(self) -> None:
        """Contacts that answered together: two lines that are one, or single ones."""
        lines: Counter[tuple[str, int, int]] = Counter()
        for places in self.told.joined:
            joint = self._lines_of(places)
            if joint is not None:
                lines[joint] += 1
        bridged = {joint for joint, times in lines.items() if times > 1}
        for what, first, second in sorted(bridged):
            self._fault(f"{what}s {first + 1} and {second + 1} of the wiring answer together: a bridge joins them")
        for places in sorted(self.told.joined):
            if self._lines_of(places) not in bridged:
                self._fault(f"one touch closes {self._places(places)}: their contacts are bridged")

    def _lines_of(self, places: int) -> tuple[str, int, int] | None:
        """The two rows, or the two columns, that two places of one line have apart."""
        ends = [divmod(place, self.wired[1]) for place in bits(places)]
        if len(ends) != 2:
            return None
        (upper, left), (lower, right) = ends
        if left == right:
            return "row", upper, lower
        return ("column", left, right) if upper == lower else None

    def _lost(self, unanswered: int) -> None:
        """Too little has answered."""
        if not self.told.samples:
            self._fault(
                f"no contact answers ({names(unanswered, self.size[1])} were tried): the diodes are the other way "
                "round, rows and columns have changed places, or the matrix is not connected"
            )
            return
        for column in range(self.size[1]):
            if all(row * self.size[1] + column in self.told.unanswered for row in range(TRIES)):
                self._fault(
                    f"column {chr(ord('a') + column)} does not answer: its wire is off, or its diodes are turned"
                )
        for row in range(self.size[0]):
            if all(row * self.size[1] + column in self.told.unanswered for column in range(TRIES)):
                self._fault(f"row {row + 1} does not answer: its wire is off, or its diodes are turned")
        self._fault("how rows and columns lie cannot be told from what answered: mend what is named, and walk again")

    def _dead(self, dead: int) -> None:
        if both := mask(self.told.unanswered & self.told.answered):
            self._note(f"{names(both, self.size[1])}: no answer at first, and then there was one; look at it again")
        rows, columns, cells = mapped.whole_lines(dead, *self.size)
        for row in rows:
            self._fault(f"no cell of row {row + 1} answers: its wire is off, or its diodes are turned")
        for column in columns:
            self._fault(
                f"no cell of column {chr(ord('a') + column)} answers: its wire is off, or its diodes are turned"
            )
        if cells:
            self._fault(f"no answer from {names(cells, self.size[1])}: a contact, a diode or a joint is bad")

    def _diodes(self) -> None:
        if self.told.diodes == "missing":
            self._note("three corners read as four: not every cell has a diode, so readings must be checked for ghosts")
        elif self.told.diodes == "guessed":
            self._fault("a corner that was held was not read, and one that nobody touched was: the driver hides ghosts")

    # -- LEDs -------------------------------------------------------------------------------------------------------

    def _chain(self, cell_of: Sequence[int | None]) -> None:
        """How the LEDs run, and which of them do not (case A19)."""
        lost = [led for led, cell in enumerate(cell_of) if cell is None]
        free = sorted(set(range(self.count)) - {cell for cell in cell_of if cell is not None})
        for led, cell in enumerate(cell_of):
            if cell is not None and (first := cell_of.index(cell)) != led:
                self._fault(
                    f"LED {self._number(led)} lights {name(cell, self.size[1])}, as LED {self._number(first)} does"
                )
        if lost == [self.count - 1] and len(free) == 1 and self._regular((free[0], *cell_of[:-1])):
            self._fault(
                f"each LED lights the cell after its own, the last none, and {name(free[0], self.size[1])} stays dark: "
                "the first LED swallows bits; set leds.line_idles = 'high', or look at its solder joints"
            )
            return
        if lost:
            dark = f", and {names(mask(free), self.size[1])} was not lit" if free else ""
            self._fault(f"LED {', '.join(str(self._number(led)) for led in lost)} was not seen{dark}")
        if len(lost) < self.count:
            self._note(mapped.told(cell_of, *self.size, self.profile.leds.per_cell))

    def _number(self, led: int) -> int:
        """What an LED is called: its place on the chain from 0, of several under a cell the first one's."""
        return led * self.profile.leds.per_cell

    def _regular(self, cells: tuple[int | None, ...]) -> bool:
        return any(walk.cells == cells for walk in mapped.walks(*self.size))

    # -- the profile ------------------------------------------------------------------------------------------------

    def _lie(self, turn: Turn) -> None:
        """How the wiring lies, and lines of it that have changed places."""
        if turn.rotate_deg or turn.mirror:
            lies = ["mirrored, as one that is wired from beneath"] if turn.mirror else []
            lies += [f"turned by {turn.rotate_deg} degrees"] if turn.rotate_deg else []
            self._note(f"the wiring lies {', and '.join(lies)}")
        matrix = self.profile.matrix
        for what, lines, pins in (("row", turn.rows, matrix.rows), ("column", turn.columns, matrix.columns)):
            odd = [at for at, line in enumerate(lines) if at != line]
            text = f"{what}s {', '.join(str(at + 1) for at in odd)} of the wiring have changed places"
            if odd and pins:
                self._note(f"{text}: {', '.join(str(pins[at]) for at in odd)}")
            elif odd:
                self._fault(f"{text}: change their wires, for this profile names no pins that could change instead")

    def _wanted(self, turn: Turn, cell_of: Sequence[int | None]) -> dict[str, Any]:
        """What the profile should say."""
        cells = [cell for cell in cell_of if cell is not None]
        matrix, colours, diodes = self.profile.matrix, self.told.colours, self.told.diodes
        if not colours or len(set(cells)) != self.count or (any(turn.displaced) and not matrix.rows):
            return {}
        wanted: dict[str, Any] = {
            "board.rotate_deg": turn.rotate_deg,
            "board.mirror": turn.mirror,
            "leds.order": mapped.order(cells, self.profile, turn),
            "leds.colour_order": colours,
        }
        if matrix.rows:
            wanted["matrix.rows"] = [matrix.rows[line] for line in turn.rows]
            wanted["matrix.columns"] = [matrix.columns[line] for line in turn.columns]
        if diodes != "not tried":
            wanted["matrix.diodes"] = diodes == "there"
        return wanted
