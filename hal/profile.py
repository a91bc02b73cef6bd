"""Boards as data: what a board is made of is read from one TOML file, checked as a whole, and never changes.

A profile that loads can be driven: every key is known, every value is in range and the values agree with each
other. Anything else is a `ProfileError` with file, line, key, value and reason.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from hal import tables, ws2812
from hal.errors import ProfileError

# Wire level that every lit cell keeps, and that every supply must therefore carry on all cells (design: light).
VISIBLE = 3
# A press this long is never missed, whatever the profile.
SEEN_PRESS_US = 15_000

# Sixteen columns are named a to p; 256 LEDs keep the wire 8 ms and fit the 4096 bytes of a default SPI buffer.
Length = Annotated[int, Meta(ge=2, le=16)]
Share = Annotated[int, Meta(ge=1, le=100)]
# A channel that is dimmed further has no colour left at the lowest levels.
Fraction = Annotated[float, Meta(ge=0.2, le=1)]
# Below it a lit cell and an empty one would be the same light.
Brightness = Annotated[int, Meta(ge=5, le=100)]
Milliamps = Annotated[float, Meta(ge=0, le=100)]


class BoardSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[board]`: its name and how many rows and columns of cells it has."""

    name: Annotated[str, Meta(min_length=1, max_length=80)]
    rows: Length
    columns: Length


class MatrixSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[matrix]`: the contacts under the cells and how they are read.

    Without diodes readings are checked for ghosts, which is the default (case D3). Worst bounce reported: 47 ms.
    `press_us` 0 takes a press at its first contact; more is for touch sensors, which need it (case D7).
    """

    driver: Literal["sim"]
    diodes: bool = False
    bounce_us: Annotated[int, Meta(ge=0, le=100_000)] = 5_000
    settle_us: Annotated[int, Meta(ge=0, le=1_000)] = 5
    press_us: Annotated[int, Meta(ge=0, le=SEEN_PRESS_US)] = 0
    release_us: Annotated[int, Meta(ge=1, le=200_000)] = 10_000
    scan_hz: Annotated[int, Meta(ge=200, le=4_000)] = 1_000
    idle_hz: Annotated[int, Meta(ge=200, le=4_000)] = 200

    @property
    def scan_period_us(self) -> int:
        """Between scans while a cell is touched."""
        return 1_000_000 // self.scan_hz

    @property
    def idle_period_us(self) -> int:
        """Between scans while none is."""
        return 1_000_000 // self.idle_hz


class LedsSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[leds]`: the chain, its colours and its wire.

    `order`: "row-major"; "serpentine" (every other row runs back); a list of cells, by name or number, in the order
    of the chain; or a table `[leds.order]` with the LED of each cell. `balance`: share of red, green and blue that
    looks white. `line_idles`: how the data line rests; "high" is safe for both (case A19), "low" shows a touch 0.3 ms
    sooner. Chain order as cells is `Profile.chain`.
    """

    driver: Literal["sim"]
    order: str | tuple[int | str, ...] | dict[str, int] = "row-major"
    colour_order: Literal["RGB", "RBG", "GRB", "GBR", "BRG", "BGR"] = "GRB"
    gamma: Annotated[float, Meta(ge=1, le=3)] = 2.2
    balance: tuple[Fraction, Fraction, Fraction] = (1.0, 1.0, 1.0)
    brightness_pct: Brightness = 100
    spi_hz: Annotated[int, Meta(ge=1_000_000, le=10_000_000)] = ws2812.SPI_HZ
    line_idles: Literal["low", "high"] = "high"


class PowerSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[power]`: what the supply gives and what the LEDs are taken to draw.

    `channel_ma`: one LED's red, green and blue at full; `idle_ma`: one LED that is dark; both measured (case H6),
    then raised to `model_scale_pct` for safety. `slew_ma_per_ms`: the steepest rise asked of the supply (case H1).
    """

    supply_ma: Annotated[int, Meta(ge=1, le=100_000)]
    budget_pct: Share = 70
    channel_ma: tuple[Milliamps, Milliamps, Milliamps] = (16.0, 11.0, 15.0)
    idle_ma: Milliamps = 1.0
    model_scale_pct: Annotated[int, Meta(ge=100, le=400)] = 125
    slew_ma_per_ms: Annotated[int, Meta(ge=1, le=1_000)] = 20

    @property
    def budget_ua(self) -> int:
        """What the LEDs may ask for."""
        return self.supply_ma * self.budget_pct * 10

    @property
    def channel_ua(self) -> tuple[int, ...]:
        """One LED's red, green and blue at full, before scaling."""
        return tuple(round(ma * 1000) for ma in self.channel_ma)

    @property
    def idle_ua(self) -> int:
        """One LED that is dark, before scaling."""
        return round(self.idle_ma * 1000)


