"""What every board must do with its light: order, colours and current as its profile says, whatever drives it.

for check in conformance_boards.boards(bench):
    check()  # raises Broken, one sentence that says what the board did wrong
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import NamedTuple

from hal.conformance import Broken
from hal.conformance_leds import Shown
from hal.pixels import Limiter
from hal.ports import Board
from hal.profile import Profile


class BoardBench(NamedTuple):
    """A board whose chain is watched: `shown` and `now_us` as in `LedBench`."""

    profile: Profile
    open: Callable[[], Board]
    shown: Callable[[], list[Shown]]
    now_us: Callable[[], int]


BoardCheck = Callable[[BoardBench], None]
# Frames in which current has risen to the budget, however soon one follows the other.
_RISE_FRAMES = 120


def boards(bench: BoardBench) -> Iterator[partial[None]]:
    """Every check of a whole board's light, ready to be called."""
    return (partial(check, bench) for check in BOARDS)


def each_cell_lights_its_own_leds(bench: BoardBench) -> None:
    """A cell in red lights the red of exactly its own LEDs, as the profile's order and colour order have it."""
    profile = bench.profile
    red = profile.leds.colour_order.index("R")
    with _board(bench) as board:
        for cell in range(profile.cells):
            board.show(bytes(3 * cell) + b"\xff\0\0" + bytes(3 * (profile.cells - cell - 1)), bench.now_us())
            lit = [at for at, value in enumerate(_last(bench)) if value]
            if lit != (wanted := [3 * at + red for at, shown in enumerate(profile.lights) if shown == cell]):
                raise Broken(f"cell {cell} in red lights bytes {lit} of the chain, {wanted} are its own")


def no_frame_asks_too_much(bench: BoardBench) -> None:
    """From the first frame on white asks for no more current than the profile's budget, and nearly all of it."""
    profile = bench.profile
    limiter, budget_ma = Limiter(profile), profile.power.budget_ua / 1000
    full_ma = limiter.current_ma(b"\xff" * (3 * profile.led_count))
    with _board(bench) as board:
        for number in range(_RISE_FRAMES):
            board.show(b"\xff" * (3 * profile.cells), bench.now_us())
            ma = limiter.current_ma(_last(bench))
            if ma > budget_ma:
                raise Broken(f"frame {number + 1} of white draws {ma:.0f} mA, the budget is {budget_ma:.0f} mA")
    if ma < 0.9 * min(full_ma, budget_ma):
        raise Broken(f"white draws {ma:.0f} mA in the end, of {min(full_ma, budget_ma):.0f} mA that it may")


def closing_leaves_the_board_dark(bench: BoardBench) -> None:
    """A board that is closed shows nothing (case A28)."""
    with _board(bench) as board:
        board.show(b"\xff" * (3 * bench.profile.cells), bench.now_us())
        board.close()
        if any(_last(bench)):
            raise Broken("a closed board is still lit")


BOARDS: tuple[BoardCheck, ...] = (
    each_cell_lights_its_own_leds,
    no_frame_asks_too_much,
    closing_leaves_the_board_dark,
)


@contextmanager
def _board(bench: BoardBench) -> Iterator[Board]:
    board = bench.open()
    try:
        yield board
    finally:
        with suppress(Exception):  # what a check has found is told, not what follows from it
            board.close()
            bench.shown()


def _last(bench: BoardBench) -> bytes:
    """What the chain shows now."""
    seen = bench.shown()
    if not seen:
        raise Broken("a frame is not shown")
    return seen[-1].frame
