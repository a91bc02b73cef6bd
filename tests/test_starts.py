"""Starts that die: what counts, what does not, when it is enough, and what is said of it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from firmware.start_record import END, FILE, StartRecord
from firmware.starts import ENOUGH, QUICK_US, SOUND_US, Reason, Record, aged, failed, following
from hal.errors import PartError

WATCHDOG = "watchdog killed ABRT"
S = 1_000_000


def died(record: Record, age_us: int, end: str = "exit-code exited 1") -> Record:
    """The start after one that has lived so long."""
    return following(aged(record, age_us), end)


def test_five_quick_deaths_in_a_row_are_enough() -> None:
    """The fifth start in a row that dies within 30 s makes the next one safe, the fourth does not (case F25)."""
    record = following(None, "")
    for count in range(ENOUGH):
        assert (count, False) == (record.deaths, record.safe)
        record = died(record, QUICK_US - 1)
    assert (5, True) == (record.deaths, record.safe)


def test_a_clean_minute_clears_the_count() -> None:
    """Sixty seconds without dying clear it; between 30 s and 60 s a death counts for nothing and clears nothing."""
    record = Record(deaths=4)
    assert [5, 4, 0] == [died(record, age_us).deaths for age_us in (QUICK_US - 1, SOUND_US - 1, SOUND_US)]


def test_an_end_in_order_and_a_power_cut_begin_anew() -> None:
    """Whoever stops the board by hand, and whoever pulls the plug, finds a start like the first."""
    assert Record() == following(None, "")


def test_safe_mode_is_left_by_hand_alone() -> None:
    """Neither a long life in safe mode nor a death in it leads out of it."""
    safe = Record(deaths=ENOUGH)
    assert [True, True] == [died(safe, age_us).safe for age_us in (0, 1_000 * SOUND_US)]


def test_starts_that_die_wait_longer_each_time() -> None:
    """The restart backs off: not at all at first, then half a second and more, and a minute at most in safe mode."""
    pauses = [Record(deaths=deaths).pause_s for deaths in range(15)]
    assert [0, 0, 0.5, 1, 2, 0, 2, 4, 8, 16, 32, 60, 60, 60, 60] == pauses


@pytest.mark.parametrize(
    ("end", "stalled", "code", "words"),
    [
        (WATCHDOG, ("leds",), "hung", "The leds stood still"),
        (WATCHDOG, (), "hung", "The loop stood still"),
        ("timeout killed KILL", (), "slow", "not ready in time"),
        ("oom-kill killed KILL", (), "killed", "no memory left"),
        ("signal killed SEGV", (), "killed", "the signal SEGV"),
        ("core-dump dumped ABRT", (), "killed", "the signal ABRT"),
        ("exit-code exited 2", (), "failed", "exit status 2"),
        ("", (), "unknown", "without a word"),
        ("protocol", (), "unknown", "without a word"),
    ],
)
def test_the_reason_is_what_systemd_knows(end: str, stalled: tuple[str, ...], code: str, words: str) -> None:
    """How a service ended is told in a sentence, with the part that stood still where that was seen."""
    reason = following(Record(stalled=stalled), end).reason
    assert reason is not None
    assert (code, True) == (reason.code, words in reason.text)


def test_a_start_that_knows_why_it_dies_says_it() -> None:
    """An error of ours is a sentence and stays one; of a stranger's the kind is named too."""
    assert Reason("failed", "no LEDs here") == failed(PartError("no LEDs here"))
    assert Reason("failed", "ZeroDivisionError: division by zero") == failed(ZeroDivisionError("division by zero"))
    reason = Reason("failed", "no LEDs here")
    assert reason == following(Record(dying=reason), "exit-code exited 2").reason


# -- on the disk -------------------------------------------------------------------------------------------------------


def start(folder: Path, end: str = "") -> StartRecord:
    """A start, after an end that systemd knows of."""
    if end:
        (folder / END).write_text(f"{end}\n")
    return StartRecord(folder)


