"""The doctor on recorded machines: what it finds on each, that its commands mend it, and that nothing upsets it."""

from __future__ import annotations

import json
import random
import shlex
import subprocess
from pathlib import Path

import pytest

from hal import doctor, drivers
from hal.doctor_boot import config, overlay, parameters, switched_on
from hal.doctor_finding import LEVELS, LOG_IN, RESTART, Finding
from hal.doctor_probe import LONGEST_BYTES, Probe
from hal.profile import Profile, load, shipped
from tests import machines
from tests.machines import NAMES, change_facts, probe, unpack

REFERENCE = load(shipped("reference"))
SIMULATED = load(shipped("sim"))


def board(driver: str, pin: str) -> Profile:
    """The reference board with LEDs on another driver and pin."""
    text = (
        Path(REFERENCE.file)
        .read_text(encoding="utf-8")
        .replace('"spidev"', f'"{driver}"')
        .replace('"GPIO10"', f'"{pin}"')
    )
    assert text.count(driver) and text.count(pin)
    return REFERENCE._replace(leds=type(REFERENCE.leds)(driver=driver, pin=pin))


KERNEL_LEDS, PWM_LEDS = load(shipped("pi5")), load(shipped("pwm"))
BOARDS = {"pi5_leds0": KERNEL_LEDS, "pi5_old_kernel": KERNEL_LEDS, "zero2w_sound": PWM_LEDS}
# What is not fine on each machine, worst first.
EXPECTED = {
    "pc": ["broken model"],
    "pi3_first_evening": [
        "broken spi", "broken spi clock", "broken permissions", "broken libraries", "broken lgpio",
        "warning environment", "warning clock", "warning supply",
    ],
    "pi3bplus_bookworm": [],
    "pi4_bookworm": [],
    "pi4_crowded": [
        "broken supply", "broken kernel pins", "broken kernel pins", "broken kernel pins", "broken kernel pins",
        "broken holders", "warning changes",
    ],
    "pi4_no_core_freq": ["broken spi clock"],
    "pi4_serial": ["broken braille", "warning modems"],
    "pi4_sudo": ["broken libraries", "warning environment"],
    "pi4_trixie_no_clock": ["broken state", "warning clock"],
    "pi5_leds0": [],
    "pi5_old_kernel": ["broken leds0", "broken permissions", "warning leds0"],
    "pi6_unknown": ["warning model"],
    "virtual_pi": ["warning model", "warning environment", "warning state"],
    "zero2w_sound": ["broken sound", "warning monitor"],
}  # fmt: skip


def examined(name: str, folder: Path, profile: Profile | None = None) -> list[Finding]:
    """What is found on a recorded machine, for the board that it has."""
    return doctor.examine(probe(name, folder), profile or BOARDS.get(name, REFERENCE))


def said(findings: list[Finding], check: str) -> list[Finding]:
    """The findings of one check."""
    return [finding for finding in findings if finding.check == check]


def one(findings: list[Finding], check: str) -> Finding:
    """The only finding of a check."""
    (finding,) = said(findings, check)
    return finding


@pytest.mark.parametrize("name", NAMES)
def test_each_machine_has_its_ailments_and_no_others(name: str, tmp_path: Path) -> None:
    """On every recorded machine exactly what is wrong with it is named, the worst first."""
    ailing = [f"{each.level} {each.check}" for each in examined(name, tmp_path) if each.level != "fine"]
    assert EXPECTED[name] == ailing


def test_a_sound_machine_is_told_all_that_was_looked_at(tmp_path: Path) -> None:
    """Every check that applies says what it found in order, so that silence is never taken for health."""
    found = examined("pi4_bookworm", tmp_path)
    assert {
        "model", "system", "environment", "state", "clock", "supply", "chips", "holders", "spi", "spi clock",
        "spi buffer", "permissions", "libraries", "lgpio",
    } == {each.check for each in found}  # fmt: skip
    assert "This is a Raspberry Pi 4 Model B Rev 1.4 (revision c03114)." == found[0].text


@pytest.mark.parametrize("name", NAMES)
def test_each_finding_is_a_sentence_with_one_command(name: str, tmp_path: Path) -> None:
    """A finding is one sentence; whatever is not fine has a command that a shell understands, and what is fine none."""
    found = examined(name, tmp_path)
    assert found
    assert sorted(found, key=lambda each: LEVELS.index(each.level)) == found
    for each in found:
        assert each.text[-1] == "." and "\n" not in each.text + each.fix
        assert (each.level != "fine") == bool(each.fix), each
        assert each.then in ("", RESTART, LOG_IN)
        if each.fix:
            assert 0 == subprocess.run(["bash", "-n", "-c", each.fix], check=False).returncode, each.fix


def mend(folder: Path, fix: str) -> None:
    """Carry out a command that edits boot settings, on a recorded machine."""
    command = fix.replace("sudo ", "").replace("/boot/firmware", f"{folder}/boot/firmware")
    subprocess.run(["bash", "-c", command], check=True, stdout=subprocess.DEVNULL)


def restart(folder: Path) -> None:
    """What a restart changes: the kernel's command line is read anew, and what commands said is of the past."""
    for name in ("get_config", "pinctrl"):
        (folder / "outputs" / f"{name}.txt").unlink(missing_ok=True)
    (folder / "proc" / "cmdline").unlink(missing_ok=True)
    if not switched_on(parameters(Probe.recorded(folder)).get("audio")):
        modules = folder / "proc" / "modules"
        modules.write_text(modules.read_text().replace("snd_bcm2835", "snd_none"))
    if leds := overlay(Probe.recorded(folder), "ws2812-pio"):
        count = int(dict(part.split("=") for part in leds.split(","))["num_leds"])
        for node in (folder / "proc/device-tree").glob("ws2812*"):
            (node / "rpi,num-leds").write_bytes(count.to_bytes(4))


