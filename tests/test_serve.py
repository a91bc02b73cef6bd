"""A simulated board behind a pseudo terminal, in another process: the second rung, with a stranger at the port too."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Any
from urllib.request import urlopen

import pytest
import serial

from hal import link
from hal.drivers import serial_port
from hal.drivers.device_port import DevicePort
from hal.drivers.serial_board import SerialBoard, open_board
from hal.drivers.serial_cable import Open
from hal.drivers.serial_port import Identity
from hal.errors import PartError
from tests.serial_rig import World

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX")
MORBAK = [sys.executable, "-m", "firmware.cli"]
STRANGER = Path(__file__).parent / "link_stranger.py"
TIOCGEXCL = 0x80045440  # of Linux: whether the kernel refuses the port to others
IMPORTS_SERIAL = re.compile(r"^\s*(import|from) serial\b", re.MULTILINE)
WAIT_S = 30


class Served:
    """`morbak board serve` at `path`, which is started and killed as a board is plugged in and pulled out."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.start()

    def start(self) -> None:
        command = [*MORBAK, "board", "serve", "--board", "sim", "--port", str(self.path)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        assert f"simulated board is at {self.path}; Ctrl-C ends\n" == self.process.stdout.readline()

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(how)
        self.process.wait(WAIT_S)
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    board = Served(tmp_path / "board")
    yield board
    if board.process.poll() is None:
        board.stop()


def now_us() -> int:
    return time.monotonic_ns() // 1000


def until(board: SerialBoard, true: Callable[[], object], edges: list[tuple[int, bool]] | None = None) -> None:
    """Scan at the board's pace until something is so."""
    end_us = now_us() + WAIT_S * 1_000_000
    while not true():
        assert now_us() < end_us, board.health()
        scan = board.scan(now_us())
        if edges is not None:
            edges += [(edge.cell, edge.down) for edge in scan.edges]
        time.sleep(scan.period_us / 1e6)


@pytest.mark.realtime
def test_touch_and_light_pass_a_real_port(served: Served) -> None:
    """Cells are pressed by order at the other end, every edge comes once and in order, and a frame is acknowledged."""
    board = open_board(str(served.path))
    host, edges, wanted = board._host, [], []  # type: ignore[var-annotated]
    for cell in range(49):
        host.test(link.CONTACTS, 1 << cell)
        until(board, lambda: host.tested and host.down, edges)
        host.test(link.CONTACTS, 0)
        until(board, lambda: host.tested and not host.down, edges)
        wanted += [(cell, True), (cell, False)]
    assert wanted == edges
    board.show(b"\xff\0\0" * 49, now_us())
    until(board, lambda: host.frames.settled)
    assert b"\0" not in board.wire()[0::3]
    board.close()
    assert 1 == host.sessions and 0 == host.splitter.bad


ECHO = """import os, sys, tty
ours, theirs = os.openpty()
tty.setraw(theirs)
print(os.ttyname(theirs), flush=True)
while data := os.read(ours, 4096):
    os.write(ours, data)
"""


# Ends with whoever started it.
BURNER = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"


def echo_us(count: int) -> list[int]:
    """How long 60 bytes take to another process behind a pseudo terminal and back, each time."""
    echo = subprocess.Popen([sys.executable, "-c", ECHO], stdout=subprocess.PIPE, text=True)
    assert echo.stdout is not None
    with serial.Serial(echo.stdout.readline().strip(), 1_000_000, timeout=WAIT_S) as port:
        took = []
        for _ in range(count):
            begun_us = now_us()
            port.write(b"x" * 60)
            assert b"x" * 60 == port.read(60)
            took.append(now_us() - begun_us)
    echo.kill()
    echo.wait(WAIT_S)
    echo.stdout.close()
    return sorted(took)


@pytest.mark.long
@pytest.mark.realtime
@pytest.mark.parametrize("burning", [False, True])
def test_no_touch_is_lost_on_the_way_to_light(
    served: Served, prove: bool, burning: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Touch after touch at a board in another process, each answered by a frame: none is lost or told twice, also while
    every core burns; how long it takes is told beside a bare echo."""
    count = 10_000 if prove else 50
    cores = os.cpu_count() or 1
    burners = [subprocess.Popen([sys.executable, "-c", BURNER]) for _ in range(cores * burning)]
    try:
        bare = echo_us(max(200, count // 10))
        board = open_board(str(served.path))
        host, took, edges = board._host, [], 0
        board.show(bytes(147), now_us())
        until(board, lambda: host.frames.settled)
        for number in range(count):
            host.test(link.CONTACTS, 1 << number % 49)
            pressed_us = 0
            while not (pressed_us and host.frames.settled):
                scan = board.scan(now_us())
                for edge in scan.edges:
                    edges += 1
                    pressed_us = edge.t_us
                    board.show((b"\x80\0\0" if number % 2 else b"\0\0\x80") * 49, now_us())
                time.sleep(scan.period_us / 1e6)
            took.append(now_us() - pressed_us)
            host.test(link.CONTACTS, 0)
            moves: list[tuple[int, bool]] = []
            until(board, lambda moves=moves: moves, moves)  # type: ignore[misc]
            assert [(number % 49, False)] == moves
        board.close()
    finally:
        for burner in burners:
            burner.kill()
            burner.wait(WAIT_S)
    assert (count, 1) == (edges, host.sessions)
    took.sort()
    worst_us, bare_us = took[count * 99 // 100], bare[len(bare) * 99 // 100]
    with capsys.disabled():
        print(
            f"\n{count} touches to light and back{' with every core burning' if burning else ''}: "
            f"p50 {took[count // 2] / 1e3:.1f}, p99 {worst_us / 1e3:.1f} ms; a bare echo "
            f"p50 {bare[len(bare) // 2] / 1e3:.1f}, p99 {bare_us / 1e3:.1f} ms"
        )
    if prove and not burning:  # `make prove` is for a machine that does nothing else
        assert worst_us <= bare_us + 10_000


@pytest.mark.realtime
def test_a_port_is_ours_alone(served: Served) -> None:
    """A port that is open is refused to a second board by name, and to whoever asks the kernel (cases E4, E5)."""
    board = open_board(str(served.path))
    with pytest.raises(PartError, match="is in use by another program"):
        serial_port.Port(str(served.path))
    if sys.platform == "linux":
        import fcntl

        asked = fcntl.ioctl(board._cable._port.fileno(), TIOCGEXCL, bytes(4))  # type: ignore[union-attr]
        assert 1 == int.from_bytes(asked, sys.byteorder)
    board.close()


@pytest.mark.realtime
def test_a_reader_that_steals_bytes_steals_no_touch(served: Served, seed: int) -> None:
    """Another reader of an open port, as root may be one whatever the locks say, takes bytes from us now and then: what
    it broke is counted, every edge comes once and in order, and the session stays (cases E1, E5)."""
    board = open_board(str(served.path))
    host, edges, wanted, chance = board._host, [], [], Random(seed)  # type: ignore[var-annotated]
    fd = board._cable._port.fileno()  # type: ignore[union-attr]

    def stolen() -> bool:
        if chance.random() < 0.7 and select.select([fd], [], [], 0)[0]:
            os.read(fd, chance.randrange(1, 120))
        return bool(host.tested)

    for cell in range(20):
        for mask in (1 << cell, 0):
            host.test(link.CONTACTS, mask)
            until(board, lambda mask=mask: stolen() and mask == host.down, edges)  # type: ignore[misc]
            wanted.append((cell, mask > 0))
    board.close()
    assert wanted == edges
    assert host.splitter.bad and 1 == host.sessions


def real_end(folder: Path) -> tuple[Open, Callable[[bytes], object], Callable[[], object]]:
    """A port of pyserial, and what is at its other end: something to say, and to go."""
    ours, theirs = os.openpty()
    port = serial_port.Port(os.ttyname(theirs))
    os.close(theirs)
    return port, lambda data: os.write(ours, data), lambda: os.close(ours)


def simulated_end(folder: Path) -> tuple[Open, Callable[[bytes], object], Callable[[], object]]:
    """The same of the simulated cable."""
    world = World()

    def say(data: bytes) -> None:
        world.cable.up.send(data, world.clock.now_us())
        world.clock.advance_to(world.clock.now_us() + 10_000)

    return world.Port("/dev/ttyACM0"), say, world.unplug


@pytest.mark.realtime
@pytest.mark.parametrize("end", [real_end, simulated_end])
def test_every_port_keeps_the_same_contract(tmp_path: Path, end: Callable[..., Any]) -> None:
    """What the cable wants of a port is kept by pyserial's and by a simulated one, so that another library can take
    their place: nothing waits, bytes come as they were sent, and a device that is gone raises OSError (case E19)."""
    port, say, go = end(tmp_path)
    assert port.name.startswith("/dev/") and isinstance(port.identity, Identity)
    assert b"" == port.read()
    assert 3 == port.write(b"\0\1\xff")
    every, came, end_us = bytes(range(256)), b"", now_us() + WAIT_S * 1_000_000
    say(every)
    while len(came) < 256 and now_us() < end_us:
        came += port.read()
    assert (every, b"") == (came, port.read())
    go()
    with pytest.raises(OSError):  # noqa: PT011 - whatever its words
        port.read()
    port.close()
    port.close()


def test_one_file_knows_the_library() -> None:
    """Pyserial is imported by hal/drivers/serial_port.py alone (case E19)."""
    root = Path(__file__).parent.parent
    sources = [path for top in ("firmware", "hal", "sim") for path in (root / top).rglob("*.py")]
    assert ["serial_port.py"] == [path.name for path in sources if IMPORTS_SERIAL.search(path.read_text("utf-8"))]


def test_a_port_that_is_closed_under_its_reader_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pyserial's own TypeError, of a port that is closed while it is read, is a device that is gone (case E1)."""
    ours, theirs = os.openpty()
    port = serial_port.Port(os.ttyname(theirs))

    def closed(_: int) -> bytes:
        raise TypeError("'NoneType' object cannot be interpreted as an integer")

    monkeypatch.setattr(port._port, "read", closed)
    with pytest.raises(OSError, match="is gone"):
        port.read()
    port.close()
    os.close(ours)
    os.close(theirs)


@pytest.mark.realtime
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_board_that_is_gone_is_noticed_and_found_again(served: Served, how: signal.Signals) -> None:
    """The other end is killed or ends: noticed within a second; it comes back: found within three (cases E1, E12)."""
    board = open_board(str(served.path))
    until(board, lambda: board._host.report)
    begun_us = now_us()
    served.stop(how)
    until(board, lambda: not board.health()["link"].ok)
    noticed_us = now_us() - begun_us
    served.start()
    begun_us = now_us()
    until(board, lambda: board.health()["link"].ok)
    found_us = now_us() - begun_us
    board.close()
    assert noticed_us < 1_000_000 + 2_000_000  # with 2 s for a busy machine
    assert found_us < 3_000_000 + 2_000_000


@pytest.mark.realtime
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_served_board_leaves_no_name_behind(served: Served, how: signal.Signals) -> None:
    """Ctrl-C, an order to end, and a terminal that is closed all end it well, and the name of its port is gone."""
    served.stop(how)
    assert (0, False) == (served.process.returncode, served.path.is_symlink())


@pytest.mark.realtime
def test_the_name_of_a_killed_board_is_taken_over(served: Served) -> None:
    """What a killed program has left of its port leads nowhere, whoever has its terminal now, and the next one serves
    there."""
    served.stop(signal.SIGKILL)
    others = [os.openpty() for _ in range(3)]
    try:
        assert (True, False) == (served.path.is_symlink(), served.path.exists())
        served.start()
        open_board(str(served.path)).close()
    finally:
        for fd in (fd for pair in others for fd in pair):
            os.close(fd)


@pytest.mark.realtime
def test_two_boards_are_not_served_at_one_port(served: Served) -> None:
    """The second one is refused in a sentence, and the first one still answers."""
    command = [*MORBAK, "board", "serve", "--port", str(served.path)]
    second = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S)
    wanted = f"process {served.process.pid} serves a board there; stop that, or name another port"
    assert (2, f"morbak: {served.path}: {wanted}\n") == (second.returncode, second.stderr)
    open_board(str(served.path)).close()


@pytest.mark.parametrize("left", ["/dev/pts/9999", "/proc/999999999/fd/5", "/proc/self/fd/{}"])
def test_names_that_lead_to_no_terminal_any_more_are_taken_over(tmp_path: Path, left: str) -> None:
    """So are names of a terminal that is gone, of a process that is no more, and of one whose number another has."""
    with (tmp_path / "file").open("w") as file:
        (tmp_path / "board").symlink_to(left.format(file.fileno()).replace("self", str(os.getpid())))
        port = DevicePort(str(tmp_path / "board"))
    assert os.path.realpath(tmp_path / "board").startswith("/dev/pts/")
    port.close()


def test_a_name_that_leads_to_another_thing_is_left_alone(tmp_path: Path) -> None:
    """A link to a file that is not there is none of a killed board's: it stays, and that is said."""
    (tmp_path / "board").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PartError, match="no port can be made there: File exists"):
        DevicePort(str(tmp_path / "board"))
    assert tmp_path / "elsewhere" == (tmp_path / "board").readlink()


