"""gpiozero's pins on the simulated board: programs that know nothing of it run as they are."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from gpiozero import LED, Button, OutputDevice, TonalBuzzer
from gpiozero.exc import GPIOPinInUse, PinInvalidPull, PinSetInput

from hal.profile import load, shipped
from sim import pins
from sim.clock import VirtualClock
from sim.contacts import Contacts
from sim.faults import Faults
from sim.wires import Wires

REFERENCE = load(shipped("reference"))
ROW_1, COLUMN_A = 5, 17


@pytest.fixture
def factory() -> Iterator[Any]:
    """Pins whose edges are looked at by hand."""
    found = pins.SimFactory(REFERENCE, Contacts(49, Faults(bounce_us=0)), VirtualClock(), watching=False)
    yield found
    found.close()


def test_a_module_without_the_factory_says_so() -> None:
    """The module has the factory and nothing else that is not there."""
    with pytest.raises(AttributeError, match="no attribute 'MockFactory'"):
        pins.MockFactory  # noqa: B018


def test_a_button_between_a_row_and_a_column_is_pressed(factory: Any) -> None:
    """A Button on a column sees its contact while the row is low, and its edges when it looks."""
    seen: list[str] = []
    with OutputDevice(ROW_1, pin_factory=factory, initial_value=False), Button(COLUMN_A, pin_factory=factory) as button:
        button.when_pressed, button.when_released = lambda: seen.append("down"), lambda: seen.append("up")
        factory.look()
        assert not button.is_pressed
        factory.contacts.press(0, 0)
        assert button.is_pressed
        factory.look()
        factory.contacts.release(0, 0)
        factory.look()
        factory.look()
        assert ["down", "up"] == seen


def test_what_is_wired_to_other_pins_is_put_from_outside(factory: Any) -> None:
    """A button on a pin of its own is low when it is put low, and follows its pull when it is let go."""
    with Button("GPIO20", pin_factory=factory) as button:
        assert not button.is_pressed
        factory.put("GPIO20", False)
        assert button.is_pressed
        factory.put(20, None)
        assert not button.is_pressed
    with pytest.raises(ValueError, match="belongs to the matrix"):
        factory.put(ROW_1, False)


def test_a_buzzer_sounds_at_its_pitch(factory: Any) -> None:
    """A TonalBuzzer's frequency can be looked at, and is none when it is still."""
    with TonalBuzzer("GPIO21", pin_factory=factory) as buzzer:
        buzzer.play(440)
        assert 440 == round(factory.pin("GPIO21").frequency)
        buzzer.stop()
        assert factory.pin("GPIO21").frequency is None


def test_pins_are_those_of_a_pi(factory: Any) -> None:
    """Pins have one user each, refuse what a pin cannot do, and end as inputs."""
    pin = factory.pin("GPIO21")
    with LED(21, pin_factory=factory) as led:
        with pytest.raises(GPIOPinInUse):
            LED(21, pin_factory=factory)
        led.on()
        assert ("output", True) == (pin.function, factory.wires.driven(21))
    assert ("input", None) == (pin.function, factory.wires.driven(21))
    with pytest.raises(PinSetInput):
        pin.state = 1
    with pytest.raises(PinInvalidPull):
        pin.pull = "sideways"


def test_two_boards_share_no_pins(factory: Any) -> None:
    """A pin of one simulated board is free on another, and free again on its own once it is let go (case C18)."""
    other = pins.SimFactory(REFERENCE, watching=False)
    with LED(21, pin_factory=factory) as led, LED(21, pin_factory=other) as their_led:
        led.on()
        assert (True, False) == (factory.wires.driven(21), other.wires.driven(21)) == (led.is_lit, their_led.is_lit)
    with LED(21, pin_factory=factory):
        other.close()


PROGRAM = """
from gpiozero import Button, Device, OutputDevice
row, button = OutputDevice(5, initial_value=False), Button(17)
factory = Device.pin_factory
factory.contacts.press(0, factory.clock.now_us())
pressed = button.wait_for_press(timeout=10)  # not is_pressed: the contact bounces
print(type(factory).__name__, pressed, factory.profile.board.name)
"""


def test_anyones_program_sees_the_simulated_board() -> None:
    """A gpiozero program that is started with GPIOZERO_PIN_FACTORY=morbak_sim waits for a contact and gets it, and
    there is no warning of a fallback (case C1).
    """
    environment = {**os.environ, "GPIOZERO_PIN_FACTORY": "morbak_sim", "MORBAK_BOARD": "no-diodes"}
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=60
    )
    assert (0, "") == (ran.returncode, ran.stderr)
    assert "SimFactory True MORBAK board (no diodes)\n" == ran.stdout


# -- the copper ----------------------------------------------------------------------------------------------------


def wires(closed: int = 0, *, diodes: bool = True) -> Wires:
    """Two rows (0, 1) and two columns (2, 3), pulled up, with these contacts closed."""
    copper = Wires([0, 1], [2, 3], lambda: closed, diodes=diodes)
    for column in (2, 3):
        copper.pull(column, True)
    return copper


def test_a_column_without_a_pull_up_reads_low() -> None:
    """A column that nothing pulls reads low, which a firmware takes for closed contacts."""
    copper = wires()
    copper.pull(2, None)
    assert [False, True] == [copper.level(2), copper.level(3)]


@pytest.mark.parametrize(
    ("diodes", "closed", "expected"),
    [(False, 0b0101, 1), (True, 0b0101, 0), (False, 0b0011, 0), (False, 0b1001, 0), (False, 0b1111, 1)],
    ids=["one column", "one column with diodes", "one row", "apart", "all"],
)
def test_push_pull_rows_fight_over_a_column(diodes: bool, closed: int, expected: int) -> None:
    """A high row meets a low one where a column joins them and no diode is between; a short that lasts counts once."""
    copper = wires(closed, diodes=diodes)
    copper.drive(1, True)
    copper.drive(0, False)
    copper.level(2)
    assert expected == copper.shorts


def test_a_low_row_pulls_what_contacts_join_to_it() -> None:
    """With diodes a row pulls down its own columns; without, the ghost of a rectangle too (case D1)."""
    for diodes, levels in ((True, [False, False, True]), (False, [False, False, False])):
        copper = Wires([0, 1], [2, 3], lambda: 0b0111, diodes=diodes)
        for column in (2, 3):
            copper.pull(column, True)
        copper.drive(0, False)
        seen = [copper.level(2), copper.level(3)]
        copper.drive(0, None)
        copper.drive(1, False)
        assert levels == [*seen, copper.level(3)]
