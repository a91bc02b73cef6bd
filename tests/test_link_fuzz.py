"""Both ends of the link and the driver under any input: no exception, and no more memory than a long evening needs."""

from __future__ import annotations

import gc
import logging
import struct
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random

import pytest

from hal import link
from hal.drivers.serial_board import SerialBoard, open_board
from hal.drivers.serial_port import Identity
from hal.errors import PartError
from hal.link_device import MOST_EDGES, Device
from hal.link_host import MOST_EDGES as MOST_TAKEN
from hal.link_host import Host
from sim.device import SimDevice
from tests.fuzzing import Fuzzed, fuzz
from tests.link_rig import SIM, BoardClock, Rig

HAL = Path(link.__file__).parent
ABOUT = Rig().device._far.device.about
BUDGET = 100, 2_100_000, 1_250, (20_000, 13_750, 18_750)
STRANGE = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 40, (1 << 64) - 1)


class Script:
    """An input, read as what is done one after the other; at its end there is nothing but zeros."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def left(self) -> bool:
        return self._at < len(self._data)

    def bytes(self, count: int) -> bytes:
        self._at += count
        return self._data[self._at - count : self._at].ljust(count, b"\0")

    def number(self, most: int) -> int:
        """From 0 to `most`."""
        size = 1 if most < 256 else 4
        return int.from_bytes(self.bytes(size), "little") % (most + 1)

    def value(self, bits: int, true: int) -> int:
        """A field: mostly true, else strange or any."""
        kind = self.number(255)
        if kind < 160:
            return true & (1 << bits) - 1
        found = STRANGE[kind % len(STRANGE)] if kind < 230 else int.from_bytes(self.bytes(bits // 8), "little")
        return found & (1 << bits) - 1

    def spoil(self, body: bytes) -> bytes:
        """A body: mostly whole, else cut, longer, or with a byte changed."""
        match self.number(15):
            case 13:
                return body[: self.number(max(len(body), 1))]
            case 14:
                return body + self.bytes(self.number(20))
            case 15 if body:
                at = self.number(len(body) - 1)
                return body[:at] + self.bytes(1) + body[at + 1 :]
            case _:
                return body


class DecoderTarget:
    """The splitter and every reader of a body."""

    files = ("link",)

    def __init__(self) -> None:
        self.splitter = link.Splitter()

    def play(self, script: Script) -> None:
        while script.left:
            data = script.bytes(script.number(120))
            if script.number(3):
                data = link.frame(script.number(255), 1, 2, 3, data)
            elif script.number(3) == 3:
                data *= 60
            for header, body in self.splitter.feed(script.spoil(data)):
                self._read(header.kind, body)
            assert len(self.splitter._held) <= link.LONGEST + 12

    @staticmethod
    def _read(kind: int, body: bytes) -> None:
        frame = bytes(range(147))
        readers: tuple[Callable[[], object], ...] = (
            lambda: link.version_of(body),
            lambda: link.read_welcome(link.welcome(ABOUT)[: 7 + kind] + body),
            lambda: link.read_settings(body),
            lambda: link.read_report(body, 49),
            lambda: link.read_stats(body),
            lambda: link.apply_delta(frame, body),
        )
        for read in readers:
            try:
                read()
            except ValueError:
                continue


class HostTarget:
    """The host's side: a far end that says anything, most of it nearly true."""

    files = ("link", "link_host", "link_frames", "link_clock")

    def __init__(self) -> None:
        self.host, self.t_us, self.number, self.first = Host(7), 5_000_000, 0, 0
        self.host.allow(*BUDGET)

    def play(self, script: Script) -> None:
        while script.left:
            self._do(script)
            host = self.host
            assert len(host._edges) <= MOST_TAKEN + 300 and len(host._sent_us) <= 64 and len(host._moved_us) <= 256
            assert len(host.splitter._held) <= link.LONGEST + 12

    def _do(self, script: Script) -> None:  # noqa: C901 - a list of what can be done
        host = self.host
        match script.number(15):
            case 0:
                host.feed(script.bytes(script.number(200)), self.t_us)
            case 1:
                self.t_us += script.number(4_000_000)
            case 2:
                host.frames.wanted = bytes([script.number(255)]) * 147
            case 3:
                host.allow(script.number(100), *BUDGET[1:])
            case 4 if len(host._tests) < 8:
                host.test(script.number(7), script.number(1 << 24))
            case 5:
                (host.ask, host.close, lambda: host.open(self.t_us))[script.number(2)]()
            case 6 | 7:
                self._say(script, link.WELCOME, link.welcome(self._about(script)))
            case 8:
                stats = link.stats(link.Stats(*[script.value(32, 9) for _ in range(8)]))
                self._say(script, *((link.STATS, stats) if script.number(1) else (link.REFUSED, link.refused(3))))
            case _:
                self._say(script, link.REPORT, self._report(script))
        self.t_us += 1_000
        for header, _ in link.Splitter().feed(host.poll(self.t_us)):
            if header.kind == link.HELLO and not host.up and script.number(3):
                self.first = 0
                self._say(script, link.WELCOME, link.welcome(ABOUT))
        taken = host.take()
        assert [edge.t_us for edge in taken.edges] == sorted(edge.t_us for edge in taken.edges)
        assert taken.known_us <= self.t_us and all(0 <= edge.cell < 256 for edge in taken.edges)

    def _about(self, script: Script) -> link.Welcome:
        fields = {"rows": 8, "columns": 8, "supply_ma": 32, "idle_ua": 32, "red_ua": 32, "strip_a": 8, "scan_hz": 16}
        return ABOUT._replace(**{name: script.value(bits, getattr(ABOUT, name)) for name, bits in fields.items()})

    def _report(self, script: Script) -> bytes:
        now_us = script.value(64, self.t_us)
        edges = tuple(
            (now_us - script.value(32, 10) % (1 << 31), script.value(8, number) % 49, script.number(1) == 1)
            for number in range(script.number(255) % 5)
        )
        down = self.host.down
        for _, cell, _ in edges:
            down ^= 1 << cell
        told = link.Report(
            now_us, now_us - script.value(32, 100) % (1 << 31), now_us - script.value(32, 1_000),
            script.value(16, self.host.frames._flight_number), script.value(8, 1), script.value(8, 1),
            script.value(8, 0), script.value(16, 0), script.value(16, self.host._expected), edges,
            script.value(48, 0), script.value(48, down),
        )  # fmt: skip
        return link.report(told, 49)

    def _say(self, script: Script, kind: int, body: bytes) -> None:
        self.number += 1
        number, session = script.value(16, self.number), script.value(16, self.host._session)
        ack = script.value(16, self.host._number)
        self.host.feed(link.frame(kind, session, number, ack, script.spoil(body)), self.t_us)


