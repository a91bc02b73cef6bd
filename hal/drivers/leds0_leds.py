"""LEDs on the kernel's own driver of a Pi 5 (overlay ws2812-pio): a frame is one write to /dev/leds0 (case A8).

The file's contract: one frame an open, 4 bytes an LED in the order R, G, B, W, exactly as many LEDs as the overlay
has. More is an error although the part that fits is shown, fewer blank the tail after 1/20 s, a lone byte is the
brightness. A write returns before the light changes, and what is written while a frame is on the wire joins it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from hal import machine, models
from hal.errors import PartError
from hal.machine import ROOT
from hal.ports import Leds
from hal.profile import Profile
from hal.ws2812 import LATCH_US

DEVICE = "/dev/leds0"
KERNEL_FILE = "proc/sys/kernel/osrelease"
TREE = "proc/device-tree"
OVERLAY = "/boot/firmware/config.txt"
LED_BYTES = 4
LED_HZ = 800_000
# Up to this kernel every value goes through the driver's gamma table and brightness 0 is darkness; after it
# brightness 0 passes values through as they are (case A7).
LAST_WITH_GAMMA = (6, 12, 55)
_FULL_BRIGHTNESS = 255
_OURS = "is not ours to write: `sudo chgrp gpio {device} && sudo chmod 660 {device}`"


def kernel_gamma(value: int) -> int:
    """What the kernel's driver makes of a value: the correction of its table, 255 x (v / 255) ^ (1 / 0.45), cut off."""
    return int(255 * (value / 255) ** (1 / 0.45) + 1e-9)


def _undoing() -> bytes:
    """The table that makes the kernel's gamma harmless: for each wanted level the value it turns into that.

    Where its table skips a level, the next lower one: current never rises by it. So there is one gamma, ours.
    """
    inputs: dict[int, int] = {}
    for value in range(255, -1, -1):
        inputs[kernel_gamma(value)] = value
    inputs[0] = 0
    return bytes(inputs[max(level for level in inputs if level <= wanted)] for wanted in range(256))


UNDO_GAMMA = _undoing()


def open_leds(profile: Profile, root: Path = ROOT) -> Leds:
    """The chain of a profile on the kernel's driver, dark. Raises PartError, one sentence that says what to do."""
    device = profile.leds.device or DEVICE
    _check_count(root, profile.led_count)
    command = models.add_setting(overlay(profile, machine.text(root, KERNEL_FILE)))
    absent = machine.absent(machine.model(root), f"`{command}`, then restart the machine")
    chain = KernelLeds(root / device.removeprefix("/"), device, profile.led_count, absent, gamma=_has_gamma(root))
    try:
        chain.begin()
    except BaseException:
        chain.release()
        raise
    return chain


def _check_count(root: Path, count: int) -> None:
    """The overlay must have as many LEDs as the profile; where no device tree tells, `begin` finds out."""
    told = _tree_values(root, "rpi,num-leds")
    if told and count not in told:
        raise PartError(
            f"the overlay ws2812-pio has num_leds={told[0]} and the profile {count} LEDs: "
            f"`{change('num_leds', count)}`, then restart the machine"
        )


def _has_gamma(root: Path) -> bool:
    """Whether values go through the kernel's gamma. Raises PartError for a brightness that leaves no light right."""
    told = _tree_values(root, "rpi,brightness")
    brightness = told[0] if told else _FULL_BRIGHTNESS
    wanted = full_brightness(machine.text(root, KERNEL_FILE))
    if brightness >= _FULL_BRIGHTNESS:
        return True
    if brightness == wanted:
        return False
    reason = "scales the light a second time" if brightness else "is darkness on this kernel"
    raise PartError(
        f"the overlay ws2812-pio has brightness={brightness}, which {reason}: "
        f"`{change('brightness', wanted)}`, then restart the machine"
    )


def overlay(profile: Profile, release: str) -> str:
    """The line of config.txt that loads the kernel's driver for the chain of a profile."""
    leds = f"gpio={profile.leds.gpio},num_leds={profile.led_count}"
    return f"dtoverlay=ws2812-pio,{leds},brightness={full_brightness(release)}"


def full_brightness(release: str) -> int:
    """The overlay's brightness with which a kernel of this release scales no light a second time (case A7)."""
    return 0 if kernel_version(release) > LAST_WITH_GAMMA else _FULL_BRIGHTNESS


def change(setting: str, wanted: int) -> str:
    """The command that gives the overlay's line in config.txt this setting, whether it has it or not."""
    edit = f"s/,{setting}=[0-9]*//;s/$/,{setting}={wanted}/"
    return f"sudo sed -i '/^dtoverlay=ws2812-pio/{{{edit}}}' {OVERLAY}"


