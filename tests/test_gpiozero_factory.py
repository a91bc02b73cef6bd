"""gpiozero's pin factory: chosen outright and checked, its library imported where it may write."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import gpiozero
import pytest

from hal.drivers import gpio_chips, gpiozero_factory
from hal.drivers.gpiozero_factory import pin_factory
from hal.errors import PartError
from hal.pins import parse
from tests.test_layout import ROOT

PINS = tuple(parse(bcm) for bcm in (5, 6, 17))
NAMED = ("ID_SDA", "ID_SCL", *(f"GPIO{bcm}" for bcm in range(2, 28)))


@pytest.fixture(autouse=True)
def no_factory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No factory is chosen yet, and none stays."""
    monkeypatch.delenv("GPIOZERO_PIN_FACTORY", raising=False)
    monkeypatch.setattr(gpiozero.Device, "pin_factory", None)
    yield
    if gpiozero.Device.pin_factory is not None:
        gpiozero.Device.pin_factory.close()


class FakeLgpio(ModuleType):
    """lgpio on a Pi 5 whose header is chip 4, as before the kernel 6.6.45."""

    class error(Exception):  # noqa: N801 - its name there
        """What lgpio raises."""

    def __init__(self) -> None:
        super().__init__("lgpio")
        self.refuses = ""

    def gpiochip_open(self, number: int) -> int:
        if self.refuses:
            raise self.error(self.refuses)
        return number

    def gpiochip_close(self, handle: int) -> None:
        pass

    def gpio_get_chip_info(self, handle: int) -> list[object]:
        return [0, 28, f"gpiochip{handle}", "pinctrl-rp1" if handle == 4 else "gpio-brcmstb@107d"]

    def gpio_get_line_info(self, handle: int, line: int) -> list[object]:
        return [0, line, 0, NAMED[line] if handle == 4 else f"PIN{line}", ""]


@pytest.fixture
def lgpio(monkeypatch: pytest.MonkeyPatch) -> FakeLgpio:
    """A Pi 5 with lgpio."""
    fake = FakeLgpio()
    monkeypatch.setattr(gpio_chips, "devices", lambda: ["/dev/gpiochip0", "/dev/gpiochip4"])
    monkeypatch.setattr(gpiozero_factory, "_import_lgpio", lambda: fake)
    return fake


def opens(monkeypatch: pytest.MonkeyPatch, opened: int | None = None, fault: Exception | None = None) -> None:
    """gpiozero's LGPIOFactory opens the chip asked for, or another, or none."""

    def factory(chip: int) -> Any:
        if fault is not None:
            raise fault
        return SimpleNamespace(chip=chip if opened is None else opened, close=lambda: None)

    module = ModuleType("gpiozero.pins.lgpio")
    module.LGPIOFactory = factory  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gpiozero.pins.lgpio", module)


def test_the_chip_is_the_one_that_has_the_pins(lgpio: FakeLgpio, monkeypatch: pytest.MonkeyPatch) -> None:
    """lgpio gets the number of the chip whose lines have the names, and all of gpiozero gets that factory (case C2)."""
    opens(monkeypatch)
    factory = pin_factory(PINS)
    assert 4 == factory.chip
    assert factory is gpiozero.Device.pin_factory
    assert factory is pin_factory(PINS)


def test_a_factory_that_opens_another_chip_is_refused(lgpio: FakeLgpio, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gpiozero that ignores the chip it is given is named, with the command that mends it (case C3)."""
    opens(monkeypatch, opened=0)
    with pytest.raises(PartError, match=r"has opened chip 0 where 4 was asked for: `pip install -U gpiozero`"):
        pin_factory(PINS)
    assert gpiozero.Device.pin_factory is None


def test_a_chip_that_does_not_open_is_named(lgpio: FakeLgpio, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chip without permission, and one that gpiozero cannot use, are each said in a sentence with a command."""
    opens(monkeypatch, fault=gpiozero.PinUnknownPi("unable to locate Pi revision"))
    with pytest.raises(PartError, match=r"gpiozero cannot use /dev/gpiochip4: unable to locate .*; `gpioinfo`"):
        pin_factory(PINS)
    lgpio.refuses = "can not open gpiochip"
    with pytest.raises(PartError, match=r"/dev/gpiochip0 cannot be opened .*: `sudo usermod -aG gpio \$USER`"):
        pin_factory(PINS)


def test_a_named_factory_never_slides_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """The factory that is named is used; one that cannot be is refused, and there is no warning of a fallback (C1)."""
    monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "morbak_sim")
    assert "SimFactory" == type(pin_factory(PINS)).__name__
    gpiozero.Device.pin_factory.close()
    gpiozero.Device.pin_factory = None
    monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "morbak_sin")
    with pytest.raises(PartError, match=r"the pin factory morbak_sin .*cannot be used: .*Unable to find pin factory"):
        pin_factory(PINS)
    assert gpiozero.Device.pin_factory is None


PROGRAM = """
import os, sys
from hal.drivers.gpiozero_factory import _import_lgpio
here = os.getcwd()
_import_lgpio()
print(os.getcwd() == here, os.listdir("."), os.environ["LG_WD"], os.listdir(os.environ["LG_WD"]))
"""


def lgpio_in(folder: Path, **environment: str) -> list[str]:
    """What the program says when it is run in a folder."""
    given = {name: text for name, text in os.environ.items() if name not in ("LG_WD", "RUNTIME_DIRECTORY")}
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        cwd=folder,
        env={**given, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (0, "") == (ran.returncode, ran.stderr)
    return ran.stdout.split()


@pytest.mark.lgpio
def test_lgpio_makes_its_pipe_where_it_may(tmp_path: Path) -> None:
    """lgpio's pipe is not made in the working directory, which stays what it was (case C10): it goes into a directory
    of its own that vanishes, or the one that a service manager gives.
    """
    (tmp_path / "run").mkdir()
    (tmp_path / "here").mkdir()
    stayed, listed, folder, pipe = lgpio_in(tmp_path / "here")
    assert ("True", "[]", "['.lgd-nfy0']") == (stayed, listed, pipe)
    assert not Path(folder).exists()
    stayed, listed, folder, pipe = lgpio_in(tmp_path / "here", RUNTIME_DIRECTORY=f"{tmp_path / 'run'}:/elsewhere")
    assert ("True", "[]", str(tmp_path / "run"), "['.lgd-nfy0']") == (stayed, listed, folder, pipe)


def test_a_directory_that_lgpio_cannot_use_is_named(tmp_path: Path) -> None:
    """Where lgpio cannot make its pipe that is said with the variable to set, not as a missing library (case C10)."""
    code = (
        "from hal.drivers.gpiozero_factory import _import_lgpio\nfrom hal.errors import PartError\n"
        "try: _import_lgpio()\nexcept PartError as fault: print(fault)"
    )
    fake = tmp_path / "lgpio.py"
    fake.write_text("open('.lgd-nfy-3', 'rb')\n")
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}", "LG_WD": "/nowhere"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (0, "") == (ran.returncode, ran.stderr)
    assert ran.stdout.startswith("lgpio cannot make its pipe in /nowhere (No such file or directory): set LG_WD")
