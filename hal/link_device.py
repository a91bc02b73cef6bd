"""The board's side of the link: scans in, reports out; frames in, light out. See PROTOCOL.md.

Runs unchanged under MicroPython, as hal/link.py does. Pure: times and bytes are handed in.
"""

from hal import link

# A host that says nothing for this long is gone: the board goes dark and waits for the next one.
SILENCE_US = 3_000_000
BANNER_US = 500_000
# A word at least this often while a cell is down.
WORD_US = 5_000
# Edges that wait for their acknowledgement: four seconds of seven drumming fingers; and how many fit a report.
MOST_EDGES = 128
EDGES_A_REPORT = 16
# Sessions that a late copy of their HELLO must not bring back.
SESSIONS_KEPT = 8
RATE_US = 1_000_000


class Device:
    """What a board says and hears. `lit`: what its LEDs must show now, in chain order; dark without a host.

    The loop around it counts in `overruns` and `bounces` and says in `contacts_fail` and `leds_fail` what does not
    work; `tests` is what a test board has been told to do, pairs of what and its argument, to be taken from there.
    """

    def __init__(self, about: link.Welcome, longest: int = link.LONGEST) -> None:
        self.about = about
        self._cells = about.rows * about.columns
        self._dark = bytes(3 * len(about.lights))
        self.lit = self._dark
        self.tests: list[tuple[int, int]] = []
        self.contacts_fail = self.leds_fail = False
        self.overruns = self.bounces = self.scans = 0
        self._splitter = link.Splitter(longest)
        self._banner_us = self._mute_us = 0
        self._rate = (0, 0, 0)  # when the second began that is being counted, scans until then, scans a second
        self._sessions: list[int] = []
        self._down = self._ghosts = self._known_us = self._lost = self._frames = 0
        self._begin(0, 0, 0)

    def _begin(self, session: int, number: int, now_us: int) -> None:
        """A host begins, or with session 0 is gone: nothing of the one before counts any more."""
        self._session, self._ack, self._heard_us = session, number, now_us
        self._number = self._first = self._frame_number = self._test = 0
        self._settings: link.Settings | None = None
        self._frame = self.lit = self._dark
        self._limited = self._urgent = False
        self._edges: list[tuple[int, int, bool]] = []
        self._base = self._down  # the cells that are down before the first edge that waits
        self._sent_us = now_us
        self._replies = b""

    # -- the contacts ------------------------------------------------------------------------------------------------

    def scanned(self, known_us: int, edges: "tuple[tuple[int, int, bool], ...]", ghosts: int) -> None:
        """A scan is done: its edges, and the time up to which every edge has been reported."""
        self.scans += 1
        self._known_us = known_us
        if ghosts != self._ghosts:
            self._ghosts, self._urgent = ghosts, True
        for edge in edges:
            self._down ^= 1 << edge[1]
            self._edges.append((edge[0], edge[1], edge[2]))
            self._urgent = True
        if not self._session:
            self._edges, self._base = [], self._down
        while len(self._edges) > MOST_EDGES:
            self._drop()
            self._lost += 1

    def _drop(self) -> None:
        """The first edge has been acknowledged, or is lost."""
        self._base ^= 1 << self._edges.pop(0)[1]
        self._first = self._first + 1 & 0xFFFF

    # -- from the host -----------------------------------------------------------------------------------------------

    def feed(self, data: bytes, now_us: int) -> None:
        """Bytes from the host. Never raises: what is wrong in them is refused or counted."""
        for header, body in self._splitter.feed(data):
            if header.kind == link.HELLO:
                self._hello(header, body, now_us)
            elif header.session == self._session and self._session and link.newer(header.number, self._ack):
                self._ack, self._heard_us = header.number, now_us
                waiting = header.ack - self._first & 0xFFFF
                if waiting <= len(self._edges):
                    for _ in range(waiting):
                        self._drop()
                self._understand(header.kind, body, now_us)

    def _hello(self, header: link.Header, body: bytes, now_us: int) -> None:
        try:
            version = link.version_of(body)
        except ValueError:
            return
        if version != link.VERSION:
            self._say(link.REFUSED, link.refused(link.WRONG_VERSION), header.session, header.number)
        elif header.session == self._session or header.session not in self._sessions:
            if header.session != self._session:
                self._begin(header.session, header.number, now_us)
                self._sessions = self._sessions[1 - SESSIONS_KEPT :] + [header.session]
            self._heard_us = now_us
            self._say(link.WELCOME, link.welcome(self.about), header.session, header.number)

    def _understand(self, kind: int, body: bytes, now_us: int) -> None:
        if kind == link.BEAT:
            pass
        elif kind == link.BYE:
            self._begin(0, 0, now_us)
        elif kind == link.ASK:
            self._say(link.STATS, link.stats(self.stats()), self._session, self._ack)
        else:
            self._urgent = True
            try:
                code = self._take(kind, body, now_us)
            except ValueError:
                code = link.WRONG_SIZE
            if code:
                self._say(link.REFUSED, link.refused(code), self._session, self._ack)

    def _take(self, kind: int, body: bytes, now_us: int) -> int:
        """Do what a message says; returns why not, 0 where it is done. Raises ValueError for one that is malformed."""
        if kind == link.SET:
            self._settings = link.read_settings(body)
            self._shine()
        elif kind == link.FRAME or kind == link.DELTA:
            return self._take_frame(kind, body)
        elif kind != link.TEST or len(body) < 2:
            return link.UNKNOWN
        elif not self.about.flags & link.TEST_BOARD:
            return link.NO_TEST_BOARD
        elif body[0] != self._test:
            self._test = body[0]
            argument = int.from_bytes(body[2:], "little")
            if body[1] == link.MUTE:
                self._mute_us = now_us + 1000 * argument
            else:
                self.tests.append((body[1], argument))
        return 0

    def _take_frame(self, kind: int, body: bytes) -> int:
        if len(body) < 4:
            return link.WRONG_SIZE
        number = body[0] | body[1] << 8
        if kind == link.FRAME:
            if len(body) != 2 + len(self._dark):
                return link.WRONG_SIZE
            new = body[2:]
        elif body[2] | body[3] << 8 != self._frame_number:
            return 0  # it changes a frame that has not come; the report says which one is shown
        else:
            new = link.apply_delta(self._frame, body[4:])
        self._frame_number, self._frame = number, new
        self._frames += 1
        self._shine()
        return 0

    def _shine(self) -> None:
        """Light, no more of it than the host has allowed; before it has said how much, none."""
        told = self._settings
        self._limited = False
        if told is None:
            self.lit = self._dark
            return
        wanted = self._frame
        scale = min(256, (255 * told.brightness_pct + 99) // 100 * 256 // max(max(wanted), 1))
        spare_ua = min(told.budget_ua, 1000 * self.about.supply_ma) - told.idle_ua * len(self.about.lights)
        # What the brightest channel would draw everywhere is soon reckoned, and mostly little enough.
        colours_ua = max(told.first_ua, told.second_ua, told.third_ua) * sum(wanted) // 255
        if colours_ua > max(spare_ua, 0):
            colours_ua = _colours_ua(wanted, told)
        if colours_ua > max(spare_ua, 0):
            scale = min(scale, max(spare_ua, 0) * 256 // colours_ua)
        if scale < 256:
            self._limited = True
            wanted = bytes([value * scale >> 8 for value in wanted])
        self.lit = wanted

    # -- to the host -------------------------------------------------------------------------------------------------

    def poll(self, now_us: int) -> bytes:
        """What is to be sent at `now_us`, which may be nothing."""
        self._count(now_us)
        if self._session and now_us - self._heard_us > SILENCE_US:
            self._begin(0, 0, now_us)
        if now_us < self._mute_us:
            self._replies = b""
            return b""
        if not self._session:
            if now_us - self._banner_us >= BANNER_US:
                self._banner_us = now_us
                self._say(link.WELCOME, link.welcome(self.about), 0, 0)
        elif self._settings is not None and (self._urgent or now_us - self._sent_us >= self._word_us()):
            self._urgent = False
            self._sent_us = now_us
            self._say(link.REPORT, link.report(self._report(now_us), self._cells), self._session, self._ack)
        out, self._replies = self._replies, b""
        return out

    def say_shown(self, light: bytes) -> None:
        """Answer a test board's READ: three bytes a light, red first, as read back from the chain."""
        self._say(link.SHOWN, bytes((self._test,)) + light, self._session, self._ack)

    def _word_us(self) -> int:
        told_us = 1000 * self._settings.word_ms if self._settings is not None else WORD_US
        return min(told_us, WORD_US) if self._down or self._ghosts or self._edges else told_us

    def _say(self, kind: int, body: bytes, session: int, ack: int) -> None:
        self._number = self._number + 1 & 0xFFFF
        self._replies += link.frame(kind, session, self._number, ack, body)

    def _report(self, now_us: int) -> link.Report:
        edges, known_us, down = self._edges, self._known_us, self._down
        if len(edges) > EDGES_A_REPORT:
            edges, later = edges[:EDGES_A_REPORT], edges[EDGES_A_REPORT:]
            for t_us, cell, _ in later:
                known_us = min(known_us, t_us - 1)
                down ^= 1 << cell
        flags = (self.contacts_fail and link.NO_CONTACTS) | (self.leds_fail and link.NO_LEDS)
        return link.Report(
            now_us,
            self._heard_us,
            min(known_us, now_us),
            self._frame_number,
            self._settings.number if self._settings is not None else 0,
            self._test,
            flags | (self._limited and link.LIMITED),
            self._lost & 0xFFFF,
            self._first,
            tuple(edges),
            self._ghosts,
            down,
        )

    def stats(self) -> link.Stats:
        """How the board has been doing since it started."""
        splitter = self._splitter
        counted = (self._rate[2], self.scans, self.overruns, self.bounces)
        return link.Stats(*(counted + (splitter.bad, splitter.babble, self._lost, self._frames)))

    def _count(self, now_us: int) -> None:
        begun_us, before, _ = self._rate
        if not begun_us:
            self._rate = (now_us, self.scans, 0)
        elif now_us - begun_us >= RATE_US:
            rate = (self.scans - before) * 1_000_000 // (now_us - begun_us)
            self._rate = (now_us, self.scans, rate)


def _colours_ua(frame: bytes, told: link.Settings) -> int:
    """What a frame's colours draw; MicroPython has no slices in steps."""
    drawn = 0
    for at in range(0, len(frame), 3):
        drawn += told.first_ua * frame[at] + told.second_ua * frame[at + 1] + told.third_ua * frame[at + 2]
    return drawn // 255
