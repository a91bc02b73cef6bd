"""Pins: every way to write one, and one owner for each."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from hal.errors import ProfileError
from hal.pins import HEADER, PI_CHIPS, Claim, Pin, conflict, parse
from hal.profile import Profile, load, shipped
from tests.test_profile import Tables, changed, toml


@pytest.mark.parametrize(
    ("written", "chip", "expected"),
    [
        (17, "", Pin("", "GPIO17")),
        ("17", "", Pin("", "GPIO17")),
        ("GPIO17", "", Pin("", "GPIO17")),
        ("J8:11", "", Pin("", "GPIO17")),
        ("pinctrl-rp1:17", "", Pin("pinctrl-rp1", 17)),
        (17, "pinctrl-rp1", Pin("pinctrl-rp1", 17)),
        ("GPIO17", "pinctrl-rp1", Pin("pinctrl-rp1", "GPIO17")),
        ("J8:11", "pinctrl-rp1", Pin("pinctrl-rp1", 17)),
        ("gpio17", "", Pin("", "GPIO17")),
        ("Gpio017", "", Pin("", "GPIO17")),
        (" GPIO0 ", "", Pin("", "GPIO0")),
        ("j8:11", "", Pin("", "GPIO17")),
        ("ROW_A", "", Pin("", "ROW_A")),
        ("row_a", "", Pin("", "row_a")),
        ("gpiochip", "", Pin("", "gpiochip")),
        (3, "mcp23017", Pin("mcp23017", 3)),
    ],
)
def test_a_pin_is_written_in_four_ways(written: int | str, chip: str, expected: Pin) -> None:
    """A BCM number, a line's name, a place on the header, and a chip's label with an offset each name a line.

    A Pi's own names are known in capitals or not, others as they are.
    """
    assert expected == parse(written, chip)


@pytest.mark.parametrize("written", [17, "GPIO17", "gpio17", "J8:11", "j8:11", "pinctrl-rp1:17", "pinctrl-bcm2835:17"])
def test_ways_to_write_a_pin_agree_on_a_pi(written: int | str) -> None:
    """However it is written, a pin of the header has one number, one name and one place."""
    pin = parse(written)
    assert (17, "GPIO17", "GPIO17 (J8:11)") == (pin.bcm, pin.name, str(pin))


def test_lines_of_other_chips_have_no_number_of_a_pi() -> None:
    """A line of an expander, and a line with a name of its own, are no pins of the header."""
    assert (None, "mcp23017:3") == (parse("mcp23017:3").bcm, str(parse("mcp23017:3")))
    assert (None, "ROW_A") == (parse("ROW_A").bcm, str(parse("ROW_A")))


def test_the_header_is_that_of_a_pi() -> None:
    """The header has the 28 GPIOs once each, as gpiozero's own table of a Pi 4 has them (an independent table)."""
    from gpiozero.pins import data

    _, _, theirs = data.PI4_J8
    gpios = {number: int(uses["gpio"][4:]) for number, uses in theirs.items() if "gpio" in uses}
    assert gpios == HEADER
    assert sorted(HEADER.values()) == list(range(28))


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (-1, "0 and more"),
        ("", "without a name"),
        ("J8:1", "supply or a ground"),
        ("J8:39", "supply or a ground"),
        ("J8:41", "no such pin"),
        ("J8:x", "is written 17, GPIO17, J8:11"),
        (":4", "is written 17, GPIO17, J8:11"),
    ],
)
def test_what_names_no_line_is_refused_with_the_reason(written: int | str, words: str) -> None:
    """What names no line is refused, and the reason says how one is written."""
    with pytest.raises(ValueError, match=words):
        parse(written)


@pytest.mark.parametrize(("bcm", "words"), [(0, "EEPROM"), (1, "EEPROM"), (14, "console"), (15, "console"), (28, "SD")])
def test_the_kernels_pins_are_refused_with_the_reason(bcm: int, words: str) -> None:
    """Pins that the kernel of every Pi uses are refused, whatever way they are written, and the reason is said."""
    for pin in [parse(bcm), *(parse(f"{chip}:{bcm}") for chip in PI_CHIPS)]:
        refused = conflict([Claim("buzzer.pin", pin)])
        assert refused is not None
        assert "buzzer.pin" == refused[0].owner
        assert words in refused[1]
    assert conflict([Claim("buzzer.pin", parse(f"mcp23017:{bcm}"))]) is None


