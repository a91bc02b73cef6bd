"""Boards as data: what loads can be driven, and what does not is refused by file, line, key, value and reason."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hal import profile
from hal.errors import BoardError, ProfileError
from hal.wiring import ButtonsSection, BuzzerSection, EdgeStripsSection

Tables = dict[str, dict[str, Any]]

GOOD: Tables = {
    "board": {"name": "test board", "rows": 7, "columns": 7, "rotate_deg": 0, "mirror": False},
    "matrix": {
        "driver": "sim",
        "chip": "pinctrl-rp1",
        "rows": [5, 6, 12, 13, 16, 19, 26],
        "columns": ["GPIO17", "GPIO27", "GPIO22", "GPIO23", "GPIO24", "GPIO25", "J8:7"],
        "options": {},
        "diodes": True,
        "bounce_us": 5000,
        "settle_us": 5,
        "press_us": 0,
        "release_us": 10000,
        "scan_hz": 1000,
        "idle_hz": 200,
    },
    "leds": {
        "driver": "sim",
        "pin": "GPIO10",
        "device": "",
        "order": "row-major",
        "per_cell": 1,
        "colour_order": "GRB",
        "gamma": 2.2,
        "balance": [1.0, 1.0, 1.0],
        "brightness_pct": 100,
        "spi_hz": 2400000,
        "line_idles": "high",
        "dma": 10,
    },
    "power": {
        "supply_ma": 3000,
        "budget_pct": 70,
        "led_type": "ws2812b",
        "channel_ma": [16.0, 11.0, 15.0],
        "idle_ma": 1.0,
        "model_scale_pct": 125,
        "slew_ma_per_ms": 20,
    },
    "buttons": {"start": "GPIO20"},
    "buzzer": {"pin": "GPIO21", "volume_pct": 50},
    "edge_strips": {"a": 0, "b": 0},
}
KEYS = [(section, key) for section, table in GOOD.items() for key in table]
SECTIONS: dict[str, type[msgspec.Struct]] = {
    "board": profile.BoardSection,
    "matrix": profile.MatrixSection,
    "leds": profile.LedsSection,
    "power": profile.PowerSection,
    "buttons": ButtonsSection,
    "buzzer": BuzzerSection,
    "edge_strips": EdgeStripsSection,
}


def changed(section: str, **values: object) -> Tables:
    """A good profile with some keys of one section set to other values."""
    tables = copy.deepcopy(GOOD)
    tables[section].update(values)
    return tables


def toml(tables: Tables) -> str:
    """The profile as TOML text: a line a section, a line a key."""
    lines = []
    for section, table in tables.items():
        lines.append(f"[{section}]")
        for key, value in table.items():
            shown = (
                "{" + ", ".join(f"{name} = {led}" for name, led in value.items()) + "}"
                if isinstance(value, dict)
                else json.dumps(value)
            )
            lines.append(f"{key} = {shown}")
    return "\n".join(lines) + "\n"


def load(folder: Path, tables: Tables) -> profile.Profile:
    """Write the profile to a file and load it."""
    file = folder / "board.toml"
    file.write_text(toml(tables), encoding="utf-8")
    return profile.load(file)


def builtins(loaded: profile.Profile) -> Tables:
    """The values of a profile as a TOML file gives them."""
    sections: Tables = json.loads(msgspec.json.encode(loaded._asdict()))
    return {name: sections[name] for name in GOOD}


def refused(folder: Path, tables: Tables) -> ProfileError:
    """The error that loading the profile raises."""
    with pytest.raises(ProfileError) as caught:
        load(folder, tables)
    assert str(folder / "board.toml") == caught.value.file
    return caught.value


def line_of(tables: Tables, section: str, key: str) -> int:
    """The line of a key in the text of a profile."""
    lines = toml(tables).splitlines()
    return lines.index(f"[{section}]") + 1 + [*tables[section]].index(key) + 1


def test_every_value_of_a_profile_arrives(tmp_path: Path) -> None:
    """A profile holds every value of its file."""
    loaded = load(tmp_path, GOOD)
    assert builtins(loaded) == GOOD
    assert str(tmp_path / "board.toml") == loaded.file


def test_the_tables_of_this_test_name_every_key_there_is() -> None:
    """The good profile of these tests names every key, so that each is tried."""
    known = [(name, field) for name, kind in SECTIONS.items() for field in kind.__struct_fields__]
    assert sorted(known) == sorted(KEYS)


def test_keys_left_out_take_the_defaults(tmp_path: Path) -> None:
    """A profile that gives only what has no default gets the documented defaults, ghost check included (case D3)."""
    least: Tables = {
        "board": GOOD["board"],
        "matrix": {"driver": "sim"},
        "leds": {"driver": "sim"},
        "power": {"supply_ma": 3000},
    }
    expected = changed("matrix", diodes=False, chip="", rows=[], columns=[])
    expected["power"] |= {"channel_ma": None, "idle_ma": None}
    expected["buttons"], expected["buzzer"]["pin"] = {"start": None}, None
    assert expected == builtins(load(tmp_path, least))


@pytest.mark.parametrize("section", ["board", "matrix", "leds", "power"])
def test_a_key_without_a_default_must_be_given(tmp_path: Path, section: str) -> None:
    """A section that is left out is refused by the first key that it must give."""
    tables = {name: table for name, table in GOOD.items() if name != section}
    first = next(field.name for field in msgspec.structs.fields(SECTIONS[section]) if field.required)
    error = refused(tmp_path, tables)
    assert f"{section}.{first}" == error.key
    assert "must be given" in error.reason


@pytest.mark.parametrize(("section", "key"), KEYS)
def test_a_misspelt_key_is_named_with_line_and_nearest_key(tmp_path: Path, section: str, key: str) -> None:
    """An unknown key is refused naming file, line number, key and the nearest key."""
    tables = copy.deepcopy(GOOD)
    tables[section] = {(f"{name}x" if name == key else name): value for name, value in tables[section].items()}
    error = refused(tmp_path, tables)
    line = line_of(GOOD, section, key)
    assert (f"{section}.{key}x", line) == (error.key, error.line)
    assert f"the nearest is {key}" in error.reason
    assert str(error).startswith(f"{tmp_path / 'board.toml'}, line {line}: {section}.{key}x = ")


def test_an_unknown_section_is_named_with_line_and_nearest_section(tmp_path: Path) -> None:
    """An unknown section is refused naming its line and the nearest section."""
    error = refused(tmp_path, {**GOOD, "pwer": {"supply_ma": 3000}})
    assert ("pwer", toml(GOOD).count("\n") + 1) == (error.key, error.line)
    assert error.reason == "unknown section; the nearest is power"


def test_a_key_outside_every_section_is_refused(tmp_path: Path) -> None:
    """A key before the first section is refused with its line."""
    file = tmp_path / "board.toml"
    file.write_text("rows = 7\n" + toml(GOOD), encoding="utf-8")
    with pytest.raises(ProfileError, match="line 1: rows = 7: unknown section"):
        profile.load(file)


def test_a_section_that_is_a_value_is_refused(tmp_path: Path) -> None:
    """A value where a section is wanted is refused with its line."""
    file = tmp_path / "board.toml"
    file.write_text("matrix = 5\n" + toml({k: v for k, v in GOOD.items() if k != "matrix"}), encoding="utf-8")
    with pytest.raises(ProfileError, match=r"line 1: matrix = 5: a section \[matrix\] is wanted"):
        profile.load(file)


@pytest.mark.parametrize(("section", "key"), KEYS)
def test_a_value_of_the_wrong_type_is_refused(tmp_path: Path, section: str, key: str) -> None:
    """A value of the wrong type is refused by key, value and line."""
    wrong = ["x"] if isinstance(GOOD[section][key], str) and key != "order" else {"a": "b"}
    file = tmp_path / "board.toml"
    lines = toml(GOOD).splitlines()
    line = line_of(GOOD, section, key)
    lines[line - 1] = f"{key} = " + ("['x']" if wrong == ["x"] else "{a = 'b'}")
    file.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ProfileError) as caught:
        profile.load(file)
    assert (f"{section}.{key}", wrong, line) == (caught.value.key, caught.value.value, caught.value.line)


RANGES = [
    ("buzzer", "volume_pct", 0, 100),
    ("edge_strips", "a", 0, 32),
    ("edge_strips", "b", 0, 32),
    ("matrix", "bounce_us", 0, 10_000),
    ("matrix", "settle_us", 0, 71),
    ("matrix", "press_us", 0, 9_000),
    ("matrix", "release_us", 5_000, 200_000),
    ("matrix", "scan_hz", 200, 4_000),
    ("matrix", "idle_hz", 200, 1_000),
    ("leds", "gamma", 1, 3),
    ("leds", "brightness_pct", 5, 100),
    ("leds", "spi_hz", 2_142_858, 2_727_272),
    ("power", "supply_ma", 131, 100_000),
    ("power", "budget_pct", 4, 100),
    ("power", "idle_ma", 0, 33),
    ("power", "model_scale_pct", 100, 400),
    ("power", "slew_ma_per_ms", 1, 1_000),
]


@pytest.mark.parametrize(("section", "key", "low", "high"), RANGES)
def test_every_number_has_its_range(tmp_path: Path, section: str, key: str, low: int, high: int) -> None:
    """The least and the greatest value load and the next ones beyond are refused by key and value."""
    for good in (low, high):
        assert good == getattr(getattr(load(tmp_path, changed(section, **{key: good})), section), key)
    for bad in (low - 1, high + 1):
        error = refused(tmp_path, changed(section, **{key: bad}))
        blamed = "power.supply_ma" if (key, bad) in {("budget_pct", 3), ("idle_ma", 34)} else f"{section}.{key}"
        blamed = "matrix.release_us" if (key, bad) == ("bounce_us", 10_001) else blamed
        assert blamed == error.key
        assert error.value in (bad, GOOD["power"]["supply_ma"], GOOD["matrix"]["release_us"])


@pytest.mark.parametrize("key", ["rows", "columns"])
def test_a_board_has_two_to_sixteen_rows_and_columns(tmp_path: Path, key: str) -> None:
    """Boards of 2 to 16 rows and columns load, others are refused by key and value."""
    for length in (2, 9, 16):
        tables = changed("board", **{key: length})
        tables["matrix"] |= {"rows": [], "columns": []}
        assert length == getattr(load(tmp_path, tables).board, key)
    for length in (1, 17):
        error = refused(tmp_path, changed("board", **{key: length}))
        assert (f"board.{key}", length) == (error.key, error.value)


@pytest.mark.parametrize("value", [[1, 1], [1, 1, 1, 1], [0, 1, 1], [1, 1.01, 1], [float("nan"), 1, 1], ["1", 1, 1]])
def test_a_colour_balance_is_three_shares(tmp_path: Path, value: list[object]) -> None:
    """A balance that is not three shares from 0.2 to 1 is refused."""
    text = toml(changed("leds", balance=value)).replace("NaN", "nan")
    (tmp_path / "board.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ProfileError, match=r"leds\.balance"):
        profile.load(tmp_path / "board.toml")


@pytest.mark.parametrize(
    ("section", "values", "key", "words"),
    [
        ("matrix", {"bounce_us": 8000, "release_us": 7999}, "matrix.release_us", "bounce_us (8000)"),
        ("matrix", {"scan_hz": 400, "idle_hz": 401}, "matrix.idle_hz", "scan_hz (400)"),
        ("matrix", {"press_us": 9500}, "matrix.press_us", "5000 + 1000 us"),
        ("matrix", {"settle_us": 72}, "matrix.settle_us", "7 rows"),  # case D10
        ("leds", {"spi_hz": 3_000_000}, "leds.spi_hz", "a WS2812 wants"),
        ("leds", {"colour_order": "RGG"}, "leds.colour_order", "one of RGB, RBG, GRB, GBR, BRG, BGR"),
        ("leds", {"driver": "laser"}, "leds.driver", "there is no such driver; there are: sim"),
        ("leds", {"order": "spiral"}, "leds.order", "row-major, serpentine"),
        ("leds", {"dma": 5}, "leds.dma", "the SD card's driver has 5"),  # case A11
        ("leds", {"dma": 9}, "leds.dma", "channel 10 is wanted"),
        ("leds", {"device": "/dev/spidev1.0"}, "leds.device", "SPI1 has no DMA"),
        ("power", {"supply_ma": 130}, "power.supply_ma", "49 LEDs at the lowest visible level"),
    ],
)
def test_values_that_contradict_each_other_are_refused(
    tmp_path: Path, section: str, values: dict[str, Any], key: str, words: str
) -> None:
    """A profile that contradicts itself is refused with file, line, key, value and reason."""
    tables = changed(section, **values)
    error = refused(tmp_path, tables)
    name = key.split(".")[1]
    assert (key, tables[section][name], line_of(tables, section, name)) == (error.key, error.value, error.line)
    assert words in error.reason


def test_of_two_values_the_one_that_the_file_gives_is_named(tmp_path: Path) -> None:
    """A bounce that is longer than the usual release is the mistake where no release is given."""
    tables = changed("matrix", bounce_us=20_000)
    del tables["matrix"]["release_us"]
    error = refused(tmp_path, tables)
    assert ("matrix.bounce_us", 20_000, line_of(tables, "matrix", "bounce_us")) == (error.key, error.value, error.line)
    assert "at most release_us (10000) is wanted" in error.reason


def test_a_chain_that_takes_longer_than_a_frame_is_refused(tmp_path: Path) -> None:
    """LEDs whose frame keeps the wire for more than 1/60 s are refused, edge strips counted."""
    tables = changed("board", rows=16, columns=16)
    tables["matrix"] = {"driver": "sim"}
    tables["power"]["supply_ma"] = 100_000
    tables["leds"]["per_cell"] = 2
    assert load(tmp_path, tables).led_count == 2 * 256 + sum(GOOD["edge_strips"].values())
    tables["leds"]["per_cell"] = 3
    assert (error := refused(tmp_path, tables)).key == "leds.per_cell"
    assert "LEDs make a frame longer than 1/60 s" in error.reason


def test_the_least_supply_is_idle_and_every_cell_just_visible(tmp_path: Path) -> None:
    """The least supply is what idle and (3,3,3) on all cells draw in the scaled model, over the budget's share."""
    drawn_ma = 1.25 * 49 * (1 + 3 * (16 + 11 + 15) / 255)
    assert 130 < drawn_ma / 0.70 < 131
    assert load(tmp_path, changed("power", supply_ma=131)).power.supply_ma == 131
    assert refused(tmp_path, changed("power", supply_ma=130)).key == "power.supply_ma"


