"""A faulty cable between two real ports: what a board says at one comes out at the other, or not quite."""

from __future__ import annotations

from hal.drivers.device_port import DevicePort
from hal.drivers.serial_port import Port
from sim.cable import Cable, CableFaults

# How finely it keeps to the times of its faults.
PERIOD_US = 1_000


class WornCable:
    """Between the port `board`, where there is one, and the pseudo terminal `path`, where a host finds it.

    While it is out the pseudo terminal is gone. `cable` says whether it is in, and how many times it did harm. Raises
    PartError where a port cannot be opened or made, and OSError once the board's is gone.
    """

    def __init__(self, board: str, path: str, faults: CableFaults, seed: int = 0) -> None:
        self.cable, self._path = Cable(faults, seed), path
        self._far = Port(board)
        try:
            self._near: DevicePort | None = DevicePort(path)
        except BaseException:
            self._far.close()
            raise
        self._out = b""

    def step(self, t_us: int) -> int:
        """Carry what is due at `t_us`; returns when to do so next, in microseconds from then."""
        cable = self.cable
        cable.pass_time(t_us)
        if not cable.plugged and self._near is not None:
            self._near.close()
            self._near = None
        elif cable.plugged and self._near is None:
            self._near = DevicePort(self._path)
        heard = self._far.read()
        if self._near is not None:
            cable.down.send(self._near.read(), t_us)
            cable.up.send(heard, t_us)
            self._near.write(cable.up.receive(t_us))
        self._out += cable.down.receive(t_us)
        self._out = self._out[self._far.write(self._out) :] if self._out else b""
        return PERIOD_US

    def close(self) -> None:
        """Let both ports go."""
        self._far.close()
        if self._near is not None:
            self._near.close()
