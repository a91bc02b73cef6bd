"""What may be sent to the board, read and checked: touches, and the world of a simulated board. Pure."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import msgspec

from firmware.games import morbak


class BadInput(Exception):
    """Input that cannot be used: an HTTP status, a code, and a sentence."""

    def __init__(self, status: int, code: str, text: str) -> None:
        super().__init__(text)
        self.status, self.code, self.text = status, code, text


class TouchMessage(msgspec.Struct, forbid_unknown_fields=True):
    """A contact closes (`down`) or opens."""

    cell: str
    down: bool


class Condition(NamedTuple):
    """How the world around a simulated board is.

    `paused`: its time stands. `bounce`: contacts bounce longer than the firmware waits. `ghost`: the matrix has no
    diodes. `stuck`: cells that stay closed. `unplug`: neither contacts nor LEDs answer.
    """

    paused: bool = False
    bounce: bool = False
    ghost: bool = False
    stuck: frozenset[int] = frozenset()
    unplug: bool = False


class World(Protocol):
    """The world of a simulated board."""

    @property
    def condition(self) -> Condition:
        """How it is now."""

    def change(self, condition: Condition) -> None:
        """Let it be like this from now on."""


class WorldMessage(msgspec.Struct, forbid_unknown_fields=True):
    """What is to change in the world; what is not named stays."""

    paused: bool | None = None
    bounce: bool | None = None
    ghost: bool | None = None
    stuck: list[str] | None = None
    unplug: bool | None = None


def read_touch(body: bytes | str) -> tuple[int, bool]:
    """The cell and direction of a touch message; raises BadInput for anything else."""
    try:
        message = msgspec.json.decode(body, type=TouchMessage)
    except (msgspec.DecodeError, UnicodeError) as error:
        text = f'A touch is {{"cell":"d4","down":true}}: {error}.'
        raise BadInput(400, "malformed", text) from error
    return _cell(message.cell), message.down


def read_world(body: bytes, condition: Condition) -> Condition:
    """`condition` as a message wants it; raises BadInput for what is no such message."""
    try:
        message = msgspec.json.decode(body, type=WorldMessage)
    except (msgspec.DecodeError, UnicodeError) as error:
        text = f'A change of the world is {{"paused":true}} or {{"stuck":["d4"]}}: {error}.'
        raise BadInput(400, "malformed", text) from error
    wanted = {name: value for name, value in msgspec.structs.asdict(message).items() if value is not None}
    if message.stuck is not None:
        wanted["stuck"] = frozenset(_cell(name) for name in message.stuck)
    return condition._replace(**wanted)


def told(condition: Condition) -> dict[str, object]:
    """A condition as JSON has it."""
    return {**condition._asdict(), "stuck": [morbak.cell_name(cell) for cell in sorted(condition.stuck)]}


def _cell(name: str) -> int:
    try:
        return morbak.parse_cell(name)
    except morbak.UnreadableText as error:
        raise BadInput(400, "unknown_cell", f"{name!r} is no cell; cells are a1 to g7.") from error