@pytest.mark.parametrize(
    "name", ["pi3_first_evening", "pi4_crowded", "pi4_no_core_freq", "pi5_old_kernel", "zero2w_sound"]
)
def test_commands_on_boot_settings_mend_what_they_say(name: str, tmp_path: Path) -> None:
    """After the commands that edit boot settings and a restart, what they were for is no longer found."""
    before = examined(name, tmp_path)
    fixes = [each for each in before if "/boot/firmware" in each.fix and not each.fix.startswith("grep")]
    assert fixes
    for each in fixes:
        mend(tmp_path, each.fix)
    restart(tmp_path)
    after = doctor.examine(Probe.recorded(tmp_path), BOARDS.get(name, REFERENCE))
    assert [] == [each for each in after if each.text in {fix.text for fix in fixes}]
    assert {each.text for each in after if each.level == "broken"} < {e.text for e in before if e.level == "broken"}


@pytest.mark.parametrize("name", ["pi3bplus_bookworm", "pi4_bookworm", "pi5_leds0"])
def test_a_sound_machine_stays_so_after_a_restart(name: str, tmp_path: Path) -> None:
    """What commands say adds nothing that boot settings do not tell on a machine in order."""
    unpack(name, tmp_path)
    restart(tmp_path)
    assert {"fine"} == {each.level for each in doctor.examine(Probe.recorded(tmp_path), BOARDS.get(name, REFERENCE))}


# -- boot settings -------------------------------------------------------------------------------------------------


def test_settings_of_another_model_do_not_count(tmp_path: Path) -> None:
    """core_freq_min in a section for a Pi 3 does not help a Pi 4; added for all it does (cases A15, A16)."""
    folder = unpack("pi4_no_core_freq", tmp_path)
    finding = one(doctor.examine(Probe.recorded(folder), REFERENCE), "spi clock")
    assert "between 200 and 500 MHz" in finding.text
    mend(folder, finding.fix)
    restart(folder)
    assert "fine" == one(doctor.examine(Probe.recorded(folder), REFERENCE), "spi clock").level


def test_a_setting_that_waits_for_a_restart_is_told_from_one_that_is_missing(tmp_path: Path) -> None:
    """config.txt may be right while the core clock still moves: the command is a restart (case A16)."""
    folder = unpack("pi4_bookworm", tmp_path)
    (folder / "outputs" / "get_config.txt").write_text("core_freq=500\ncore_freq_min=200\n")
    finding = one(doctor.examine(Probe.recorded(folder), REFERENCE), "spi clock")
    assert ("broken", "sudo reboot") == (finding.level, finding.fix)


def test_included_settings_count(tmp_path: Path) -> None:
    """What config.txt includes is read with it."""
    folder = unpack("pi4_no_core_freq", tmp_path)
    boot = folder / "boot" / "firmware"
    (boot / "extra.txt").write_text("[all]\ncore_freq_min=500\n")
    (boot / "config.txt").write_text("dtparam=spi=on\ninclude extra.txt\n")
    (folder / "outputs" / "get_config.txt").unlink()
    assert "core_freq_min=500" in config(Probe.recorded(folder))
    assert "fine" == one(doctor.examine(Probe.recorded(folder), REFERENCE), "spi clock").level


def test_parameters_are_understood_however_they_are_written(tmp_path: Path) -> None:
    """Several on a line, with and without a value, the last of a name counting."""
    boot = tmp_path / "boot" / "firmware"
    boot.mkdir(parents=True)
    (boot / "config.txt").write_text("dtparam=i2c_arm=on,spi\ndtparam=audio=on\ndtparam=audio=off\n")
    assert {"i2c_arm": "on", "spi": "on", "audio": "off"} == parameters(Probe.recorded(tmp_path))


def test_spi_that_waits_for_a_restart_or_a_module_is_told_from_one_that_is_off(tmp_path: Path) -> None:
    """Without /dev/spidev0.0 the command is the one that brings it: switch on, load, restart."""
    folder = unpack("pi4_bookworm", tmp_path)
    (folder / "dev" / "spidev0.0").unlink()
    assert "sudo reboot" == one(doctor.examine(Probe.recorded(folder), REFERENCE), "spi").fix
    (folder / "proc" / "modules").write_text("vc4 1 0 - Live 0x0\n")
    assert "sudo modprobe spidev" == one(doctor.examine(Probe.recorded(folder), REFERENCE), "spi").fix
    (folder / "boot/firmware/config.txt").write_text("core_freq_min=500\n")
    assert "sudo raspi-config nonint do_spi 0" == one(doctor.examine(Probe.recorded(folder), REFERENCE), "spi").fix


def test_a_short_spi_buffer_is_named_with_both_sizes(tmp_path: Path) -> None:
    """A frame that the SPI device would cut is broken (case A22)."""
    folder = unpack("pi4_bookworm", tmp_path)
    (folder / "sys/module/spidev/parameters/bufsiz").write_text("512\n")
    finding = one(doctor.examine(Probe.recorded(folder), REFERENCE), "spi buffer")
    assert "625 bytes" in finding.text and "512" in finding.text and "spidev.bufsiz=4096" in finding.fix


# -- pins ----------------------------------------------------------------------------------------------------------


