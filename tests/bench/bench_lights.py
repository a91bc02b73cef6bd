"""How long a frame takes: a mid-game snapshot with 8 permuted and 6 blocked cells and the tide, 60 frames a second."""

from __future__ import annotations

from time import process_time

from firmware.lights import Lights
from firmware.snapshot import Snapshot

FRAME_US = 16_667
MID_GAME = Snapshot(
    phase="play",
    cells="..xa.y." "ab..Ax." "yBa.bx." ".axyA.b" "Bx..ay." "a.AbB.." "*.b.y..",
    mover="a",
)  # fmt: skip


def frame_us(frames: int = 30_000) -> float:
    """CPU time of one frame in microseconds, the mean over successive frames of one snapshot."""
    lights = Lights()
    lights.frame(MID_GAME, 0)
    start = process_time()
    for t_us in range(0, frames * FRAME_US, FRAME_US):
        lights.frame(MID_GAME, t_us)
    return (process_time() - start) * 1e6 / frames


def plan_us(plans: int = 3_000) -> float:
    """CPU time of the first frame of a new snapshot in microseconds."""
    lights = Lights()
    snapshots = [MID_GAME._replace(phase_us=number) for number in range(plans)]
    start = process_time()
    for snapshot in snapshots:
        lights.frame(snapshot, 0)
    return (process_time() - start) * 1e6 / plans


if __name__ == "__main__":
    print(f"lights, steady frame  {frame_us():6.2f} us")
    print(f"lights, new snapshot  {plan_us():6.2f} us")
