"""LEDs on SPI: what is refused when the bus is opened, each in a sentence with the command that mends it.

That frames go out right is shown on a real /dev/spidev0.0 in tests/vm/test_leds.py.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from hal import models
from hal.drivers import spidev_leds
from hal.drivers.spidev_leds import BUFFER_FILE, Bus, open_leds
from hal.errors import PartError
from hal.profile import Profile, load, shipped

SIM = load(shipped("sim"))


def profile(**values: object) -> Profile:
    """49 LEDs on SPI, with some keys set."""
    return SIM._replace(leds=msgspec.structs.replace(SIM.leds, driver="spidev", **values))


def machine(root: Path, name: str = "", config: str = "", buffer: int | None = None) -> Path:
    """The files of a machine."""
    for file, text in (
        (models.MODEL_FILE, name),
        (models.CONFIG_FILES[0], config),
        (BUFFER_FILE, "" if buffer is None else f"{buffer}\n"),
    ):
        if text:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(text)
    return root


def refused(profile: Profile, root: Path) -> str:
    """What opening says."""
    with pytest.raises(PartError) as caught:
        open_leds(profile, root)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_a_bus_that_is_off_is_named_with_its_command(tmp_path: Path) -> None:
    """Without /dev/spidev0.0 the sentence says how to turn SPI on."""
    expected = "/dev/spidev0.0 is not there: SPI is off; turn it on with `sudo raspi-config nonint do_spi 0`"
    assert expected == refused(profile(), machine(tmp_path, "Raspberry Pi 5 Model B Rev 1.0"))


@pytest.mark.parametrize(("name", "called"), [("", "this computer"), ("Radxa ROCK 5B", "Radxa ROCK 5B")])
def test_a_machine_that_is_no_pi_is_not_told_to_turn_spi_on(tmp_path: Path, name: str, called: str) -> None:
    """Where nothing can be turned on, the sentence says what the machine is not, and what plays on it."""
    expected = f"/dev/spidev0.0 is not there, and {called} is no Raspberry Pi: use one, or play on "
    assert expected + "`morbak run --board sim`" == refused(profile(), machine(tmp_path, name))


def test_a_bus_of_others_is_named_with_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that may not be opened names the group that may; any other failure is passed on."""

    def deny(code: int) -> None:
        def opened(*_: object) -> int:
            raise OSError(code, os.strerror(code))

        monkeypatch.setattr(spidev_leds, "os", SimpleNamespace(O_RDWR=0, O_CLOEXEC=0, open=opened))

    deny(errno.EACCES)
    assert refused(profile(), tmp_path).startswith("/dev/spidev0.0 is not ours to open: `sudo usermod -aG spi $USER`")
    deny(errno.EIO)
    assert refused(profile(device="/dev/spidev1.0"), tmp_path) == "/dev/spidev1.0 cannot be opened: Input/output error"


def test_a_file_that_is_no_bus_is_named(tmp_path: Path) -> None:
    """A device that takes no SPI mode is refused, and is not left open."""
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/spidev0.0").touch()
    before = len(os.listdir("/proc/self/fd"))
    assert refused(profile(), tmp_path).startswith("/dev/spidev0.0 takes no 2400000 Hz in mode 0: ")
    assert before == len(os.listdir("/proc/self/fd"))


def test_another_pin_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    """SPI has one data line, which the profile's pin must be."""
    expected = "leds.pin = 'GPIO18': SPI sends on GPIO10 only; move the data wire there"
    assert expected == refused(profile(pin="GPIO18"), tmp_path)


def test_a_clock_that_moves_is_refused(tmp_path: Path) -> None:
    """A Pi whose config.txt lets the core clock move is refused before a frame goes out (cases A15, A16)."""
    text = refused(profile(), machine(tmp_path, "Raspberry Pi 4 Model B Rev 1.4"))
    assert "core_freq_min=500\\n' | sudo tee -a /boot/firmware/config.txt`" in text
    machine(tmp_path, config="core_freq_min=500")
    assert "is not there" in refused(profile(), tmp_path)


@pytest.mark.parametrize("buffer", [None, 4096])
def test_a_chain_that_does_not_fit_the_buffer_is_refused(tmp_path: Path, buffer: int | None) -> None:
    """A frame longer than spidev's buffer is refused with both sizes, and the command makes room (case A22)."""
    longest = SIM._replace(board=msgspec.structs.replace(SIM.board, rows=10), chain=tuple(range(70)))
    long = longest._replace(leds=msgspec.structs.replace(profile().leds, per_cell=7))
    text = refused(long, machine(tmp_path, buffer=buffer))
    assert "bytes and the SPI buffer has 4096: `sudo sed -i 's/$/ spidev.bufsiz=8192/'" in text
    assert "is not there" in refused(long, machine(tmp_path, buffer=8192))


class Wire(Bus):
    """A bus of its own clock, with the time that its bytes take, and what a busy machine adds to each write."""

    def __init__(self, hz: int, busy_ns: tuple[int, ...] = (0,)) -> None:
        self._name, self._spi_hz = "/dev/spidev0.0", 2_400_000
        self._hz, self._ns, self._busy, self.writes = hz, 0, list(busy_ns), 0

    def send(self, data: bytes) -> None:
        self._ns += len(data) * 8_000_000_000 // self._hz + self._busy[0]
        self._busy = self._busy[1:] + self._busy[:1]
        self.writes += 1

    def check(self) -> str:
        return self.check_clock(now_ns=lambda: self._ns)


@pytest.mark.parametrize("hz", [2_358_490, 2_400_000, 2_450_000])
def test_a_bus_at_its_clock_is_taken(hz: int) -> None:
    """A bus at or near the clock it was told costs one timed write, and a few on a busy machine."""
    assert ("", 1) == ((wire := Wire(hz)).check(), wire.writes)
    assert ("", 3) == ((wire := Wire(hz, (9_000_000, 30_000_000, 100_000))).check(), wire.writes)


def test_a_bus_that_is_too_fast_is_refused() -> None:
    """A bus whose bytes take less than their time has another clock, which nothing else can do (case A15)."""
    with pytest.raises(PartError, match=r"^/dev/spidev0\.0 runs at 3\.84 MHz where 2\.40 MHz were asked for: `morb"):
        Wire(3_840_000).check()


@pytest.mark.parametrize("hz", [960_000, 1_500_000])
def test_a_bus_that_seems_too_slow_is_named_and_used(hz: int) -> None:
    """A bus that always takes longer may be a busy machine's: it is used, and its health says so (case A16)."""
    wire = Wire(hz)
    assert wire.check() == f"timed at {hz / 1e6:.2f} MHz where 2.40 MHz were asked for, see `morbak doctor`"
    assert wire.writes == 8


def test_a_part_of_a_frame_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that takes a part of a frame is an error, never a half-lit board (case A22)."""
    bus = Bus.__new__(Bus)
    bus._name, bus._fd = "/dev/spidev0.0", 99
    monkeypatch.setattr(spidev_leds, "os", SimpleNamespace(write=lambda _, data: len(data) - 1))
    with pytest.raises(OSError, match="took a part of a frame only"):
        bus.send(b"abc")
