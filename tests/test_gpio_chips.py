"""The GPIO chip of a board is found by label and by its lines' names, whatever number a kernel gave it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hal.drivers import gpio_chips
from hal.drivers.gpio_chips import Chip, place
from hal.errors import PartError
from hal.pins import Pin, parse

NAMED = ("ID_SDA", "ID_SCL", *(f"GPIO{bcm}" for bcm in range(2, 28)))
# As the stock device trees of Debian's kernel name them: by use.
BY_USE = ("ID_SDA", "ID_SCL", "SDA1", "SCL1", "GPIO_GCLK", *(f"GPIO{bcm}" for bcm in range(5, 28)))
SOC = tuple(f"PIN{at}" for at in range(40))
EXPANDER = Chip("/dev/gpiochip1", "raspberrypi-exp-gpio", ("BT_ON", "WL_ON", "PWR_LED_OFF", "GLOBAL_RESET"))

MACHINES = {
    "pi3": [Chip("/dev/gpiochip0", "pinctrl-bcm2835", (*NAMED, "HDMI_HPD")), EXPANDER],
    "pi4": [Chip("/dev/gpiochip0", "pinctrl-bcm2711", (*NAMED, "RGMII_MDIO")), EXPANDER],
    "pi4 of Debian": [Chip("/dev/gpiochip0", "pinctrl-bcm2711", BY_USE), EXPANDER],
    "pi5 before 6.6.45": [
        *(Chip(f"/dev/gpiochip{at}", f"gpio-brcmstb@107d{at}", SOC) for at in range(4)),
        Chip("/dev/gpiochip4", "pinctrl-rp1", NAMED),
    ],
    "pi5 since": [
        Chip("/dev/gpiochip0", "pinctrl-rp1", NAMED),
        *(Chip(f"/dev/gpiochip{at}", f"gpio-brcmstb@107d{at}", SOC) for at in range(10, 14)),
    ],
    "pi5 in a container": [Chip("/dev/gpiochip0", "pinctrl-rp1", NAMED)],
}
HEADERS = {name: next(chip for chip in chips if "pinctrl" in chip.label) for name, chips in MACHINES.items()}
ROWS = [parse(bcm) for bcm in (5, 6, 12, 13, 16, 19, 4)]


@pytest.mark.parametrize("machine", MACHINES)
def test_the_header_is_found_on_every_machine(machine: str) -> None:
    """The reference board's pins are found on the header's chip, wherever that is (cases B10, C2)."""
    found = place(ROWS, MACHINES[machine], "matrix.rows")
    assert (HEADERS[machine], (5, 6, 12, 13, 16, 19, 4)) == found


@pytest.mark.parametrize("machine", ["pi5 before 6.6.45", "pi5 since"])
def test_a_chip_is_chosen_by_its_label(machine: str) -> None:
    """A profile that names its chip gets that one; an offset is one of that chip."""
    chips = MACHINES[machine]
    assert HEADERS[machine] == place([Pin("pinctrl-rp1", 17)], chips, "matrix.rows").chip
    assert "gpio-brcmstb" in place([Pin(chips[1].label, 17)], chips, "matrix.rows").chip.label


@pytest.mark.parametrize(
    ("pins", "words"),
    [
        ([parse("pinctrl-bcm2711:5")], "no GPIO chip has GPIO5 (J8:29)"),
        ([parse(5), parse("ROW_B")], "no GPIO chip has ROW_B beside the other pins of matrix.rows"),
        ([parse(5), Pin("gpio-brcmstb@107d10", 3)], "has gpio-brcmstb@107d10:3 beside"),
        ([parse("pinctrl-rp1:28")], "has pinctrl-rp1:28 beside"),
    ],
)
def test_a_line_that_is_nowhere_is_named_with_the_chips_there_are(pins: list[Pin], words: str) -> None:
    """A line that no chip has, or not the one of its neighbours, is named, with the chips and how to list lines."""
    with pytest.raises(PartError) as caught:
        place(pins, MACHINES["pi5 since"], "matrix.rows")
    assert words in str(caught.value)
    assert "there are gpiochip0 (pinctrl-rp1), gpiochip10 (gpio-brcmstb@107d10)" in str(caught.value)
    assert "`gpioinfo`" in str(caught.value)


def test_chips_are_listed_by_their_whole_number_and_once(tmp_path: Path) -> None:
    """gpiochip10 comes after gpiochip2, and an old name that links to a new one is no second chip (case B10)."""
    for name in ("gpiochip0", "gpiochip2", "gpiochip10"):
        (tmp_path / name).touch()
    (tmp_path / "gpiochip4").symlink_to(tmp_path / "gpiochip0")
    assert [str(tmp_path / f"gpiochip{at}") for at in (0, 2, 10)] == gpio_chips.devices(tmp_path)
    assert [10, 0] == [gpio_chips.number(Chip(str(tmp_path / name), "", ())) for name in ("gpiochip10", "gpiochip4")]


def test_a_computer_without_a_chip_is_told_what_it_can_do(tmp_path: Path) -> None:
    """Where there is no chip that is said, with a command that plays without one."""
    with pytest.raises(PartError, match=r"has no GPIO chip .*`morbak run --board sim`"):
        gpio_chips.devices(tmp_path)