@pytest.mark.realtime
def test_a_port_that_nobody_reads_takes_no_time() -> None:
    """Writing to a port whose other end reads nothing returns at once, until that reads again (cases E11, E18)."""
    ours, theirs = os.openpty()
    port = serial_port.Port(os.ttyname(theirs))
    os.close(theirs)
    begun_s, sent, taken = time.monotonic(), 0, -1
    while taken and sent < 10_000_000:
        taken = port.write(b"x" * 4096)
        sent += taken
    assert 0 == taken
    assert time.monotonic() - begun_s < WAIT_S
    os.read(ours, 4096)
    os.close(ours)
    port.close()


@pytest.mark.realtime
def test_a_board_whose_host_reads_nothing_goes_on(tmp_path: Path) -> None:
    """The board's own end of a pseudo terminal that nobody reads takes what is written and keeps no more than a few
    messages of it; it never waits (case E11)."""
    port = DevicePort(str(tmp_path / "board"))
    writer = Thread(target=lambda: [port.write(b"x" * 1_000) for _ in range(1_000)], daemon=True)
    writer.start()
    writer.join(WAIT_S)
    assert not writer.is_alive()
    assert len(port._out) <= 10_000
    port.close()
    assert not (tmp_path / "board").is_symlink()


@pytest.mark.realtime
def test_letting_a_port_go_waits_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that holds up the closing of a port holds up nothing else; what nobody has taken is thrown away first,
    for which alone drivers wait (case E12)."""
    ours, theirs = os.openpty()
    port = serial_port.Port(os.ttyname(theirs))
    close, told, ends, done = port._port.close, list[str](), Event(), Event()

    def held() -> None:
        told.append("close")
        ends.wait(WAIT_S)
        close()
        done.set()

    monkeypatch.setattr(port._port, "close", held)
    monkeypatch.setattr(port._port, "reset_output_buffer", lambda: told.append("throw away"))
    port.close()
    assert not done.is_set()
    ends.set()
    assert done.wait(WAIT_S)
    assert ["throw away", "close"] == told
    os.close(ours)
    os.close(theirs)


@pytest.mark.realtime
def test_a_backlog_is_read_in_few_calls() -> None:
    """A megabyte that is sent as fast as it goes is read in gulps, not byte by byte, and none of it is lost; the port
    has DTR set, without which a microcontroller says nothing (cases E9, E15)."""
    ours, theirs = os.openpty()
    port = serial_port.Port(os.ttyname(theirs))
    assert port._port.dtr
    os.close(theirs)
    os.set_blocking(ours, False)
    sent = taken = calls = 0
    while taken < 1_000_000:
        if sent < 1_000_000:
            with contextlib.suppress(BlockingIOError):
                sent += os.write(ours, b"x" * min(4096, 1_000_000 - sent))
        if data := port.read():
            taken, calls = taken + len(data), calls + 1
    assert 1_000_000 == taken == sent
    assert calls < 10_000
    os.close(ours)
    port.close()


def test_a_device_that_goes_while_its_port_is_set_up_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of the terminal's own kind, as of an unplug in the middle of opening, is a sentence too (case E1)."""

    import termios

    def gone(*_: object) -> None:
        raise termios.error(5, "Input/output error")

    ours, theirs = os.openpty()
    monkeypatch.setattr("termios.tcsetattr", gone)
    with pytest.raises(PartError, match="cannot be opened as a serial port"):
        serial_port.Port(os.ttyname(theirs))
    os.close(ours)
    os.close(theirs)


