"""Which Pi this is, what may drive its LEDs, and what its config.txt makes of their clock."""

from __future__ import annotations

import subprocess
from itertools import product
from pathlib import Path

import pytest

from hal import machine, models, ws2812
from hal.models import Model, boot_settings, core_mhz, led_choices, model, spi_problem
from hal.ws2812 import SPI_HZ, divided_hz, timed_hz, too_fast, too_slow

PI3, PI4, PI5 = (model(f"Raspberry Pi {number} Model B Rev 1.1") for number in (3, 4, 5))
ZERO2 = model("Raspberry Pi Zero 2 W Rev 1.0")


@pytest.mark.parametrize(
    ("text", "generation"),
    [
        ("Raspberry Pi Model B Rev 2\0", 1),
        ("Raspberry Pi Zero W Rev 1.1\0", 1),
        ("Raspberry Pi Zero 2 W Rev 1.0\0", 3),
        ("Raspberry Pi 2 Model B Rev 1.1\0", 2),
        ("Raspberry Pi 3 Model B Plus Rev 1.3\0", 3),
        ("Raspberry Pi Compute Module 3 Plus Rev 1.0\0", 3),
        ("Raspberry Pi 4 Model B Rev 1.5\0", 4),
        ("Raspberry Pi 400 Rev 1.0\0", 4),
        ("Raspberry Pi Compute Module 4 Rev 1.1\0", 4),
        ("Raspberry Pi 5 Model B Rev 1.0\0", 5),
        ("Raspberry Pi 500 Rev 1.0\0", 5),
        ("Raspberry Pi Compute Module 5 Rev 1.0\0", 5),
        ("Raspberry Pi 7 Model B Rev 1.0\0", 0),
        ("Radxa ROCK 5 Model B\0", 0),
        ("", 0),
    ],
)
def test_the_device_tree_names_the_generation(text: str, generation: int) -> None:
    """A model is known by its text, whatever its board revision; any other is generation 0 (case A3)."""
    assert generation == model(text).generation


@pytest.mark.parametrize(
    ("found", "gpio", "drivers"),
    [
        (PI3, 10, ["spidev", "rpi_ws281x"]),
        (PI4, 10, ["spidev", "rpi_ws281x"]),
        (ZERO2, 10, ["spidev", "rpi_ws281x"]),
        (PI4, 18, ["rpi_ws281x"]),
        (PI4, 21, ["rpi_ws281x"]),
        (PI4, 4, []),
        (PI4, None, []),
        (PI5, 10, ["leds0", "spidev", "neopixel"]),
        (PI5, 18, ["leds0", "neopixel"]),
        (model(""), 10, ["spidev", "leds0", "neopixel"]),
        (model(""), 18, ["leds0", "neopixel"]),
        (model(""), None, ["spidev", "leds0", "neopixel"]),
    ],
)
def test_a_model_and_a_pin_have_their_drivers(found: Model, gpio: int | None, drivers: list[str]) -> None:
    """Each model has its drivers in order, each with a reason that names the model (cases A3, A4, A6)."""
    choices = led_choices(found, gpio)
    assert drivers == [choice.driver for choice in choices]
    assert all(choice.why.startswith(found.name) for choice in choices)


def test_a_pi5_is_never_given_to_rpi_ws281x() -> None:
    """On no pin of a Pi 5 is rpi_ws281x tried (case A4)."""
    assert not [gpio for gpio in range(28) for choice in led_choices(PI5, gpio) if choice.driver == "rpi_ws281x"]


CONFIG = """
# core_freq=111
core_freq=200
[pi4]
core_freq_min=500   # for the LEDs
[pi3]
core_freq=250
[EDID=ABC]
force_turbo=1
[all]
dtparam=spi=on
dtparam=audio=off
"""


def test_settings_count_for_their_model() -> None:
    """A setting counts in its model's section and in [all]; sections of other kinds never do."""
    assert {"core_freq": "250", "dtparam": "spi=on audio=off"} == boot_settings(CONFIG, PI3)
    assert {"core_freq": "200", "core_freq_min": "500", "dtparam": "spi=on audio=off"} == boot_settings(CONFIG, PI4)


@pytest.mark.parametrize(
    ("found", "config", "moves"),
    [
        (PI3, "", (250, 400)),
        (PI3, "core_freq=250", (250, 250)),
        (PI3, "enable_uart=1", (250, 250)),
        (PI3, "force_turbo=1", (400, 400)),
        (PI4, "", (200, 500)),
        (PI4, "enable_uart=1", (200, 500)),
        (PI4, "core_freq_min=500", (500, 500)),
        (PI4, "core_freq_min=600", (500, 500)),
        (PI5, "", (200, 200)),
        (model("a PC"), "", None),
    ],
)
def test_the_core_clock_moves_as_config_txt_lets_it(found: Model, config: str, moves: tuple[int, int] | None) -> None:
    """The core clock has the range of the model, or the value that config.txt fixes (case B9)."""
    assert moves == core_mhz(found, config)


