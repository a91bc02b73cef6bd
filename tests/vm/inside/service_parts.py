"""Runs inside the virtual Pi under systemd: the LED helper as root of its own, udev's names, watchdog and log limits.

The board is the one with LEDs on PWM, its library a fake that writes down what it is told. Prints as JSON.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import vpi
from service import UNIT, morbak, run, show, state, until

FAKE = Path("/var/lib/fake")
DROP_IN = Path("/run/systemd/system/morbak-leds@.service.d/fake.conf")
SOCKET = "/run/morbak-leds/socket"
CALL = f"import socket; s = socket.socket(socket.AF_UNIX); s.connect('{SOCKET}'); print(s.recv(200).decode())"


def shown() -> list[str]:
    """Every frame that the library has put on its wire."""
    file = FAKE / "shown"
    return file.read_text().splitlines() if file.exists() else []


def helper() -> str:
    """The unit of the helper that lives; "" for none."""
    told = run("systemctl", "list-units", "--plain", "--no-legend", "morbak-leds@*.service").stdout.split()
    return told[0] if told else ""


def leds() -> dict[str, object]:
    """The health of the LEDs."""
    told: dict[str, object] = state().get("health", {}).get("parts", {}).get("leds", {})
    return told


def caller(user: str) -> str:
    """What somebody else hears who calls the helper."""
    ran = run("runuser", "-u", user, "--", "/usr/bin/python3", "-c", CALL, check=False)
    return (ran.stdout + ran.stderr).strip().splitlines()[-1]


def lamps() -> dict[str, object]:
    """The board on LEDs that need root."""
    FAKE.mkdir()
    DROP_IN.parent.mkdir(parents=True)
    library = Path("/usr/local/lib/fake")
    library.mkdir()
    shutil.copy(Path(__file__).parents[2] / "fake_libraries/rpi_ws281x.py", library)
    lines = ["[Service]", f"Environment=PYTHONPATH={library} FAKE_WS281X={FAKE}", f"ReadWritePaths={FAKE}"]
    DROP_IN.write_text("\n".join([*lines, ""]))
    morbak("install", "--board", "pwm")
    until(lambda: leds().get("ok") and len(shown()) > 5)
    unit = helper()
    status = Path(f"/proc/{show('MainPID', unit)}/status").read_text().splitlines()
    process = {line.split()[0]: line.split()[1] for line in status if len(line.split()) > 1}
    run("systemctl", "kill", "--signal=KILL", unit)
    until(lambda: helper() not in ("", unit) and leds().get("ok"))
    run("systemctl", "stop", UNIT)
    until(lambda: not helper())
    return {
        "status": {name: process[name] for name in ("Uid:", "CapEff:", "CapBnd:", "Seccomp:")},
        "nobody": caller("nobody"),
        "begun": sorted({" ".join(line.split()[1:]) for line in (FAKE / "begun").read_text().splitlines()}),
        "dark": not any(bytes.fromhex(shown()[-1])),
    }


def cable() -> dict[str, object]:
    """A USB serial board, by its names."""
    usb = vpi.UsbSerial(serial="E6614")
    usb.plug()
    until(lambda: list(Path("/dev/serial/by-id").glob("*E6614*")) if Path("/dev/serial").exists() else [])
    (name,) = until(lambda: list(Path("/dev/morbak").iterdir()) if Path("/dev/morbak").exists() else [])
    told = run("udevadm", "info", "-q", "property", str(name)).stdout.splitlines()
    group = run("stat", "-L", "-c", "%G %a", str(name)).stdout.strip()
    usb.unplug()
    return {"name": name.name, "ignored": "ID_MM_DEVICE_IGNORE=1" in told, "group": group}


def main() -> None:
    """Look at every part."""
    lit = lamps()
    config = run("systemd-analyze", "cat-config", "systemd/journald.conf").stdout
    told = {
        "leds": lit,
        "cable": cable(),
        "devices": subprocess.run(
            ["stat", "-c", "%n %G %a", "/dev/gpiochip0", "/dev/spidev0.0", "/dev/leds0"], capture_output=True, text=True
        ).stdout.splitlines(),
        "watchdog": run("systemctl", "show", "--value", "-p", "RuntimeWatchdogUSec").stdout.strip(),
        "log": "SystemMaxUse=64M" in config,
        "two": morbak("run", "--board", "sim", "--state", "/var/lib/morbak-board", check=False).stderr.strip(),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
