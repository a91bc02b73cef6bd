"""LEDs through rpi_ws281x (PWM, PCM or SPI of a Pi 1 to 4), in a small helper process fed by a pipe.

A helper that dies, hangs or never starts is a part that failed: the game goes on, and the helper is started again
after a pause that doubles. It blanks the chain first, and it makes it dark when the pipe ends, so the LEDs go dark
whatever becomes of this process.
"""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from hal import machine, models
from hal.agreement import DMA_ALLOWED
from hal.drivers.rpi_ws281x_reach import ENDS_S, SOCKET, CalledWay, Reach, StartedWay, Way
from hal.errors import PartError
from hal.machine import ROOT
from hal.ports import Leds
from hal.profile import Profile

HELPER = "hal.drivers.rpi_ws281x_helper"
STARTS_S = 10.0
# A frame takes 2 ms; a helper that has not answered for this long hangs. 0.25 s was too short on a loaded PC.
ANSWERS_S = 1.0
RETRY_S, LONGEST_RETRY_S = 0.5, 30.0
# A helper that has lived this long was sound: the next pause is short again.
SOUND_S = 30.0
# Between calls while the helper before this one is still ending.
PATIENCE_S = 0.1

_RESTART = "`sudo reboot`"
_PINS = "GPIO10 (SPI), GPIO12, 13, 18 or 19 (PWM) or GPIO21 (PCM)"
# Each code of lib/ws2811.h: what is wrong, and what to do about it.
SENTENCES = {
    -1: f"the LED library failed without a reason: {_RESTART}",
    -2: f"the LED library is out of memory, which only a restart mends: {_RESTART}",
    -3: "the LED library does not know this Pi yet (revision {revision}; report it to its makers): "
    "`{python} -m pip install -U rpi-ws281x`",
    -4: f"the LED library cannot lock its memory: {_RESTART}",
    -5: "the LED library needs root for {pin}: {sudo}",
    -6: "the LED library cannot reach the chip's registers, for which it needs root: {sudo}",
    -7: "the LED library cannot reach the pins, for which it needs root: {sudo}",
    -8: "the PWM of {pin} cannot be set up; sound may have it: "
    "`sudo sed -i 's/^dtparam=audio=on/dtparam=audio=off/' /boot/firmware/config.txt`, then restart the machine",
    -9: "the LED library cannot open /dev/vcio, for which it needs root: {sudo}",
    -10: f"the DMA channel of the LEDs failed: {_RESTART}",
    -11: f"{{pin}} carries no LEDs; {_PINS} can: `morbak pinout` shows the wiring",
    -12: "the PCM of {pin} cannot be set up; an I2S sound card may have it: "
    "`sudo sed -i 's/^dtparam=i2s=on/dtparam=i2s=off/' /boot/firmware/config.txt`, then restart the machine",
    -13: "SPI is off or not ours: `sudo raspi-config nonint do_spi 0`",
    -14: "SPI does not take a frame; its buffer may be too small: "
    "`sudo sed -i 's/$/ spidev.bufsiz=32768/' /boot/firmware/cmdline.txt`, then restart the machine",
}
_UNKNOWN = f"the LED library failed with the code {{code}}, which its makers have not described: {_RESTART}"
_SUDOERS = '`echo "$USER ALL=(root) NOPASSWD: {python} -P -m {helper} *" | sudo tee /etc/sudoers.d/morbak-leds`'


def open_leds(profile: Profile, root: Path = ROOT, command: Sequence[str] | None = None) -> Leds:
    """The chain of a profile, dark, in the hands of a helper. Raises PartError, one sentence that says what to do.

    `command`: what starts the helper, without its numbers.
    """
    found, gpio = machine.model(root), profile.leds.gpio
    if found.generation == 5:
        raise PartError(f'rpi_ws281x cannot reach the pins of a {found.name}: set driver = "leds0"')
    if profile.leds.dma not in DMA_ALLOWED:
        raise PartError(f"leds.dma = {profile.leds.dma}: channel {DMA_ALLOWED[0]} is wanted; 5 is the SD card's")
    if gpio is None or gpio not in (models.SPI_PIN, models.PCM_PIN, *models.PWM_PINS):
        raise PartError(sentence(-11, profile, root))
    leds = HelpedLeds(profile, root, StartedWay(command) if command else _way(gpio, root))
    leds.start()
    return leds


