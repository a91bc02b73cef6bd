"""The doctor on a board at the end of a cable: whether it answers, and what it says of itself within a second."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Iterator

from hal import link
from hal.doctor_finding import LOG_IN, Finding, broken, fine, warning
from hal.drivers.serial_board import PREFIX, SerialBoard, open_board
from hal.errors import PartError
from hal.guide import mask
from hal.mapped import names

LISTEN_US = 1_000_000
# Starts that something is behind, as they are told.
BAD_STARTS = {
    "watchdog": "The board was last started by its watchdog: its program had hung.",
    "low voltage": "The board was last started by a voltage too low: look for a better supply, or a shorter cable.",
}


def _now_us() -> int:
    return time.monotonic_ns() // 1000


def examine(
    where: str,
    opened: Callable[[str], SerialBoard] = open_board,
    now_us: Callable[[], int] = _now_us,
    wait: Callable[[int], None] = lambda us: time.sleep(us / 1e6),
) -> list[Finding]:
    """What there is to say of the board at a port, or "auto". Nobody is asked to touch it. Raises nothing."""
    try:
        board = opened(where)
    except PartError as fault:
        return [_absent(str(fault))]
    try:
        down, ghosts = _listened(board, now_us, wait)
        there = board.health()["link"]
        if not there.ok:
            return [broken("cable", f"The board answers and breaks off: {there.text}.", _again(where, "doctor"))]
        return [fine("cable", f"{there.text} answers."), *_told(board, where, down | ghosts)]
    finally:
        board.close()


def _absent(text: str) -> Finding:
    """No board; the command that mends it, where the sentence has one, or shows which ports there are."""
    command = re.search(r"`([^`]+)`", text)
    then = LOG_IN if "log in again" in text else ""
    return broken("cable", f"{text}.", command[1] if command else "ls -l /dev/serial/by-id", then)


def _listened(board: SerialBoard, now_us: Callable[[], int], wait: Callable[[int], None]) -> tuple[int, int]:
    """Scan for a while, with statistics asked for; the cells that are down in the end, and those that are unsure."""
    down: set[int] = set()
    ghosts, end_us = 0, now_us() + LISTEN_US
    board.ask()
    while now_us() < end_us:
        scan = board.scan(now_us())
        for edge in scan.edges:
            (down.add if edge.down else down.discard)(edge.cell)
        ghosts = scan.ghosts
        wait(scan.period_us)
    return mask(down), ghosts


def _told(board: SerialBoard, where: str, closed: int) -> Iterator[Finding]:
    """What the board has said of its parts, its start and its cable."""
    about, stats = board.about, board.stats
    reset = link.RESETS[about.reset] if about.reset < len(link.RESETS) else "unknown"
    if reset in BAD_STARTS:
        yield warning("board", BAD_STARTS[reset], _again(where, "selftest"))
    for part in ("matrix", "leds"):
        health = board.health()[part]
        if not health.ok:
            yield broken(part, f"{health.text[0].upper()}{health.text[1:]}.", _again(where, "map"))
    if closed:
        text = f"{names(closed, about.columns)} is down: if nobody touches it, a contact is stuck."
        yield warning("contacts", text, _again(where, "selftest"))
    if stats is None:
        yield warning("board", "The board does not say what it has counted.", _again(where, "selftest"))
        return
    if stats.bad:
        text = f"The board has heard {stats.bad} messages that were none since it started; try another cable."
        yield warning("cable", text, _again(where, "doctor"))
    kind = "a test board, which moves its own contacts" if about.flags & link.TEST_BOARD else "no test board"
    yield fine("board", f"It scans {stats.scan_hz} times a second now, up to {about.scan_hz}; it is {kind}.")


def _again(where: str, command: str) -> str:
    return f"morbak {command} --board {shlex.quote(PREFIX + where)}"
