"""The plugin for tests of boards, on real wires and a real cable: a person who is asked, a jig, and a test board."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hal import conformance
from hal.conformance_jig import JIGS
from tests.rungs import scenarios
from tests.vm.test_gpio import told

pytestmark = pytest.mark.vm

CHECKS = [conformance.name(check) for check in JIGS]
EACH_CELL = "each_cell_is_told_once"
SUITE = ("--pyargs", "hal.board_suite")
SCENARIOS = ("tests/board_scenarios.py",)
# A person is asked for each of 49 cells, and a jig plays scenarios as long as they take.
PATIENCE = ("--timeout", "420")
BLIND = "cannot be read back from its chain"


def ran(*arguments: str) -> dict[str, Any]:
    """What `inside/plugin.py` tells; what failed is told and run once more, since on a machine that stands still other
    touches are made than were meant.
    """
    found: dict[str, Any] = told("plugin.py", *arguments, options=PATIENCE)
    if failed := {name: how for name, (how, *_) in found["results"].items() if how.startswith(("failure", "error"))}:
        print("once more:", failed)
        again = told("plugin.py", *arguments, "-k", " or ".join(failed), options=PATIENCE)
        found |= {"status": again["status"], "results": found["results"] | again["results"]}
    return found


def left_out(results: dict[str, list[str]], rung: str, names: list[str]) -> Iterator[tuple[str, str]]:
    """The tests that did not run, with the reason; all of them ran on this rung, or were to, and none has failed."""
    assert sorted(names) == sorted(results)
    for name, (how, *on) in results.items():
        assert [rung] == on, (name, how)
        if how != "passed":
            assert how.startswith("skipped: "), (name, how)
            yield name, how


@pytest.mark.parametrize(("board", "rung", "left"), [("pins", "gpio", ""), ("cable", "ttyACM", EACH_CELL)])
def test_a_board_without_a_jig_is_tested_by_a_person(board: str, rung: str, left: str) -> None:
    """`pytest -p hal.testing` on the pins of a Pi, and on a Pi at the end of a cable, asks somebody at the terminal for
    each touch (at the cable not for each cell, which takes long); what is felt passes, and what only a look at the
    light would tell is left out with the reason.
    """
    found = ran(board, *SUITE, "-k", f"not {left}" if left else "")
    skipped = dict(left_out(found["results"], rung, [name for name in CHECKS if name != left]))
    assert {"each_cell_lights_alone", "white_keeps_to_the_budget", "darkness_is_dark"} == skipped.keys()
    assert all(BLIND in why for why in skipped.values())
    # each cell, the held one, the one whose time is looked at, two corners and a row: down and up
    assert (0, 2 * ((not left) * 49 + 1 + 1 + 2 + 7), 0) == (found["status"], found["asked"], found["shorts"])
    assert board == "cable" or 0 == found["driven"]


def test_a_board_with_a_jig_is_tested_as_a_whole() -> None:
    """With `--hands`, the driver of a jig from any package, the same command passes every check on a Pi's own pins, and
    every scenario but those that want a cable, another board, or contacts that bounce; nobody is asked.
    """
    found = ran("pins", "--hands", "kernel", *SUITE)
    assert [] == list(left_out(found["results"], "gpio", CHECKS))
    assert (0, 0, 0, 0) == (found["status"], found["asked"], found["shorts"], found["driven"])
    found = ran("pins", "--hands", "kernel", *SCENARIOS)
    skipped = dict(left_out(found["results"], "gpio", [scenario.name for scenario in scenarios()]))
    wanted = {scenario.name for scenario in scenarios() if scenario.pulls or not scenario.diodes} | {"bounce"}
    assert wanted == skipped.keys()
    assert (0, 0, 0, 0) == (found["status"], found["asked"], found["shorts"], found["driven"])


def test_a_test_board_at_a_real_port_needs_nobody() -> None:
    """A simulated board at the other end of a real ttyACM passes every check by itself, and the rung is that of its
    port.
    """
    found = ran("simulated", *SUITE)
    assert [] == list(left_out(found["results"], "ttyACM", CHECKS))
    assert (0, 0) == (found["status"], found["asked"])
