"""What the values of a profile must agree on; whatever does not is refused by key, value and reason. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from hal import drivers, tables, ws2812

if TYPE_CHECKING:
    from hal.profile import Profile
    from hal.tables import Source

# A press this long is never missed, whatever the profile.
SEEN_PRESS_US = 15_000
# DMA channels that a LED library may take: its own default. The kernel's SD card driver has 5: taking it turns the
# file system read-only after minutes (case A11).
DMA_ALLOWED = (10,)
# A frame leaves within the time of one at 60 a second.
LONGEST_FRAME_US = 16_667
# Drivers that want the matrix's pins.
WIRED = ("gpiod", "gpiozero")
SPI1_MOSI = 20


class _Relation(NamedTuple):
    """Two or more values that must agree: `key` is told `reason`; if the file gives only the `other`, that is.

    Reasons are filled in with the profile.
    """

    key: str
    holds: Callable[[Profile], bool]
    reason: str
    other: str = ""
    other_reason: str = ""


def _driver(part: str, name: str) -> bool:
    return name in drivers.names(part)


_RELATIONS = (
    _Relation(
        "matrix.driver",
        lambda p: _driver("lines", p.matrix.driver),
        "there is no such driver; there are: {lines_drivers}",
    ),
    _Relation(
        "leds.driver",
        lambda p: _driver("leds", p.leds.driver),
        "there is no such driver; there are: {leds_drivers}",
    ),
    _Relation(
        "matrix.rows",
        lambda p: len(p.matrix.rows) == p.board.wired[0] or not (p.matrix.rows or p.matrix.driver in WIRED),
        "a pin for each row of the wiring is wanted: {p.board.wired[0]} pins",
    ),
    _Relation(
        "matrix.columns",
        lambda p: len(p.matrix.columns) == p.board.wired[1] or not (p.matrix.columns or p.matrix.driver in WIRED),
        "a pin for each column of the wiring is wanted: {p.board.wired[1]} pins",
    ),
    _Relation(
        "matrix.options",
        lambda p: not p.matrix.options or p.matrix.driver not in (drivers.SIMULATED, *WIRED),
        "the driver {p.matrix.driver} has no options",
    ),
    _Relation(
        "matrix.driver",
        lambda p: (p.matrix.driver == drivers.SIMULATED) == (p.leds.driver == drivers.SIMULATED),
        "a board is simulated as a whole, and leds.driver is {p.leds.driver!r}",
    ),
    _Relation(
        "matrix.release_us",
        lambda p: p.matrix.release_us >= p.matrix.bounce_us,
        "at least bounce_us ({p.matrix.bounce_us}) is wanted, or a bounce is taken for a release",
        "matrix.bounce_us",
        "at most release_us ({p.matrix.release_us}) is wanted, or a bounce is taken for a release",
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
        "leds.device",
        lambda p: not p.leds.device.startswith("/dev/spidev1"),
        "SPI1 has no DMA, so its frames have gaps; SPI0 (/dev/spidev0.0, the data wire on GPIO10) is wanted",
    ),
    _Relation(
        "leds.pin",
        lambda p: p.leds.driver not in ("spidev", "rpi_ws281x") or p.leds.gpio != SPI1_MOSI,
        "that is the data line of SPI1, which has no DMA, so its frames have gaps; GPIO10 (SPI0) is wanted",
    ),
    _Relation(
        "leds.dma",
        lambda p: p.leds.dma in DMA_ALLOWED,
        f"channel {DMA_ALLOWED[0]} is wanted; the SD card's driver has 5, and sharing it turns the file system "
        "read-only after minutes",
    ),
    _Relation(
        "leds.per_cell",
        lambda p: ws2812.wire_us(p.led_count, p.leds.spi_hz) <= LONGEST_FRAME_US,
        "with the edge strips {p.led_count} LEDs make a frame longer than 1/60 s",
    ),
    _Relation(
        "power.supply_ma",
        lambda p: p.power.budget_ua >= p.visible_ua,
        "{p.power.budget_pct} % of it do not carry {p.visible_ua} uA, which {p.led_count} LEDs at the lowest visible "
        "level draw",
    ),
)


def check(source: Source, found: Mapping[str, Any], profile: Profile) -> None:
    """Raises ProfileError for the first thing that does not agree; `found`: the tables of the text."""
    for relation in _RELATIONS:
        if not relation.holds(profile):
            named, reason = relation.key, relation.reason
            if tables.gives(found, relation.other) and not tables.gives(found, named):
                named, reason = relation.other, relation.other_reason
            section, key = named.split(".")
            value = getattr(getattr(profile, section), key)
            reason = reason.format(
                p=profile,
                spi_problem=ws2812.problem(profile.leds.spi_hz),
                lines_drivers=", ".join(drivers.names("lines")),
                leds_drivers=", ".join(drivers.names("leds")),
            )
            raise source.refuse(named, value, reason)
