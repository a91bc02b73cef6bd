"""The ports: what each side of the hardware seam promises the other.

`Lines` is electrical: one row selected, all columns read back. `Leds` is a data line: one whole frame in chain
order. `Board` is what the app opens, and is all that the firmware knows of hardware. Times are integers in
microseconds of one monotonic clock and are handed in by the caller; no implementation reads a clock to decide.
Cells are numbered row-major from a1: `cell = row * columns + column`. A mask is an integer with bit `cell` set.

Threads: `Board.scan` is called by one thread only, `Board.show` by one thread only; the two may differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol


class Edge(NamedTuple):
    """A finger came down on a cell, or left it.

    `t_us` is the edge's own time: for a press the scan that first saw the contact closed, for a release the scan
    that first saw it open for good. It is never the time of handling.
    """

    t_us: int
    cell: int
    down: bool


class Scan(NamedTuple):
    """What one pass over the matrix has found.

    `t_us`: when the scan began; of a board at the end of a cable, when it was read. `edges`: in the order of their own
    times. `ghosts`: mask of cells whose reading is ambiguous now (a rectangle on a matrix without diodes). `known_us`:
    every edge whose own time is at or before it has been reported, in this scan or earlier. `period_us`: how long after
    `t_us` the next scan should begin. `buttons`: the push buttons that have just been pressed, by name.
    """

    t_us: int
    edges: tuple[Edge, ...]
    ghosts: int
    known_us: int
    period_us: int
    buttons: frozenset[str] = frozenset()


class Part(NamedTuple):
    """The health of one part of the board: whether it works, and one sentence for people."""

    ok: bool
    text: str


class Measures(NamedTuple):
    """What a board measures of itself; None or nothing where it cannot.

    `current_ma`: what the LEDs ask for now, by the model of the current limit; `budget_ma`: the most they may.
    `sags`: how often the supply's voltage has sagged since the start. `bounces_us`: for each cell that was touched, how
    long its contact bounced at most in its last presses.
    """

    current_ma: float | None = None
    budget_ma: float | None = None
    sags: int | None = None
    bounces_us: Mapping[int, int] = MappingProxyType({})


class Lines(Protocol):
    """The rows and columns of a key matrix. Commanded, not electrical: active level already normalised."""

    def select(self, row: int | None) -> None:
        """Drive one row (the others high-Z), or none; returns once the columns have settled. Raises PartError."""

    def read(self) -> int:
        """All columns of the selected row at once, bit `column` set where a contact is closed. Raises PartError."""

    def close(self) -> None:
        """Leave every row high-Z. May be called twice."""


class Leds(Protocol):
    """A chain of LEDs."""

    def write(self, frame: bytes) -> None:
        """Send one whole frame, three bytes an LED, chain order and colour order already applied. Raises PartError.

        May block for the time on the wire (at most 2.1 ms for 49 LEDs); never longer.
        """

    def close(self) -> None:
        """Leave the chain dark. May be called twice."""


class Note(NamedTuple):
    """A tone, or with `hz` 0 a silence, of so many milliseconds."""

    hz: int
    ms: int


class Buttons(Protocol):
    """Push buttons."""

    def read(self) -> frozenset[str]:
        """The names of those that are pressed now, undebounced. Raises PartError."""

    def close(self) -> None:
        """Let the pins go. May be called twice."""


class Sounder(Protocol):
    """Something that makes a tone."""

    def play(self, notes: tuple[Note, ...], volume_pct: int) -> None:
        """Begin to play, in place of what plays now; returns at once. Raises PartError."""

    def close(self) -> None:
        """Be silent and let the pin go. May be called twice."""


class Clock(Protocol):
    """Monotonic time. Wall time is only ever written to records."""

    def now_us(self) -> int:
        """Microseconds since an arbitrary start; never goes back."""


class Capabilities(NamedTuple):
    """What a board is, for those above: its geometry, its name, whether it can be heard, its edge strips' LEDs."""

    name: str
    rows: int
    columns: int
    sound: bool = False
    strips: tuple[int, int] = (0, 0)


class Board(Protocol):
    """A board: edges in, frames out."""

    @property
    def capabilities(self) -> Capabilities:
        """Geometry and name; constant while the board is open."""

    @property
    def dimmed(self) -> bool:
        """The current limit holds the last frame back; sent again, it may come up further."""

    def scan(self, t_us: int) -> Scan:
        """One pass over the contacts at `t_us`. Never raises: a matrix that fails shows in `health`."""

    def show(self, frame: bytes, t_us: int) -> bool:
        """Put a frame (rows x columns x 3 bytes, sRGB as the eye should see it, cell order) on the LEDs.

        Gamma, brightness and the current limit are applied here and cannot be bypassed. Never raises: False where
        the LEDs did not take it, which shows in `health`.
        """

    def tone(self, notes: tuple[Note, ...], volume_pct: int) -> None:
        """Begin to play, where the board has something to play on. Never raises and never waits."""

    def expect(self, stuck: int) -> None:
        """These cells (a mask) are known to be stuck: what they must make of other readings is no ghost.

        For any thread.
        """

    @property
    def brightness_pct(self) -> int:
        """At how much of full all light shows; at first what the profile says."""

    def dim(self, brightness_pct: int) -> None:
        """Show all light at `brightness_pct` of full, 5 to 100, from the next frame on.

        Called by the thread that calls `show`.
        """

    def wire(self) -> bytes:
        """What the LEDs got last: rows x columns x 3 bytes RGB in cell order, linear wire values, limiter applied."""

    def health(self) -> dict[str, Part]:
        """The state of each part by name (`leds`, `matrix`, ...)."""

    def measures(self) -> Measures:
        """What the board measures of itself; for any thread."""

    def close(self) -> None:
        """Leave the LEDs dark and the lines at rest. May be called twice."""
