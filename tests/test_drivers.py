"""Drivers by name: ours, and those that anybody's package brings along."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hal import drivers
from hal.errors import PartError, ProfileError
from hal.profile import load
from tests.test_profile import changed, toml

MODULE = """
class Lines:
    def __init__(self, address):
        self.address = address

def open_lines(profile):
    return Lines(profile.matrix.options["address"])

def open_leds(profile):
    return profile.led_count

def open_hands(profile):
    return profile.board.name
"""
POINTS = """
[morbak.lines]
expander = somebodys_board:open_lines
broken = somebodys_board:missing
[morbak.leds]
laser = somebodys_board:open_leds
[morbak.hands]
fingers = somebodys_board:open_hands
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Somebody's package with drivers, installed."""
    (tmp_path / "somebodys_board.py").write_text(MODULE)
    info = tmp_path / "somebodys_board-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: somebodys-board\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def board(folder: Path, matrix: str = "expander", leds: str = "laser") -> Path:
    """The file of a board on these drivers."""
    tables = changed("matrix", driver=matrix, rows=[], columns=[], options={"address": 32})
    tables["leds"]["driver"] = leds
    (folder / "board.toml").write_text(toml(tables))
    return folder / "board.toml"


def test_anybodys_drivers_are_found_by_their_entry_points(package: Path) -> None:
    """A driver of an installed package is known, gets the profile with its own options, and needs no pins."""
    profile = load(board(package))
    assert 32 == drivers.open_lines(profile).address  # type: ignore[attr-defined]
    assert 49 == drivers.open_leds(profile)
    assert ["sim", "gpiod", "gpiozero", "broken", "expander"] == drivers.names("lines")


def test_anybodys_jig_is_found_by_its_entry_point(package: Path) -> None:
    """A jig of an installed package gets the profile of the board whose contacts it moves; another is none."""
    assert ["fingers"] == drivers.names("hands")
    assert "test board" == drivers.open_hands("fingers", load(board(package)))
    with pytest.raises(PartError, match="there is no driver thumbs for the hands; there are: fingers"):
        drivers.open_hands("thumbs", load(board(package)))


def test_a_driver_that_does_not_load_is_named(package: Path) -> None:
    """A package whose driver cannot be loaded is named with what it raised."""
    profile = load(board(package, matrix="broken"))
    with pytest.raises(PartError, match=r"the driver broken \(somebodys_board:missing\) cannot be loaded: .*missing"):
        drivers.open_lines(profile)


@pytest.mark.parametrize(
    ("wrong", "key", "there"),
    [({"matrix": "gpoid"}, "matrix.driver", "gpiod, gpiozero"), ({"leds": "laserr"}, "leds.driver", "laser")],
)
def test_a_driver_that_there_is_not_is_refused_with_those_there_are(
    package: Path, wrong: dict[str, str], key: str, there: str
) -> None:
    """A profile that names no known driver is refused when it is read, with the drivers there are."""
    with pytest.raises(ProfileError) as caught:
        load(board(package, **wrong))
    assert key == caught.value.key
    assert caught.value.reason.startswith("there is no such driver; there are: sim, ")
    assert there in caught.value.reason


def test_every_driver_of_ours_is_there() -> None:
    """Each name in the registry has a function that opens it, which imports without its library."""
    for part, opener in (("lines", "open_lines"), ("leds", "open_leds")):
        for name in drivers.names(part):
            if name != drivers.SIMULATED:
                assert opener == drivers._opener(part, name).__name__


FROM_DEBIAN = "sudo apt install python3-lgpio"
SEES_DEBIAN = f"{FROM_DEBIAN} && python3 -m venv --system-site-packages"


@pytest.mark.parametrize(
    ("package", "python", "prefix", "command"),
    [
        ("gpiod", (3, 13), "/opt/morbak", "`pip install 'morbak-board[pi]'`"),
        ("lgpio", (3, 12), "/opt/morbak", "`pip install 'morbak-board[pi]'`"),
        ("lgpio", (3, 13), "/opt/morbak", f"`{SEES_DEBIAN} /opt/morbak`"),
        ("lgpio", (3, 13), "/home/jo/my board", f"`{SEES_DEBIAN} '/home/jo/my board'`"),
        ("lgpio", (3, 13), "/usr", f"`{FROM_DEBIAN}`"),
    ],
)
def test_a_library_that_is_missing_is_named_with_its_command(
    package: str, python: tuple[int, int], prefix: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command is one that brings the library to this Python: pip has no lgpio for 3.13, and Debian's own Python,
    which is no environment, is never made one."""
    monkeypatch.setattr(sys, "prefix", prefix)
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    expected = f"the driver gpiozero wants the Python package {package}, which is not installed: {command}"
    assert expected == str(drivers.lacking("gpiozero", package, python))


@pytest.mark.parametrize("prefix", ["/home/jo/board", "/usr/local"])
def test_lgpio_wants_an_environment_of_debians_python(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python that is not Debian's cannot import Debian's lgpio, nor can its environments: another is to be made."""
    monkeypatch.setattr(sys, "prefix", prefix)
    monkeypatch.setattr(sys, "base_prefix", "/usr/local")
    assert str(drivers.lacking("gpiozero", "lgpio", (3, 13))) == (
        "the driver gpiozero wants the Python package lgpio, which is not installed: pip has none for this Python, and "
        f"Debian's is for Debian's own: `{SEES_DEBIAN.replace('python3 -m', '/usr/bin/python3 -m')} ~/morbak`, "
        "then install morbak-board there"
    )
