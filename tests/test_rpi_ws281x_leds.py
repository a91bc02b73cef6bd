"""LEDs through rpi_ws281x: a helper process with a library that behaves, and fails, like the real one."""

from __future__ import annotations

import contextlib
import os
import pwd
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from hal import conformance
from hal.conformance_leds import LEDS, LedBench, LedCheck, Shown
from hal.drivers import rpi_ws281x_helper, rpi_ws281x_leds
from hal.drivers.rpi_ws281x_leds import HELPER, SENTENCES, HelpedLeds, audio_problem, open_leds
from hal.drivers.rpi_ws281x_reach import SOCKET, CalledWay, StartedWay
from hal.errors import PartError
from hal.ports import Leds
from hal.profile import Profile, load, shipped

SIM = load(shipped("sim"))
ROOT = Path(__file__).parent.parent
LIBRARIES = ROOT / "tests/fake_libraries"
COMMAND = [sys.executable, "-P", "-m", HELPER]
LIT = b"\x01\x02\x03" * 49
DARK = bytes(147)


def profile(pin: str = "GPIO18", **values: object) -> Profile:
    """49 LEDs on rpi_ws281x."""
    return SIM._replace(leds=msgspec.structs.replace(SIM.leds, driver="rpi_ws281x", pin=pin, **values))


class Library:
    """The fake library's folder, and a clock that is moved by hand once it is needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def tell(self, **orders: int) -> None:
        """How it behaves from now on."""
        for name, value in orders.items():
            (self.folder / name).write_text(str(value))

    def behave(self) -> None:
        """It has no faults any more."""
        for name in ("init", "render", "crash", "hang", "slow", "exit"):
            (self.folder / name).unlink(missing_ok=True)

    @property
    def begun(self) -> list[list[str]]:
        """The process and the numbers of every initialisation."""
        return [line.split() for line in self._lines("begun")]

    @property
    def shown(self) -> list[bytes]:
        """Every frame that went on the wire."""
        return [bytes.fromhex(line) for line in self._lines("shown")]

    @property
    def helper(self) -> int:
        """The latest helper's process."""
        return int(self.begun[-1][0])

    def _lines(self, name: str) -> list[str]:
        file = self.folder / name
        return file.read_text().splitlines() if file.exists() else []


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    """A library for the helper to import."""
    monkeypatch.setenv("PYTHONPATH", f"{LIBRARIES}:{ROOT}")
    monkeypatch.setenv("FAKE_WS281X", str(tmp_path))
    return Library(tmp_path)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that are added to the clock of the back-off."""
    added = [0.0]
    real = rpi_ws281x_leds.time.monotonic
    monkeypatch.setattr(HelpedLeds.__init__, "__defaults__", (lambda: real() + added[0],))
    return added


def opened(profile: Profile = profile()) -> HelpedLeds:  # noqa: B008 - a profile never changes
    """The chain, open."""
    leds = open_leds(profile, command=COMMAND)
    assert isinstance(leds, HelpedLeds)
    return leds


# -- while all is well -------------------------------------------------------------------------------------------------


def test_a_chain_is_dark_then_shows_each_frame_then_is_dark(library: Library) -> None:
    """Opening blanks, each write is one frame on the wire as it was given, closing blanks, twice is once (A28)."""
    leds = opened()
    assert [DARK] == library.shown
    leds.write(LIT)
    leds.write(LIT[::-1])
    assert [DARK, LIT, LIT[::-1]] == library.shown
    leds.close()
    leds.close()
    assert [DARK, LIT, LIT[::-1], DARK, DARK] == library.shown
    assert gone(library.helper)


def gone(process: int) -> bool:
    """Whether a process has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, 0)
        return False
    return True


@pytest.mark.parametrize(
    ("pin", "channel"), [("GPIO10", 0), ("GPIO12", 0), ("GPIO13", 1), ("GPIO18", 0), ("GPIO19", 1), ("GPIO21", 0)]
)
def test_the_library_is_initialised_once_a_process(library: Library, pin: str, channel: int) -> None:
    """One helper, one initialisation, with the profile's numbers; frames need none (case A27)."""
    with contextlib.closing(opened(profile(pin))) as leds:
        for level in range(20):
            leds.write(bytes([level]) * 147)
        assert [["49", pin[4:], "10", str(channel)]] == [line[1:] for line in library.begun]


