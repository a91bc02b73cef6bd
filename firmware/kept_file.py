"""A small file that survives power cuts: the old content or the new one is on the disk at any moment, never half of it.

Written apart, made last, then put in the place of the old one, which stays beside it as the last good copy. What a
cut or a failing card leaves of it (nothing, NULs, half a text) counts as missing, and the last good copy is read
(case F13).
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar

from hal.errors import BoardError

LAST: Final = ".last"
# What no text file consists of alone: nothing, NULs (blocks that were allocated and never written), white space.
BLANK: Final = b"\0 \t\r\n"

_T = TypeVar("_T")


class NotKept(BoardError, OSError):
    """A file could not be written; the text is one sentence that names it, the reason and what to do."""


class Reading(NamedTuple, Generic[_T]):
    """What a file holds: None where there is nothing to be read.

    `sentence`: what was unusual, else None. `fault`: why the file itself, as against its last good copy, could not be
    used, where it is there.
    """

    value: _T | None
    sentence: str | None = None
    fault: ValueError | None = None


class KeptFile(Generic[_T]):
    """A file and its last good copy, `NAME.last`. One writer at a time."""

    def __init__(self, path: Path, parse: Callable[[bytes], _T]) -> None:
        """`parse`: the value of a content; raises ValueError, half a sentence, for one that cannot be used."""
        self.path, self.last = path, path.with_name(path.name + LAST)
        self._parse = parse

    def read(self) -> Reading[_T]:
        """What was written last; of a file that is missing, blank, torn or unreadable, the last good copy."""
        value, fault = self._look(self.path)
        if value is not None:
            return Reading(value)
        last, last_fault = self._look(self.last)
        if fault is None and last is None and last_fault is None:
            return Reading(None)
        state = f"is {fault}" if fault is not None else "is missing"
        if last is not None:
            return Reading(last, f"{self.path} {state}: the last good copy, {self.last.name}, is used.", fault)
        copy = "there is no good copy of it" if last_fault is None else f"its copy {self.last.name} is {last_fault}"
        return Reading(None, f"{self.path} {state}, and {copy}: it counts as missing.", fault)

    def write(self, data: bytes) -> None:
        """Put a new content in place, on the disk when this returns; what was there becomes the last good copy.

        Raises NotKept, the old content being kept; only where the directory cannot be made last at the very end the
        new content shows, and may be gone after a power cut.
        """
        keeps = self._look(self.path)[0] is not None
        new = _written(self.path, data)
        try:
            if keeps:
                os.rename(self.path, self.last)
            try:
                os.rename(new, self.path)
            except OSError:
                if keeps:
                    os.rename(self.last, self.path)
                raise
            sync(self.path.parent)
        except OSError as error:
            _discard(new)
            raise NotKept(_explained(self.path, error)) from error

    def set_aside(self, kind: str) -> Path | None:
        """Give the file as it is the free name `NAME.kind-N`, so that nobody overwrites it; None where that fails."""
        for number in itertools.count(1):
            aside = self.path.with_name(f"{self.path.name}.{kind}-{number}")
            if not aside.exists():
                break
        try:
            os.rename(self.path, aside)
            sync(aside.parent)
        except OSError:
            return None
        return aside

    def _look(self, path: Path) -> tuple[_T | None, ValueError | None]:
        try:
            return parsed(path, self._parse), None
        except FileNotFoundError:
            return None, None
        except OSError as error:
            return None, ValueError(f"unreadable ({error.strerror})")
        except ValueError as error:
            return None, error


def parsed(path: Path, parse: Callable[[bytes], _T]) -> _T:
    """The value of a file. Raises OSError, and ValueError with half a sentence for a content that cannot be used."""
    data = path.read_bytes()
    if not data.strip(BLANK):
        raise ValueError("empty" if not data else "blank")
    return parse(data)


def replace(path: Path, data: bytes) -> None:
    """Put a new content in the place of a file, keeping no copy; on the disk when this returns. Raises NotKept."""
    path = Path(os.path.realpath(path))  # through a symbolic link, not instead of it
    new = _written(path, data)
    try:
        os.rename(new, path)
        sync(path.parent)
    except OSError as error:
        _discard(new)
        raise NotKept(_explained(path, error)) from error


def sync(directory: Path) -> None:
    """Make the names in a directory last. Raises OSError."""
    file = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _written(path: Path, data: bytes) -> Path:
    """The content in a file beside `path`, all of it on the disk. Raises NotKept and leaves nothing behind."""
    new = path.with_name(f".{path.name}.new")
    try:
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(file, rest) :]
            os.fsync(file)
        finally:
            os.close(file)
    except OSError as error:
        _discard(new)
        raise NotKept(_explained(path, error)) from error
    return new


def _discard(new: Path) -> None:
    with contextlib.suppress(OSError):
        os.unlink(new)


def _explained(path: Path, error: OSError) -> str:
    reasons = {
        errno.ENOSPC: "the disk is full; make room there",
        errno.EDQUOT: "the disk is full; make room there",
        errno.EROFS: "the file system is read-only; mount it writable, and check the card for errors",
        errno.EIO: "the disk fails; check card and contacts",
        errno.EACCES: f"this user may not write in {path.parent}; give it to them",
        errno.ENOENT: f"there is no directory {path.parent}; make it",
    }
    return f"{path} cannot be written: {reasons.get(error.errno or 0, error.strerror or str(error))}."
