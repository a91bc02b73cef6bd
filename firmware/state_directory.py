"""Where everything that must outlive a restart lies: found, made, locked against a second process, and explained."""

from __future__ import annotations

import fcntl
import logging
import os
import pwd
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hal.errors import BoardError

log = logging.getLogger("morbak")

NAME: Final = "morbak-board"
# Holds the process id and the command of whoever has the directory; what locks is the directory itself, which can
# be done on a read-only file system too.
LOCK: Final = "lock"


class StateError(BoardError, OSError):
    """The state directory must not be used; the text is one sentence that says why and what to do."""


class StateDirectory:
    """A directory that this process alone may write to, until `close`.

    `trouble`: one sentence where nothing can be saved in it as things stand, else None. That ends no game: the board
    plays on without saving, and says so (case G22).
    """

    def __init__(self, path: Path, lock: int | None, trouble: str | None) -> None:
        self.path, self.trouble = path, trouble
        self._lock = lock

    @classmethod
    def open(cls, path: Path | None = None, environ: Mapping[str, str] = os.environ) -> StateDirectory:
        """Make the directory if it is missing, and take it: `path`, or the default of `environ`.

        Raises StateError where another process has it, and for root in the directory of somebody else, whose next
        start would find files that it may not write (case G22).
        """
        path = default(environ) if path is None else path
        try:
            path.mkdir(parents=True, exist_ok=True)
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            return cls(path, None, obstacle(path) or f"The state directory {path} cannot be used: {error.strerror}.")
        try:
            _check_owner(path, lock)
            return cls(path, lock, _take(path, lock) or obstacle(path))
        except BaseException:
            os.close(lock)
            raise

    def tell(self, *sentences: str | None) -> None:
        """Log what is wrong with its files; where there is no directory at all, `trouble` says that once for all."""
        for sentence in sentences:
            if sentence not in (None, self.trouble) and os.path.isdir(self.path):
                log.warning("%s", sentence)

    def close(self) -> None:
        """Give the directory back; may be called twice."""
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)


def default(environ: Mapping[str, str]) -> Path:
    """`$STATE_DIRECTORY` (set by systemd, the first of several), else XDG's place for state."""
    given = environ.get("STATE_DIRECTORY", "").split(":")[0]
    if given:
        return Path(given)
    xdg = Path(environ.get("XDG_STATE_HOME", ""))
    if xdg.is_absolute():  # the XDG specification: a relative path is to be ignored
        return xdg / NAME
    return Path(environ.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir) / ".local" / "state" / NAME


def obstacle(path: Path, *names: str) -> str | None:
    """Why nothing can be written in the directory, or to the files of these names in it; None: nothing is known.

    One sentence that says what to do (case G22).
    """
    where = f"The state directory {path}"
    try:
        above = next(parent for parent in path.absolute().parents if parent.exists())
        if not above.is_dir():
            return f"{where} cannot be made, as {above} is no directory; choose another with --state."
        if not path.exists():
            return f"{where} cannot be made; make it, and give it to {_name(os.geteuid())}."
        if not path.is_dir():
            return f"{where} is no directory; move that file away, or choose another with --state."
        if os.statvfs(path).f_flag & os.ST_RDONLY:
            return f"{where} lies on a read-only file system; mount it writable, and check the card for errors."
        for file in (path, *(path / name for name in names)):
            if file.exists() and not os.access(file, os.W_OK):
                return _not_ours(file, path)
    except OSError as error:
        return f"{where} cannot be looked at: {error.strerror}."
    return None


def full(path: Path) -> bool:
    """Whether the file system of the directory has no room left; False where that cannot be known."""
    try:
        return os.statvfs(path).f_bavail == 0
    except OSError:
        return False


def _not_ours(file: Path, path: Path) -> str:
    owner, user = _name(file.stat().st_uid), _name(os.geteuid())
    mend = f"chmod -R u+rwX {path}" if owner == user else f"sudo chown -R {user} {path}"
    return f"{file} belongs to {owner} and cannot be written by {user}: {mend}."


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _check_owner(path: Path, lock: int) -> None:
    owner = os.fstat(lock).st_uid
    if os.geteuid() == 0 and owner != 0:
        name = _name(owner)
        raise StateError(f"The state directory {path} belongs to {name}: start as {name}, not as root.")


def _take(path: Path, lock: int) -> str | None:
    """Lock the directory and leave our name in it; a sentence where it cannot be locked at all."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StateError(
            f"The state directory {path} is in use by {_holder(path)}: end that first, or choose another with --state."
        ) from error
    except OSError as error:
        return f"The state directory {path} cannot be locked: {error.strerror}; start no second board on it."
    try:
        (path / LOCK).write_text(f"{os.getpid()} {' '.join(sys.argv)}\n", encoding="utf-8", errors="replace")
    except OSError as error:
        log.warning("%s: the name of this process cannot be left there: %s", path / LOCK, error.strerror)
    return None


def _holder(path: Path) -> str:
    try:
        pid, _, command = (path / LOCK).read_text(encoding="utf-8", errors="replace").strip().partition(" ")
    except OSError:
        pid, command = "", ""
    return f"process {pid} ({command})" if pid else "another process"