def test_a_library_that_crashes_at_exit_is_no_fault(library: Library) -> None:
    """The library's own clean-up may crash: the chain is dark before, and close says nothing (case A28)."""
    leds = opened()
    leds.write(LIT)
    library.tell(exit=1)
    leds.close()
    assert DARK == library.shown[-1]


@pytest.mark.long
def test_a_long_life_costs_no_memory(library: Library, prove: bool) -> None:
    """100,000 frames through one helper: neither process has grown by more than half a megabyte (case A27)."""
    frames = [bytes([level, 0, 255 - level]) * 49 for level in range(256)]
    with contextlib.closing(opened()) as leds:
        for frame in frames:
            leds.write(frame)
        before = [resident_kb(process) for process in (os.getpid(), library.helper)]
        for _ in range(390 if prove else 4):
            for frame in frames:
                leds.write(frame)
        after = [resident_kb(process) for process in (os.getpid(), library.helper)]
        assert len(library.begun) == 1
    assert all(late - early <= 512 for early, late in zip(before, after, strict=True)), (before, after)


def resident_kb(process: int) -> int:
    """The memory of a process."""
    return int(Path(f"/proc/{process}/status").read_text().partition("VmRSS:")[2].split()[0])


@pytest.mark.parametrize("check", LEDS, ids=conformance.name)
def test_the_helper_passes_the_suite(library: Library, check: LedCheck) -> None:
    """The driver with its helper keeps every promise, as far as a library without a wire can tell."""
    seen: list[bytes] = []

    def shown() -> list[Shown]:
        fresh = library.shown[len(seen) :]
        seen.extend(fresh)
        return [Shown(now_us(), frame) for frame in fresh]

    def crash(leds: Leds) -> None:
        assert isinstance(leds, HelpedLeds)
        os.kill(library.helper, signal.SIGKILL)
        leds._discard(5)

    check(LedBench(49, opened, shown, now_us, late_us=1_000_000, crash=crash))


def now_us() -> int:
    """A clock."""
    return time.monotonic_ns() // 1_000


def test_a_frame_of_another_length_is_refused(library: Library) -> None:
    """A frame that is not three bytes an LED is refused, and the helper goes on."""
    with contextlib.closing(opened()) as leds:
        with pytest.raises(ValueError, match="a frame of 146 bytes for 49 LEDs"):
            leds.write(bytes(146))
        leds.write(LIT)
        assert LIT == library.shown[-1]


# -- codes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", range(-15, 0))
def test_every_code_is_one_sentence_with_one_command(library: Library, code: int) -> None:
    """Each code of the library's initialisation becomes one sentence and one command; no helper is left (A1)."""
    library.tell(init=code)
    with pytest.raises(PartError) as caught:
        opened()
    text = str(caught.value)
    assert text.startswith(SENTENCES.get(code, "the LED library failed with the code -15")[:20].partition("{")[0])
    assert (0, 2) == (text.count("\n"), text.count("`"))
    assert "{" not in text
    assert library.begun == []


def test_a_revision_that_the_library_does_not_know_is_reported(library: Library, tmp_path: Path) -> None:
    """Code -3 names the revision of the board, to be told to the library's makers (case A3)."""
    library.tell(init=-3)
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text("Revision\t: d04190\n")
    with pytest.raises(PartError, match="revision d04190"):
        open_leds(profile(), tmp_path, COMMAND)


def test_a_frame_that_the_library_refuses_is_a_failed_part(library: Library, clock: list[float]) -> None:
    """A code from drawing is said in its sentence, and a new helper takes over once the library is well."""
    leds = opened(profile("GPIO10"))
    library.tell(render=-14)
    with pytest.raises(PartError, match="SPI does not take a frame"):
        leds.write(LIT)
    library.behave()
    clock[0] += 1
    written(leds)
    leds.close()
    assert len(library.begun) == 2


