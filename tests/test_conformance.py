"""The suite for drivers of a key matrix: ours pass it, and drivers that are wrong in one way each do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import pytest

from hal import conformance
from hal.conformance import Bench, Broken, conducting
from hal.drivers.gpiozero_lines import GpiozeroLines
from hal.errors import PartError
from hal.pins import Pin
from hal.ports import Lines
from hal.profile import Profile, load, shipped
from sim import pins
from sim.clock import VirtualClock
from sim.contacts import Contacts, SimLines, with_diodes, without_diodes
from sim.faults import Faults

ROWS = COLUMNS = 7
STILL = Faults(bounce_us=0)
REFERENCE = load(shipped("reference"))


class Fingers:
    """Moves exactly the contacts of a mask, on a clock that passes meanwhile."""

    def __init__(self, clock: VirtualClock, contacts: Contacts) -> None:
        self._clock, self._contacts, self._down = clock, contacts, 0

    def __call__(self, mask: int) -> None:
        self._clock.advance_to(self._clock.now_us() + 1)
        for cell in range(ROWS * COLUMNS):
            if (mask ^ self._down) >> cell & 1:
                (self._contacts.press if mask >> cell & 1 else self._contacts.release)(cell, self._clock.now_us())
        self._down = mask


def simulator(diodes: bool) -> Bench:
    """The simulated matrix."""
    clock, contacts = VirtualClock(), Contacts(ROWS * COLUMNS, STILL)

    def opened() -> Lines:
        return SimLines(contacts, clock, ROWS, COLUMNS, diodes=diodes, wait_us=5)

    return Bench(ROWS, COLUMNS, opened, Fingers(clock, contacts), diodes)


def pin_by_pin(diodes: bool, driver: Callable[..., Lines] = GpiozeroLines) -> Bench:
    """gpiozero on simulated pins."""
    clock, contacts = VirtualClock(), Contacts(ROWS * COLUMNS, STILL)
    factory = pins.SimFactory(REFERENCE, contacts, clock, diodes=diodes, watching=False)
    matrix = REFERENCE.matrix

    def opened() -> Lines:
        return driver(matrix.row_pins, matrix.column_pins, 0, factory)

    return Bench(ROWS, COLUMNS, opened, Fingers(clock, contacts), diodes, lambda: factory.wires.shorts)


BENCHES = {
    "simulator": lambda: simulator(True),
    "simulator without diodes": lambda: simulator(False),
    "gpiozero": lambda: pin_by_pin(True),
    "gpiozero without diodes": lambda: pin_by_pin(False),
}


@pytest.mark.parametrize("check", conformance.LINES, ids=conformance.name)
@pytest.mark.parametrize("bench", BENCHES)
def test_our_drivers_do_what_the_port_promises(bench: str, check: conformance.Check) -> None:
    """The simulated matrix and gpiozero's pins pass every check, with diodes and without."""
    check(BENCHES[bench]())


def test_the_suite_can_be_run_without_pytest() -> None:
    """Whoever has no pytest calls the checks one after the other; each has a name and a promise."""
    checks = list(conformance.lines(simulator(True)))
    for check in checks:
        check()
    assert [check.__name__ for check in conformance.LINES] == [conformance.name(check) for check in checks]
    assert all(check.func.__doc__ for check in checks)


def test_what_copper_shows_is_told_by_two_who_do_not_know_each_other() -> None:
    """What the suite expects of a matrix without diodes is what the simulator works out, for every 3 x 3 setting."""
    for closed in range(512):
        words = without_diodes(closed, 3, 3)
        assert sum(word << 3 * row for row, word in enumerate(words)) == conducting(closed, 3)


class Wrong:
    """A driver that passes everything on; those below do one thing wrong."""

    def __init__(self, lines: Lines) -> None:
        self.lines, self.row = lines, None

    def select(self, row: int | None) -> None:
        self.row = row
        self.lines.select(row)

    def read(self) -> int:
        return self.lines.read()

    def close(self) -> None:
        self.lines.close()


class SwappedAxes(Wrong):
    """Rows are taken for columns."""

    def read(self) -> int:
        if self.row is None:
            return 0
        word = 0
        for row in range(ROWS):
            self.lines.select(row)
            word |= (self.lines.read() >> self.row & 1) << row
        return word


class MirroredColumns(Wrong):
    """Columns are counted from the wrong end."""

    def read(self) -> int:
        return int(f"{self.lines.read():0{COLUMNS}b}"[::-1], 2)


