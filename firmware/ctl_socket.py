"""The unix socket by which `morbak ctl` reaches the board that runs: one line of JSON each way, then it is over.

Who may open the socket is a matter of its directory and mode: the owner and his group. It lies in `$RUNTIME_DIRECTORY`
(systemd makes that), else in the state directory.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import struct
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from firmware import operator_commands
from firmware.operator_commands import AnyCommand, Refused
from firmware.state_directory import NAME, default

log = logging.getLogger("morbak")

FILE: Final = "ctl.sock"
SYSTEM: Final = Path("/run") / NAME / FILE
MODE: Final = 0o660
LINE_BYTES: Final = 4096
LINE_S: Final = 5.0
# More than anybody has hands for; a script that opens sockets and says nothing must not use up the board's.
MOST: Final = 16
Do = Callable[[AnyCommand, str], Awaitable[dict[str, Any]]]


class NotThere(Exception):
    """No board answers; the text is one sentence that says what to do."""


def place(state: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """Where the socket of a board that runs with this state directory lies."""
    runtime = environ.get("RUNTIME_DIRECTORY", "").split(":")[0]
    return (Path(runtime) if runtime else state) / FILE


def find(given: Path | None, state: Path | None, environ: Mapping[str, str] = os.environ) -> Path:
    """Where a board may be reached: the socket that was `given`, that of a state directory, the service's, the own."""
    if given is not None:
        return given
    if state is not None:
        return state / FILE
    return SYSTEM if SYSTEM.exists() else default(environ) / FILE


class CtlServer:
    """Answers on the socket, in the loop, until `close`."""

    def __init__(self, path: Path, do: Do) -> None:
        self._path, self._do = path, do
        self._server: asyncio.Server | None = None
        self._open = 0

    async def start(self) -> str | None:
        """Listen; a sentence where that cannot be done, which ends no game."""
        try:
            with contextlib.suppress(FileNotFoundError):
                self._path.unlink()  # of a board that was killed; one that runs would hold the state directory
            listener = socket.socket(socket.AF_UNIX)
            try:
                with _near(self._path) as near:
                    listener.bind(near)
                self._path.chmod(MODE)
            except OSError:
                listener.close()
                raise
            self._server = await asyncio.start_unix_server(self._answer, sock=listener, limit=LINE_BYTES)
        except OSError as error:
            return f"morbak ctl cannot reach this board: {self._path} cannot be made ({error.strerror or error})."
        return None

    def close(self) -> None:
        """Listen no longer."""
        if self._server is not None:
            self._server.close()
            self._server = None
            with contextlib.suppress(OSError):
                self._path.unlink()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            answer = await self._answer_to(reader, writer) if self._open <= MOST else _error("busy", "Too many ask.")
            writer.write(msgspec.json.encode(answer) + b"\n")
            await asyncio.wait_for(writer.drain(), LINE_S)
        except (OSError, TimeoutError):
            pass  # whoever asked has gone
        except Exception:
            log.exception("a command could not be answered; play goes on")
        finally:
            self._open -= 1
            writer.close()

    async def _answer_to(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> dict[str, Any]:
        try:
            line = await asyncio.wait_for(reader.readuntil(b"\n"), LINE_S)
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            return _error("malformed", f"One line of at most {LINE_BYTES} bytes is wanted, within {LINE_S:g} s.")
        try:
            return {"ok": True, "answer": await self._do(operator_commands.read(line), f"ctl uid {_uid(writer)}")}
        except Refused as refused:
            return _error(refused.code, refused.text)


def _error(code: str, text: str) -> dict[str, Any]:
    return {"ok": False, "error": {"code": code, "text": text}}


def _uid(writer: asyncio.StreamWriter) -> int:
    """Who is at the other end, by the kernel's word."""
    peer = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", peer)[1])


@contextlib.contextmanager
def _near(path: Path) -> Iterator[str]:
    """A short name of a path while inside: a socket's name may have 107 bytes, a path more."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def ask(path: Path, command: bytes, wait_s: float = 10.0) -> dict[str, Any]:
    """What a board answers to one command. Raises NotThere, and Refused for a command that did not count."""
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(wait_s)
            with _near(path) as near:
                client.connect(near)
            client.sendall(command + b"\n")
            data = b"".join(iter(lambda: client.recv(65536), b""))
    except PermissionError as error:
        hint = f"add yourself to its group, or use sudo: ls -l {path}"
        raise NotThere(f"{path} belongs to another user; {hint}") from error
    except TimeoutError as error:
        raise NotThere(f"The board at {path} runs, but has not answered within {wait_s:g} s.") from error
    except OSError as error:
        hint = "start it (morbak run), or name it with --state or --socket"
        raise NotThere(f"No board answers at {path} ({error.strerror or error}): {hint}.") from error
    try:
        answer = msgspec.json.decode(data, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise NotThere(f"The board at {path} hung up before it had answered.") from error
    if not answer["ok"]:
        raise Refused(answer["error"]["code"], answer["error"]["text"])
    told: dict[str, Any] = answer["answer"]
    return told
