"""The doctor on what drives the LEDs: SPI and its real clock, the kernel's driver of a Pi 5, PWM and DMA. Pure."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from hal import models, ws2812
from hal.agreement import DMA_ALLOWED
from hal.doctor_boot import boot, command_line, config, kernel_modules, model, overlay, parameters, switched_on
from hal.doctor_finding import CONFIG, RESTART, Finding, add_argument, broken, fine, warning
from hal.drivers import leds0_leds, spidev_leds
from hal.models import add_setting

if TYPE_CHECKING:
    from hal.doctor_probe import Probe
    from hal.profile import Profile

# The line that the overlay ws2812-pio drives unless it is told another.
PIO_PIN = 4
SPI_SETTING = {4: "core_freq_min=500"}
_AUDIO_OFF = f"sudo sed -i 's/^dtparam=audio=on/dtparam=audio=off/' {CONFIG}"
_PIO_FILE = "boot/firmware/overlays/ws2812-pio.dtbo"


def driver(probe: Probe, profile: Profile) -> str:
    """The LED driver that this machine will use; "" where nothing drives LEDs on that pin."""
    if profile.leds.driver != "auto":
        return profile.leds.driver
    choices = models.led_choices(model(probe), profile.leds.gpio)
    return choices[0].driver if choices else ""


def on_spi(probe: Probe, profile: Profile) -> bool:
    """Whether the LEDs hang on the SPI bus."""
    drives = driver(probe, profile)
    return drives == "spidev" or (drives == "rpi_ws281x" and profile.leds.gpio == models.SPI_PIN)


def on_pwm(probe: Probe, profile: Profile) -> bool:
    """Whether the LEDs are driven by the PWM, which sound shares."""
    return driver(probe, profile) == "rpi_ws281x" and profile.leds.gpio in models.PWM_PINS


def check_pin(probe: Probe, profile: Profile) -> list[Finding]:
    """The LEDs' data line is one that this model can drive (cases A4, C5)."""
    found, leds = model(probe), profile.leds
    if not found.generation:
        return []
    if found.generation == 5 and leds.driver == "rpi_ws281x":
        text = f"rpi_ws281x cannot reach the pins of a {found.name}; use a board for a Pi 5."
        return [broken("led pin", text, "morbak doctor --board pi5")]
    if leds.driver == "auto" and not models.led_choices(found, leds.gpio):
        text = f"{leds.pin} carries no LEDs on a {found.name}; GPIO10 does, by SPI."
        return [broken("led pin", text, "morbak pinout reference")]
    return []


def check_spi(probe: Probe, profile: Profile) -> list[Finding]:
    """SPI is on where the LEDs need it."""
    device = profile.leds.device or spidev_leds.DEVICE
    if not on_spi(probe, profile):
        return []
    if probe.exists(device):
        return [fine("spi", f"SPI is on: {device} is there.")]
    if device != spidev_leds.DEVICE or not model(probe).generation:
        return [broken("spi", f"There is no {device}, on which the LEDs are.", "ls -l /dev/spidev*")]
    if not switched_on(parameters(probe).get("spi")):
        text = f"SPI is off, so there is no {device} for the LEDs."
        return [broken("spi", text, "sudo raspi-config nonint do_spi 0", RESTART)]
    if probe.text("proc/modules") and "spidev" not in kernel_modules(probe):
        return [broken("spi", f"SPI is on and there is no {device}: spidev is not loaded.", "sudo modprobe spidev")]
    text = f"SPI is on in config.txt and there is no {device}: that counts after a restart only."
    return [broken("spi", text, "sudo reboot")]


def check_clock(probe: Probe, profile: Profile) -> list[Finding]:
    """The clock that LEDs on SPI really get stays one they can read (cases A15, A16, A24, B9)."""
    found, text = model(probe), config(probe)
    if not on_spi(probe, profile) or not found.generation or not text:
        return []
    planned = models.core_mhz(found, text)
    if planned is None:
        return []
    setting = SPI_SETTING.get(found.generation, "core_freq=250")
    if reason := _misread(planned, profile.leds.spi_hz):
        sentence = (
            f"The core clock {_moving(planned)}, and the SPI clock of the LEDs is divided from it: they would flicker "
            f"or turn white, since {reason}."
        )
        return [broken("spi clock", sentence, add_setting(setting), RESTART)]
    now = _now_mhz(probe)
    if found.generation <= 4 and now is not None and (reason := _misread(now, profile.leds.spi_hz)):
        sentence = (
            f"config.txt is right, but the core clock still {_moving(now)} ({reason}): it counts after a restart."
        )
        return [broken("spi clock", sentence, "sudo reboot")]
    real = ws2812.divided_hz(planned[1] * 1_000_000, profile.leds.spi_hz)
    return [fine("spi clock", f"The LEDs' SPI clock is {real / 1e6:.2f} MHz and stays so.")]


