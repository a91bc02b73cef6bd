"""The doctor on the machine itself: model, system, supply, heat, and what changed since it last worked. Pure."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

from hal import models
from hal.doctor_boot import config, model
from hal.doctor_finding import RESTART, Finding, broken, fine, listed, warning
from hal.doctor_pins import chips, header_chip
from hal.drivers import SIMULATED
from hal.supply import HWMON, SENSOR, THROTTLED

if TYPE_CHECKING:
    from hal.doctor_probe import Probe
    from hal.profile import Profile

# Debian releases whose Raspberry Pi OS this firmware is meant for; older ones have no Python 3.11.
RELEASES = (12, 13)
# Bits of `get_throttled` (Raspberry Pi's documentation of vcgencmd): now, and since the start.
_LOW_NOW, _HOT_NOW, _LOW_BEFORE = 1 << 0, 1 << 3, 1 << 16
# In the state directory: what was installed when the board last started well.
LAST_START = "last-good-start.json"


def check_model(probe: Probe, profile: Profile) -> list[Finding]:
    """Which machine this is, said as it says it; nothing is made out of a number that is not known (cases A3, G14)."""
    found = model(probe)
    revision = re.search(r"^Revision\s*:\s*(\w+)", probe.text("proc/cpuinfo"), re.M)
    code = f" (revision {revision[1]})" if revision else ""
    if found.generation:
        return [fine("model", f"This is a {found.name}{code}.")]
    if found.pi:
        text = f"This is a {found.name}{code}, which is not known here; please report that revision."
        return [warning("model", text, "grep Revision /proc/cpuinfo")]
    it_is = "This is no Raspberry Pi" + (f" but a {found.name}" if probe.text(models.MODEL_FILE) else "")
    if profile.matrix.driver == SIMULATED:
        return [fine("model", f"{it_is}, and a simulated board needs none.")]
    if header_chip(probe):
        count = len(chips(probe))
        what = f"{count} GPIO chip{'s' * (count != 1)}" if count else "a GPIO chip"
        return [warning("model", f"{it_is}, but has {what}; nothing is known of its clocks.", "gpiodetect")]
    text = f"{it_is} and has no GPIO chip, so that no board can be wired to it; play in the browser."
    return [broken("model", text, "morbak run --board sim --open")]


def check_system(probe: Probe) -> list[Finding]:
    """Which system this is, and whether its boot settings could be read."""
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)"?', probe.text("etc/os-release", "usr/lib/os-release"), re.M))
    name, version = release.get("PRETTY_NAME", ""), release.get("VERSION_ID", "")
    kernel = probe.text("proc/sys/kernel/osrelease").strip()
    if not name:
        return []
    found = [fine("system", f"The system is {name}" + (f" with Linux {kernel}." if kernel else "."))]
    if version.isdigit() and release.get("ID") in ("debian", "raspbian") and int(version) < RELEASES[0]:
        text = f"{name} is older than the Python that the board wants; write a card with Raspberry Pi OS {RELEASES[1]}."
        found = [warning("system", text, "rpi-imager")]
    if model(probe).generation and not config(probe):
        text = "config.txt cannot be read, so nothing is known of clocks, sound and overlays."
        found.append(warning("system", text, "ls -l /boot/firmware/config.txt /boot/config.txt"))
    return found


def check_supply(probe: Probe, profile: Profile) -> list[Finding]:
    """The voltage holds (cases A35, G17, H7)."""
    mask = _mask(probe)
    alarm = any(
        probe.text(f"{HWMON}/{sensor}/{name}").strip() == "1"
        for sensor in probe.names(HWMON)
        if probe.text(f"{HWMON}/{sensor}/name").strip() == SENSOR
        for name in probe.names(f"{HWMON}/{sensor}")
        if name.endswith("_lcrit_alarm")
    )
    shows = f"morbak pinout {shlex.quote(_board(profile))}"
    if alarm or (mask or 0) & _LOW_NOW:
        text = "The voltage is too low now: give the LEDs a supply of their own, and the Pi one that is made for it."
        return [broken("supply", text, shows)]
    if mask is None:
        return []
    if mask & _LOW_BEFORE:
        text = "The voltage was too low since the last start: give the LEDs a supply of their own, with common ground."
        return [warning("supply", text, shows)]
    return [fine("supply", "The voltage has held since the last start.")]


def _board(profile: Profile) -> str:
    """What a command takes for the board: the name of one that ships, else its file."""
    folder, _, file = profile.file.rpartition("/")
    return file.removesuffix(".toml") if folder.endswith("hal/profiles") else profile.file


def check_heat(probe: Probe) -> list[Finding]:
    """The machine is not slowed down by heat, which makes scans late."""
    if (_mask(probe) or 0) & _HOT_NOW:
        return [warning("heat", "The machine is too hot and slows itself down; give it air.", "vcgencmd measure_temp")]
    return []


def _mask(probe: Probe) -> int | None:
    """The firmware's word on voltage and heat; None where it is not known."""
    for text in (probe.output("get_throttled"), probe.text(THROTTLED)):
        if found := re.fullmatch(r"(?:throttled=)?(?:0x)?([0-9a-fA-F]{1,8})", text.strip()):
            return int(found[1], 16)
    return None


def check_changes(probe: Probe) -> list[Finding]:
    """What was upgraded since the board last started well, should it fail now (case A34)."""
    then = _last_start(probe)
    now = {name: str(version) for name, version in probe.table("versions").items()}
    if not then or not now:
        return []
    changed = [
        f"{name} {then.get(name) or 'none'} to {now.get(name) or 'none'}"
        for name in sorted(then.keys() | now.keys())
        if then.get(name) != now.get(name)
    ]
    if not changed:
        return [fine("changes", "Nothing was upgraded since the board last started well.")]
    text = f"Changed since the board last started well: {listed(changed)}; look there first if something fails now."
    return [warning("changes", text, "grep -h ' upgrade ' /var/log/dpkg.log | tail")]


def _last_start(probe: Probe) -> dict[str, str]:
    """The versions of the last good start; empty where they are not known."""
    path = probe.table("state").get("path")
    try:
        kept = json.loads(probe.text(f"{path}/{LAST_START}"))
    except (ValueError, RecursionError):
        return {}
    versions = kept.get("versions") if isinstance(kept, dict) else None
    return {str(name): str(version) for name, version in versions.items()} if isinstance(versions, dict) else {}


def check_age(probe: Probe) -> list[Finding]:
    """A restart that an upgrade waits for: until then modules of the running kernel may be missing."""
    kernel = probe.text("proc/sys/kernel/osrelease").strip()
    installed = probe.names("lib/modules") or probe.names("usr/lib/modules")
    if not model(probe).generation or not kernel or not installed or kernel in installed:
        return []
    text = f"Linux {kernel} runs and is no longer installed, so that its drivers cannot be loaded."
    return [broken("kernel", text, "sudo reboot", RESTART)]
