"""The parts of a board on a Raspberry Pi Pico: key matrix, LED chain and USB port, for MicroPython."""

import select
import sys
import time

import machine
import rp2

GPIO_IN = 0xD0000004  # all levels at once, on RP2040 and RP2350
LATCH_US = 300
WORDS, PIO0_TX0 = 2, 0  # of 32 bits, as the first state machine takes them (RP2040 datasheet, 2.5.3.1)


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
    """WS2812 LEDs on a pin, by PIO: 0.25 and 0.875 us of 1.25 us a bit.

    DMA feeds it: a program that fed it itself would be held up by USB at times, and LEDs take a pause of 50 us for the
    end of a frame.
    """

    def __init__(self, pin):
        self._machine = rp2.StateMachine(0, _ws2812, freq=8_000_000, sideset_base=machine.Pin(pin))
        self._machine.active(1)
        self._dma = rp2.DMA()
        self._control = self._dma.pack_ctrl(size=WORDS, inc_write=False, treq_sel=PIO0_TX0)
        self._words = b""
        self._free_us = time.ticks_us()

    def write(self, frame):
        """Have one whole frame sent, three bytes an LED; returns once that has begun."""
        while time.ticks_diff(self._free_us, time.ticks_us()) > 0:
            pass  # the frame before has not latched yet
        count = len(frame) // 3
        words = self._words
        if len(words) != 4 * count:
            words = self._words = bytearray(4 * count)
        for led in range(count):  # the first byte is the highest of a word, the lowest is not sent
            at, word = 3 * led, 4 * led
            words[word + 3], words[word + 2], words[word + 1] = frame[at], frame[at + 1], frame[at + 2]
        self._dma.config(read=words, write=self._machine, count=count, ctrl=self._control, trigger=True)
        self._free_us = time.ticks_add(time.ticks_us(), 30 * count + LATCH_US)


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