class DeviceTarget:
    """The board's side: a host that says anything, and contacts that move."""

    files = ("link", "link_device")

    def __init__(self) -> None:
        self.device, self.t_us, self.number, self.session = Device(ABOUT), 5_000_000, 0, 1

    def play(self, script: Script) -> None:
        device = self.device
        while script.left:
            self._do(script)
            device.tests.clear()
            assert len(device._edges) <= MOST_EDGES and len(device._sessions) <= 8
            assert len(device._replies) <= 100_000 and 147 == len(device.lit)
            drawn = _draws_ua(device)
            assert device._settings is None or drawn <= device._settings.budget_ua or not any(device.lit)

    def _do(self, script: Script) -> None:  # noqa: C901 - a list of what can be done
        device = self.device
        match script.number(11):
            case 0:
                device.feed(script.bytes(script.number(200)), self.t_us)
            case 1:
                self.t_us += script.number(4_000_000)
            case 2 | 3:
                edges = tuple((self.t_us, script.number(48), script.number(1) == 1) for _ in range(script.number(3)))
                device.scanned(self.t_us - 10_000, edges, script.value(48, 0))
            case 4:
                self.session = script.value(16, self.session + 1)
                self._say(script, link.HELLO, link.hello(script.value(8, 1)))
            case 5 | 6:
                values = [script.value(bits, true) for bits, true in zip((8, 8, 8, *[32] * 5), SET, strict=True)]
                self._say(script, link.SET, link.settings(link.Settings(*values)))
            case 7:
                body = struct.pack("<H", script.value(16, 1)) + bytes([script.number(255)]) * 147
                self._say(script, link.FRAME, body)
            case 8:
                base = struct.pack("<HH", script.value(16, 2), script.value(16, device._frame_number))
                self._say(script, link.DELTA, base + script.bytes(script.number(12)))
            case 9:
                self._say(script, link.TEST, script.bytes(2) + script.bytes(script.number(40)))
            case 10:
                self._say(script, (link.ASK, link.BEAT, link.BYE)[script.number(2)], b"")
            case 11:
                self._say(script, script.number(255), script.bytes(script.number(30)))
        self.t_us += 1_000
        if script.number(7):
            for _, body in link.Splitter().feed(device.poll(self.t_us)):
                assert len(body) <= link.LONGEST

    def _say(self, script: Script, kind: int, body: bytes) -> None:
        self.number += 1
        data = link.frame(kind, self.session, script.value(16, self.number), script.value(16, 0), script.spoil(body))
        self.device.feed(data, self.t_us)


SET = (1, 5, 100, 2_100_000, 1_250, 20_000, 13_750, 18_750)


def _draws_ua(device: Device) -> int:
    """What the light of a device draws, in the model that it was told."""
    told = device._settings
    if told is None:
        return 0
    channels = (told.first_ua, told.second_ua, told.third_ua)
    drawn = sum(value * channels[at % 3] for at, value in enumerate(device.lit))
    return told.idle_ua * len(ABOUT.lights) + drawn // 255


