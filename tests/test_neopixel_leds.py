"""LEDs through CircuitPython's neopixel: imported when opened, one show a frame, and a sentence where there is none."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from hal import conformance
from hal.conformance_leds import LEDS, LedBench, LedCheck, Shown
from hal.drivers.neopixel_leds import QUIET, NeoPixelLeds, open_leds
from hal.errors import PartError
from hal.ports import Leds
from hal.profile import Profile, load, shipped

SIM = load(shipped("sim"))
LIBRARIES = Path(__file__).parent / "fake_libraries"
NAMES = ("board", "neopixel")


def profile(pin: str = "GPIO18") -> Profile:
    """49 LEDs through neopixel."""
    return SIM._replace(leds=msgspec.structs.replace(SIM.leds, driver="neopixel", pin=pin))


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Libraries to import, new for each test."""
    monkeypatch.syspath_prepend(LIBRARIES)
    monkeypatch.setenv(QUIET, "0")
    monkeypatch.delenv(QUIET)
    yield
    for name in NAMES:
        sys.modules.pop(name, None)
    importlib.invalidate_caches()


def strip() -> ModuleType:
    """The library's latest strip."""
    made: ModuleType = sys.modules["neopixel"].NeoPixel.made[-1]
    return made


def test_a_frame_is_one_show(libraries: None) -> None:
    """Opening is one dark show, a frame is one show of its bytes as given, closing another dark one (case B6)."""
    leds = open_leds(profile())
    frame = bytes(range(147))
    leds.write(frame)
    leds.close()
    leds.close()
    assert [bytes(147), frame, bytes(147)] == strip().shown
    assert ("GPIO18", True) == (strip().pin, strip().ended)


@pytest.mark.parametrize("check", LEDS, ids=conformance.name)
def test_it_passes_the_suite(libraries: None, check: LedCheck) -> None:
    """The driver keeps every promise, as far as a library without a wire can tell."""
    seen: dict[int, int] = {}

    def shown() -> list[Shown]:
        fresh = []
        for made in sys.modules["neopixel"].NeoPixel.made if "neopixel" in sys.modules else []:
            fresh += made.shown[seen.get(id(made), 0) :]
            seen[id(made)] = len(made.shown)
        return [Shown(now_us(), frame) for frame in fresh]

    check(LedBench(49, lambda: open_leds(profile()), shown, now_us, crash=lambda _: None))


def now_us() -> int:
    """A clock."""
    return time.monotonic_ns() // 1_000


def refused(pin: str = "GPIO18") -> str:
    """What opening says."""
    with pytest.raises(PartError) as caught:
        open_leds(profile(pin))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_pc_is_one_sentence(libraries: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that Blinka does not know, and one where only `board` imports, are each a sentence (cases B1, B2)."""
    monkeypatch.setenv("FAKE_BLINKA", "none")
    assert refused().startswith("there is no CircuitPython that drives LEDs here (Board not supported): `pip install ")
    monkeypatch.delenv("FAKE_BLINKA")
    monkeypatch.setenv("FAKE_NEOPIXEL", "import")
    assert "(neopixel_write is not available)" in refused()


def test_without_the_library_it_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Blinka the sentence says what to install."""
    monkeypatch.setitem(sys.modules, "board", None)
    assert "`pip install adafruit-circuitpython-neopixel`" in refused()


def test_a_pin_that_circuitpython_lacks_is_named(libraries: None) -> None:
    """A pin that the machine does not have is named."""
    assert refused("GPIO4") == "leds.pin = 'GPIO4': CircuitPython knows no D4 on this machine"


def test_a_strip_that_cannot_be_opened_is_one_sentence(libraries: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the library says when it is opened, or at its first frame, is passed on in a sentence."""
    monkeypatch.setenv("FAKE_NEOPIXEL", "open")
    assert "neopixel cannot drive D18: NeoPixel support requires running with sudo" in refused()
    monkeypatch.setenv("FAKE_NEOPIXEL", "show")
    assert "neopixel does not take a frame: Failed to write" in refused()


def test_a_frame_that_fails_is_a_part_error(libraries: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A strip that fails later is a failed part, and may work again."""
    leds: Leds = open_leds(profile())
    assert isinstance(leds, NeoPixelLeds)
    monkeypatch.setenv("FAKE_NEOPIXEL", "show")
    with pytest.raises(PartError, match="does not take a frame: Failed to write"):
        leds.write(bytes(147))
    monkeypatch.delenv("FAKE_NEOPIXEL")
    leds.write(bytes(147))
    with pytest.raises(ValueError, match="a frame of 3 bytes for 49 LEDs"):
        leds.write(bytes(3))


def test_importing_the_driver_imports_no_device_library() -> None:
    """Every driver imports without Blinka, whose import asks for hardware (case B1)."""
    modules = sorted(path.stem for path in (Path(__file__).parent.parent / "hal/drivers").glob("*_leds.py"))
    code = (
        f"import importlib, sys\nfor name in {modules}: importlib.import_module('hal.drivers.' + name)\n"
        "print([name for name in ('board', 'neopixel', 'rpi_ws281x', 'spidev', 'gpiod') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ})
    assert (0, "[]\n", "") == (ran.returncode, ran.stdout, ran.stderr)
    assert len(modules) == 5
