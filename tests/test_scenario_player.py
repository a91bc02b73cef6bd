"""The player of scenarios: what comes out as it says passes, and whatever comes out otherwise fails by its step."""

from __future__ import annotations

from contextlib import suppress

import pytest

from hal.jig import Unsupported
from hal.ports import Part
from sim import jig as sim_jig
from sim.scenario import Scenario, parse
from sim.scenario_player import Failed, light, play
from tests.jigs import SIM


class SimJig(sim_jig.SimJig):
    """The simulated board."""

    def __init__(self) -> None:
        super().__init__(SIM)


HEAD = 'shows = "Something that is shown."\nfast = true\nsteps = [\n'
LIT = '{ start = "a" }, { tap = "d4" }'
POSITION = "......./......./......./...a.../......./......./....... b 7:7 1:1"


def scenario(steps: str) -> Scenario:
    """A scenario with these steps."""
    return parse(f"{HEAD}{steps}\n]\n", "file.toml")


# An expectation that holds after side a has lit d4, and the same one where something else is so.
EXPECTED = [
    ('{ expect_cells = { d4 = "a" }, within_ms = 300 }', '{ expect_cells = { d4 = "b" }, within_ms = 300 }'),
    ('{ expect_cells = { d4 = "lit" }, within_ms = 300 }', '{ expect_cells = { d4 = "dark" }, within_ms = 300 }'),
    ('{ expect_cells = { d5 = "tide b" }, within_ms = 300 }', '{ expect_cells = { d5 = "b" }, within_ms = 300 }'),
    ('{ wait_for_light = { d4 = "a" }, within_ms = 300 }', '{ wait_for_light = { d5 = "a" }, within_ms = 300 }'),
    (
        f'{{ expect_position = "{POSITION}", within_ms = 300 }}',
        f'{{ expect_position = "{POSITION.replace(" b ", " a ")}", within_ms = 300 }}',
    ),
    ('{ expect_moves = "d4", within_ms = 300 }', '{ expect_moves = "", within_ms = 300 }'),
    ('{ expect_moves = "d4", within_ms = 300 }', '{ expect_moves = "d4 d5", within_ms = 300 }'),
    ('{ expect_phase = "play", within_ms = 300 }', '{ expect_phase = "result", within_ms = 300 }'),
    (
        '{ tap = "d4" }, { expect_refused = "hold", on = "d4", within_ms = 300 }',
        '{ expect_refused = "hold", on = "d4", within_ms = 300 }',
    ),
    (
        '{ tap = "d4" }, { expect_refused = "hold", on = "d4", within_ms = 300 }',
        '{ tap = "d4" }, { expect_refused = "hold", on = "d5", within_ms = 300 }',
    ),
    ('{ expect_clocks = "run", within_ms = 300 }', '{ expect_clocks = "stand", within_ms = 300 }'),
    ("{ expect_masked = [], within_ms = 300 }", '{ expect_masked = ["d4"], within_ms = 300 }'),
    (
        '{ expect_part = "matrix", works = true, within_ms = 300 }',
        '{ expect_part = "matrix", works = false, within_ms = 300 }',
    ),
    (
        '{ expect_part = "leds", works = true, within_ms = 300 }',
        '{ expect_part = "wings", works = true, within_ms = 300 }',
    ),
    ("{ expect_thought_ms = 600_000 }", "{ wait_ms = 100 }, { expect_thought_ms = 1 }"),
    (
        '{ tap = "a7" }, { tap = "d5" }, { tap = "b7" }, { tap = "d6" }, { tap = "c7" }, { tap = "d7" }, '
        '{ expect_result = "a", by = "line", within_ms = 300 }',
        '{ expect_result = "a", by = "line", within_ms = 300 }',
    ),
]


@pytest.mark.parametrize(("right", "wrong"), EXPECTED)
def test_each_kind_of_expectation_passes_and_fails(right: str, wrong: str) -> None:
    """What is so passes; what is not so fails, in a sentence that names file, rung and step, and what is so."""
    play(scenario(f"{LIT}, {right}"), SimJig())
    with pytest.raises(Failed, match=r"^file on sim, step \d+ \((expect|wait)_\w+ = .*\): ") as raised:
        play(scenario(f"{LIT}, {wrong}"), SimJig())
    assert "\n" not in str(raised.value)


