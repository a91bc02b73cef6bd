"""What every driver of a key matrix must do: the suite that ours pass, and that anyone's driver can be held to.

A `Bench` is a driver with contacts that can be moved by hand. `lines(bench)` gives the checks one after the other:

    for check in conformance.lines(bench):
        check()  # raises Broken, one sentence that says what the driver did wrong

In pytest: `@pytest.mark.parametrize("check", conformance.LINES, ids=conformance.name)`, then `check(bench)`.
The suite for LEDs is in `hal.conformance_leds`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import pairwise
from random import Random
from typing import NamedTuple

from hal.matrix import Scanner
from hal.ports import Lines

# Random settings of the contacts that a check tries; they are the same every time.
_SETTINGS = 60


class Broken(AssertionError):
    """A driver does not do what its port promises."""


class Bench(NamedTuple):
    """A driver on a matrix whose contacts can be moved.

    `open`: opens the driver anew. `close`: makes exactly the contacts of a mask conduct, bit `row * columns + column`
    as they are wired, before it returns. `diodes`: whether every contact has one. `shorts`: how often a driven-high
    line has met a driven-low one so far, where the copper can tell.
    """

    rows: int
    columns: int
    open: Callable[[], Lines]
    close: Callable[[int], None]
    diodes: bool = True
    shorts: Callable[[], int] | None = None


Check = Callable[[Bench], None]


def name(check: object) -> str:
    """The name of a check, for reports."""
    return check.func.__name__ if isinstance(check, partial) else getattr(check, "__name__", str(check))


def lines(bench: Bench) -> Iterator[partial[None]]:
    """Every check of a driver of `Lines`, ready to be called; its promise is the `__doc__` of its `func`."""
    return (partial(check, bench) for check in LINES)


def open_contacts_read_nothing(bench: Bench) -> None:
    """With every contact open, every row reads nothing."""
    with _opened(bench) as driver:
        _expect(bench, driver, 0)


def each_contact_is_seen_at_its_place(bench: Bench) -> None:
    """Each contact alone is read in its row, at its column's bit, and nowhere else."""
    with _opened(bench) as driver:
        for place in range(bench.rows * bench.columns):
            _expect(bench, driver, 1 << place)


def each_release_is_seen(bench: Bench) -> None:
    """After each contact opens again, nothing is read."""
    with _opened(bench) as driver:
        for place in range(bench.rows * bench.columns):
            _expect(bench, driver, 1 << place)
            _expect(bench, driver, 0)


def contacts_move_one_to_the_next(bench: Bench) -> None:
    """A finger that slides from contact to contact leaves none behind."""
    with _opened(bench) as driver:
        for before, after in pairwise([1 << place for place in range(bench.rows * bench.columns)]):
            _expect(bench, driver, before | after)
            _expect(bench, driver, after)


def whole_rows_are_seen_at_once(bench: Bench) -> None:
    """A whole row closed reads as all its columns, and its neighbours read nothing of it (case D18)."""
    with _opened(bench) as driver:
        for row in range(bench.rows):
            _expect(bench, driver, ((1 << bench.columns) - 1) << row * bench.columns)


def many_contacts_read_as_the_copper_has_them(bench: Bench) -> None:
    """Any contacts together read as current finds them: themselves with diodes, whole rectangles without.

    A driver that leaves a ghost out has guessed; whoever reads it could not tell that it was unsure (cases D1, D3).
    """
    random = Random(7)  # always the same settings
    with _opened(bench) as driver:
        for setting in range(_SETTINGS):
            count = random.randint(2, 3 + setting % bench.rows)
            places = random.sample(range(bench.rows * bench.columns), min(count, bench.rows * bench.columns))
            _expect(bench, driver, sum(1 << place for place in places))


def a_rectangle_is_shown_and_not_guessed(bench: Bench) -> None:
    """Three corners of a rectangle: with diodes those three are read; without, a scan calls all four unsure."""
    columns = bench.columns
    corners = 1 | 1 << columns - 1 | 1 << columns * (bench.rows - 1)
    fourth = 1 << columns * bench.rows - 1
    with _opened(bench) as driver:
        scanner = Scanner(driver, bench.rows, columns, diodes=bench.diodes)
        bench.close(corners)
        found = scanner.step(0)
        wanted = (corners, 0) if bench.diodes else (0, corners | fourth)
        bench.close(0)
    if found != wanted:
        raise Broken(
            f"with {_cells(bench, corners)} closed a scan reports {_cells(bench, found[0])} and is unsure of "
            f"{_cells(bench, found[1])}; {_cells(bench, wanted[0])} and {_cells(bench, wanted[1])} are right"
        )


def rows_do_not_fight(bench: Bench) -> None:
    """With two contacts of a column closed no row drives another: a row that is not selected floats.

    Checked where the copper counts shorts; a push-pull driver burns its pins out on a board without diodes.
    """
    if bench.shorts is None:
        return
    before = bench.shorts()
    with _opened(bench) as driver:
        for upper, lower in pairwise(range(bench.rows)):
            bench.close(1 << upper * bench.columns | 1 << lower * bench.columns)
            _read(bench, driver)
        bench.close((1 << bench.rows * bench.columns) - 1)
        _read(bench, driver)
        driver.select(None)
    bench.close(0)
    if fought := bench.shorts() - before:
        raise Broken(f"a high row met a low one {fought} times: rows that are not selected must float (open drain)")


