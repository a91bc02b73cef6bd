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


# -- whoever speaks HTTP by hand ---------------------------------------------------------------------------------------


def raw(target: Target, data: bytes) -> tuple[int, str]:
    """What is answered to bytes as they are: status, and the code of the refusal."""
    with socket.create_connection(("127.0.0.1", target.live.port), timeout=30) as client:
        told = b""
        with suppress(BrokenPipeError, ConnectionResetError):
            client.sendall(data)
            while part := client.recv(65536):
                told += part
    head, _, body = told.partition(b"\r\n\r\n")
    status = int(head.split()[1]) if head else 0  # who still sends when he is refused may see only the end
    with suppress(ValueError, KeyError, TypeError):
        return status, json.loads(body)["error"]["code"]
    return status, ""


def test_an_address_that_a_header_claims_is_not_believed(target: Target) -> None:
    """Whoever claims many addresses counts as the one he is, and sits at the board only without a proxy."""
    headers = {**target.bearer("wrong"), "X-Forwarded-For": "10.9.8.7", "Forwarded": "for=10.9.8.7"}
    assert (401, "unauthorized") == target.send("GET", "/api/v1/operator", **headers)
    assert 200 == target.send("GET", "/api/v1/operator", **target.bearer())[0]  # forgives what 127.0.0.1 tried
    log = "\n".join(line["text"] for line in target.ctl(do="logs", n=400)["lines"])
    assert (True, False) == ("wrong_token address=127.0.0.1" in log, "10.9.8.7" in log)
    for name in ("X-Forwarded-For", "Forwarded", "Via"):
        assert (403, "not_here") == target.send("GET", "/api/v1/qr/operator", **{name: "1.1 proxy"})


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "127.0.0.1.evil.example", "127.0.0.1@evil.example", "localhost.evil.example",
        "evil.example:8700", "2130706433", "0x7f.1", "127.1", "[::1", "",
        "localhost\u00a0", "xn--80ak6aa92e.com", "a" * 300,
    ],
)  # fmt: skip
def test_no_name_of_others_reaches_the_board(target: Target, host: str) -> None:
    """A page that has made the board's address its own name (DNS rebinding) is refused, token or not."""
    head = f"POST /api/v1/operator HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {target.token}\r\n"
    data = head.encode() + b'Connection: close\r\nContent-Length: 14\r\n\r\n{"do":"clean"}'
    assert (403, "unknown_host") == raw(target, data)


CLEAN = b'{"do":"clean"}'
POST = b"POST /api/v1/operator HTTP/1.1\r\n"
WHOLE = b"Content-Length: 14\r\n\r\n" + CLEAN
# Requests that no browser sends: what stands before the Host and the token, and after them. Were one taken for a
# request, it would clean.
GARBLED: dict[str, tuple[bytes, bytes]] = {
    "a line within a header": (POST + b"X: a\rb: c", WHOLE),
    "no such method": (b"P\xc3\x96ST /api/v1/operator HTTP/1.1\r\nX: y", WHOLE),
    "two hosts": (POST + b"Host: evil.example", WHOLE),
    "two lengths": (POST + b"Content-Length: 1", WHOLE),
    "less than no length": (POST + b"Content-Length: -1", b"\r\n" + CLEAN),
    "an endless length": (POST + b"Content-Length: " + b"9" * 5000, b"\r\n" + CLEAN),
    "zipped chunks": (
        POST + b"X: y", b"Transfer-Encoding: gzip, chunked\r\n\r\nE\r\n" + CLEAN + b"\r\n0\r\n\r\n"),
    "a header of 1 MB": (POST + b"X: " + b"y" * 1_000_000, WHOLE),
}  # fmt: skip
# Odd, and yet requests: they need the token like any other.
ODD: dict[str, bytes] = {
    "an old protocol": b"POST /api/v1/operator HTTP/1.0\r\nX: y\r\n",
    "1000 headers": POST + b"X: yyyyyyyyyy\r\n" * 1000,
    "bytes that are no text": POST + b"X: \xff\xfe\xf0\x9f\x92\xa9\r\n",
    "length and chunks": POST + b"Transfer-Encoding: chunked\r\n",
}


@pytest.mark.parametrize("name", GARBLED)
def test_what_is_no_request_is_refused_even_with_the_token(target: Target, name: str) -> None:
    """Oversized, doubled and garbled heads end in a refusal; what hides behind one is not carried out."""
    first, last = GARBLED[name]
    head = f"\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: Bearer {target.token}\r\n".encode()
    answer = raw(target, first + head + last)
    assert (400, "malformed") == answer or ("a header of 1 MB", (0, "")) == (name, answer)


