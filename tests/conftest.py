"""What every test may use, and which rungs of the ladder ran.

A rung that needs a system part (a browser) is listed as not run where the part is missing; with
`MORBAK_REQUIRE_ALL=1` that is a failure.
"""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import pytest
from hypothesis import HealthCheck

from tests.pico_rig import image
from tests.small_disk import mountable
from tests.vm.machine import kernel
from tests.vm.parcel import system_python
from tests.vm.power_cut import mkfs

REQUIRE_ALL = os.environ.get("MORBAK_REQUIRE_ALL") == "1"
# Rungs that this machine cannot have by its nature, such as a loop device in a container: told of, not required.
WITHOUT = os.environ.get("MORBAK_WITHOUT", "").split()
PROVE = os.environ.get("MORBAK_PROVE") == "1"
SEED = int(os.environ.get("MORBAK_SEED", random.SystemRandom().randrange(2**31)))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

# A machine under load, or with cold caches, is slow to make inputs and to run them: no fault of what is tested.
hypothesis.settings.register_profile(
    "morbak", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
hypothesis.settings.load_profile("morbak")

# rung -> what it needs, and whether that is here
RUNGS = {
    "browser": ("chromium (apt install chromium)", CHROMIUM is not None),
    # Imported it would leave its pipe in this directory.
    "lgpio": (
        "lgpio (Debian's python3-lgpio where there is no wheel, as for Python 3.13)",
        importlib.util.find_spec("lgpio") is not None,
    ),
    "strace": ("strace (apt install strace)", shutil.which("strace") is not None),
    "systemd": (
        "systemd, udev and the system's Python of this version (apt install systemd udev python3 python3-venv)",
        shutil.which("systemd-analyze") is not None and shutil.which("udevadm") is not None and system_python(),
    ),
    "kiosk": (
        "cage, sway, grim, Xwayland (apt install cage sway grim xwayland) and root, to be another user",
        all(map(shutil.which, ("cage", "sway", "grim", "Xwayland"))) and os.geteuid() == 0,
    ),
    "logind": (
        "D-Bus and logind with its PAM module (apt install dbus libpam-systemd)",
        shutil.which("dbus-daemon") is not None and any(Path("/lib").glob("*/security/pam_systemd.so")),
    ),
    "root": ("root, to be several users", os.geteuid() == 0),
    "disk": ("root and a loop device (mount, fsfreeze), to have a disk of its own", mountable()),
    "pico": (
        "MicroPython for a Pico in MORBAK_PICO_UF2 (hal/pico/README.md), rp2040py and littlefs-python",
        image() is not None and find_spec("rp2040py") is not None and find_spec("littlefs") is not None,
    ),
    "vm": (
        "a kernel in MORBAK_VM_KERNEL (tests/vm/build-kernel) and mkfs.ext4 (apt install e2fsprogs)",
        kernel() is not None and mkfs() is not None,
    ),
}


def pytest_report_header() -> str:
    """The seed of every random test, so that a failure can be repeated."""
    return f"morbak: seed {SEED} (repeat with MORBAK_SEED={SEED}), Python {sys.version.split()[0]}, prove {PROVE}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the rungs whose parts are missing, and remember them."""
    missing = [rung for rung, (_, here) in RUNGS.items() if not here]
    left_out = [item for item in items if any(item.get_closest_marker(rung) for rung in missing)]
    if REQUIRE_ALL:
        left_out = [item for item in left_out if any(item.get_closest_marker(rung) for rung in WITHOUT)]
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A rung that is required and cannot run has failed."""
    for rung, (needs, here) in RUNGS.items():
        if item.get_closest_marker(rung) and not here:
            pytest.fail(f"the rung {rung} is required and needs {needs}", pytrace=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the rungs that did not run."""
    for rung, (needs, here) in RUNGS.items():
        if not here:
            terminalreporter.write_line(f"NOT RUN: rung {rung}; it needs {needs}", yellow=True)


@pytest.fixture
def seed() -> int:
    """The seed of this run; printed in the header."""
    return SEED


@pytest.fixture
def prove() -> bool:
    """Whether long proofs run in full."""
    return PROVE