def test_pins_of_overlays_are_named_with_the_line_that_takes_them(tmp_path: Path) -> None:
    """w1-gpio takes GPIO4 unless it is moved; a fan takes the pin it is given; a sound card takes those of I2S."""
    texts = [each.text for each in said(examined("pi4_crowded", tmp_path), "kernel pins")]
    assert [True] == ["GPIO4 (J8:7) (matrix.columns), by dtoverlay=w1-gpio." in t for t in texts if "w1-gpio" in t]
    assert [True] == ["GPIO13 (J8:33) (matrix.rows), by dtoverlay=gpio-fan." in t for t in texts if "fan" in t]
    assert [True] == ["GPIO19" in t and "GPIO20" in t and "GPIO21" in t for t in texts if "hifiberry" in t]
    settings = tmp_path / "boot/firmware/config.txt"
    settings.write_text(settings.read_text().replace("w1-gpio", "w1-gpio,gpiopin=2"))
    after = doctor.examine(Probe.recorded(tmp_path), REFERENCE)
    assert [] == [each for each in said(after, "kernel pins") if "w1-gpio" in each.text]


def test_a_bus_on_pins_of_the_board_is_turned_off_and_no_other(tmp_path: Path) -> None:
    """A parameter that shares its line with others is turned off alone."""
    folder = unpack("pi4_bookworm", tmp_path)
    settings = folder / "boot/firmware/config.txt"
    settings.write_text(settings.read_text().replace("dtparam=spi=on", "dtparam=i2c_arm=on,i2s=on,spi=on"))
    mend(folder, one(doctor.examine(Probe.recorded(folder), REFERENCE), "kernel pins").fix)
    assert "dtparam=i2c_arm=on,i2s=off,spi=on" in settings.read_text()
    assert [] == said(doctor.examine(Probe.recorded(folder), REFERENCE), "kernel pins")


def test_a_bus_that_only_a_big_board_is_in_the_way_of(tmp_path: Path) -> None:
    """I2C takes GPIO2, which the 9 x 9 board has a column on and the reference board nothing."""
    folder = unpack("pi4_bookworm", tmp_path)
    settings = folder / "boot/firmware/config.txt"
    settings.write_text(settings.read_text().replace("dtparam=spi=on", "dtparam=spi=on\ndtparam=i2c_arm=on"))
    nine = load(shipped("nine"))
    assert [] == said(doctor.examine(Probe.recorded(folder), REFERENCE), "kernel pins")
    finding = one(doctor.examine(Probe.recorded(folder), nine), "kernel pins")
    assert "GPIO2 (J8:3) (matrix.columns), by dtparam=i2c_arm=on" in finding.text
    mend(folder, finding.fix)
    assert [] == said(doctor.examine(Probe.recorded(folder), nine), "kernel pins")


def test_whoever_has_a_pin_is_named(tmp_path: Path) -> None:
    """A pin in use is named with its holder; when that is the board itself, all is well (case C7)."""
    finding = one(examined("pi4_crowded", tmp_path), "holders")
    assert "GPIO26 (J8:37)" in finding.text and "“fan_control”" in finding.text
    info = tmp_path / "outputs" / "gpioinfo.txt"
    info.write_text(info.read_text().replace("fan_control", "morbak"))
    assert (
        "The board runs and has its pins." == one(doctor.examine(Probe.recorded(tmp_path), REFERENCE), "holders").text
    )


def test_both_versions_of_gpioinfo_are_read(tmp_path: Path) -> None:
    """A holder is found in the words of gpioinfo 1 too, quoted or not (case C7)."""
    folder = unpack("pi3bplus_bookworm", tmp_path)
    info = folder / "outputs" / "gpioinfo.txt"
    free = '\tline  17:       "GPIO17"       unused   input  active-high'
    assert free in info.read_text()
    for holder in ('"sysfs"', "sysfs"):
        taken = f'\tline  17:       "GPIO17"  {holder}  output  active-high [used]'
        info.write_text(info.read_text().replace(free, taken))
        assert "“sysfs”" in one(doctor.examine(Probe.recorded(folder), REFERENCE), "holders").text
        free = taken


@pytest.mark.parametrize(("name", "chip"), [("pi5_leds0", "gpiochip0"), ("pi5_old_kernel", "gpiochip4")])
def test_a_chip_is_known_by_its_label_whatever_its_number(name: str, chip: str, tmp_path: Path) -> None:
    """Before and after a kernel update the Pi 5's pins are found (cases B10, C2)."""
    assert f"The board's pins are on {chip} (pinctrl-rp1)." == one(examined(name, tmp_path), "chips").text


def test_a_machine_without_its_chip_is_broken(tmp_path: Path) -> None:
    """A Pi in a container that was given no chip, and one that was given another, say so (case C2)."""
    folder = unpack("pi4_bookworm", tmp_path)
    (folder / "outputs/gpiodetect.txt").write_text("gpiochip1 [raspberrypi-exp-gpio] (8 lines)\n")
    (folder / "outputs/gpioinfo.txt").write_text('gpiochip1 - 8 lines:\n\tline 0:\t"BT_ON"\toutput\n')
    assert "there are gpiochip1" in one(doctor.examine(Probe.recorded(folder), REFERENCE), "chips").text
    (folder / "outputs/gpiodetect.txt").unlink()
    (folder / "dev/gpiochip0").unlink()
    assert "broken" == one(doctor.examine(Probe.recorded(folder), REFERENCE), "chips").level


# -- LEDs ----------------------------------------------------------------------------------------------------------


