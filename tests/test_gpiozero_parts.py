"""Buttons and buzzer through gpiozero, on its own mock pins: real devices, no hardware."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import gpiozero
import msgspec
import pytest
from gpiozero.pins.mock import MockFactory, MockPWMPin

from hal import pins
from hal.drivers.gpiozero_parts import GpiozeroButtons, GpiozeroSounder, open_buttons, open_sounder, width
from hal.errors import PartError
from hal.ports import Note
from hal.profile import Profile, load, shipped

BUTTON, BUZZER = pins.parse("GPIO16"), pins.parse("GPIO12")
TONE = (Note(880, 20), Note(0, 10), Note(440, 20))


@pytest.fixture(autouse=True)
def factory(monkeypatch: pytest.MonkeyPatch) -> Iterator[MockFactory]:
    """Pins that any test may drive, and that remember nothing afterwards."""
    made = MockFactory(pin_class=MockPWMPin)
    monkeypatch.setattr(gpiozero.Device, "pin_factory", made)
    yield made
    made.reset()


def wired(**changes: object) -> Profile:
    profile = load(shipped("sim"))
    return profile._replace(
        buttons=msgspec.structs.replace(profile.buttons, start=changes.get("start")),
        buzzer=msgspec.structs.replace(profile.buzzer, pin=changes.get("buzzer")),
    )


def test_a_button_is_pressed_while_its_pin_is_at_ground(factory: MockFactory) -> None:
    """The pull-up holds the pin high; a pressed button pulls it low."""
    buttons = GpiozeroButtons({"start": BUTTON})
    pin = factory.pin("GPIO16")
    seen = [buttons.read()]
    for low in (True, False):
        pin.drive_low() if low else pin.drive_high()
        seen.append(buttons.read())
    assert [frozenset(), frozenset(("start",)), frozenset()] == seen
    assert "up" == pin.pull
    buttons.close()
    buttons.close()


def test_the_buzzer_plays_its_notes_in_order(factory: MockFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each note has its frequency and the width of its volume, a silence none, and it is still at the end."""
    sounder = GpiozeroSounder(BUZZER)
    seen: list[tuple[int, float]] = []
    device = type(sounder._device)
    value = device.value.fset

    def watch(self: Any, level: float) -> None:
        value(self, level)
        seen.append((round(self.frequency), round(level, 3)))

    monkeypatch.setattr(device, "value", device.value.setter(watch))
    sounder.play(TONE, 50)
    deadline_s = time.monotonic() + 10
    while len(seen) < 6 and time.monotonic() < deadline_s:
        time.sleep(0.005)
    wide = round(width(50), 3)
    assert [(880, wide), (440, wide)] == [step for step in seen if step[1]]
    sounder.close()
    assert 0 == seen[-1][1]
    sounder.close()


def test_a_new_sound_cuts_the_old_one_short() -> None:
    """A sound of a minute gives way at once, and closing does not wait for one."""
    begun_s = time.monotonic()
    sounder = GpiozeroSounder(BUZZER)
    sounder.play((Note(440, 60_000),), 100)
    sounder.play((Note(880, 60_000),), 100)
    sounder.close()
    assert 30 > time.monotonic() - begun_s


def test_volume_is_the_width_of_a_pulse() -> None:
    """Silence has none, full volume half a period, and more is always wider."""
    widths = [width(pct) for pct in range(101)]
    assert (0, 0.5) == (widths[0], widths[-1])
    assert widths == sorted(set(widths))


def test_a_board_has_what_its_profile_says() -> None:
    """Without a pin there is no button and no buzzer."""
    assert (None, None) == (open_buttons(wired()), open_sounder(wired()))
    buttons, sounder = open_buttons(wired(start="GPIO16")), open_sounder(wired(buzzer="J8:32"))
    assert (GpiozeroButtons, GpiozeroSounder) == (type(buttons), type(sounder))
    assert sounder is not None
    sounder.close()


def test_a_part_that_cannot_be_opened_says_so_when_it_is_used() -> None:
    """A pin that is taken stops no board; the sentence names it whenever the part is used."""
    taken = gpiozero.OutputDevice("GPIO16")
    buttons, sounder = open_buttons(wired(start="GPIO16")), open_sounder(wired(buzzer="GPIO16"))
    assert buttons is not None
    assert sounder is not None
    with pytest.raises(PartError, match="GPIO16 cannot be opened"):
        buttons.read()
    with pytest.raises(PartError, match="GPIO16 cannot be opened"):
        sounder.play(TONE, 50)
    buttons.close()
    sounder.close()
    taken.close()


def test_a_buzzer_that_fails_in_play_says_so_at_the_next_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the playing thread meets is told to whoever plays next, and then tried again."""
    sounder = GpiozeroSounder(BUZZER)
    device = type(sounder._device)

    def fail(_self: Any, _hz: float) -> None:
        raise OSError("gone")

    monkeypatch.setattr(device, "frequency", device.frequency.setter(fail))
    sounder.play(TONE, 50)
    deadline_s = time.monotonic() + 10
    while sounder._fault is None and time.monotonic() < deadline_s:
        time.sleep(0.005)
    with pytest.raises(PartError, match="gone"):
        sounder.play(TONE, 50)
    sounder.close()
