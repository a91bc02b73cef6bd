"""Somebody at the bench, who is asked on the terminal to move the contacts of a board under test."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable

from hal.guide import name
from hal.hands import Nobody

TERMINAL = "/dev/tty"
# Whoever has not answered by then has left, and is not asked again.
PATIENCE_S = 120.0
LOOK_S = 0.005


class Person(Nobody):
    """Asks for each move and waits for Enter. `meanwhile` is called all the time, so that no cable falls silent."""

    exact = False

    def __init__(self, terminal: int, patience_s: float = PATIENCE_S) -> None:
        """`terminal`: an open file descriptor to write to and to read lines from."""
        super().__init__("there is no simulated part on this board")
        self._terminal, self._patience_s = terminal, patience_s
        self.meanwhile: Callable[[], None] = lambda: None
        self.columns = 7

    def press(self, cell: int) -> None:
        """Returns once somebody says that the finger is there. Raises Unsupported."""
        self._ask(f"Put a finger on {name(cell, self.columns)} and leave it there", f"press cell {cell}")

    def release(self, cell: int) -> None:
        """Returns once somebody says that the finger has left. Raises Unsupported."""
        self._ask(f"Lift the finger off {name(cell, self.columns)}", f"lift off cell {cell}")

    def unplug(self) -> None:
        """Returns once somebody says that the cable is out. Raises Unsupported."""
        self._ask("Pull the board's cable out", "pull the cable out")

    def plug(self, name: str | None = None) -> None:
        """Returns once somebody says that the cable is in. Raises Unsupported."""
        where = "" if name is None else f", so that it is {name}"
        self._ask(f"Put the board's cable back in{where}", "put the cable in")

    def _ask(self, text: str, what: str) -> None:
        if self._patience_s <= 0:
            self._cannot(what)
        os.write(self._terminal, f"\n{text}, then press Enter (n: that cannot be done): ".encode())
        end_s = time.monotonic() + self._patience_s
        while time.monotonic() < end_s:
            self.meanwhile()
            if select.select([self._terminal], [], [], LOOK_S)[0]:
                line = os.read(self._terminal, 1000)
                if not line:
                    break
                if line.strip().lower().startswith(b"n"):
                    self._why = "somebody at the bench says that it cannot be done"
                    self._cannot(what)
                return
        self._why, self._patience_s = "nobody at the bench has answered", 0.0
        self._cannot(what)


def at_the_terminal() -> Person | None:
    """Whoever sits at the terminal of this program, whatever has become of its standard input; None without one."""
    try:
        return Person(os.open(TERMINAL, os.O_RDWR | os.O_CLOEXEC))
    except OSError:
        return None
