"""LEDs on the kernel's driver of a Pi 5: its file's contract, its one gamma, and what is refused.

The same driver on a real /dev/leds0 is in tests/vm/test_leds.py; here the file is a model of the contract.
"""

from __future__ import annotations

import errno
import os
import re
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from hal import models
from hal.drivers import leds0_leds
from hal.drivers.leds0_leds import UNDO_GAMMA, KernelLeds, kernel_gamma, kernel_version, open_leds
from hal.errors import PartError
from hal.pixels import Pixels
from hal.profile import Profile, load, shipped
from tests.test_pixels import PALETTE

SIM = load(shipped("sim"))
SIZE = 4 * 49
WIRE_US = 1_470
KERNEL_SOURCE = Path(__file__).parent / "vm/kernel/board_sim.c"


def profile(**values: object) -> Profile:
    """49 LEDs on the kernel's driver."""
    return SIM._replace(leds=msgspec.structs.replace(SIM.leds, driver="leds0", **values))


class File:
    """The contract of /dev/leds0 on a clock of its own: one frame an open, frames on the wire joined (case A8).

    `shown`: when a frame began on the wire, and its bytes. `oddities`: what a careful driver never does.
    """

    def __init__(self, leds: int = 49) -> None:
        self.size, self.now_us = 4 * leds, 0
        self.pixels = bytearray(self.size)
        self.shown: list[tuple[int, bytes]] = []
        self.oddities: list[str] = []
        self._places: dict[int, int] = {}
        self._free_us = 0
        self._fd = 1_000

    def open(self, *_: object) -> int:
        self._fd += 1
        self._places[self._fd] = 0
        return self._fd

    def close(self, fd: int) -> None:
        if 0 < self._places.pop(fd) < self.size:
            self.oddities.append("a short frame")

    def write(self, fd: int, data: bytes) -> int:
        place, fault = self._places[fd], 0
        if len(data) > self.size:
            data, fault = data[: self.size], errno.EFBIG
        if place + len(data) > self.size:
            data, fault = data[: self.size - place], fault or errno.ENOSPC
        if place == 0 and len(data) == 1:
            self.oddities.append("a lone byte")
        self.pixels[place : place + len(data)] = data
        self._places[fd] = place + len(data)
        self._show()
        if fault:
            raise OSError(fault, os.strerror(fault))
        return len(data)

    def _show(self) -> None:
        """What comes while a frame is on the wire waits, and joins what waits already."""
        if self.now_us < self._free_us and self.shown[-1][0] > self.now_us:
            self.oddities.append("a frame that joined another")
            self.shown[-1] = (self.shown[-1][0], bytes(self.pixels))
            return
        begun_us = max(self.now_us, self._free_us)
        self.shown.append((begun_us, bytes(self.pixels)))
        self._free_us = begun_us + WIRE_US + 100

    def sleep(self, us: int) -> None:
        self.now_us += us


@pytest.fixture
def file(monkeypatch: pytest.MonkeyPatch) -> File:
    """The model of the file in the place of the real one."""
    model = File()
    calls = {name: getattr(model, name) for name in ("open", "close", "write")}
    monkeypatch.setattr(leds0_leds, "os", SimpleNamespace(O_WRONLY=os.O_WRONLY, O_CLOEXEC=os.O_CLOEXEC, **calls))
    monkeypatch.setattr(leds0_leds, "fcntl", SimpleNamespace(LOCK_EX=0, LOCK_NB=0, flock=lambda *_: None))
    return model


def on(file: File, *, gamma: bool = False) -> KernelLeds:
    """The chain on the model, open and dark."""
    leds = KernelLeds(
        Path("/dev/leds0"), "/dev/leds0", 49, gamma=gamma, now_us=lambda: file.now_us, sleep_us=file.sleep
    )
    leds.begin()
    return leds


