"""What is wrong with the simulated board: one frozen record, each fault a probability, a duration or a set of cells.

With one seed the record makes every fault of a run; every fault draws from a stream of its own (`stream`), so that
switching one on does not move the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from difflib import get_close_matches
from random import Random
from typing import Any

from firmware.games.morbak import parse_cell
from hal.errors import ProfileError

_MOST = 10**9  # a thousand seconds, a gigahertz: whoever writes more has mistaken the unit


def _check(name: str, value: object) -> None:
    """Refuse a duration, count or rate below nothing, a rate above one and a clock that stands."""
    if not isinstance(value, int | float):
        return
    least = 1 if name.endswith("_pct") else 0
    most = 1 if name.endswith("_rate") else _MOST
    if not least <= value <= most:
        raise ProfileError("faults", name, value, f"it must be from {least} to {most}")


@dataclass(frozen=True, slots=True)
class Faults:
    """All faults of a board; the defaults are a healthy one, whose contacts bounce as contacts do.

    `bounce_us`: how long a contact bounces after it moved. `stuck`, `dead`: cells always closed, never closed.
    `glitch_hz`: lone glitches a second over the whole board, each at most `glitch_us` long (1 to 5 ms: case C13).
    `settle_us`: what the columns need after a row is selected. `diodes`: overrides the profile's word.
    `idle_high`: the data line rests high (case A19). `lead_bits`: high bits that come out ahead of a transfer, in a
    `lead_rate` of the transfers (cases A19, A20). `spi_pct`: the real SPI clock in percent of the one asked for
    (cases A15, A24). `leds_fail_rate`, `lines_fail_rate`: transfers and row selections that fail.

    Raises ProfileError naming the fault, its value and the rule.
    """

    bounce_us: int = 3_000
    stuck: frozenset[int] = frozenset()
    dead: frozenset[int] = frozenset()
    glitch_hz: float = 0.0
    glitch_us: int = 5_000
    settle_us: int = 0
    diodes: bool | None = None
    idle_high: bool = False
    lead_bits: int = 0
    lead_rate: float = 1.0
    spi_pct: int = 100
    leds_fail_rate: float = 0.0
    lines_fail_rate: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            _check(field.name, getattr(self, field.name))
        if both := self.stuck & self.dead:
            raise ProfileError("faults", "dead", sorted(both), "a cell is either stuck or dead; name it once")


HEALTHY = Faults()
_DEFAULTS = {field.name: getattr(HEALTHY, field.name) for field in fields(Faults)}


def stream(seed: int, name: str) -> Random:
    """The random stream of one fault: the same seed and name give the same stream on every machine."""
    return Random(f"{seed}/{name}")  # a text seeds by its own bytes, whatever PYTHONHASHSEED is


def parse(text: str) -> Faults:
    """Read faults from `key=value,key=value`; no text is a healthy board.

    Cells are joined with `+` (`stuck=a1+d4`), switches are `on` or `off`. Raises ProfileError naming the key, the
    value and the rule; an unknown key is refused with the nearest known one.
    """
    given: dict[str, Any] = {}
    for key, value in (_pair(part) for part in text.split(",") if part.strip()):
        if key in given:
            raise ProfileError("faults", key, value, "it is named twice; name it once")
        given[key] = value
    return Faults(**given)


def _pair(part: str) -> tuple[str, Any]:
    key, _, value = (piece.strip() for piece in part.partition("="))
    if key not in _DEFAULTS:
        near = get_close_matches(key, _DEFAULTS, n=1, cutoff=0.0)[0]
        raise ProfileError("faults", key, value, f"no such fault; the nearest is {near}")
    read, wanted = _reader(_DEFAULTS[key])
    try:
        return key, read(value)
    except ValueError as error:
        raise ProfileError("faults", key, value, f"write {wanted}") from error


def _reader(default: object) -> tuple[Callable[[str], object], str]:
    """How a value of the kind of `default` is read, and how it is written."""
    match default:
        case bool() | None:
            return _switch, "on or off"
        case frozenset():
            return _cells, "cells joined with +, such as a1+d4"
        case int():
            return int, "a whole number"
        case _:
            return float, "a number"


def _switch(text: str) -> bool:
    if text not in ("on", "off"):
        raise ValueError(text)
    return text == "on"


def _cells(text: str) -> frozenset[int]:
    return frozenset(parse_cell(name) for name in text.split("+"))