def test_a_port_that_is_none_is_named(tmp_path: Path) -> None:
    """A port that is not there, and a file that is no port, are said in a sentence."""
    for path, wanted in ((tmp_path / "none", "there is no such port"), (tmp_path, "cannot be opened as a serial port")):
        with pytest.raises(PartError, match=wanted):
            serial_port.Port(str(path))


def test_where_to_look_for_a_board(tmp_path: Path) -> None:
    """A named port is looked for by its name, with nothing known of it by that alone."""
    assert [str(tmp_path)] == list(serial_port.candidates(str(tmp_path), Identity()))


def test_a_board_is_looked_for_by_its_usb_id(monkeypatch: pytest.MonkeyPatch) -> None:
    """ "auto" asks the makers that we know, a USB id all that have it, each port once; the board that was there before
    comes first under whatever name."""
    pico, other, twin = Identity(0x2E8A, 5, "1"), Identity(0x1209, 0xABCD, "2"), Identity(0x1209, 0xABCD, "3")
    found = [("/dev/ttyACM0", pico), ("/dev/ttyACM1", other), ("/dev/ttyACM2", twin)]
    monkeypatch.setattr(serial_port, "_listed", lambda: found)
    asked = {
        ("auto", Identity()): ["/dev/ttyACM0"],
        ("1209:abcd", Identity()): ["/dev/ttyACM1", "/dev/ttyACM2"],
        ("1209:ABCD", twin): ["/dev/ttyACM2", "/dev/ttyACM1"],
        ("1209:0001", Identity()): [],
        ("/dev/ttyACM7", Identity()): ["/dev/ttyACM7"],
    }
    assert asked == {each: list(serial_port.candidates(*each)) for each in asked}
    with pytest.raises(PartError, match="a serial port with the USB id 1209:0001: not found; plug the board in"):
        open_board("1209:0001", now_us=iter(range(0, 1 << 40, 1_000_000)).__next__, wait=lambda _: None)


