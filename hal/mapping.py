"""The guided walk of `morbak map`: how contacts and LEDs are wired, asked of whoever sits at the board. Pure.

First nothing is touched, then cells by name along two edges, then each LED lights in turn and is touched. Light goes
out in the order of the chain as it is (`plain`), contacts come in as they are wired; the cells are the person's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from hal import mapped
from hal.corners import Diodes, corners
from hal.guide import Ask, Rest, Script, Touch, bits, mask, name, named
from hal.mapped import Axes, Sample
from hal.profile import Profile

# Bright enough to be found in a lit room, and a third of what one LED may draw.
LEVEL = 150
# All LEDs at once, low: a colour is told at once and the supply hardly notices.
ALL_LEVEL = 90
REST_US = 2_000_000
# A line of cells is given up when so many of its cells do not answer.
TRIES = 3
LETTERS = {"r": "R", "g": "G", "b": "B", "red": "R", "green": "G", "blue": "B"}


@dataclass
class Told:
    """What the walk has told: masks of places as they are wired, cells as they lie.

    `stuck`, `noisy`: places. `samples`: cells that were touched by name. `unanswered`: cells whose contact did not
    answer once; `answered`: cells whose contact did when they were lit. `joined`: places that answered together, by
    mask. `unlifted`: places that did not open again. `axes`: None where too little was told. `cell_of`: the cell that
    each LED lights. `colours`: of the wire, "" where no LED lights. `diodes`: see `hal.corners`.
    """

    cell_of: list[int | None]
    stuck: int = 0
    noisy: int = 0
    samples: list[Sample] = field(default_factory=list)
    unanswered: set[int] = field(default_factory=set)
    answered: set[int] = field(default_factory=set)
    joined: set[int] = field(default_factory=set)
    unlifted: int = 0
    axes: Axes | None = None
    colours: str = ""
    diodes: Diodes = "not tried"


def plain(profile: Profile) -> Profile:
    """The profile with its LEDs in the order of the chain and their bytes in the order of the wire."""
    leds = msgspec.structs.replace(profile.leds, colour_order="RGB", balance=(1.0, 1.0, 1.0), brightness_pct=100)
    return profile._replace(leds=leds, chain=tuple(range(profile.cells)))


def mapping(profile: Profile) -> Script[Told]:
    """The walk over a board that the profile may describe wrongly, for `hal.guide.Guide`."""
    return _Mapping(profile).script()


def turned_diodes(profile: Profile, cells: Sequence[int]) -> Script[int]:
    """Which of these cells answer now that rows and columns have changed places: the mask of those with turned diodes.

    `profile`: the exchanged one.
    """
    dark, found = bytes(3 * profile.cells), 0
    yield Ask("rest", "Hands off the board for two seconds.", dark, wait_us=REST_US)
    for cell in cells:
        text = f"Touch {name(cell, profile.board.columns)} once more. (Enter: it does not answer)"
        if isinstance((yield Ask("touch", text, dark, (cell,))), Touch):
            found |= 1 << cell
    return found


class _Mapping:
    def __init__(self, profile: Profile) -> None:
        board = profile.board
        self.size, self.wired, self.count = (board.rows, board.columns), board.wired, profile.cells
        self.per_cell = profile.leds.per_cell
        self.dark = bytes(3 * self.count)
        self.told = Told([None] * self.count)
        self._once: set[int] = set()

    def script(self) -> Script[Told]:
        told = self.told
        rest = yield Ask("rest", "Hands off the board for two seconds.", self.dark, wait_us=REST_US)
        assert isinstance(rest, Rest)
        told.stuck, told.noisy = rest.closed, rest.noisy & ~rest.closed
        yield from self._edges()
        told.axes = mapped.axes(told.samples, self.size, self.wired)
        if told.axes is not None:
            yield from self._colours()
            if told.colours:
                yield from self._walk(told.axes)
            yield from self._corners(told.axes)
        return told

    # -- two edges, by name -----------------------------------------------------------------------------------------

    def _edges(self) -> Script[None]:
        """One cell of each column and of each row, as far as possible on side a's edge and the one at its left."""
        rows, columns = self.size
        lines = [[row * columns + column for row in range(rows)] for column in range(columns)]
        lines += [[row * columns + column for column in range(columns)] for row in range(1, rows)]
        for at, line in enumerate(lines):
            if at == 2 and not self.told.samples:
                return  # six cells of two columns, and none answers
            yield from self._line(line[:TRIES])

    def _line(self, cells: Iterable[int]) -> Script[None]:
        """Have cells touched until one has told where its line is."""
        for cell in cells:
            if any(sample.cell == cell for sample in self.told.samples):
                return
            if cell not in self.told.unanswered and (yield from self._sample(cell)):
                return

    def _sample(self, cell: int) -> Script[bool]:
        """Have a cell touched by name: whether one contact has answered that is no other cell's."""
        where, note = ", the corner at side a's left hand" if cell == 0 else "", ""
        taken = {sample.place for sample in self.told.samples}
        joined = 0
        for _ in range(2):
            text = f"{note}Touch {name(cell, self.size[1])}{where}. (Enter: it does not answer)"
            answer = yield Ask("touch", text, self.dark, (cell,))
            if not isinstance(answer, Touch):
                self.told.unanswered.add(cell)
                return False
            self.told.unlifted |= 0 if answer.lifted else answer.places
            joined = answer.places if answer.places.bit_count() > 1 else 0
            if joined:
                note = f"{joined.bit_count()} contacts have answered; one finger, please. "
            elif (place := bits(answer.places)[0]) in taken:
                note = "That contact has answered for another cell already. "
            else:
                self.told.samples.append(Sample(cell, place))
                return True
        if joined:
            self.told.joined.add(joined)
        return False

    # -- LEDs -------------------------------------------------------------------------------------------------------

    def _colours(self) -> Script[None]:
        """The order of the wire's colours."""
        found = ""
        for channel in (0, 1):
            frame = bytes(ALL_LEVEL * (at == channel) for at in range(3)) * self.count
            letter = ""
            for _ in range(2):
                text = "What colour do the LEDs have? r, g or b (dark: none lights)"
                answer = yield Ask("say", text, frame, wanted="colour")
                letter = LETTERS.get(answer, "") if isinstance(answer, str) else ""
                if answer == "dark" or (letter and letter not in found):
                    break
            if not letter or letter in found:
                return
            found += letter
        self.told.colours = found + ({"R", "G", "B"} - set(found)).pop()

    def _walk(self, axes: Axes) -> Script[None]:
        """Each LED lights alone, and is touched."""
        cell_at = {axes.place(cell, self.wired[1]): cell for cell in range(self.count)}
        led, note = 0, ""
        while led < self.count:
            text = f"{note}Touch the cell that is lit ({led + 1} of {self.count}; or type its name, dark, back)"
            answer = yield Ask("touch", text, self._lit(led), answer=self._lit(led), wanted="cell")
            if answer == "back":
                led, note = max(0, led - 1), ""
                continue
            cell = self._cell(answer, cell_at)
            if isinstance(answer, Touch) and cell is None:
                self._joined(answer.places)
            asked, note = note, self._doubt(answer, cell, led)
            if not note or asked:  # the same doubt twice is a fact
                self._keep(led, answer, cell)
                led, note = led + 1, ""

    def _cell(self, answer: object, cell_at: dict[int, int]) -> int | None:
        """The cell that was touched or named, if it was one."""
        if isinstance(answer, str):
            return named(answer, *self.size)
        alone = isinstance(answer, Touch) and answer.places.bit_count() == 1
        return cell_at[bits(answer.places)[0]] if alone and isinstance(answer, Touch) else None

    def _doubt(self, answer: object, cell: int | None, led: int) -> str:
        """Why an answer is asked for again; "" where it is plain."""
        earlier = self.told.cell_of[:led]
        if cell is not None and cell in earlier:
            return f"{name(cell, self.size[1])} was lit by LED {self._number(earlier.index(cell))} already. "
        if isinstance(answer, str) and cell is None and answer != "dark":
            return f"{answer!r} is no cell. "
        if isinstance(answer, Touch) and cell is None:
            return f"{answer.places.bit_count()} contacts have answered; one finger, or type its name. "
        return ""

    def _number(self, led: int) -> int:
        """What an LED is called: its place on the chain from 0, of several under a cell the first one's."""
        return led * self.per_cell

    def _keep(self, led: int, answer: object, cell: int | None) -> None:
        self.told.cell_of[led] = cell
        if isinstance(answer, str) and cell is not None and cell not in self.told.answered:
            self.told.unanswered.add(cell)
        if isinstance(answer, Touch):
            self.told.unlifted |= 0 if answer.lifted else answer.places
            self.told.answered |= set() if cell is None else {cell}

    def _joined(self, places: int) -> None:
        """Places that answered to one touch: joined once they have done so twice."""
        if places in self._once:
            self.told.joined.add(places)
        self._once.add(places)

    def _lit(self, led: int) -> bytes:
        return bytes(3 * led) + bytes([LEVEL] * 3) + bytes(3 * (self.count - led - 1))

    # -- diodes -----------------------------------------------------------------------------------------------------

    def _corners(self, axes: Axes) -> Script[None]:
        """Three corners at once, where all four answer."""
        rows, columns = self.size
        four = {0, columns - 1, (rows - 1) * columns, rows * columns - 1}
        places = mask(axes.place(cell, self.wired[1]) for cell in four)
        if not four & self.told.unanswered and not places & (self.told.stuck | self.told.noisy):
            self.told.diodes = yield from corners(self.size, lambda cell: axes.place(cell, self.wired[1]))
