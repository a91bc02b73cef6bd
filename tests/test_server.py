"""The board on HTTP, as a running process: the contract of the page and of every other client."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.live import Live, running

STATE_KEYS = {
    "seq", "phase", "position", "starter", "to_move", "clocks_ms", "pools", "neutralisations", "move_left_ms",
    "last_action", "legal", "refusal", "result", "reason", "line", "menu", "match", "chosen", "replay", "parks_in_ms",
    "health", "masked", "safe", "screen", "cleans_ms",
}  # fmt: skip
EMPTY = "......./......./......./......./......./......./....... a 7:7 1:1"

pytestmark = pytest.mark.realtime


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """One board for the tests that leave it as it was."""
    with running("--seed", "1") as board:
        yield board


def test_the_state_has_exactly_its_fields(live: Live) -> None:
    """Before a game the state tells the empty board, full pools and clocks, and null for what is not decided."""
    state = live.state()
    assert STATE_KEYS == set(state)
    assert ("attract", EMPTY, [], None) == (state["phase"], state["position"], state["legal"], state["menu"])
    assert {"a": 900_000, "b": 900_000} == state["clocks_ms"]
    assert ({"a": 7, "b": 7}, {"a": 1, "b": 1}) == (state["pools"], state["neutralisations"])
    assert [None] * len(STATE_NULLS) == [state[key] for key in STATE_NULLS]
    assert {"series": 1, "score": {"a": 0.0, "b": 0.0}, "over": False} == state["match"]
    assert state["health"]["ok"]
    assert {"leds", "matrix"} <= set(state["health"]["parts"])
    assert all({"ok", "text"} == set(part) for part in state["health"]["parts"].values())


STATE_NULLS = (
    "starter", "to_move", "move_left_ms", "last_action", "refusal", "result", "line", "replay", "parks_in_ms",
)  # fmt: skip


def test_a_frame_has_49_wire_values(live: Live) -> None:
    """`/api/v1/frame` tells the 49 cells as #rrggbb."""
    status, frame = live.json("GET", "/api/v1/frame")
    assert (200, ["cells"], 49) == (status, list(frame), len(frame["cells"]))
    assert all(len(cell) == 7 and int(cell[1:], 16) >= 0 and cell[0] == "#" for cell in frame["cells"])


def test_the_page_and_its_files_are_served_under_a_strict_policy(live: Live) -> None:
    """The page may load nothing from elsewhere and be framed by nobody; every file says so."""
    for path in ("/", "/static/base.css", "/static/main.js", "/api/v1/state", "/nowhere"):
        _, _, headers = live.request("GET", path)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "nosniff" == headers["x-content-type-options"]
    status, page, _ = live.request("GET", "/")
    assert 200 == status
    assert b"<html" in page


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ('{"cell":"h8","down":true}', 400, "unknown_cell"),
        ('{"cell":"","down":true}', 400, "unknown_cell"),
        ('{"cell":"d4"}', 400, "malformed"),
        ('{"cell":"d4","down":1}', 400, "malformed"),
        ('{"cell":"d4","down":true,"hard":true}', 400, "malformed"),
        ('{"cell":"d4","down":true', 400, "malformed"),
        ("[]", 400, "malformed"),
        ("", 400, "malformed"),
        (b"\xff\xfe", 400, "malformed"),
        ("[" * 4000, 400, "malformed"),
        (b" " * 5000, 413, "too_large"),
    ],
)
def test_bad_touches_change_nothing(live: Live, body: bytes | str, status: int, code: str) -> None:
    """A touch that is no touch is refused with a code and a sentence, and the game does not notice."""
    before = live.state()["seq"]
    found, answer, _ = live.request("POST", "/api/v1/sim/touch", body)
    error = json.loads(answer)["error"]
    assert (status, code) == (found, error["code"])
    assert error["text"].endswith(".")
    assert before == live.state()["seq"]


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/v1/nothing", 404, "not_found"),
        ("GET", "/static/../server.py", 404, "not_found"),
        ("GET", "/static/%2e%2e/server.py", 404, "not_found"),
        ("GET", "/static/%00", 404, "not_found"),
        ("GET", "/api/v1/state/", 404, "not_found"),
        ("POST", "/api/v1/state", 405, "method_not_allowed"),
        ("DELETE", "/api/v1/sim/touch", 405, "method_not_allowed"),
        ("GET", "/api/v1/sim/touch", 405, "method_not_allowed"),
    ],
)
def test_wrong_addresses_are_told_in_json(live: Live, method: str, path: str, status: int, code: str) -> None:
    """An address or method that does not exist is an error with a code."""
    found, answer, _ = live.request(method, path)
    assert (status, code) == (found, json.loads(answer)["error"]["code"])


