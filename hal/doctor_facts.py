"""Facts: what only this process can tell of itself and its machine, and what a few commands say; for `Probe`."""

from __future__ import annotations

import grp
import importlib.metadata
import importlib.util
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from hal import machine
from hal.doctor_probe import Probe
from hal.doctor_python import MODULES
from hal.drivers import gpio_listing

# name -> command. None of them changes anything, asks for a password or takes long.
COMMANDS = {
    "dmesg": ("dmesg",),
    "get_config": ("vcgencmd", "get_config", "int"),
    "get_throttled": ("vcgencmd", "get_throttled"),
    "gpiodetect": ("gpiodetect",),
    "gpioinfo": ("gpioinfo",),
    "pinctrl": ("pinctrl", "get", "0-27"),
    "timedatectl": ("timedatectl", "show"),
}
PATIENCE_S = 3
DEVICES = ("gpiochip*", "spidev*", "leds[0-9]*", "ttyACM*", "ttyUSB*", "gpiomem*", "vcio")


def here(state: Path) -> Probe:
    """The probe of this machine, whose games are kept in `state`."""
    outputs = {name: _output(command) for name, command in COMMANDS.items()}
    detected, lines = gpio_listing.listing()
    outputs |= {"gpiodetect": detected or outputs["gpiodetect"], "gpioinfo": lines or outputs["gpioinfo"]}
    return Probe(machine.ROOT, outputs | {"facts": json.dumps(facts(state))})


def facts(state: Path) -> dict[str, Any]:
    """Who we are, which Python this is, what it has, and what we may open and write."""
    return {
        "user": _user(os.geteuid()),
        "groups": sorted({_group(gid) for gid in {*os.getgroups(), os.getegid()}}),
        "root": os.geteuid() == 0,
        "sudo_user": os.environ.get("SUDO_USER", ""),
        "prefix": sys.prefix,
        "base_prefix": sys.base_prefix,
        "prefix_ours": os.access(sys.prefix, os.W_OK),
        "venv": sys.prefix != sys.base_prefix,
        "managed": (Path(os.__file__).parent / "EXTERNALLY-MANAGED").exists(),
        "python": sys.executable,
        "modules": {name: _version(name) for name in MODULES if _there(name)},
        "versions": versions(),
        "devices": {str(path): _access(path) for name in DEVICES for path in sorted(Path("/dev").glob(name))},
        "lgpio_folder": _lgpio_folder(),
        "state": {"path": str(state.absolute()), **_room(state.absolute())},
        "now_s": int(time.time()),
    }


def versions() -> dict[str, str]:
    """What an upgrade may change under the board: the kernel, Python and the device libraries (case A34)."""
    found = {"Linux": os.uname().release, "Python": sys.version.split()[0]}
    return found | {name: _version(name) for name in MODULES if _there(name) and _version(name)}


def _output(command: tuple[str, ...]) -> str:
    """What a command says; "" where it cannot be run, fails or takes too long."""
    if shutil.which(command[0]) is None:
        return ""
    try:
        done = subprocess.run(  # noqa: S603 - our own list of commands
            command, capture_output=True, timeout=PATIENCE_S, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace") if done.returncode == 0 else ""


def _there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _version(module: str) -> str:
    """The version of a module that is there; "" where nobody says."""
    try:
        return importlib.metadata.version(MODULES[module])
    except importlib.metadata.PackageNotFoundError:
        return gpio_listing.version() if module == "gpiod" else ""


def _access(path: Path) -> dict[str, Any]:
    """Whose a device is, and whether we may open it; empty for one that has gone meanwhile."""
    try:
        stat = path.stat()
    except OSError:
        return {}
    ours = os.access(path, os.R_OK | os.W_OK)
    return {"user": _user(stat.st_uid), "group": _group(stat.st_gid), "mode": stat.st_mode & 0o777, "ours": ours}


def _lgpio_folder() -> dict[str, Any]:
    """Where lgpio would make its pipe: $LG_WD, else a folder that the driver makes (case C10)."""
    runtime = os.environ.get("RUNTIME_DIRECTORY", "").partition(":")[0]
    try:
        folder = os.environ.get("LG_WD") or runtime or tempfile.gettempdir()
    except FileNotFoundError:  # no folder for temporary files at all
        return {"path": "/tmp", "writable": False}  # noqa: S108 - the folder that is not there
    return {"path": folder, "writable": os.access(folder, os.W_OK | os.X_OK)}


def _room(state: Path) -> dict[str, Any]:
    """Whether a folder, or the nearest one above that is there, may be written, whose it is and how much fits."""
    for folder in (state, *state.parents):
        try:
            stat, disk = folder.stat(), os.statvfs(folder)
        except OSError:
            continue
        return {
            "made": folder == state,
            "writable": folder.is_dir() and os.access(folder, os.W_OK | os.X_OK),
            "owner": _user(stat.st_uid),
            "free_bytes": disk.f_bavail * disk.f_frsize,
        }
    return {}


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)
