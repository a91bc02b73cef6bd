"""Pinout: how the board of a profile is wired, as a picture for a terminal, and what to buy for it. Pure."""

from __future__ import annotations

from typing import Any, NamedTuple

from hal import models, pins
from hal.agreement import WIRED
from hal.drivers import SIMULATED
from hal.pins import HEADER, Pin
from hal.profile import Profile
from hal.wiring import Written

# LED drivers whose data comes out of a pin of the header.
ON_HEADER = ("auto", "spidev", "rpi_ws281x", "neopixel", "leds0")
SUPPLY = {1: "3V3", 2: "5V", 4: "5V", 17: "3V3"}
GROUND = (6, 9, 14, 20, 25, 30, 34, 39)
# What wants a ground of its own on the header, and what that is called.
GROUNDED = {"LED data": "LED ground", "start button": "button ground", "buzzer": "buzzer ground"}
SHIFTER = "74AHCT125"
# What goes to a pin with the line that leads there, in characters.
_SIDE = 26


class Part(NamedTuple):
    """Something to buy: how many, what, and what for."""

    quantity: int
    what: str
    why: str


def sheet(profile: Profile) -> list[str]:
    """The lines of the whole sheet: header, chain, one cell, the LEDs' feed, parts, and what to mind."""
    if profile.matrix.driver == SIMULATED:
        return [f"{profile.board.name} is simulated: there is nothing to wire.", "`morbak pinout reference` shows one."]
    blocks = [
        [f"{profile.board.name}: {profile.board.rows} x {profile.board.columns} cells"],
        ["The header of the Raspberry Pi; pin 1 is at the corner of the board.", "", *header(profile)],
        ["The LED of each cell, from above with side a at the bottom; the data comes in at 0.", "", *chain(profile)],
        ["One cell", "", *_cell(profile)],
        ["The LEDs' feed", "", *_feed(profile)],
        ["What to buy", "", *(f"  {part.quantity:4}  {part.what:38}  {part.why}" for part in parts(profile))],
        ["What to mind", "", *(f"  - {sentence}" for sentence in warnings(profile))],
    ]
    return [line for block in blocks for line in ["", *block]][1:]


def document(profile: Profile) -> dict[str, Any]:
    """The same as data; empty lists for a simulated board."""
    if profile.matrix.driver == SIMULATED:
        return {"board": profile.board.name, "header": [], "elsewhere": [], "parts": [], "mind": []}
    used = uses(profile)
    return {
        "board": profile.board.name,
        "header": [{"pin": pin, "name": pin_name(pin), "use": used.get(pin, "")} for pin in range(1, 41)],
        "elsewhere": [{"line": line, "use": use} for line, use in elsewhere(profile)],
        "parts": [part._asdict() for part in parts(profile)],
        "mind": warnings(profile),
    }


def pin_name(pin: int) -> str:
    """What a pin of the header is called on the board."""
    if pin in HEADER:
        return f"GPIO{HEADER[pin]}"
    return "GND" if pin in GROUND else SUPPLY[pin]


def _wires(profile: Profile) -> list[tuple[Pin, str]]:
    """Every line that a wire goes to, and what is at its other end."""
    turned = profile.board.rotate_deg or profile.board.mirror
    kind = "wired " if turned else ""
    matrix = profile.matrix
    wires = [(pin, f"{kind}row {at}") for at, pin in enumerate(matrix.row_pins, 1)]
    wires += [(pin, f"{kind}column {chr(ord('a') + at)}") for at, pin in enumerate(matrix.column_pins)]
    if profile.leds.driver in ON_HEADER:
        wires.append((pins.parse(profile.leds.pin), "LED data"))
    extras: list[tuple[Written | None, str]] = [
        (profile.buttons.start, "start button"),
        (profile.buzzer.pin, "buzzer"),
    ]
    return wires + [(pins.parse(written), use) for written, use in extras if written is not None]


def uses(profile: Profile) -> dict[int, str]:
    """What goes to each pin of the header that is used; who wants a ground gets the nearest that is free."""
    place = {bcm: pin for pin, bcm in HEADER.items()}
    used = {place[pin.bcm]: use for pin, use in _wires(profile) if pin.bcm in place}
    for pin, use in sorted(used.items()):
        if use in GROUNDED:
            free = [ground for ground in GROUND if ground not in used]
            used[min(free, key=lambda ground: abs(ground - pin))] = GROUNDED[use]
    if profile.leds.driver in ("auto", "spidev", "rpi_ws281x") and profile.leds.gpio == models.SPI_PIN:
        for bcm in pins.SPI0:
            used.setdefault(place[bcm], "(taken by SPI)")
    return used


def elsewhere(profile: Profile) -> list[tuple[str, str]]:
    """Lines that are on no header of a Pi, and what goes there."""
    return [(str(pin), use) for pin, use in _wires(profile) if pin.bcm not in HEADER.values()]


def header(profile: Profile) -> list[str]:
    """The 40 pins, two a line, as they lie: what goes there, and the pin's name beside its number."""
    used = uses(profile)
    lines = []
    for left in range(1, 41, 2):
        right = left + 1
        sides = (_side(used.get(left, ""), left), _side(used.get(right, ""), right))
        lines.append(f"{sides[0][0]} {sides[0][1]:>6} {left:>2} │ {right:<2} {sides[1][1]:<6} {sides[1][0]}".rstrip())
    return lines + [f"  {line}: {use}" for line, use in elsewhere(profile)]


