"""Runs inside the virtual Pi: prints as JSON what a scan of its matrix sees."""

from __future__ import annotations

import itertools
import json

import vpi
from matrix import Matrix

SCANS = 100
CELLS = list(itertools.product(range(7), range(7)))
CORNERS = ((1, 1), (1, 4), (5, 1))  # of a rectangle whose fourth is (5, 4)


def main() -> None:
    """Scan every key alone, all at once, broken ones, a ghost; then count what a scan costs."""
    matrix = Matrix()
    seen = {"none": sorted(matrix.scan()), "alone": [], "all": [], "broken": [], "diodes": [], "ghost": []}
    for cell in CELLS:
        vpi.press(cell)
        seen["alone"] += sorted(matrix.scan())
    vpi.press(*CELLS)
    seen["all"] = sorted(matrix.scan())
    vpi.press((2, 3), (6, 6))
    vpi.put("stuck", vpi.keys((0, 0)))
    vpi.put("dead", vpi.keys((6, 6)))
    seen["broken"] = sorted(matrix.scan())
    vpi.put("stuck", 0)
    vpi.put("dead", 0)
    vpi.press(*CORNERS)
    seen["diodes"] = sorted(matrix.scan())
    vpi.put("diodes", 0)
    seen["ghost"] = sorted(matrix.scan())
    vpi.put("selects", 0)
    vpi.put("reads", 0)
    for _ in range(SCANS):
        matrix.scan()
    print(json.dumps({"seen": seen, "counts": {name: vpi.get(name) for name in ("selects", "reads", "shorts")}}))


if __name__ == "__main__":
    main()