def test_a_missing_module_is_said_with_its_command(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the library the sentence says what to install."""
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT}")
    with pytest.raises(PartError, match=r"the module rpi_ws281x is missing .*: `.* -m pip install rpi-ws281x`"):
        opened()


def test_root_that_is_not_given_is_said_with_its_command(library: Library, tmp_path: Path) -> None:
    """Where sudo wants a password the sentence says how to allow the helper, and only it (case A1)."""
    sudo = tmp_path / "sudo"
    sudo.write_text("#!/bin/sh\nexit 1\n")
    sudo.chmod(0o755)
    leds = HelpedLeds(profile(), tmp_path, StartedWay(["sudo"]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        with pytest.raises(PartError, match=r"needs root for GPIO18: `echo .*NOPASSWD: .*helper \*"):
            leds.start()


def test_a_helper_that_cannot_be_started_is_said(tmp_path: Path) -> None:
    """A command that does not exist is a sentence that names it."""
    with pytest.raises(PartError, match="cannot be started: No such file or directory: /nowhere/python"):
        open_leds(profile(), command=["/nowhere/python"])


# -- what is refused before --------------------------------------------------------------------------------------------


def test_a_pi5_is_refused(tmp_path: Path) -> None:
    """On a Pi 5 the library is not even tried, and the sentence names what to use (case A4)."""
    (tmp_path / "proc/device-tree").mkdir(parents=True)
    (tmp_path / "proc/device-tree/model").write_text("Raspberry Pi 5 Model B Rev 1.0\0")
    with pytest.raises(PartError, match=r'cannot reach the pins of a Raspberry Pi 5.*: set driver = "leds0"'):
        open_leds(profile(), tmp_path)


@pytest.mark.parametrize("dma", [0, 5, 14])
def test_a_dma_channel_of_others_is_refused(dma: int) -> None:
    """Channel 5 is the SD card's, and any but the library's own default is refused (case A11)."""
    with pytest.raises(PartError, match=f"leds.dma = {dma}: channel 10 is wanted; 5 is the SD card's"):
        open_leds(profile(dma=dma))


def test_a_pin_without_pwm_is_refused() -> None:
    """A pin that the library cannot drive is refused with those that it can."""
    with pytest.raises(PartError, match=r"GPIO4 carries no LEDs; GPIO10 \(SPI\), GPIO12, 13, 18 or 19 \(PWM\)"):
        open_leds(profile("GPIO4"))


@pytest.mark.parametrize(
    ("pin", "modules", "warned"),
    [
        ("GPIO18", "snd_bcm2835 24576 1 - Live 0x0\nsnd_pcm 1 0\n", True),
        ("GPIO18", "snd_usb_audio 1 0\n\n", False),
        ("GPIO10", "snd_bcm2835 24576 1\n", False),
        ("GPIO21", "snd_bcm2835 24576 1\n", False),
    ],
)
def test_sound_on_the_same_pwm_is_named(tmp_path: Path, pin: str, modules: str, warned: bool) -> None:
    """Analogue sound is named where the LEDs are on PWM, with the command that turns it off (case A13)."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/modules").write_text(modules)
    text = audio_problem(profile(pin), tmp_path)
    assert warned == ("`sudo sed -i 's/^dtparam=audio=on/dtparam=audio=off/'" in text)
    about = HelpedLeds(profile(pin), tmp_path, COMMAND).about
    assert about == (f"rpi_ws281x on {pin}; {text}" if warned else f"rpi_ws281x on {pin}")


# -- helpers that die --------------------------------------------------------------------------------------------------


def written(leds: HelpedLeds) -> None:
    """Write until a helper takes the frame, as the board does."""
    while not tried(leds):
        pass


def tried(leds: HelpedLeds) -> bool:
    """Write once; where the helper is starting, wait for its word and tell that it was not taken."""
    try:
        leds.write(LIT)
    except PartError as fault:
        if "starting" not in str(fault):
            raise
        assert leds._helper is not None
        rpi_ws281x_leds.select.select([leds._helper], [], [], 5)
        return False
    return True


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGKILL"])
def test_a_helper_that_dies_is_a_failed_part_and_is_started_again(
    library: Library, clock: list[float], name: str
) -> None:
    """After a crash writes fail at once and say so, until a new helper has blanked the chain and takes frames (A28)."""
    leds = opened()
    leds.write(LIT)
    os.kill(library.helper, signal.Signals[name])
    with pytest.raises(PartError, match=f"ended by signal {signal.Signals[name].value}; it is started again"):
        leds.write(LIT)
    with pytest.raises(PartError, match="it is started again"):  # not before its time
        leds.write(LIT)
    clock[0] += 0.6
    with pytest.raises(PartError, match="the LED helper is starting"):
        leds.write(LIT)
    written(leds)
    assert [DARK, LIT, DARK, LIT] == library.shown
    leds.close()
    assert DARK == library.shown[-1]


def test_a_crash_in_the_middle_of_a_frame_is_a_failed_part(library: Library, clock: list[float]) -> None:
    """A segmentation fault inside the library is one frame that failed."""
    library.tell(crash=3)
    leds = opened()
    leds.write(LIT)
    with pytest.raises(PartError, match="ended by signal 11"):
        leds.write(LIT)
    library.behave()
    clock[0] += 1
    written(leds)
    leds.close()


