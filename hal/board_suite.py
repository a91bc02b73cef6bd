"""What every board must do, as pytest's tests: `pytest -p hal.testing --board serial:auto --pyargs hal.board_suite`."""

from __future__ import annotations

import pytest

from hal import conformance
from hal.conformance_jig import JIGS, JigCheck
from hal.jig import Jig


@pytest.mark.parametrize("check", JIGS, ids=conformance.name)
def test_the_board(check: JigCheck, jig: Jig) -> None:
    """The board does what every board must, from contact to edge and from frame to light."""
    check(jig)
