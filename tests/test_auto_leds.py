"""LEDs by the machine's model: which driver is tried, what is said of it, and that a named one never slides."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from hal import drivers
from hal.drivers.auto_leds import open_leds
from hal.errors import PartError
from hal.ports import Leds
from hal.profile import Profile, load, shipped
from tests.test_board import Chain

SIM = load(shipped("sim"))


def profile(driver: str = "auto", pin: str = "GPIO10") -> Profile:
    """49 LEDs by this driver."""
    return SIM._replace(leds=msgspec.structs.replace(SIM.leds, driver=driver, pin=pin))


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Leds]:
    """The drivers that answer, by name; any other is refused."""
    there: dict[str, Leds] = {}

    def opener(part: str, name: str) -> Callable[[Profile], Leds]:
        def opened(profile: Profile) -> Leds:
            assert (name, "leds") == (profile.leds.driver, part)
            if name not in there:
                raise PartError(f"no {name} here")
            return there[name]

        return opened

    monkeypatch.setattr(drivers, "_opener", opener)
    return there


def machine(root: Path, name: str) -> Path:
    """A machine by its model."""
    (root / "proc/device-tree").mkdir(parents=True)
    (root / "proc/device-tree/model").write_text(f"{name}\0")
    return root


@pytest.mark.parametrize(
    ("name", "pin", "driver", "why"),
    [
        ("Raspberry Pi 4 Model B Rev 1.4", "GPIO10", "spidev", "SPI is on GPIO10 and needs no root"),
        ("Raspberry Pi 4 Model B Rev 1.4", "GPIO18", "rpi_ws281x", "GPIO18 is driven by PWM"),
        ("Raspberry Pi 5 Model B Rev 1.0", "GPIO18", "leds0", "its kernel drives LEDs on any line"),
    ],
)
def test_auto_picks_by_the_model_and_says_why(
    answers: dict[str, Leds],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    name: str,
    pin: str,
    driver: str,
    why: str,
) -> None:
    """The driver for model and pin is opened, and the log says which and why."""
    caplog.set_level(logging.INFO)
    answers |= {other: Chain() for other in ("spidev", "rpi_ws281x", "leds0", "neopixel")}
    assert answers[driver] is open_leds(profile(pin=pin), machine(tmp_path, name))
    (record,) = caplog.records
    assert record.getMessage().startswith(f'LEDs: driver = "auto" picks {driver} ({name}: {why}')


def test_auto_goes_on_to_the_next_and_says_what_was_wrong(
    answers: dict[str, Leds], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A first choice that does not answer is named with its reason, and the next one is taken (cases A3, B12)."""
    caplog.set_level(logging.INFO)
    answers["rpi_ws281x"] = Chain()
    assert answers["rpi_ws281x"] is open_leds(profile(), machine(tmp_path, "Raspberry Pi 3 Model B Rev 1.2"))
    refused, picked = (record.getMessage() for record in caplog.records)
    assert refused == "LEDs: not spidev: no spidev here"
    assert picked.endswith("after others failed.")


@pytest.mark.usefixtures("answers")
def test_auto_without_any_driver_is_one_sentence(tmp_path: Path) -> None:
    """Where nothing answers the sentence has the reason of the best driver and names the others."""
    with pytest.raises(PartError) as caught:
        open_leds(profile(), machine(tmp_path, "Raspberry Pi 5 Model B Rev 1.0"))
    assert str(caught.value) == "no LED driver answers (nor does spidev, neopixel); leds0: no leds0 here"


@pytest.mark.usefixtures("answers")
def test_auto_on_a_pin_for_nothing_names_the_pins(tmp_path: Path) -> None:
    """A pin that carries no LEDs on this model is refused with those that do."""
    with pytest.raises(PartError, match=r"leds.pin = 'GPIO4' carries no LEDs on a Raspberry Pi 4 .*: GPIO10 \(SPI\)"):
        open_leds(profile(pin="GPIO4"), machine(tmp_path, "Raspberry Pi 4 Model B Rev 1.4"))


@pytest.mark.parametrize("name", ["spidev", "rpi_ws281x", "leds0", "neopixel"])
def test_a_named_driver_never_slides_to_another(answers: dict[str, Leds], name: str) -> None:
    """A driver that the profile names is the one that is opened, or the one that is refused."""
    answers |= {other: Chain() for other in ("spidev", "rpi_ws281x", "leds0", "neopixel") if other != name}
    with pytest.raises(PartError, match=f"^no {name} here$"):
        drivers.open_leds(profile(name))


def test_a_name_that_is_no_driver_is_refused_with_all_there_are() -> None:
    """A misspelt driver is refused with the names of those there are."""
    with pytest.raises(
        PartError, match=r"no driver spidv for the leds; there are: sim, auto, spidev, rpi_ws281x, neop"
    ):
        drivers.open_leds(profile("spidv"))
