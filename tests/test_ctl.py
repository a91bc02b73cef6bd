"""`morbak ctl`: the board that runs, asked and steered over its socket."""

from __future__ import annotations

import json
import os
import re
import socket
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import msgspec
import pytest

from firmware import ctl_socket
from firmware.app import App
from firmware.chronicle import Chronicle
from firmware.cli import main
from firmware.ctl_socket import NotThere, ask, find, place
from firmware.events import Recent
from firmware.operating import COMMANDS, WITHIN_S, Operating, Watched
from firmware.operator_commands import WANTED, Refused, Settings, at_the_table, read
from firmware.safe_mode import safe_app
from firmware.starts import Reason, Record
from sim.clock import VirtualClock
from tests.live import Json, Live, Watch, running
from tests.scene import Scene

Output = pytest.CaptureFixture[str]
pytestmark = pytest.mark.realtime


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Live, Path]]:
    """A board whose state directory has a path longer than a socket's name may be."""
    state = tmp_path_factory.mktemp("state") / ("long" * 30)
    with running("--seed", "1", "--state", str(state)) as live:
        yield live, state


def morbak(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MORBAK_QR": "", "XDG_CONFIG_HOME": "/nonexistent"}
    command = [sys.executable, "-m", "firmware.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)


def begin(live: Live, watch: Watch) -> None:
    """From attract into a game; a tap that follows another too closely counts for nothing."""
    while live.state()["phase"] == "attract":
        live.tap("d4")
    watch.phase("play")


def do(board: tuple[Live, Path], **command: object) -> Json:
    return ask(board[1] / ctl_socket.FILE, json.dumps(command).encode())


def test_the_status_begins_with_one_sentence(board: tuple[Live, Path]) -> None:
    """Health comes first, then figures, parts and what is set; `health` is the sentence alone."""
    done = morbak("ctl", "status", "--state", str(board[1]))
    assert (0, "The board is well.") == (done.returncode, done.stdout.splitlines()[0])
    assert re.search(r"^total_s +900$", done.stdout, re.M)
    assert re.search(r"^marks +false$", done.stdout, re.M) and re.search(r"^quiet +-$", done.stdout, re.M)
    assert "from touch to light" not in done.stdout  # nobody has touched yet: there is no such figure
    assert "The board is well.\n" == morbak("ctl", "health", "--state", str(board[1])).stdout
    told = json.loads(morbak("ctl", "status", "--json", "--state", str(board[1])).stdout)
    assert (49, "attract", True) == (len(told["cells"]), told["phase"], told["ok"])


def test_touches_are_counted_a_cell(board: tuple[Live, Path]) -> None:
    """A touch shows on its cell, with the time until its light."""
    live, _ = board
    before = {cell["cell"]: cell["touches"] for cell in do(board, do="status")["cells"]}
    live.tap("c3")
    live.tap("c3")
    cells = {cell["cell"]: cell for cell in do(board, do="status")["cells"]}
    assert (before["c3"] + 2, before["c4"]) == (cells["c3"]["touches"], cells["c4"]["touches"])
    assert cells["c3"]["worst_us"] >= cells["c3"]["light_us"] > 0
    do(board, do="end")


def test_a_game_is_steered_and_every_change_is_logged(board: tuple[Live, Path]) -> None:
    """Act, pause, resume, mask, clean and end count at once, and the log says who did what."""
    live, state = board
    with live.watch() as watch:
        begin(live, watch)
        assert {"done": "act"} == do(board, do="act", action="d4")
        assert "d4" == live.state()["last_action"]
        done = morbak("ctl", "mask", "a7", "--state", str(state))
        assert (0, "a7 is out of use.\n", ["a7"]) == (done.returncode, done.stdout, live.state()["masked"])
        do(board, do="unmask", cell="a7")
        do(board, do="pause")
        assert "paused" == watch.phase("paused")["phase"]
        do(board, do="resume")
        watch.phase("play")
        do(board, do="clean")
        assert 0 < watch.phase("paused")["cleans_ms"] <= 30_000
        do(board, do="end")
        watch.phase("attract")
    lines = [line["text"] for line in do(board, do="logs", n=400)["lines"]]
    uid = os.getuid()
    for does in ('"act d4"', '"mask a7"', "pause", "clean", "end"):
        assert f'operator by="ctl uid {uid}" does={does}' in lines
    assert any(line.startswith("game_left game=") for line in lines)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (b"{}", "malformed"),
        (b"[]", "malformed"),
        (b"\xff", "malformed"),
        (b"[" * 3000, "malformed"),
        (b'{"do":"explode"}', "malformed"),
        (b'{"do":"clean","hard":true}', "malformed"),
        (b'{"do":"mask","cell":"h9"}', "unknown_cell"),
        (b'{"do":"act","action":"z"}', "unknown_action"),
        (b'{"do":"act","action":"--"}', "pass"),
        (b'{"do":"settings"}', "nothing"),
        (b'{"do":"settings","quiet":"noon"}', "malformed"),
        (b'{"do":"settings","brightness_pct":101}', "malformed"),
        (b'{"do":"logs","n":100000}', "malformed"),
    ],
)
def test_what_is_no_command_changes_nothing(board: tuple[Live, Path], command: bytes, code: str) -> None:
    """It is refused with a code and a sentence."""
    seq = board[0].state()["seq"]
    with pytest.raises(Refused, match=r"[.]$") as refused:
        ask(board[1] / ctl_socket.FILE, command)
    assert (code, seq) == (refused.value.code, board[0].state()["seq"])


