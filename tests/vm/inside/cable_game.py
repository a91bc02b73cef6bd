"""Runs inside the virtual Pi: two people play a game on `--board serial:auto`, whose board is at the other end of a
USB cable: a real ttyACM, which is pulled out in the middle of the game and comes back under another name. It is played
under `morbak trace record`; the trace is the file of the first argument.

Prints as JSON: `names` (the port before and after), `noticed_ms`, `found_ms`, `out_ms` (how long the cable was out),
`spent_ms` (what the mover's clock has lost meanwhile), `seen` (after each action whether the board's LEDs show the
light that the firmware tells of), `result`, `first`.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

import vpi

from firmware.app import RealClock
from firmware.games import morbak
from hal.drivers.device_port import DevicePort
from hal.profile import load, shipped
from sim.device import SimDevice
from tests.live import Live, running
from tests.live_play import QUICK, after, to_play, until

ACTIONS = ("a1", "a7", "b1", "c7", "c1", "e7", "d1")  # four in a row for whoever begins
DOWN_S = 0.05
OUT_S = 3


class Board(threading.Thread):
    """A simulated board at the gadget's end of the cable, which goes on while that is out."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.clock = RealClock()
        self.device = SimDevice(load(shipped("sim")), self.clock, unique="E6614")
        self.port = DevicePort("/dev/ttyGS0")

    def run(self) -> None:
        """Be a board."""
        now_us, device, port = self.clock.now_us, self.device, self.port
        while True:
            t_us = now_us()
            port.write(device.step(t_us, port.read()))
            port.wait((t_us + device.period_us - now_us()) / 1e6)


class Player(Live):
    """Touches the board."""

    def __init__(self, live: Live, board: Board) -> None:
        super().__init__(live.process, live.port)
        self._board = board

    def touch(self, cell: str, down: bool) -> None:
        """Move one contact."""
        contacts = self._board.device.board.contacts
        (contacts.press if down else contacts.release)(morbak.parse_cell(cell), self._board.clock.now_us())

    def tap(self, cell: str) -> None:
        """A touch as long as a finger's."""
        self.touch(cell, True)
        time.sleep(DOWN_S)
        self.touch(cell, False)

    def agrees(self) -> bool:
        """The light that the firmware tells of is on the board."""
        for _ in range(40):
            told = b"".join(bytes.fromhex(cell[1:]) for cell in self.json("GET", "/api/v1/frame")[1]["cells"])
            if told == self._board.device.board.wire():
                return True
            time.sleep(0.02)
        return False

    def link(self) -> dict[str, object]:
        """What the firmware says of the cable."""
        part: dict[str, object] = self.state()["health"]["parts"]["link"]
        return part


def main() -> None:
    """Play to the end."""
    usb = vpi.UsbSerial()
    usb.plug()
    vpi.until(lambda: os.path.exists("/dev/ttyACM0"))
    board = Board()
    board.start()
    settings = Path("/root/quick.toml")
    settings.write_text(QUICK.replace("turn_guard_ms = 20", "turn_guard_ms = 50"))
    recorded = ("trace", "record", sys.argv[1])
    with running("--board", "serial:auto", "--config", str(settings), "--seed", "1", command=recorded) as live:
        player = Player(live, board)
        until(player, lambda _: player.link()["ok"])  # type: ignore[arg-type, return-value]
        time.sleep(0.5)
        state = to_play(player)
        first, seen = state["to_move"], []
        for number, action in enumerate(ACTIONS):
            if number == 3:
                told = pull(usb, player)
            wanted = after(state, action)
            time.sleep(0.1)  # the guard
            player.tap(action)
            state = until(player, lambda said, wanted=wanted: said["position"] == wanted)  # type: ignore[misc]
            seen.append(player.agrees())
        status = player.stop()
    print(json.dumps({"first": first, "result": state["result"], "seen": seen, "status": status} | told))


def pull(usb: vpi.UsbSerial, player: Player) -> dict[str, object]:
    """Pull the cable out and put it back; somebody still holds the old port, so its name is taken."""
    names = [str(player.link()["text"])[-7:]]
    held = os.open("/dev/ttyACM0", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    mover = player.state()["to_move"]
    out_s, before_ms = time.monotonic(), player.state()["clocks_ms"][mover]
    usb.unplug()
    until(player, lambda _: not player.link()["ok"])
    noticed_s = time.monotonic()
    time.sleep(OUT_S)
    usb.plug()
    back_s = time.monotonic()
    until(player, lambda _: player.link()["ok"])  # type: ignore[arg-type, return-value]
    found_s = time.monotonic()
    time.sleep(0.2)
    spent_ms = before_ms - player.state()["clocks_ms"][mover]
    names.append(str(player.link()["text"])[-7:])
    os.close(held)
    return {
        "names": names,
        "noticed_ms": 1000 * (noticed_s - out_s),
        "found_ms": 1000 * (found_s - back_s),
        "out_ms": 1000 * (found_s - out_s),
        "spent_ms": spent_ms,
    }


if __name__ == "__main__":
    main()
