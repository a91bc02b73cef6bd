"""The driver of a jig, as a package brings one (`morbak.hands`): the virtual Pi's kernel moves and breaks contacts, and
says what is on the SPI bus.
"""

from __future__ import annotations

from pathlib import Path

import vpi
import wired

from hal.hands import Nobody
from hal.profile import Profile


class Kernel(Nobody):
    """Implements `Hands` on the wires of the virtual Pi."""

    def __init__(self, profile: Profile) -> None:
        super().__init__("the virtual Pi's kernel closes contacts and breaks them, and does nothing else")
        self._chain, self._down = wired.Chain(profile), 0

    def press(self, cell: int) -> None:
        """Close a contact."""
        self._move(self._down | 1 << cell)

    def release(self, cell: int) -> None:
        """Open it."""
        self._move(self._down & ~(1 << cell))

    def lit(self) -> bytes | None:
        """What the last frame on the bus lights."""
        return self._chain.light()

    def fault(self, **keys: frozenset[int]) -> None:
        """`stuck`, `dead`: exactly these cells."""
        if other := keys.keys() - {"stuck", "dead"}:
            self._cannot(f"make the fault {', '.join(sorted(other))}")
        for name, cells in keys.items():
            vpi.put(name, sum(1 << cell for cell in cells))

    def begin(self) -> None:
        """Open all, and mend all."""
        self._move(0)
        self.fault(stuck=frozenset(), dead=frozenset())

    close = begin

    def _move(self, down: int) -> None:
        self._down = down
        vpi.put("pressed", down)


def install(folder: Path) -> None:
    """Put the entry point of a package into a folder of sys.path, as pip does."""
    about = folder / "kernel_jig-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: kernel-jig\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[morbak.hands]\nkernel = jig_hands:Kernel\n")