def test_a_pi5_is_not_given_to_rpi_ws281x(tmp_path: Path) -> None:
    """A board whose LED library cannot reach the pins of a Pi 5 is broken there (cases A4, C5)."""
    assert "broken" == one(examined("pi5_leds0", tmp_path, PWM_LEDS), "led pin").level


def test_auto_without_a_driver_for_the_pin_is_broken(tmp_path: Path) -> None:
    """On GPIO2 nothing drives the LEDs of a Pi 4, and something those of a Pi 5."""
    assert "GPIO10" in one(examined("pi4_bookworm", tmp_path / "4", board("auto", "GPIO2")), "led pin").text
    assert [] == said(examined("pi5_leds0", tmp_path / "5", board("auto", "GPIO2")), "led pin")


def test_the_kernels_driver_is_asked_for_count_and_gamma(tmp_path: Path) -> None:
    """A Pi 5's overlay must have the board's LEDs, and its kernel leave colours as they are (cases A7, A8)."""
    folder = unpack("pi5_leds0", tmp_path)
    node = folder / "proc/device-tree/ws2812_pio@12"
    for value, level in ((255, "warning"), (128, "broken"), (0, "fine")):
        (node / "rpi,brightness").write_bytes(value.to_bytes(4))
        assert level == one(doctor.examine(Probe.recorded(folder), KERNEL_LEDS), "leds0").level
    (folder / "proc/sys/kernel/osrelease").write_text("6.12.55+rpt-rpi-2712\n")
    assert "darkness" in said(doctor.examine(Probe.recorded(folder), KERNEL_LEDS), "leds0")[0].text


def test_the_kernels_driver_must_be_on_the_boards_pin(tmp_path: Path) -> None:
    """An overlay on another line, its usual one if none is given, lights nothing; the command moves it."""
    folder = unpack("pi5_leds0", tmp_path)
    settings = folder / "boot/firmware/config.txt"
    for old, new, named in ((",gpio=18", ",gpio=12", "GPIO12"), (",gpio=12", "", "GPIO4")):
        settings.write_text(settings.read_text().replace(old, new))
        finding = next(each for each in said(doctor.examine(Probe.recorded(folder), KERNEL_LEDS), "leds0"))
        assert "broken" == finding.level and named in finding.text and "GPIO18" in finding.text
    mend(folder, finding.fix)
    mend(folder, finding.fix)
    assert 1 == settings.read_text().count(",gpio=18")
    assert "fine" == one(doctor.examine(Probe.recorded(folder), KERNEL_LEDS), "leds0").level


def test_the_leds_data_line_is_a_pin_too(tmp_path: Path) -> None:
    """A receiver for remote controls on the line of the LEDs is in their way; on SPI the bus is theirs."""
    folder = unpack("zero2w_sound", tmp_path)
    settings = folder / "boot/firmware/config.txt"
    settings.write_text(settings.read_text() + "dtoverlay=gpio-ir\n")
    assert "GPIO18 (J8:12) (leds.pin)" in one(doctor.examine(Probe.recorded(folder), PWM_LEDS), "kernel pins").text
    assert [] == said(doctor.examine(Probe.recorded(folder), REFERENCE), "kernel pins")


def test_why_there_is_no_leds0_is_told(tmp_path: Path) -> None:
    """Without the device the command is the one that brings it: restart, add the overlay, upgrade."""
    folder = unpack("pi5_leds0", tmp_path)
    (folder / "dev/leds0").unlink()
    assert "sudo reboot" == one(doctor.examine(Probe.recorded(folder), KERNEL_LEDS), "leds0").fix
    (folder / "boot/firmware/config.txt").write_text("")
    added = one(doctor.examine(Probe.recorded(folder), KERNEL_LEDS), "leds0").fix
    assert "dtoverlay=ws2812-pio,gpio=18,num_leds=49,brightness=0" in added
    (folder / "boot/firmware/overlays/ws2812-pio.dtbo").rename(folder / "boot/firmware/overlays/w1-gpio.dtbo")
    assert "sudo apt full-upgrade" == one(doctor.examine(Probe.recorded(folder), KERNEL_LEDS), "leds0").fix


def test_sound_and_monitor_matter_to_pwm_only(tmp_path: Path) -> None:
    """Sound is broken beside LEDs on PWM, a warning before it is loaded, nothing beside SPI (cases A13, A14)."""
    folder = unpack("zero2w_sound", tmp_path)
    assert [] == said(doctor.examine(Probe.recorded(folder), REFERENCE), "sound")
    assert [] == said(doctor.examine(Probe.recorded(folder), REFERENCE), "monitor")
    (folder / "proc/modules").write_text("vc4 1 0 - Live 0x0\n")
    assert "warning" == one(doctor.examine(Probe.recorded(folder), PWM_LEDS), "sound").level
    (folder / "sys/class/drm/card0-HDMI-A-1/status").write_text("connected\n")
    assert [] == said(doctor.examine(Probe.recorded(folder), PWM_LEDS), "monitor")


def test_another_dma_channel_is_refused_with_the_reason(tmp_path: Path) -> None:
    """Channel 5 is the SD card's (case A11)."""
    leds = type(PWM_LEDS.leds)(driver="rpi_ws281x", pin="GPIO18", dma=5)
    finding = one(examined("zero2w_sound", tmp_path, PWM_LEDS._replace(leds=leds)), "dma")
    assert "broken" == finding.level and "SD card" in finding.text