def test_every_frame_is_whole_alone_and_latched(file: File) -> None:
    """Frames written without a pause are each shown, as far apart as wire and latch want, with nothing odd done to the
    file after the probe of the opening (cases A8, A33).
    """
    leds = on(file)
    file.sleep(10_000)
    file.shown.clear()
    file.oddities.clear()
    frames = [bytes([level, 0, 255 - level]) * 49 for level in range(50)]
    for frame in frames:
        leds.write(frame)
    leds.close()
    assert [] == file.oddities
    assert len(file.shown) == 51
    times = [t_us for t_us, _ in file.shown]
    assert min(after - before for before, after in pairwise(times)) >= WIRE_US + 300
    assert {SIZE} == {len(data) for _, data in file.shown}
    # The driver sends G, R, B of R, G, B, W: for 1, 2, 3 on the wire it wants 2, 1, 3, 0.
    assert [bytes([0, level, 255 - level, 0]) * 49 for level in range(50)] == [data for _, data in file.shown[:-1]]
    assert bytes(SIZE) == file.shown[-1][1]


def test_closing_twice_is_once(file: File) -> None:
    """A second close writes nothing."""
    leds = on(file)
    leds.close()
    count = len(file.shown)
    leds.close()
    assert count == len(file.shown)


@pytest.mark.parametrize(("leds", "reason"), [(48, "fewer"), (50, "more")])
def test_a_chain_of_another_length_is_found_by_writing(file: File, leds: int, reason: str) -> None:
    """Where no device tree tells, one dark frame and one LED more find a chain of another length."""
    file.size = 4 * leds
    with pytest.raises(PartError, match=f"/dev/leds0 has {reason} LEDs than the profile's 49: `sudo sed "):
        on(file)
    assert not any(any(data) for _, data in file.shown)


def test_a_frame_of_another_length_never_reaches_the_file(file: File) -> None:
    """A frame that is not three bytes an LED is refused before it is written (case A8)."""
    leds = on(file)
    count = len(file.shown)
    for size in (0, 1, 146, 150):
        with pytest.raises(ValueError, match=f"a frame of {size} bytes for 49 LEDs"):
            leds.write(bytes(size))
    assert count == len(file.shown)


# -- gamma -------------------------------------------------------------------------------------------------------------


def kernels_table() -> list[int]:
    """The driver's own table, as the virtual Pi's kernel has it."""
    found = re.search(r"led_gamma\[256\] = \{(.*?)\}", KERNEL_SOURCE.read_text(), re.DOTALL)
    assert found is not None
    return [int(level) for level in found[1].split(",") if level.strip()]


def test_the_kernels_gamma_is_known_to_the_last_level() -> None:
    """Our formula gives the kernel's table: 256 entries, 183 of them different, 0 up to an input of 21 (case A7)."""
    table = kernels_table()
    assert table == [kernel_gamma(value) for value in range(256)]
    assert (256, 183, 21) == (len(table), len(set(table)), max(at for at in range(256) if table[at] == 0))


def test_the_kernels_gamma_is_undone() -> None:
    """Through the kernel's gamma each level comes out as asked, or a little lower where the table has no such level;
    never higher, never falling, and exact where the eye sees steps (case A7).
    """
    table = kernels_table()
    through = [table[UNDO_GAMMA[level]] for level in range(256)]
    assert sorted(through) == through
    assert all(0 <= level - got <= 2 for level, got in enumerate(through))
    assert list(range(75)) == through[:75]


@pytest.mark.parametrize("name", PALETTE)
@pytest.mark.parametrize("pct", [5, 100])
def test_one_gamma_from_frame_to_light(file: File, name: str, pct: int) -> None:
    """Every colour of the palette comes out of the kernel's gamma as our one gamma stage has it, to two levels, and is
    visible at the lowest brightness (case A7).
    """
    wanted = Pixels(profile(brightness_pct=pct)).chain(bytes.fromhex(name) * 49)
    leds = on(file, gamma=True)
    leds.write(wanted)
    red, green, blue, white = (kernels_table()[value] for value in file.shown[-1][1][:4])
    assert all(0 <= asked - got <= 2 for asked, got in zip(wanted[:3], (green, red, blue), strict=True))
    assert (True, 0) == (max(red, green, blue) >= 3, white)


