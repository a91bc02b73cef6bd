"""Models: which Pi this is, what its LEDs can be driven by, and what its config.txt makes of the SPI clock.

Told from the device tree's text before any library is asked: a library's own table of revisions is months behind a
factory's (case A3). Pure: whoever has the files hands in their text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hal import ws2812

# Where a Pi says what it is, below the root of a machine; and its boot settings, the newer place first.
MODEL_FILE = "proc/device-tree/model"
CONFIG_FILES = ("boot/firmware/config.txt", "boot/config.txt")

SPI_PIN = 10
# Pins that rpi_ws281x drives by PWM, with the channel it takes, and by PCM (its lib/ws2811.c).
PWM_PINS = {12: 0, 18: 0, 13: 1, 19: 1}
PCM_PIN = 21
# Of the SPI controller of a Pi 5, which is on its own chip and has a clock of its own.
_RP1_MHZ = (200, 200)


class Model(NamedTuple):
    """A model: its name for people, its generation (Pi 1 to 5, 0 = unknown), and what config.txt calls it.

    `core_mhz`: between which speeds the clock moves that the SPI clock is divided from; None where it is not known.
    """

    name: str
    generation: int
    filters: frozenset[str] = frozenset()
    core_mhz: tuple[int, int] | None = None

    @property
    def pi(self) -> bool:
        """Whether it is a Pi, be it one that is newer than this table."""
        return "Raspberry Pi" in self.name


class Choice(NamedTuple):
    """A driver to try, and why."""

    driver: str
    why: str


# Text of the model -> generation, names in config.txt, core clock (Raspberry Pi's documentation of config.txt).
_KNOWN = (
    (r"Zero 2", 3, "pi0 pi0w pi02", (250, 400)),
    (r"Zero W", 1, "pi0 pi0w", (250, 400)),
    (r"Zero", 1, "pi0", (250, 400)),
    (r"Compute Module 5|Pi 500|Pi 5\b", 5, "pi5", _RP1_MHZ),
    (r"Compute Module 4|Pi 400|Pi 4\b", 4, "pi4", (200, 500)),
    (r"Compute Module 3|Pi 3\b", 3, "pi3", (250, 400)),
    (r"Pi 2\b", 2, "pi2", (250, 250)),
    (r"Compute Module|Pi Model [AB]", 1, "pi1", (250, 250)),
)


def model(text: str) -> Model:
    """The model that a device tree names; generation 0 for what is not known, or no Pi."""
    name = text.strip("\0 \n") or "this computer"
    if "Raspberry Pi" in name:
        for pattern, generation, filters, core_mhz in _KNOWN:
            if re.search(pattern, name):
                return Model(name, generation, frozenset(filters.split()), core_mhz)
    return Model(name, 0)


def led_choices(found: Model, gpio: int | None) -> tuple[Choice, ...]:
    """What to try for LEDs whose data line is `gpio`, best first; empty where nothing drives them on that line."""
    if found.generation == 5:
        return _on_pi5(found, gpio)
    if found.generation == 0:
        return _on_others(found, gpio)
    return _on_older(found, gpio)


def _on_pi5(found: Model, gpio: int | None) -> tuple[Choice, ...]:
    """Never rpi_ws281x: it cannot reach the pins of a Pi 5 (case A4). The kernel's own driver first (case A6)."""
    spi = (Choice("spidev", f"{found.name}: SPI is on GPIO{SPI_PIN}"),) if gpio == SPI_PIN else ()
    kernel = Choice("leds0", f"{found.name}: its kernel drives LEDs on any line (overlay ws2812-pio)")
    return (kernel, *spi, Choice("neopixel", f"{found.name}: CircuitPython drives LEDs on any line"))


