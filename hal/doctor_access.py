"""The doctor on what may be opened and written: devices, the state directory and the file system under it. Pure."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from hal.doctor_boot import command_line
from hal.doctor_finding import LOG_IN, RESTART, Finding, broken, fine, listed, warning
from hal.doctor_leds import driver
from hal.doctor_pins import chips, wanted
from hal.drivers import leds0_leds, spidev_leds

if TYPE_CHECKING:
    from hal.doctor_probe import Probe
    from hal.profile import Profile

# File systems that are forgotten when the power goes.
FORGETFUL = ("overlay", "tmpfs", "ramfs")
# How the read-only root of raspi-config is asked for, today's way and that of before Bookworm.
ASKS_OVERLAY = ("overlayroot=tmpfs", "boot=overlay")
# A record takes 2 kB; a system that has less room than this is about to fail anyway.
FEW_BYTES = 50_000_000


def check_devices(probe: Probe, profile: Profile) -> list[Finding]:
    """The devices of the board may be opened by whoever runs this."""
    told = probe.table("devices")
    opened, found = [], []
    for device in _devices(probe, profile):
        access = told.get(device)
        if not isinstance(access, dict) or not isinstance(access.get("ours"), bool):
            continue
        if access["ours"]:
            opened.append(device)
        else:
            found.append(_refused(probe, device, str(access.get("group", "")), access.get("mode")))
    if found or not opened:
        return found
    return [fine("permissions", f"{listed(opened)} may be opened.")]


def _devices(probe: Probe, profile: Profile) -> list[str]:
    """The device files that this board opens and that are there."""
    of_leds = {"spidev": spidev_leds.DEVICE, "leds0": leds0_leds.DEVICE}
    pins = [pin for _, pin in wanted(profile)]
    found = [chip.path for chip in chips(probe) if any(chip.offset(pin) is not None for pin in pins)]
    if not found and pins:  # none could be asked: all of them are refused, or the library is missing
        found = [device for device in probe.table("devices") if device.startswith("/dev/gpiochip")]
    leds = profile.leds.device or of_leds.get(driver(probe, profile))
    return [*found, leds] if leds is not None and probe.exists(leds) else found


def _refused(probe: Probe, device: str, group: str, mode: object) -> Finding:
    """A device that is not ours to open, and what makes it so."""
    user = probe.word("user") or "$USER"
    if not group or group == "root" or not isinstance(mode, int) or mode & 0o060 != 0o060:
        kind = re.sub(r"[\d.]+$", "", device.removeprefix("/dev/"))
        rule = f'KERNEL=="{kind}*", GROUP="{"spi" if kind == "spidev" else "gpio"}", MODE="0660"'
        fix = f"echo '{rule}' | sudo tee /etc/udev/rules.d/99-morbak-{kind}.rules"
        return broken("permissions", f"{device} belongs to root alone.", fix, RESTART)
    members = re.search(rf"^{re.escape(group)}:[^:]*:\d*:(.*)$", probe.text("etc/group"), re.M)
    if members and user in members[1].split(","):
        text = f"{device} belongs to the group {group}, in which {user} is from the next login on."
        return broken("permissions", text, f"exec su -l {user}")
    text = f"{device} belongs to the group {group}, and {user} is not in it."
    return broken("permissions", text, f"sudo usermod -aG {group} {user}", LOG_IN)


def check_state(probe: Probe) -> list[Finding]:
    """Games can be saved, and stay (cases F9, F11, G22)."""
    state = probe.table("state")
    path = state.get("path")
    if not isinstance(path, str):
        return []
    kind, options = _mount(probe, path)
    if "ro" in options:
        text = f"Games are kept in {path}, which is on a read-only file system; a card with errors is made so."
        return [broken("state", text, f"sudo mount -o remount,rw $(findmnt -n -o TARGET -T {_there(state, path)})")]
    if state.get("writable") is False:
        user, at = probe.word("user") or "$USER", shlex.quote(path)
        text = f"Games are kept in {path}, where {user} may not write (it is {state.get('owner', 'somebody')}'s)."
        return [broken("state", text, f"sudo install -d -o {user} {at} && sudo chown -R {user} {at}")]
    if kind in FORGETFUL and _asked(probe):
        text = f"Games are kept in {path}, which is in memory: they are gone when the power goes."
        return [broken("state", text, "sudo raspi-config nonint do_overlayfs 1", RESTART)]
    if kind in FORGETFUL:
        text = f"Games are kept in {path}, on a file system ({kind}) that may be in memory and forget them."
        return [warning("state", text, f"findmnt -T {_there(state, path)}")]
    free = state.get("free_bytes")
    if isinstance(free, int) and free < FEW_BYTES:
        text = f"Games are kept in {path}, where {free // 1_000_000} MB are free."
        return [warning("state", text, "sudo apt clean")]
    return [fine("state", f"Games are kept in {path}.")]


def _there(state: dict[str, object], path: str) -> str:
    """A folder that is there, to ask of."""
    return shlex.quote(path) if state.get("made") else "/"


def check_root(probe: Probe) -> list[Finding]:
    """A read-only root that was asked for is in effect: as an overlay in memory, or by `ro` in fstab (case F11)."""
    asked, fixed, mounts = _asked(probe), _fixed(probe), _mounts(probe)
    if not mounts or not (asked or fixed):
        return []
    kind, options = mounts.get("/", ("", []))
    if kind == "overlay":
        return [fine("root", "The root is read-only, and what is written to it is forgotten, as was asked for.")]
    if fixed and "ro" in options:
        return [fine("root", "The root is read-only, as /etc/fstab asks for.")]
    text = (
        f"A read-only root was asked for ({asked or 'ro in /etc/fstab'}) and is not in effect: the card is written to."
    )
    mend = "sudo raspi-config nonint do_overlayfs 0" if asked else "sudo mount -o remount,ro /"
    return [warning("root", text, mend, RESTART if asked else "")]


def _fixed(probe: Probe) -> bool:
    """Whether fstab has the root read-only."""
    rows = [line.split() for line in probe.text("etc/fstab").splitlines() if not line.lstrip().startswith("#")]
    return any(len(row) >= 4 and row[1] == "/" and "ro" in row[3].split(",") for row in rows)


def _asked(probe: Probe) -> str:
    """The argument that asks for a read-only root; "" where none does."""
    return next((argument for argument in command_line(probe) if argument in ASKS_OVERLAY), "")


def _mounts(probe: Probe) -> dict[str, tuple[str, list[str]]]:
    """Kind and options of what is mounted where, the last mounted of a place."""
    rows = [line.split() for line in probe.text("proc/mounts").splitlines()]
    return {row[1].replace(r"\040", " "): (row[2], row[3].split(",")) for row in rows if len(row) >= 4}


def _mount(probe: Probe, path: str) -> tuple[str, list[str]]:
    """Kind and options of the file system that a path is on; ("", []) where it is not known."""
    mounts = _mounts(probe)
    parts = path.rstrip("/").split("/")
    for length in range(len(parts), 0, -1):
        place = "/".join(parts[:length]) or "/"
        if place in mounts:
            return mounts[place]
    return "", []
