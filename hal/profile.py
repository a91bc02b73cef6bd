"""Boards as data: what a board is made of is read from one TOML file, checked as a whole, and never changes.

A profile that loads can be driven: every key is known, every value is in range and the values agree with each
other. Anything else is a `ProfileError` with file, line, key, value and reason.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from hal import agreement, chain, claims, pins, tables, ws2812
from hal.agreement import SEEN_PRESS_US
from hal.errors import ProfileError
from hal.pins import Pin
from hal.wiring import ButtonsSection, BuzzerSection, Degrees, EdgeStripsSection, Written, turned, wired_size

# Wire level that every lit cell keeps, and that every supply must therefore carry on all cells (design: light).
VISIBLE = 3

# Sixteen columns are named a to p; 256 LEDs keep the wire 8 ms and fit the 4096 bytes of a default SPI buffer.
Length = Annotated[int, Meta(ge=2, le=16)]
Share = Annotated[int, Meta(ge=1, le=100)]
# A channel that is dimmed further has no colour left at the lowest levels.
Fraction = Annotated[float, Meta(ge=0.2, le=1)]
# Below it a lit cell and an empty one would be the same light.
Brightness = Annotated[int, Meta(ge=5, le=100)]
Milliamps = Annotated[float, Meta(ge=0, le=100)]
# What one LED draws: red, green and blue at full, and nothing lit. Measured (case H6); 12 mA a channel by the data
# sheet of the current-clamped WS2812B-V5; the usual worst case of 60 mA an LED for whatever else is on the chain.
LED_TYPES_MA = {
    "ws2812b": (16.0, 11.0, 15.0, 1.0),
    "ws2812b-v5": (12.0, 12.0, 12.0, 1.0),
    "unknown": (20.0, 20.0, 20.0, 1.0),
}


class BoardSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[board]`: its name, how many rows and columns of cells it has, and how its wiring lies under them.

    Everything else in a profile names places as they are wired; `mirror` and `rotate_deg` turn contacts and LEDs
    together onto the cells: mirrored first, then turned clockwise as seen from above with side a at the bottom.
    """

    name: Annotated[str, Meta(min_length=1, max_length=80)]
    rows: Length
    columns: Length
    rotate_deg: Degrees = 0
    mirror: bool = False

    @property
    def wired(self) -> tuple[int, int]:
        """How many rows and columns the wiring has."""
        return wired_size(self.rows, self.columns, self.rotate_deg)


class MatrixSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[matrix]`: the contacts under the cells and how they are read.

    Without diodes readings are checked for ghosts, which is the default (case D3). Worst bounce reported: 47 ms.
    `press_us` 0 takes a press at its first contact; more is for touch sensors, which need it (case D7).
    `rows`, `columns`: their pins, in order; `chip`: the label of the chip that has them, where names do not tell.
    `options`: whatever the driver of a third party wants to know.
    """

    driver: str
    chip: Annotated[str, Meta(max_length=80)] = ""
    rows: tuple[Written, ...] = ()
    columns: tuple[Written, ...] = ()
    options: dict[str, Any] = {}
    diodes: bool = False
    bounce_us: Annotated[int, Meta(ge=0, le=100_000)] = 5_000
    settle_us: Annotated[int, Meta(ge=0, le=1_000)] = 5
    press_us: Annotated[int, Meta(ge=0, le=SEEN_PRESS_US)] = 0
    release_us: Annotated[int, Meta(ge=1, le=200_000)] = 10_000
    scan_hz: Annotated[int, Meta(ge=200, le=4_000)] = 1_000
    idle_hz: Annotated[int, Meta(ge=200, le=4_000)] = 200

    @property
    def row_pins(self) -> tuple[Pin, ...]:
        """The pins of the rows, in the order of the wiring; empty where the driver wants none."""
        return tuple(pins.parse(written, self.chip) for written in self.rows)

    @property
    def column_pins(self) -> tuple[Pin, ...]:
        """The pins of the columns, in the order of the wiring; empty where the driver wants none."""
        return tuple(pins.parse(written, self.chip) for written in self.columns)

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

    `driver`: a name of `hal.drivers`, "auto" or a third party's. `pin`: the line that carries the data. `device`: the
    file of drivers that write to one; "" is the driver's usual one.

    `order`: "row-major"; "serpentine" (every other row runs back); a list of cells, by name or number, in the order
    of the chain; or a table `[leds.order]` with the LED of each cell. `per_cell`: LEDs that follow each other under
    one cell. Chain order as cells is `Profile.chain`, every LED of the chain `Profile.lights`.

    `balance`: share of red, green and blue that looks white. `line_idles`: how the data line rests; "high" is safe
    for both (case A19), "low" shows a touch 0.3 ms sooner. `dma`: the channel of rpi_ws281x (case A11).
    """

    driver: Annotated[str, Meta(min_length=1, max_length=80)]
    pin: Written = "GPIO10"
    device: Annotated[str, Meta(pattern="^(/dev/.+)?$", max_length=80)] = ""
    order: str | tuple[int | str, ...] | dict[str, int] = "row-major"
    per_cell: Annotated[int, Meta(ge=1, le=8)] = 1
    colour_order: Literal["RGB", "RBG", "GRB", "GBR", "BRG", "BGR"] = "GRB"
    gamma: Annotated[float, Meta(ge=1, le=3)] = 2.2
    balance: tuple[Fraction, Fraction, Fraction] = (1.0, 1.0, 1.0)
    brightness_pct: Brightness = 100
    spi_hz: Annotated[int, Meta(ge=1_000_000, le=10_000_000)] = ws2812.SPI_HZ
    line_idles: Literal["low", "high"] = "high"
    dma: int = 10

    @property
    def gpio(self) -> int | None:
        """The number of the data line on a Pi; None for a line of another chip, or of another name."""
        return pins.parse(self.pin).bcm


class PowerSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[power]`: what the supply gives and what the LEDs are taken to draw.

    `supply_ma` is printed on the supply, in amps. `led_type` says what one LED draws (cases H4, H5); whoever has
    measured it says so in `channel_ma`, its red, green and blue at full, and `idle_ma`, when it is dark. All of it is
    raised to `model_scale_pct` for safety. `slew_ma_per_ms`: the steepest rise asked of the supply (case H1).
    """

    supply_ma: Annotated[int, Meta(ge=1, le=100_000)]
    budget_pct: Share = 70
    led_type: Literal["ws2812b", "ws2812b-v5", "unknown"] = "ws2812b"
    channel_ma: tuple[Milliamps, Milliamps, Milliamps] | None = None
    idle_ma: Milliamps | None = None
    model_scale_pct: Annotated[int, Meta(ge=100, le=400)] = 125
    slew_ma_per_ms: Annotated[int, Meta(ge=1, le=1_000)] = 20

    @property
    def budget_ua(self) -> int:
        """What the LEDs may ask for."""
        return self.supply_ma * self.budget_pct * 10

    @property
    def channel_ua(self) -> tuple[int, ...]:
        """One LED's red, green and blue at full, before scaling."""
        measured = LED_TYPES_MA[self.led_type][:3] if self.channel_ma is None else self.channel_ma
        return tuple(round(ma * 1000) for ma in measured)

    @property
    def idle_ua(self) -> int:
        """One LED that is dark, before scaling."""
        return round((LED_TYPES_MA[self.led_type][3] if self.idle_ma is None else self.idle_ma) * 1000)


