"""Settings: read from TOML, refused with the reason when they cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware import config
from firmware.clock import Limits
from firmware.games import morbak
from firmware.gesture import TouchTimes
from firmware.phases import PhaseTimes
from hal import tables
from hal.errors import ProfileError
from hal.profile import load, shipped

PROFILE = load(shipped("sim"))


def read(tmp_path: Path, text: str) -> config.Settings:
    file = tmp_path / "board.toml"
    file.write_text(text, encoding="utf-8")
    return config.load(file, PROFILE)


def test_the_defaults_are_those_of_the_design() -> None:
    """Without a file every time is the one that design and rules name."""
    settings = config.load(None, PROFILE)
    assert TouchTimes() == settings.touch_times
    assert PhaseTimes() == settings.phase_times
    assert (Limits(), morbak.STANDARD) == (settings.limits, settings.rules)


def test_a_file_of_comments_changes_nothing(tmp_path: Path) -> None:
    """A file that says nothing but a comment is the defaults, also as Windows editors begin it."""
    assert config.load(None, PROFILE) == read(tmp_path, "# nothing\n")
    assert config.load(None, PROFILE) == read(tmp_path, "\ufeff[touch]\n")


@pytest.mark.parametrize(
    "data", [b"", b"\0" * 64, b" \n\t\r\n", b"\xff\xfe[touch]", b"[touch\n", b"[touch]\nhold_ms =\0"]
)
def test_what_a_power_cut_leaves_is_torn(tmp_path: Path, data: bytes) -> None:
    """A file that is empty, blank, no text or no TOML is told apart from one with a mistake (case F13)."""
    (tmp_path / "board.toml").write_bytes(data)
    with pytest.raises(tables.Torn, match=r"board\.toml"):
        config.load(tmp_path / "board.toml", PROFILE)


@pytest.mark.parametrize(
    "text",
    [
        f"[touch]\nhold_ms = {'9' * 5000}\n",
        f"[touch]\nhold_ms = 0x{'f' * 5000}\n",
        f"[touch]\nhold_ms = {'[' * 5000}\n",
        f"{'a.' * 5000}b = 1\n",
        f"{'x' * 5000} = 1\n",
        '"one\\ntwo" = 1\n',
        "touch = 3\n",
        "[[touch]]\nhold_ms = 3\n",
        "[touch]\nhold_ms = inf\n",
        "[touch]\nhold_ms = true\n",
    ],
    ids=range(10),
)
def test_the_oddest_files_are_refused_in_a_sentence(tmp_path: Path, text: str) -> None:
    """Numbers of thousands of digits, brackets a thousand deep and odd keys are a refusal of one short line."""
    with pytest.raises(ProfileError) as refused:
        read(tmp_path, text)
    assert 1 == len(str(refused.value).splitlines())
    assert len(str(refused.value)) < 6000


def test_all_mistakes_are_found_at_once(tmp_path: Path) -> None:
    """Every wrong section, key, value and contradiction of a file is there with its line, in the order of lines."""
    file = tmp_path / "board.toml"
    file.write_text(
        "[touch]\nhold_mss = 1\nstuck_ms = 1\ntap_min_ms = -1\n\n[phases]\nlot_ms = 4000\n\n[gam]\nmove_s = 1\n",
        encoding="utf-8",
    )
    settings, faults = config.judge(config.read(file), PROFILE)
    found = [(fault.line, fault.key) for fault in faults]
    assert [
        (2, "touch.hold_mss"),
        (3, "touch.stuck_ms"),
        (4, "touch.tap_min_ms"),
        (7, "phases.lot_ms"),
        (9, "gam"),
    ] == (found)
    assert (20, 4000) == (settings.touch.tap_min_ms, settings.phases.lot_ms)


def test_every_section_is_read(tmp_path: Path) -> None:
    """A value that is given is used; the others stay as they are."""
    settings = read(tmp_path, '[touch]\nhold_ms = 600\n[phases]\nlobby_ms = 500\n[game]\nrules = "lite"\nmove_s = 0\n')
    assert TouchTimes(hold_us=600_000) == settings.touch_times
    assert PhaseTimes(lobby_us=500_000) == settings.phase_times
    assert (Limits(900_000_000, None), morbak.LITE) == (settings.limits, settings.rules)


def test_options_change_the_named_rules(tmp_path: Path) -> None:
    """Pool, blocks and neutralisations may be set one by one, nothing and zero being different."""
    settings = read(tmp_path, "[game]\npool = 0\nblock = false\nneutralisations = 3\n")
    assert morbak.Rules(0, False, 3) == settings.rules


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("[touch]\nhold_ms = 10\n", "touch.hold_ms", "bounce"),
        ("[touch]\nhold_ms = 20\ntap_min_ms = 30\n", "touch.hold_ms", "tap_min_ms"),
        ("[phases]\nlobby_ms = 3000\nlot_ms = 3000\n", "phases.lot_ms", "5000"),
        ("[touch]\nleave_ms = 700\n", "touch.leave_ms", "hold_ms"),
        ("[touch]\nstuck_ms = 4000\n", "touch.stuck_ms", "leave_ms"),
        ("[phases]\nurgent_time_s = 40\n", "phases.urgent_time_s", "low_time_s"),
        ("[phases]\npark_s = 20\n", "phases.park_s", "park_countdown_s (20)"),
        ("[phases]\nmenu_hold_ms = 8000\n", "phases.menu_hold_ms", "leave_ms"),
        ("[touch]\nleave_ms = 1500\n", "touch.leave_ms", "menu_hold_ms (2000)"),
        ("[touch]\ntap_min_ms = 900\n", "touch.tap_min_ms", "shorter than hold_ms (800)"),
        ("[touch]\nhold_ms = 6000\n", "touch.hold_ms", "shorter than leave_ms (5000)"),
        ("[touch]\nleave_ms = 30000\n", "touch.leave_ms", "longer than stuck_ms (20000)"),
        ("[touch]\nhold_ms = 4900\n[phases]\nmenu_ask_s = 4\n", "phases.menu_ask_s", "hold_ms (4900)"),
        ("[phases]\nlobby_ms = 4000\n", "phases.lobby_ms", "with lot_ms (2500)"),
        ("[phases]\nlow_time_s = 5\n", "phases.low_time_s", "urgent_time_s (10)"),
        ("[phases]\npips_hold_ms = 9000\n", "phases.pips_hold_ms", "leave_ms"),
        ("[touch]\nhold_ms = 2000\n[phases]\nmenu_ask_s = 1\n", "phases.menu_ask_s", "hold_ms"),
        ("[touch]\nhold_mss = 900\n", "touch.hold_mss", "hold_ms"),
        ("[tuch]\nhold_ms = 900\n", "tuch", "touch"),
        ('[touch]\nhold_ms = "long"\n', "touch.hold_ms", "int"),
        ("[touch]\nhold_ms = -1\n", "touch.hold_ms", ">="),
        ('[game]\nrules = "lit"\n', "game.rules", "lite"),
        ("[game]\npool = 50\n", "game.pool", "49"),
        ("[touch\n", "", "TOML"),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, text: str, key: str, words: str) -> None:
    """A wrong key, value or contradiction names the file, the key that it gives, the value and the reason."""
    with pytest.raises(ProfileError) as refused:
        read(tmp_path, text)
    assert ("TOML" in words) == isinstance(refused.value, tables.Torn)
    assert key == refused.value.key
    assert "board.toml" in str(refused.value)
    assert words in refused.value.reason


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """A file that is not there is named."""
    with pytest.raises(ProfileError, match=r"none\.toml"):
        config.load(tmp_path / "none.toml", PROFILE)


def test_changes_name_each_key_with_both_values() -> None:
    """What differs between two settings is told key by key; the same settings differ in nothing."""
    other = config.Settings(touch=config.TouchSection(hold_ms=900), game=config.GameSection(pool=3))
    assert ["touch.hold_ms 800 -> 900", "game.pool None -> 3"] == config.changes(config.Settings(), other)
    assert [] == config.changes(other, other)