# -- machine -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mask", "level"), [("0x0", "fine"), ("0x50000", "warning"), ("0x50005", "broken"), ("0x1", "broken")]
)
def test_the_supply_is_judged_by_the_firmwares_word(mask: str, level: str, tmp_path: Path) -> None:
    """Under-voltage now is broken, before now a warning (cases A35, G17, H7)."""
    folder = unpack("pi4_bookworm", tmp_path)
    (folder / "outputs/get_throttled.txt").write_text(f"throttled={mask}\n")
    assert level == one(doctor.examine(Probe.recorded(folder), REFERENCE), "supply").level


def test_the_supply_is_judged_by_the_kernels_sensor_too(tmp_path: Path) -> None:
    """Without vcgencmd the rpi_volt sensor and the firmware's file tell (case A35)."""
    folder = unpack("pi4_bookworm", tmp_path)
    (folder / "outputs/get_throttled.txt").unlink()
    assert [] == said(doctor.examine(Probe.recorded(folder), REFERENCE), "supply")
    sensor = folder / "sys/class/hwmon/hwmon2"
    sensor.mkdir(parents=True)
    (sensor / "name").write_text("rpi_volt\n")
    (sensor / "in0_lcrit_alarm").write_text("1\n")
    assert "broken" == one(doctor.examine(Probe.recorded(folder), REFERENCE), "supply").level
    (sensor / "name").write_text("cpu_thermal\n")
    word = folder / "sys/devices/platform/soc/soc:firmware/get_throttled"
    word.parent.mkdir(parents=True)
    word.write_text("50000\n")
    assert "warning" == one(doctor.examine(Probe.recorded(folder), REFERENCE), "supply").level


def test_heat_is_told_from_a_weak_supply(tmp_path: Path) -> None:
    """Only the firmware's heat bit speaks of heat: a machine that is slowed down for its voltage is not hot (G14)."""
    folder = unpack("pi4_bookworm", tmp_path)
    (folder / "outputs/get_throttled.txt").write_text("throttled=0x50005\n")
    assert [] == said(doctor.examine(Probe.recorded(folder), REFERENCE), "heat")
    (folder / "outputs/get_throttled.txt").write_text("throttled=0x80008\n")
    assert "warning" == one(doctor.examine(Probe.recorded(folder), REFERENCE), "heat").level


def test_what_was_upgraded_since_the_last_good_start_is_told(tmp_path: Path) -> None:
    """Kernel and libraries that changed are named with both versions (case A34)."""
    text = one(examined("pi4_crowded", tmp_path), "changes").text
    assert "Linux 6.6.51+rpt-rpi-v8 to 6.12.47+rpt-rpi-v8 and gpiod 2.2.1 to 2.3.0" in text
    kept = tmp_path / "home/pi/.local/state/morbak-board/last-good-start.json"
    kept.write_text(json.dumps({"versions": Probe.recorded(tmp_path).table("versions")}))
    assert "fine" == one(doctor.examine(Probe.recorded(tmp_path), REFERENCE), "changes").level


def test_a_kernel_that_is_no_longer_installed_wants_a_restart(tmp_path: Path) -> None:
    """After an upgrade without a restart modules are missing; it is said before anything strange happens (A34)."""
    folder = unpack("pi4_bookworm", tmp_path)
    (folder / "lib/modules").rename(folder / "lib/was")
    (folder / "lib/modules/6.12.47+rpt-rpi-v8").mkdir(parents=True)
    assert "sudo reboot" == one(doctor.examine(Probe.recorded(folder), REFERENCE), "kernel").fix


def test_a_machine_that_is_no_pi_is_named_as_what_it_says(tmp_path: Path) -> None:
    """Another board is named by its own device tree; a PC is told to play in the browser (case G14)."""
    folder = unpack("virtual_pi", tmp_path / "other")
    (folder / "proc/device-tree").mkdir()
    (folder / "proc/device-tree/model").write_bytes(b"Radxa ROCK 5B\0")
    assert "no Raspberry Pi but a Radxa ROCK 5B" in one(doctor.examine(Probe.recorded(folder), REFERENCE), "model").text
    pc = one(examined("pc", tmp_path / "pc"), "model")
    assert pc.text.startswith("This is no Raspberry Pi and has no GPIO chip")
    assert "morbak run --board sim --open" == pc.fix


def test_an_unknown_pi_is_named_with_its_revision(tmp_path: Path) -> None:
    """A Pi newer than this firmware is not taken for another; its revision is to be reported (cases A3, G14)."""
    finding = one(examined("pi6_unknown", tmp_path), "model")
    assert "Raspberry Pi 6 Model B Rev 1.0 (revision f06190)" in finding.text
    assert [] == said(examined("pi6_unknown", tmp_path), "spi clock")


@pytest.mark.parametrize("name", NAMES)
def test_a_simulated_board_is_fine_on_every_machine(name: str, tmp_path: Path) -> None:
    """A board without wires wants no pins, no clock and no libraries."""
    checks = {each.check for each in examined(name, tmp_path, SIMULATED)}
    assert set() == checks - {"model", "system", "environment", "state", "root", "clock", "changes"}


def test_an_old_system_is_named(tmp_path: Path) -> None:
    """Raspberry Pi OS 11 has no Python that the board could run on; a config.txt that cannot be read is named."""
    folder = unpack("pi4_bookworm", tmp_path)
    text = (folder / "etc/os-release").read_text().replace("12 (bookworm)", "11 (bullseye)").replace('"12"', '"11"')
    (folder / "etc/os-release").write_text(text)
    assert "older" in one(doctor.examine(Probe.recorded(folder), REFERENCE), "system").text
    (folder / "boot/firmware/config.txt").unlink()
    assert "cannot be read" in said(doctor.examine(Probe.recorded(folder), REFERENCE), "system")[1].text


