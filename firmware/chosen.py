"""What is chosen at the board, kept so that it is found again after a restart.

Kept as `board.json` in the state directory, with a checksum, so that no bit of it flips unnoticed. A file that cannot
be used is set aside under a new name; nothing is deleted.
"""

from __future__ import annotations

import logging
import threading
import zlib
from pathlib import Path
from typing import Final

import msgspec

from firmware.choosing import Chosen
from firmware.kept_file import KeptFile, NotKept, Reading

log = logging.getLogger("morbak")

FILE: Final = "board.json"
VERSION: Final = 1
# As the journal: a disk that is back is used within 2 s.
RETRY_S: Final = (0.1, 2.0)
CLOSE_S: Final = 5.0


class _Newer(ValueError):
    """Written by a program that knows more."""


class _Sealed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file: `check` is the CRC-32 of `chosen` as it is written here."""

    v: int
    check: str
    chosen: msgspec.Raw


class _Version(msgspec.Struct, frozen=True):
    v: int


def load(state: Path) -> tuple[Chosen, str | None]:
    """What was chosen last in a state directory, and a sentence where that could not be read as it should.

    Of a damaged file the last good copy is used; of a newer one nothing. Either is set aside. Raises nothing.
    """
    file = _file(state)
    reading = file.read()
    if reading.fault is None:
        return reading.value or Chosen(), reading.sentence
    newer = isinstance(reading.fault, _Newer)
    aside = file.set_aside("newer" if newer else "damaged")
    kept = "it cannot be set aside" if aside is None else f"it is kept as {aside.name}"
    if newer or reading.value is None:
        return Chosen(), f"{file.path} is {reading.fault}: {kept}; what was chosen at the board is as it is at first."
    return reading.value, f"{reading.sentence} As it is, {kept}."


def look(state: Path) -> Reading[Chosen]:
    """What was chosen last, without setting anything aside. Raises nothing."""
    return _file(state).read()


def save(state: Path, chosen: Chosen) -> None:
    """Write what is chosen; on the disk when this returns. Raises NotKept, the old choice being kept."""
    _file(state).write(_format(chosen))


def _file(state: Path) -> KeptFile[Chosen]:
    return KeptFile(state / FILE, _parse)


def _format(chosen: Chosen) -> bytes:
    text = msgspec.json.encode(chosen)
    return msgspec.json.encode(_Sealed(VERSION, f"{zlib.crc32(text):08x}", msgspec.Raw(text))) + b"\n"


def _parse(data: bytes) -> Chosen:
    try:
        version = msgspec.json.decode(data, type=_Version).v
        if version > VERSION:
            raise _Newer(f"of version {version}, newer than this program, which knows {VERSION}")
        sealed = msgspec.json.decode(data, type=_Sealed)
        if sealed.v != VERSION or zlib.crc32(sealed.chosen) != int(sealed.check, 16):
            raise ValueError("its checksum does not fit")
        return msgspec.json.decode(sealed.chosen, type=Chosen)
    except _Newer:
        raise
    except (ValueError, RecursionError) as error:
        raise ValueError(f"damaged ({error})") from error


class ChosenKeeper:
    """Writes what is chosen, by a thread of its own that nobody waits for; the latest choice wins.

    `fault`: one sentence while the disk does not take it, else None; it is tried again until it does.
    """

    def __init__(self, state: Path, chosen: Chosen, retry_s: tuple[float, float] = RETRY_S) -> None:
        """`chosen`: what `load` has told, which needs no writing."""
        self.fault: str | None = None
        self._state, self._kept, self._wanted, self._retry_s = state, chosen, chosen, retry_s
        self._changed = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="chosen", daemon=True)
        self._thread.start()

    def put(self, chosen: Chosen) -> None:
        """Have a choice kept. Never waits for the disk, never raises. For any thread."""
        with self._changed:
            self._wanted = chosen
            self._changed.notify_all()

    def close(self, wait_s: float = CLOSE_S) -> bool:
        """Write what waits and end the thread; False if that took too long or the disk refused."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(wait_s)
        return not self._thread.is_alive() and self._kept == self._wanted

    def _run(self) -> None:
        wait_s = self._retry_s[0]
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closing or self._wanted != self._kept)
                wanted, last_try = self._wanted, self._closing
            if wanted == self._kept:
                return
            if self._write(wanted):
                wait_s = self._retry_s[0]
            elif last_try:
                return
            else:
                self._pause(wait_s)
                wait_s = min(2 * wait_s, self._retry_s[1])

    def _write(self, wanted: Chosen) -> bool:
        try:
            save(self._state, wanted)
        except NotKept as error:
            told, self.fault = self.fault, str(error)
            if told != self.fault:
                log.error("%s", error)
            return False
        self._kept = wanted
        if self.fault is not None:
            log.warning("What is chosen at the board is kept again.")
            self.fault = None
        return True

    def _pause(self, wait_s: float) -> None:
        """Wait before the next try; closing is no time to wait."""
        with self._changed:
            self._changed.wait_for(lambda: self._closing, wait_s)
