"""The guided test of `morbak selftest`: every LED in every colour, every contact, as the profile has them. Pure.

Frames are those of a board (cells, sRGB) and masks are of cells, both as the profile turns them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from hal.corners import Diodes, corners
from hal.guide import Ask, Rest, Script, Touch, named
from hal.pixels import Limiter
from hal.ports import Leds
from hal.profile import Profile

# Low, where a weak data line shows first (case A25), yet above what counts as dark.
LOW = 60
LIT, PRESSED = 150, 255
COLOURS: dict[Literal["red", "green", "blue"], tuple[int, int, int]] = {
    "red": (1, 0, 0),
    "green": (0, 1, 0),
    "blue": (0, 0, 1),
}
REST_US = 3_000_000
# Full white rises to the budget and stays there for a while, which a weak supply does not like.
WHITE_US = 1_000_000
# A cell that has not answered by then is dead.
TOUCH_US = 15_000_000

State = Literal["ok", "dead", "unlit", "elsewhere", "several", "stays closed", "unsteady", "stuck"]


class Cell(NamedTuple):
    """How a cell answered to a touch: `heard` are the cells that did, `touch` how, None where none did."""

    state: State
    heard: int = 0
    touch: Touch | None = None


@dataclass
class Answers:
    """What was found. `colours`: what was said of each, "" that all is well; `diodes`: see `hal.corners`."""

    colours: dict[str, str] = field(default_factory=dict)
    rest: Rest | None = None
    cells: dict[int, Cell] = field(default_factory=dict)
    diodes: Diodes = "not tried"


class Meter:
    """LEDs that are written through it: what the model says they draw. Implements `Leds`.

    It sits below the current limit, and so sees whether there is one. `peak_ma`: the most of any frame.
    """

    def __init__(self, profile: Profile, leds: Leds) -> None:
        self._limiter, self._leds = Limiter(profile), leds
        self.peak_ma = 0.0

    def write(self, frame: bytes) -> None:
        """Send a frame on."""
        self.peak_ma = max(self.peak_ma, self._limiter.current_ma(frame))
        self._leds.write(frame)

    def close(self) -> None:
        """Leave the chain dark."""
        self._leds.close()


def selftest(profile: Profile) -> Script[Answers]:
    """The test of a board that is as its profile says, for `hal.guide.Guide`."""
    return _Selftest(profile).script()


class _Selftest:
    def __init__(self, profile: Profile) -> None:
        self.size, self.count = (profile.board.rows, profile.board.columns), profile.cells
        self.dark = bytes(3 * self.count)
        self.answers = Answers()

    def script(self) -> Script[Answers]:
        for colour, channels in COLOURS.items():
            text = (
                f"Does every cell shine {colour}, faintly? Enter: yes. Else type the cells that do not, or the colour "
                "that you see."
            )
            said = yield Ask("say", text, bytes(LOW * share for share in channels) * self.count, wanted=colour)
            self.answers.colours[colour] = said if isinstance(said, str) else "nobody"
        yield Ask(
            "look", "All cells at once, as bright as the supply allows.", b"\xff" * 3 * self.count, wait_us=WHITE_US
        )
        rest = yield Ask("rest", "Hands off the board for three seconds.", self.dark, wait_us=REST_US)
        assert isinstance(rest, Rest)
        self.answers.rest = rest
        for cell in range(self.count):
            if rest.closed >> cell & 1:
                self.answers.cells[cell] = Cell("stuck")
            else:
                yield from self._cell(cell)
        yield from self._corners()
        return self.answers

    def _cell(self, cell: int) -> Script[None]:
        """One cell lights, and is touched; what is odd is asked for once more."""
        note = ""
        for _ in range(2):
            text = f"{note}Touch the cell that is lit ({cell + 1} of {self.count}; Enter: no answer, dark: none is lit)"
            answer = yield Ask("touch", text, self._lit(cell, LIT), answer=self._lit(cell, PRESSED), wait_us=TOUCH_US)
            if not isinstance(answer, Touch):
                self.answers.cells[cell] = Cell("unlit" if answer == "dark" else "dead")
                return
            found = _judged(cell, answer)
            if found.state != "ok" or None in answer.bounces_us.values():
                note = "Once more, one finger, and hold for a moment. "
            self.answers.cells[cell] = found
            if not note or found.state == "stays closed":
                return

    def _lit(self, cell: int, level: int) -> bytes:
        return bytes(3 * cell) + bytes([level] * 3) + bytes(3 * (self.count - cell - 1))

    def _corners(self) -> Script[None]:
        """Three corners at once, where all four answer."""
        rows, columns = self.size
        four = (0, columns - 1, (rows - 1) * columns, rows * columns - 1)
        if all(self.answers.cells[cell].state == "ok" for cell in four):
            self.answers.diodes = yield from corners(self.size, lambda cell: cell)


def _judged(cell: int, touch: Touch) -> Cell:
    """What a touch that should have been one of this cell's says about it."""
    state: State = "ok"
    if not touch.lifted:
        state = "stays closed"
    elif touch.places != 1 << cell:
        state = "several" if touch.places >> cell & 1 else "elsewhere"
    elif touch.broken:
        state = "unsteady"
    return Cell(state, touch.places, touch)


def missing(said: str, size: Sequence[int]) -> list[int] | None:
    """The cells that somebody has named; None where what was said names none."""
    words = said.replace(",", " ").split()
    cells = [named(word, size[0], size[1]) for word in words]
    found = [cell for cell in cells if cell is not None]
    return found if found and len(found) == len(words) else None