@pytest.mark.parametrize(
    "head",
    [
        b"garbage\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST /api/v1/sim/touch HTTP/1.1\r\nHost: localhost\r\nContent-Length: abc\r\n\r\n",
    ],
)
def test_what_is_no_request_is_told_so(live: Live, head: bytes) -> None:
    """Bytes that are no HTTP request are answered with an error and a code."""
    with socket.create_connection(("127.0.0.1", live.port), timeout=10) as connection:
        connection.sendall(head)
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 400")
    assert "malformed" == json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"]


def test_silent_connections_shut_nobody_out(live: Live) -> None:
    """Connections that ask nothing leave the board open to others."""
    silent = [socket.create_connection(("127.0.0.1", live.port)) for _ in range(250)]
    assert "attract" == live.state()["phase"]
    for connection in silent:
        connection.close()


def test_a_body_that_is_announced_too_large_is_refused_at_once(live: Live) -> None:
    """A length beyond the limit is refused without waiting for the body."""
    status, answer, _ = live.request("POST", "/api/v1/sim/touch", b"x", {"Content-Length": "99999999"})
    assert (413, "too_large") == (status, json.loads(answer)["error"]["code"])


def test_other_sites_may_not_touch(live: Live) -> None:
    """A request from another site's page, or by a name that is not the board's, is refused."""
    body = '{"cell":"d4","down":true}'
    ours = f"http://127.0.0.1:{live.port}"
    for headers, code in (
        ({"Origin": "http://evil.example"}, "cross_origin"),
        ({"Origin": "null"}, "cross_origin"),
        ({"Origin": "http://[bad"}, "cross_origin"),
        ({"Host": "[::1"}, "unknown_host"),
        ({"Host": "evil.example"}, "unknown_host"),
        ({"Host": "evil.example", "Origin": "http://evil.example"}, "unknown_host"),
    ):
        status, answer, _ = live.request("POST", "/api/v1/sim/touch", body, headers)
        assert (403, code) == (status, json.loads(answer)["error"]["code"])
    assert "attract" == live.state()["phase"]
    status, _, _ = live.request("POST", "/api/v1/sim/touch", '{"cell":"d4","down":false}', {"Origin": ours})
    assert 200 == status
    with pytest.raises(InvalidStatus), live.watch(origin="http://evil.example"):
        pass


def test_a_socket_says_hello_and_the_state_first(live: Live) -> None:
    """The first message tells how the board stands and what it is, then come frames of 147 bytes (case G24)."""
    with live.watch() as watch:
        watch.until(lambda: bool(watch.frames and watch.states))
        hello = watch.others[0]["hello"]
        assert {"touch": True, "world": True, "rows": 7, "columns": 7, "hold_ms": 800} == hello
        assert STATE_KEYS == set(watch.states[0])
        assert {147} == {len(frame) for frame in watch.frames}


def test_a_bad_message_on_a_socket_is_answered(live: Live) -> None:
    """Malformed messages on a socket are answered with an error, and the socket goes on."""
    with live.watch() as watch:
        for message in ("no json", '{"cell":"z9","down":true}', b"\x00\x01", '{"cell":5,"down":true}'):
            watch.socket.send(message)
        errors = lambda: [told["error"]["code"] for told in watch.others if "error" in told]  # noqa: E731
        watch.until(lambda: len(errors()) == 4)
        assert ["malformed", "unknown_cell", "malformed", "malformed"] == errors()


def test_an_oversized_message_ends_its_socket_only(live: Live) -> None:
    """A message beyond the limit closes its socket; the board plays on."""
    with live.watch() as watch:
        watch.socket.send("x" * 100_000)
        with pytest.raises(ConnectionClosed):
            watch.until(lambda: False)
    assert "attract" == live.state()["phase"]


def test_the_clocks_are_told_once_a_second(live: Live) -> None:
    """Every socket gets the clocks each second without a change of state."""

    def told() -> int:
        return len([each for each in watch.others if "clocks_ms" in each])

    with live.watch() as watch:
        watch.until(lambda: told() == 2)  # by then every part of a new board has been looked at
        states = len(watch.states)
        watch.until(lambda: told() == 4)
        assert {"clocks_ms", "move_left_ms", "parks_in_ms", "cleans_ms"} == set(watch.others[-1])
        assert states == len(watch.states)


