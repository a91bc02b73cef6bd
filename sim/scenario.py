"""Scenario files: what somebody does at a board and what must come of it, as TOML that runs on every rung. Pure.

    shows = "A light needs a tap, and is refused on a cell that is lit."
    steps = [
        { start = "a" },
        { tap = "d4" },
        { expect_cells = { d4 = "a" } },
    ]

A step is a table whose one key that names a step says what it is; further keys say how. Nothing else is taken: what is
unknown, of the wrong kind or no cell is refused in one sentence with file, step, key and what is allowed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import Meta

from firmware.clock import Limits
from firmware.games import morbak
from firmware.gesture import TouchTimes
from firmware.phases import PhaseTimes

Cell = Annotated[str, Meta(pattern="^[a-g][1-7]$")]
Cells = Cell | Annotated[list[Cell], Meta(min_length=1, max_length=49)]
Ms = Annotated[int, Meta(ge=0, le=600_000)]
Side = Literal["a", "b"]
# What a cell's light is: darkness, the tide of whose turn it is, or its hue. See `scenario_player.light`.
Light = Literal["dark", "tide a", "tide b", "a", "b", "pale a", "pale b", "white", "violet", "grey", "lit"]
Phase = Literal["attract", "lobby", "play", "menu", "paused", "result", "safe"]
# Until something must have come: long, since a busy machine is slow; it takes no longer than that.
WITHIN_MS = 3_000
TAP_MS = 60


class Step(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Something done or expected; its first field is what names it in a file."""


class Start(Step):
    """Touch the board, each time for so long, until a game begins; with the lot fixed it is this side's turn."""

    start: Side
    for_ms: Ms = TAP_MS


class Press(Step):
    """Fingers come down and stay."""

    press: Cells


class Release(Step):
    """Fingers leave."""

    release: Cells


class Tap(Step):
    """A short touch, and the time after it in which a second one counts for nothing; `guarded` = false: at once on."""

    tap: Cell
    for_ms: Ms = TAP_MS
    guarded: bool = True


class Hold(Step):
    """A touch for so long; without `for_ms` as long as a scarce action wants, and a little more."""

    hold: Cell
    for_ms: Ms | None = None


class Chord(Step):
    """Fingers come down together and stay for so long."""

    chord: Annotated[list[Cell], Meta(min_length=2, max_length=49)]
    for_ms: Ms


class Wait(Step):
    """Time passes."""

    wait_ms: Ms


class WaitForLight(Step):
    """Go on as soon as cells show such light."""

    wait_for_light: dict[Cell, Light]
    within_ms: Ms = WITHIN_MS


class ExpectCells(Step):
    """Cells show such light, read back from the chain."""

    expect_cells: dict[Cell, Light]
    within_ms: Ms = WITHIN_MS


class ExpectPosition(Step):
    """The position on the table, in the text of the rules."""

    expect_position: str
    within_ms: Ms = WITHIN_MS


class ExpectMoves(Step):
    """Every action of the game so far, such as "d4 xd4"; "" for none."""

    expect_moves: str
    within_ms: Ms = WITHIN_MS


class ExpectPhase(Step):
    """What the board is doing."""

    expect_phase: Phase
    within_ms: Ms = WITHIN_MS


class ExpectRefused(Step):
    """The last touch was refused, by the code of this rule, on this cell."""

    expect_refused: str
    on: Cell
    within_ms: Ms = WITHIN_MS


class ExpectResult(Step):
    """The game is over, and why."""

    expect_result: Literal["a", "b", "draw"]
    by: Literal["line", "stalemate", "time", "resignation", "agreement"]
    within_ms: Ms = WITHIN_MS


class ExpectClocks(Step):
    """A clock runs, or both stand."""

    expect_clocks: Literal["run", "stand"]
    within_ms: Ms = WITHIN_MS


class ExpectThought(Step):
    """Since the cable was pulled out last, both clocks together have lost at most so much."""

    expect_thought_ms: Ms


class ExpectMasked(Step):
    """Exactly these cells count for nothing, as they are stuck or out of use."""

    expect_masked: list[Cell]
    within_ms: Ms = WITHIN_MS


class ExpectPart(Step):
    """A part of the board (`link`, `matrix`, `leds`, `cells`) works or does not, as its health tells."""

    expect_part: str
    works: bool
    within_ms: Ms = WITHIN_MS


