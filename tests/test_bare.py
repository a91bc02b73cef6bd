"""A computer with no board and no device library: everything imports, every shipped board is refused in a sentence."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hal
from hal.profile import load, shipped
from tests.test_layout import DEVICE_LIBRARIES, ROOT, SOURCES, name_of

BOARDS = sorted(file.stem for file in (Path(hal.__file__).parent / "profiles").glob("*.toml"))
# A module that is None in sys.modules is one that is not installed.
BARE = f"import sys; sys.modules.update(dict.fromkeys({sorted(DEVICE_LIBRARIES)!r}))\n"


def bare(code: str) -> subprocess.CompletedProcess[str]:
    """Run code where no device library is installed."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", BARE + code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )


def morbak(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command `morbak` there."""
    return bare(f"from firmware.cli import main; sys.exit(main({list(arguments)!r}))")


def test_everything_imports_without_device_libraries() -> None:
    """Every module imports on a computer without a device library (cases B1, C8, C20)."""
    modules = [name_of(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in SOURCES]
    modules = [name for name in modules if not name.startswith("hal.pico")]
    ran = bare(f"import importlib\nfor name in {modules!r}: importlib.import_module(name)\nprint('all')")
    assert (0, "", "all\n") == (ran.returncode, ran.stderr, ran.stdout)


def test_help_works_without_device_libraries() -> None:
    """`morbak --help` and `morbak run --help` answer there."""
    for arguments in (["--help"], ["run", "--help"]):
        ran = morbak(*arguments)
        assert (0, "") == (ran.returncode, ran.stderr)
        assert ran.stdout.startswith("usage: morbak")


@pytest.mark.parametrize("board", [board for board in BOARDS if board != "sim"])
@pytest.mark.parametrize("libraries", [True, False], ids=["libraries", "bare"])
def test_every_shipped_board_is_refused_in_one_sentence(board: str, libraries: bool, tmp_path: Path) -> None:
    """Without the hardware `morbak run --board NAME` says one sentence and ends with 2, with libraries and without."""
    arguments = ["run", "--board", board, "--port", "0", "--state", str(tmp_path)]
    if libraries:
        command = [sys.executable, "-W", "error", "-m", "firmware.cli", *arguments]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    else:
        ran = morbak(*arguments)
    said = [line for line in ran.stderr.splitlines() if not line.startswith("INFO ")]
    assert (2, "", 1) == (ran.returncode, ran.stdout, len(said)), ran.stderr
    assert said[0].startswith("morbak: ")
    wanted = "7 x 7 cells" if board == "nine" else "`"  # a command that helps
    assert wanted in said[0]


def test_the_shipped_boards_are_those_that_people_build() -> None:
    """Each shipped profile is what its name says."""
    assert ["edge-strips", "nine", "no-diodes", "pi5", "pwm", "reference", "sim"] == BOARDS
    boards = {name: load(shipped(name)) for name in BOARDS}
    assert {"no-diodes"} == {name for name, board in boards.items() if not board.matrix.diodes}
    assert {"edge-strips"} == {name for name, board in boards.items() if board.led_count != board.cells}
    assert {"nine"} == {name for name, board in boards.items() if board.cells != 49}
    drivers = {name: (board.matrix.driver, board.leds.driver) for name, board in boards.items()}
    assert {
        "reference": ("gpiod", "spidev"),
        "no-diodes": ("gpiod", "spidev"),
        "edge-strips": ("gpiod", "spidev"),
        "nine": ("gpiod", "spidev"),
        "pi5": ("gpiod", "leds0"),
        "pwm": ("gpiod", "rpi_ws281x"),
        "sim": ("sim", "sim"),
    } == drivers


def test_a_board_that_cannot_be_understood_drives_no_pin(tmp_path: Path) -> None:
    """A profile or settings with a mistake are refused before any driver is opened, so that every line stays as it was
    at power-up: an input (case G7).
    """
    mistake = shipped("reference").read_text(encoding="utf-8").replace("diodes = true", "diods = true")
    (tmp_path / "board.toml").write_text(mistake, encoding="utf-8")
    (tmp_path / "settings.toml").write_text("[touch]\nhold_mss = 1\n", encoding="utf-8")
    for arguments in (["--board", f"{tmp_path}/board.toml"], ["--board", "reference", "--config", "settings.toml"]):
        code = (
            "import hal.drivers\nfrom firmware.cli import main\n"
            "hal.drivers._opener = lambda *_: print('a driver is opened')\n"
            f"sys.exit(main({['run', '--port', '0', '--state', str(tmp_path), *arguments]!r}))"
        )
        ran = bare(code.replace("settings.toml", str(tmp_path / "settings.toml")))
        assert (2, "") == (ran.returncode, ran.stdout), ran.stderr
        assert "unknown key" in ran.stderr


def test_every_dependency_is_bounded() -> None:
    """A release that does not exist yet is not taken, so what installs today installs in a year (case G19)."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] + [each for extra in project["optional-dependencies"].values() for each in extra]
    assert [] == [each for each in wanted if not re.match(r"[\w-]+>=[\d.]+,<[\d.]+( *;|$)", each)]
