"""Where a board's trace goes: a file, written by a thread that nobody waits for.

The loop and the LEDs' thread put slots into a queue and look at no disk. A file is written as far as whole lines have
come, five times a second, so that a program that is killed leaves all but the last moment.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from firmware.arguments import Misuse
from firmware.engine import Engine, Make
from firmware.trace import End, Line, Scribe, Timed
from firmware.trace_tape import Recorded, Slot
from firmware.version import version

log = logging.getLogger("morbak")

PERIOD_S: Final = 0.2
CLOSE_S: Final = 5.0
# Minutes of play that a disk may stand still for; some 20 MB of memory.
QUEUE: Final = 30_000
MB: Final = 1_000_000


@contextlib.contextmanager
def recording(path: Path | None, most_bytes: int, driver: str) -> Iterator[Make]:
    """What makes an engine that is recorded, or any engine where there is no `path`. Raises Misuse."""
    if path is None:
        yield Engine
        return
    from firmware.report import redact  # not small

    try:
        recorder = Recorder(path, most_bytes, redact)
    except OSError as error:
        raise Misuse(f"{path}: no trace can be recorded there: {error.strerror}.") from error
    log.info("Everything that enters and leaves the firmware is recorded in %s.", recorder.path)
    try:
        yield partial(Recorded, tape=recorder, software=version(), driver=driver)
    finally:
        recorder.close()


class Recorder:
    """Implements `Tape`. `lost`: how much came while the queue was full; from then on nothing more is recorded."""

    def __init__(
        self,
        path: Path,
        most_bytes: int,
        clean: Callable[[str], str] = str,
        *,
        queue: int = QUEUE,
        period_s: float = PERIOD_S,
    ) -> None:
        """Makes the file, under a further name where there is one of this name. Raises OSError.

        `most_bytes`: a longer trace ends there; play goes on. `clean`: what sentences about faults go through.
        """
        self.path, self._file = _new(path)
        self.lost = 0
        self._over = False
        self._most_bytes, self._written, self._room, self._period_s = most_bytes, 0, queue, period_s
        self._slots: deque[Slot] = deque()
        self._scribe, self._t_us = Scribe(clean), 0
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="trace", daemon=True)
        self._thread.start()

    def put(self, slot: Slot) -> None:
        """Take a slot; once the queue was full it is counted as lost. For any thread; never waits, never raises."""
        if self._over:
            return
        if self.lost or len(self._slots) >= self._room:
            self.lost += 1  # what comes after a gap cannot be replayed
        else:
            self._slots.append(slot)

    def close(self) -> None:
        """Write what waits, and the end. Waits for the disk, 5 s at most."""
        self._closing.set()
        self._thread.join(CLOSE_S)

    def _run(self) -> None:
        try:
            closing = False
            while not self._over and not closing:
                closing = self._closing.wait(self._period_s)
                self._write_ready()
            if not self._over:
                self._end("stopped")
        except OSError as error:
            log.error("The trace ends here, play goes on: %s cannot be written (%s).", self.path, error.strerror)
        except Exception:
            log.exception("The trace ends here, play goes on: a line for %s cannot be made.", self.path)
        finally:
            self._over = True
            self._slots.clear()
            os.close(self._file)

    def _write_ready(self) -> None:
        """Write every line that is there, up to the first whose step is not over; end where that is due."""
        lines: list[bytes] = []
        size = self._written
        while self._slots and (line := self._slots[0].line) is not None:
            self._slots.popleft()
            lines.append(self._line(line))
            size += len(lines[-1])
            if size > self._most_bytes:
                break
        self._write(b"".join(lines))
        if size > self._most_bytes:
            log.warning("The trace ends here, play goes on: %s has %d MB.", self.path, size // MB)
            self._end("full")
        elif self.lost and not self._slots:
            log.warning("The trace ends here, play goes on: the disk was too slow for %s.", self.path)
            self._end("behind")

    def _line(self, line: Line) -> bytes:
        if isinstance(line, Timed):
            self._t_us = max(self._t_us, line.t)
        return self._scribe.line(line)

    def _end(self, reason: str) -> None:
        self._over = True
        self._write(self._scribe.line(End(t=self._t_us, reason=reason, lost=self.lost)))  # type: ignore[arg-type]

    def _write(self, data: bytes) -> None:
        while data:
            written = os.write(self._file, data)
            self._written += written
            data = data[written:]


def _new(path: Path) -> tuple[Path, int]:
    """A new file, and its descriptor: nothing that was recorded before is written over. Raises OSError."""
    number, name = 1, path
    while True:
        try:
            return name, os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except FileExistsError:
            number += 1
            name = path.with_name(f"{path.stem}.{number}{path.suffix}")
