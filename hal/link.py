"""The words between a board at the end of a cable and its host: bytes in, messages out, and back. See PROTOCOL.md.

This file runs unchanged under MicroPython on the board's microcontroller, which is why it is written with less of
Python than its neighbours. Pure: no clock, no port; whoever has the bytes hands them in.
"""

import struct
from collections import namedtuple

VERSION = 1
MAGIC = b"MORBAK"
# The longest message: a frame of 550 LEDs, the most that a chain shows 60 times a second, has 1659 bytes.
LONGEST = 2048
HEADER_BYTES = 7  # kind, session, number of the message, acknowledgement

# From the host.
HELLO, SET, FRAME, DELTA, BEAT, ASK, TEST, BYE = 1, 2, 3, 4, 5, 6, 7, 8
# From the device.
WELCOME, REPORT, STATS, REFUSED, SHOWN = 0x81, 0x82, 0x83, 0x84, 0x85
# Why a device refuses.
WRONG_VERSION, UNKNOWN, WRONG_SIZE, NO_TEST_BOARD = 1, 2, 3, 4
# Flags of a welcome.
TEST_BOARD, DIODES = 1, 2
# Flags of a report.
NO_CONTACTS, NO_LEDS, LIMITED = 1, 2, 4
# Why a device has started.
RESETS = ("unknown", "power on", "watchdog", "program", "low voltage")
# What a test board can be told; with it goes a mask of cells, or for MUTE a time in milliseconds.
CONTACTS, STUCK, DEAD, MUTE, RESTART, READ = 1, 2, 3, 4, 5, 6

Header = namedtuple("Header", "kind session number ack")
Welcome = namedtuple(
    "Welcome",
    "version rows columns strip_a strip_b flags reset boot colour_order scan_hz lag_us supply_ma idle_ua "
    "red_ua green_ua blue_ua name firmware unique lights",
)
Settings = namedtuple("Settings", "number word_ms brightness_pct budget_ua idle_ua first_ua second_ua third_ua")
# Times are the device's own microseconds. `edges`: (t_us, cell, down), numbered from `first` on; `down`: the cells
# that are down after the last of them.
Report = namedtuple("Report", "now_us heard_us known_us frame settings test flags lost first edges ghosts down")
Stats = namedtuple("Stats", "scan_hz scans overruns bounces bad babble lost frames")

_WELCOME, _WELCOME_BYTES = "<BBBBBBI3sHIIIIII", 39
_SET, _SET_BYTES = "<BBBIIIII", 23
_REPORT, _REPORT_BYTES = "<QIQHBBBHHB", 30
_STATS, _STATS_BYTES = "<HIIIIIII", 30
_HELD = 0x80000000  # in an edge's age: the cell went down
_OLDEST_US = _HELD - 1


def _crc_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        crc = byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
        table.append(crc)
    return tuple(table)


_CRC = _crc_table()


def crc16(data: bytes) -> int:
    """CRC-16/IBM-3740, also known as CCITT-FALSE: 0x29B1 for b"123456789"."""
    crc, table = 0xFFFF, _CRC
    for byte in data:
        crc = (crc << 8 & 0xFF00) ^ table[crc >> 8 ^ byte]
    return crc


def stuff(data: bytes) -> bytes:
    """Data without its zeros, by COBS: consistent overhead byte stuffing (Cheshire and Baker, 1997)."""
    out = bytearray()
    blocks = data.split(b"\0")
    for at, block in enumerate(blocks):
        if not block:  # most of a report
            out.append(1)
            continue
        while len(block) > 253:
            out.append(255)
            out.extend(block[:254])
            block = block[254:]
            if not block and at + 1 == len(blocks):
                return bytes(out)
        out.append(len(block) + 1)
        out.extend(block)
    return bytes(out)


