"""LEDs by the machine's model: the driver that suits it and the data line, said with the reason.

Only this driver tries another where the first does not answer (case A3); one that a profile names never does.
"""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from hal import drivers, machine, models
from hal.errors import PartError
from hal.machine import ROOT
from hal.ports import Leds
from hal.profile import Profile

log = logging.getLogger("morbak")


def open_leds(profile: Profile, root: Path = ROOT) -> Leds:
    """The chain of a profile, dark, by the first driver for this machine that answers.

    Raises PartError, which says what is wrong with the best one and names the others.
    """
    found, gpio = machine.model(root), profile.leds.gpio
    choices = models.led_choices(found, gpio)
    if not choices:
        raise PartError(
            f"leds.pin = {profile.leds.pin!r} carries no LEDs on a {found.name}: GPIO10 (SPI), GPIO12, 13, 18 or 19 "
            "(PWM) or GPIO21 (PCM) does"
        )
    refused: list[str] = []
    for driver, why in choices:
        try:
            leds = drivers.open_leds(profile._replace(leds=msgspec.structs.replace(profile.leds, driver=driver)))
        except PartError as fault:
            log.info("LEDs: not %s: %s", driver, fault)
            refused.append(f"{driver}: {fault}")
            continue
        log.info('LEDs: driver = "auto" picks %s (%s)%s.', driver, why, " after others failed" if refused else "")
        return leds
    others = f" (nor does {', '.join(choice.driver for choice in choices[1:])})" if refused[1:] else ""
    raise PartError(f"no LED driver answers{others}; {refused[0]}")
