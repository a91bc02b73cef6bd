"""`morbak pinout`: every wire at its pin, every part counted, whatever the board."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import msgspec
import pytest

from firmware.cli import main
from hal import pinout
from hal.pins import HEADER
from hal.profile import Profile, load, shipped

Output = pytest.CaptureFixture[str]
REFERENCE = load(shipped("reference"))
SHIPPED = sorted(path.stem for path in Path(REFERENCE.file).parent.glob("*.toml"))


def board(tmp_path: Path, *changes: tuple[str, str]) -> Profile:
    """The reference board with parts of its text replaced."""
    text = Path(REFERENCE.file).read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    return load(tmp_path / "mine.toml")


def drawn(profile: Profile) -> dict[int, tuple[str, str]]:
    """What the picture of the header says of each pin: its name, and what goes there."""
    found: dict[int, tuple[str, str]] = {}
    for line in pinout.header(profile)[:20]:
        left, right = line.split(" │ ")
        use, name, pin = re.fullmatch(r"(.*?)[ ─]*(3V3|5V|GND|GPIO\d+) +(\d+)", left).groups()  # type: ignore[union-attr]
        found[int(pin)] = (name, use.strip())
        pin, name, use = re.fullmatch(r"(\d+) *(5V|GND|GPIO\d+)[ ─]*(.*)", right).groups()  # type: ignore[union-attr]
        found[int(pin)] = (name, use.strip())
    return found


def counts(profile: Profile) -> dict[str, int]:
    """How many of each part are to be bought, by the first two words of its name."""
    return {" ".join(part.what.split()[:2]): part.quantity for part in pinout.parts(profile)}


def test_the_header_is_drawn_as_it_lies() -> None:
    """Forty pins, odd ones left, each with its name; supplies and grounds where every Pi has them."""
    found = drawn(REFERENCE)
    assert list(range(1, 41)) == sorted(found)
    assert {f"GPIO{bcm}" for bcm in HEADER.values()} == {name for name, _ in found.values()} - {"3V3", "5V", "GND"}
    assert {1, 17} == {pin for pin, (name, _) in found.items() if name == "3V3"}
    assert {2, 4} == {pin for pin, (name, _) in found.items() if name == "5V"}
    assert {6, 9, 14, 20, 25, 30, 34, 39} == {pin for pin, (name, _) in found.items() if name == "GND"}


def test_every_wire_of_the_reference_board_is_at_its_pin() -> None:
    """Rows, columns, data, button, buzzer and their grounds; the other pins of SPI are shown as taken."""
    assert {
        29: "row 1", 31: "row 2", 32: "row 3", 33: "row 4", 36: "row 5", 35: "row 6", 37: "row 7",
        11: "column a", 13: "column b", 15: "column c", 16: "column d", 18: "column e", 22: "column f", 7: "column g",
        19: "LED data", 20: "LED ground", 38: "start button", 39: "button ground", 40: "buzzer", 34: "buzzer ground",
        21: "(taken by SPI)", 23: "(taken by SPI)", 24: "(taken by SPI)", 26: "(taken by SPI)",
    } == {pin: use for pin, (_, use) in drawn(REFERENCE).items() if use}  # fmt: skip


def test_picture_and_data_agree_on_any_wiring(tmp_path: Path, seed: int) -> None:
    """On random pins, and a random LED driver, every wire is drawn once and at the pin that it has."""
    rng = random.Random(seed)
    free = [bcm for bcm in HEADER.values() if bcm not in (0, 1, 14, 15)]
    text = re.sub("#.*", "", Path(REFERENCE.file).read_text(encoding="utf-8")).replace("spidev", "leds0")
    between = re.split(r"GPIO\d+", text)
    for _ in range(100):
        bcms = rng.sample(free, 17)
        if bcms[14] == 10:
            continue  # then the LEDs take all of SPI, and other wires may be in the way
        wired = "".join(f"{part}GPIO{bcm}" for part, bcm in zip(between, bcms, strict=False)) + between[-1]
        (tmp_path / "mine.toml").write_text(wired, encoding="utf-8")
        profile = load(tmp_path / "mine.toml")
        names = [*(f"row {at}" for at in range(1, 8)), *(f"column {letter}" for letter in "abcdefg")]
        wires = dict(zip([*names, "LED data", "start button", "buzzer"], bcms, strict=True))
        found = {use: name for name, use in drawn(profile).values() if use}
        assert {use: f"GPIO{bcm}" for use, bcm in wires.items()} | dict.fromkeys(
            pinout.GROUNDED.values(), "GND"
        ) == found
        data = {each["use"]: each["name"] for each in pinout.document(profile)["header"] if each["use"]}
        assert found == data


def test_the_chain_is_drawn_cell_by_cell(tmp_path: Path) -> None:
    """The number in each cell is its LED's, row 1 at the bottom, also on a board that is turned and mirrored."""
    for changes in ([], [("columns = 7\n", "columns = 7\nrotate_deg = 90\nmirror = true\n")]):
        profile = board(tmp_path, *changes)
        rows = [line.split() for line in pinout.chain(profile)]
        assert ["a", "b", "c", "d", "e", "f", "g"] == rows[7]
        for place, cell in enumerate(profile.chain):
            assert [str(cell // 7 + 1), str(place)] == [rows[6 - cell // 7][0], rows[6 - cell // 7][1 + cell % 7]]


def test_wires_of_a_turned_board_are_those_of_the_wiring(tmp_path: Path) -> None:
    """On a board that is turned a wire does not go to the row of cells that it is named for; it is called so."""
    profile = board(tmp_path, ("columns = 7\n", "columns = 7\nrotate_deg = 180\n"))
    assert "wired row 1" == pinout.uses(profile)[29]


def test_several_leds_a_cell_and_edge_strips_are_counted(tmp_path: Path) -> None:
    """The first LED of each cell is shown, then where the strips lie; all of them are to be bought."""
    changes = [
        ('pin = "GPIO10"', 'pin = "GPIO10"\nper_cell = 2'),
        ("[buttons]", "[edge_strips]\na = 7\nb = 9\n[buttons]"),
    ]
    profile = board(tmp_path, *changes)
    lines = pinout.chain(profile)
    assert ["1", "0", "2", "4", "6", "8", "10", "12"] == lines[6].split()
    assert ["98 to 104", "105 to 113"] == [re.search(r"\d+ to \d+", line)[0] for line in lines[-2:]]  # type: ignore[index]
    assert 49 * 2 + 7 + 9 == counts(profile)["LED WS2812B"]


def test_what_to_buy_is_counted(tmp_path: Path) -> None:
    """A contact and a diode a cell, one of everything else; what the board has not is not bought (cases A25, A26)."""
    assert {
        "Raspberry Pi,": 1, "LED WS2812B": 49, "contact, normally": 49, "diode 1N4148": 49, "supply 5": 1,
        "level shifter": 1, "resistor 330": 1, "capacitor 1000": 1, "push button": 1, "piezo buzzer,": 1,
    } == counts(REFERENCE)  # fmt: skip
    bare = board(
        tmp_path,
        ("diodes = true", "diodes = false"),
        ('start = "GPIO20"', ""),
        ('[buzzer]\npin = "GPIO21"', ""),
        ("supply_ma = 3000", "supply_ma = 2500"),
        ('"ws2812b"', '"unknown"'),
    )
    assert not {"diode 1N4148", "push button", "piezo buzzer,"} & counts(bare).keys()
    assert "supply 5 V, 2.5 A" in {part.what for part in pinout.parts(bare)}
    assert "LED WS2812 or the like" in {part.what for part in pinout.parts(bare)}


def test_what_ruins_a_board_is_said(tmp_path: Path) -> None:
    """A feed of its own, never 3.3 V, common ground, the shifter; and what this board alone must mind (cases A13, A25,
    A26, D1, G18, H7, H8), in words that need no case book.
    """
    said = " ".join(pinout.warnings(REFERENCE))
    assert all(words in said for words in ("own 5 V supply", "Never feed them from the 3.3 V", "Join the grounds"))
    assert "74AHCT125" in said and "Without diodes" not in said and "headphones" not in said
    assert "Without diodes" in " ".join(pinout.warnings(board(tmp_path, ("diodes = true", "diodes = false"))))
    pwm = board(tmp_path, ('"spidev"', '"rpi_ws281x"'), ("GPIO10", "GPIO18"))
    assert "headphones" in " ".join(pinout.warnings(pwm))
    assert not re.search(r"\b[A-H]\d{1,2}\b", said)
    assert "(taken by SPI)" not in pinout.uses(pwm).values()


def test_lines_of_other_chips_are_listed_beside_the_header(tmp_path: Path) -> None:
    """A pin that no header has is named with what goes there, and drawn nowhere."""
    profile = board(tmp_path, ('"GPIO5"', '"mcp23017:3"'))
    assert [("mcp23017:3", "row 1")] == pinout.elsewhere(profile)
    assert "  mcp23017:3: row 1" == pinout.header(profile)[-1]
    assert "row 1" not in pinout.uses(profile).values()
    assert [{"line": "mcp23017:3", "use": "row 1"}] == pinout.document(profile)["elsewhere"]


def test_leds_of_a_third_party_take_no_pin() -> None:
    """A driver that is not ours may send its data anywhere: nothing is drawn for it."""
    strange = REFERENCE._replace(leds=msgspec.structs.replace(REFERENCE.leds, driver="theirs", pin="J8:1"))
    assert not {"LED data", "LED ground", "(taken by SPI)"} & set(pinout.uses(strange).values())
    assert "  data ─── 74AHCT125" in "\n".join(pinout.sheet(strange))


@pytest.mark.parametrize("name", SHIPPED)
def test_every_board_that_ships_has_its_sheet(name: str, capsys: Output) -> None:
    """The command draws each of them in a width that a terminal has, and gives it as data."""
    assert 0 == main(["pinout", name])
    out, err = capsys.readouterr()
    assert "" == err and load(shipped(name)).board.name in out
    assert max(map(len, out.splitlines())) <= 120
    assert 0 == main(["pinout", name, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert {"board", "header", "elsewhere", "parts", "mind"} == found.keys()


def test_a_simulated_board_has_nothing_to_wire(capsys: Output) -> None:
    """It says so, and names a board that has."""
    assert 0 == main(["pinout", "sim"])
    assert "there is nothing to wire" in capsys.readouterr().out


def test_a_board_that_cannot_be_read_is_a_usage_error(tmp_path: Path, capsys: Output) -> None:
    """A name that does not ship and a file with a mistake are named, with status 2."""
    assert 2 == main(["pinout", "piano"])
    assert "no such profile ships" in capsys.readouterr().err
    assert 2 == main(["pinout", "serial:auto"])
    assert "can be played on; this command wants one that is wired to this computer" in capsys.readouterr().err
    (tmp_path / "bad.toml").write_text("[board]\nname = 7\n")
    assert 2 == main(["pinout", f"{tmp_path}/bad.toml"])
    assert "board.name = 7" in capsys.readouterr().err