def test_a_game_by_posted_touches() -> None:
    """Touches that are posted play: lobby, lot, lights, a hold, a refusal; each state has its own number (case C19)."""
    with running("--seed", "1") as live, live.watch() as watch:
        live.tap("d4")
        watch.phase("lobby")
        started = watch.phase("play", 6)
        assert EMPTY[:55] == started["position"][:55]
        mover = started["to_move"]
        assert (49, started["starter"]) == (len(started["legal"]), mover)
        live.tap("d4")
        watch.until(lambda: watch.states[-1]["last_action"] == "d4")
        wait_out_the_guard(live)
        live.touch("d4", True)
        watch.until(lambda: watch.states[-1]["last_action"] == "xd4")
        live.touch("d4", False)
        assert 6 == watch.states[-1]["pools"]["b" if mover == "a" else "a"]
        wait_out_the_guard(live)
        live.tap("d4")
        watch.until(lambda: watch.states[-1]["refusal"] is not None)
        assert {"code": "hold", "cell": "d4", "n": 1} == watch.states[-1]["refusal"]
        numbers = [state["seq"] for state in watch.states]
        assert numbers == sorted(set(numbers))


def test_taps_without_a_pause_are_all_felt() -> None:
    """A program that taps as fast as it can still gets through to play (case G2)."""
    with running("--seed", "1") as live:
        for _ in range(200):
            live.tap("d4")
            if live.state()["phase"] == "play":
                break
        assert "play" == live.state()["phase"]


def wait_out_the_guard(live: Live) -> None:
    """Let the clock of the game itself tell that 300 ms have gone by."""
    state = live.state()
    mover = state["to_move"]
    until_ms = state["clocks_ms"][mover] - 300
    while live.state()["clocks_ms"][mover] > until_ms:
        pass


def test_what_a_socket_holds_ends_with_it() -> None:
    """A contact held over a socket opens when the socket closes, and after 1 s without renewal."""
    with running("--seed", "1") as live, live.watch() as watch:
        with live.watch() as toucher:
            toucher.socket.send('{"cell":"d4","down":true}')
            toucher.until(lambda: bool(toucher.states))
        watch.phase("lobby")
        watch.phase("play", 6)
        watch.socket.send('{"cell":"c3","down":true}')
        watch.until(lambda: watch.states[-1]["last_action"] == "c3", 2)


def test_a_renewed_touch_stays() -> None:
    """A touch that is renewed stays down longer than its lease."""
    with running("--seed", "1") as live, live.watch() as watch:
        live.tap("d4")
        watch.phase("play", 7)
        ticks = lambda: len([told for told in watch.others if "clocks_ms" in told])  # noqa: E731
        before = ticks()
        watch.socket.send('{"cell":"c3","down":true}')
        while ticks() < before + 3:
            watch.frames.clear()
            watch.until(lambda: bool(watch.frames), 2)
            watch.socket.send('{"cell":"c3","down":true}')
        assert watch.states[-1]["last_action"] is None
        watch.socket.send('{"cell":"c3","down":false}')
        watch.until(lambda: watch.states[-1]["last_action"] == "c3", 2)


def test_the_end_leaves_the_leds_dark_and_exits_cleanly() -> None:
    """SIGTERM ends the board with status 0 and without a traceback."""
    with running() as live:
        live.state()
        assert 0 == live.stop()
        assert live.process.stdout is not None
        assert "Traceback" not in live.process.stdout.read()


def test_a_taken_port_is_said_in_a_sentence() -> None:
    """A port that another program has is named, with what to do, and status 2."""
    import subprocess
    import sys

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "firmware.cli", "run", "--port", str(port)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert 2 == ended.returncode
    assert f"port {port}" in ended.stderr
    assert "--port" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_socket_that_falls_silent_after_an_answer_is_closed(live: Live) -> None:
    """Half a second request, or a body that never comes, holds no place: the connection ends in its time."""
    halves = (
        b"GET /api/v1/frame HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"POST /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\n",
    )
    for first in halves:
        with socket.create_connection(("127.0.0.1", live.port), timeout=25) as connection:
            connection.sendall(first)
            assert connection.recv(65_536).startswith(b"HTTP/1.1 ")
            connection.sendall(b"GET / HT"[: 8 if first.startswith(b"GET") else 0])
            while connection.recv(65_536):
                pass