def sentence(code: int, profile: Profile, root: Path = ROOT) -> str:
    """What a code of the library means and the command that mends it, in one sentence (cases A1, A3)."""
    values = {
        "code": code,
        "pin": f"GPIO{profile.leds.gpio}",
        "revision": machine.revision(root) or "unknown",
        "python": sys.executable,
        "sudo": _SUDOERS.format(python=sys.executable, helper=HELPER),
    }
    return SENTENCES.get(code, _UNKNOWN).format(**values)


def audio_problem(profile: Profile, root: Path = ROOT) -> str:
    """Why sound would turn the LEDs into noise, and what to do; "" where it would not (case A13)."""
    loaded = {line.split()[0] for line in machine.text(root, "proc/modules").splitlines() if line.strip()}
    if profile.leds.gpio not in models.PWM_PINS or "snd_bcm2835" not in loaded:
        return ""
    return (
        f"sound (snd_bcm2835) and the LEDs on GPIO{profile.leds.gpio} share the PWM, so they flash when anything "
        "plays: `sudo sed -i 's/^dtparam=audio=on/dtparam=audio=off/' /boot/firmware/config.txt`, then restart the "
        "machine"
    )


def _way(gpio: int, root: Path) -> Way:
    """SPI needs no root; PWM and PCM do, and only the helper gets it: from systemd where that listens, else by sudo."""
    plain = [sys.executable, "-P", "-m", HELPER]
    if gpio == models.SPI_PIN or os.geteuid() == 0:
        return StartedWay(plain)
    return CalledWay(root / SOCKET) if (root / SOCKET).exists() else StartedWay(["sudo", "-n", *plain])


