"""Events: a name and fields, on a terminal as a line, in journald's own protocol as fields; and the last in memory."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pwd
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware.chronicle import AGAIN_US, Chronicle
from firmware.events import Journal, Recent, say, under_journald
from firmware.report import bundle, redact
from firmware.stalls import Stalls
from hal.ports import Part
from tests.scene import BETWEEN_US, S, Scene, playing


@pytest.fixture
def recent() -> Iterator[Recent]:
    """Everything logged while a test runs."""
    root, kept = logging.getLogger("morbak"), Recent()
    level = root.level
    root.setLevel(logging.INFO)
    root.addHandler(kept)
    yield kept
    root.removeHandler(kept)
    root.setLevel(level)


def texts(recent: Recent) -> list[str]:
    return [line["text"] for line in recent.lines()]


def test_an_event_is_a_line_that_can_be_read_and_searched(recent: Recent) -> None:
    """Values with blanks are quoted, None is left out, and line and level are kept."""
    say("game_ended", game=12, result="a", text='he said "no"\nand left', none=None)
    say("part_failed", logging.WARNING, part="leds")
    told = recent.lines()
    assert 'game_ended game=12 result=a text="he said \\"no\\"\\nand left"' == told[0]["text"]
    assert ("warning", "part_failed part=leds") == (told[1]["level"], told[1]["text"])


def test_only_the_last_lines_are_kept_and_long_ones_are_cut() -> None:
    """Memory is bounded, whatever is logged."""
    kept = Recent(3)
    for number in range(10):
        kept.emit(logging.LogRecord("morbak", logging.INFO, "", 0, "x" * 10_000 + str(number), (), None))
    assert [4000, 4000, 4000] == [len(line["text"]) for line in kept.lines()]
    assert 2 == len(kept.lines(2))


def test_journald_gets_fields(tmp_path: Path) -> None:
    """One datagram an event: message, priority, the event's name and its fields, several lines by their length."""
    address = str(tmp_path / "journal")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.bind(address)
        server.settimeout(5)
        handler, log = Journal(address), logging.getLogger("morbak.test_journald")
        log.propagate, log.handlers = False, [handler]
        log.warning("one\ntwo", extra={"event": "stall", "fields": {"after_ms": 300}})
        data = server.recv(65536)
        handler.close()
    assert b"PRIORITY=4\n" in data
    assert b"MORBAK_EVENT=stall\nMORBAK_AFTER_MS=300\n" in data
    assert b"MESSAGE\n\x07\x00\x00\x00\x00\x00\x00\x00one\ntwo\n" in data


def test_a_journal_that_is_away_is_replaced_by_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is lost and nothing raised: the line goes to stderr with its priority."""
    handler = Journal(str(tmp_path / "none"))
    handler.emit(logging.LogRecord("morbak", logging.ERROR, "", 0, "broken", (), None))
    handler.close()
    assert "<3>broken\n" == capsys.readouterr().err


def test_the_journal_is_used_only_where_stderr_is_its_own() -> None:
    """systemd names the stream's device and inode; a redirected stderr is no journal."""
    read, write = os.pipe()
    info = os.fstat(write)
    assert under_journald({"JOURNAL_STREAM": f"{info.st_dev}:{info.st_ino}"}, write)
    assert not under_journald({"JOURNAL_STREAM": f"{info.st_dev}:{info.st_ino + 1}"}, write)
    assert not under_journald({}, write)
    os.close(read)
    os.close(write)


# -- the chronicle -----------------------------------------------------------------------------------------------------


def chronicled(scene: Scene) -> Chronicle:
    chronicle = Chronicle(scene.drive.engine, scene.drive.clock)
    scene.drive.heard.append(lambda _: chronicle.look())
    return chronicle


