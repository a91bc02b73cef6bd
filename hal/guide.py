"""A guided walk over a board: one thing is asked after the other, and a finger or a typed line answers it. Pure.

A script is a generator that yields `Ask` and gets an `Answer`. `Guide` steps it: scans with their times go in, and
`show` is what the LEDs should show meanwhile. Masks are whatever the caller scans: places of the wiring, or cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable
from typing import Generic, Literal, NamedTuple, TypeVar

# A contact that has been at rest for so long has done with bouncing: the worst ever reported is 47 ms.
QUIET_US = 50_000
# A place that stays closed for so long belongs to the touch; what is shorter is a bounce or a glitch (case C13).
HELD_US = 8_000
# Whoever touches a cell has lifted the finger by then: a contact that is closed still does not open again.
LONGEST_US = 5_000_000
# How long somebody has for one touch or one answer.
PATIENCE_US = 30_000_000
# At rest this many moves of one place in a second and more are no finger's that strayed there.
NOISY_MOVES = 20


class Touch(NamedTuple):
    """One touch: when its first contact was, the `places` that it held closed, and how they bounced.

    `bounces_us`: how long the press and the release bounced for certain, by place; None for what was too short to tell
    them apart. `broken`: places that opened while they were held. `lifted`: everything opened again. `lit_us`: from
    first contact until the answering light, None where none was seen.
    """

    t_us: int
    places: int
    bounces_us: dict[int, tuple[int, int] | None]
    broken: int
    lifted: bool
    lit_us: int | None = None


class Rest(NamedTuple):
    """What contacts did while nobody touched them: the mask that was closed throughout, and moves by place."""

    closed: int
    moves: dict[int, int]

    @property
    def noisy(self) -> int:
        """The places that moved more often than any finger that strayed there."""
        return mask(place for place, moves in self.moves.items() if moves >= NOISY_MOVES)


Answer = Touch | Rest | str | None


class Ask(NamedTuple):
    """One thing that is asked.

    `rest`: wait for `wait_us` with hands off. `touch`: one touch, of the named `cells` or of what is lit. `say`: a
    typed line. `look`: nothing, for `wait_us`. A touch may always be answered by a typed line instead; the answer is
    None once `wait_us` have passed. `show` and `answer` are frames, of which the second shows while a finger is down.
    `wanted`: what a typed line should be: the name of a cell, a colour, or whether all shine in a named one.
    """

    kind: Literal["rest", "touch", "say", "look"]
    text: str
    show: bytes
    cells: tuple[int, ...] = ()
    answer: bytes | None = None
    wait_us: int = PATIENCE_US
    wanted: Literal["", "cell", "colour", "red", "green", "blue"] = ""


Result = TypeVar("Result")
Script = Generator[Ask, Answer, Result]


class Guide(Generic[Result]):
    """Steps a script; `ask` is what is asked now, None once it has ended with `result`.

    `ignored`: the places whose contacts count for nothing, since they are closed all the time.
    """

    def __init__(self, script: Script[Result]) -> None:
        self._script = script
        self.result: Result | None = None
        self.ignored = 0
        self._since_us: int | None = None
        self._last = 0
        self.ask: Ask | None = None
        self._go(None)

    @property
    def show(self) -> bytes:
        """The frame that the LEDs should show now."""
        assert self.ask is not None
        return self.ask.answer if self.ask.answer is not None and self._watch.down else self.ask.show

    def lit(self, t_us: int) -> None:
        """The answering light has shown at `t_us`."""
        self._watch.lit(t_us)

    def typed(self, line: str) -> None:
        """Somebody has typed a line, which answers a touch or a question that is asked."""
        if self.ask is not None and self.ask.kind in ("touch", "say"):
            self._go(line.strip().lower())

    def step(self, t_us: int, closed: int) -> None:
        """One scan at `t_us`."""
        if self.ask is None:
            return
        if self._since_us is None:
            self._since_us = t_us
        over = t_us - self._since_us >= self.ask.wait_us
        if self.ask.kind == "rest":
            self._rest(closed)
            if over:
                rest = Rest(self._always, dict(self._moves))
                self.ignored = rest.closed | rest.noisy
                self._go(rest)
        elif self.ask.kind == "touch":
            touch = self._watch.step(t_us, closed & ~self.ignored)
            if touch is not None:
                self.ignored |= 0 if touch.lifted else touch.places
                self._go(touch)
            elif over and not self._watch.down:  # a touch that has begun is waited for
                self._go(None)
        elif over:
            self._go(None)

    def _rest(self, closed: int) -> None:
        moved = closed ^ self._last
        self._always &= closed
        self._last = closed
        self._moves.update(bits(moved))

    def _go(self, answer: Answer) -> None:
        """Hand the answer in and take the next question."""
        try:
            self.ask = next(self._script) if self.ask is None else self._script.send(answer)
        except StopIteration as end:
            self.ask, self.result = None, end.value
        self._since_us = None
        self._watch = _Watch()
        self._always, self._last = ~0, 0
        self._moves: Counter[int] = Counter()


class _Move(NamedTuple):
    """A contact moved between two scans."""

    after_us: int
    t_us: int


class _Watch:
    """Waits for one touch from its first contact until everything has been open for a while."""

    def __init__(self) -> None:
        self._start_us: int | None = None
        self._lit_us: int | None = None
        self._mask = self._held = 0
        self._open_us: int | None = None
        self._closed_us: dict[int, int] = {}
        self._moves_us: dict[int, list[_Move]] = {}
        self._scan_us = 0

    @property
    def down(self) -> bool:
        """Whether a touch has begun and has not been found to be over."""
        return self._start_us is not None

    def lit(self, t_us: int) -> None:
        if self._start_us is not None and self._lit_us is None:
            self._lit_us = t_us - self._start_us

    def step(self, t_us: int, closed: int) -> Touch | None:
        if self._start_us is None:
            if not closed:
                return None
            self._start_us = t_us
        for place in bits(closed ^ self._mask):
            self._moves_us.setdefault(place, []).append(_Move(self._scan_us, t_us))
            self._closed_us[place] = t_us
        self._mask, self._scan_us = closed, t_us
        for place in bits(closed & ~self._held):
            if t_us - self._closed_us[place] >= HELD_US:
                self._held |= 1 << place
        if closed:
            self._open_us = None
            return self._touch(False) if t_us - self._start_us >= LONGEST_US else None
        if self._open_us is None:
            self._open_us = t_us
        if t_us - self._open_us < QUIET_US:
            return None
        if self._held:
            return self._touch(True)
        self.__init__()  # type: ignore[misc]  # nothing but a glitch
        return None

    def _touch(self, lifted: bool) -> Touch:
        assert self._start_us is not None
        bounces: dict[int, tuple[int, int] | None] = {}
        broken = 0
        for place in bits(self._held):
            trains = _trains(self._moves_us[place])
            whole = len(trains) > 1
            bounces[place] = (_length(trains[0]), _length(trains[-1])) if whole else None
            broken |= (len(trains) > 2) << place
        return Touch(self._start_us, self._held or self._mask, bounces, broken, lifted, self._lit_us)


def _trains(moves: list[_Move]) -> list[list[_Move]]:
    """Moves of a contact, parted where it was at rest."""
    trains = [[moves[0]]]
    for move in moves[1:]:
        if move.t_us - trains[-1][-1].t_us >= QUIET_US:
            trains.append([])
        trains[-1].append(move)
    return trains


def _length(train: list[_Move]) -> int:
    """How long a train has lasted for certain: a scan that came late makes no bounce longer."""
    return max(0, train[-1].after_us - train[0].t_us)


def bits(of: int) -> list[int]:
    """The numbers of the bits that are set, ascending."""
    return [at for at in range(of.bit_length()) if of >> at & 1]


def mask(places: Iterable[int]) -> int:
    """The mask with these bits."""
    return sum(1 << place for place in set(places))


def name(cell: int, columns: int) -> str:
    """A cell or place for people: column by letter, row by number."""
    row, column = divmod(cell, columns)
    return f"{chr(ord('a') + column)}{row + 1}"


def named(text: str, rows: int, columns: int) -> int | None:
    """The cell of a name; None for no name."""
    return next((cell for cell in range(rows * columns) if name(cell, columns) == text), None)