def kernel_version(text: str) -> tuple[int, ...]:
    """The numbers of a kernel's release, such as (6, 12, 47); () for a text without them."""
    found = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(number or 0) for number in found.groups()) if found else ()


def _tree_values(root: Path, name: str) -> list[int]:
    """The numbers that nodes of the device tree give under this name."""
    values = []
    for file in sorted((root / TREE).glob(f"*/{name}")):
        try:
            values.append(int.from_bytes(file.read_bytes()))
        except OSError:
            continue
    return values


class KernelLeds:
    """A chain behind /dev/leds0; implements `Leds`. `about`: what drives it, for people.

    `absent`: what to say of the device where it is not there.
    """

    def __init__(
        self,
        path: Path,
        name: str,
        count: int,
        absent: str = "is not there",
        *,
        gamma: bool,
        now_us: Callable[[], int] = lambda: time.monotonic_ns() // 1000,
        sleep_us: Callable[[int], None] = lambda us: time.sleep(us / 1e6),
    ) -> None:
        self._path, self._name, self._absent = path, name, absent
        self._count, self._gamma = count, gamma
        self._now_us, self._sleep_us = now_us, sleep_us
        # A frame that comes sooner joins the one on the wire, or is not latched: the kernel's own gap is 50 us.
        self._frame_us = -(-self._count * 24 * 1_000_000 // LED_HZ) + LATCH_US
        self._free_us = 0
        self._lock: int | None = None
        self._open = True
        self.about = "the kernel's driver" + (", its gamma undone" if gamma else "")

    def begin(self) -> None:
        """Take the chain for us alone and make it dark. Raises PartError.

        A frame and one LED more: a driver that takes that has a longer chain than the profile.
        """
        self._lock = self._opened()
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise PartError(f"another program draws on {self._name}: `sudo fuser {self._name}` says which") from None
        self._send(bytes(LED_BYTES * self._count), bytes(LED_BYTES))

    def write(self, frame: bytes) -> None:
        """Send one whole frame, three bytes an LED in chain and colour order. Raises PartError when it is refused."""
        if len(frame) != 3 * self._count:
            raise ValueError(f"a frame of {len(frame)} bytes for {self._count} LEDs: each takes 3")
        self._send(self._data(frame))

    def close(self) -> None:
        """Leave the chain dark. A second call does nothing. Raises PartError when that is refused."""
        if self._open:
            self._open = False
            try:
                self.write(bytes(3 * self._count))
            finally:
                self.release()

    def release(self) -> None:
        """Let other programs have the chain."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _data(self, frame: bytes) -> bytes:
        """The driver's bytes: it sends G, R, B of what it takes for R, G, B, so that a wire's 0, 1, 2 are 1, 0, 2."""
        if self._gamma:
            frame = frame.translate(UNDO_GAMMA)
        data = bytearray(LED_BYTES * self._count)
        data[0::LED_BYTES], data[1::LED_BYTES], data[2::LED_BYTES] = frame[1::3], frame[0::3], frame[2::3]
        return bytes(data)

    def _send(self, data: bytes, more: bytes = b"") -> None:
        """One frame in one open, not before the last has latched; `more` must be refused, or the chain is longer."""
        if (wait_us := self._free_us - self._now_us()) > 0:
            self._sleep_us(wait_us)
        fd = self._opened()
        try:
            self._written(fd, data)
            if more and self._fits(fd, more):
                raise PartError(
                    f"{self._name} has more LEDs than the profile's {self._count}: "
                    f"`{change('num_leds', self._count)}`, then restart the machine"
                )
        finally:
            os.close(fd)
            self._free_us = self._now_us() + self._frame_us

    def _written(self, fd: int, data: bytes) -> None:
        try:
            sent = os.write(fd, data)
        except OSError as fault:
            if fault.errno in (errno.EFBIG, errno.ENOSPC):
                raise PartError(
                    f"{self._name} has fewer LEDs than the profile's {self._count}: "
                    f"`{change('num_leds', self._count)}`, then restart the machine"
                ) from fault
            raise PartError(f"{self._name} does not take a frame: {fault.strerror}") from fault
        if sent != len(data):
            raise PartError(f"{self._name} took {sent} of {len(data)} bytes of a frame")

    def _fits(self, fd: int, more: bytes) -> bool:
        try:
            return os.write(fd, more) > 0
        except OSError:
            return False

    def _opened(self) -> int:
        try:
            return os.open(self._path, os.O_WRONLY | os.O_CLOEXEC)
        except OSError as fault:
            told = {errno.ENOENT: self._absent, errno.EACCES: _OURS.format(device=self._name)}
            reason = told.get(fault.errno or 0, f"cannot be opened: {fault.strerror}")
            raise PartError(f"{self._name} {reason}") from fault