def test_a_result_is_told_by_side_and_reason() -> None:
    """A game that was won otherwise, or by the other side, is no such result."""
    resigned = '{ start = "a" }, { chord = ["a1", "g7"], for_ms = 500 }, { hold = "d1" }'
    play(scenario(f'{resigned}, {{ expect_result = "b", by = "resignation", within_ms = 300 }}'), SimJig())
    for wrong in ('"a", by = "resignation"', '"b", by = "time"'):
        with pytest.raises(Failed, match=r"after 300 ms it is \('b', 'resignation'\)"):
            play(scenario(f"{resigned}, {{ expect_result = {wrong}, within_ms = 300 }}"), SimJig())


def test_the_side_that_begins_is_expected_too() -> None:
    """A start that leads to the other side's turn fails, and one that leads nowhere."""
    with pytest.raises(Failed, match="it is the other side's turn"):
        play(scenario('{ start = "b" }'), SimJig())
    with pytest.raises(Failed, match="the board stays in attract"):
        play(scenario('{ fault = { dead = ["d4"] } }, { start = "a" }'), SimJig())


def test_light_is_what_the_chain_shows() -> None:
    """A board whose chain shows something else than it was sent fails, whatever the firmware believes."""

    class Blind(SimJig):
        def lit(self) -> bytes:
            return bytes(147)

    with pytest.raises(Failed, match=r"expect_cells.*\{'d4': 'dark'\}"):
        play(scenario(f'{LIT}, {{ expect_cells = {{ d4 = "a" }}, within_ms = 300 }}'), Blind())


def test_a_rung_where_nobody_sees_the_light_says_so() -> None:
    """Where the chain cannot be read back an expectation of light is no failure and no success."""

    class Unseen(SimJig):
        def lit(self) -> None:  # type: ignore[override]
            return None

    with pytest.raises(Unsupported, match="nobody sees what the chain of the rung sim shows"):
        play(scenario(f'{LIT}, {{ expect_cells = {{ d4 = "a" }} }}'), Unseen())


def test_what_a_rung_cannot_do_is_told() -> None:
    """A board without a cable cannot be unplugged."""
    with pytest.raises(Unsupported, match="has no cable"):
        play(scenario('{ start = "a" }, { unplug = true }'), SimJig())


def test_nobody_is_left_at_the_board() -> None:
    """Whatever comes of a scenario, no finger stays on a contact, and what it broke is mended."""
    jig = SimJig()
    for steps in ('{ press = "d4" }, { fault = { stuck = ["a1"] } }', '{ press = "d4" }, { unplug = true }'):
        with suppress(Unsupported):
            play(scenario(steps), jig)
        jig.wait(100_000)
        assert 0 == jig.board.contacts.closed(jig.now_us())


def test_a_failing_part_is_expected_while_it_fails() -> None:
    """A part that the board says is broken is expected as such, and not as well."""

    class Broken(SimJig):
        def __init__(self) -> None:
            super().__init__()
            self.board.health = lambda: {"leds": Part(False, "burnt")}  # type: ignore[method-assign]

    play(scenario('{ expect_part = "leds", works = false, within_ms = 300 }'), Broken())
    with pytest.raises(Failed, match="it is False"):
        play(scenario('{ expect_part = "leds", works = true, within_ms = 300 }'), Broken())


@pytest.mark.parametrize(
    ("wire", "wanted"),
    [
        ((0, 0, 0), "dark"),
        ((3, 1, 0), "tide a"),
        ((6, 1, 0), "tide a"),
        ((0, 0, 4), "tide b"),
        ((0, 1, 6), "tide b"),
        ((255, 50, 1), "a"),
        ((13, 3, 0), "a"),
        ((2, 37, 255), "b"),
        ((255, 196, 143), "pale a"),
        ((135, 173, 255), "pale b"),
        ((85, 85, 85), "white"),
        ((85, 27, 255), "violet"),
        ((10, 8, 13), "grey"),
    ],
)
def test_light_is_named_by_its_hue(wire: tuple[int, int, int], wanted: str) -> None:
    """Wire values at full and far below, rounded as they are, are told by their hue; the tide by its level too."""
    assert wanted == light(bytes(wire))
