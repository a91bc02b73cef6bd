"""Supply: whether the machine says that its voltage sags (cases A35, G17, H7). `root` stands for "/"."""

from __future__ import annotations

from pathlib import Path

from hal.machine import ROOT

# The kernel's own sensor, which reports what the Pi's power chip says; its channel has had two numbers.
HWMON = "sys/class/hwmon"
SENSOR = "rpi_volt"
# The firmware's word, a hexadecimal mask, as `vcgencmd get_throttled` prints it; bit 0 is under-voltage now.
THROTTLED = "sys/devices/platform/soc/soc:firmware/get_throttled"


class Supply:
    """Asks the machine for under-voltage. `known`: whether this machine can tell at all."""

    def __init__(self, root: Path = ROOT) -> None:
        self._alarms = [
            alarm
            for name in sorted((root / HWMON).glob("hwmon*/name"))
            if _read(name) == SENSOR
            for alarm in sorted(name.parent.glob("in*_lcrit_alarm"))
        ]
        self._throttled = root / THROTTLED
        self.known = bool(self._alarms) or _mask(self._throttled) is not None

    def low(self) -> bool:
        """Whether the voltage is too low now (below 4.63 V on a Pi); False where the machine cannot tell."""
        if any(_read(alarm) == "1" for alarm in self._alarms):
            return True
        return bool((_mask(self._throttled) or 0) & 1)


def _mask(file: Path) -> int | None:
    try:
        return int(_read(file).removeprefix("throttled="), 16)
    except ValueError:
        return None


def _read(file: Path) -> str:
    """The text of a file of the kernel's; "" where it cannot be read."""
    try:
        return file.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