def no_row_selected_reads_nothing(bench: Bench) -> None:
    """Before the first selection, and after `select(None)`, nothing is read even if every contact is closed."""
    with _opened(bench) as driver:
        bench.close((1 << bench.rows * bench.columns) - 1)
        readings = [driver.read()]
        driver.select(bench.rows - 1)
        driver.select(None)
        readings.append(driver.read())
        bench.close(0)
    if readings != [0, 0]:
        raise Broken(f"with no row selected the columns read {readings[0]:#x} and {readings[1]:#x}; a row is driven")


def a_read_is_of_now(bench: Bench) -> None:
    """A contact that moves while its row is selected is read as it is now, without selecting again."""
    with _opened(bench) as driver:
        driver.select(bench.rows - 1)
        for column in (0, bench.columns - 1):
            for word in (1 << column, 0):
                bench.close(word << (bench.rows - 1) * bench.columns)
                if (found := driver.read()) != word:
                    raise Broken(f"a contact moved after its row was selected: {found:#x} is read, {word:#x} is true")


def rows_can_be_selected_in_any_order(bench: Bench) -> None:
    """Rows read true in any order, the same one twice too, and reading twice changes nothing."""
    random = Random(11)  # always the same order
    pattern = [1 << row % bench.columns for row in range(bench.rows)]
    if not bench.diodes:  # a diagonal only: no column has two contacts closed
        pattern = [word if row < bench.columns else 0 for row, word in enumerate(pattern)]
    with _opened(bench) as driver:
        bench.close(sum(word << row * bench.columns for row, word in enumerate(pattern)))
        last = 0
        for _ in range(_SETTINGS):
            row = random.choice([last, random.randrange(bench.rows)])
            driver.select(row)
            found = [driver.read(), driver.read()]
            if found != [pattern[row]] * 2:
                raise Broken(f"row {row + 1} after row {last + 1} reads {found}; {pattern[row]:#x} twice is true")
            last = row
        bench.close(0)


def what_is_closed_at_opening_is_seen(bench: Bench) -> None:
    """Contacts that are closed while the driver opens are read like any other, and read open once they have opened.

    A driver that takes what it finds for the resting state hides stuck cells, and hands at power-up (case D27).
    """
    last = 1 << bench.rows * bench.columns - 1
    for closed in (1, last, 1 | last):
        bench.close(closed)
        driver = bench.open()
        try:
            found = [_read(bench, driver), _read(bench, driver)]
            bench.close(0)
            found.append(_read(bench, driver))
            bench.close(closed)
            found.append(_read(bench, driver))
        finally:
            with suppress(Exception):  # what a check has found is told, not what follows from it
                driver.close()
            bench.close(0)
        if found != [closed, closed, 0, closed]:
            shown = ", ".join(_cells(bench, mask) for mask in found)
            raise Broken(
                f"with {_cells(bench, closed)} closed at opening, then opened, then closed again, scans read {shown}"
            )


def closing_lets_go(bench: Bench) -> None:
    """Close may be called twice and in the middle of a scan; the same lines can then be opened again."""
    driver = bench.open()
    driver.select(0)
    driver.close()
    driver.close()
    with _opened(bench) as again:
        _expect(bench, again, 1)


LINES: tuple[Check, ...] = (
    open_contacts_read_nothing,
    each_contact_is_seen_at_its_place,
    each_release_is_seen,
    contacts_move_one_to_the_next,
    whole_rows_are_seen_at_once,
    many_contacts_read_as_the_copper_has_them,
    a_rectangle_is_shown_and_not_guessed,
    rows_do_not_fight,
    no_row_selected_reads_nothing,
    a_read_is_of_now,
    rows_can_be_selected_in_any_order,
    what_is_closed_at_opening_is_seen,
    closing_lets_go,
)


@contextmanager
def _opened(bench: Bench) -> Iterator[Lines]:
    """The driver, open over open contacts, and closed whatever happens."""
    bench.close(0)
    driver = bench.open()
    try:
        yield driver
    finally:
        with suppress(Exception):  # what a check has found is told, not what follows from it
            driver.close()
        bench.close(0)


def _read(bench: Bench, driver: Lines) -> int:
    """One pass over all rows."""
    mask = 0
    for row in range(bench.rows):
        driver.select(row)
        mask |= driver.read() << row * bench.columns
    return mask


def _expect(bench: Bench, driver: Lines, closed: int) -> None:
    """Close these contacts and read them back, as the copper joins them."""
    bench.close(closed)
    wanted, found = closed if bench.diodes else conducting(closed, bench.columns), _read(bench, driver)
    if found != wanted:
        right = _cells(bench, wanted)
        raise Broken(f"with {_cells(bench, closed)} closed, {_cells(bench, found)} is read where {right} is right")


def conducting(closed: int, columns: int) -> int:
    """What a matrix without diodes shows of these contacts: rows that share a closed column read alike."""
    row_mask = (1 << columns) - 1
    while True:
        words = [closed >> at & row_mask for at in range(0, max(closed.bit_length(), 1), columns)]
        wider = sum(_reach(word, words) << at * columns for at, word in enumerate(words))
        if wider == closed:
            return closed
        closed = wider


def _reach(word: int, words: list[int]) -> int:
    for other in words:
        if word & other:
            word |= other
    return word


def _cells(bench: Bench, mask: int) -> str:
    """A mask for people: rows and columns from 1."""
    places = [divmod(at, bench.columns) for at in range(mask.bit_length()) if mask >> at & 1]
    shown = [f"row {row + 1} column {column + 1}" for row, column in places[:4]]
    return (", ".join(shown) or "nothing") + (f" and {len(places) - 4} more" if len(places) > 4 else "")