def test_games_are_told_from_their_start_to_their_end(recent: Recent) -> None:
    """A game that runs, is paused, goes on and ends is told with number, result and reason, each once."""
    scene = Scene()
    chronicle = chronicled(scene)
    scene.play()
    scene.moves("d4", "a1", "d5", "a2", "d6", "a3")
    scene.table.order(scene.now_us, scene.table.press_button)
    scene.wait(S)
    scene.tap("c4")
    scene.wait(BETWEEN_US)
    scene.moves("d3")
    told = [text.partition(" ")[0] for text in texts(recent)]
    assert ["game_runs", "game_paused", "game_runs", "game_ended"] == told
    assert texts(recent)[-1].endswith("reason=line moves=7")
    assert 1 == chronicle.games


def test_a_part_that_comes_and_goes_does_not_fill_the_log(recent: Recent) -> None:
    """It is told when it fails and when it is well, but no more often than once a minute."""
    scene = playing()
    chronicle = chronicled(scene)
    engine = scene.drive.engine
    for second in range(300):
        engine._parts = {"leds": Part(second % 2 == 1, "unplugged")}
        scene.wait(S)
        engine._parts = {"leds": Part(second % 2 == 1, "unplugged")}
        chronicle.look()
    told = [text for text in texts(recent) if text.startswith("part_")]
    assert "part_failed part=leds text=unplugged" == told[0]
    assert 300 * S // AGAIN_US - 1 <= len(told) <= 300 * S // AGAIN_US + 1


# -- stalls ------------------------------------------------------------------------------------------------------------


def hold_up_the_loop(end: threading.Event) -> None:
    end.wait(30)


@pytest.mark.realtime
def test_a_stall_names_who_held_up_the_loop(recent: Recent, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stack of the loop's thread tells which function it is in, while it is in it, and how long it took."""
    monkeypatch.setattr("firmware.stalls.OURS", ("/tests/",))

    async def play() -> Stalls:
        stalls = Stalls(asyncio.get_running_loop(), 0.02, 0.05, 0)
        end = threading.Event()
        watcher = threading.Thread(target=until_told, args=(recent, end))
        watcher.start()
        await asyncio.sleep(0)
        hold_up_the_loop(end)
        await asyncio.sleep(0.2)
        stalls.close()
        watcher.join()
        return stalls

    stalls = asyncio.run(play())
    told = [text for text in texts(recent) if "hold_up_the_loop" in text]
    assert told[0].startswith("loop_stalls culprit=")
    assert "hold_up_the_loop, in wait" in told[0]
    assert any(text.startswith("loop_runs_again") for text in told)
    assert stalls.count >= 1
    assert stalls.longest_s > 0.05


def until_told(recent: Recent, end: threading.Event) -> None:
    """Let the loop go once it was told of."""
    deadline_s = time.monotonic() + 20
    while time.monotonic() < deadline_s and not any("loop_stalls" in text for text in texts(recent)):
        time.sleep(0.01)
    end.set()


# -- redaction ---------------------------------------------------------------------------------------------------------


def test_a_report_is_redacted_and_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens, homes, users, addresses and the machine's name are left out; the same files give the same bytes."""
    text = (
        f"s3cr3t /srv/anna/x /home/user7/y of anna, root 192.168.1.20 127.0.0.1 {socket.gethostname()} 12:34:56+01:00"
    )
    assert "[token] ~/x ~/y of [user], root [address] 127.0.0.1 [host] 12:34:56+01:00" == redact(
        text, ["s3cr3t", ""], {"HOME": "/srv/anna", "SUDO_USER": "anna", "USER": "root"}
    )
    for address in ("fe80:0:0:1:2:3", "fe80::1", "2001:DB8:85a3::8a2e:370:7334", "DC:A6:32:01:02:03"):
        assert "at [address]." == redact(f"at {address}.")
    assert "lgpio 0.2.2.0" == redact("lgpio 0.2.2.0")
    monkeypatch.setattr("pwd.getpwall", lambda: [pwd.struct_passwd(("bo", "x", 1000, 1000, "", "/home/bo", "/bin/sh"))])
    assert "su - [user] -c, board" == redact("su - bo -c, board")
    files = {"a.txt": text, "b.json": json.dumps({"token": "s3cr3t"})}
    assert bundle(files, ["s3cr3t"]) == bundle(dict(files), ["s3cr3t"])
    assert b"s3cr3t" not in bundle(files, ["s3cr3t"])
