"""What is refused before it reaches a route: sockets of other sites, no handshakes, visitors for whom there is no room.

Every refusal is the JSON error of every other one, under the same headers, and the board goes on.
"""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

import pytest
from websockets.exceptions import InvalidStatus

from firmware.web import protocol, server
from firmware.web.guard import CONTENT_SECURITY_POLICY
from tests.live import Live, Watch, running
from tests.stub_board import StubBoard, stub_board
from tests.test_watchers import deaf

pytestmark = pytest.mark.realtime

EVENTS = "/api/v1/events"
UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "MTIzNDU2Nzg5MDEyMzQ1Ng==",
    "Sec-WebSocket-Version": "13",
}


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """One board, which nothing here changes."""
    with running("--seed", "1") as board:
        yield board


def ask(port: int, first: str, headers: dict[str, str | None]) -> tuple[int, str, dict[str, str]]:
    """Send a request's head as it is; returns status, error code and headers of the answer. None: no such header."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        told = {"Host": f"127.0.0.1:{port}", **headers}
        lines = [f"{name}: {value}" for name, value in told.items() if value is not None]
        connection.sendall("\r\n".join([first, *lines, "", ""]).encode("latin-1"))
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *told_lines = head.decode().split("\r\n")
    error = json.loads(body)["error"]
    assert error["text"].endswith(".")
    found = dict(line.lower().split(": ", 1) for line in told_lines)
    return int(status.split()[1]), error["code"], found


@pytest.mark.parametrize(
    ("first", "headers", "status", "code"),
    [
        (f"GET {EVENTS} HTTP/1.1", {"Origin": "http://evil.example"}, 403, "cross_origin"),
        (f"GET {EVENTS} HTTP/1.1", {"Origin": "null"}, 403, "cross_origin"),
        (f"GET {EVENTS} HTTP/1.1", {"Host": "evil.example"}, 403, "unknown_host"),
        ("GET /api/v1/nothing HTTP/1.1", {}, 404, "not_found"),
        ("GET / HTTP/1.1", {}, 404, "not_found"),
        ("GET /static/base.css HTTP/1.1", {}, 404, "not_found"),
        (f"GET {EVENTS} HTTP/1.1", {"Sec-WebSocket-Key": None}, 400, "malformed"),
        (f"GET {EVENTS} HTTP/1.1", {"Sec-WebSocket-Key": "short"}, 400, "malformed"),
        (f"GET {EVENTS} HTTP/1.1", {"Sec-WebSocket-Version": "1"}, 400, "malformed"),
        (f"POST {EVENTS} HTTP/1.1", {}, 405, "malformed"),
    ],
)
def test_a_socket_is_refused_in_json_under_the_policy(
    live: Live, first: str, headers: dict[str, str | None], status: int, code: str
) -> None:
    """Other sites, other addresses and what is no handshake get a code, a sentence and the headers of every answer."""
    before = live.state()["seq"]
    found, told, answered = ask(live.port, first, UPGRADE | headers)
    assert (status, code) == (found, told)
    assert ("application/json", CONTENT_SECURITY_POLICY.lower()) == (
        answered["content-type"],
        answered["content-security-policy"],
    )
    assert "nosniff" == answered["x-content-type-options"]
    assert before == live.state()["seq"]


def test_an_upgrade_to_something_else_is_an_ordinary_request(live: Live) -> None:
    """A request that would rather speak another protocol is answered in this one."""
    headers = UPGRADE | {"Upgrade": "h2c", "Connection": "Upgrade, close"}
    assert (404, "not_found") == ask(live.port, f"GET {EVENTS} HTTP/1.1", headers)[:2]


@pytest.fixture
def stub() -> Iterator[StubBoard]:
    """A page behind the real protocol, in this process."""
    with stub_board() as board:
        yield board


def test_requests_beyond_the_room_are_told_to_come_back(stub: StubBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    """With as many connections as there is room for the next request is refused; with room again it is answered."""
    monkeypatch.setattr(protocol, "CONNECTIONS", 3)
    with ExitStack() as silent:
        for _ in range(3):
            silent.enter_context(socket.create_connection(("127.0.0.1", stub.port)))
        status, code, headers = ask(stub.port, "GET / HTTP/1.1", {})
        assert (503, "busy", "5") == (status, code, headers["retry-after"])
        assert CONTENT_SECURITY_POLICY.lower() == headers["content-security-policy"]
    monkeypatch.undo()
    with closing(http.client.HTTPConnection("127.0.0.1", stub.port, timeout=20)) as connection:
        connection.request("GET", "/")
        assert 200 == connection.getresponse().status


def test_a_board_has_room_for_so_many_watchers(live: Live) -> None:
    """As many sockets as there is room for watch; the next is refused in JSON, and one that leaves makes room."""
    with ExitStack() as watching:
        for _ in range(server.WATCHERS):
            last = watching.enter_context(deaf(live))
        status, code, headers = ask(live.port, f"GET {EVENTS} HTTP/1.1", UPGRADE)
        assert (503, "busy") == (status, code)
        assert CONTENT_SECURITY_POLICY.lower() == headers["content-security-policy"]
        last.close()
        with wait_for_room(live) as watch:
            watch.until(lambda: bool(watch.states))


@contextmanager
def wait_for_room(live: Live, within_s: float = 10) -> Iterator[Watch]:
    """A socket on the events, as soon as there is room for it."""
    deadline_s = time.monotonic() + within_s
    while True:
        try:
            with live.watch() as watch:
                yield watch
                return
        except InvalidStatus:
            assert time.monotonic() < deadline_s, "a watcher that left made no room"
