"""What the board stands on: a root that is read-only if that was asked for, and a place where games stay.

The doctor's own checks, looked at while a board starts, and again for as long as something is wrong.
"""

from __future__ import annotations

import json
from pathlib import Path

from hal.doctor_access import check_root, check_state
from hal.doctor_probe import Probe
from hal.machine import ROOT
from hal.ports import Part


def footing(state: Path, root: Path = ROOT) -> Part:
    """The health of root and state directory, `root` being what stands for "/". Raises nothing."""
    # Whether it may be written shows in the health of the journal.
    probe = Probe(root, {"facts": json.dumps({"state": {"path": str(state.absolute()), "made": True}})})
    roots, places = check_root(probe), check_state(probe)
    wrong = [found.text for found in roots if found.level != "fine"]
    wrong += [found.text for found in places if found.level == "broken"]
    if wrong:
        return Part(False, " ".join(wrong))
    said = [found.text for found in roots] or ["The root is writable."]
    return Part(True, " ".join([*said, *(found.text for found in places)]))