class Profile(NamedTuple):
    """A whole board. `chain`: the cell at each position of the LED chain."""

    file: str
    board: BoardSection
    matrix: MatrixSection
    leds: LedsSection
    power: PowerSection
    chain: tuple[int, ...]

    @property
    def cells(self) -> int:
        """How many cells, and LEDs, the board has."""
        return self.board.rows * self.board.columns

    @property
    def visible_ua(self) -> int:
        """What the LEDs draw, in the scaled model, with every cell at the lowest visible white; rounded up."""
        a_cell = 255 * self.power.idle_ua + VISIBLE * sum(self.power.channel_ua)
        return -(-self.cells * a_cell * self.power.model_scale_pct // 25_500)


class _Relation(NamedTuple):
    """Two or more values that must agree; `reason` is filled in with the profile."""

    key: str
    holds: Callable[[Profile], bool]
    reason: str


_RELATIONS = (
    _Relation(
        "matrix.release_us",
        lambda p: p.matrix.release_us >= p.matrix.bounce_us,
        "at least bounce_us ({p.matrix.bounce_us}) is wanted, or a bounce is taken for a release",
    ),
    _Relation(
        "matrix.idle_hz",
        lambda p: p.matrix.idle_hz <= p.matrix.scan_hz,
        "at most scan_hz ({p.matrix.scan_hz}) is wanted, since a board at rest is not scanned faster than in use",
    ),
    _Relation(
        "matrix.press_us",
        lambda p: p.matrix.idle_period_us + p.matrix.press_us + p.matrix.scan_period_us <= SEEN_PRESS_US,
        "with an idle and a scan period ({p.matrix.idle_period_us} + {p.matrix.scan_period_us} us) it passes "
        f"{SEEN_PRESS_US} us, so presses as long as that would be missed",
    ),
    _Relation(
        "matrix.settle_us",
        lambda p: 2 * p.board.rows * p.matrix.settle_us <= p.matrix.scan_period_us,
        "{p.board.rows} rows would spend more than half a scan period ({p.matrix.scan_period_us} us) settling",
    ),
    _Relation(
        "leds.spi_hz",
        lambda p: ws2812.problem(p.leds.spi_hz) is None,
        "the clock of the LED chain does not fit it: {spi_problem}",
    ),
    _Relation(
        "power.supply_ma",
        lambda p: p.power.budget_ua >= p.visible_ua,
        "{p.power.budget_pct} % of it do not carry {p.visible_ua} uA, which {p.cells} cells at the lowest visible "
        "level draw",
    ),
)


def load(path: str | Path) -> Profile:
    """The profile in a TOML file. Raises ProfileError for one that cannot be read, understood or driven."""
    source = tables.read(Path(path), "profile")
    found = tables.parse(source, ("board", "matrix", "leds", "power"))
    board = tables.section(source, found, "board", BoardSection)
    leds = tables.section(source, found, "leds", LedsSection)
    profile = Profile(
        source.file,
        board,
        tables.section(source, found, "matrix", MatrixSection),
        leds,
        tables.section(source, found, "power", PowerSection),
        _chain(source, board, leds),
    )
    _check_relations(source, profile)
    return profile


def shipped(name: str) -> Path:
    """The file of a profile that ships with the firmware. Raises ProfileError, which lists them, for another name."""
    folder = Path(str(resources.files("hal"))) / "profiles"
    known = {file.stem: file for file in sorted(folder.glob("*.toml"))}
    if name not in known:
        raise ProfileError(str(folder), "board", name, f"no such profile ships; there are: {', '.join(known)}")
    return known[name]


def _check_relations(source: tables.Source, profile: Profile) -> None:
    for relation in _RELATIONS:
        if not relation.holds(profile):
            section, key = relation.key.split(".")
            value = getattr(getattr(profile, section), key)
            reason = relation.reason.format(p=profile, spi_problem=ws2812.problem(profile.leds.spi_hz))
            raise source.refuse(relation.key, value, reason)


def _chain(source: tables.Source, board: BoardSection, leds: LedsSection) -> tuple[int, ...]:
    """The cell at each position of the chain; every cell has exactly one LED."""
    rows, columns, order = board.rows, board.columns, leds.order
    if order == "row-major":
        return tuple(range(rows * columns))
    if order == "serpentine":
        return tuple(
            row * columns + (columns - 1 - at if row % 2 else at) for row in range(rows) for at in range(columns)
        )
    if isinstance(order, str):
        raise source.refuse("leds.order", order, "row-major, serpentine, a list of cells or a table is wanted")
    pairs = order.items() if isinstance(order, dict) else zip(order, range(len(order)), strict=True)
    return _placed(source, board, [(_cell(source, board, cell), led) for cell, led in pairs])


def _cell(source: tables.Source, board: BoardSection, cell: int | str) -> int:
    """The number of a cell given by name or number."""
    names = [_name(board, at) for at in range(board.rows * board.columns)]
    number = names.index(cell) if cell in names else cell
    if not isinstance(number, int) or not 0 <= number < len(names):
        raise source.refuse("leds.order", cell, f"no such cell; there are {names[0]} to {names[-1]}")
    return number


def _name(board: BoardSection, cell: int) -> str:
    row, column = divmod(cell, board.columns)
    return f"{chr(ord('a') + column)}{row + 1}"


def _placed(source: tables.Source, board: BoardSection, pairs: list[tuple[int, int]]) -> tuple[int, ...]:
    """The chain that (cell, LED) pairs make, each cell and each LED exactly once."""
    led_of: dict[int, int] = {}
    cell_at: dict[int, int] = {}
    for cell, led in pairs:
        name = _name(board, cell)
        if cell in led_of:
            raise source.refuse("leds.order", name, f"two LEDs, {led_of[cell]} and {led}, for one cell")
        if led in cell_at:
            raise source.refuse("leds.order", led, f"two cells, {_name(board, cell_at[led])} and {name}, on one LED")
        led_of[cell], cell_at[led] = led, cell
    count = board.rows * board.columns
    missing = [_name(board, cell) for cell in range(count) if cell not in led_of]
    if missing:
        raise source.refuse("leds.order", None, f"no LED for {', '.join(missing)}")
    if sorted(cell_at) != list(range(count)):
        raise source.refuse("leds.order", max(cell_at), f"LEDs are numbered from 0 to {count - 1} without a gap")
    return tuple(cell_at[led] for led in range(count))
