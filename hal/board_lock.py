"""One test run a board: a lock that names the process which holds it. POSIX; elsewhere there is none."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from pathlib import Path

from hal.errors import BoardError


class BoardInUse(BoardError):
    """Another run has the board; the text is one sentence that names its process."""


class BoardLock:
    """Held from here to `close`, or the end of this process. `board`: a name of the board, the same for every run.

    Raises BoardInUse.
    """

    def __init__(self, board: str, folder: Path | None = None) -> None:
        self._fd: int | None = None
        try:
            import fcntl
        except ImportError:  # Windows, where a port opens once
            return
        path = (folder or Path(tempfile.gettempdir())) / f"morbak-board-{re.sub(r'[^A-Za-z0-9]+', '-', board)}.lock"
        self._fd = _open(path)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            holder = os.pread(self._fd, 20, 0).decode(errors="replace").strip() or "unknown"
            self.close()
            raise BoardInUse(f"{board} is being tested by process {holder}: wait until that has ended") from fault
        with contextlib.suppress(OSError):  # somebody else's file: it is locked all the same
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)

    def close(self) -> None:
        """Let the board go. May be called twice."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _open(path: Path) -> int:
    """The file of a lock, which stays: whoever takes it away while it is waited for makes two of it."""
    for flags in (os.O_RDWR, os.O_RDWR | os.O_CREAT, os.O_RDONLY):
        with contextlib.suppress(OSError):
            return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    raise BoardInUse(f"{path} cannot be opened, so nobody knows whether the board is free: take that file away")