def _side(use: str, pin: int) -> tuple[str, str]:
    """What goes to a pin, drawn up to its name, and that name."""
    if not use:
        return " " * _SIDE, pin_name(pin)
    line = "─" * (_SIDE - len(use) - 2)
    return (f" {use} {line}" if pin % 2 else f"{line} {use}"), pin_name(pin)


def chain(profile: Profile) -> list[str]:
    """The number of each cell's (first) LED in the chain, row 1 at the bottom, and where the edge strips are."""
    board, each = profile.board, profile.leds.per_cell
    at = {cell: place * each for place, cell in enumerate(profile.chain)}
    lines = []
    for row in reversed(range(board.rows)):
        numbers = "".join(f"{at[row * board.columns + column]:5}" for column in range(board.columns))
        lines.append(f"  {row + 1:>2} {numbers}")
    lines.append("     " + "".join(f"{chr(ord('a') + column):>5}" for column in range(board.columns)))
    if each > 1:
        lines.append(f"  {each} LEDs a cell: the number is its first one's.")
    start = profile.cells * each
    for side, count in (("a", profile.edge_strips.a), ("b", profile.edge_strips.b)):
        if count:
            lines.append(
                f"  Edge of side {side}: LEDs {start} to {start + count - 1}, from that player's left to right."
            )
        start += count
    return lines


def _cell(profile: Profile) -> list[str]:
    """One contact of the matrix."""
    if profile.matrix.driver not in WIRED:
        return [f"  As the driver {profile.matrix.driver} wants it."]
    if not profile.matrix.diodes:
        return ["  column ─────── contact ─────── row", "", "  No diodes: at most two cells at once can be told apart."]
    return ["  column ─── contact ───▶│─── row", "", "  The band of the diode is towards the row."]


def _feed(profile: Profile) -> list[str]:
    """From the supply and the data line to the chain."""
    ground = next((pin for pin, use in uses(profile).items() if use == GROUNDED["LED data"]), None)
    of_pi = "GND of the Pi" + (f" (J8:{ground})" if ground else "")
    data = str(pins.parse(profile.leds.pin)) if profile.leds.driver in ON_HEADER else "data"
    return [
        f"  supply 5 V, {_amps(profile)} A",
        "    +  ─────┬─────────┬──────── 5V of the LEDs",
        f"            │         └──────── VCC of the {SHIFTER}",
        "         1000 uF",
        f"            │         ┌──────── GND of the {SHIFTER}, and its enable pin",
        "    -  ─────┴─────────┼──────── GND of the LEDs",
        f"                      └──────── {of_pi}",
        "",
        f"  {data} ─── {SHIFTER} ─── 330 to 470 Ω ─── data in of LED 0",
    ]


def _amps(profile: Profile) -> str:
    return f"{profile.power.supply_ma / 1000:g}"


def parts(profile: Profile) -> list[Part]:
    """What to buy, the wire apart."""
    kind = {"ws2812b": "WS2812B", "ws2812b-v5": "WS2812B-V5"}.get(profile.power.led_type, "WS2812 or the like")
    found = [
        Part(1, "Raspberry Pi, card and its own supply", "the LEDs' supply does not feed it"),
        Part(profile.led_count, f"LED {kind}", _led_why(profile)),
        Part(profile.cells, "contact, normally open", "one a cell"),
    ]
    if profile.matrix.diodes:
        found.append(Part(profile.cells, "diode 1N4148", "one a cell, so that many fingers can be told apart"))
    found += [
        Part(
            1,
            f"supply 5 V, {_amps(profile)} A",
            f"for the LEDs; they ask for {profile.power.budget_ua / 1e6:.2g} A at most",
        ),
        Part(1, f"level shifter {SHIFTER}", "3.3 V data is too low for LEDs on 5 V; slower ones flicker"),
        Part(1, "resistor 330 to 470 Ω", "in the data line, at the first LED"),
        Part(1, "capacitor 1000 uF, 6.3 V or more", "across the LEDs' feed"),
    ]
    if profile.buttons.start is not None:
        found.append(Part(1, "push button", "start and pause, from its pin to ground"))
    if profile.buzzer.pin is not None:
        found.append(Part(1, "piezo buzzer, passive", "from its pin to ground"))
    return found


def _led_why(profile: Profile) -> str:
    strips = profile.edge_strips.a + profile.edge_strips.b
    return f"{profile.leds.per_cell} a cell" + (f" and {strips} along the edges" if strips else "")


def warnings(profile: Profile) -> list[str]:
    """What ruins a board, or an evening (cases A13, A25, A26, D1, H7, H8)."""
    found = [
        "Feed the LEDs from their own 5 V supply, not through the Pi: a bright picture would switch it off.",
        "Never feed them from the 3.3 V pins, which are not made for that current.",
        "Join the grounds of the supply, the LEDs and the Pi before anything else; without it they flicker.",
        f"Send the data through a {SHIFTER} fed with 5 V, close to the first LED.",
    ]
    if not profile.matrix.diodes and profile.matrix.driver in WIRED:
        found.append("Without diodes three fingers look like four; the board freezes what it cannot tell apart.")
    if profile.leds.driver == "rpi_ws281x" and profile.leds.gpio != models.SPI_PIN:
        found.append("The LEDs share the PWM with the sound of the headphones socket; turn that off.")
    found.append("`morbak doctor` says what is missing on the machine, `morbak map` what is wired otherwise.")
    return found