def test_deaths_are_counted_from_start_to_start(tmp_path: Path) -> None:
    """What a start leaves behind is found by the next, with its reason; an end in order leaves nothing."""
    start(tmp_path)
    record = start(tmp_path, WATCHDOG)
    assert (1, "hung") == (record.record.deaths, record.record.reason and record.record.reason.code)
    record.lived(SOUND_US, ())
    record = start(tmp_path, WATCHDOG)
    assert 0 == record.record.deaths
    with pytest.raises(PartError), record.watched():
        raise PartError("no LEDs")
    record = start(tmp_path)
    assert Reason("failed", "no LEDs") == record.record.reason
    with record.watched():
        pass
    assert Record() == start(tmp_path).record


def test_an_old_end_is_told_once(tmp_path: Path) -> None:
    """How the start before last ended is no reason for the death of the last."""
    start(tmp_path)
    start(tmp_path, "signal killed SEGV")
    record = start(tmp_path)
    assert (2, "unknown") == (record.record.deaths, record.record.reason and record.record.reason.code)


@pytest.mark.parametrize("content", [b"", b"\0\0", b"{", b'{"deaths": "many"}'])
def test_a_torn_record_counts_nothing(tmp_path: Path, content: bytes) -> None:
    """A record that cannot be read makes no start fail, and counts as none."""
    (tmp_path / FILE).write_bytes(content)
    assert Record() == start(tmp_path).record


def test_nobody_counts_in_a_terminal(tmp_path: Path) -> None:
    """Without a service manager, and in a directory that is gone, starts work and leave nothing."""
    StartRecord.begin({"RUNTIME_DIRECTORY": str(tmp_path)}).lived(S, ())
    assert [] == list(tmp_path.iterdir())
    StartRecord.begin({"RUNTIME_DIRECTORY": str(tmp_path / "gone"), "NOTIFY_SOCKET": "@x"}).lived(S, ())


# -- a program that dies -----------------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@pytest.mark.realtime
def test_a_board_that_cannot_start_ends_in_a_safe_mode_that_says_why(tmp_path: Path) -> None:
    """The fifth start with a setting that cannot work dies; the next shows the dark pattern, plays nothing, hears
    nobody, and tells the reason in the state; restarted by hand it tries again.
    """
    runtime, settings = tmp_path / "run", tmp_path / "settings.toml"
    runtime.mkdir()
    settings.write_text("[touch]\nhold_ms = -1\n")
    port = free_port()
    environ = {**os.environ, "RUNTIME_DIRECTORY": str(runtime), "NOTIFY_SOCKET": "@nobody-listens-here"}
    command = [sys.executable, "-m", "firmware.cli", "run", "--port", str(port)]
    command += ["--config", str(settings), "--state", str(tmp_path / "state")]
    (runtime / FILE).write_text(json.dumps({"deaths": ENOUGH - 2}))
    assert 2 == subprocess.run(command, env=environ, capture_output=True, timeout=60).returncode
    process = subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True)
    try:
        state = awaited(f"http://127.0.0.1:{port}/api/v1/state")
        assert ("safe", "failed", []) == (state["phase"], state["safe"]["code"], state["legal"])
        assert "hold_ms = -1" in state["safe"]["text"]
        assert (False, state["safe"]["text"]) == tuple(state["health"]["parts"]["start"].values())
        frame = awaited(f"http://127.0.0.1:{port}/api/v1/frame")["cells"]
        assert {0, 6, 42, 48} >= {cell for cell, light in enumerate(frame) if light != "#000000"}
    finally:
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=20)
    assert 0 == process.returncode
    assert "Safe mode, after 5 starts in a row that died" in told
    assert not (runtime / FILE).exists()


def awaited(address: str, within_s: float = 20) -> Any:
    """What stands at an address, once somebody answers there."""
    end_s = time.monotonic() + within_s
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:  # noqa: S310
                return json.load(answer)
        except OSError:
            if time.monotonic() > end_s:
                raise
            time.sleep(0.05)
