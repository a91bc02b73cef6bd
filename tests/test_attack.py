"""An attack on a running board over its network: whatever is sent, nothing changes and scans go on."""

from __future__ import annotations

import http.client
import json
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from firmware.ctl_socket import ask
from firmware.web.attempts import KEPT, TRIES, WITHIN_S, Attempts
from firmware.web.server import WATCHERS
from tests.live import Json, Live, running

pytestmark = pytest.mark.realtime

COMMANDS: list[Json] = [
    {"do": "status"}, {"do": "logs"}, {"do": "clean"}, {"do": "end"}, {"do": "pause"}, {"do": "resume"},
    {"do": "restart"}, {"do": "mask", "cell": "d4"}, {"do": "unmask", "cell": "d4"}, {"do": "act", "action": "d4"},
    {"do": "settings", "total_s": 60, "quiet": "00:00-00:00", "brightness_pct": 10},
]  # fmt: skip
READS = ["/api/v1/operator", "/api/v1/operator/logs", "/api/v1/operator/report"]
TRAVERSALS = [
    "/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2fserver.py", "/static/....//server.py",
    "/static/%2e%2e%2f%2e%2e%2f%2e%2e%2fetc/passwd", "/static//etc/passwd", "/static/%00", "/operator/../token",
    "/operator/token", "/static/\\..\\server.py", "/static/..%5cserver.py", "//etc/passwd", "/static/%c0%ae%c0%ae/x",
]  # fmt: skip


class Target:
    """A running board, and what of it must not change."""

    def __init__(self, live: Live, state: Path) -> None:
        self.live, self.state = live, state
        self.token = (state / "token").read_text(encoding="ascii").strip()

    def standing(self) -> tuple[object, ...]:
        """Position, phase, what is set, and what is on the disk of that."""
        state = self.live.state()
        settings = self.ctl(do="status")["settings"]
        kept = self.state / "board.json"
        keys = ("phase", "position", "chosen", "masked", "match", "cleans_ms", "safe")
        return (*(state[key] for key in keys), settings, kept.exists() and kept.read_bytes())

    def ctl(self, **command: object) -> Json:
        return ask(self.state / "ctl.sock", json.dumps(command).encode())

    def send(
        self, method: str, path: str, body: bytes | str | None = None, *, host: str = "127.0.0.1", **headers: str
    ) -> tuple[int, Any]:
        """One request from an address of this machine; status, and the code of the refusal."""
        connection = http.client.HTTPConnection("127.0.0.1", self.live.port, timeout=30, source_address=(host, 0))
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            data = answer.read()
        finally:
            connection.close()
        with suppress(ValueError, KeyError, TypeError):
            return answer.status, json.loads(data)["error"]["code"]
        return answer.status, None

    def bearer(self, token: str | None = None) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token if token is None else token}"}


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    state = tmp_path_factory.mktemp("state")
    with running("--seed", "1", "--state", str(state)) as live:
        yield Target(live, state)


@pytest.fixture(autouse=True)
def _nothing_changes(target: Target) -> Iterator[None]:
    """After every attack the board is as it was, alive, and nothing was lost."""
    before = target.standing()
    yield
    assert before == target.standing()
    assert 0 == target.ctl(do="status")["figures"]["lost_touches"]
    assert target.live.process.poll() is None


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command["do"])
def test_no_command_without_the_token(target: Target, command: Json) -> None:
    """Without a token, with a wrong one, in another scheme, in the address or in a cookie: 401, and nothing changes."""
    body = json.dumps(command)
    tries: list[tuple[str, dict[str, str]]] = [
        ("", {}), ("", target.bearer("")), ("", target.bearer(target.token[:-1])),
        ("", {"Authorization": f"Basic {target.token}"}), ("", {"Cookie": f"token={target.token}"}),
        (f"?token={target.token}", {}),
    ]  # fmt: skip
    for number, (query, headers) in enumerate(tries):
        sent = target.send("POST", f"/api/v1/operator{query}", body, host=f"127.0.1.{number + 1}", **headers)
        assert sent in ((401, "unauthorized"), (429, "too_many"))
    assert (401, "unauthorized") == target.send("POST", "/api/v1/act", '{"action":"d4"}')


@pytest.mark.parametrize("path", READS)
def test_nothing_is_read_without_the_token(target: Target, path: str) -> None:
    """Status, log and report are for the operator alone."""
    assert (401, "unauthorized") == target.send("GET", path)


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH"])
def test_only_a_post_changes_anything(target: Target, method: str) -> None:
    """With the token, and whatever the body says, no other method carries out a command."""
    for command in COMMANDS[2:]:
        status, _ = target.send(method, "/api/v1/operator", json.dumps(command), **target.bearer())
        assert status == (200 if method in ("GET", "HEAD") else 405)


def test_other_sites_are_refused_even_with_the_token(target: Target) -> None:
    """A page of another site, or one that has made the board's address its own name, may neither post nor watch."""
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}):
        for command in COMMANDS:
            status, _ = target.send("POST", "/api/v1/operator", json.dumps(command), **target.bearer(), **headers)
            assert 403 == status
        assert 403 == target.send("GET", "/api/v1/operator", **target.bearer(), **headers)[0]
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://127.0.0.1:{target.live.port}/api/v1/events", origin="http://evil.example")  # type: ignore[arg-type]
    assert 403 == refused.value.response.status_code