def carried_out(sentence: str, config: str, folder: Path) -> str:
    """A config.txt after the command of a sentence."""
    (folder / "config.txt").write_text(config)
    command = sentence.split("`")[1].replace("sudo ", "").replace("/boot/firmware", str(folder))
    subprocess.run(["sh", "-c", command], check=True, stdout=subprocess.DEVNULL)
    return (folder / "config.txt").read_text()


@pytest.mark.parametrize("found", [PI3, ZERO2])
def test_a_pi3_on_spi_needs_its_core_at_250(found: Model, tmp_path: Path) -> None:
    """A Pi 3 or Zero 2 W whose core clock moves is told to fix it, and the command does so in any file (case A15)."""
    reason = spi_problem(found, "", SPI_HZ)
    assert reason is not None
    assert found.name in reason
    mended = carried_out(reason, "[cm5]\narm_boost=1", tmp_path)
    assert "core_freq=250" == mended.splitlines()[-1] and spi_problem(found, mended, SPI_HZ) is None
    assert spi_problem(found, "core_freq=250", SPI_HZ) is None


def test_a_pi4_on_spi_needs_its_core_at_500(tmp_path: Path) -> None:
    """A Pi 4 whose core clock may fall is told to keep it up, and the command does so in any file (case A16)."""
    reason = spi_problem(PI4, "", SPI_HZ)
    assert reason is not None
    assert "moves between 200 and 500 MHz" in reason
    mended = carried_out(reason, "[cm5]\narm_boost=1", tmp_path)
    assert "core_freq_min=500" == mended.splitlines()[-1] and spi_problem(PI4, mended, SPI_HZ) is None
    assert spi_problem(PI4, "core_freq_min=500", SPI_HZ) is None


def test_a_fixed_core_that_divides_badly_is_refused_too() -> None:
    """A core clock that stands, but gives no clock near the asked one, is refused by its value (case A24)."""
    reason = spi_problem(PI3, "core_freq=3\ncore_freq_min=3", SPI_HZ)
    assert reason is not None
    assert "which is 3 MHz, so a bit would last 2000 ns" in reason


def test_a_pi5_and_an_unknown_machine_are_not_refused() -> None:
    """A Pi 5's SPI has a clock of its own; of a machine that is not known nothing is said."""
    assert (None, None) == (spi_problem(PI5, "", SPI_HZ), spi_problem(model("a PC"), "", SPI_HZ))


@pytest.mark.parametrize(("believed", "real"), [*product((200, 250, 400, 500), repeat=2)])
def test_the_refused_clocks_are_those_a_chain_misreads(believed: int, real: int) -> None:
    """A core at f where the kernel believes g is refused exactly where the bits leave the data sheet (case A15)."""
    hz = divided_hz(real * 10**6, SPI_HZ, believed * 10**6)
    assert abs(hz - SPI_HZ * real / believed) <= 0.05 * SPI_HZ * real / believed
    assert (real == believed) == (ws2812.problem(hz) is None)


@pytest.mark.parametrize(("core_mhz", "hz"), [(250, 2_358_490), (400, 2_380_952), (500, 2_380_952), (200, 2_380_952)])
def test_a_clock_is_divided_by_an_even_number(core_mhz: int, hz: int) -> None:
    """The controllers of all Pis divide their clock by an even number, and at 2.4 MHz all of them fit."""
    assert hz == divided_hz(core_mhz * 10**6, SPI_HZ)
    assert ws2812.problem(hz) is None


@pytest.mark.parametrize(
    ("factor", "slow", "fast"),
    [(1.0, 0, 0), (1.24, 0, 0), (1.27, 1, 0), (1.6, 1, 0), (0.81, 0, 0), (0.79, 0, 1), (0.62, 0, 1)],
)
def test_a_timed_write_tells_another_clock(factor: float, slow: int, fast: int) -> None:
    """A write that takes as long as its bits, or a quarter more, fits; one at 400 for 250 MHz or back does not."""
    hz = timed_hz(4096, round(4096 * 8 / SPI_HZ * factor * 1e9))
    assert abs(hz - SPI_HZ / factor) < 2
    assert (bool(slow), bool(fast)) == (too_slow(hz, SPI_HZ), too_fast(hz, SPI_HZ))


def test_a_machine_is_read_from_its_files(tmp_path: Path) -> None:
    """Model, revision and config.txt are read below a root, the newer config.txt first; none is no fault."""
    assert (0, "", "") == (
        machine.model(tmp_path).generation,
        machine.revision(tmp_path),
        machine.boot_config(tmp_path),
    )
    for name, text in (
        ("proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4\0"),
        ("proc/cpuinfo", "processor\t: 0\nRevision\t: c03114\nSerial\t: 0\n"),
        ("boot/config.txt", "old"),
        ("boot/firmware/config.txt", "new"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert (4, "c03114", "new") == (
        machine.model(tmp_path).generation,
        machine.revision(tmp_path),
        machine.boot_config(tmp_path),
    )
    assert models.MODEL_FILE == "proc/device-tree/model"
