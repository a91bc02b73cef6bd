"""One tree of errors for the hardware side; each also derives from the built-in a caller would expect."""

from __future__ import annotations


class BoardError(Exception):
    """Something about the board is wrong; the text is one sentence that names the thing, the value and the rule."""


class ProfileError(BoardError, ValueError):
    """A board profile or setting that cannot be used.

    The text names the file, the key, the value and the reason, so that it can be mended without reading code.
    """

    def __init__(self, file: str, key: str, value: object, reason: str) -> None:
        super().__init__(f"{file}: {key} = {value!r}: {reason}")
        self.file, self.key, self.value, self.reason = file, key, value, reason


class PartError(BoardError, OSError):
    """A part (the LED chain, the matrix, a link) does not answer; play may go on without it."""
