"""The operator's token: made at the first start, kept in the state directory, readable by its owner alone."""

from __future__ import annotations

import hmac
import os
import secrets
from pathlib import Path
from typing import Final

from firmware.kept_file import sync

FILE: Final = "token"
BYTES: Final = 16  # 128 bits: not to be guessed, and short enough to type
MODE: Final = 0o600


def token_in(state: Path) -> tuple[str, str | None]:
    """The token of a state directory, made if there is none, and a sentence where it cannot be kept. Raises nothing.

    A file that others may read is no secret any more: it is replaced by a new one.
    """
    path = state / FILE
    try:
        open_to_others = path.stat().st_mode & 0o077 if path.exists() else 0
        kept = path.read_text(encoding="ascii", errors="replace").strip() if path.exists() else ""
        if kept and not open_to_others:
            return kept, None
        new = secrets.token_urlsafe(BYTES)
        _write(path, new)
    except OSError as error:
        return secrets.token_urlsafe(BYTES), f"The operator's token cannot be kept in {path}: {error.strerror}."
    if open_to_others:
        return new, f"{path} could be read by others: it holds a new token now."
    return new, None


def fits(token: str, given: str) -> bool:
    """Whether what was given is the token; takes as long whatever is wrong with it."""
    return hmac.compare_digest(token.encode(), given.encode())


def _write(path: Path, token: str) -> None:
    fresh = path.with_name(f".{FILE}.new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE), "w", encoding="ascii") as file:
        file.write(token + "\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    sync(path.parent)