class DroppedReleases(Wrong):
    """What was closed once stays closed."""

    def __init__(self, lines: Lines) -> None:
        super().__init__(lines)
        self.held: dict[int | None, int] = {}

    def read(self) -> int:
        self.held[self.row] = self.held.get(self.row, 0) | self.lines.read()
        return self.held[self.row]


class LostRow(Wrong):
    """Row 5 has come off."""

    def read(self) -> int:
        return 0 if self.row == 4 else self.lines.read()


class LostColumn(Wrong):
    """Column c has come off."""

    def read(self) -> int:
        return self.lines.read() & ~4


class OffByOneRow(Wrong):
    """The row before the one that is asked for is driven."""

    def select(self, row: int | None) -> None:
        super().select(row if row is None else (row - 1) % ROWS)


class Inverted(Wrong):
    """Closed reads open."""

    def read(self) -> int:
        return self.lines.read() ^ (1 << COLUMNS) - 1


class OneKeyOnly(Wrong):
    """Of several contacts of a row the first is reported."""

    def read(self) -> int:
        word = self.lines.read()
        return word & -word


class GhostGuessed(Wrong):
    """Leaves out the corner of a rectangle that was read last: a guess."""

    def __init__(self, lines: Lines) -> None:
        super().__init__(lines)
        self.words = [0] * ROWS

    def read(self) -> int:
        word = self.lines.read()
        if self.row is None:
            return word
        for other, before in enumerate(self.words[: self.row]):
            if other != self.row and (word & before).bit_count() > 1:
                word &= ~(1 << word.bit_length() - 1)
        self.words[self.row] = word
        return word


class StaleReads(Wrong):
    """Reads when the row is selected, and again never."""

    def __init__(self, lines: Lines) -> None:
        super().__init__(lines)
        self.word = 0

    def select(self, row: int | None) -> None:
        super().select(row)
        self.word = self.lines.read()

    def read(self) -> int:
        return self.word


class NeverRests(Wrong):
    """Leaves the last row driven."""

    def select(self, row: int | None) -> None:
        super().select(self.row if row is None else row)


class SmearedRows(Wrong):
    """Does not wait: a row shows what the one before it showed (case D18)."""

    def __init__(self, lines: Lines) -> None:
        super().__init__(lines)
        self.before = 0

    def select(self, row: int | None) -> None:
        self.before = self.lines.read() if row is not None and row != self.row else 0
        super().select(row)

    def read(self) -> int:
        return self.lines.read() | self.before


class HidesWhatWasClosed(Wrong):
    """Takes the contacts that are closed when it opens for the resting state (case D27)."""

    def __init__(self, lines: Lines) -> None:
        super().__init__(lines)
        self.rest: dict[int | None, int] = {}
        for row in range(ROWS):
            lines.select(row)
            self.rest[row] = lines.read()
        lines.select(None)

    def read(self) -> int:
        return self.lines.read() & ~self.rest.get(self.row, 0)


class KeepsItsLines(Wrong):
    """Closes without letting go."""

    taken = False

    def __init__(self, lines: Lines) -> None:
        super().__init__(lines)
        if KeepsItsLines.taken:
            raise PartError("GPIO5 (J8:29) is in use by 'morbak'")
        KeepsItsLines.taken = True

    def close(self) -> None:
        super().close()
        type(self).taken = self.row is not None  # of a driver that was closed in the middle of a scan


class PushPull(GpiozeroLines):
    """Drives the rows that are not selected high."""

    def select(self, row: int | None) -> None:
        for at, device in enumerate(self._rows):
            device.pin.output_with_state(at != row)


WRONG = {
    SwappedAxes: "each_contact_is_seen_at_its_place",
    MirroredColumns: "each_contact_is_seen_at_its_place",
    DroppedReleases: "each_release_is_seen",
    LostRow: "each_contact_is_seen_at_its_place",
    LostColumn: "each_contact_is_seen_at_its_place",
    OffByOneRow: "each_contact_is_seen_at_its_place",
    Inverted: "open_contacts_read_nothing",
    OneKeyOnly: "whole_rows_are_seen_at_once",
    GhostGuessed: "many_contacts_read_as_the_copper_has_them",
    StaleReads: "a_read_is_of_now",
    NeverRests: "no_row_selected_reads_nothing",
    SmearedRows: "each_contact_is_seen_at_its_place",
    HidesWhatWasClosed: "what_is_closed_at_opening_is_seen",
    KeepsItsLines: "closing_lets_go",
}


