"""The host's side of the link: bytes in, edges and what is known of them out; frames in, bytes out. See PROTOCOL.md.

Pure: times and bytes are handed in. A session begins with a HELLO that the board answers; whatever was lost, within a
session every edge comes once and in order. Between two sessions the contacts were not known, which is told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hal import link
from hal.link_clock import DeviceClock
from hal.link_frames import RETRY_US, FrameSender
from hal.ports import Edge

# A board that is there answers within a few ms; one that reboots when its port is opened needs seconds (case E7).
HELLO_US = 200_000
# A session whose greeting nobody answers for so long may be one that the board has had and left (case E4): the next.
UNANSWERED_US = 1_000_000
BEAT_US = 100_000
# Words come every 5 ms: silence this long is a loss, noticed well within a second.
LOST_US = 500_000
WORD_MS = 5
# Reports in a row whose edges do not lead to the cells they say are down (case D18).
MOST_CONTRADICTIONS = 3
# Edges that nobody has taken: more only come from a board that never says how far they are known, or to a program
# that lights the board and never scans it.
MOST_EDGES = 1024
# What has not been known for more than a second counts as out of sight: fingers are dead, clocks stood still. So after
# a shorter gap nothing is told before it is that long; it takes a board that starts anew, not noise.
GAP_US = 1_050_000
_LONG_AGO_US = -(1 << 62)


class Heard(NamedTuple):
    """What the board has said since it was asked last, in the host's time; as in `hal.ports.Scan`."""

    edges: tuple[Edge, ...]
    ghosts: int
    known_us: int
    unknown: tuple[int, int] | None = None