def test_a_helper_that_hangs_is_ended(library: Library, clock: list[float]) -> None:
    """A library that stands still with the interpreter's lock costs one frame's time-out, and its helper is killed."""
    library.tell(hang=2)
    leds = opened()
    helper = library.helper
    with pytest.raises(PartError, match="has not answered for 1 s"):
        leds.write(LIT)
    assert gone(helper)
    library.behave()
    clock[0] += 1
    written(leds)
    leds.close()


def test_pauses_between_helpers_double_and_end(library: Library, clock: list[float]) -> None:
    """Helpers that fail one after the other are started after 0.5, 1, 2 .. 30 s; one that lived resets that."""
    leds = opened()
    library.tell(crash=1)
    os.kill(library.helper, signal.SIGKILL)
    pauses = []
    for _ in range(9):
        with pytest.raises(PartError, match="ended by signal"):
            written(leds)
        pauses.append(round(leds._retry_at_s - leds._now_s(), 1))
        clock[0] += leds._retry_at_s - leds._now_s()
    assert pauses == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    library.behave()
    written(leds)
    clock[0] += 31
    os.kill(library.helper, signal.SIGKILL)
    with pytest.raises(PartError, match="ended by signal 9"):
        written(leds)
    assert round(leds._retry_at_s - leds._now_s(), 1) == 0.5
    leds.close()


def test_closing_after_a_helper_was_killed_still_leaves_the_chain_dark(library: Library) -> None:
    """A helper that was killed left its last frame: close starts another to blank it."""
    leds = opened()
    leds.write(LIT)
    os.kill(library.helper, signal.SIGKILL)
    with pytest.raises(PartError):
        leds.write(LIT)
    leds.close()
    assert DARK == library.shown[-1]
    assert gone(library.helper)
    with pytest.raises(PartError, match="has been closed"):
        leds.write(LIT)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_helper_that_is_asked_to_end_blanks_first(library: Library, name: str) -> None:
    """SIGTERM and SIGHUP to the helper itself leave the chain dark, and closing then has nothing to do (A28)."""
    leds = opened()
    leds.write(LIT)
    assert leds._helper is not None
    os.kill(library.helper, signal.Signals[name])
    leds._helper.fate(5)
    assert DARK == library.shown[-1]
    with pytest.raises(PartError, match="ended by somebody else"):
        leds.write(LIT)
    frames = len(library.shown)
    leds.close()
    assert frames == len(library.shown)


def test_ctrl_c_does_not_end_the_helper(library: Library) -> None:
    """SIGINT reaches the whole terminal; the helper leaves the end to the board."""
    with contextlib.closing(opened()) as leds:
        os.kill(library.helper, signal.SIGINT)
        leds.write(LIT)
        assert LIT == library.shown[-1]


PROGRAM = """
import sys, time
from pathlib import Path
from tests.test_rpi_ws281x_leds import opened, LIT
leds = opened()
leds.write(LIT)
print("lit", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_a_board_that_is_killed_leaves_no_light(library: Library, name: str) -> None:
    """However the board's own process ends, SIGKILL included, the end of its pipe makes the chain dark (case A28)."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as board:
        assert board.stdout is not None
        assert board.stdout.readline() == b"lit\n"
        helper = os.pidfd_open(library.helper)
        board.send_signal(signal.Signals[name])
    assert rpi_ws281x_leds.select.select([helper], [], [], 10)[0], "the helper is still there"
    os.close(helper)
    assert DARK == library.shown[-1]


def test_a_helper_that_is_told_nonsense_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    """The helper without its numbers ends with a sentence."""
    assert rpi_ws281x_helper.main([]) == 1
    assert capfd.readouterr().out == "failed 0 the helper takes 4 numbers: COUNT PIN CHANNEL DMA\n"


# -- a helper that systemd starts when it is called --------------------------------------------------------------------