def _on_older(found: Model, gpio: int | None) -> tuple[Choice, ...]:
    if gpio == SPI_PIN:
        return (
            Choice("spidev", f"{found.name}: SPI is on GPIO{SPI_PIN} and needs no root"),
            Choice("rpi_ws281x", f"{found.name}: it drives SPI on GPIO{SPI_PIN} too"),
        )
    if gpio in PWM_PINS or gpio == PCM_PIN:
        kind = "PCM" if gpio == PCM_PIN else "PWM"
        return (Choice("rpi_ws281x", f"{found.name}: GPIO{gpio} is driven by {kind}"),)
    return ()


def _on_others(found: Model, gpio: int | None) -> tuple[Choice, ...]:
    spi = (Choice("spidev", f"{found.name} is no known Pi; SPI is the plainest"),) if gpio in (SPI_PIN, None) else ()
    return (
        *spi,
        Choice("leds0", f"{found.name} is no known Pi; a kernel driver needs no model"),
        Choice("neopixel", f"{found.name} is no known Pi; CircuitPython knows many boards"),
    )


def boot_settings(config: str, found: Model) -> dict[str, str]:
    """The settings of a config.txt that count on this model, the last of a name; overlays under "dtoverlay" joined.

    Of the conditional sections those for models and [all] are understood; lines of any other are left out.
    """
    settings: dict[str, str] = {}
    for name, value in _counting_lines(config, found):
        if name in ("dtoverlay", "dtparam") and name in settings:
            value = f"{settings[name]} {value}"
        settings[name] = value
    return settings


def _counting_lines(config: str, found: Model) -> list[tuple[str, str]]:
    lines, counts = [], True
    for line in config.splitlines():
        text = line.partition("#")[0].strip()
        if section := re.fullmatch(r"\[(.+)\]", text):
            counts = section[1].strip().lower() in found.filters | {"all"}
        elif counts and "=" in text:
            name, _, value = text.partition("=")
            lines.append((name.strip(), value.strip()))
    return lines


def add_setting(line: str) -> str:
    """The command that adds a line to config.txt where it counts for every model, whatever section the file ends in."""
    return f"printf '\\n[all]\\n{line}\\n' | sudo tee -a /{CONFIG_FILES[0]}"


def core_mhz(found: Model, config: str) -> tuple[int, int] | None:
    """Between which speeds the clock behind SPI moves with this config.txt; None where it is not known."""
    if found.core_mhz is None or found.generation == 5:
        return found.core_mhz
    settings = boot_settings(config, found)
    high = _number(settings, "core_freq", found.core_mhz[1])
    if _number(settings, "force_turbo", 0):
        return high, high
    if found.generation <= 3 and _number(settings, "enable_uart", 0):
        return found.core_mhz[0], found.core_mhz[0]  # the firmware then fixes it for the serial port (case B9)
    return min(_number(settings, "core_freq_min", found.core_mhz[0]), high), high


def _number(settings: dict[str, str], name: str, default: int) -> int:
    found = settings.get(name, "")
    return int(found) if found.isdecimal() else default


def spi_problem(found: Model, config: str, spi_hz: int) -> str | None:
    """Why LEDs on SPI would flicker or turn white with this config.txt, and what to do (cases A15, A16, A24).

    None where they would not, or where the model is not known.
    """
    moves = core_mhz(found, config)
    if moves is None:
        return None
    for believed in moves:
        for real in moves:
            hz = ws2812.divided_hz(real * 1_000_000, spi_hz, believed * 1_000_000)
            if reason := ws2812.problem(hz):
                return _clock_sentence(found, moves, reason)
    return None


def _clock_sentence(found: Model, moves: tuple[int, int], reason: str) -> str:
    setting = "core_freq_min=500" if found.generation == 4 else "core_freq=250"
    moving = f"moves between {moves[0]} and {moves[1]} MHz" if moves[0] != moves[1] else f"is {moves[0]} MHz"
    return (
        f"the SPI clock of a {found.name} is divided from its core clock, which {moving}, so {reason}; fix it with "
        f"`{add_setting(setting)}` and restart the machine"
    )
