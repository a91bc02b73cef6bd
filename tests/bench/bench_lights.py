"""How long a frame takes, by what it shows; mid-game: 8 permuted and 6 blocked cells and the tide."""

from __future__ import annotations

from time import process_time

from firmware.attract import CYCLE_US, WEATHER_US
from firmware.frames import ATTRACT_US
from firmware.lights import Lights
from firmware.snapshot import Countdown, Snapshot

FRAME_US = 16_667
MID_GAME = Snapshot(
    phase="play",
    cells="..xa.y." "ab..Ax." "yBa.bx." ".axyA.b" "Bx..ay." "a.AbB.." "*.b.y..",
    mover="a",
)  # fmt: skip


def frame_us(snapshot: Snapshot = MID_GAME, frames: int = 30_000, step_us: int = FRAME_US) -> float:
    """CPU time of one frame in microseconds, the mean over successive frames of one snapshot."""
    lights = Lights()
    lights.frame(snapshot, 0)
    start = process_time()
    for t_us in range(0, frames * step_us, step_us):
        lights.frame(snapshot, t_us)
    return (process_time() - start) * 1e6 / frames


def plan_us(plans: int = 3_000) -> float:
    """CPU time of the first frame of a new snapshot in microseconds."""
    lights = Lights()
    snapshots = [MID_GAME._replace(phase_us=number) for number in range(plans)]
    start = process_time()
    for snapshot in snapshots:
        lights.frame(snapshot, 0)
    return (process_time() - start) * 1e6 / plans


def attract_us(minutes: int = 6) -> tuple[float, float]:
    """CPU time of one frame of attract in microseconds: of the weather, and the mean over minutes with miniatures."""
    still = WEATHER_US // ATTRACT_US
    return frame_us(Snapshot(), still, ATTRACT_US), frame_us(Snapshot(), minutes * CYCLE_US // ATTRACT_US, ATTRACT_US)


if __name__ == "__main__":
    weather_us, minute_us = attract_us()
    print(f"lights, steady frame  {frame_us():6.2f} us")
    print(f"lights, new snapshot  {plan_us():6.2f} us")
    print(f"lights, weather       {weather_us:6.2f} us")
    print(f"lights, attract       {minute_us:6.2f} us")
    print(f"lights, countdown     {frame_us(MID_GAME._replace(countdown=Countdown(0, 20_000_000)), 1_200):6.2f} us")
    print(f"lights, played again  {frame_us(MID_GAME._replace(phase='replay'), 3_000):6.2f} us")