def names() -> list[str]:
    """The cells in order: a1 b1 .. g7."""
    return [f"{column}{row}" for row in range(1, 8) for column in "abcdefg"]


def test_a_row_major_chain_is_the_cells_in_order(tmp_path: Path) -> None:
    """Row-major: the chain runs through every row the same way."""
    assert tuple(range(49)) == load(tmp_path, GOOD).chain


def test_a_serpentine_chain_turns_at_every_row(tmp_path: Path) -> None:
    """Serpentine: every other row of the chain runs back."""
    chain = load(tmp_path, changed("leds", order="serpentine")).chain
    assert chain[:15] == (0, 1, 2, 3, 4, 5, 6, 13, 12, 11, 10, 9, 8, 7, 14)
    assert list(range(49)) == sorted(chain)


def test_a_chain_may_be_listed_by_name_or_number(tmp_path: Path) -> None:
    """A list gives the cell at each position of the chain, by name or by number."""
    backwards = tuple(range(48, -1, -1))
    assert backwards == load(tmp_path, changed("leds", order=names()[::-1])).chain
    assert backwards == load(tmp_path, changed("leds", order=list(backwards))).chain


def test_a_chain_may_be_a_table_of_cells(tmp_path: Path) -> None:
    """A table gives the LED of each cell, and two cells on one LED are refused naming both."""
    table = {name: (7 * cell) % 49 + cell // 7 for cell, name in enumerate(names())}
    chain = load(tmp_path, changed("leds", order=table)).chain
    assert list(table.values()) == [chain.index(cell) for cell in range(49)]
    error = refused(tmp_path, changed("leds", order={**table, "c4": table["f2"]}))
    assert ("leds.order", table["f2"]) == (error.key, error.value)
    assert error.reason == "two cells, f2 and c4, on one LED"


@pytest.mark.parametrize(
    ("order", "value", "words"),
    [
        (["a1", *names()[:-1]], "a1", "two LEDs, 0 and 1, for one cell"),
        (names()[:-2], None, "no LED for f7, g7"),
        ([*names()[:-1], "h7"], "h7", "no such cell; there are a1 to g7"),
        ([*names()[:-1], 49], 49, "no such cell"),
        ([*names()[:-1], -1], -1, "no such cell"),
        ({**{n: i for i, n in enumerate(names())}, "g7": 49}, 49, "from 0 to 48 without a gap"),
        ({**{n: i for i, n in enumerate(names())}, "a1": -1}, 48, "from 0 to 48 without a gap"),
    ],
)
def test_a_chain_has_exactly_one_led_a_cell(tmp_path: Path, order: object, value: object, words: str) -> None:
    """A chain that is not one LED for every cell is refused naming the cells."""
    error = refused(tmp_path, changed("leds", order=order))
    assert ("leds.order", value) == (error.key, error.value)
    assert words in error.reason


@pytest.mark.parametrize(
    ("text", "line"), [("[board]\nrows == 7\n", 2), ("[board]\n\n[board]\n", 3), ("[board]\nname = 'x", 2)]
)
def test_a_file_that_is_not_toml_is_refused_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    """A file that is not TOML is refused naming file and line."""
    file = tmp_path / "board.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ProfileError, match=f"board.toml, line {line}: the profile is not TOML") as caught:
        profile.load(file)
    assert line == caught.value.line


def test_a_file_that_cannot_be_read_is_refused_with_its_name(tmp_path: Path) -> None:
    """A missing file, a folder and a file that is not UTF-8 are refused by name."""
    (tmp_path / "latin.toml").write_bytes(b"[board]\nname = 'caf\xe9'\n")
    with pytest.raises(ProfileError, match=r"none\.toml: the profile cannot be read: No such file"):
        profile.load(tmp_path / "none.toml")
    with pytest.raises(ProfileError, match="the profile cannot be read: Is a directory"):
        profile.load(tmp_path)
    with pytest.raises(ProfileError, match=r"latin\.toml, line 2: the profile is not UTF-8"):
        profile.load(tmp_path / "latin.toml")


def test_profile_errors_are_board_errors_and_value_errors() -> None:
    """A profile error is caught as a board error and as a ValueError."""
    assert issubclass(ProfileError, BoardError)
    assert issubclass(ProfileError, ValueError)


def test_every_shipped_profile_loads() -> None:
    """Every profile in hal/profiles loads under its name, the simulated board among them."""
    folder = Path(profile.__file__).parent / "profiles"
    shipped = sorted(file.stem for file in folder.glob("*.toml"))
    assert "sim" in shipped
    for name in shipped:
        assert folder / f"{name}.toml" == profile.shipped(name)
        profile.load(profile.shipped(name))


def test_an_unknown_shipped_profile_lists_those_there_are() -> None:
    """A name that does not ship is refused with the list of those that do."""
    with pytest.raises(ProfileError, match=r"'../sim'.*there are: .*sim"):
        profile.shipped("../sim")


LITERALS = ["0", "-1", "1", "3", "1e9", "nan", "-inf", "true", "'x'", "''", "[]", "[1]", "{}", "1979-05-27", "9" * 30]


@settings(max_examples=300)
@given(place=st.sampled_from(KEYS), literal=st.sampled_from(LITERALS))
def test_any_value_loads_or_is_refused(tmp_path: Path, place: tuple[str, str], literal: str) -> None:
    """Whatever a key is set to, the profile loads or is refused as a ProfileError."""
    section, key = place
    lines = toml(GOOD).splitlines()
    lines[line_of(GOOD, section, key) - 1] = f"{key} = {literal}"
    (tmp_path / "board.toml").write_text("\n".join(lines), encoding="utf-8")
    try:
        profile.load(tmp_path / "board.toml")
    except ProfileError as error:
        assert error.reason  # noqa: PT017
