"""The pin factory of gpiozero: chosen once and outright, so that it never slides to another (case C1)."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from typing import Any

from hal.drivers import gpio_chips, lacking
from hal.drivers.gpio_chips import Chip
from hal.errors import PartError
from hal.pins import Pin

# A factory of gpiozero or of somebody else, by its name in the entry points gpiozero_pin_factories.
NAME = "GPIOZERO_PIN_FACTORY"


def pin_factory(pins: tuple[Pin, ...]) -> Any:
    """The factory for all of gpiozero in this process: the one that is set, else the one $GPIOZERO_PIN_FACTORY names,
    else lgpio on the chip that has these pins. Raises PartError."""
    try:
        import gpiozero
    except ImportError as fault:
        raise lacking("gpiozero", "gpiozero") from fault
    device = gpiozero.Device
    if device.pin_factory is None:
        if os.environ.get(NAME):
            _named(device)
        else:
            device.pin_factory = _lgpio(pins)
    return device.pin_factory


def _named(device: Any) -> None:
    try:
        device.ensure_pin_factory()  # with a name given it tries no other
    except Exception as fault:
        # Whatever a stranger's factory raises on its way in.
        raise PartError(f"the pin factory {os.environ[NAME]} ({NAME}) cannot be used: {fault!r}") from fault


def _lgpio(pins: tuple[Pin, ...]) -> Any:
    """gpiozero on the kernel's GPIO chip that has these pins, verified (case C3)."""
    devices = gpio_chips.devices()
    lgpio = _import_lgpio()
    from gpiozero.exc import GPIOZeroError
    from gpiozero.pins.lgpio import LGPIOFactory

    chip = gpio_chips.number(gpio_chips.place(pins, [_chip(lgpio, path) for path in devices], "gpiozero").chip)
    try:
        factory = LGPIOFactory(chip=chip)
    except (lgpio.error, GPIOZeroError, OSError) as fault:
        raise PartError(f"gpiozero cannot use /dev/gpiochip{chip}: {fault}; `gpioinfo` shows who has which line") from (
            fault
        )
    if factory.chip != chip:
        factory.close()
        raise PartError(
            f"gpiozero has opened chip {factory.chip} where {chip} was asked for: `pip install -U gpiozero`"
        )
    return factory


def _chip(lgpio: Any, path: str) -> Chip:
    """A chip and the names of its lines. Raises PartError."""
    try:
        handle = lgpio.gpiochip_open(gpio_chips.number(Chip(path, "", ())))
    except lgpio.error as fault:
        raise PartError(
            f"{path} cannot be opened ({fault}): `sudo usermod -aG gpio $USER`, then log in again"
        ) from fault
    try:
        _, lines, _, label = lgpio.gpio_get_chip_info(handle)
        return Chip(path, label, tuple(lgpio.gpio_get_line_info(handle, line)[3] for line in range(lines)))
    finally:
        lgpio.gpiochip_close(handle)


def _import_lgpio() -> Any:
    """lgpio, which makes a pipe in its working directory when it is imported, and moves there (case C10)."""
    if "LG_WD" not in os.environ:
        folder = os.environ.get("RUNTIME_DIRECTORY", "").partition(":")[0]
        if not folder:
            folder = tempfile.mkdtemp(prefix="morbak-lgpio-")
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["LG_WD"] = folder
    here = os.getcwd()
    try:
        import lgpio
    except ImportError as fault:
        raise lacking("gpiozero", "lgpio") from fault
    except OSError as fault:
        raise PartError(
            f"lgpio cannot make its pipe in {os.environ['LG_WD']} ({fault.strerror}): "
            "set LG_WD to a directory that may be written"
        ) from fault
    finally:
        os.chdir(here)
    return lgpio
