"""Breaks one part of the firmware on purpose, for tests that must notice: `pytest -p tests.breakers`.

The environment variable MORBAK_BREAK names the break, one of the functions below; each does to a production class
what a slip of the hand could do to its source. No production code knows of it.
"""

# ruff: noqa: ARG005 - what replaces a method takes its arguments, and leaves out what the method would have done

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

import msgspec

from firmware import journal_lines, kept_file, previews, table
from firmware.app import ScanThread
from firmware.clock import Clocks
from firmware.course import Course
from firmware.game import Game
from firmware.games import morbak
from firmware.gesture import Gesture
from firmware.keeper import Keeper
from firmware.menu import Menu
from firmware.web import touches
from hal import matrix, ws2812
from hal.board import MatrixBoard
from hal.debounce import Debounce
from hal.pixels import Limiter, LimiterState, Pixels
from hal.ports import Edge, Scan

BREAKS: dict[str, Callable[[], None]] = {}


def _break(apply: Callable[[], None]) -> Callable[[], None]:
    BREAKS[apply.__name__] = apply
    return apply


def _wrap(owner: Any, name: str, around: Callable[..., Any]) -> None:
    """Replace a method or function; `around` gets the original first."""
    original = getattr(owner, name)

    def replaced(*args: Any, **kwargs: Any) -> Any:
        return around(original, *args, **kwargs)

    setattr(owner, name, replaced)


# -- hops 1 to 4: edges ------------------------------------------------------------------------------------------------


@_break
def debouncer_gone() -> None:
    """Every opening of a bouncing contact is a release."""
    _wrap(Debounce, "__init__", lambda init, self, press_us, release_us: init(self, 0, 0))


@_break
def debouncer_slow() -> None:
    """A press counts only once it has lasted for 5 ms."""
    _wrap(Debounce, "__init__", lambda init, self, press_us, release_us: init(self, 5_000, release_us))


@_break
def edges_stamped_when_handled() -> None:
    """An edge's time is that of the scan that made it certain."""

    def step(original: Any, self: Debounce, t_us: int, mask: int) -> tuple[Edge, ...]:
        return tuple(edge._replace(t_us=t_us) for edge in original(self, t_us, mask))

    _wrap(Debounce, "step", step)


@_break
def ghost_check_gone() -> None:
    """On a matrix without diodes every reading is believed."""
    _wrap(matrix, "ghosts", lambda original, mask, columns: 0)


@_break
def edges_lost_in_the_queue() -> None:
    """The queue keeps the latest scan only, as that of the LEDs does."""

    def queue_up(original: Any, self: ScanThread, scan: Scan) -> None:
        if scan.edges:
            self._queue.clear()
        original(self, scan)

    _wrap(ScanThread, "_queue_up", queue_up)


@_break
def losses_untold() -> None:
    """Edges that find the queue full are dropped in silence."""

    def queue_up(original: Any, self: ScanThread, scan: Scan) -> None:
        lost = self._engine.lost_edges
        original(self, scan)
        self._engine.lost_edges = lost

    _wrap(ScanThread, "_queue_up", queue_up)


# -- hop 5: touches ----------------------------------------------------------------------------------------------------


@_break
def guard_gone() -> None:
    """A quick second tap plays the opponent's move."""
    _wrap(Gesture, "guard", lambda original, self, until_us: None)


@_break
def dead_fingers_live() -> None:
    """Fingers that are down when the turn changes go on counting."""
    _wrap(Gesture, "kill", lambda original, self, t_us: [])


@_break
def noise_accepted() -> None:
    """A contact of a few milliseconds is a tap."""

    def init(original: Any, self: Gesture, times: Any, guard_until_us: int = 0) -> None:
        original(self, times._replace(tap_min_us=0), guard_until_us)

    _wrap(Gesture, "__init__", init)


@_break
def second_cell_ignored() -> None:
    """Two cells at once do not cancel each other."""
    _wrap(Gesture, "_spoil", lambda original, self, t_us: [])


