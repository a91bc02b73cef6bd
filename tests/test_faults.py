"""The record of faults and its text."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from hal.errors import ProfileError
from sim.faults import HEALTHY, Faults, parse, stream


def test_no_text_is_a_healthy_board() -> None:
    """Without a word the board is healthy: contacts bounce 3 ms, and nothing else is wrong."""
    assert HEALTHY == parse("") == parse(" , ")
    assert Faults(bounce_us=3_000, glitch_hz=0, lead_bits=0, leds_fail_rate=0, lines_fail_rate=0) == HEALTHY
    assert (frozenset(), frozenset(), None, False) == (HEALTHY.stuck, HEALTHY.dead, HEALTHY.diodes, HEALTHY.idle_high)


def test_every_kind_of_value_is_read() -> None:
    """Durations, rates, switches and sets of cells are read from one line of text."""
    text = "bounce_us=0, stuck=a1+d4, dead=g7, glitch_hz=2.5, diodes=off, idle_high=on, lead_bits=1, lead_rate=0.01"
    expected = Faults(
        bounce_us=0,
        stuck=frozenset({0, 24}),
        dead=frozenset({48}),
        glitch_hz=2.5,
        diodes=False,
        idle_high=True,
        lead_bits=1,
        lead_rate=0.01,
    )
    assert expected == parse(text)


def test_faults_do_not_change() -> None:
    """A record of faults is frozen: what a run was started with is what it ran with."""
    with pytest.raises(FrozenInstanceError):
        HEALTHY.bounce_us = 0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bonce_us=3", "faults: bonce_us = '3': no such fault; the nearest is bounce_us"),
        ("settle=3", "the nearest is settle_us"),
        ("=3", "no such fault"),
        ("bounce_us", "faults: bounce_us = '': write a whole number"),
        ("bounce_us=3.5", "faults: bounce_us = '3.5': write a whole number"),
        ("glitch_hz=often", "faults: glitch_hz = 'often': write a number"),
        ("idle_high=1", "faults: idle_high = '1': write on or off"),
        ("stuck=h1", "faults: stuck = 'h1': write cells joined with +, such as a1+d4"),
        ("stuck=", "faults: stuck = '': write cells"),
        ("bounce_us=-1", "faults: bounce_us = -1: it must be from 0 to 1000000000"),
        ("lead_rate=1.5", "faults: lead_rate = 1.5: it must be from 0 to 1"),
        ("lead_rate=nan", "faults: lead_rate = nan: it must be from 0 to 1"),
        ("glitch_hz=inf", "faults: glitch_hz = inf: it must be from 0 to 1000000000"),
        ("spi_pct=0", "faults: spi_pct = 0: it must be from 1 to 1000000000"),
        ("stuck=a1+b1,dead=b1", "faults: dead = [1]: a cell is either stuck or dead"),
        ("dead=b1,dead=c1", "it is named twice"),
    ],
)
def test_what_cannot_be_is_refused(text: str, said: str) -> None:
    """A fault that is unknown, unreadable, impossible or named twice is refused in a sentence that names it."""
    with pytest.raises(ProfileError) as refusal:
        parse(text)
    assert said in str(refusal.value)


def test_streams_repeat_and_differ() -> None:
    """One seed and name always draw the same numbers; another seed or another name draws others."""
    drawn = [stream(seed, name).random() for seed, name in [(1, "bounce"), (1, "bounce"), (2, "bounce"), (1, "glitch")]]
    assert drawn[0] == drawn[1]
    assert 3 == len(set(drawn))
    assert 0.5168621031647389 == drawn[0]  # random.Random keeps its promise across versions and PYTHONHASHSEED
