"""The doctor on what else runs: programs that take serial boards, and what sets the clock. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hal.doctor_finding import Finding, broken, fine, warning

if TYPE_CHECKING:
    from hal.doctor_probe import Probe

# Before this firmware was written (January 2025): a clock that says so has not been set.
EARLIEST_S = 1_735_689_600
_STOLEN = re.compile(r"claimed by \S+ while '?brltty'? sets config")
TIMESYNC_CLOCK = "/var/lib/systemd/timesync/clock"


def programs(probe: Probe) -> set[str]:
    """The names of what runs, as far as the kernel keeps them: 15 letters."""
    return {probe.text(f"proc/{name}/comm").strip() for name in probe.names("proc") if name.isdigit()}


def serial_boards(probe: Probe) -> list[str]:
    """Serial devices on USB, as a board of its own would be."""
    return [f"/dev/{name}" for name in probe.names("dev") if re.fullmatch(r"tty(ACM|USB)\d+", name)]


def check_braille(probe: Probe) -> list[Finding]:
    """brltty has not taken a serial board for a Braille display (case E21)."""
    if _STOLEN.search(probe.output("dmesg")):
        text = "brltty took a serial board for a Braille display, so that it appeared and vanished."
        return [broken("braille", text, "sudo apt remove brltty")]
    if "brltty" in programs(probe) and serial_boards(probe):
        text = f"brltty runs and may take {serial_boards(probe)[0]} for a Braille display."
        return [warning("braille", text, "sudo apt remove brltty")]
    return []


def check_modems(probe: Probe) -> list[Finding]:
    """ModemManager does not hold a serial board for its first ten seconds (E rows, "Latency and time-outs")."""
    if "ModemManager" not in programs(probe):
        return []
    boards = serial_boards(probe)
    if not boards:
        return [fine("modems", "ModemManager runs, which only matters to boards on a USB port.")]
    text = f"ModemManager runs and takes a new serial board, such as {boards[0]}, for a modem: it blocks it for 10 s."
    return [warning("modems", text, "sudo systemctl disable --now ModemManager")]


def check_clock(probe: Probe) -> list[Finding]:
    """Records get the right date; no game depends on it (cases F18, F19)."""
    now_s = probe.fact("now_s")
    if probe.is_folder(TIMESYNC_CLOCK):
        text = f"{TIMESYNC_CLOCK} is a directory, so without a network this machine starts in the past."
        return [warning("clock", text, f"sudo rm -r {TIMESYNC_CLOCK} && sudo systemctl restart systemd-timesyncd")]
    if isinstance(now_s, int) and now_s < EARLIEST_S:
        text = "The clock has not been set, so records would get a wrong date; games are not touched by that."
        return [warning("clock", text, "sudo timedatectl set-ntp true")]
    said = dict(re.findall(r"^(\w+)=(.*)$", probe.output("timedatectl"), re.M))
    if said.get("NTPSynchronized") == "yes" or probe.exists("run/systemd/timesync/synchronized"):
        return [fine("clock", "The clock is set by the network.")]
    if said.get("NTP") == "no":
        text = "The clock is set by nobody, so records may get a wrong date; games are not touched by that."
        return [warning("clock", text, "sudo timedatectl set-ntp true")]
    if said.get("NTPSynchronized") == "no":
        keeps = "which no clock chip keeps" if not probe.names("sys/class/rtc") else "which a clock chip keeps"
        text = f"The network has not set the clock yet, {keeps}; records may get a wrong date."
        return [warning("clock", text, "timedatectl timesync-status")]
    return []