class HelpedLeds:
    """A chain in the hands of a helper process; implements `Leds`. `about`: what drives it, for people."""

    def __init__(self, profile: Profile, root: Path, way: Way, now_s: Callable[[], float] = time.monotonic) -> None:
        leds = profile.leds
        gpio = leds.gpio or 0
        self._way, self._numbers = way, (profile.led_count, gpio, models.PWM_PINS.get(gpio, 0), leds.dma)
        self._profile, self._root, self._now_s = profile, root, now_s
        self._count = profile.led_count
        self._helper: Reach | None = None
        self._heard, self._ready, self._said, self._dark = b"", False, False, True
        self._started_s = self._retry_at_s = now_s()
        self._pause_s, self._why = RETRY_S, ""
        self._open = True
        self.about = "; ".join(filter(None, (f"rpi_ws281x on GPIO{leds.gpio}", audio_problem(profile, root))))

    def start(self) -> None:
        """Start the helper and wait until the chain is dark. Raises PartError."""
        end_s = self._now_s() + STARTS_S
        while True:
            try:
                self._spawn()
                self._await_ready(STARTS_S)
            except PartError:
                if not self._way.patient or self._said or self._now_s() >= end_s:
                    raise
                time.sleep(PATIENCE_S)
            else:
                return
            finally:
                if not self._ready and self._helper is not None:
                    self._discard(0)

    def write(self, frame: bytes) -> None:
        """Send one whole frame, three bytes an LED in chain and colour order.

        Raises PartError when there is no helper to take it; a new one is started in the background meanwhile.
        """
        if len(frame) != 3 * self._count:
            raise ValueError(f"a frame of {len(frame)} bytes for {self._count} LEDs: each takes 3")
        if not self._open:
            raise PartError("the LED helper has been closed")
        if self._helper is None:
            if self._now_s() < self._retry_at_s:
                raise PartError(self._why)
            self._spawn()
        if not self._ready:
            self._await_ready(0)
        self._send(frame)

    def close(self) -> None:
        """Leave the chain dark and no helper behind. A second call does nothing. Raises PartError if it stays lit."""
        if not self._open:
            return
        self._open = False
        if self._helper is None and not self._dark:  # a helper that was killed left its last frame
            self._spawn()
            self._await_ready(STARTS_S)
        if self._helper is not None:
            self._finish()

    def _spawn(self) -> None:
        self._heard, self._ready, self._said, self._started_s = b"", False, False, self._now_s()
        try:
            self._helper = self._way.reach(self._numbers)
        except PartError as fault:
            self._fail(str(fault))

    def _await_ready(self, wait_s: float) -> None:
        line = self._line(wait_s)
        if line == "ready":
            self._ready = True
        elif line is not None:
            self._fail(self._meaning(line))
        elif self._now_s() - self._started_s >= STARTS_S:
            self._fail(f"the LED helper has not started within {STARTS_S:g} s")
        else:
            raise PartError("the LED helper is starting")

    def _send(self, frame: bytes) -> None:
        self._dark = False
        try:
            assert self._helper is not None
            self._helper.send(frame)
        except OSError:
            self._fail(self._meaning(self._line(0) or ""))
        line = self._line(ANSWERS_S)
        if line != "ok":
            hangs = f"the LED helper has not answered for {ANSWERS_S:g} s"
            self._fail(hangs if line is None else self._meaning(line))

    def _finish(self) -> None:
        """End the pipe, which makes the chain dark, and see that it did."""
        assert self._helper is not None
        self._helper.hang_up()
        end_s = self._now_s() + ENDS_S
        while not self._dark and (line := self._line(end_s - self._now_s())):
            self._dark = line == "dark"
        self._discard(max(0.0, end_s - self._now_s()))
        if not self._dark:
            raise PartError(f"the LED helper did not make the chain dark within {ENDS_S:g} s")

    def _line(self, wait_s: float) -> str | None:
        """The next line of the helper; "" when it has ended, None when it says nothing in that time."""
        assert self._helper is not None
        fd, end_s = self._helper.fileno(), self._now_s() + wait_s
        while b"\n" not in self._heard:
            if not select.select([fd], [], [], max(0.0, end_s - self._now_s()))[0]:
                return None
            try:
                part = os.read(fd, 4096)
            except ConnectionError:
                part = b""
            if not part:
                return ""
            self._heard, self._said = self._heard + part, True
        line, _, self._heard = self._heard.partition(b"\n")
        return line.decode(errors="replace")

    def _meaning(self, line: str) -> str:
        """What a line that is no answer means for people."""
        word, _, rest = line.partition(" ")
        if word == "dark":
            self._dark = True
            return "the LED helper was ended by somebody else"
        if word == "failed":
            code, _, text = rest.partition(" ")
            return sentence(int(code), self._profile, self._root) if code != "0" else self._missing(text)
        return self._ended()

    def _missing(self, text: str) -> str:
        return f"{text}: `{sys.executable} -m pip install rpi-ws281x`"

    def _ended(self) -> str:
        """Why a helper that said nothing is gone."""
        assert self._helper is not None
        how = self._helper.fate(ENDS_S if self._ready else STARTS_S)
        if how is None:
            return "the LED helper does not speak"
        if self._way.needs_root and not self._ready:
            return sentence(-5, self._profile, self._root)
        return f"the LED helper ended {how}; it is started again"

    def _fail(self, why: str) -> NoReturn:
        """Give the helper up and plan the next. Raises PartError."""
        now_s = self._now_s()
        if now_s - self._started_s >= SOUND_S:
            self._pause_s = RETRY_S
        self._why, self._retry_at_s = why, now_s + self._pause_s
        self._pause_s = min(2 * self._pause_s, LONGEST_RETRY_S)
        if self._helper is not None:
            self._discard(0)
        raise PartError(why)

    def _discard(self, wait_s: float) -> None:
        """See the helper off: the end of its frames ends it."""
        helper, self._helper, self._ready = self._helper, None, False
        assert helper is not None
        helper.discard(wait_s)
