"""Every scenario of `tests/scenarios` on any board: `pytest -p hal.testing --board BOARD tests/board_scenarios.py`."""

from __future__ import annotations

from functools import partial

import pytest

from hal.jig import Jig, Unsupported
from sim.scenario import Scenario
from tests import rungs


@pytest.mark.parametrize("scenario", rungs.scenarios(), ids=lambda scenario: scenario.name)
def test_scenario(scenario: Scenario, jig: Jig) -> None:
    """It comes out on this board as it says, and once more from its trace without a board."""
    if not jig.exact:
        raise Unsupported("nobody touches a board for just so many milliseconds; a jig does (--hands)")
    if scenario.diodes != jig.profile.matrix.diodes:
        raise Unsupported(f"it wants a board with{'' if scenario.diodes else 'out'} diodes")
    found = rungs.played(scenario.name, lambda: jig, partial(rungs.play_twice, scenario))
    if found.how == "not run":
        raise Unsupported(found.said)
    assert "passed" == found.how, found.said
