"""Many who watch: the slow and the dead are dropped and hold nobody up, and drumming fingers make no board flash."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest

from firmware.web import hub
from firmware.web.hub import BACKLOG, Watcher
from sim.flashes import Flashes
from tests.live import Live, running

pytestmark = pytest.mark.realtime

CELLS = [f"{column}{row}" for row in range(1, 8) for column in "abcdefg"]
FRAME = bytes(147)


class StuckSocket:
    """A socket whose other end takes nothing."""

    def __init__(self) -> None:
        self.sent = 0

    async def send_text(self, text: str) -> None:
        """Never returns."""
        self.sent += 1
        await asyncio.Event().wait()

    async def send_bytes(self, data: bytes) -> None:
        """Never returns."""
        await asyncio.Event().wait()


class KeenSocket:
    """A socket that takes everything at once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.frames: list[bytes] = []

    async def send_text(self, text: str) -> None:
        """Note it."""
        self.texts.append(text)

    async def send_bytes(self, data: bytes) -> None:
        """Note it."""
        self.frames.append(data)


def test_a_watcher_that_takes_nothing_is_dropped_not_buffered() -> None:
    """However much is told, a watcher that takes nothing holds a bounded number of texts and one frame, and ends."""

    async def scene() -> tuple[bool, int, int]:
        stuck = StuckSocket()
        watcher = Watcher(stuck)  # type: ignore[arg-type]
        pump = asyncio.create_task(watcher.pump())
        for _ in range(10 * BACKLOG):
            if watcher.slow:
                break
            watcher.tell("text")
            watcher.show(FRAME)
            await asyncio.sleep(0)
        held = len(watcher._texts)
        pump.cancel()
        return watcher.slow, stuck.sent, held

    slow, sent, held = asyncio.run(scene())
    assert (True, 1) == (slow, sent)
    assert held <= BACKLOG + 1


def test_of_frames_only_the_newest_waits() -> None:
    """A watcher that comes late gets every text in order, and of the frames the newest only."""

    async def scene() -> KeenSocket:
        keen = KeenSocket()
        watcher = Watcher(keen)  # type: ignore[arg-type]
        for at in range(20):
            watcher.tell(str(at))
            watcher.show(bytes([at]) * 147)
        pump = asyncio.create_task(watcher.pump())
        for _ in range(30):
            await asyncio.sleep(0)
        pump.cancel()
        return keen

    keen = asyncio.run(scene())
    assert [str(at) for at in range(20)] == keen.texts
    assert [bytes([19]) * 147] == keen.frames


def test_a_late_wake_up_costs_no_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though every pause lasts 1 ms too long, 600 frames take 10 s; a second that was missed is not made up for."""
    now_s = 100.0

    async def sleep(seconds: float) -> None:
        nonlocal now_s
        now_s += seconds + 0.001 if seconds else 0.0

    clock = SimpleNamespace(time=lambda: now_s)
    monkeypatch.setattr(
        hub, "asyncio", SimpleNamespace(Event=asyncio.Event, get_running_loop=lambda: clock, sleep=sleep)
    )

    async def pauses(count: int) -> float:
        begun_s = now_s
        for _ in range(count):
            await watcher._pause()
        return now_s - begun_s

    watcher = Watcher(KeenSocket())  # type: ignore[arg-type]
    assert 10.0 == pytest.approx(asyncio.run(pauses(600)), abs=0.02)
    now_s += 1.0
    assert 1.0 == pytest.approx(asyncio.run(pauses(60)), abs=0.04)


@contextmanager
def deaf(live: Live) -> Iterator[socket.socket]:
    """A socket on the events whose owner reads nothing but the answer to its request, and has room for little."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", live.port))
        connection.sendall(
            f"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:{live.port}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Key: MTIzNDU2Nzg5MDEyMzQ1Ng==\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        connection.recv(64)
        yield connection


def test_deaf_and_dead_watchers_hold_nobody_up(quick: Path) -> None:
    """With watchers that read nothing and others that vanish, one that listens still gets every state in order."""
    with running("--seed", "1", "--config", str(quick)) as live, ExitStack() as others, live.watch() as watch:
        for _ in range(10):
            others.enter_context(deaf(live))
        for _ in range(10):
            with deaf(live) as gone:
                gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # no goodbye
        play(live)
        for cell in CELLS[:6]:
            while live.state()["last_action"] != cell:
                live.tap(cell)
        watch.until(lambda: bool(watch.states) and watch.states[-1]["last_action"] == CELLS[5])
        numbers = [state["seq"] for state in watch.states]
        assert sorted(set(numbers)) == numbers
        assert set(range(numbers[0], numbers[-1] + 1)) == set(numbers)


@pytest.fixture
def quick(tmp_path: Path) -> Path:
    """Settings under which a game begins at once and fingers may drum."""
    settings = tmp_path / "morbak.toml"
    settings.write_text("[touch]\nturn_guard_ms = 1\n[phases]\nlobby_ms = 50\nlot_ms = 50\n")
    return settings


def play(live: Live) -> None:
    """From the invitation to the first turn."""
    while live.state()["phase"] != "play":
        if live.state()["phase"] == "attract":
            live.tap("d4")


@pytest.mark.long
def test_a_minute_of_drumming_fingers_does_not_flash(quick: Path, seed: int, prove: bool) -> None:
    """What a page's socket gets while fingers drum all over the board has at most 3 flashes of a cell in any second."""
    random = Random(seed)
    with running("--seed", "1", "--config", str(quick)) as live, live.watch() as watch:
        play(live)
        flashes, held = Flashes(wire=True), dict[str, float]()
        begun_s = time.monotonic()
        while (now_s := time.monotonic()) < begun_s + (60 if prove else 6):
            for cell in [cell for cell, until_s in held.items() if until_s < now_s]:
                watch.socket.send(json.dumps({"cell": cell, "down": False}))
                del held[cell]
            if len(held) < 3 and random.random() < 0.3:
                cell = random.choice(CELLS[:14])  # few cells, so that each is touched often
                watch.socket.send(json.dumps({"cell": cell, "down": True}))
                held[cell] = now_s + random.choice((0.03, 0.06, 0.12, 0.9))
            watch.frames.clear()
            watch.until(lambda: bool(watch.frames), 5)
            flashes.see(round((time.monotonic() - begun_s) * 1e6), watch.frames[-1])
        assert len(flashes.rises) > 3
        assert flashes.worst <= 3
