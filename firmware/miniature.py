"""Miniatures: short games that play by themselves in attract, and teach by being watched (look.md, "attract").

A script is action texts; what the board shows comes from the rules. A miniature becomes a sequence of snapshots, the
same that the table would give while two people play, with its times counted from its own beginning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from firmware.games import morbak
from firmware.games.morbak import Action, Side, State
from firmware.snapshot import Snapshot, Touch

# What stands on the board when the miniature begins, a bar, and what is played; where on the board does not matter.
SCRIPTS = (
    "c3 d5 | d3 c5 e3 f3 b3",  # a line open at both ends wins
    "c3 | d3 b3 d4 e3 d5 xd3",  # a permutation breaks a line of three and completes one of four
    "c3 c5 d3 d5 | #d3 e4 e3 f3 b3",  # a block keeps the middle of a line
    "c3 c4 d3 d4 | e3 xd3 !d3 e4 f4 b4",  # permuted away, neutralised, and lost all the same
    "c4 d4 d3 e3 | xd4 #e3 !e3 e5 e4 f4 b4",  # all four actions
    "c3 c5 c4 d5 | e2 b5 xc5 c6 c2",  # a defence that becomes an attack
)

# First the weather gives way, and what stands there comes up in the calm; at the end it is the other way round.
RISE_US, FALL_US = 2_000_000, 2_500_000
CHANGE_US = 1_300_000
# From one action to the next finger; a scarce action is looked at a little longer.
PAUSE_US, LONG_PAUSE_US = 950_000, 1_400_000
TAP_US = 380_000
# Slower than the hold of play (800 ms), so that the filling is seen from across a room.
HOLD_US = 1_100_000
RESULT_US = 4_500_000

SYMMETRIES = 8


class Scene(NamedTuple):
    """What shows from `start_us` of the miniature on."""

    start_us: int
    snapshot: Snapshot


class Miniature(NamedTuple):
    """A game in pictures: its scenes in order of time, the cells that ever shine in it, and when it is over."""

    scenes: tuple[Scene, ...]
    cells: tuple[int, ...]
    end_us: int

    def calm(self, age_us: int) -> float:
        """How far the weather has given way, 0 to 1."""
        return max(0.0, min(1.0, age_us / CHANGE_US, (self.end_us - age_us) / CHANGE_US))

    def share(self, age_us: int) -> float:
        """How much of the game is there, 0 to 1."""
        wait_us = RISE_US - CHANGE_US
        late_us = FALL_US - CHANGE_US
        return max(0.0, min(1.0, (age_us - wait_us) / CHANGE_US, (self.end_us - late_us - age_us) / CHANGE_US))

    def scene(self, age_us: int) -> Snapshot:
        """The snapshot that shows at an age, from 0 on."""
        return next(scene.snapshot for scene in reversed(self.scenes) if scene.start_us <= age_us)


def miniature(number: int) -> Miniature:
    """The miniature of that number: a script, with either side to start, turned or mirrored, somewhere on the board.

    Successive numbers differ in all of these, so that no cell is favoured (case F8).
    """
    turn, script = divmod(number, len(SCRIPTS))
    variant = (script - turn) % (2 * SYMMETRIES)
    given, played = SCRIPTS[script].split("|")
    actions = _placed((given + played).split(), variant % SYMMETRIES, 7 * turn + 2 * script)
    state = morbak.initial(morbak.STANDARD, "a" if variant < SYMMETRIES else "b")
    for action in actions[: len(given.split())]:
        state = morbak.apply(state, action)
    scenes = tuple(_scenes(state, actions[len(given.split()) :]))
    cells = tuple(sorted({action.cell for action in actions}))
    return Miniature(scenes, cells, scenes[-1].start_us + RESULT_US + FALL_US)


def _placed(texts: list[str], symmetry: int, place: int) -> list[Action]:
    """The actions of a script turned and mirrored, then moved as a whole to one of the places where it fits."""
    at = [_turned(morbak.parse_action(text).cell, symmetry) for text in texts]
    left, bottom = (min(axis) for axis in zip(*at, strict=True))
    right, top = (max(axis) for axis in zip(*at, strict=True))
    row, column = divmod(place, morbak.SIZE - right + left)
    dx, dy = column - left, row % (morbak.SIZE - top + bottom) - bottom
    names = (morbak.cell_name((y + dy) * morbak.SIZE + x + dx) for x, y in at)
    return [morbak.parse_action(text[:-2] + name) for text, name in zip(texts, names, strict=True)]


def _turned(cell: int, symmetry: int) -> tuple[int, int]:
    """Column and row of a cell in one of the eight orientations of the board."""
    row, column = divmod(cell, morbak.SIZE)
    x = morbak.SIZE - 1 - column if symmetry & 1 else column
    y = morbak.SIZE - 1 - row if symmetry & 2 else row
    return (y, x) if symmetry & 4 else (x, y)


def _scenes(state: State, actions: list[Action]) -> Iterator[Scene]:
    shown = Snapshot(phase="play", cells=morbak.cells(state))
    t_us = RISE_US
    yield Scene(0, shown)
    for action in actions:
        scarce = action.kind != "light"
        rise_us = t_us + (LONG_PAUSE_US if scarce else PAUSE_US)
        yield Scene(rise_us, shown._replace(touches=(_touch(action.cell, rise_us, scarce, state.side),)))
        t_us = rise_us + (HOLD_US if scarce else TAP_US)
        state = morbak.apply(state, action)
        shown = _after(state, action.cell, t_us)
        yield Scene(t_us, shown)


def _touch(cell: int, rise_us: int, scarce: bool, side: Side) -> Touch:
    return Touch(cell, rise_us, rise_us + HOLD_US if scarce else None, None, side)


def _after(state: State, cell: int, t_us: int) -> Snapshot:
    shown = Snapshot("play", t_us, morbak.cells(state), last_cell=cell, last_us=t_us)
    outcome = morbak.outcome(state)
    if outcome is None or outcome.result == "draw":
        return shown
    return shown._replace(phase="result", winner=outcome.result, line=outcome.line)
