"""The installed `morbak`, with a bug in every part that waits for its file: /run/hang-leds, -journal, -scan, -loop."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from firmware import engine, journal
from firmware.cli import main
from hal.board import MatrixBoard


def hangs(part: str) -> bool:
    """Whether this part is to hang now; once."""
    file = Path(f"/run/hang-{part}")
    return file.exists() and not Path(f"/run/morbak-board/hung-{part}").exists()


def buggy(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that waits for ever once its part is to hang."""

    def call(*given: Any, **named: Any) -> Any:
        if hangs(part):
            Path(f"/run/morbak-board/hung-{part}").write_text(str(time.monotonic()))
            threading.Event().wait()
        return function(*given, **named)

    return call


def asleep(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same for the loop, which sleeps."""

    def call(*given: Any, **named: Any) -> Any:
        if hangs("loop"):
            Path("/run/morbak-board/hung-loop").write_text(str(time.monotonic()))
            time.sleep(1_000)
        return function(*given, **named)

    return call


MatrixBoard.show = buggy("leds", MatrixBoard.show)  # type: ignore[method-assign]
MatrixBoard.scan = buggy("scan", MatrixBoard.scan)  # type: ignore[method-assign]
journal.Journal._rest = buggy("journal", journal.Journal._rest)  # type: ignore[method-assign]
engine.Engine.check = asleep(engine.Engine.check)  # type: ignore[method-assign]

if __name__ == "__main__":
    sys.exit(main())