def _misread(moves: tuple[int, int], spi_hz: int) -> str:
    """Why LEDs misread the SPI clock of a core that moves so; "" where they read it."""
    for believed in moves:
        for real in moves:
            divided = ws2812.divided_hz(real * 1_000_000, spi_hz, believed * 1_000_000)
            if reason := ws2812.problem(divided):
                return reason
    return ""


def _moving(moves: tuple[int, int]) -> str:
    return f"moves between {moves[0]} and {moves[1]} MHz" if moves[0] != moves[1] else f"is {moves[0]} MHz"


def _now_mhz(probe: Probe) -> tuple[int, int] | None:
    """Between which speeds the core clock moves by the firmware's own word, which counts from the last start on."""
    said = dict(re.findall(r"^(core_freq|core_freq_min)=(\d{1,4})$", probe.output("get_config"), re.M))
    low, high = int(said.get("core_freq_min", 0)), int(said.get("core_freq", 0))
    return (min(low, high), high) if low and high else None


def check_buffer(probe: Probe, profile: Profile) -> list[Finding]:
    """A frame fits the SPI device's buffer, which would cut it (case A22)."""
    if driver(probe, profile) != "spidev":
        return []
    leds = profile.leds
    frame = ws2812.encode(bytes(3 * profile.led_count), leds.spi_hz, idles_high=leds.line_idles == "high")
    told = probe.decimal(spidev_leds.BUFFER_FILE)
    room = spidev_leds.DEFAULT_BUFFER if told is None else told
    if len(frame) <= room:
        return [fine("spi buffer", f"A frame of {len(frame)} bytes fits the SPI buffer of {room}.")]
    text = f"A frame takes {len(frame)} bytes and the SPI buffer has {room}, so the end of the chain would stay dark."
    return [broken("spi buffer", text, add_argument(f"spidev.bufsiz={-(-len(frame) // 4096) * 4096}"), RESTART)]


def check_sound(probe: Probe, profile: Profile) -> list[Finding]:
    """Sound and the LEDs do not share the PWM (case A13)."""
    if not on_pwm(probe, profile):
        return []
    if "snd_bcm2835" in kernel_modules(probe):
        text = (
            f"Sound (snd_bcm2835) shares the PWM with the LEDs on {profile.leds.pin}: they flash when anything plays."
        )
        return [broken("sound", text, _AUDIO_OFF, RESTART)]
    if switched_on(parameters(probe).get("audio")):
        text = "config.txt turns sound on, which will share the PWM with the LEDs once it is loaded."
        return [warning("sound", text, _AUDIO_OFF, RESTART)]
    return [fine("sound", "Sound is off, so the LEDs have the PWM to themselves.")]


def check_monitor(probe: Probe, profile: Profile) -> list[Finding]:
    """Without a monitor sound moves to the PWM, and what worked at the desk flickers on site (case A14)."""
    cards = [name for name in probe.names("sys/class/drm") if "-HDMI-" in name]
    plugged = any(probe.text(f"sys/class/drm/{name}/status").strip() == "connected" for name in cards)
    sound = "snd_bcm2835" in kernel_modules(probe) or switched_on(parameters(probe).get("audio"))
    if not on_pwm(probe, profile) or not sound or plugged or not cards:
        return []
    forced = boot(probe).get("hdmi_force_hotplug") == "1" or any(
        a.startswith("video=HDMI") for a in command_line(probe)
    )
    if forced:
        return [fine("monitor", "No monitor is connected, and HDMI stays on all the same.")]
    text = "No monitor is connected, so sound goes to the PWM that the LEDs use; keep HDMI on."
    if overlay(probe, "vc4-kms-v3d") is None:
        return [warning("monitor", text, add_setting("hdmi_force_hotplug=1"), RESTART)]
    return [warning("monitor", text, add_argument("video=HDMI-A-1:1280x720@60D"), RESTART)]


