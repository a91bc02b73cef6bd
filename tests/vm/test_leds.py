"""The drivers of LEDs on a real kernel's /dev/spidev0.0 and /dev/leds0, and how a board's light ends."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from hal import conformance
from hal.conformance_leds import LEDS
from tests.vm.machine import KIT
from tests.vm.test_vm import inside

pytestmark = pytest.mark.vm

INSIDE = KIT / "inside"


def told(*arguments: str, options: tuple[str, ...] = ()) -> Any:
    """What a script says inside the virtual Pi."""
    ran = inside(*options, "--", sys.executable, str(INSIDE / arguments[0]), *arguments[1:])
    assert (0, "") == (ran.returncode, ran.stderr)
    return json.loads(ran.stdout)


@pytest.mark.parametrize("driver", ["spidev", "leds0", "leds0-through"])
def test_a_driver_passes_the_suite_on_the_virtual_pi(driver: str) -> None:
    """spidev, and leds0 on a kernel with gamma and on one without, keep every promise of a driver of LEDs, decoded from
    the kernel's side; nothing on the header is shorted (cases A7, A8, A19, A33).
    """
    kept = {conformance.name(check): "kept" for check in LEDS}
    assert {"told": kept, "shorts": 0} == told("leds_bench.py", driver)


def test_a_board_goes_dark_however_it_ends() -> None:
    """SIGTERM, SIGINT and a bug in a thread leave the chain dark; after SIGKILL the next start blanks first (A28)."""
    dark = {"left": "dark", "next": "dark"}
    assert {
        "SIGTERM": {"status": 0} | dark,
        "SIGINT": {"status": 0} | dark,
        "SIGKILL": {"status": -9, "left": "lit", "next": "dark"},
        "bug": {"status": 1} | dark,
    } == told("leds_ends.py")


@pytest.mark.parametrize(("count", "reason"), [(48, "fewer"), (50, "more")])
def test_an_overlay_with_another_number_of_leds_is_named(count: int, reason: str) -> None:
    """/dev/leds0 with an LED too few or too many is refused when it is opened, with the command (case A8)."""
    code = (
        "from hal.drivers import leds0_leds; from hal.profile import *; from hal.errors import PartError\n"
        "try: leds0_leds.open_leds(load(shipped('sim')))\nexcept PartError as fault: print(fault)"
    )
    ran = inside("--param", f"board_sim.num_leds={count}", "--", sys.executable, "-c", code)
    assert (0, "") == (ran.returncode, ran.stderr)
    assert ran.stdout.startswith(f"/dev/leds0 has {reason} LEDs than the profile's 49: ")
    assert "num_leds=49" in ran.stdout


def test_two_programs_cannot_draw_on_one_chain() -> None:
    """A second board on the same LEDs is refused with a sentence, and auto tries the next driver, and says why."""
    code = (
        "import logging, msgspec\nfrom hal import drivers\n"
        "from hal.errors import PartError\nfrom hal.profile import *\n"
        "logging.basicConfig(level=logging.INFO, format='%(message)s')\n"
        "sim = load(shipped('sim'))\n"
        "def by(name): return drivers.open_leds(sim._replace(leds=msgspec.structs.replace(sim.leds, driver=name)))\n"
        "one = by('spidev')\n"
        "try: by('spidev')\nexcept PartError as fault: print(fault)\n"
        "two = by('auto'); print(type(two).__name__)"
    )
    ran = inside("--", sys.executable, "-c", code)
    taken = "another program draws on /dev/spidev0.0: `sudo fuser /dev/spidev0.0` says which"
    assert (0, [taken, "KernelLeds"]) == (ran.returncode, ran.stdout.splitlines())
    assert [
        f"LEDs: not spidev: {taken}",
        'LEDs: driver = "auto" picks leds0 (this computer is no known Pi; a kernel driver needs no model) after others '
        "failed.",
    ] == [line for line in ran.stderr.splitlines() if "timed at" not in line]