@_break
def hold_too_short() -> None:
    """A hold is complete after half its time."""

    def init(original: Any, self: Gesture, times: Any, guard_until_us: int = 0) -> None:
        original(self, times._replace(hold_us=times.hold_us // 2), guard_until_us)

    _wrap(Gesture, "__init__", init)


@_break
def resting_hand_blocks() -> None:
    """A cell that stays down never leaves the gesture."""

    def init(original: Any, self: Gesture, times: Any, guard_until_us: int = 0) -> None:
        original(self, times._replace(leave_us=1 << 60), guard_until_us)

    _wrap(Gesture, "__init__", init)


# -- hop 6: the table --------------------------------------------------------------------------------------------------


@_break
def deadlines_do_not_wait() -> None:
    """A limit is judged when the scan reaches it, before the releases up to then are known."""
    _wrap(Debounce, "known_us", lambda original, self, t_us: t_us)


@_break
def limits_beat_actions() -> None:
    """What is finished in the very microsecond of a limit is too late."""

    def advance(original: Any, self: table.Table, known_us: int) -> None:
        while (t_us := self.due_us) is not None and t_us <= known_us:
            limit_us = min((limit_us for limit_us, _ in self._deadlines()), default=None)
            if limit_us == t_us:
                self._time_up(t_us)
            else:
                original(self, t_us if limit_us is None else min(t_us, limit_us - 1))
        original(self, known_us)

    _wrap(table.Table, "advance", advance)


@_break
def preview_waits() -> None:
    """A cell lights when its press is judged, not when it is felt."""

    def light(original: Any, self: table.Table, cell: int, t_us: int) -> None:
        if self.gesture._live.get(cell) == t_us:
            original(self, cell, t_us)

    _wrap(table.Table, "_light", light)


@_break
def refusal_code_wrong() -> None:
    """A permuted cell of one's own is refused as a blocked one."""

    def refuse(original: Any, self: table.Table, code: str, cell: int, t_us: int) -> None:
        original(self, "own_blocked" if code == "own_permuted" else code, cell, t_us)

    _wrap(table.Table, "_refuse", refuse)


@_break
def clock_never_runs_out() -> None:
    """Nobody is ever out of time."""
    Clocks.deadline = property(lambda self: None)  # type: ignore[assignment, method-assign]


@_break
def winner_starts() -> None:
    """The rematch is started by the side that won."""

    def new_game(original: Any, self: table.Table, starter: str) -> None:
        original(self, starter if self.game is None else {"a": "b", "b": "a"}[starter])

    _wrap(table.Table, "_new_game", new_game)


@_break
def turn_kept() -> None:
    """A time-out does not change the turn."""
    _wrap(morbak, "pass_turn", lambda original, state: state)


@_break
def waking_touch_plays() -> None:
    """The touch that ends the countdown of a game left alone is a move."""
    _wrap(table.Table, "_drowsy", lambda original, self, t_us: False)


@_break
def parked_game_lost() -> None:
    """A game nobody comes back to within 2 min is dropped."""
    _wrap(Course, "_left_alone", lambda original, self, t_us: self._vacate(t_us))


@_break
def consent_to_oneself() -> None:
    """Whoever asks for something may agree to it himself."""
    _wrap(Menu, "answers", lambda original, self, cell: original(self, cell) or self.asks(cell))


@_break
def takeback_keeps_pools() -> None:
    """A takeback drops the moves, and leaves the position as it is."""

    def take_back(original: Any, self: Game, t_us: int) -> bool:
        state = self.state
        done = bool(original(self, t_us))
        self.state = state
        return done

    _wrap(Game, "take_back", take_back)


# -- what a power cut leaves -------------------------------------------------------------------------------------------


@_break
def commit_not_awaited() -> None:
    """The next action is judged while the last one is still on its way to the disk."""
    _wrap(Keeper, "waits", lambda original, self, t_us: False)


@_break
def clock_not_saved() -> None:
    """A clock that runs is saved with the next action only."""
    _wrap(Keeper, "beat", lambda original, self, t_us: None)


@_break
def result_played_on() -> None:
    """A result that a restart finds counts as a game to be gone on with."""

    def resume(original: Any, self: Course, game: Game, match: Any, number: int, t_us: int) -> None:
        game.ending = None
        original(self, game, match, number, t_us)

    _wrap(Course, "resume", resume)


@_break
def checksums_ignored() -> None:
    """Whatever can be read of a line of the journal is believed."""

    def read(original: Any, head: Any, text: bytes) -> Any:
        with contextlib.suppress(ValueError):
            return msgspec.json.decode(text, type=journal_lines.Entry)
        return None

    _wrap(journal_lines, "_entry", read)


@_break
def written_in_place() -> None:
    """A kept file is written over itself, without a copy."""
    _wrap(kept_file.KeptFile, "write", lambda original, self, data: self.path.write_bytes(data))


# -- hop 7: the rules --------------------------------------------------------------------------------------------------


@_break
def line_unseen() -> None:
    """Four in a falling diagonal do not win."""

    def completed(original: Any, colour: int) -> int:
        falling = colour & colour >> 6 & colour >> 12 & colour >> 18
        return 0 if falling else int(original(colour))

    _wrap(morbak, "completed", completed)


# -- hops 8 to 11: light -----------------------------------------------------------------------------------------------


@_break
def rise_gap_ignored() -> None:
    """A cell lights up again as soon as it is touched."""
    _wrap(previews.Previews, "_free_us", lambda original, self, cell, t_us: t_us)


@_break
def limiter_gone() -> None:
    """Every frame gets the current it asks for."""
    _wrap(Limiter, "step", lambda original, self, chain, t_us, state: (chain, LimiterState(t_us, 0)))


@_break
def ramp_gone() -> None:
    """Current may jump to the budget from one frame to the next."""

    def step(original: Any, self: Limiter, chain: bytes, t_us: int, state: LimiterState) -> Any:
        return original(self, chain, t_us, state._replace(ramp=1 << 60))

    _wrap(Limiter, "step", step)


@_break
def leds_off_by_one() -> None:
    """Each cell's light goes to the next LED of the chain."""
    _wrap(Pixels, "chain", lambda original, self, frame: (chain := original(self, frame))[-3:] + chain[:-3])


@_break
def colours_swapped() -> None:
    """Red and green change places on the wire."""
    _wrap(Pixels, "chain", lambda original, self, frame: original(self, frame[1:] + frame[:1]))


@_break
def latch_gap_short() -> None:
    """A frame ends with the 50 us of silence of old data sheets."""
    ws2812.LATCH_US = 50


@_break
def leds_left_lit() -> None:
    """The board closes without a last dark frame."""
    _wrap(MatrixBoard, "close", lambda original, self: self._lines.close())


# -- the page ----------------------------------------------------------------------------------------------------------


@_break
def lease_never_ends() -> None:
    """A contact that a page holds stays closed although the page is gone."""
    _wrap(
        touches.Touches, "down", lambda original, self, holder, cell, lease_s=None: original(self, holder, cell, None)
    )
    _wrap(touches.Touches, "gone", lambda original, self, holder: None)


if os.environ.get("MORBAK_BREAK"):
    BREAKS[os.environ["MORBAK_BREAK"]]()
