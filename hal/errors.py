"""One tree of errors for the hardware side; each also derives from the built-in a caller would expect."""

from __future__ import annotations


class BoardError(Exception):
    """Something about the board is wrong; the text is one sentence that names the thing, the value and the rule."""


class ProfileError(BoardError, ValueError):
    """A board profile or setting that cannot be used.

    The text names the file, the line where it is known, the key, the value and the reason, so that it can be mended
    without reading code. `value` is None where none was given; `key` is empty where the whole file is meant.
    """

    def __init__(self, file: str, key: str, value: object, reason: str, line: int | None = None) -> None:
        where = file if line is None else f"{file}, line {line}"
        what = key if value is None else f"{key} = {value!r}"
        super().__init__(": ".join(filter(None, (where, what, reason))))
        self.file, self.key, self.value, self.reason, self.line = file, key, value, reason, line


class PartError(BoardError, OSError):
    """A part (the LED chain, the matrix, a link) does not answer; play may go on without it."""
