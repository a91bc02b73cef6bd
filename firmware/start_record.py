"""Where a start finds what became of those before it: two small files in the runtime directory of its service.

That directory is in memory and systemd's own: it outlives a restart after a death, and neither a power cut nor a stop
by hand. Without one (a board started in a terminal) nothing is counted. A file that fails is logged; no start fails
because of it.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from firmware import starts
from firmware.starts import Record

log = logging.getLogger("morbak")

FILE: Final = "starts.json"
# Written by the unit's ExecStopPost, after each end.
END: Final = "end"


class StartRecord:
    """The record of this start, kept up to date. Raises nothing."""

    def __init__(self, folder: Path | None) -> None:
        """`folder`: where records are kept; None where nobody restarts the board, and nothing is counted."""
        self._folder = folder
        self._kept: Record | None = None
        self.record = starts.following(self._read(), self._end())
        self._keep(self.record)

    @classmethod
    def begin(cls, environ: Mapping[str, str] = os.environ) -> StartRecord:
        """The record of a start in this environment; `$RUNTIME_DIRECTORY` is set by systemd, the first of several."""
        given = environ.get("RUNTIME_DIRECTORY", "").split(":")[0]
        return cls(Path(given) if given and "NOTIFY_SOCKET" in environ else None)

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Around a whole start: an error is kept as the reason of its death, an end in order clears the count."""
        try:
            yield
        except BaseException as error:
            self._keep(msgspec.structs.replace(self.record, dying=starts.failed(error)))
            raise
        self._clear()

    def lived(self, age_us: int, stalled: tuple[str, ...]) -> None:
        """This start is so old, and these parts stand still."""
        self._keep(msgspec.structs.replace(starts.aged(self.record, age_us), stalled=stalled))

    def _keep(self, record: Record) -> None:
        self.record = record
        if self._folder is None or record == self._kept:
            return
        self._kept = record
        try:
            fresh = self._folder / f".{FILE}.new"
            fresh.write_bytes(msgspec.json.encode(record))
            fresh.replace(self._folder / FILE)
        except OSError as error:
            log.warning("%s: starts that die are not counted: %s", self._folder / FILE, error.strerror)

    def _clear(self) -> None:
        if self._folder is not None:
            with contextlib.suppress(OSError):
                (self._folder / FILE).unlink(missing_ok=True)

    def _read(self) -> Record | None:
        if self._folder is None:
            return None
        try:
            return msgspec.json.decode((self._folder / FILE).read_bytes(), type=Record)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            log.warning("%s cannot be read, so no start before this one counts: %s", self._folder / FILE, error)
            return None

    def _end(self) -> str:
        """How the start before ended, told once."""
        if self._folder is None:
            return ""
        try:
            text = (self._folder / END).read_text(encoding="utf-8", errors="replace").strip()
            (self._folder / END).unlink()
        except OSError:
            return ""
        return text