class BoardTarget:
    """The driver on ports that come, go, raise, babble, and at times have a true board; implements `Ports`."""

    files = ("link_host", "link_profile", "link_trouble", "drivers/serial_board", "drivers/serial_cable")

    def __init__(self) -> None:
        rig = Rig()
        self.clock, self.board_clock = rig.clock, BoardClock(rig.clock)
        self.far, self.script = SimDevice(SIM, self.board_clock), Script(b"")
        self.name, self.identity, self._in = "/dev/ttyACM0", Identity(1, 2, "3"), b""
        self.fault: Exception | None = None
        self.board: SerialBoard = open_board("auto", now_us=self.clock.now_us, wait=self._wait, ports=self)

    # Ports, and the one there is.
    def candidates(self, where: str, known: Identity) -> Iterable[str]:
        if isinstance(self.fault, OSError) and self.script.number(3) == 3:
            raise self.fault
        return ["/dev/ttyACM0", "/dev/ttyACM1"][: 1 + self.script.number(1)]

    def Port(self, name: str) -> BoardTarget:  # noqa: N802 - a class
        if self.fault is not None:
            raise PartError(f"{name}: {self.fault}")
        return self

    def read(self) -> bytes:
        if self.fault is not None:
            raise self.fault
        found, self._in = self._in, b""
        return found

    def write(self, data: bytes) -> int:
        if self.fault is not None:
            raise self.fault
        taken = data[: (len(data), 0, 7)[max(0, self.script.number(9) - 7)]]
        self._in += self.far.step(self.board_clock.now_us(), taken)
        return len(taken)

    def close(self) -> None:
        pass

    def _wait(self, s: float) -> None:
        self._pass(int(s * 1e6))

    def _pass(self, us: int) -> None:
        for _ in range(min(us // 2_500 + 1, 40)):
            self.clock.advance_to(self.clock.now_us() + max(2_500, us // 40))
            self._in = (self._in + self.far.step(self.board_clock.now_us(), b""))[-4096:]

    def play(self, script: Script) -> None:
        self.script, board = script, self.board
        while script.left:
            match script.number(11):
                case 0:
                    self.fault = None if self.fault else OSError(5, "Input/output error")
                case 1:
                    self._in = script.bytes(script.number(200))
                case 2:
                    self.far.restart()
                case 3:
                    self._pass(script.number(5_000_000))
                case 4:
                    board.show(bytes([script.number(255)]) * 147, self.clock.now_us())
                case 5:
                    board.dim(1 + script.number(99))
                case 6:
                    self._change(script)
                case 7:
                    move = self.far.board.contacts.press if script.number(1) else self.far.board.contacts.release
                    move(script.number(48), self.board_clock.now_us())
                case _:
                    self._pass(2_500)
                    board.scan(self.clock.now_us())
            assert all(part.text for part in board.health().values()) and 147 == len(board.wire())
            assert board._host.splitter.good >= 0 and len(board._cable._out) < 4096 and len(board._host._edges) < 2_000
        self.script, self.fault = Script(b""), None

    def _change(self, script: Script) -> None:
        """The board says something else of itself from now on, after a start anew."""
        self.far.restart()
        fields = {"rows": 8, "supply_ma": 32, "red_ua": 32, "strip_a": 8, "scan_hz": 16, "flags": 8}
        device = self.far._far.device
        device.about = ABOUT._replace(
            colour_order=(b"GRB", b"\xff\0A")[script.number(7) // 7],
            name="sim" if script.number(3) else str(script.bytes(9), "latin-1"),
            lights=ABOUT.lights if script.number(3) else ABOUT.lights[: script.number(49)],
            **{name: script.value(bits, getattr(ABOUT, name)) for name, bits in fields.items()},
        )


TARGETS = [DecoderTarget, HostTarget, DeviceTarget, BoardTarget]
AnyTarget = type[DecoderTarget] | type[HostTarget] | type[DeviceTarget] | type[BoardTarget]


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS)
def test_any_input_is_borne(
    target: AnyTarget,
    seed: int,
    prove: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Inputs guided by what they reach: no exception, queues within their bounds, and whoever has lived through all
    that reached anything new needs no more memory when it comes again."""
    monkeypatch.setattr(logging.getLogger("morbak"), "disabled", True)  # or the test would keep each line
    files = [HAL / f"{name}.py" for name in target.files]
    found: Fuzzed = fuzz(lambda data: target().play(Script(data)), files, Random(seed), 75 if prove else 1)
    lasting = target()

    def live() -> int:
        for data in found.corpus[-100:]:
            lasting.play(Script(data))
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    live()
    tracemalloc.start()
    try:
        live()
        before = live()
        for _ in range(20 if prove else 2):
            after = live()
    finally:
        tracemalloc.stop()
    reached = ", ".join(f"{name} {found.lines[name]} of {found.known[name]} lines" for name in sorted(found.lines))
    with capsys.disabled():
        print(
            f"\n{target.__name__}: {found.inputs} inputs, {len(found.corpus)} of them new; {reached}; "
            f"{(after - before) / 1000:+.1f} kB after living through them again"
        )
    assert after - before < 50_000