@pytest.mark.realtime
def test_a_stranger_with_the_page_alone_talks_to_a_board(served: Served) -> None:
    """A script that has only PROTOCOL.md and pyserial presses a cell, hears of it, and lights it; it has 60 lines."""
    source = STRANGER.read_text(encoding="utf-8")
    assert len([line for line in source.splitlines() if line]) <= 60
    assert not {"hal", "firmware", "sim", "tests"} & {
        line.split()[1].split(".")[0] for line in source.splitlines() if line.startswith(("import", "from"))
    }
    ran = subprocess.run([sys.executable, "-I", STRANGER, served.path], capture_output=True, text=True, timeout=WAIT_S)
    assert ("", 0) == (ran.stderr, ran.returncode)
    assert "simulated board: 7 x 7; d4 down, d4 up; frame 1 is shown\n" == ran.stdout


@pytest.mark.realtime
def test_the_firmware_plays_on_a_board_at_a_cable(served: Served, tmp_path: Path) -> None:
    """`morbak run --board serial:PORT` says what is wrong while the board is away, and that it is well afterwards."""
    command = [*MORBAK, "run", "--board", f"serial:{served.path}", "--port", "0", "--state", str(tmp_path / "state")]
    game = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert game.stdout is not None
    try:
        address = game.stdout.readline().split()[4]

        def health() -> tuple[bool, str]:
            with urlopen(f"{address}api/v1/state", timeout=WAIT_S) as answer:  # noqa: S310 - this computer
                part = json.load(answer)["health"]["parts"]["link"]
            return part["ok"], part["text"]

        def wait(wanted: bool) -> str:
            end_s = time.monotonic() + WAIT_S
            while (said := health())[0] != wanted:
                assert time.monotonic() < end_s, said
                time.sleep(0.05)
            return said[1]

        assert "simulated board (morbak-board simulator" in wait(True)
        served.stop(signal.SIGKILL)
        assert str(served.path) in wait(False)
        served.start()
        wait(True)
    finally:
        game.terminate()
        game.wait(WAIT_S)
        game.stdout.close()
    assert 0 == game.returncode


def test_a_game_without_a_board_is_refused_in_a_sentence() -> None:
    """`--board serial:` without a port is a mistake, and says what to write."""
    ran = subprocess.run([*MORBAK, "run", "--board", "serial:"], capture_output=True, text=True, timeout=WAIT_S)
    assert (2, "morbak: the port of the board is missing: write serial:auto, or serial: and its path\n") == (
        ran.returncode,
        ran.stderr,
    )