def tree(root: Path, release: str = "6.12.47+rpt-rpi-2712", **values: int) -> Path:
    """A kernel's release and the overlay's node, below a root."""
    for name, data in {
        leds0_leds.KERNEL_FILE: f"{release}\n".encode(),
        **{f"{leds0_leds.TREE}/ws2812_pio@4/rpi,{name.replace('_', '-')}": n.to_bytes(4) for name, n in values.items()},
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


@pytest.mark.parametrize(
    ("release", "version"),
    [("6.12.47+rpt-rpi-2712", (6, 12, 47)), ("6.6-rc1", (6, 6, 0)), ("7.0.1\n", (7, 0, 1)), ("", ()), ("what", ())],
)
def test_a_kernel_is_known_by_its_numbers(release: str, version: tuple[int, ...]) -> None:
    """The release of a kernel begins with its version."""
    assert version == kernel_version(release)


@pytest.mark.parametrize(
    ("release", "values", "gamma"),
    [
        ("6.12.55", {"brightness": 255}, True),
        ("6.12.56", {"brightness": 0}, False),
        ("6.18.2", {"brightness": 0}, False),
        ("6.18.2", {"brightness": 255}, True),
        ("6.6.31", {}, True),
        ("", {}, True),
    ],
)
def test_where_the_kernel_has_a_gamma_it_is_undone(
    file: File, tmp_path: Path, release: str, values: dict[str, int], gamma: bool
) -> None:
    """Brightness 0 on a kernel after 6.12.55 passes values through; else the kernel's gamma is undone (case A7)."""
    leds = open_leds(profile(), tree(tmp_path, release, num_leds=49, **values))
    assert ("its gamma undone" in getattr(leds, "about", "")) == gamma
    leds.write(bytes([100, 100, 100]) * 49)
    level = UNDO_GAMMA[100] if gamma else 100
    assert bytes([level, level, level, 0]) * 49 == file.shown[-1][1]


@pytest.mark.parametrize(
    ("release", "brightness", "reason", "wanted"),
    [
        ("6.12.55", 0, "is darkness on this kernel", 255),
        ("6.6.31", 0, "is darkness on this kernel", 255),
        ("6.6.31", 128, "scales the light a second time", 255),
        ("6.18.2", 128, "scales the light a second time", 0),
    ],
)
def test_a_brightness_that_spoils_light_is_refused(
    tmp_path: Path, release: str, brightness: int, reason: str, wanted: int
) -> None:
    """An overlay's brightness that darkens or scales is refused with the value that this kernel wants (case A7)."""
    with pytest.raises(PartError) as caught:
        open_leds(profile(), tree(tmp_path, release, num_leds=49, brightness=brightness))
    assert f"brightness={brightness}, which {reason}: `sudo sed -i" in str(caught.value)
    assert f",brightness={wanted}/}}' /boot/firmware/config.txt`" in str(caught.value)


def test_an_overlay_of_another_length_is_refused_unopened(tmp_path: Path) -> None:
    """The overlay's number of LEDs must be the profile's, and the command makes it so (case A8)."""
    with pytest.raises(PartError, match=r"has num_leds=60 and the profile 49 LEDs: `sudo sed .*num_leds=49/}'"):
        open_leds(profile(), tree(tmp_path, num_leds=60))


@pytest.mark.parametrize(("release", "brightness"), [("6.18.2", 0), ("6.12.55", 255)])
def test_a_missing_device_is_named_with_its_overlay(tmp_path: Path, release: str, brightness: int) -> None:
    """Without /dev/leds0 the sentence has the line of config.txt for this profile and this kernel (case A7)."""
    (tree(tmp_path, release) / models.MODEL_FILE).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / models.MODEL_FILE).write_text("Raspberry Pi 5 Model B Rev 1.0")
    with pytest.raises(PartError) as caught:
        open_leds(profile(pin="GPIO18"), tmp_path)
    assert str(caught.value) == (
        "/dev/leds0 is not there: "
        f"`printf '\\n[all]\\ndtoverlay=ws2812-pio,gpio=18,num_leds=49,brightness={brightness}\\n' | "
        "sudo tee -a /boot/firmware/config.txt`, then restart the machine"
    )


def test_a_machine_that_is_no_pi_is_not_told_to_load_an_overlay(tmp_path: Path) -> None:
    """Where no overlay helps, the sentence says what the machine is not, and what plays on it."""
    with pytest.raises(PartError, match="/dev/leds0 is not there, and this computer is no Raspberry Pi: use one"):
        open_leds(profile(), tmp_path)