class Host:
    """One board at the end of one cable, which may be pulled out and come back.

    `up`: it is there. `about`: what it is, once it has said so. `refusal`: why it will not play, a code of hal.link,
    with `version` the one it speaks. `banners`: greetings of a board that has not heard ours. `sessions`: how many
    there were, `begun` of them since the port was opened. `echoes`: messages that only a host sends. `report`, `stats`:
    its last ones. `accepts` is asked before a board is taken; `declined`: it said no.
    """

    def __init__(self, session: int) -> None:
        """`session`: any number, best a random one; sessions count on from there."""
        self._session = session & 0xFFFF
        self.about: link.Welcome | None = None
        self.report: link.Report | None = None
        self.stats: link.Stats | None = None
        self.accepts: Callable[[link.Welcome], bool] = lambda _: True
        self.sessions = 0
        self.frames = FrameSender()
        self._told: link.Settings | None = None
        self._down = self._ghosts = self._known_us = self._last_us = 0
        self._edges: list[Edge] = []
        self._moved_us: dict[int, int] = {}  # when each cell moved last
        self._unknown: tuple[int, int] | None = None
        self._taken, self._taken_down = Heard((), 0, 0), 0
        self._watched_us = self._excused_us = 0
        self._tests: deque[tuple[int, int]] = deque()
        self._test_number, self._test_us = 0, _LONG_AGO_US
        self._shown: tuple[int, bytes] | None = None
        self._asked = False
        self.open(0)

    def open(self, t_us: int) -> None:
        """A port has been opened, at its other end there may be a board: greet it. Nothing heard before counts."""
        self.splitter = link.Splitter()
        self.refusal: int | None = None
        self.version: int | None = None
        self.banners = self.begun = self.echoes = 0
        self.declined = False
        self._greet(t_us)

    def close(self) -> None:
        """The port is gone."""
        self.up = False

    def _greet(self, t_us: int) -> None:
        self.up = False
        self._session = self._session + 1 & 0xFFFF or 1
        self._clock = DeviceClock()
        self._number = self._heard_number = self._expected = self._contradictions = self._trip_us = 0
        self._frame_number = 0  # of the message that had the last frame
        self._sent_us: deque[tuple[int, int]] = deque(maxlen=64)
        self._first = True  # no report of this session has come yet
        self._now_us = 0  # the board's clock, in its last report
        self._owes_ack = False
        self._heard_us = self._said_us = t_us
        if self._tests and self._test_us != _LONG_AGO_US:
            self._tests.popleft()  # it may have been done, and may be why the board is gone
        self._hello_us = self._set_us = self._test_us = _LONG_AGO_US
        self.frames.forget()

    @property
    def telling(self) -> bool:
        """It is there, and tells of its contacts."""
        return self.up and not self._first

    @property
    def down(self) -> int:
        """Mask of the cells that are down, as far as the board has said."""
        return self._down

    # -- what the board is told --------------------------------------------------------------------------------------

    def allow(self, brightness_pct: int, budget_ua: int, idle_ua: int, channels_ua: tuple[int, int, int]) -> None:
        """Tell the board how much light there may be: currents of one LED, its channels in the chain's order."""
        told = link.Settings(0, WORD_MS, brightness_pct, budget_ua, idle_ua, *channels_ua)
        if self._told is None or told[1:] != self._told[1:]:
            last = self._told.number if self._told is not None else 0
            self._told, self._set_us = told._replace(number=last % 255 + 1), _LONG_AGO_US

    def ask(self) -> None:
        """Ask for statistics; they come in `stats`."""
        self._asked = True

    def test(self, what: int, argument: int) -> None:
        """Have a test board do something; in the order of the calls, each once."""
        self._tests.append((what, argument))

    @property
    def tested(self) -> bool:
        """The board has done all that it was told to."""
        return not self._tests

    @property
    def shown(self) -> bytes | None:
        """What a test board has read back from its chain, red first, if that was what it was told to do last."""
        shown = self._shown
        return shown[1] if shown is not None and self.tested and shown[0] == self._test_number else None

    def poll(self, t_us: int) -> bytes:
        """What is to be sent at `t_us`, which may be nothing. To be called every few milliseconds."""
        self.watch(t_us)
        if not self.up:
            if t_us - self._heard_us > UNANSWERED_US:
                self._greet(t_us)
            if t_us - self._hello_us < HELLO_US:
                return b""
            self._hello_us = t_us
            return b"\0" + self._say(link.HELLO, link.hello(), t_us)  # ends what another program left half said
        out = self._say_settings(t_us)
        if (frame := self.frames.next(t_us, self._retry_us)) is not None:
            out += self._say(*frame, t_us)
            self._frame_number = self._number
        out += self._say_test(t_us)
        if self._asked:
            self._asked = False
            out += self._say(link.ASK, b"", t_us)
        # While a frame is on its way a beat after it tells whether it was lost.
        beat_us = self._retry_us if self.frames.flying else BEAT_US
        if not out and (self._owes_ack or t_us - self._said_us >= beat_us):
            out = self._say(link.BEAT, b"", t_us)
        return out

    def watch(self, t_us: int) -> None:
        """Notice a board that says nothing any more; `poll` does so too."""
        if t_us - self._watched_us > BEAT_US and self._heard_us > self._excused_us:
            # This program stood still, and what has come waits to be read; a board that says nothing is excused once.
            self._heard_us = self._excused_us = max(self._heard_us, t_us - LOST_US // 2)
        self._watched_us = t_us
        if self.up and t_us - self._heard_us > LOST_US:
            self._greet(t_us)

    def bye(self, t_us: int) -> bytes:
        """The last message: the board goes dark."""
        return self._say(link.BYE, b"", t_us) if self.up else b""

    def _say(self, kind: int, body: bytes, t_us: int) -> bytes:
        self._number = self._number + 1 & 0xFFFF
        self._sent_us.append((self._number, t_us))
        self._said_us, self._owes_ack = t_us, False
        return link.frame(kind, self._session, self._number, self._expected, body)

    @property
    def _retry_us(self) -> int:
        return max(RETRY_US, 3 * self._trip_us)

    def _say_settings(self, t_us: int) -> bytes:
        told = self._told
        done = told is None or (not self._first and self.report is not None and self.report.settings == told.number)
        if told is None or done or t_us - self._set_us < self._retry_us:
            return b""
        self._set_us = t_us
        return self._say(link.SET, link.settings(told), t_us)

    def _say_test(self, t_us: int) -> bytes:
        if not self._tests or t_us - self._test_us < self._retry_us:
            return b""
        self._test_us = t_us
        what, argument = self._tests[0]
        body = bytes((self._test_number % 255 + 1, what)) + argument.to_bytes(32, "little")
        return self._say(link.TEST, body, t_us)

    # -- what the board says -----------------------------------------------------------------------------------------

    def feed(self, data: bytes, t_us: int) -> None:
        """Bytes from the board. Never raises: what is wrong in them is counted."""
        for header, body in self.splitter.feed(data):
            if header.kind < link.WELCOME:  # ours, come back
                self.echoes += 1
                continue
            try:
                self._understand(header, body, t_us)
            except ValueError:
                self.splitter.bad += 1

    def take(self) -> Heard:
        """What has come since the last call; after a gap nothing, before it is more than a second long."""
        if self._unknown is not None and self._known_us <= self._unknown[0] + GAP_US:
            return self._taken
        in_order = sorted(self._edges, key=lambda edge: edge.t_us)  # a release is told later than it was
        heard = Heard(tuple(in_order), self._ghosts, self._known_us, self._unknown)
        self._taken, self._taken_down = heard._replace(edges=(), unknown=None), self._down
        self._edges, self._unknown = [], None
        return heard

    def _understand(self, header: link.Header, body: bytes, t_us: int) -> None:
        if header.kind == link.WELCOME and header.session == 0:
            self._meet(link.version_of(body))
            self.banners += 1
        elif header.session != self._session:
            return
        elif not self.up:
            if header.kind in (link.WELCOME, link.REFUSED) and self._meet(link.version_of(body)):
                self._welcome(header, body, t_us)
        elif link.newer(header.number, self._heard_number):
            self._heard_number = header.number
            if header.kind == link.REPORT:  # all else is no sign of a board that can be played on
                self._hear(header, body, t_us)
            elif header.kind == link.STATS:
                self.stats = link.read_stats(body)
            elif header.kind == link.SHOWN:
                self._see(body)
            elif header.kind == link.REFUSED and len(body) > 7:
                self.refusal = body[7]

    def _meet(self, version: int) -> bool:
        """Whether we speak this version."""
        if version != link.VERSION:
            self.refusal, self.version = link.WRONG_VERSION, version
        return version == link.VERSION

    def _welcome(self, header: link.Header, body: bytes, t_us: int) -> None:
        about = link.read_welcome(body)
        self.declined = not self.accepts(about)
        if not self.declined:
            self.about, self.version = about, None
            self._heard_number, self._heard_us = header.number, t_us
            self.banners = 0  # it hears
            self.sessions, self.begun = self.sessions + 1, self.begun + 1
            self.up = True

    def _hear(self, header: link.Header, body: bytes, t_us: int) -> None:
        assert self.about is not None
        report = link.read_report(body, self.about.rows * self.about.columns)
        skip = self._expected - report.first & 0xFFFF
        if skip > len(report.edges):  # edges are lost that we never had
            self._greet(t_us)
            return
        if report.now_us < self._now_us:  # its clock went round, or was set: no time of it means anything any more
            self._greet(t_us)
            return
        new = report.edges[skip:]
        base = _before(new, report.down)
        if base is None or (not self._first and base != self._down):
            self._contradictions += 1
            if self._contradictions >= MOST_CONTRADICTIONS:
                self._greet(t_us)
            return
        self._contradictions, self._heard_us, self._now_us = 0, t_us, report.now_us
        self.refusal = None
        self._synchronise(header, report, t_us)
        known_us = min(self._clock.host_us(report.known_us), t_us)
        times_us = [self._clock.host_us(at) for at, _, _ in new]
        if self._first:
            self._resume(base, min([known_us, *times_us]))
        for at_us, (_, cell, down) in zip(times_us, new, strict=True):
            at_us = max(at_us, self._known_us + 1, self._moved_us.get(cell, 0))
            self._moved_us[cell] = at_us
            self._edges.append(Edge(at_us, cell, down))
            self._last_us = max(self._last_us, at_us)
        self._owes_ack = self._owes_ack or bool(report.edges)
        self._expected = report.first + len(report.edges) & 0xFFFF
        self._down, self._ghosts = report.down, report.ghosts
        self._known_us = max(self._known_us, known_us)
        if len(self._edges) > MOST_EDGES:
            self._shorten()
        self.report = report
        self.frames.acknowledged(report.frame, not link.newer(self._frame_number, header.ack))
        if self._tests and report.test == self._test_number % 255 + 1:
            self._tests.popleft()
            self._test_number, self._test_us = report.test, _LONG_AGO_US

    def _see(self, body: bytes) -> None:
        assert self.about is not None
        if len(body) != 1 + 3 * len(self.about.lights):
            raise ValueError("light of another board")
        self._shown = body[0], body[1:]

    def _synchronise(self, header: link.Header, report: link.Report, t_us: int) -> None:
        sent_us = next((at_us for number, at_us in self._sent_us if number == header.ack), None)
        if sent_us is not None:
            self._trip_us = max(0, (t_us - sent_us) - (report.now_us - report.heard_us))
        self._clock.heard(report.now_us, t_us, None if sent_us is None else (report.heard_us, sent_us))

    def _resume(self, base: int, t_us: int) -> None:
        """The first report of a session: what was down may have been lifted meanwhile, and the other way round."""
        self._first = False
        since_us = self._known_us
        lifted_us = max(since_us, self._last_us) + 1  # a press is told ahead of what is known
        until_us = max(t_us, lifted_us + 1)
        self._unknown = (since_us if self._unknown is None else self._unknown[0], until_us)
        self._edges += [Edge(lifted_us, cell, False) for cell in _bits(self._down & ~base)]
        self._edges += [Edge(until_us, cell, True) for cell in _bits(base & ~self._down)]
        self._known_us = until_us

    def _shorten(self) -> None:
        """Of the edges that nobody has taken keep only what they come to."""
        t_us, moved = self._last_us, self._down ^ self._taken_down
        self._edges = [Edge(t_us, cell, bool(self._down >> cell & 1)) for cell in _bits(moved)]


def _before(edges: Sequence[tuple[int, int, bool]], down: int) -> int | None:
    """The cells that were down before these edges, if `down` are after them; None where the one excludes the other."""
    for _, cell, pressed in reversed(edges):
        if bool(down >> cell & 1) != pressed:
            return None
        down ^= 1 << cell
    return down


def _bits(mask: int) -> list[int]:
    return [at for at in range(mask.bit_length()) if mask >> at & 1]