# -- access --------------------------------------------------------------------------------------------------------


def test_a_device_is_opened_by_its_group(tmp_path: Path) -> None:
    """Who is not in the group joins it; who is since this login logs in again; a device of root's gets a rule."""
    folder = unpack("pi4_bookworm", tmp_path)
    groups = folder / "etc/group"
    change_facts(folder, lambda facts: facts["devices"]["/dev/spidev0.0"].update(ours=False))
    assert "exec su -l pi" == one(doctor.examine(Probe.recorded(folder), REFERENCE), "permissions").fix
    groups.write_text(groups.read_text().replace("spi:x:989:pi", "spi:x:989:"))
    finding = one(doctor.examine(Probe.recorded(folder), REFERENCE), "permissions")
    assert ("sudo usermod -aG spi pi", LOG_IN) == (finding.fix, finding.then)
    for group, mode in (("root", 0o660), ("spi", 0o600), ("spi", 0o640)):
        access = {"group": group, "mode": mode}
        change_facts(folder, lambda facts, access=access: facts["devices"]["/dev/spidev0.0"].update(access))  # type: ignore[misc]
        finding = one(doctor.examine(Probe.recorded(folder), REFERENCE), "permissions")
        assert 'KERNEL=="spidev*", GROUP="spi", MODE="0660"' in finding.fix and RESTART == finding.then


def test_a_state_directory_that_forgets_or_refuses_is_broken(tmp_path: Path) -> None:
    """Games in memory, on a read-only file system or in somebody else's folder are told apart (cases F11, G22)."""
    folder = unpack("pi4_bookworm", tmp_path)
    change_facts(folder, lambda facts: facts["state"].update(writable=False, owner="root"))
    finding = one(doctor.examine(Probe.recorded(folder), REFERENCE), "state")
    assert "it is root's" in finding.text and "chown -R pi" in finding.fix
    mounts = folder / "proc/mounts"
    mounts.write_text(mounts.read_text().replace("ext4 rw,", "ext4 ro,"))
    assert "remount,rw" in one(doctor.examine(Probe.recorded(folder), REFERENCE), "state").fix
    mounts.write_text(mounts.read_text() + "/dev/sda1 /home ext4 rw 0 0\n")
    change_facts(folder, lambda facts: facts["state"].update(writable=True, free_bytes=1_000_000))
    finding = one(doctor.examine(Probe.recorded(folder), REFERENCE), "state")
    assert ("warning", "1 MB") == (finding.level, finding.text[-14:-10])


def test_games_on_a_partition_of_their_own_outlive_a_read_only_root(tmp_path: Path) -> None:
    """With the root in memory and the state directory on a card's partition all is well (case F9)."""
    folder = unpack("pi4_trixie_no_clock", tmp_path)
    mounts = folder / "proc/mounts"
    mounts.write_text(mounts.read_text() + "/dev/mmcblk0p3 /home/pi/.local/state ext4 rw 0 0\n")
    found = doctor.examine(Probe.recorded(folder), REFERENCE)
    assert ["fine", "fine"] == [one(found, "state").level, one(found, "root").level]


def test_a_read_only_root_that_is_not_in_effect_is_told(tmp_path: Path) -> None:
    """Asked for and not there: the card is written to (case F11)."""
    folder = unpack("pi4_trixie_no_clock", tmp_path)
    (folder / "proc/mounts").write_text("/dev/mmcblk0p2 / ext4 rw 0 0\n")
    found = doctor.examine(Probe.recorded(folder), REFERENCE)
    assert ["fine", "warning"] == [one(found, "state").level, one(found, "root").level]


# -- Python and services -------------------------------------------------------------------------------------------


def test_what_is_missing_goes_into_the_environment_that_runs(tmp_path: Path) -> None:
    """In an environment its own Python installs, with sudo in one of root's; the system's is left alone (B3, B4)."""
    folder = unpack("zero2w_sound", tmp_path)
    change_facts(folder, lambda facts: facts.update(modules={"gpiod": "2.3.0", "lgpio": "0.2.2.0"}))
    finding = one(doctor.examine(Probe.recorded(folder), PWM_LEDS), "libraries")
    assert "rpi-ws281x and gpiozero" in finding.text
    assert "/opt/morbak/bin/python -m pip install 'morbak-board[pi]' rpi-ws281x" == finding.fix
    change_facts(folder, lambda facts: facts.update(prefix_ours=False))
    assert f"sudo {finding.fix}" == one(doctor.examine(Probe.recorded(folder), PWM_LEDS), "libraries").fix
    change_facts(
        folder, lambda facts: facts.update(modules={"gpiod": "1.6.3", "rpi_ws281x": "5", "gpiozero": "", "lgpio": ""})
    )
    assert "version 1" in one(doctor.examine(Probe.recorded(folder), PWM_LEDS), "libraries").text


