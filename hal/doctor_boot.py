"""What a Pi was told at its start: config.txt as it counts on this model, and the kernel's command line. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hal import models

if TYPE_CHECKING:
    from hal.doctor_probe import Probe
    from hal.models import Model

CMDLINES = ("proc/cmdline", "boot/firmware/cmdline.txt", "boot/cmdline.txt")


def model(probe: Probe) -> Model:
    """Which Pi this is, if it is one."""
    return models.model(probe.text(models.MODEL_FILE))


def config(probe: Probe) -> str:
    """The text of config.txt with the files that it includes, each once; "" where there is none."""
    lines = []
    for line in probe.text(*models.CONFIG_FILES).splitlines():
        if found := re.fullmatch(r"include\s+([\w.-]+)\s*", line):
            lines += probe.text(f"boot/firmware/{found[1]}", f"boot/{found[1]}").splitlines()
        else:
            lines.append(line)
    return "\n".join(lines)


def boot(probe: Probe) -> dict[str, str]:
    """The settings of config.txt that count on this model; overlays and parameters are joined by spaces."""
    return models.boot_settings(config(probe), model(probe))


def parameters(probe: Probe) -> dict[str, str]:
    """The parameters of the device tree that config.txt gives, the last of a name."""
    given = boot(probe).get("dtparam", "").replace(",", " ").split()
    return {name: value if equals else "on" for name, equals, value in (part.partition("=") for part in given)}


def overlay(probe: Probe, name: str) -> str | None:
    """The parameters of an overlay that config.txt loads; None where it does not."""
    for text in boot(probe).get("dtoverlay", "").split():
        loaded, _, rest = text.partition(",")
        if loaded == name:
            return rest
    return None


def switched_on(value: str | None) -> bool:
    """Whether a parameter is on; one that is not given is off."""
    return value is not None and value.lower() not in ("off", "0", "no", "false")


def command_line(probe: Probe) -> list[str]:
    """The arguments that the kernel was started with."""
    return probe.text(*CMDLINES).split()


def kernel_modules(probe: Probe) -> set[str]:
    """The kernel's loaded modules."""
    return {line.split()[0] for line in probe.text("proc/modules").splitlines() if line.strip()}
