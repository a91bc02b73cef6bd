"""Scenario files: what is in the tree can be read, and whatever is wrong in one is refused in a sentence."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from firmware.clock import Limits
from firmware.gesture import TouchTimes
from firmware.phases import PhaseTimes
from sim import scenario
from sim.scenario import ScenarioError, parse

FOLDER = Path(__file__).parent / "scenarios"
FILES = sorted(FOLDER.glob("*.toml"))
HEAD = 'shows = "Something that is shown."\n'


def one(step: str, head: str = HEAD) -> scenario.Scenario:
    """A scenario of one step."""
    return parse(f"{head}steps = [\n    {step},\n]\n", "some/file.toml")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_scenarios_of_the_tree_can_be_read(file: Path) -> None:
    """Each file says in a sentence what it shows, names rows of the case book, and expects something."""
    told = parse(file.read_text(encoding="utf-8"), str(file))
    assert file.stem == told.name
    assert re.fullmatch(r"[A-Z].*\.", told.shows)
    assert [step for step in told.steps if scenario.named(step).startswith("expect_")]


def test_every_kind_of_step_is_used() -> None:
    """What the format offers is in use: no step and no key of a step is there for nothing."""
    read = [parse(file.read_text(encoding="utf-8"), str(file)) for file in FILES]
    assert set(scenario.KINDS) == {type(step) for told in read for step in told.steps}
    used = {key for told in read for step in told.steps if isinstance(step, scenario.Fault) for key in step.fault.keys}
    assert set(scenario.Faults.__struct_fields__) == used


def test_a_step_is_named_by_one_of_its_keys() -> None:
    """A tap on d4 becomes a step with that cell and the usual duration."""
    assert (scenario.Tap(tap="d4"),) == one('{ tap = "d4" }').steps
    assert "file" == one('{ tap = "d4" }').name


def test_times_are_as_usual_unless_said_otherwise() -> None:
    """Without a word about times they are the board's own; `fast` makes them short, and `times` each as it says."""
    usual = one('{ tap = "d4" }')
    assert (TouchTimes(), PhaseTimes(), Limits()) == (usual.touch_times, usual.phase_times, usual.limits)
    fast = one('{ tap = "d4" }', HEAD + "fast = true\ntimes = { hold_ms = 0, total_ms = 5_000 }\n")
    assert TouchTimes(hold_us=0, turn_guard_us=50_000) == fast.touch_times
    assert (50_000, 5_000_000) == (fast.phase_times.lobby_us, fast.limits.total_us)


def test_what_fast_means_is_of_things_that_take_time() -> None:
    """Every time that a scenario may set is one of the firmware's."""
    known = {*TouchTimes._fields, *PhaseTimes._fields, *Limits._fields}
    assert set() == {name.removesuffix("_ms") + "_us" for name in scenario.Times.__struct_fields__} - known


@pytest.mark.parametrize(
    ("step", "pulls"),
    [
        ("{ unplug = true }", True),
        ("{ fault = { noise_ms = 5 } }", True),
        ("{ fault = { restart = true } }", True),
        ('{ fault = { stuck = ["d4"] } }', False),
    ],
)
def test_what_wants_a_cable_says_so(step: str, pulls: bool) -> None:
    """A scenario that pulls or disturbs the cable is not for a board without one."""
    assert pulls == one(step).pulls


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("steps = ", "some/file.toml: this is no TOML: "),
        (HEAD, "some/file.toml: steps = None: a list of steps is wanted"),
        (HEAD + "steps = []", r"some/file.toml: steps = \[\]: a list of steps is wanted"),
        (HEAD + "steps = [3]", "some/file.toml, step 1: 3 is no table"),
        ('steps = [{ tap = "d4" }]', "some/file.toml: shows: this key must be given"),
        ("show = 3", "some/file.toml: show: there is no such key here; allowed are shows, steps, cases"),
        (HEAD + 'lot = "c"\nsteps = [{ tap = "d4" }]', "some/file.toml: lot = 'c': .*; allowed are 'a', 'b'"),
        (HEAD + 'cases = ["Z1"]\nsteps = [{ tap = "d4" }]', r"some/file.toml: cases = \['Z1'\]: "),
        (HEAD + 'times = { hold_s = 1 }\nsteps = [{ tap = "d4" }]', "times: hold_s: .*; allowed are tap_min_ms"),
        (HEAD + 'times = 3\nsteps = [{ tap = "d4" }]', "some/file.toml: times = 3: "),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_is_refused(text: str, wanted: str) -> None:
    """What is wrong with a file is said in one sentence with its name and key, and what is allowed."""
    with pytest.raises(ScenarioError, match=wanted):
        parse(text, "some/file.toml")


