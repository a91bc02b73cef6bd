"""What the table hands to the lights: an immutable picture of everything that may shine, with its times.

Every time is in microseconds of the board's clock, so that `lights` is pure in time: the same snapshot at the same
`t_us` gives the same frame. A snapshot changes when something happens, never because time passes.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Side = Literal["a", "b"]
Phase = Literal["attract", "lobby", "play", "paused", "menu", "result", "safe"]
Scene = Phase | Literal["replay"]

# WCAG 2.3.1 allows three flashes in any second; rises of one cell at least this far apart keep to it with margin.
RISE_GAP_US = 340_000


class Touch(NamedTuple):
    """The answer of a cell to a finger, from the first contact on (a preview).

    `rise_us`: when its light rises. `full_us`: when a hold is complete, so the light fills until then; None where
    nothing is to be held. `until_us`: when the light goes out; None while the finger is down. `side`: whose action
    the touch may become, in his colour even if the turn changes meanwhile; None is answered in white.
    """

    cell: int
    rise_us: int
    full_us: int | None
    until_us: int | None
    side: Side | None


class Pattern(NamedTuple):
    """A pattern on one cell that starts at `start_us` and runs once: `refused` (1 s), or `hold` (0.7 s) for `side`."""

    cell: int
    kind: Literal["refused", "hold"]
    start_us: int
    side: Side | None = None


class MenuLight(NamedTuple):
    """A cell of the menu that means something to `side`; `chosen` is what is asked or set, `asked` wants an answer.

    `pale`: it belongs to another group of choices than its neighbour, and shines paler. In the lobby of a series: a
    game that `side` has won (`chosen`), drawn (`pale`) or that is still to be played.
    """

    cell: int
    side: Side
    chosen: bool
    asked: bool
    pale: bool = False


class Countdown(NamedTuple):
    """A time that ends by itself: the last seconds before a board falls asleep, or while it is wiped."""

    start_us: int
    end_us: int


class Pips(NamedTuple):
    """The pools and neutralisations left to a and b, shown on their edges until `until_us`."""

    pools: tuple[int, int]
    neutralisations: tuple[int, int]
    until_us: int


class Rails(NamedTuple):
    """What both sides have left: special moves of `pool`, and at `since_us` time of `total_us` (None: no limit).

    `running`: whose clock runs since then.
    """

    mover: Side | None
    pools: tuple[int, int]
    pool: int
    left_us: tuple[int | None, int | None]
    total_us: int | None
    running: Side | None
    since_us: int


class Snapshot(NamedTuple):
    """Everything that may shine.

    `cells`: 49 characters in cell order a1 b1 .. g7, as in the position text. `phase_us`: when the phase began.
    `mover`: whose turn it is. `last_cell`, `last_us`: the last action, for its bloom. `low_us`, `urgent_us`: from
    when on the mover is short of time, and very short. `starter`: who starts, once it is decided; `lot_us`: when
    the lot's light began (None before it, and in a rematch, which has no lot). `winner`: the side that won, None
    for a draw and before the end. `line`: the cells of all completed lines. `ghosts`, `ghosts_us`: ambiguous cells
    and since when; `ghosts_until_us`: until when they show after they are gone (None: they are there). `fault_us`:
    since when a part has failed. `menu`: the cells of an open menu, or the score before a game; `asked_us`: since when
    one of them wants an answer. `pips`: what is left to both sides, while it shows. `countdown`: nobody touches the
    board, and at its end the game is parked. `cleans`: the board is being wiped, and shows nothing else meanwhile.
    `rails`: what both sides have left, for boards with edge strips. In the scene `replay` the cells are those of a game
    played again.
    """

    phase: Scene = "attract"
    phase_us: int = 0
    cells: str = "." * 49
    mover: Side | None = None
    last_cell: int | None = None
    last_us: int = 0
    touches: tuple[Touch, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    low_us: int | None = None
    urgent_us: int | None = None
    starter: Side | None = None
    lot_us: int | None = None
    winner: Side | None = None
    line: tuple[int, ...] = ()
    ghosts: int = 0
    ghosts_us: int = 0
    ghosts_until_us: int | None = None
    fault_us: int | None = None
    menu: tuple[MenuLight, ...] = ()
    asked_us: int = 0
    pips: Pips | None = None
    countdown: Countdown | None = None
    cleans: Countdown | None = None
    rails: Rails | None = None
