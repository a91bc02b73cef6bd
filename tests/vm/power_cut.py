"""Pull the plug of a virtual Pi, and see what its card has kept.

A card is an ext4 image mounted at /data with options that keep nothing by luck (`machine.CARD_OPTIONS`): what the
guest has not flushed is gone. What it told with `vpi.tell` has been seen, cut or not.
"""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.vm.machine import KIT, UNPLUGGED

LONGEST_S = 120  # no machine here runs longer, whatever hangs


def mkfs() -> str | None:
    """The program that makes a card's file system; it is not on every user's PATH."""
    return shutil.which("mkfs.ext4") or shutil.which("mkfs.ext4", path="/usr/sbin:/sbin")


def blank_card(path: Path, size_mb: int = 64, *options: str) -> Path:
    """Make an empty card, with more options of mkfs.ext4; returns its path."""
    program = mkfs()
    assert program is not None
    with path.open("wb") as image:
        image.truncate(size_mb << 20)
    subprocess.run([program, "-q", "-F", *options, path], check=True)
    return path


class PowerCut:
    """A command on a virtual Pi with a card, run again and again."""

    def __init__(self, card: Path, *command: str | Path) -> None:
        self._start = [KIT / "run", "--data", card, "--timeout", str(LONGEST_S), "--", *command]

    def cut(self, after_s: float, *arguments: str, ready: str = "") -> list[str]:
        """Boot, pull the plug `after_s` later, counted from the first line that begins with `ready` (from power-up
        without one); returns the whole lines that got out. Fails if the command ended by itself.
        """
        lines: list[str] = []
        with self._powered(arguments) as machine:
            plug = threading.Timer(after_s, machine.terminate)
            waiting = bool(ready)
            if not waiting:
                plug.start()
            for line in _whole_lines(machine):
                lines.append(line)
                if waiting and line.startswith(ready):
                    waiting = False
                    plug.start()
            status = machine.wait()
            plug.cancel()
        assert status in (UNPLUGGED, -15), f"ended by itself, with {status}:\n" + "\n".join(lines)
        return lines

    def run(self, *arguments: str) -> list[str]:
        """Boot and let the command end; returns its lines. Fails if its exit status is not 0."""
        with self._powered(arguments) as machine:
            lines = list(_whole_lines(machine))
            status = machine.wait()
        assert 0 == status, f"ended with {status}:\n" + "\n".join(lines)
        return lines

    @contextmanager
    def _powered(self, arguments: tuple[str, ...]) -> Iterator[subprocess.Popen[str]]:
        machine = subprocess.Popen(
            [*self._start, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        with machine:
            try:
                yield machine
            finally:
                machine.terminate()


def _whole_lines(machine: subprocess.Popen[str]) -> Iterator[str]:
    """What the machine says; half a line before the cut is no line."""
    assert machine.stdout is not None
    for line in machine.stdout:
        if line.endswith("\n"):
            yield line.rstrip("\n")
