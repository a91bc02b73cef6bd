"""The profile of a board at the end of a cable, from what it says of itself. Pure."""

from __future__ import annotations

from hal.errors import PartError
from hal.link import DIODES, HEADER_BYTES, LONGEST, Welcome
from hal.profile import BoardSection, LedsSection, MatrixSection, PowerSection, Profile
from hal.wiring import EdgeStripsSection

DRIVER = "serial"
_COLOURS = ("RGB", "RBG", "GRB", "GBR", "BRG", "BGR")
# A frame with its number and CRC is one message.
MOST_LEDS = (LONGEST - HEADER_BYTES - 4) // 3
# As in a profile that is written by hand.
MOST_SUPPLY_MA, MOST_LED_UA = 100_000, 100_000


def profile_of(about: Welcome, where: str) -> Profile:
    """The profile of a board that was found at `where`. Raises PartError, a sentence, for one that cannot be played."""
    if not (2 <= about.rows <= 16 and 2 <= about.columns <= 16):
        raise _refuse(where, f"{about.rows} x {about.columns} cells", "2 to 16 of each are possible")
    colours = about.colour_order.decode("ascii", "replace")
    if colours not in _COLOURS:
        raise _refuse(where, f"the colour order {colours!r}", f"one of {', '.join(_COLOURS)} is wanted")
    if len(about.lights) > MOST_LEDS:
        raise _refuse(where, f"{len(about.lights)} LEDs", f"{MOST_LEDS} are what a frame can have")
    if not 0 < about.supply_ma <= MOST_SUPPLY_MA:
        raise _refuse(where, f"a supply of {about.supply_ma} mA for its LEDs", f"1 to {MOST_SUPPLY_MA} mA are possible")
    if (most_ua := max(about.idle_ua, about.red_ua, about.green_ua, about.blue_ua)) > MOST_LED_UA:
        raise _refuse(where, f"an LED that draws {most_ua} uA", f"at most {MOST_LED_UA} uA are possible")
    cells, strips = about.rows * about.columns, about.strip_a + about.strip_b
    per_cell, odd = divmod(len(about.lights) - strips, cells)
    chain = about.lights[: cells * per_cell : per_cell] if per_cell > 0 else ()
    profile = Profile(
        where,
        BoardSection(name=plain(about.name) or "board", rows=about.rows, columns=about.columns),
        MatrixSection(driver=DRIVER, diodes=bool(about.flags & DIODES), scan_hz=max(1, about.scan_hz)),
        LedsSection(driver=DRIVER, per_cell=max(per_cell, 1), colour_order=colours),
        PowerSection(
            supply_ma=about.supply_ma,
            budget_pct=100,
            channel_ma=(about.red_ua / 1000, about.green_ua / 1000, about.blue_ua / 1000),
            idle_ma=about.idle_ua / 1000,
            model_scale_pct=100,
        ),
        chain,
        edge_strips=EdgeStripsSection(a=about.strip_a, b=about.strip_b),
    )
    if odd or sorted(chain) != list(range(cells)) or profile.lights != about.lights:
        raise _refuse(where, f"{len(about.lights)} LEDs", "each cell wants as many of its own, before the edge strips'")
    if profile.power.budget_ua < profile.visible_ua:
        raise _refuse(
            where,
            f"a supply of {about.supply_ma} mA for its LEDs",
            f"{profile.led_count} LEDs at the lowest visible level draw {profile.visible_ua / 1000:.0f} mA",
        )
    return profile


def plain(text: str) -> str:
    """What a board says of itself, fit to be shown and logged: one short line that steers no terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:80])


def _refuse(where: str, what: str, rule: str) -> PartError:
    return PartError(f"the board at {where} says it has {what}: {rule}; mend its configuration")