@pytest.mark.parametrize("name", ODD)
def test_what_is_odd_needs_the_token_too(target: Target, name: str) -> None:
    """Old protocols, many headers, bytes that are no text, two ways to end a body: none is let in by that."""
    data = ODD[name] + b"Host: 127.0.0.1\r\nConnection: close\r\n" + WHOLE
    assert (401, "unauthorized") == raw(target, data)


def test_no_address_but_its_path_is_asked_for(target: Target) -> None:
    """Whoever takes the board for a proxy gets nothing from there, token or not."""
    head = "POST http://evil.example/api/v1/operator HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
    assert (404, "not_found") == raw(target, f"{head}Authorization: Bearer {target.token}\r\n".encode() + WHOLE)


def test_chunks_are_counted_and_none_may_be_garbled(target: Target) -> None:
    """With the token a body in chunks is read to 4 kB and no further; a size that is none is no request."""
    head = f"POST /api/v1/operator HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {target.token}\r\n"
    chunked = head.encode() + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    assert (413, "too_large") == raw(target, chunked + b"3E8\r\n" + b" " * 1000 + b"\r\n" + b"FA0\r\n" + b" " * 4000)
    assert (200, "") == raw(target, chunked + b"10\r\n" + b'{"do" :"status"}' + b"\r\n0\r\n\r\n")
    for size in (b"-1", b"0x10", b"\xc2\xb2", b"F" * 30, b"10;" + b"x" * 70_000):
        assert raw(target, chunked + size + b'\r\n{"do":"clean"}\r\n0\r\n\r\n')[0] in (400, 413)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_a_form_of_another_site_changes_nothing(target: Target, kind: str) -> None:
    """A form is posted without asking, with its site as Origin, or none for a file: refused, or without the token."""
    for origin in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": f"http://127.0.0.1:{target.live.port + 1}"},
    ):
        assert 403 == target.send("POST", "/api/v1/operator", CLEAN, **{"Content-Type": kind}, **origin)[0]
    assert (401, "unauthorized") == target.send("POST", "/api/v1/operator", CLEAN, **{"Content-Type": kind})


@pytest.mark.parametrize("path", [*READS, "/operator"])
def test_what_the_token_opens_is_stored_nowhere(target: Target, path: str) -> None:
    """No cache keeps what an operator has read, nothing tells other sites of it, and no site shows it in a frame."""
    status, _, headers = target.live.request("GET", path, headers=target.bearer())
    assert (200, "no-store" if path in READS else "no-cache") == (status, headers["cache-control"])
    assert ("no-referrer", "nosniff") == (headers["referrer-policy"], headers["x-content-type-options"])
    assert "frame-ancestors 'none'" in headers["content-security-policy"]


# -- sockets -----------------------------------------------------------------------------------------------------------


def frame(first: int, payload: bytes) -> bytes:
    """A masked WebSocket frame; `first`: its FIN, RSV and opcode bits (RFC 6455, 5.2)."""
    length = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + len(payload).to_bytes(2, "big")
    return bytes([first]) + length + bytes(4) + payload


BOMB = b"\xec\xc1\x01\x01\x00\x00\x00\x80\x90\xfe\xaf" * 90  # what could be zeros without end, were it inflated
SOCKETS: dict[str, tuple[bytes, int]] = {
    "a compressed message": (frame(0xC1, BOMB), 1002),
    "fragments without end": (frame(0x01, b" " * 1000) + frame(0x00, b" " * 1000) * 9, 1009),
    "a fragment of nothing": (frame(0x00, b"x"), 1002),
    "a large ping": (frame(0x89, b"x" * 200), 1002),
    "no such opcode": (frame(0x83, b""), 1002),
    "no text": (frame(0x81, b"\xff\xff"), 1007),
    "an endless length": (b"\x81\xff" + b"\x7f" + b"\xff" * 7 + bytes(4), 1009),
}


@pytest.mark.parametrize("name", SOCKETS)
def test_a_socket_that_breaks_the_protocol_is_closed(target: Target, name: str) -> None:
    """Compressed, endless, garbled: the socket is closed with its code, others watch on."""
    data, code = SOCKETS[name]
    hello = b"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    hello += b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
    hello += b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
    with target.live.watch() as watch, socket.create_connection(("127.0.0.1", target.live.port), timeout=30) as client:
        client.sendall(hello)
        told = client.recv(400)
        client.sendall(data)
        with suppress(ConnectionResetError):
            told += b"".join(iter(lambda: client.recv(65536), b""))
        assert (True, False) == (told.startswith(b"HTTP/1.1 101"), b"permessage-deflate" in told)
        assert b"\x88" == told[-130:].partition(code.to_bytes(2, "big"))[0][-2:-1]  # the head of a closing frame
        watch.until(lambda: bool(watch.frames))


# -- a crowd -----------------------------------------------------------------------------------------------------------


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
