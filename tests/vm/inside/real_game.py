"""Runs inside the virtual Pi: two people play a game on `--board reference`, which has a chip and a bus, under
`morbak trace record`; the trace is the file of the first argument.

Their fingers close contacts on the wires of the GPIO chip; what they see is what left the SPI bus, decoded as the LEDs
do. Prints as JSON: who was `first`, the `result`, `seen` (after each action whether the light on the wire is the one
that the board tells of), `lit` (the cells of the winner's line in the last light), `touch_ms` (contact to latched
light).
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import vpi
import wired

from firmware.games import morbak
from sim.strip import Strip
from tests.live import Live, running
from tests.live_play import QUICK, after, to_play, until

ACTIONS = ("a1", "a7", "b1", "c7", "c1", "e7", "d1")  # four in a row for whoever begins
LATCH_US = 300
ANSWER = 24  # on the wire a preview changes a cell by more than the tide does
DOWN_S = 0.05


class Eyes:
    """Decodes what went over the SPI bus, from the first look on; the log holds a second of frames."""

    def __init__(self) -> None:
        profile = wired.REFERENCE
        self._strip = Strip(profile.chain, order=profile.leds.colour_order, spi_hz=profile.leds.spi_hz)
        self._strip.on_latch.append(lambda t_us, frame: self._latched.append((t_us, frame)))
        self._number = 0
        self.last = b""
        self._latched: list[tuple[int, bytes]] = []

    def look(self) -> list[tuple[int, bytes]]:
        """Every light since the last look: when it latched, and each cell's red, green and blue."""
        for frame in vpi.frames("spi"):
            if frame.number > self._number:
                self._number = frame.number
                self._strip.transfer(frame.data, frame.ns // 1_000 - frame.length * 8_000_000 // frame.speed_hz)
                self._strip.settle(self._strip.busy_until_us + LATCH_US)
        seen, self._latched = self._latched, []
        if seen:
            self.last = seen[-1][1]
        return seen


class Player(Live):
    """Touches the board on its wires."""

    def __init__(self, live: Live) -> None:
        super().__init__(live.process, live.port)
        self.eyes = Eyes()
        self.touches_ms: list[float] = []

    def touch(self, cell: str, down: bool) -> None:
        """Move one contact."""
        vpi.press(*([divmod(morbak.parse_cell(cell), 7)] if down else []))

    def tap(self, cell: str) -> None:
        """A touch as long as a finger's."""
        self.touch(cell, True)
        time.sleep(DOWN_S)
        self.touch(cell, False)

    def play(self, cell: str) -> None:
        """Tap a cell, and take the time until it answers with light."""
        at = 3 * morbak.parse_cell(cell)
        self.eyes.look()
        before = self.eyes.last[at : at + 3]
        pressed_us = vpi.press(divmod(morbak.parse_cell(cell), 7)) // 1_000
        answered_us = vpi.until(lambda: self._answer(at, before), 5, 0.002)
        self.touches_ms.append((answered_us - pressed_us) / 1_000)
        time.sleep(DOWN_S)
        vpi.press()

    def _answer(self, at: int, before: bytes) -> int:
        """When the cell first shone otherwise than before; 0 for not yet."""
        for t_us, frame in self.eyes.look():
            if max(abs(one - other) for one, other in zip(frame[at : at + 3], before, strict=True)) > ANSWER:
                return t_us
        return 0

    def agrees(self) -> bool:
        """The light that the board tells of is on the wire."""
        for _ in range(20):
            self.eyes.look()
            shown = [self.eyes.last]
            told = b"".join(bytes.fromhex(cell[1:]) for cell in self.json("GET", "/api/v1/frame")[1]["cells"])
            time.sleep(0.05)
            if told in shown + [frame for _, frame in self.eyes.look()]:
                return True
        return False


def main() -> None:
    """Play to the end."""
    wired.as_a_pi()  # for the button and the buzzer, which go through gpiozero
    settings = Path("/root/quick.toml")
    settings.write_text(QUICK.replace("turn_guard_ms = 20", "turn_guard_ms = 50"))
    recorded = ("trace", "record", sys.argv[1])
    with running("--board", "reference", "--config", str(settings), "--seed", "1", command=recorded) as live:
        player = Player(live)
        vpi.until(player.eyes.look, 20)
        time.sleep(1)  # for the first half second it hears nothing
        state = to_play(player)
        first, seen = state["to_move"], []
        for action in ACTIONS:
            wanted = after(state, action)
            time.sleep(0.1)  # the guard
            player.play(action)
            state = until(player, lambda told, wanted=wanted: told["position"] == wanted)  # type: ignore[misc]
            seen.append(player.agrees())
        time.sleep(1)
        player.eyes.look()
        lit = [cell for cell in ("a1", "b1", "c1", "d1") if any(player.eyes.last[3 * morbak.parse_cell(cell) :][:3])]
        status = player.stop()
    player.eyes.look()
    print(
        json.dumps(
            {
                "first": first,
                "result": state["result"],
                "phase": state["phase"],
                "seen": seen,
                "lit": lit,
                "touch_ms": sorted(player.touches_ms),
                "shorts": vpi.get("shorts"),
                "status": status,
                "dark": not any(player.eyes.last),
                "health": state["health"],
            }
        )
    )


if __name__ == "__main__":
    main()