class Listening:
    """Stands for systemd and `morbak-leds.socket`: each call gets a helper, one at a time, others are hung up on."""

    def __init__(self, path: Path, user: str) -> None:
        path.parent.mkdir(parents=True)
        self._command = [*COMMAND, "--caller", user]
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self.helpers: list[subprocess.Popen[bytes]] = []
        self.refused = 0
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                call, _ = self._listener.accept()
                with call:
                    if self.helpers and self.helpers[-1].poll() is None:
                        self.refused += 1
                    else:
                        self.helpers.append(subprocess.Popen(self._command, stdin=call, stdout=call))

    def close(self) -> None:
        """No more calls."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)
        for helper in self.helpers:
            helper.kill()
            helper.wait()


@pytest.fixture
def listening(library: Library, tmp_path: Path) -> Iterator[Listening]:
    """A helper that this user may call."""
    calls = Listening(tmp_path / SOCKET, pwd.getpwuid(os.getuid()).pw_name)
    yield calls
    calls.close()


def called(root: Path, pin: str = "GPIO18") -> HelpedLeds:
    """The chain, by the helper behind the socket."""
    leds = HelpedLeds(profile(pin), root, CalledWay(root / SOCKET))
    leds.start()
    return leds


def test_a_called_helper_draws_and_ends_dark(library: Library, listening: Listening, tmp_path: Path) -> None:
    """By the socket the library gets the same numbers and frames, and hanging up leaves the chain dark, no process."""
    leds = called(tmp_path, "GPIO13")
    leds.write(LIT)
    leds.close()
    leds.close()
    assert [DARK, LIT, DARK, DARK] == library.shown
    assert [["49", "13", "10", "1"]] == [line[1:] for line in library.begun]
    assert 0 == listening.helpers[0].wait(5)


def test_one_board_at_a_time_calls(library: Library, listening: Listening, tmp_path: Path) -> None:
    """A second board waits for the first one's helper to end, and gets one of its own once it has (case A27)."""
    first = called(tmp_path)
    second = HelpedLeds(profile(), tmp_path, CalledWay(tmp_path / SOCKET))
    waiting = threading.Thread(target=second.start)
    waiting.start()
    while not listening.refused:
        time.sleep(0.01)
    first.close()
    waiting.join(20)
    second.write(LIT)
    assert LIT == library.shown[-1]
    second.close()
    assert 2 == len(listening.helpers)


def test_a_called_helper_that_dies_is_called_again(
    library: Library, listening: Listening, tmp_path: Path, clock: list[float]
) -> None:
    """It is a failed part until the next pause is over, and then there is a new one."""
    leds = called(tmp_path)
    os.kill(library.helper, signal.SIGKILL)
    listening.helpers[0].wait(5)
    with pytest.raises(PartError, match="hung up; `journalctl"):
        leds.write(LIT)
    clock[0] += 1
    while not tried(leds):
        pass
    assert LIT == library.shown[-1]
    leds.close()


def test_a_helper_serves_nobody_else(library: Library, tmp_path: Path) -> None:
    """The kernel says who has called: another user is refused before the library is loaded, in a sentence."""
    outsider = pwd.getpwnam("nobody")
    ours, theirs = socket.socketpair()
    with ours, theirs:
        code = "import runpy, sys; sys.argv[1:] = ['--caller', 'daemon']; "
        code += "import hal.drivers.rpi_ws281x_helper as h; import socket, struct; "
        code += f"socket.socket.getsockopt = lambda *_: struct.pack('3i', 1, {outsider.pw_uid}, 1); "
        code += "sys.exit(h.main(sys.argv[1:]))"
        helper = subprocess.Popen([sys.executable, "-c", code], stdin=theirs, stdout=theirs)
        theirs.close()
        assert 1 == helper.wait(20)
        told = ours.recv(4096).decode()
    assert f"failed 0 the LED helper works for daemon alone, and user {outsider.pw_uid} has called\n" == told
    assert [] == library.begun


@pytest.mark.parametrize(
    "line", ["", "49", "49 18 0 5", "49 17 0 10", "0 18 0 10", "99999 18 0 10", "49 18 1 10", "-1 18 0 10", "x" * 99]
)
def test_numbers_that_drive_no_chain_are_refused(library: Library, tmp_path: Path, line: str) -> None:
    """A helper with root's rights takes no pin, channel or DMA from its caller but those that carry LEDs (case A31)."""
    calls = Listening(tmp_path / SOCKET, pwd.getpwuid(os.getuid()).pw_name)
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(tmp_path / SOCKET))
        caller.sendall(f"{line}\n".encode())
        told = caller.recv(4096)
    calls.close()
    assert told.startswith(b"failed 0 ")
    assert [] == library.begun


def test_a_socket_without_a_listener_is_said(tmp_path: Path) -> None:
    """Where systemd does not listen the sentence has the command that mends it."""
    with pytest.raises(PartError, match=r"cannot be called at .*: `sudo systemctl restart morbak-leds.socket`"):
        CalledWay(tmp_path / SOCKET).reach((49, 18, 0, 10))
