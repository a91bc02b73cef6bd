"""The doctor on pins: which chip has them, what the kernel does with them, and who else has them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from hal import pins
from hal.doctor_boot import boot, parameters, switched_on
from hal.doctor_finding import CONFIG, RESTART, Finding, broken, fine, listed
from hal.drivers.gpio_chips import Chip
from hal.pinout import ON_HEADER
from hal.pins import Pin

if TYPE_CHECKING:
    from hal.doctor_probe import Probe
    from hal.profile import Profile

# Who has a line when it is ours: gpiod, and lgpio under gpiozero.
OURS = ("morbak", "lg")

# What parameters of the base device tree take, and overlays by their defaults with the parameter that moves each pin
# (the kernel's overlays README; base device trees of the Pis).
PARAMETERS = {
    "i2c_arm": (2, 3), "i2c": (2, 3), "i2c1": (2, 3), "spi": pins.SPI0, "i2s": (18, 19, 20, 21),
}  # fmt: skip
OVERLAYS: dict[str, dict[str, int]] = {
    "w1-gpio": {"gpiopin": 4},
    "w1-gpio-pi5": {"gpiopin": 4},
    "w1-gpio-pullup": {"gpiopin": 4, "extpullup": 5},
    "dht11": {"gpiopin": 4},
    "gpio-fan": {"gpiopin": 12},
    "gpio-ir": {"gpio_pin": 18},
    "gpio-ir-tx": {"gpio_pin": 18},
    "gpio-poweroff": {"gpiopin": 26},
    "gpio-shutdown": {"gpio_pin": 3},
    "gpio-key": {"gpio": 3},
    "i2c-gpio": {"i2c_gpio_sda": 23, "i2c_gpio_scl": 24},
    "pps-gpio": {"gpiopin": 18},
    "pwm": {"pin": 18},
    "pwm-2chan": {"pin": 18, "pin2": 19},
    "rotary-encoder": {"pin_a": 4, "pin_b": 17},
    "spi1-1cs": {"miso": 19, "mosi": 20, "sclk": 21, "cs0_pin": 18},
    "spi1-2cs": {"miso": 19, "mosi": 20, "sclk": 21, "cs0_pin": 18, "cs1_pin": 17},
    "spi1-3cs": {"miso": 19, "mosi": 20, "sclk": 21, "cs0_pin": 18, "cs1_pin": 17, "cs2_pin": 16},
    "uart3": {"txd": 4, "rxd": 5},
    "uart5": {"txd": 12, "rxd": 13},
    "ws2812-pio": {"gpio": 4},
}
# Sound cards by overlay all sit on the I2S bus.
SOUND_CARDS = r"(hifiberry|iqaudio|allo|justboom|audioinjector|googlevoicehat|max98357a|i2s)\b[\w-]*"


class Line(NamedTuple):
    """A line as `gpioinfo` shows it; `consumer` is "" where nobody has it."""

    chip: str
    offset: int
    name: str
    consumer: str


def chips(probe: Probe) -> list[Chip]:
    """The chips with the names of their lines, as `gpiodetect` and `gpioinfo` tell."""
    found, told = [], lines(probe)
    for name, label, count in re.findall(r"^(gpiochip\d+) \[(.*?)\] \((\d{1,4}) lines?\)", _detected(probe), re.M):
        names = [""] * int(count)
        for line in told:
            if line.chip == name and line.offset < len(names):
                names[line.offset] = line.name
        found.append(Chip(f"/dev/{name}", label, tuple(names)))
    return found


def _detected(probe: Probe) -> str:
    return probe.output("gpiodetect")


def lines(probe: Probe) -> list[Line]:
    """The lines of `gpioinfo`, of its versions 1 and 2."""
    found, chip = [], ""
    for text in probe.output("gpioinfo").splitlines():
        if head := re.match(r"(gpiochip\d+) - ", text):
            chip = head[1]
        elif line := re.match(r'\s+line\s+(\d{1,4}):\s+(?:"([^"]*)"|unnamed|-)\s*(.*)', text):
            name = "" if line[2] in (None, "unnamed", "-") else line[2]
            found.append(Line(chip, int(line[1]), name, _consumer(line[3])))
    return found


def _consumer(rest: str) -> str:
    """Who has a line: `consumer="x"` in version 2, in version 1 the first word, quoted or not, unless it is unused."""
    if found := re.search(r'consumer="?([^"]+)"?', rest):
        return found[1].strip()
    if found := re.match(r'"([^"]+)"', rest):
        return found[1]
    return rest.split()[0] if "[used]" in rest else ""


def wanted(profile: Profile) -> list[tuple[str, Pin]]:
    """Every pin that a profile's board wants but for the LEDs', each with its key."""
    found = [("matrix.rows", pin) for pin in profile.matrix.row_pins]
    found += [("matrix.columns", pin) for pin in profile.matrix.column_pins]
    if profile.buttons.start is not None:
        found.append(("buttons.start", pins.parse(profile.buttons.start)))
    if profile.buzzer.pin is not None:
        found.append(("buzzer.pin", pins.parse(profile.buzzer.pin)))
    return found


def check_chips(probe: Probe, profile: Profile) -> list[Finding]:
    """Chips are known by label and by the names of their lines, whatever their number (cases B10, C2)."""
    found = chips(probe)
    if not found:
        if probe.names("sys/bus/gpio/devices") or any(n.startswith("gpiochip") for n in probe.names("dev")):
            return []  # they are there and could not be asked: permissions or a missing library, said elsewhere
        text = "There is no GPIO chip in /dev; a container must be given it"
        return [broken("chips", text + ".", "ls -l /dev/gpiochip*")]
    missing = [str(pin) for _, pin in wanted(profile) if all(chip.offset(pin) is None for chip in found)]
    if missing and not lines(probe):
        return []  # nobody says what their lines are called
    if missing:
        text = f"No GPIO chip has {listed(missing)}, which the board wants; there are {_named(found)}."
        return [broken("chips", text, "gpioinfo")]
    having = [chip for chip in found if any(chip.offset(pin) is not None for _, pin in wanted(profile))]
    return [fine("chips", f"The board's pins are on {_named(having)}.")]


def _named(found: list[Chip]) -> str:
    return listed([f"{chip.path.removeprefix('/dev/')} ({chip.label})" for chip in found])


def check_kernel(probe: Probe, profile: Profile) -> list[Finding]:
    """No pin of the board is one that config.txt gives to the kernel."""
    claims: dict[int | None, str] = dict(_claims(probe))
    taken: dict[str, list[str]] = {}
    for key, pin in (*wanted(profile), *_led_line(profile, claims)):
        if pin.bcm in claims:
            taken.setdefault(claims[pin.bcm], []).append(f"{pin} ({key})")
    found = [
        broken(
            "kernel pins",
            f"config.txt gives the kernel what the board wants: {listed(names)}, by {line}.",
            _comment_out(line),
            RESTART,
        )
        for line, names in taken.items()
    ]
    return found + _functions(probe, profile, set(claims))


def _led_line(profile: Profile, claims: dict[int | None, str]) -> list[tuple[str, Pin]]:
    """The LEDs' data line, where nothing but a plain pin will do: not on SPI, nor on the kernel's own driver."""
    if profile.leds.driver not in ON_HEADER:
        return []
    pin = pins.parse(profile.leds.pin)
    return [] if pin.bcm in pins.SPI0 or "ws2812-pio" in claims.get(pin.bcm, "") else [("leds.pin", pin)]


def _comment_out(line: str) -> str:
    """The command that takes an overlay out of config.txt, or turns a parameter off, which may share its line."""
    kind, name, *_ = line.split("=")
    if kind == "dtoverlay":
        return f"sudo sed -i -E 's/^{line}(,|$)/#&/' {CONFIG}"
    return f"sudo sed -i -E '/^dtparam=/s/\\b{name}(=[a-z0-9]+)?(,|$)/{name}=off\\2/' {CONFIG}"


def _claims(probe: Probe) -> Iterator[tuple[int, str]]:
    """Each pin that config.txt gives away, and the line that does so."""
    settings, on = boot(probe), parameters(probe)
    for name, taken in PARAMETERS.items():
        if switched_on(on.get(name)):
            yield from ((bcm, f"dtparam={name}=on") for bcm in taken)
    for overlay in settings.get("dtoverlay", "").split():
        name, *given = overlay.split(",")
        values = dict(part.split("=", 1) for part in given if "=" in part)
        if re.fullmatch(SOUND_CARDS, name):
            yield from ((bcm, f"dtoverlay={name}") for bcm in PARAMETERS["i2s"])
        for parameter, usual in OVERLAYS.get(name, {}).items():
            number = values.get(parameter, on.get(parameter, ""))
            yield (int(number) if number.isascii() and number.isdigit() else usual), f"dtoverlay={name}"


def _functions(probe: Probe, profile: Profile, said: set[int | None]) -> list[Finding]:
    """What `pinctrl` says of pins that nothing has been said of yet: they must be plain GPIO."""
    shown = dict(re.findall(r"^\s*(\d{1,2}): .*?// \S+ = (\S+)", probe.output("pinctrl"), re.M))
    found = []
    for key, pin in wanted(profile):
        function = shown.get(str(pin.bcm), "input")
        if pin.bcm not in said and function not in ("input", "output", "none", "-"):
            text = f"{pin}, which is wanted by {key}, is no plain pin now: the kernel uses it as {function}."
            found.append(broken("kernel pins", text, f"grep -n '^dt' {CONFIG}"))
    return found


def check_holders(probe: Probe, profile: Profile) -> list[Finding]:
    """Nobody else has a pin of the board (case C7)."""
    by_place, found = {(line.chip, line.offset): line.consumer for line in lines(probe)}, chips(probe)
    if not by_place:
        return []
    held: dict[str, list[str]] = {}
    for key, pin in wanted(profile):
        for chip in found:
            offset = chip.offset(pin)
            consumer = by_place.get((chip.path.removeprefix("/dev/"), -1 if offset is None else offset), "")
            if consumer:
                held.setdefault(consumer, []).append(f"{pin} ({key})")
    others = [
        broken(
            "holders",
            f"{listed(taken)} {'are' if taken[1:] else 'is'} in use by “{consumer}”: end that program.",
            "sudo fuser -v /dev/gpiochip*",
        )
        for consumer, taken in held.items()
        if consumer not in OURS
    ]
    if others:
        return others
    ours = any(consumer in OURS for consumer in held)
    text = "The board runs and has its pins." if ours else "Nobody else has a pin of the board."
    return [fine("holders", text)]


def header_chip(probe: Probe) -> bool:
    """Whether there is any chip to wire a board to."""
    devices = probe.names("dev")
    return bool(chips(probe)) or any(name.startswith("gpiochip") for name in devices)