def test_what_is_no_command_is_refused_with_the_token(target: Target, seed: int) -> None:
    """Random bytes, broken JSON, deep nesting, wrong kinds and a body of 5 kB are refused, each with a code."""
    chance = random.Random(seed)
    texts = [json.dumps(command) for command in COMMANDS]
    bodies = [chance.randbytes(chance.randrange(200)) for _ in range(20)]
    bodies += [text[: chance.randrange(len(text))].encode() for text in texts for _ in range(2)]
    bodies += [b"[" * 4000, b'{"do":"mask","cell":["d4"]}', b'{"do":"settings","total_s":1e999}', b"null"]
    bodies += [b'{"do":"settings","quiet":"25:00-08:00"}', b'{"do":"mask","cell":"a1\\u0000"}', b"9" * 4000]
    for body in bodies:
        status, code = target.send("POST", "/api/v1/operator", body, **target.bearer())
        assert (400, True) == (status, code in ("malformed", "unknown_cell")), body
    assert (413, "too_large") == target.send("POST", "/api/v1/operator", b" " * 5000, **target.bearer())


def test_who_guesses_tokens_has_to_wait_and_nobody_else(target: Target) -> None:
    """After ten wrong tokens an address is not even heard with the right one; others, and `morbak ctl`, are."""
    guesses = [
        target.send("GET", "/api/v1/operator", host="127.0.9.9", **target.bearer(f"guess{number}"))
        for number in range(TRIES + 5)
    ]
    assert [(401, "unauthorized")] * TRIES + [(429, "too_many")] * 5 == guesses
    assert (429, "too_many") == target.send("GET", "/api/v1/operator", host="127.0.9.9", **target.bearer())
    assert 200 == target.send("GET", "/api/v1/operator", host="127.0.9.8", **target.bearer())[0]


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_path_leads_out_of_the_page(target: Target, path: str) -> None:
    """Neither code nor token nor any other file of the machine comes back."""
    status, code = target.send("GET", path)
    assert (True, True) == (status in (400, 404, 405), code is not None)


def test_the_code_is_not_given_to_other_machines_nor_unasked(target: Target) -> None:
    """While nobody at the board has asked for it, it shows nowhere."""
    assert (404, "not_found") == target.send("GET", "/api/v1/qr/operator")


class Crowd:
    """Two hundred sockets that want to watch, fifty clients that send a byte a while, and a few that flood."""

    def __init__(self, target: Target) -> None:
        self._target, self._end = target, threading.Event()
        self._held = ExitStack()
        self.flooded = self.watching = 0

    def __enter__(self) -> Crowd:
        port = self._target.live.port
        for _ in range(200):
            with suppress(InvalidStatus):  # for those that are too many there is no room
                self._held.enter_context(connect(f"ws://127.0.0.1:{port}/api/v1/events", max_queue=None))
                self.watching += 1
        head = b"POST /api/v1/operator HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4000\r\n"
        self._slow = [self._held.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(50)]
        for client in self._slow:
            client.sendall(head)
        self._threads = [threading.Thread(target=self._flood, args=(number,)) for number in range(2)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join(30)
        self._held.close()

    def _flood(self, number: int) -> None:
        while not self._end.is_set():
            self._target.send("POST", "/api/v1/operator", b"x" * 4096, host=f"127.0.20.{number + 1}")
            with suppress(OSError):
                self._slow[self.flooded % 50].sendall(b"X: y\r\n")
            self.flooded += 1


def lateness(target: Target, over_scans: int = 4200) -> tuple[int, float]:
    """The p99 lateness of at least so many new scans, in microseconds, and how many there were a second."""

    def late() -> Json:
        return target.live.json("GET", "/api/v1/latency")[1]["scan_late"]

    begun_s, first = time.monotonic(), late()["count"]
    while (told := late())["count"] < first + over_scans:
        time.sleep(0.05)
    return told["p99_us"], (told["count"] - first) / (time.monotonic() - begun_s)


def test_a_crowd_holds_up_no_scan_and_shuts_out_no_operator(target: Target) -> None:
    """With 200 sockets, 50 slow clients and a flood of wrong posts the scan goes on, and the operator is heard."""
    target.live.touch("a1", True)  # while a finger is down the board scans a thousand times a second
    try:
        before_us, before_hz = lateness(target)
        with Crowd(target) as crowd:
            during_us, during_hz = lateness(target)
            assert 200 == target.send("GET", "/api/v1/operator", **target.bearer())[0]
            flooded = crowd.flooded
    finally:
        target.live.touch("a1", False)
        for _ in range(200):  # where all this took longer than 20 s the cell passed for stuck
            if not target.live.state()["masked"]:
                break
            time.sleep(0.05)
    figures = (
        f"scans late, p99: {before_us} us before, {during_us} us during; {before_hz:.0f}, {during_hz:.0f} a second"
    )
    print(f"{figures}; {crowd.watching} of 200 sockets watch, {flooded} posts")
    assert WATCHERS == crowd.watching
    assert flooded > 20
    assert during_hz > before_hz / 4, figures


# -- the limit itself --------------------------------------------------------------------------------------------------


def test_wrong_tries_are_forgotten_after_a_while_and_in_bounded_memory() -> None:
    """An address waits for a minute after its last tries, one that passes is clean, and old addresses are dropped."""
    attempts = Attempts()
    for second in range(TRIES):
        assert 0 == attempts.wait_s("a", second)
        attempts.failed("a", float(second))
    assert [WITHIN_S - 10, 0] == [attempts.wait_s("a", at_s) for at_s in (10.0, WITHIN_S)]
    attempts.passed("a")
    assert 0 == attempts.wait_s("a", 10.0)
    for number in range(2 * KEPT):
        attempts.failed(str(number), 0.0)
    assert KEPT == len(attempts._tries)