def test_lgpio_comes_from_debian_where_pip_has_none(tmp_path: Path) -> None:
    """From Python 3.13 on lgpio has no wheel: the command installs Debian's and the environment sees it (B4, C1)."""
    folder = unpack("zero2w_sound", tmp_path)
    change_facts(folder, lambda facts: facts.update(modules={"gpiod": "2.3.0"}, versions={"Python": "3.13.5"}))
    command = "sudo apt install python3-lgpio && python3 -m venv --system-site-packages /opt/morbak"
    assert one(doctor.examine(Probe.recorded(folder), PWM_LEDS), "libraries").fix == (
        f"{command} && /opt/morbak/bin/python -m pip install 'morbak-board[pi]' rpi-ws281x"
    )
    modules = {"gpiod": "2.3.0", "gpiozero": "2.0.1", "rpi_ws281x": "5"}
    change_facts(folder, lambda facts: facts.update(modules=modules))
    assert command == one(doctor.examine(Probe.recorded(folder), PWM_LEDS), "libraries").fix
    change_facts(folder, lambda facts: facts.update(prefix_ours=False))
    assert command.replace("&& ", "&& sudo ") == one(doctor.examine(Probe.recorded(folder), PWM_LEDS), "libraries").fix
    change_facts(folder, lambda facts: facts.update(venv=False))
    assert command.replace("/opt/morbak", "~/morbak") == (
        one(doctor.examine(Probe.recorded(folder), PWM_LEDS), "libraries").fix
    )


def test_lgpio_for_another_python_than_debians(tmp_path: Path) -> None:
    """Only Debian's own Python imports what Debian brings: beside another it gets an environment (cases B4, C1)."""
    folder = unpack("zero2w_sound", tmp_path)
    modules = {"gpiod": "2.3.0", "gpiozero": "2.0.1"}
    change_facts(folder, lambda facts: facts.update(modules=modules, versions={"Python": "3.13.5"}))
    change_facts(folder, lambda facts: facts.update(base_prefix="/usr/local"))
    finding = one(doctor.examine(Probe.recorded(folder), PWM_LEDS), "libraries")
    assert finding.text.endswith(" Debian's lgpio is for Debian's own Python, which this is not.")
    assert finding.fix == (
        "sudo apt install python3-lgpio && /usr/bin/python3 -m venv --system-site-packages ~/morbak && "
        "~/morbak/bin/pip install 'morbak-board[pi]' rpi-ws281x"
    )
    for changes in ({"base_prefix": "/usr"}, {"base_prefix": "/usr/local", "versions": {"Python": "3.12.8"}}):
        change_facts(folder, lambda facts, changes=changes: facts.update(changes))  # type: ignore[misc]
        assert "Debian" not in one(doctor.examine(Probe.recorded(folder), PWM_LEDS), "libraries").text


def test_every_driver_that_ships_has_its_needs_known() -> None:
    """A driver that is added must be asked about here: whether it wants a library of its own."""
    assert {"sim", "gpiod", "gpiozero"} == set(drivers.names("lines"))
    assert {"sim", "auto", "spidev", "rpi_ws281x", "neopixel", "leds0"} == set(drivers.names("leds"))


def test_serial_boards_are_guarded_from_modems_and_braille(tmp_path: Path) -> None:
    """brltty is found in the kernel's log, or running beside a serial board; without one neither matters (case E21)."""
    folder = unpack("pi4_serial", tmp_path)
    (folder / "outputs/dmesg.txt").unlink()
    assert "warning" == one(doctor.examine(Probe.recorded(folder), REFERENCE), "braille").level
    (folder / "dev/ttyACM0").unlink()
    found = doctor.examine(Probe.recorded(folder), REFERENCE)
    assert [] == said(found, "braille") and "fine" == one(found, "modems").level


def test_a_clock_that_nobody_sets_is_a_warning_and_no_more(tmp_path: Path) -> None:
    """Never set, switched off, not yet set: records get a wrong date, no game ends (cases F18, F19)."""
    folder = unpack("pi4_bookworm", tmp_path)
    clock = folder / "outputs/timedatectl.txt"
    for text, fix in (
        ("NTP=no\nNTPSynchronized=no\n", "sudo timedatectl set-ntp true"),
        ("NTP=yes\nNTPSynchronized=no\n", "timedatectl timesync-status"),
    ):
        clock.write_text(text)
        finding = one(doctor.examine(Probe.recorded(folder), REFERENCE), "clock")
        assert ("warning", fix) == (finding.level, finding.fix)
    change_facts(folder, lambda facts: facts.update(now_s=12))
    assert "has not been set" in one(doctor.examine(Probe.recorded(folder), REFERENCE), "clock").text


def test_a_clock_file_that_is_a_folder_is_removed(tmp_path: Path) -> None:
    """An image that ships a folder there starts in the past without a network; the command takes it away (case F19)."""
    finding = one(examined("pi4_trixie_no_clock", tmp_path), "clock")
    assert finding.text.startswith("/var/lib/systemd/timesync/clock is a directory")
    assert finding.fix.startswith("sudo rm -r /var/lib/systemd/timesync/clock ")


def test_sudo_is_told_from_root(tmp_path: Path) -> None:
    """Started with sudo it names whose environment was left behind; the command is the same without it (B3, G22)."""
    finding = one(examined("pi4_sudo", tmp_path), "environment")
    assert "pi's Python environment" in finding.text and "morbak doctor" == finding.fix


def test_root_is_sent_to_a_person(tmp_path: Path) -> None:
    """Started as root it names somebody of the machine who may start it, and nobody who cannot log in (case G22)."""
    folder = unpack("pi4_bookworm", tmp_path)
    passwd = folder / "etc/passwd"
    passwd.write_text("kiosk:x:1001:1001::/srv:/usr/sbin/nologin\n" + passwd.read_text())
    change_facts(folder, lambda facts: facts.update(root=True, user="root"))
    assert "su - pi -c 'morbak doctor'" == one(doctor.examine(Probe.recorded(folder), REFERENCE), "environment").fix