def unstuff(data: bytes) -> bytes:
    """What was stuffed. Raises ValueError for what never was."""
    out, at, end = bytearray(), 0, len(data)
    while at < end:
        code = data[at]
        if not code or at + code > end:
            raise ValueError("not COBS")
        out.extend(data[at + 1 : at + code])
        at += code
        if code < 255 and at < end:
            out.append(0)
    return bytes(out)


def frame(kind: int, session: int, number: int, ack: int, body: bytes = b"") -> bytes:
    """A message as it goes over the cable: stuffed together with its CRC, with the zero that ends it."""
    message = struct.pack("<BHHH", kind, session, number, ack) + body
    return stuff(message + struct.pack("<H", crc16(message))) + b"\0"


class Splitter:
    """Cuts a stream of bytes into messages: those whose CRC is right, each a pair of header and body.

    Never raises and never holds more than `longest` bytes and their stuffing. `good`: messages; `bad`: stretches of
    bytes between zeros that are none; `babble`: how many bytes these had.
    """

    def __init__(self, longest: int = LONGEST) -> None:
        self._most = longest + longest // 254 + 4
        self._held = b""
        self._flood = False
        self.good = self.bad = self.babble = 0

    def feed(self, data: bytes) -> list[tuple[Header, bytes]]:
        """The messages that these bytes complete."""
        found = []
        parts = data.split(b"\0")
        for part in parts[:-1]:
            message = self._message(self._held + part)
            self._held, self._flood = b"", False
            if message is not None:
                found.append(message)
        self._held += parts[-1]
        if len(self._held) > self._most:
            self.babble += len(self._held)
            self._held, self._flood = b"", True
        return found

    def _message(self, stuffed: bytes) -> tuple[Header, bytes] | None:
        if self._flood or len(stuffed) > self._most:
            self.bad += 1
            self.babble += len(stuffed)
            return None
        if not stuffed:  # zeros may stand between messages
            return None
        try:
            message = unstuff(stuffed)
        except ValueError:
            message = b""
        size = len(message) - 2
        if size < HEADER_BYTES or crc16(message[:size]) != message[size] | message[size + 1] << 8:
            self.bad += 1
            self.babble += len(stuffed)
            return None
        self.good += 1
        return Header(*struct.unpack("<BHHH", message[:HEADER_BYTES])), message[HEADER_BYTES:size]


def newer(number: int, than: int) -> bool:
    """Whether a 16-bit number comes after another, up to half of all numbers later."""
    return 0 < (number - than & 0xFFFF) < 0x8000


# -- bodies --------------------------------------------------------------------------------------------------------


def hello(version: int = VERSION) -> bytes:
    """The body of a HELLO; that of a WELCOME and of a REFUSED begin alike, in every version."""
    return MAGIC + bytes((version,))


def version_of(body: bytes) -> int:
    """The version that a HELLO, a WELCOME or a REFUSED speaks of. Raises ValueError for bodies that are none."""
    if len(body) < 7 or body[:6] != MAGIC:
        raise ValueError("no magic")
    return body[6]


def refused(code: int) -> bytes:
    """The body of a REFUSED."""
    return hello() + bytes((code,))


def welcome(about: Welcome) -> bytes:
    """The body of a WELCOME; its version is ours."""
    body = hello() + struct.pack(_WELCOME, *about[1:16])
    for text in about[16:19]:
        raw = text.encode()[:255]
        body += bytes((len(raw),)) + raw
    return body + struct.pack(f"<{len(about.lights)}H", *about.lights)


def read_welcome(body: bytes) -> Welcome:
    """Raises ValueError for what is none of our version."""
    version = version_of(body)
    if version != VERSION or len(body) < (at := 7 + _WELCOME_BYTES):
        raise ValueError("no welcome of this version")
    fixed = struct.unpack(_WELCOME, body[7:at])
    texts = []
    for _ in range(3):
        end = at + 1 + body[at] if at < len(body) else len(body) + 1
        if end > len(body):
            raise ValueError("a welcome cut short")
        texts.append(str(body[at + 1 : end], "utf-8"))
        at = end
    count = len(body) - at >> 1
    if len(body) - at != 2 * count:
        raise ValueError("a welcome cut short")
    values = fixed + tuple(texts)
    return Welcome(version, *(values + (struct.unpack(f"<{count}H", body[at:]),)))


