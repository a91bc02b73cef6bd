"""The file of a trace: written beside the play, bounded, never over another, and honest about what is not in it."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

import pytest

from firmware import trace_recorder
from firmware.arguments import Misuse
from firmware.trace import Begin, Check, Frame
from firmware.trace_recorder import Recorder, recording
from firmware.trace_tape import Slot
from hal.ports import Part

MB = 1_000_000


def told(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def begins(count: int) -> list[Slot]:
    return [Slot(Begin(t=t)) for t in range(count)]


def test_lines_stand_in_the_order_of_their_slots(tmp_path: Path) -> None:
    """A step that is not over yet holds back what came after it; the end is the last line."""
    recorder = Recorder(tmp_path / "t.jsonl", MB, period_s=0.001)
    late, (first, last) = Slot(), begins(2)
    for slot in (first, late, last):
        recorder.put(slot)
    while (tmp_path / "t.jsonl").stat().st_size == 0:
        time.sleep(0.001)
    assert 1 == len(told(tmp_path / "t.jsonl"))
    late.line = Begin(t=5)
    recorder.close()
    lines = [(line["n"], line["do"], line["t"]) for line in told(tmp_path / "t.jsonl")]
    assert [(1, "begin", 0), (2, "begin", 5), (3, "begin", 1), (4, "end", 5)] == lines


def test_a_step_that_never_ends_does_not_hold_up_the_close(tmp_path: Path) -> None:
    """What came before it is there, and the end."""
    recorder = Recorder(tmp_path / "t.jsonl", MB)
    for slot in (*begins(1), Slot(), *begins(1)):
        recorder.put(slot)
    recorder.close()
    assert ["begin", "end"] == [line["do"] for line in told(tmp_path / "t.jsonl")]


def test_a_trace_ends_where_it_is_full(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A longer one than was asked for is ended, says so in its last line, and takes nothing more."""
    recorder = Recorder(tmp_path / "t.jsonl", 1000)
    for slot in begins(100):
        recorder.put(slot)
    recorder.close()
    recorder.put(*begins(1))
    lines = told(tmp_path / "t.jsonl")
    assert ("end", "full") == (lines[-1]["do"], lines[-1]["reason"])
    assert 1000 < (tmp_path / "t.jsonl").stat().st_size < 1200
    assert "The trace ends here, play goes on" in caplog.text
    assert not recorder._slots


def test_what_a_slow_disk_could_not_take_is_counted_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """While the disk stands still nobody waits; the queue is bounded, and where it overflowed the trace ends."""
    stands, goes_on, write = threading.Event(), threading.Event(), os.write

    def slow(file: int, data: bytes) -> int:
        stands.set()
        goes_on.wait(10)
        return write(file, data)

    monkeypatch.setattr(trace_recorder.os, "write", slow)
    recorder = Recorder(tmp_path / "t.jsonl", MB, queue=50, period_s=0.001)
    recorder.put(*begins(1))
    assert stands.wait(10)
    for slot in begins(60):
        recorder.put(slot)
    assert (50, 10) == (len(recorder._slots), recorder.lost)
    goes_on.set()
    recorder.close()
    lines = told(tmp_path / "t.jsonl")
    assert 52 == len(lines)
    assert {"n": 52, "do": "end", "t": 49, "reason": "behind", "lost": 10} == lines[-1]
    assert "the disk was too slow" in caplog.text


def test_a_disk_that_fails_ends_the_trace_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A full disk is said once, in one sentence; whoever plays notices nothing."""

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(trace_recorder.os, "write", full)
    recorder = Recorder(tmp_path / "t.jsonl", MB, period_s=0.001)
    recorder.put(*begins(1))
    recorder._thread.join(10)
    recorder.put(*begins(1))
    recorder.close()
    said = f"The trace ends here, play goes on: {tmp_path / 't.jsonl'} cannot be written (No space left on device)."
    assert [said] == [record.getMessage() for record in caplog.records]


def test_a_line_that_cannot_be_made_ends_the_trace_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A sentence that is no text, as of a path with stray bytes, is logged with its stack; what came before stays."""
    recorder = Recorder(tmp_path / "t.jsonl", MB, period_s=0.001)
    recorder.put(*begins(1))
    while (tmp_path / "t.jsonl").stat().st_size == 0:
        time.sleep(0.001)
    recorder.put(Slot(Check(t=1, parts={"root": Part(False, "\udcff")})))
    recorder._thread.join(10)
    recorder.close()
    assert f"The trace ends here, play goes on: a line for {tmp_path / 't.jsonl'} cannot be made." in caplog.text
    assert ["begin"] == [line["do"] for line in told(tmp_path / "t.jsonl")]


def test_no_trace_is_written_over(tmp_path: Path) -> None:
    """Where a file is already, the next start has one beside it, with a number."""
    paths = []
    for _ in range(3):
        recorder = Recorder(tmp_path / "t.jsonl", MB)
        recorder.close()
        paths.append(recorder.path.name)
    assert ["t.jsonl", "t.2.jsonl", "t.3.jsonl"] == paths


def test_a_place_that_takes_no_file_is_refused(tmp_path: Path) -> None:
    """Before anything plays, in one sentence with the name and the reason."""
    with (
        pytest.raises(Misuse, match=r"no/t.jsonl: no trace can be recorded there: No such file or directory\.$"),
        recording(tmp_path / "no" / "t.jsonl", MB, "sim"),
    ):
        pass


def test_an_hour_of_frames_has_a_known_size(tmp_path: Path) -> None:
    """At 30 frames a second, as in attract, an hour takes less than 12 MB."""
    recorder = Recorder(tmp_path / "t.jsonl", MB)
    for number in range(30 * 60):
        recorder.put(Slot(Frame(t=80_000_000_000 + number * 33_333, p=10_000, pct=100, cells=bytes(147))))
    recorder.close()
    assert 60 * (tmp_path / "t.jsonl").stat().st_size < 12_000_000