def test_commands_can_be_copied_whatever_paths_are_called(tmp_path: Path) -> None:
    """A path with a space and an apostrophe in it stays one word of the command."""
    folder = unpack("pi4_crowded", tmp_path)
    change_facts(folder, lambda facts: facts["state"].update(path="/home/l'ami du pi", writable=False))
    change_facts(folder, lambda facts: facts.update(python="/opt/l'ami du pi/python", modules={}))
    found = doctor.examine(Probe.recorded(folder), REFERENCE._replace(file="/home/l'ami du pi/mine.toml"))
    words = [word for check in ("state", "libraries", "supply") for word in shlex.split(one(found, check).fix)]
    assert {"/home/l'ami du pi", "/opt/l'ami du pi/python", "/home/l'ami du pi/mine.toml"} < set(words)


def test_leds_of_a_third_party_may_hang_anywhere(tmp_path: Path) -> None:
    """Of a driver that is not ours the doctor knows no pin, and says nothing."""
    theirs = REFERENCE._replace(leds=type(REFERENCE.leds)(driver="theirs", pin="J8:1"))
    assert {"fine"} == {each.level for each in examined("pi4_bookworm", tmp_path, theirs)}


# -- nothing upsets it ---------------------------------------------------------------------------------------------

JUNK = (
    b"",
    b"\0",
    b"\xff\xfe\x00",
    b"[",
    b"=\n===\n[]\n",
    b"{" * 3000,
    b"9" * 5000 + b"\n",
    b"\n \t \n",
    b"a\tb c [d] (9 lines)\n",
)


@pytest.mark.parametrize("name", NAMES)
def test_no_file_upsets_it(name: str, tmp_path: Path, seed: int, prove: bool) -> None:
    """With any file missing, empty, torn, binary, a folder or a link to itself there is still a diagnosis."""
    rng = random.Random(seed)
    unpack(name, tmp_path)
    for path in machines.files(name):
        file = tmp_path / path
        if not file.is_file():
            continue
        whole = file.read_bytes()
        torn = [whole[: rng.randrange(len(whole) + 1)], rng.randbytes(rng.randrange(200))]
        for junk in (*(JUNK if prove else rng.sample(JUNK, 3)), *torn):
            file.write_bytes(junk)
            assert doctor.examine(Probe.recorded(tmp_path), BOARDS.get(name, REFERENCE))
        file.unlink()
        assert doctor.examine(Probe.recorded(tmp_path), BOARDS.get(name, REFERENCE))
        file.mkdir()
        assert doctor.examine(Probe.recorded(tmp_path), BOARDS.get(name, REFERENCE))
        file.rmdir()
        file.symlink_to(file)
        assert doctor.examine(Probe.recorded(tmp_path), BOARDS.get(name, REFERENCE))
        file.unlink()
        file.write_bytes(whole)


@pytest.mark.parametrize("name", NAMES)
def test_facts_of_any_kind_do_not_upset_it(name: str, tmp_path: Path, seed: int, prove: bool) -> None:
    """Facts that are missing or of another kind count as not known."""
    rng = random.Random(seed)
    folder = unpack(name, tmp_path)
    path = folder / "outputs/facts.json"
    facts = json.loads(path.read_text())
    for key, value in facts.items():
        inner = value if isinstance(value, dict) else {}
        others = [None, True, 7, -1.5, "x", [], ["x"], {}, {"x": 1}]
        others += [{**inner, part: other} for part in inner for other in (None, 7, "x", [], {})]
        for other in others if prove else rng.sample(others, 3):
            path.write_text(json.dumps({**facts, key: other}))
            assert doctor.examine(Probe.recorded(folder), BOARDS.get(name, REFERENCE))
    for whole in ("null", "[]", "7", '"x"', "[" * 5000):
        path.write_text(whole)
        assert doctor.examine(Probe.recorded(folder), BOARDS.get(name, REFERENCE))


@pytest.mark.parametrize("name", NAMES)
def test_what_no_command_tells_is_not_guessed(name: str, tmp_path: Path) -> None:
    """Without any output of commands nothing is broken that was not before (case G14)."""
    before = {each.check for each in examined(name, tmp_path) if each.level == "broken"}
    for output in sorted((tmp_path / "outputs").iterdir()):
        output.rename(tmp_path / "away")
        after = {
            each.check
            for each in doctor.examine(Probe.recorded(tmp_path), BOARDS.get(name, REFERENCE))
            if each.level == "broken"
        }
        assert set() == after - before, output.name
        (tmp_path / "away").rename(output)


def test_an_empty_folder_is_no_raspberry_pi(tmp_path: Path) -> None:
    """A machine of which nothing is known gets one sentence, and it is about that."""
    assert ["model"] == [each.check for each in doctor.examine(Probe.recorded(tmp_path), REFERENCE)]


def test_names_that_no_file_can_have_are_not_there(tmp_path: Path) -> None:
    """A name that the system refuses is that of nothing."""
    asked = Probe.recorded(tmp_path)
    for name in ("x" * 300, "a/" * 3000):
        assert not asked.exists(name) and not asked.is_folder(name)
        assert ("", [], None) == (asked.text(name), asked.names(name), asked.number(name))


def test_an_endless_file_is_read_in_part(tmp_path: Path) -> None:
    """A file that does not end does not hold the doctor up."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").symlink_to("/dev/zero")
    assert LONGEST_BYTES == len(Probe.recorded(tmp_path).text("etc/os-release"))