def settings(told: Settings) -> bytes:
    """The body of a SET."""
    return struct.pack(_SET, *told)


def read_settings(body: bytes) -> Settings:
    """Raises ValueError."""
    if len(body) != _SET_BYTES:
        raise ValueError("no settings")
    return Settings(*struct.unpack(_SET, body))


def report(told: Report, cells: int) -> bytes:
    """The body of a REPORT of a board with so many cells."""
    size, now_us = cells + 7 >> 3, told.now_us
    ages = (min(now_us - told.heard_us, _OLDEST_US), now_us - told.known_us)
    body: bytes = struct.pack(_REPORT, now_us, *(ages + told[3:9] + (len(told.edges),)))
    body += told.ghosts.to_bytes(size, "little") + told.down.to_bytes(size, "little")
    for t_us, cell, down in told.edges:
        age_us = min(now_us - t_us, _OLDEST_US)
        body += struct.pack("<IB", age_us | _HELD if down else age_us, cell)
    return body


def read_report(body: bytes, cells: int) -> Report:
    """Raises ValueError for what a board with so many cells cannot say."""
    size = cells + 7 >> 3
    at = _REPORT_BYTES + 2 * size
    if len(body) < at or len(body) != at + 5 * body[_REPORT_BYTES - 1]:
        raise ValueError("no report")
    fixed = struct.unpack(_REPORT, body[:_REPORT_BYTES])
    now_us, heard_us, known_us = fixed[:3]
    ghosts = int.from_bytes(body[at - 2 * size : at - size], "little")
    down = int.from_bytes(body[at - size : at], "little")
    edges = []
    for _ in range(fixed[9]):
        age_us, cell = struct.unpack("<IB", body[at : at + 5])
        edges.append((now_us - (age_us & _OLDEST_US), cell, age_us >= _HELD))
        at += 5
        if cell >= cells:
            raise ValueError("no such cell")
    if (ghosts | down) >> cells:
        raise ValueError("no such cell")
    times = (now_us, now_us - heard_us, now_us - known_us)
    return Report(*(times + fixed[3:9] + (tuple(edges), ghosts, down)))


def stats(told: Stats) -> bytes:
    """The body of a STATS; what is too much for its field is told as the most it holds."""
    return struct.pack(_STATS, min(told[0], 0xFFFF), *[min(value, 0xFFFFFFFF) for value in told[1:]])


def read_stats(body: bytes) -> Stats:
    """Raises ValueError."""
    if len(body) != _STATS_BYTES:
        raise ValueError("no statistics")
    return Stats(*struct.unpack(_STATS, body))


def delta(old: bytes, new: bytes) -> bytes:
    """What turns one frame into another of the same size: runs of LEDs, each its first, its count, its bytes."""
    out, at, end = b"", 0, len(new)
    while at < end:
        if old[at : at + 3] == new[at : at + 3]:
            at += 3
            continue
        first = at
        while at < end and at - first < 765 and old[at : at + 3] != new[at : at + 3]:
            at += 3
        out += struct.pack("<HB", first // 3, (at - first) // 3) + new[first:at]
    return out


def apply_delta(old: bytes, changes: bytes) -> bytes:
    """The new frame. Raises ValueError for changes that do not fit the old one."""
    new, at, end = bytearray(old), 0, len(changes)
    while at < end:
        if at + 3 > end:
            raise ValueError("a run cut short")
        first, count = struct.unpack("<HB", changes[at : at + 3])
        size = 3 * count
        at += 3
        if at + size > end or 3 * first + size > len(new):
            raise ValueError("a run past the end")
        new[3 * first : 3 * first + size] = changes[at : at + size]
        at += size
    return bytes(new)
