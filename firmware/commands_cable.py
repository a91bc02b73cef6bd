"""`morbak board cable`: a worn cable between a board and this computer, to see how both bear it."""

from __future__ import annotations

import argparse
import signal
import time
from collections.abc import Callable
from typing import Protocol

from firmware.app import RealClock
from firmware.arguments import Misuse, count

EXAMPLES = """faults, each --fault KEY=VALUE; rates are from 0 to 1:
  byte_error_rate=0.001   of the bytes, those of which bits turn over
  loss_rate, duplicate_rate, reorder_rate, split_rate   of the writes, those that are lost, doubled, swapped, cut in two
  stall_rate, stall_us    of the writes, those that hold up all that follows, and for how long at most
  burst_hz, burst_us      bursts of noise a second, and how long each lasts
  delay_us                how long every byte takes
  unplug_hz, unplug_us    how often a second it is pulled out, and for how long at most

examples:
  morbak board serve --port /tmp/board                                     a simulated board
  morbak board cable /tmp/board --port /tmp/worn --fault byte_error_rate=0.001 --fault unplug_hz=0.05
  morbak run --board serial:/tmp/worn                                      play on it
"""


class Worn(Protocol):
    """A cable between two ports."""

    def step(self, t_us: int) -> int: ...

    def close(self) -> None: ...


def add_cable(parser: argparse.ArgumentParser, worn: Callable[[str, str, list[str], int], Worn]) -> None:
    """`morbak board cable`; `worn` makes the cable from the board's port, the host's, faults and a seed."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("board", metavar="BOARD", help="the port at which the board is, or serial: and the port")
    parser.add_argument("--port", required=True, help="where a host finds it; a pseudo terminal is made there")
    parser.add_argument("--fault", action="append", default=[], metavar="KEY=VALUE", help="what it does; see below")
    parser.add_argument("--seed", type=count, default=0, help="the same seed does the same harm (default: 0)")
    parser.set_defaults(command=lambda parsed: _cable(parsed, worn))


def stopping() -> list[int]:
    """From now on gets the number of each signal that asks for the end, so that what was made for a port is removed.

    One of them comes when the terminal is closed, unless that is to be outlived (nohup).
    """
    asked: list[int] = []
    hangup = getattr(signal, "SIGHUP", None)
    outlived = hangup is not None and signal.getsignal(hangup) is signal.SIG_IGN
    for ends in (signal.SIGINT, signal.SIGTERM, None if outlived else hangup):
        if ends is not None:
            signal.signal(ends, lambda number, _: asked.append(number))
    return asked


def _cable(parsed: argparse.Namespace, worn: Callable[[str, str, list[str], int], Worn]) -> int:
    stopped = stopping()
    cable = worn(parsed.board.removeprefix("serial:"), parsed.port, parsed.fault, parsed.seed)
    print(f"the board at {parsed.board} is at {parsed.port} too, by a worn cable; Ctrl-C ends", flush=True)
    now_us = RealClock().now_us
    try:
        while not stopped:
            time.sleep(cable.step(now_us()) / 1e6)
    except OSError as fault:
        raise Misuse(f"{parsed.board}: the board is gone ({fault}).") from fault
    finally:
        cable.close()
    return 0
