"""The parts of a board on a Raspberry Pi Pico: key matrix, LED chain and USB port, for MicroPython."""

import select
import sys
import time

import machine
import rp2

GPIO_IN = 0xD0000004  # all levels at once, on RP2040 and RP2350
LATCH_US = 300


class Lines:
    """Rows that pull low one at a time and float otherwise, columns pulled up; as `Lines` of hal/ports.py."""

    def __init__(self, rows, columns, settle_us):
        self._rows = [machine.Pin(pin, machine.Pin.OPEN_DRAIN, value=1) for pin in rows]
        self._held = [machine.Pin(pin, machine.Pin.IN, machine.Pin.PULL_UP) for pin in columns]
        self._columns = columns
        self._straight = columns == tuple(range(columns[0], columns[0] + len(columns)))
        self._mask = (1 << len(columns)) - 1
        self._settle_us = settle_us
        self._row = None

    def select(self, row):
        """Pull one row low, or none; returns once the columns have settled."""
        if self._row is not None:
            self._rows[self._row](1)
        self._row = row
        if row is not None:
            self._rows[row](0)
            time.sleep_us(self._settle_us)

    def read(self):
        """All columns of the selected row, bit `column` set where a contact is closed."""
        levels = ~machine.mem32[GPIO_IN]
        if self._straight:
            return levels >> self._columns[0] & self._mask
        found = 0
        for at, pin in enumerate(self._columns):
            found |= (levels >> pin & 1) << at
        return found


@rp2.asm_pio(sideset_init=rp2.PIO.OUT_LOW, out_shiftdir=rp2.PIO.SHIFT_LEFT, autopull=True, pull_thresh=24)
def _ws2812():
    wrap_target()  # noqa: F821 - words of the assembler
    label("bit")  # noqa: F821
    out(x, 1).side(0)[2]  # noqa: F821
    jmp(not_x, "zero").side(1)[1]  # noqa: F821
    jmp("bit").side(1)[4]  # noqa: F821
    label("zero")  # noqa: F821
    nop().side(0)[4]  # noqa: F821
    wrap()  # noqa: F821


class Chain:
    """WS2812 LEDs on a pin, by PIO: 0.25 and 0.875 us of 1.25 us a bit."""

    def __init__(self, pin):
        self._machine = rp2.StateMachine(0, _ws2812, freq=8_000_000, sideset_base=machine.Pin(pin))
        self._machine.active(1)
        self._free_us = time.ticks_us()

    def write(self, frame):
        """Send one whole frame, three bytes an LED."""
        while time.ticks_diff(self._free_us, time.ticks_us()) > 0:
            pass  # the frame before has not latched yet
        put = self._machine.put
        for at in range(0, len(frame), 3):
            put(frame[at] << 16 | frame[at + 1] << 8 | frame[at + 2], 8)
        self._free_us = time.ticks_add(time.ticks_us(), 9 * 30 + LATCH_US)  # what still waits in the machine


class Port:
    """The USB port that the REPL has otherwise."""

    def __init__(self):
        self._in, self._out = sys.stdin.buffer, sys.stdout.buffer
        self._poll = select.poll()
        self._poll.register(sys.stdin, select.POLLIN)

    def read(self, most):
        """What has come, at most so many bytes; never waits."""
        found = b""
        while len(found) < most and self._poll.poll(0):
            found += self._in.read(1)
        return found

    def write(self, data):
        """Send; USB waits for a host that is there, half a second at most, and drops what none takes."""
        self._out.write(data)
