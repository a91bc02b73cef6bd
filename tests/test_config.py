"""Settings: read from TOML, refused with the reason when they cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware import config
from firmware.clock import Limits
from firmware.games import morbak
from firmware.gesture import TouchTimes
from firmware.phases import PhaseTimes
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


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    """An empty file is the defaults."""
    assert config.load(None, PROFILE) == read(tmp_path, "")


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
    """A wrong key, value or contradiction names the file, the key, the value and the reason."""
    with pytest.raises(ProfileError) as refused:
        read(tmp_path, text)
    assert key == refused.value.key
    assert "board.toml" in str(refused.value)
    assert words in refused.value.reason


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """A file that is not there is named."""
    with pytest.raises(ProfileError, match=r"none\.toml"):
        config.load(tmp_path / "none.toml", PROFILE)
