"""The doctor: what is wrong with a machine and a board, each in a sentence with the command that mends it.

Every check is a function of a probe (`hal.doctor_probe`) and a profile. Pure.
"""

from __future__ import annotations

from collections.abc import Callable

from hal import doctor_access, doctor_leds, doctor_machine, doctor_pins, doctor_python, doctor_services
from hal.doctor_boot import model
from hal.doctor_finding import LEVELS, Finding
from hal.doctor_probe import Probe
from hal.drivers import SIMULATED
from hal.profile import Profile

# Of any machine.
GENERAL: tuple[Callable[[Probe], list[Finding]], ...] = (
    doctor_machine.check_system,
    doctor_python.check_environment,
    doctor_access.check_state,
    doctor_access.check_root,
    doctor_services.check_clock,
    doctor_machine.check_changes,
)
# Of a machine that a board is wired to.
WIRED: tuple[Callable[[Probe], list[Finding]], ...] = (
    doctor_machine.check_age,
    doctor_machine.check_heat,
    doctor_services.check_braille,
    doctor_services.check_modems,
)
# Of a machine and the board that is wired to it.
BOARD: tuple[Callable[[Probe, Profile], list[Finding]], ...] = (
    doctor_machine.check_supply,
    doctor_pins.check_chips,
    doctor_pins.check_kernel,
    doctor_pins.check_holders,
    doctor_leds.check_pin,
    doctor_leds.check_spi,
    doctor_leds.check_clock,
    doctor_leds.check_buffer,
    doctor_leds.check_leds0,
    doctor_leds.check_sound,
    doctor_leds.check_monitor,
    doctor_leds.check_dma,
    doctor_access.check_devices,
    doctor_python.check_modules,
    doctor_python.check_lgpio,
)


def examine(probe: Probe, profile: Profile) -> list[Finding]:
    """What there is to say of a machine for a board, the worst first. Raises nothing, whatever the probe has."""
    found = doctor_machine.check_model(probe, profile)
    for of_machine in GENERAL:
        found += of_machine(probe)
    if wired(probe, profile):
        for of_wires in WIRED:
            found += of_wires(probe)
        for of_board in BOARD:
            found += of_board(probe, profile)
    return sorted(found, key=lambda finding: LEVELS.index(finding.level))


def examine_host(probe: Probe) -> list[Finding]:
    """What there is to say of a machine for a board at the end of a cable. Raises nothing, whatever the probe has."""
    return [finding for check in (*GENERAL, doctor_services.check_modems) for finding in check(probe)]


def wired(probe: Probe, profile: Profile) -> bool:
    """Whether the board is one of wires, and the machine one that wires can be put on."""
    if profile.matrix.driver == SIMULATED:
        return False
    return model(probe).pi or doctor_pins.header_chip(probe)
