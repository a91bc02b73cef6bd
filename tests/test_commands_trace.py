"""`morbak trace`: what a board in another process has recorded, played again in a third."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import IO

import pytest

from firmware import cli
from firmware.version import version
from tests.live import PROGRAM, Json, Live, running
from tests.live_play import QUICK, after, guard, quiet, to_play, touch, until

TRACES = Path(__file__).parent / "traces"
SIMULATOR = TRACES / "simulator.jsonl"
Output = pytest.CaptureFixture[str]


def replay(*files: Path) -> subprocess.CompletedProcess[str]:
    """In a process whose sets have another order."""
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    command = [sys.executable, *PROGRAM, "trace", "replay", *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@contextmanager
def recording(path: Path, *arguments: str) -> Iterator[Live]:
    settings = path.with_name("settings.toml")
    settings.write_text(QUICK)
    state = str(path.with_name("state"))
    with running(
        "--config", str(settings), "--state", state, *arguments, command=("trace", "record", str(path))
    ) as live:
        yield live


class Cabled(Live):
    """A board whose contacts are at the far end of a cable."""

    def __init__(self, live: Live, hands: IO[str]) -> None:
        super().__init__(live.process, live.port)
        self._hands = hands

    def say(self, move: str) -> None:
        print(move, file=self._hands, flush=True)

    def touch(self, cell: str, down: bool) -> None:
        self.say(f"{cell} {'down' if down else 'up'}")


@contextmanager
def at_a_cable(port: Path) -> Iterator[IO[str]]:
    """A board at a port, and where its hands are told what to do."""
    command = [sys.executable, "-m", "tests.served_hands", str(port)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as board:
        try:
            assert board.stdout is not None and board.stdin is not None
            board.stdout.readline()
            yield board.stdin
        finally:
            board.kill()


def play(live: Live, state: Json, chance: Random) -> Json:
    """Somebody acts; the state that comes of it."""
    action = quiet(state, chance)
    assert action is not None
    position = after(state, action)
    guard(live)
    touch(live, action)
    return until(live, lambda state: state["position"] == position)


@pytest.mark.realtime
def test_a_board_that_plays_in_another_process_is_played_again(tmp_path: Path, seed: int) -> None:
    """Touches, an operator's actions, a refused one and his orders: ended in order, all of it comes out the same.

    No line holds the operator's token.
    """
    path, chance = tmp_path / "evening.jsonl", Random(seed)
    with recording(path) as live:
        token = (tmp_path / "state" / "token").read_text(encoding="ascii").strip()
        headers = {"Authorization": f"Bearer {token}"}
        state = to_play(live)
        for _ in range(4):
            state = play(live, state, chance)
        action = quiet(state, chance)
        assert 200 == live.request("POST", "/api/v1/act", json.dumps({"action": action}), headers)[0]
        assert 409 == live.request("POST", "/api/v1/act", json.dumps({"action": action}), headers)[0]
        assert 0 == live.stop()
    done = replay(path)
    text = path.read_text()
    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.startswith(f"{path}: the same: {text.count(chr(10))} lines, 5 actions, ")
    assert "answer 2 " in text and '"do":"begin"' in text
    assert token not in text and "127.0.0.1" not in text


@pytest.mark.realtime
def test_a_trace_survives_the_kill_of_its_program(tmp_path: Path) -> None:
    """After kill -9 it can be read up to the last moment, says that it was not ended, and says what is torn."""
    path = tmp_path / "evening.jsonl"
    with recording(path) as live:
        to_play(live)
        size = path.stat().st_size
        while path.stat().st_size < size + 500:  # five times a second
            time.sleep(0.05)
        live.process.send_signal(signal.SIGKILL)
        live.process.wait(10)
    done = replay(path)
    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.endswith(" s. It was not ended in order: the program was killed.\n")
    assert '"phase play"' in path.read_text()
    path.write_bytes(path.read_bytes()[:-7])
    done = replay(path)
    lines = path.read_bytes().count(b"\n")
    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.endswith(f"The file ends in the middle of line {lines + 1}, which is left out.\n")


@pytest.mark.realtime
def test_a_board_at_the_end_of_a_cable_is_played_again(tmp_path: Path, seed: int) -> None:
    """Recorded over a pseudo terminal, from a board that fell silent once: the same without board and cable."""
    path, port, chance = tmp_path / "evening.jsonl", tmp_path / "board", Random(seed)
    with at_a_cable(port) as hands, recording(path, "--board", f"serial:{port}") as live:
        cabled = Cabled(live, hands)
        state = to_play(cabled)
        for _ in range(3):
            state = play(cabled, state, chance)
        cabled.say("silent")
        until(live, lambda state: not state["health"]["parts"]["link"]["ok"])
        until(live, lambda state: state["health"]["parts"]["link"]["ok"])
        play(cabled, state, chance)
        assert 0 == live.stop()
    text = path.read_text()
    done = replay(path)
    assert (0, "") == (done.returncode, done.stderr)
    assert " 4 actions, " in done.stdout
    assert '"driver":"serial"' in text and '"do":"unseen"' in text


# -- what the command says -------------------------------------------------------------------------------------------


def says(capsys: Output, *files: Path) -> tuple[int, str, str]:
    status = cli.main(["trace", "replay", *map(str, files)])
    return status, *capsys.readouterr()


def test_every_file_is_played(capsys: Output) -> None:
    """One line for each that is the same, with its figures."""
    status, out, err = says(capsys, *sorted(TRACES.glob("*.jsonl")))
    assert (0, "") == (status, err)
    assert [True, True] == [": the same: " in line for line in out.splitlines()]
    assert f"{SIMULATOR}: the same: 298 lines, 12 actions, 217 frames, 8.5 s.\n" in out


def test_a_difference_ends_in_1(tmp_path: Path, capsys: Output) -> None:
    """One sentence on standard error; the files after it are played all the same."""
    path = tmp_path / "t.jsonl"
    path.write_text(SIMULATOR.read_text().replace("played e7", "played e6"))
    status, out, err = says(capsys, path, SIMULATOR)
    assert 1 == status
    assert err.startswith(f"morbak: {path}: line 206, ") and err.endswith(
        "expected played e6 at 1800761000, got played e7 at 1800761000.\n"
    )
    assert out.startswith(f"{SIMULATOR}: the same")


def test_a_difference_names_the_program_that_recorded(tmp_path: Path, capsys: Output) -> None:
    """Where it was another version, that may be why."""
    path = tmp_path / "t.jsonl"
    text = SIMULATOR.read_text().replace("played e7", "played e6")
    path.write_text(text.replace(f'"software":"{version()}"', '"software":"0.0.9"'))
    assert f" Recorded by 0.0.9, not {version()}.\n" in says(capsys, path)[2]


@pytest.mark.parametrize(
    ("reason", "lost", "text"),
    [
        ("full", 0, "The recording ended there because the file was full."),
        ("behind", 9, "The recording ended there because the disk was too slow; at least 9 lines are not in it."),
    ],
)
def test_why_a_recording_ended_early_is_said(tmp_path: Path, capsys: Output, reason: str, lost: int, text: str) -> None:
    """A file that was full, and a disk that was too slow, with what is not in the trace."""
    path = tmp_path / "t.jsonl"
    end = json.dumps({"n": 298, "do": "end", "t": 1803869870, "reason": reason, "lost": lost})
    path.write_text("".join([*SIMULATOR.read_text().splitlines(keepends=True)[:-1], end, "\n"]))
    status, out, err = says(capsys, path)
    assert (0, "") == (status, err)
    assert out.endswith(f" s. {text}\n")


def test_what_is_no_trace_ends_in_2(tmp_path: Path, capsys: Output) -> None:
    """A damaged file, one of a newer program, an empty one and one that is not there: each its sentence."""
    path = tmp_path / "t.jsonl"
    for text, said in (
        (SIMULATOR.read_text().replace('"n":7,', '"n":8,', 1), "line 7: it was line 8"),
        (SIMULATOR.read_text().replace('"v":1,', '"v":9,', 1), "line 1: it is a trace of version 9"),
        (SIMULATOR.read_text().replace('"quiet":"",', '"quiet":"x",', 1), "line 1: no board is like that"),
        (SIMULATOR.read_text() + '{"n":299,"do":"check","t":1803869870}\n', "line 299: it comes after the end."),
        ("", "there is no whole line in it"),
    ):
        path.write_text(text)
        status, out, err = says(capsys, path)
        assert (2, "") == (status, out)
        assert err.startswith(f"morbak: {path}: {said}")
    path.unlink()
    assert (2, "", f"morbak: {path}: the trace cannot be read: No such file or directory.\n") == says(capsys, path)


def test_a_size_that_is_none_is_refused(capsys: Output) -> None:
    """Of megabytes it takes one at least."""
    with pytest.raises(SystemExit):
        cli.main(["trace", "record", "--most-mb", "0", "/nonexistent/t.jsonl"])
    assert "'0': a whole number of megabytes, 1 or more, is wanted" in capsys.readouterr().err