def test_a_line_without_an_end_is_answered_and_a_silent_client_harms_nobody(board: tuple[Live, Path]) -> None:
    """Too long a line is refused; sockets that say nothing leave room for others, up to a number, and then go."""
    path = board[1] / ctl_socket.FILE
    with pytest.raises(Refused, match="One line"):
        ask(path, b"x" * 5000)
    with ctl_socket._near(path) as near:
        silent = [socket.socket(socket.AF_UNIX) for _ in range(ctl_socket.MOST - 1)]
        for client in silent:
            client.connect(near)
        assert do(board, do="status")["ok"]
        for client in silent:
            client.close()


def test_too_many_commands_have_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty changes in five seconds are plenty; the next is refused, and a moment later heard again."""
    now_s = [100.0]
    monkeypatch.setattr("firmware.operating.time.monotonic", lambda: now_s[0])
    operating = Operating(cast(App, None), cast(Watched, None))
    for _ in range(COMMANDS):
        operating._pace()
        now_s[0] += 0.1
    with pytest.raises(Refused, match="wait a moment"):
        operating._pace()
    now_s[0] += WITHIN_S - COMMANDS * 0.1 + 0.05
    operating._pace()


def test_safe_mode_is_told_with_its_way_out(tmp_path: Path) -> None:
    """The health of a board that died too often says that it rests, how it is woken, and what killed it."""
    record = Record(deaths=5, reason=Reason("killed", "The program was ended by the signal KILL."))
    app = safe_app(Scene().drive.board, VirtualClock(), record)
    app.engine.check(app.clock.now_us())
    operating = Operating(app, Watched(Recent(), Chronicle(app.engine, app.clock), tmp_path))
    told = "The program died five times in a row; the board rests until you restart it (morbak ctl restart)."
    assert f"The board needs you. {told} The program was ended by the signal KILL." == operating.status()["sentence"]


def test_what_is_set_is_there_after_a_restart_by_order(tmp_path: Path) -> None:
    """`settings` changes what is set, `restart` starts the same command anew, which finds it, and the game, again."""
    with running("--seed", "1", "--state", str(tmp_path)) as live:
        set_ = ("settings", "quiet=22:00-08:00", "total_s=600", "language=fr")
        assert 0 == morbak("ctl", *set_, "--state", str(tmp_path)).returncode
        assert 2 == morbak("ctl", "settings", "volum=3", "--state", str(tmp_path)).returncode
        with live.watch() as watch:
            begin(live, watch)
        do((live, tmp_path), do="act", action="d4")
        assert {"done": "restart"} == do((live, tmp_path), do="restart")
        assert live.process.stdout is not None
        for line in live.process.stdout:
            if found := re.search(r"http://[^ ]+:(\d+)/", line):
                live.port = int(found[1])
                break
        state = live.state()
        assert ("paused", "d4") == (state["phase"], state["last_action"])
        settings = do((live, tmp_path), do="status")["settings"]
        assert ("22:00-08:00", 600, "fr") == (settings["quiet"], settings["total_s"], settings["language"])
        assert 0 == live.stop()
    assert not (tmp_path / ctl_socket.FILE).exists()


def test_only_owner_and_group_may_open_the_socket(board: tuple[Live, Path]) -> None:
    """Others may not even connect."""
    assert 0o660 == stat.S_IMODE((board[1] / ctl_socket.FILE).stat().st_mode)


def test_where_no_board_runs_a_sentence_says_what_to_do(tmp_path: Path) -> None:
    """No socket, or one that a killed board has left: exit 2, and how to name another."""
    done = morbak("ctl", "status", "--state", str(tmp_path))
    assert (2, True) == (done.returncode, "start it (morbak run)" in done.stderr)
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(tmp_path / "ctl.sock"))
    left.close()
    with pytest.raises(NotThere, match="No board answers"):
        ask(tmp_path / "ctl.sock", b"{}")
    with running("--state", str(tmp_path)) as live:  # which takes over what is left
        assert do((live, tmp_path), do="status")["ok"]


def test_the_socket_lies_where_systemd_wants_it(tmp_path: Path) -> None:
    """In the service's runtime directory where there is one, else in the state directory; an own one can be named."""
    assert tmp_path / "ctl.sock" == place(tmp_path, {})
    assert Path("/run/x/ctl.sock") == place(tmp_path, {"RUNTIME_DIRECTORY": "/run/x:/run/y"})
    assert [Path("/a"), tmp_path / "ctl.sock"] == [find(Path("/a"), tmp_path), find(None, tmp_path)]
    assert Path("/s/ctl.sock") == find(None, None, {"STATE_DIRECTORY": "/s"})


