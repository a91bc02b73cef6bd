"""Machine: what this computer says of itself, read from its files; `root` stands for "/" and may be any folder."""

from __future__ import annotations

from pathlib import Path

from hal import models
from hal.models import Model

ROOT = Path("/")


def text(root: Path, *names: str) -> str:
    """The text of the first of these files that can be read; "" where none can."""
    for name in names:
        try:
            return (root / name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
    return ""


def model(root: Path = ROOT) -> Model:
    """Which Pi this is, if it is one."""
    return models.model(text(root, models.MODEL_FILE))


def temperature_c(root: Path = ROOT) -> float | None:
    """How warm the processor is, in degrees Celsius; None where the machine does not say."""
    try:
        return int(text(root, "sys/class/thermal/thermal_zone0/temp")) / 1000
    except ValueError:
        return None


def boot_config(root: Path = ROOT) -> str:
    """The text of its config.txt; "" where there is none."""
    return text(root, *models.CONFIG_FILES)


def revision(root: Path = ROOT) -> str:
    """The revision code of a Pi, such as c03112, as its makers and libraries know it; "" where there is none."""
    lines = text(root, "proc/cpuinfo").splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("Revision")), "")


def absent(found: Model, mends: str) -> str:
    """What to say of a device that is not there: what `mends` that on a Pi; no Pi is told what it is not."""
    if found.pi:
        return f"is not there: {mends}"
    return f"is not there, and {found.name} is no Raspberry Pi: use one, or play on `morbak run --board sim`"
