"""A board made of a key matrix and an LED chain: edges in, frames out, and the health of both.

Where the hops meet: lines -> scan -> debounce on the way in, pixels -> limiter -> LEDs on the way out.
"""

from __future__ import annotations

import contextlib

from hal.bounces import Bounces
from hal.buttons import ButtonWatch
from hal.debounce import Debounce
from hal.errors import PartError
from hal.matrix import Scanner
from hal.noise import Noise, Noisy
from hal.pixels import Limiter, Pixels
from hal.ports import Buttons, Capabilities, Leds, Lines, Measures, Note, Part, Scan, Sounder
from hal.profile import Profile
from hal.supply import Supply

# How often the machine is asked for its voltage, and for how long after a sag light stays at half of its current: a
# supply that sags at full light would sag again at once.
SUPPLY_PERIOD_US = 1_000_000
SUPPLY_HELD_US = 60_000_000
# After power-up lines settle, libraries report resting levels as edges and hands are still on the board (cases C13,
# D25, D27): for this long nothing is heard.
DEAF_US = 500_000


class MatrixBoard:
    """Implements `Board` on `Lines` and `Leds`; a part that fails is named in `health` until it works again.

    For `deaf_us` from the first scan that succeeds contacts are read, but count for nothing and nothing is known.
    """

    def __init__(
        self,
        profile: Profile,
        lines: Lines,
        leds: Leds,
        supply: Supply | None = None,
        buttons: Buttons | None = None,
        sounder: Sounder | None = None,
        *,
        deaf_us: int = 0,
    ) -> None:
        board, strips = profile.board, (profile.edge_strips.a, profile.edge_strips.b)
        self.capabilities = Capabilities(board.name, board.rows, board.columns, sounder is not None, strips)
        self._buttons, self._sounder = buttons, sounder
        self._watch = ButtonWatch(buttons) if buttons is not None else None
        self._faults: dict[str, PartError] = {}
        self._profile, self._lines, self._leds = profile, lines, leds
        matrix = profile.matrix
        turned = profile.turned
        self._scanner = Scanner(lines, *board.wired, diodes=matrix.diodes, turned=turned)
        self._noise = Noise(*board.wired, turned)
        self._bounces = Bounces()
        self._deaf_us, self._hears_us = deaf_us, None if deaf_us else 0
        self._debounce = Debounce(matrix.press_us, matrix.release_us)
        self._scan_period_us, self._idle_period_us = matrix.scan_period_us, matrix.idle_period_us
        self._known_us = self._debounce.known_us(0)
        self._pixels, self._limiter = Pixels(profile), Limiter(profile)
        self._limit = self._limiter.start
        self._sent = bytes(3 * profile.led_count)
        self.dimmed = False
        self._supply = supply if supply is not None and supply.known else None
        self._asked_us: int | None = None
        self._sagged_us: int | None = None
        self._low, self._sags = False, 0
        self._matrix_fault: PartError | None = None
        self._leds_fault: PartError | None = None

    def scan(self, t_us: int) -> Scan:
        """One pass over the contacts at `t_us`. Never raises: a matrix that fails shows in `health`.

        While it fails there are no edges and nothing more is known.
        """
        try:
            mask, ghosts = self._scanner.step(self._debounce.accepted)
        except PartError as fault:
            self._matrix_fault = fault
            period_us = self._scan_period_us if self._debounce.accepted else self._idle_period_us
            return Scan(t_us, (), 0, self._known_us, period_us, self._pressed(t_us))
        self._matrix_fault = None
        if self._hears_us is None:
            self._hears_us = t_us + self._deaf_us
        if t_us < self._hears_us:
            return Scan(t_us, (), 0, self._known_us, self._scan_period_us)
        edges = self._debounce.step(t_us, mask)
        self._known_us = self._debounce.known_us(t_us)
        self._noise.step(t_us, mask, edges)
        if edges or mask != self._bounces.mask:
            self._bounces.step(t_us, mask, edges)
        touched = mask or ghosts or self._debounce.accepted
        period_us = self._scan_period_us if touched else self._idle_period_us
        return Scan(t_us, edges, ghosts, self._known_us, period_us, self._pressed(t_us))

    def _pressed(self, t_us: int) -> frozenset[str]:
        if self._watch is None:
            return frozenset()
        try:
            pressed = self._watch.step(t_us)
        except PartError as fault:
            self._faults["buttons"] = fault
            return frozenset()
        if pressed is None:
            return frozenset()
        self._faults.pop("buttons", None)  # they have been read
        return pressed

    def tone(self, notes: tuple[Note, ...], volume_pct: int) -> None:
        """Begin to play, where there is a sounder. Never raises: one that fails shows in `health`."""
        if self._sounder is None:
            return
        try:
            self._sounder.play(notes, volume_pct)
        except PartError as fault:
            self._faults["sound"] = fault
        else:
            self._faults.pop("sound", None)

    def show(self, frame: bytes, t_us: int) -> bool:
        """Put a frame (rows x columns x 3 bytes, sRGB, cell order) on the LEDs, within the supply's current.

        Never raises for LEDs that fail: that shows in `health`, and the next frame tries again. They may have lost
        power meanwhile, so their current then ramps up as from the start.
        """
        wanted = self._pixels.chain(frame)
        self._ask_supply(t_us)
        chain, limit = self._limiter.step(wanted, t_us, self._limit)
        self.dimmed = chain != wanted
        try:
            self._leds.write(chain)
        except PartError as fault:
            self._leds_fault, self._limit = fault, self._limiter.start._replace(halved=self._limit.halved)
            return False
        self._leds_fault, self._limit, self._sent = None, limit, chain
        return True

    def expect(self, stuck: int) -> None:
        """These cells are known to be stuck; for any thread."""
        self._scanner.expect(stuck)

    def _ask_supply(self, t_us: int) -> None:
        """Halve the current while the machine's supply sags and a while after (case H7)."""
        if self._supply is None or (self._asked_us is not None and t_us - self._asked_us < SUPPLY_PERIOD_US):
            return
        self._asked_us = t_us
        was_low, self._low = self._low, self._supply.low()
        if self._low:
            self._sagged_us = t_us
            self._sags += not was_low
        halved = self._sagged_us is not None and t_us - self._sagged_us < SUPPLY_HELD_US
        self._limit = self._limit._replace(halved=halved)

    @property
    def brightness_pct(self) -> int:
        """At how much of full all light shows; at first what the profile says."""
        return self._pixels.brightness_pct

    def dim(self, brightness_pct: int) -> None:
        """Show all light at `brightness_pct` of full, 5 to 100, from the next frame on; for the LEDs' thread."""
        self._pixels.dim(brightness_pct)

    def wire(self) -> bytes:
        """What the LEDs got last: rows x columns x 3 bytes RGB in cell order, linear wire values, limiter applied."""
        return self._pixels.cells(self._sent)

    def health(self) -> dict[str, Part]:
        """The state of `matrix` and `leds`, and of `power`, `buttons` and `sound` where there are such."""
        health = {"matrix": self._matrix_health(), "leds": self._leds_health()}
        if self._supply is not None:
            health["power"] = self._power_health()
        for name, part in (("buttons", self._buttons), ("sound", self._sounder)):
            if part is not None:
                fault = self._faults.get(name)
                health[name] = Part(True, "ok") if fault is None else Part(False, f"the {name}: {fault}")
        return health

    def measures(self) -> Measures:
        """What the LEDs ask for, how often the voltage sagged, how long contacts bounce."""
        return Measures(
            self._limiter.current_ma(self._sent),
            self._profile.power.budget_ua / 1000,
            None if self._supply is None else self._sags,
            self._bounces.longest_us(),
        )

    def _matrix_health(self) -> Part:
        if self._matrix_fault is not None:
            return Part(False, f"the contacts do not answer: {self._matrix_fault}")
        if (noisy := self._noise.noisy()) is not None:
            return Part(False, self._noisy_text(noisy))
        diodes = "with" if self._profile.matrix.diodes else "without"
        return Part(True, f"{self.capabilities.rows} x {self.capabilities.columns} contacts {diodes} diodes")

    def _noisy_text(self, noisy: Noisy) -> str:
        matrix = self._profile.matrix
        lines = [
            f"{what} {at + 1}" + (f", {pins[at]}," if pins else "")
            for what, at, pins in (("row", noisy.row, matrix.row_pins), ("column", noisy.column, matrix.column_pins))
            if at is not None
        ]
        where = f"the contact of {' and '.join(lines)}" if len(lines) == 2 else lines[0]
        return (
            f"{where} is noisy: {noisy.contacts} contacts in a second that nobody made; "
            "look at its solder joints, keep its wire off the LEDs' and give it a pull-up of 4.7 kOhm"
        )

    def _leds_health(self) -> Part:
        if self._leds_fault is not None:
            return Part(False, f"the LEDs do not answer: {self._leds_fault}")
        budget = f"{self._profile.led_count} LEDs, at most {self._profile.power.budget_ua / 1000:.0f} mA"
        about = getattr(self._leds, "about", "")  # what a driver says of itself, such as which one "auto" has picked
        return Part(True, f"{budget}; {about}" if about else budget)

    def _power_health(self) -> Part:
        if self._limit.halved:
            return Part(
                False, "the supply's voltage sags, so light is at half of its current: use a stronger 5 V supply"
            )
        return Part(True, "the supply's voltage holds" + (" again" if self._sagged_us is not None else ""))

    def close(self) -> None:
        """Leave the LEDs dark and the lines at rest, each even if the other fails. Raises PartError if one does."""
        with contextlib.ExitStack() as parts:
            for part in (self._sounder, self._buttons, self._lines):
                if part is not None:
                    parts.callback(part.close)
            self._leds.close()
            self._sent = bytes(3 * self._profile.led_count)