def test_an_action_that_is_none_is_refused_with_those_there_are() -> None:
    """What may be written comes once, and no pass, which nobody may play at will."""
    with pytest.raises(Refused) as refused:
        at_the_table(read(b'{"do":"act","action":"zz"}'))
    assert "'zz' is no action: write d4, xd4, #d4 or !d4, with any cell from a1 to g7." == refused.value.text


def test_every_kind_of_command_is_named_where_one_is_wrong() -> None:
    """The refusal of an unknown command lists those there are."""
    with pytest.raises(Refused, match="status, logs, act, mask, unmask, clean, end, pause, resume, settings, restart"):
        read(b'{"do":"x"}')


@pytest.mark.parametrize("name", [*(field.name for field in msgspec.structs.fields(Settings)), "n"])
def test_a_value_that_cannot_be_is_named_with_what_can(name: str) -> None:
    """Every setting and the number of lines: name, value and what to give, in words and not in types."""
    verb = "logs" if name == "n" else "settings"
    with pytest.raises(Refused) as refused:
        read(json.dumps({"do": verb, name: ["x"]}).encode())
    assert f'{name} cannot be ["x"]: give {WANTED[name]}.' == refused.value.text


# -- token and report --------------------------------------------------------------------------------------------------


def test_the_token_comes_with_a_link_and_can_be_replaced(board: tuple[Live, Path], tmp_path: Path) -> None:
    """The token, and a link to the operator's page that keeps it behind a #; `--new` makes another."""
    token = (board[1] / "token").read_text().strip()
    done = morbak("token", "--state", str(board[1]), "--address", "http://board.local:8700/")
    assert [token, f"http://board.local:8700/operator#{token}"] == done.stdout.splitlines()
    first, second = (morbak("token", "--state", str(tmp_path), *new).stdout.split()[0] for new in ((), ("--new",)))
    assert (first != second, second) == (True, (tmp_path / "token").read_text().strip())
    assert 2 == morbak("token", "--state", str(tmp_path / "none")).returncode


def test_a_link_that_leads_nowhere_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Output) -> None:
    """Where no board listens for phones the link is shown all the same, with what makes it one that leads there."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        monkeypatch.setattr("firmware.web.address.phone_address", lambda _host, _port: f"http://127.0.0.1:{port}")
        assert 0 == main(["token", "--state", str(tmp_path)])
        assert "" == capsys.readouterr().err
    assert 0 == main(["token", "--state", str(tmp_path)])
    told = capsys.readouterr()
    assert f"No board answers a phone at http://127.0.0.1:{port}: " in told.err
    assert f"http://127.0.0.1:{port}/operator#" in told.out


def test_a_report_holds_no_secret(board: tuple[Live, Path], tmp_path: Path) -> None:
    """The bundle has status, log and machine, and neither the token nor names of users, machine or network."""
    token = (board[1] / "token").read_text().strip()
    file = tmp_path / "report.zip"
    done = morbak("report", str(file), "--state", str(board[1]))
    assert (0, "") == (done.returncode, done.stderr)
    with zipfile.ZipFile(file) as archive:
        names = {name.partition("/")[2] for name in archive.namelist()}
        text = "\n".join(archive.read(name).decode() for name in archive.namelist())
    assert {"README.txt", "status.json", "log.txt", "machine.json", "journal.txt"} == names
    assert "started board=" in text
    assert (False, False) == (token in text, socket.gethostname() in text)


def test_a_report_without_a_board_says_what_it_lacks(tmp_path: Path) -> None:
    """Where no board runs the bundle has what the machine knows."""
    done = morbak("report", str(tmp_path / "r.zip"), "--state", str(tmp_path))
    assert (0, True) == (done.returncode, "No board answers" in done.stderr)
    assert zipfile.ZipFile(tmp_path / "r.zip").testzip() is None