def check_dma(probe: Probe, profile: Profile) -> list[Finding]:
    """The LED library takes no DMA channel of somebody else's (case A11)."""
    if driver(probe, profile) != "rpi_ws281x" or on_spi(probe, profile):
        return []
    if profile.leds.dma in DMA_ALLOWED:
        return [fine("dma", f"The LEDs use DMA channel {profile.leds.dma}, and not 5, which is the SD card's.")]
    text = (
        f"The LEDs would use DMA channel {profile.leds.dma}; {DMA_ALLOWED[0]} is wanted, since 5 is the SD card's and "
        "sharing it turns the file system read-only after minutes."
    )
    return [broken("dma", text, f"sed -i 's/^dma *=.*/dma = {DMA_ALLOWED[0]}/' {shlex.quote(profile.file)}")]


def check_leds0(probe: Probe, profile: Profile) -> list[Finding]:
    """The kernel's driver of a Pi 5 is there, as long as the chain, and leaves colours as they are (cases A7, A8)."""
    if driver(probe, profile) != "leds0":
        return []
    device = profile.leds.device or leds0_leds.DEVICE
    if not probe.exists(device):
        return [_no_leds0(probe, profile, device)]
    found = [*_place(probe, profile), *_count(probe, profile), *_gamma(probe)]
    return found or [fine("leds0", f"The kernel drives {profile.led_count} LEDs on {device}.")]


def _no_leds0(probe: Probe, profile: Profile, device: str) -> Finding:
    """Why there is no device of the kernel's driver."""
    if not model(probe).generation:
        return broken("leds0", f"There is no {device}, on which the LEDs are.", "ls -l /dev/leds*")
    if probe.names("boot/firmware/overlays") and not probe.exists(_PIO_FILE):
        return broken("leds0", "This system is older than the overlay ws2812-pio.", "sudo apt full-upgrade", RESTART)
    if overlay(probe, "ws2812-pio") is not None:
        text = f"config.txt loads the overlay ws2812-pio and there is no {device}: that counts after a restart only."
        return broken("leds0", text, "sudo reboot")
    line = leds0_leds.overlay(profile, probe.text(leds0_leds.KERNEL_FILE))
    text = f"The overlay ws2812-pio is not loaded, so there is no {device} for the LEDs."
    return broken("leds0", text, add_setting(line), RESTART)


def _tree(probe: Probe, name: str) -> int | None:
    """A number that the driver's node of the device tree has."""
    for node in probe.names(leds0_leds.TREE):
        if node.startswith("ws2812") and (value := probe.number(f"{leds0_leds.TREE}/{node}/{name}")) is not None:
            return value
    return None


def _place(probe: Probe, profile: Profile) -> list[Finding]:
    loaded = overlay(probe, "ws2812-pio")
    if loaded is None or profile.leds.gpio is None:
        return []
    given = re.search(r"\bgpio=(\d{1,2})\b", loaded)
    gpio = int(given[1]) if given else PIO_PIN
    if gpio == profile.leds.gpio:
        return []
    text = f"The overlay ws2812-pio drives GPIO{gpio} and the LEDs hang on {profile.leds.pin}."
    return [broken("leds0", text, leds0_leds.change("gpio", profile.leds.gpio), RESTART)]


def _count(probe: Probe, profile: Profile) -> list[Finding]:
    count = _tree(probe, "rpi,num-leds")
    if count is None or count == profile.led_count:
        return []
    text = f"The overlay ws2812-pio has {count} LEDs and the board {profile.led_count}."
    return [broken("leds0", text, leds0_leds.change("num_leds", profile.led_count), RESTART)]


def _gamma(probe: Probe) -> list[Finding]:
    """There is exactly one gamma, which is ours (case A7)."""
    kernel = leds0_leds.kernel_version(probe.text(leds0_leds.KERNEL_FILE))
    brightness = _tree(probe, "rpi,brightness")
    if not kernel or brightness is None:
        return []
    name = ".".join(map(str, kernel))
    if kernel <= leds0_leds.LAST_WITH_GAMMA:
        if brightness == 0:
            text = f"Linux {name} takes brightness=0 of ws2812-pio for darkness."
            return [broken("leds0", text, leds0_leds.change("brightness", 255), RESTART)]
        text = f"Linux {name} bends the LEDs' colours itself; the board undoes it, but dark colours have fewer steps."
        return [warning("leds0", text, "sudo apt full-upgrade", RESTART)]
    if brightness == 0:
        return []
    text = f"The overlay ws2812-pio has brightness={brightness}; 0 leaves the colours as the board sends them."
    level = warning if brightness >= 255 else broken
    return [level("leds0", text, leds0_leds.change("brightness", 0), RESTART)]