@pytest.mark.parametrize(
    ("step", "wanted"),
    [
        ('{ tipp = "d4" }', r"no step is named by its keys \(tipp\); one of these is wanted: start, press, "),
        ('{ tap = "d4", press = "d4" }', "tap and press are two steps by its keys"),
        ('{ tap = "d4", for = 3 }', r"\(tap\): for: there is no such key here; allowed are tap, for_ms, guarded"),
        ('{ tap = "d8" }', "tap = 'd8': cells are a1 to g7, several in a list"),
        ('{ press = ["a1", "h1"] }', r"press = \['a1', 'h1'\]: cells are a1 to g7"),
        ("{ press = [] }", r"press = \[\]: cells are a1 to g7"),
        ('{ chord = ["a1"], for_ms = 3 }', r"chord = \['a1'\]: "),
        ('{ chord = ["a1", "g7"] }', "for_ms: this key must be given"),
        ("{ wait_ms = 600_001 }", "wait_ms = 600001: "),
        ('{ wait_ms = "long" }', "wait_ms = 'long': "),
        ('{ expect_cells = { d4 = "red" } }', r"expect_cells = .*; allowed are 'dark', 'tide a'"),
        ('{ expect_cells = { d9 = "a" } }', r"expect_cells = \{.*\}: cells are a1 to g7$"),
        ('{ expect_position = "a" }', "expect_position: position 'a' must be four fields"),
        ('{ expect_moves = "d4 pass" }', "expect_moves: 'pass' is no action"),
        ('{ expect_phase = "over" }', "expect_phase = 'over': .*; allowed are 'attract'"),
        ("{ fault = { burn = true } }", r"\(fault\): burn: there is no such key here; allowed are stuck, dead"),
        ('{ fault = { stuck = ["z1"] } }', "fault = "),
        ("{ unplug = false }", "unplug = False: "),
        ('{ replug = "tty" }', "replug = 'tty': .*; allowed are 'same name', 'other name'"),
    ],
)
def test_a_step_that_is_wrong_is_refused(step: str, wanted: str) -> None:
    """What is wrong with a step is said in one sentence with file, line, step and key, and what is allowed."""
    with pytest.raises(ScenarioError, match=r"^some/file.toml, line 3, step 1" + r".*" + wanted) as raised:
        one(step)
    assert "\n" not in str(raised.value)


def test_a_step_in_the_middle_is_found() -> None:
    """The line and number of a step that is wrong are its own, comments and other keys between them or not."""
    text = HEAD + '# more\nsteps = [\n    { tap = "d4" },\n\n    # then\n    { tipp = "d4" },\n]\n'
    with pytest.raises(ScenarioError, match=r"file\.toml, line 7, step 2: no step"):
        parse(text, "file.toml")
    with pytest.raises(ScenarioError, match=r"file\.toml, line 5, step 2: no step"):
        parse(HEAD + '[[steps]]\ntap = "d4"\n\n[[steps]]\ntipp = "d4"\n', "file.toml")


def test_every_step_says_what_it_is() -> None:
    """Each kind of step has a sentence, and is named by its first field as no other is."""
    assert all(kind.__doc__ and kind.__doc__ != msgspec.Struct.__doc__ for kind in scenario.KINDS)
    assert len(scenario.KINDS) == len({kind.__struct_fields__[0] for kind in scenario.KINDS})