def faults(bench: Bench) -> Iterator[str]:
    """The checks that a driver fails."""
    for check in conformance.lines(bench):
        try:
            check()
        except (Broken, PartError):
            yield conformance.name(check)


@pytest.mark.parametrize(
    ("wrong", "diodes"),
    [(wrong, diodes) for wrong in WRONG for diodes in (False, True) if wrong is not GhostGuessed or not diodes],
    ids=lambda value: getattr(value, "__name__", "diodes" if value is True else "no diodes"),
)
def test_a_driver_that_is_wrong_is_rejected(wrong: type[Wrong], diodes: bool) -> None:
    """Each deliberately wrong driver fails the check that is meant for it."""
    KeepsItsLines.taken = False
    bench = simulator(diodes)
    sound = bench.open
    assert WRONG[wrong] in list(faults(bench._replace(open=lambda: wrong(sound()))))


def test_push_pull_rows_are_rejected() -> None:
    """A driver whose idle rows are high shorts pins when two contacts of a column close, and is told so."""
    bench = pin_by_pin(False, PushPull)
    with pytest.raises(Broken, match=r"met a low one \d+ times"):
        conformance.rows_do_not_fight(bench)


def test_a_failure_names_the_contacts() -> None:
    """What a check says names the contacts that were closed and what was read."""
    bench = simulator(True)
    sound = bench.open
    with pytest.raises(Broken) as caught:
        conformance.each_contact_is_seen_at_its_place(bench._replace(open=lambda: LostRow(sound())))
    assert "with row 5 column 1 closed, nothing is read where row 5 column 1 is right" == str(caught.value)


def test_a_matrix_that_is_not_square_is_held_to_the_same() -> None:
    """A driver for 3 x 5 contacts passes, and one that takes its rows for columns does not."""
    closed = 0

    def close(mask: int) -> None:
        nonlocal closed
        closed = mask

    class Small(Wrong):
        def __init__(self, wide: int) -> None:
            self.row, self.wide = None, wide

        def select(self, row: int | None) -> None:
            self.row = row

        def read(self) -> int:
            words = with_diodes(closed, 15 // self.wide, self.wide)
            return 0 if self.row is None or self.row >= len(words) else words[self.row]

        def close(self) -> None:
            pass

    assert [] == list(faults(Bench(3, 5, lambda: Small(5), close)))
    assert "each_contact_is_seen_at_its_place" in list(faults(Bench(3, 5, lambda: Small(3), close)))


# -- gpiozero's pins -----------------------------------------------------------------------------------------------


def test_a_line_that_is_no_pin_of_a_pi_is_refused_in_a_sentence() -> None:
    """gpiozero is not asked for lines that it cannot know, and what to use instead is said."""
    with pytest.raises(PartError, match=r"mcp23017:3 is no pin of a Pi's header.*matrix.driver = 'gpiod'"):
        GpiozeroLines([Pin("mcp23017", 3)], [], 0, pins.SimFactory(REFERENCE, watching=False))


def test_a_pin_that_another_device_has_is_named_with_it() -> None:
    """A pin that is taken in this process is named with who has it, and what was opened before is given back."""
    from gpiozero import LED

    factory = pins.SimFactory(REFERENCE, watching=False)
    matrix = REFERENCE.matrix
    taken = r"GPIO4 is already in use by <gpiozero.LED object on pin GPIO4"
    with LED("GPIO4", pin_factory=factory), pytest.raises(PartError, match=taken):  # the last column
        GpiozeroLines(matrix.row_pins, matrix.column_pins, 0, factory)
    GpiozeroLines(matrix.row_pins, matrix.column_pins, 0, factory).close()


def test_a_closed_matrix_says_so() -> None:
    """Whoever scans a matrix that was closed is told."""
    bench = pin_by_pin(True)
    driver = bench.open()
    driver.close()
    for call in (driver.read, lambda: driver.select(0)):
        with pytest.raises(PartError, match="the matrix is closed"):
            call()


def test_a_turned_board_has_turned_copper() -> None:
    """On a board that is turned the factory's contacts are those of the cells."""
    turned: Profile = REFERENCE._replace(board=msgspec.structs.replace(REFERENCE.board, rotate_deg=180))
    clock, contacts = VirtualClock(), Contacts(49, STILL)
    factory = pins.SimFactory(turned, contacts, clock, watching=False)
    driver = GpiozeroLines(turned.matrix.row_pins, turned.matrix.column_pins, 0, factory)
    contacts.press(0, 0)
    driver.select(6)
    assert 1 << 6 == driver.read()
