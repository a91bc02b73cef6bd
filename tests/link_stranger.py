"""A host made from hal/PROTOCOL.md alone: greets a board, has d4 pressed and lifted, lights it, and says what came."""

import sys
import time

import serial

port = serial.Serial(sys.argv[1], 1_000_000, timeout=0.005, exclusive=True)
session, number, lacks, held = 77, 0, 0, b""


def crc(data):
    r = 0xFFFF
    for bit in (byte >> at & 1 for byte in data for at in range(7, -1, -1)):
        r = r << 1 & 0xFFFF ^ (0x1021 if r >> 15 ^ bit else 0)
    return r.to_bytes(2, "little")


def say(kind, body=b""):
    global number
    number += 1
    data = bytes([kind]) + b"".join(n.to_bytes(2, "little") for n in (session, number, lacks)) + body
    parts = (data + crc(data)).split(b"\0")
    assert max(map(len, parts)) < 254  # this host has no longer stretch without a zero
    port.write(b"".join(bytes([len(part) + 1]) + part for part in parts) + b"\0")


def hear():
    global held
    held += port.read(1000)
    while b"\0" in held:
        stuffed, held = held.split(b"\0", 1)
        data = b""
        while stuffed:
            data += stuffed[1 : stuffed[0]] + (b"\0" if stuffed[0] < 255 else b"")
            stuffed = stuffed[stuffed[0] :]
        data = data[:-1]
        if len(data) > 8 and crc(data[:-2]) == data[-2:] and data[1] | data[2] << 8 == session:
            yield data[0], data[7:-2]


def wait(kind):
    end = time.monotonic() + 10
    while time.monotonic() < end:
        yield from (body for heard, body in hear() if heard == kind)
    sys.exit("nothing came")


say(1, b"MORBAK\1")
about = next(wait(0x81))
rows, columns = about[7], about[8]
name = about[47 : 47 + about[46]].decode()
say(2, bytes([1, 5, 100]) + b"".join(n.to_bytes(4, "little") for n in (2_000_000, 1_250, 20_000, 20_000, 20_000)))
say(7, bytes([1, 1]) + (1 << 24).to_bytes(7, "little"))
told, mask = [], (rows * columns + 7) // 8
for report in wait(0x82):
    first, count = int.from_bytes(report[27:29], "little"), report[29]
    for at in range(lacks - first, count):
        edge = report[30 + 2 * mask + 5 * at :][:5]
        told.append(f"{'abcdefg'[edge[4] % columns]}{edge[4] // columns + 1} {'down' if edge[3] & 0x80 else 'up'}")
    lacks = first + count
    say(*[(5,), (7, bytes([2, 1, 0])), (3, b"\1\0" + bytes(72) + b"\x40\x40\x40" + bytes(72))][min(len(told), 2)])
    if report[20] | report[21] << 8:
        print(f"{name}: {rows} x {columns}; {', '.join(told)}; frame 1 is shown")
        say(8)
        break
