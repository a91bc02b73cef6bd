"""A fuzzer that is guided by coverage: inputs that reach a line nobody reached before are kept and changed further."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, NamedTuple

LONGEST = 600


class Fuzzed(NamedTuple):
    """`inputs`: how many were tried; `corpus`: those that reached something new; `lines`: what was reached of each
    file, and `known` how many lines it has that can be."""

    inputs: int
    corpus: list[bytes]
    lines: dict[str, int]
    known: dict[str, int]


def fuzz(play: Callable[[bytes], None], files: list[Path], random: Random, for_s: float) -> Fuzzed:
    """Play inputs for so long. What `play` raises is raised, with the input added to it."""
    wanted = {str(file) for file in files}
    reached: set[tuple[str, int]] = set()
    corpus, inputs = [b"", random.randbytes(60)], 0

    def local(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            reached.add((frame.f_code.co_filename, frame.f_lineno))
        return local

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        return local if frame.f_code.co_filename in wanted else None

    end_s, before = time.monotonic() + for_s, sys.gettrace()
    while time.monotonic() < end_s or inputs < 50:
        data, count = _changed(corpus, random), len(reached)
        sys.settrace(trace)
        try:
            play(data)
        except Exception as fault:
            fault.add_note(f"the input was bytes.fromhex({data.hex()!r})")
            raise
        finally:
            sys.settrace(before)
        inputs += 1
        if len(reached) > count:
            corpus.append(data)
    lines = {Path(name).name: sum(file == name for file, _ in reached) for name in wanted}
    return Fuzzed(inputs, corpus, lines, {file.name: _lines(file) for file in files})


def _changed(corpus: list[bytes], random: Random) -> bytes:
    """An input of the corpus, the newer ones more often, changed in a few places."""
    data = bytearray(corpus[max(random.randrange(len(corpus)), random.randrange(len(corpus)))])
    for _ in range(random.randrange(1, 5)):
        at, count = random.randrange(len(data) + 1), random.randrange(1, 24)
        match random.randrange(5):
            case 0:
                data[at : at + 1] = random.randbytes(1)
            case 1:
                data[at:at] = random.randbytes(count)
            case 2:
                del data[at : at + count]
            case 3:
                data[at:at] = random.choice(corpus)[-5 * count :]
            case 4:
                data[at:at] = data[at : at + count] * random.randrange(1, 5)
    return bytes(data[:LONGEST])


def _lines(file: Path) -> int:
    """How many lines of a file's functions can be reached."""
    found: set[int] = set()
    codes = [compile(file.read_text(encoding="utf-8"), str(file), "exec")]
    while codes:
        code = codes.pop()
        codes += [const for const in code.co_consts if hasattr(const, "co_code")]
        if code.co_flags & 2:  # a function: modules and classes ran when they were imported
            found |= {line for _, _, line in code.co_lines() if line is not None and line != code.co_firstlineno}
    return len(found)
