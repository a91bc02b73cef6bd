"""Which frame is due when."""

from __future__ import annotations

from firmware.frames import ATTRACT_US, MOVING_US, RECOVER_US, REFRESH_US, Frames
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


def test_the_same_frame_is_sent_again_only_as_a_refresh() -> None:
    """A frame that the LEDs show already is sent again after a second, not before."""
    frames = Frames(Still())
    assert [bytes(147)] * 2 == [frames.step(PLAY, t_us) for t_us in (0, RECOVER_US)]
    assert [None] * 2 == [frames.step(PLAY, t_us) for t_us in (RECOVER_US + 1, RECOVER_US + REFRESH_US - 1)]
    assert bytes(147) == frames.step(PLAY, RECOVER_US + REFRESH_US)
    assert None is frames.step(PLAY, RECOVER_US + REFRESH_US + 1)


def test_a_new_frame_is_sent_until_the_current_limit_has_let_go() -> None:
    """After a change the same frame is sent 60 times a second for 0.6 s, so that a dimmed one recovers smoothly."""
    frames = Frames(Still())
    sent = [frames.step(PLAY, t_us) for t_us in range(0, RECOVER_US + 1, MOVING_US)]
    assert 36 == len(sent)
    assert None not in sent