class Profile(NamedTuple):
    """A whole board. `chain`: the cell at each position of the LED chain."""

    file: str
    board: BoardSection
    matrix: MatrixSection
    leds: LedsSection
    power: PowerSection
    chain: tuple[int, ...]
    buttons: ButtonsSection = ButtonsSection()
    buzzer: BuzzerSection = BuzzerSection()
    edge_strips: EdgeStripsSection = EdgeStripsSection()

    @property
    def cells(self) -> int:
        """How many cells the board has."""
        return self.board.rows * self.board.columns

    @property
    def led_count(self) -> int:
        """How many LEDs the chain has: those of the cells and those of the edge strips."""
        return self.cells * self.leds.per_cell + self.edge_strips.a + self.edge_strips.b

    @property
    def lights(self) -> tuple[int, ...]:
        """What each LED of the chain shows: a cell, or from `cells` on an LED of the edge strips, side a's first."""
        under_cells = tuple(cell for cell in self.chain for _ in range(self.leds.per_cell))
        return under_cells + tuple(range(self.cells, self.cells + self.edge_strips.a + self.edge_strips.b))

    @property
    def turned(self) -> tuple[int, ...]:
        """The cell at each place of the wiring, places counted row by row."""
        return turned(self.board.rows, self.board.columns, self.board.rotate_deg, self.board.mirror)

    @property
    def visible_ua(self) -> int:
        """What the LEDs draw, in the scaled model, with every one at the lowest visible white; rounded up."""
        an_led = 255 * self.power.idle_ua + VISIBLE * sum(self.power.channel_ua)
        return -(-self.led_count * an_led * self.power.model_scale_pct // 25_500)


def load(path: str | Path) -> Profile:
    """The profile in a TOML file. Raises ProfileError for one that cannot be read, understood or driven."""
    source = tables.read(Path(path), "profile")
    found = tables.parse(source, ("board", "matrix", "leds", "power", "buttons", "buzzer", "edge_strips"))
    board = tables.section(source, found, "board", BoardSection)
    leds = tables.section(source, found, "leds", LedsSection)
    turn = turned(board.rows, board.columns, board.rotate_deg, board.mirror)
    profile = Profile(
        source.file,
        board,
        tables.section(source, found, "matrix", MatrixSection),
        leds,
        tables.section(source, found, "power", PowerSection),
        tuple(turn[place] for place in chain.places(source, board, leds)),
        tables.section(source, found, "buttons", ButtonsSection),
        tables.section(source, found, "buzzer", BuzzerSection),
        tables.section(source, found, "edge_strips", EdgeStripsSection),
    )
    claims.read(source, profile)
    agreement.check(source, found, profile)
    claims.check(source, profile)
    return profile


def shipped(name: str) -> Path:
    """The file of a profile that ships with the firmware. Raises ProfileError, which lists them, for another name."""
    folder = Path(str(resources.files("hal"))) / "profiles"
    known = {file.stem: file for file in sorted(folder.glob("*.toml"))}
    if name not in known:
        reason = f"no such profile ships; there are: {', '.join(known)}; a file of your own ends in .toml"
        if name.startswith("serial:"):
            reason = (
                "a board at the end of a cable can be played on; this command wants one that is wired to this computer"
            )
        raise ProfileError(str(folder), "board", name, reason)
    return known[name]
