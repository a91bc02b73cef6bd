"""Which frame is due when."""

from __future__ import annotations

from firmware.frames import ATTRACT_US, MOVING_US, REFRESH_US, Frames
from firmware.lights import Lights
from firmware.snapshot import Snapshot


class Still(Lights):
    """Lights that show one thing for ever."""

    def frame(self, snapshot: Snapshot, t_us: int) -> bytes:
        return bytes([len(snapshot.touches)]) * 147


PLAY = Snapshot(phase="play", mover="a")


def test_a_new_snapshot_is_drawn_at_once() -> None:
    """What has happened is due now, what moves 1/60 s later, attract 1/30 s later."""
    frames = Frames(Still())
    assert frames.due_us(PLAY) <= 5_000
    frames.step(PLAY, 5_000)
    assert 5_000 + MOVING_US == frames.due_us(PLAY)
    assert 5_000 == frames.due_us(PLAY._replace(last_us=1))
    attract = Snapshot()
    frames.step(attract, 9_000)
    assert 9_000 + ATTRACT_US == frames.due_us(attract)


def test_a_thread_that_wakes_late_draws_as_many_frames() -> None:
    """Each frame is drawn 1 ms late, and still 60 a second; one that comes half a gap late starts a new row."""
    frames = Frames(Still())
    frames.step(PLAY, 0)
    for turn in range(1, 61):
        assert turn * MOVING_US == frames.due_us(PLAY)
        frames.step(PLAY, turn * MOVING_US + 1_000)
    late_us = frames.due_us(PLAY) + MOVING_US // 2
    frames.step(PLAY, late_us)
    assert late_us + MOVING_US == frames.due_us(PLAY)


def test_the_same_frame_is_sent_again_only_as_a_refresh() -> None:
    """A frame that the LEDs show already is sent again after a second, not before."""
    frames = Frames(Still())
    assert bytes(147) == frames.step(PLAY, 0)
    assert None is frames.step(PLAY, REFRESH_US - 1)
    assert bytes(147) == frames.step(PLAY, REFRESH_US)
    assert None is frames.step(PLAY, REFRESH_US + 1)


def test_a_frame_held_back_is_sent_until_it_has_come_up() -> None:
    """What the current limit has dimmed is sent again with each frame, so that it recovers smoothly."""
    frames = Frames(Still())
    sent = [frames.step(PLAY, turn * MOVING_US, dimmed=turn < 5) for turn in range(7)]
    assert [bytes(147)] * 5 + [None] * 2 == sent