class Faults(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """What is wrong with the board from now on; what is not named stays as it is.

    `stuck`, `dead`: cells. `bounce_us`: how long contacts bounce. `noise_ms`: for so long every byte on the
    cable is replaced. `mute_ms`: for so long the board says nothing. `restart`: the board begins anew.
    """

    stuck: list[Cell] | None = None
    dead: list[Cell] | None = None
    bounce_us: Annotated[int, Meta(ge=0, le=100_000)] | None = None
    noise_ms: Ms | None = None
    mute_ms: Ms | None = None
    restart: bool = False

    @property
    def keys(self) -> dict[str, object]:
        """What is said, as `Jig.fault` takes it."""
        said = {name: value for name, value in msgspec.structs.asdict(self).items() if value not in (None, False)}
        return {name: frozenset(cells(value)) if isinstance(value, list) else value for name, value in said.items()}


class Fault(Step):
    """Something breaks, or is mended."""

    fault: Faults


class Unplug(Step):
    """The cable is pulled out."""

    unplug: Literal[True]


class Replug(Step):
    """The cable is put back; `as`: the board comes back under another name, or the same."""

    replug: Literal["same name", "other name"]


class Times(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How long what takes, in ms, where it is not as usual."""

    tap_min_ms: Ms | None = None
    hold_ms: Ms | None = None
    turn_guard_ms: Ms | None = None
    leave_ms: Ms | None = None
    stuck_ms: Ms | None = None
    lobby_ms: Ms | None = None
    lot_ms: Ms | None = None
    result_deaf_ms: Ms | None = None
    pips_ms: Ms | None = None
    pips_hold_ms: Ms | None = None
    menu_hold_ms: Ms | None = None
    detour_ms: Ms | None = None
    total_ms: Ms | None = None
    move_ms: Ms | None = None


# What `fast` means: as quick as a busy machine can still tell a tap from a hold.
FAST = Times(
    hold_ms=400, turn_guard_ms=50, lobby_ms=50, lot_ms=50, result_deaf_ms=100, pips_hold_ms=200, menu_hold_ms=300,
    detour_ms=300,
)  # fmt: skip
KINDS: tuple[type[Step], ...] = (
    Start, Press, Release, Tap, Hold, Chord, Wait, WaitForLight, ExpectCells, ExpectPosition, ExpectMoves, ExpectPhase,
    ExpectRefused, ExpectResult, ExpectClocks, ExpectThought, ExpectMasked, ExpectPart, Fault, Unplug, Replug,
)  # fmt: skip


class Scenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a file says. `name`: of the file.

    `shows`: a sentence. `cases`: rows of the case book. `quick`: short enough for a rung that is much slower than the
    real thing. `lot`: who begins. `diodes`: false for a board that has none. `fast`, `times`: how long touches take.
    """

    name: str
    shows: Annotated[str, Meta(min_length=10)]
    steps: tuple[Any, ...]
    cases: tuple[Annotated[str, Meta(pattern="^[A-H][0-9]+$")], ...] = ()
    quick: bool = False
    lot: Side = "a"
    rules: Literal["standard", "lite"] = "standard"
    diodes: bool = True
    fast: bool = False
    times: Times = Times()

    @property
    def touch_times(self) -> TouchTimes:
        """How long touches take."""
        return TouchTimes(**self._set(TouchTimes._fields))

    @property
    def phase_times(self) -> PhaseTimes:
        """How long phases take."""
        return PhaseTimes(**self._set(PhaseTimes._fields))

    @property
    def limits(self) -> Limits:
        """Total time and time a move."""
        return Limits(**self._set(Limits._fields))

    @property
    def pulls(self) -> bool:
        """Whether it wants a cable, to pull it out or to disturb it."""
        return any(isinstance(step, Unplug) or _disturbs(step) for step in self.steps)

    def _set(self, fields: Iterable[str]) -> dict[str, Any]:
        fast = FAST if self.fast else Times()
        said = {}
        for field in fields:
            name = field.removesuffix("_us") + "_ms"
            ms = getattr(self.times, name, None)
            if ms is None:
                ms = getattr(fast, name, None)
            if ms is not None:
                said[field] = ms * 1000
        return said


def _disturbs(step: object) -> bool:
    return isinstance(step, Fault) and bool(step.fault.noise_ms or step.fault.mute_ms or step.fault.restart)


class ScenarioError(ValueError):
    """A scenario that cannot be used: one sentence with file, step, key, and what is allowed."""


def parse(text: str, file: str) -> Scenario:
    """The scenario in a text. Raises ScenarioError."""
    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise ScenarioError(f"{file}: this is no TOML: {fault}") from fault
    fields = [field.name for field in msgspec.structs.fields(Scenario) if field.name != "name"]
    _known(file, told, fields)
    steps = told.pop("steps", None)
    if not isinstance(steps, list) or not steps:
        raise ScenarioError(f"{file}: steps = {steps!r}: a list of steps is wanted, each a table")
    lines = _lines(text)
    read = tuple(_step(_where(file, number, lines), step) for number, step in enumerate(steps, 1))
    times = told.get("times")
    if isinstance(times, dict):
        _known(f"{file}, times", times, Times.__struct_fields__)
    name = file.rpartition("/")[2].removesuffix(".toml")
    scenario: Scenario = _convert(file, {**told, "name": name, "steps": ()}, Scenario)
    return msgspec.structs.replace(scenario, steps=read)


def cells(which: str | list[str]) -> list[int]:
    """The numbers of one cell or several."""
    return [morbak.parse_cell(name) for name in ([which] if isinstance(which, str) else which)]


def named(step: Step) -> str:
    """The name of a step and what it is about, for reports."""
    name = step.__struct_fields__[0]
    return f"{name} = {getattr(step, name)!r}"


def _step(where: str, told: object) -> Step:
    names = {kind.__struct_fields__[0]: kind for kind in KINDS}
    if not isinstance(told, dict):
        raise ScenarioError(f'{where}: {told!r} is no table; write a step as {{ tap = "d4" }}')
    named = [key for key in told if key in names]
    if len(named) != 1:
        what = "no step is named" if not named else f"{' and '.join(named)} are two steps"
        shown = ", ".join(told) or "nothing"
        raise ScenarioError(f"{where}: {what} by its keys ({shown}); one of these is wanted: {', '.join(names)}")
    kind = names[named[0]]
    _known(f"{where} ({named[0]})", told, kind.__struct_fields__)
    if kind is Fault and isinstance(told["fault"], dict):
        _known(f"{where} (fault)", told["fault"], Faults.__struct_fields__)
    step: Step = _convert(where, told, kind)
    _check(where, step)
    return step


def _check(where: str, step: Step) -> None:
    """What a struct cannot say: that positions and actions can be read."""
    try:
        if isinstance(step, ExpectPosition):
            morbak.parse_position(step.expect_position)
        elif isinstance(step, ExpectMoves):
            for action in step.expect_moves.split():
                morbak.parse_action(action)
    except morbak.UnreadableText as fault:
        raise ScenarioError(f"{where}: {step.__struct_fields__[0]}: {fault}") from fault


def _known(where: str, told: dict[str, Any], allowed: Iterable[str]) -> None:
    names = list(allowed)
    for key in told:
        if key not in names:
            raise ScenarioError(f"{where}: {key}: there is no such key here; allowed are {', '.join(names)}")


def _convert(where: str, told: dict[str, Any], kind: Any) -> Any:
    """Each key on its own, so that it can be named."""
    values = {}
    for field in msgspec.structs.fields(kind):
        if field.encode_name not in told:
            if field.required:
                raise ScenarioError(f"{where}: {field.name}: this key must be given")
            continue
        value = told[field.encode_name]
        try:
            values[field.name] = msgspec.convert(value, field.type)
        except msgspec.ValidationError as fault:
            raise ScenarioError(f"{where}: {field.name} = {value!r}: {_wanted(field.type, fault)}") from fault
    return kind(**values)


def _wanted(kind: Any, fault: msgspec.ValidationError) -> str:
    """What is allowed in place of a value."""
    if kind in (Cell, Cells) or (get_origin(kind) is list and get_args(kind) == (Cell,)):
        return "cells are a1 to g7, several in a list"
    if "`key`" in str(fault):  # of a table, where every one is a cell
        return "cells are a1 to g7"
    plain = get_args(kind)[1] if get_origin(kind) is dict else kind
    choices = get_args(plain) if get_origin(plain) is Literal else ()
    return f"{fault}" + (f"; allowed are {', '.join(map(repr, choices))}" if choices else "")


def _lines(text: str) -> list[int]:
    """The line of each step, as far as a step begins its own line with a brace or is a table of its own."""
    return [at for at, line in enumerate(text.splitlines(), 1) if re.match(r"\s*(\{|\[\[\s*steps\s*\]\])", line)]


def _where(file: str, number: int, lines: list[int]) -> str:
    line = f", line {lines[number - 1]}" if number <= len(lines) else ""
    return f"{file}{line}, step {number}"
