"""The doctor on Python: the libraries that the board's drivers want, and where they are looked for. Pure."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from hal.doctor_finding import Finding, broken, fine, listed, warning
from hal.doctor_leds import driver
from hal.drivers import DEBIANS, FROM_DEBIAN, INSTALL, NO_LGPIO, SEES_DEBIAN

if TYPE_CHECKING:
    from hal.doctor_probe import Probe
    from hal.profile import Profile

# module -> the distribution that brings it.
MODULES = {
    "gpiod": "gpiod",
    "gpiozero": "gpiozero",
    "lgpio": "lgpio",
    "neopixel": "adafruit-circuitpython-neopixel",
    "board": "adafruit-blinka",
    "rpi_ws281x": "rpi-ws281x",
}
# driver -> the modules that it imports; those that are not listed need none.
NEEDS = {
    "gpiod": ("gpiod",),
    "gpiozero": ("gpiozero", "lgpio"),
    "rpi_ws281x": ("rpi_ws281x",),
    "neopixel": ("board", "neopixel"),
}
# What the project's own extra brings; the others are installed by their names.
_EXTRA = ("gpiod", "gpiozero", "lgpio")


def needs(probe: Probe, profile: Profile) -> list[str]:
    """The modules that a board's drivers want."""
    drivers = [profile.matrix.driver, driver(probe, profile)]
    if profile.buttons.start is not None or profile.buzzer.pin is not None:
        drivers.append("gpiozero")
    return list(dict.fromkeys(module for name in drivers for module in NEEDS.get(name, ())))


def check_modules(probe: Probe, profile: Profile) -> list[Finding]:
    """Every library is there that the board wants (cases B1, B2, B3, B4)."""
    if probe.fact("modules") is None:
        return []
    wanted, there = needs(probe, profile), probe.table("modules")
    missing = [module for module in wanted if module not in there]
    if missing:
        plural = "s" * (len(missing) != 1)
        where = f" in {probe.word('prefix')}" if probe.word("prefix") else ""
        text = f"The Python package{plural} {listed([MODULES[name] for name in missing])} cannot be imported{where}."
        if _wants_debians(probe, missing):
            text += " Debian's lgpio is for Debian's own Python, which this is not."
        return [broken("libraries", text, _install(probe, missing))]
    if "gpiod" in wanted and str(there["gpiod"]).startswith("1"):
        text = "The gpiod that is installed is version 1, which reads lines one by one; version 2 is wanted."
        return [broken("libraries", text, _install(probe, ["gpiod"]))]
    names = listed([f"{name} {there[name]}".strip() for name in wanted])
    return [fine("libraries", f"Every library is there: {names}." if names else "The board wants no libraries.")]


def _install(probe: Probe, missing: list[str]) -> str:
    """The one command that installs what is missing, into an environment: the system's own Python is not ours."""
    if _wants_debians(probe, missing):
        return f"{FROM_DEBIAN} && {DEBIANS}/bin/{SEES_DEBIAN} ~/morbak && ~/morbak/bin/{_pip(missing)}"
    ours = probe.fact("venv") is True and bool(probe.word("python"))
    folder = shlex.quote(probe.word("prefix")) if ours else "~/morbak"
    sudo = "sudo " if ours and probe.fact("prefix_ours") is False else ""
    steps = []
    if "lgpio" in missing and _python(probe) >= NO_LGPIO:
        missing = [name for name in missing if name != "lgpio"]
        steps += [FROM_DEBIAN, f"{sudo}{SEES_DEBIAN} {folder}"]
    elif not ours:
        steps.append(f"{SEES_DEBIAN} {folder}")
    if missing:
        pip = _pip(missing)
        steps.append(f"{sudo}{shlex.quote(probe.word('python'))} -m {pip}" if ours else f"{folder}/bin/{pip}")
    return " && ".join(steps)


def _pip(missing: list[str]) -> str:
    """pip's words for modules that are missing."""
    others = [MODULES[name] for name in missing if name not in _EXTRA]
    return " ".join([INSTALL if len(others) < len(missing) else "pip install", *others])


def _wants_debians(probe: Probe, missing: list[str]) -> bool:
    """Whether only Debian's own Python can have what is missing, and this is another."""
    base = probe.word("base_prefix")
    return "lgpio" in missing and _python(probe) >= NO_LGPIO and base not in ("", DEBIANS)


def _python(probe: Probe) -> tuple[int, ...]:
    """The version of Python; () where it is not known."""
    found = re.match(r"(\d+)\.(\d+)", str(probe.table("versions").get("Python", "")), re.ASCII)
    return (int(found[1]), int(found[2])) if found else ()


def check_environment(probe: Probe) -> list[Finding]:
    """It runs from its own environment and not as root (cases B3, B4, G22)."""
    sudo = probe.word("sudo_user")
    if probe.fact("root") is True and sudo:
        text = (
            f"This runs under sudo, which leaves {sudo}'s Python environment and would make files that {sudo} cannot "
            "write; nothing here needs root."
        )
        return [warning("environment", text, "morbak doctor")]
    if probe.fact("root") is True:
        people = re.findall(r"^([a-z_][\w-]*):[^:]*:[1-5]\d{3}:.*sh$", probe.text("etc/passwd"), re.M)
        fix = f"su - {people[0]} -c 'morbak doctor'" if people else "adduser morbak"
        return [warning("environment", "This runs as root, and nothing here needs it.", fix)]
    if probe.fact("venv") is False and probe.fact("managed") is True:
        text = "This runs in the system's own Python, into which pip installs nothing (externally-managed-environment)."
        return [warning("environment", text, f"{SEES_DEBIAN} ~/morbak")]
    if not probe.word("prefix"):
        return []
    return [fine("environment", f"It runs in {probe.word('prefix')} as {probe.word('user') or 'an ordinary user'}.")]


def check_lgpio(probe: Probe, profile: Profile) -> list[Finding]:
    """lgpio can make its pipe, without which it cannot be imported (case C10)."""
    folder = probe.table("lgpio_folder")
    path = folder.get("path")
    if "lgpio" not in needs(probe, profile) or not isinstance(path, str):
        return []
    if folder.get("writable") is False:
        text = f"lgpio makes a pipe in {path} when it is imported, and may not write there."
        return [broken("lgpio", text, "export LG_WD=$(mktemp -d)")]
    return [fine("lgpio", f"lgpio may make its pipe in {path}.")]