def test_every_two_claims_on_one_pin_clash() -> None:
    """Of any two ways to write one pin, and any two owners, both owners are named."""
    ways = [parse(17), parse("GPIO17"), parse("J8:11"), parse("pinctrl-rp1:17")]
    for one, other in combinations(ways, 2):
        refused = conflict([Claim("matrix.rows", one), Claim("buzzer.pin", other)])
        assert refused is not None
        assert "GPIO17 (J8:11) is wanted by matrix.rows and by buzzer.pin" == refused[1]
    assert conflict([Claim("matrix.rows", parse("mcp23017:3")), Claim("matrix.rows", parse("mcp23008:3"))]) is None


def loaded(folder: Path, tables: Tables) -> Profile:
    """The profile of these tables."""
    (folder / "board.toml").write_text(toml(tables), encoding="utf-8")
    return load(folder / "board.toml")


@pytest.mark.parametrize(
    ("section", "values", "key", "words"),
    [
        ("buttons", {"start": "J8:29"}, "buttons.start", "GPIO5 (J8:29) is wanted by matrix.rows and by buttons.start"),
        ("buzzer", {"pin": 20}, "buzzer.pin", "wanted by buttons.start and by buzzer.pin"),
        ("buzzer", {"pin": 1}, "buzzer.pin", "EEPROM"),
        ("buttons", {"start": "J8:2"}, "buttons.start", "supply or a ground"),
        ("leds", {"pin": "J8:2"}, "leds.pin", "supply or a ground"),
        ("leds", {"pin": "J8:"}, "leds.pin", "is written 17, GPIO17, J8:11"),
        ("leds", {"driver": "spidev", "pin": "J8:99"}, "leds.pin", "no such pin"),
        ("matrix", {"rows": [5, 6, 12, 13, 16, 19, 5]}, "matrix.rows", "wanted by matrix.rows and by matrix.rows"),
        ("matrix", {"rows": [5, 6, 12, 13, 16, 19]}, "matrix.rows", "7 pins"),
        ("matrix", {"columns": [4]}, "matrix.columns", "7 pins"),
        ("matrix", {"options": {"address": 32}}, "matrix.options", "the driver sim has no options"),
        ("matrix", {"driver": "gpiod"}, "matrix.driver", "simulated as a whole"),
        ("matrix", {"driver": "gpoid"}, "matrix.driver", "there are: sim, gpiod, gpiozero"),
    ],
)
def test_a_profile_whose_pins_clash_is_refused(
    tmp_path: Path, section: str, values: dict[str, object], key: str, words: str
) -> None:
    """A profile with a pin that is none, not free or missing is refused by the key that asks, and both claimants."""
    with pytest.raises(ProfileError) as caught:
        loaded(tmp_path, changed(section, **values))
    assert key == caught.value.key
    assert words in caught.value.reason


def test_contacts_and_leds_share_no_line(tmp_path: Path) -> None:
    """A row on the LEDs' data line, or on another line of their bus, would be seen as light (case D17)."""
    reference = shipped("reference").read_text()
    for gpio in ("GPIO10", "gpio11"):
        (tmp_path / "board.toml").write_text(reference.replace('"GPIO5"', f'"{gpio}"', 1))
        with pytest.raises(ProfileError, match=r"is wanted by leds.pin and by matrix.rows: SPI0"):
            load(tmp_path / "board.toml")


def test_a_profile_knows_its_pins(tmp_path: Path) -> None:
    """The matrix's pins are those of the file, on the chip it names."""
    matrix = loaded(tmp_path, changed("matrix", rows=["J8:29", 6, 12, 13, 16, 19, "pinctrl-bcm2711:26"])).matrix
    assert [5, 6, 12, 13, 16, 19, 26] == [pin.bcm for pin in matrix.row_pins]
    assert ["pinctrl-rp1"] * 6 + ["pinctrl-bcm2711"] == [pin.chip for pin in matrix.row_pins]
    assert [17, 27, 22, 23, 24, 25, 4] == [pin.bcm for pin in matrix.column_pins]
