"""The text of a trace: what is written is read as it was, and what nobody wrote is refused by its line."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from random import Random

import pytest

from firmware.trace import MOST_LINE, Check, Frame, Hear, Reader, Scribe, TraceError
from firmware.trace_replay import Difference
from hal.ports import Edge, Part, Scan
from tests.tape import replayed

LINES = (Path(__file__).parent / "traces" / "simulator.jsonl").read_bytes().splitlines(keepends=True)
HEAD, FRAME = LINES[0], bytes(range(147))


def read(lines: list[bytes]) -> list[object]:
    return list(Reader(BytesIO(b"".join(lines))))


def refused(lines: list[bytes]) -> str:
    with pytest.raises(TraceError) as caught:
        read(lines)
    text = str(caught.value)
    assert text.endswith(".") and "\n" not in text
    return text


def test_what_is_written_is_read() -> None:
    """A scan with everything in it comes back as it was, with the number of its line."""
    scan = Scan(5, (Edge(4, 48, True), Edge(5, 0, False)), 1 << 48, -3, 1000, frozenset({"start"}))
    line = Scribe().line(Hear(t=7, scan=scan, saved=3, fault=None, lots=("a",), gone=(1,), did=("played d4 at 5",)))
    entries = read([HEAD, line.replace(b'"n":1,', b'"n":2,')])
    assert [Hear(n=2, t=7, scan=scan, saved=3, fault=None, lots=("a",), gone=(1,), did=("played d4 at 5",))] == entries


def test_what_has_been_said_is_not_said_again() -> None:
    """A frame is whole when its picture is new and once a second, a sum otherwise; its brightness is told when it
    changes."""
    scribe, told = Scribe(), []
    for t, p, pct in ((0, 1, 100), (999_999, 1, 100), (1_000_000, 1, 100), (1_000_001, 2, 100), (1_000_002, 2, 20)):
        told.append(json.loads(scribe.line(Frame(t=t, p=p, pct=pct, cells=FRAME))))
    assert ["cells", "sum", "cells", "cells", "sum"] == ["cells" if "cells" in line else "sum" for line in told]
    assert [100, None, None, None, 20] == [line.get("pct") for line in told]
    assert [1, 2, 3, 4, 5] == [line["n"] for line in told]


def test_sentences_about_faults_name_nobody() -> None:
    """What a fault says is cleaned before it is written, in the health and of the disk."""
    step = Check(t=0, parts={"a": Part(False, "in /home/eve/x"), "b": None}, fault="eve is full")
    line = Scribe(lambda text: text.replace("eve", "~")).line(step)
    assert b"eve" not in line and line.count(b"~") == 2


def test_a_step_in_which_nothing_happened_costs_nothing() -> None:
    """A look at the health that finds nothing new takes fewer than 40 bytes; an idle scan is no step at all."""
    scribe = Scribe()
    scribe.lines = 100_000
    assert len(scribe.line(Check(t=90_000_000_000))) < 45


# -- damage ----------------------------------------------------------------------------------------------------------


def test_a_torn_end_is_left_out() -> None:
    """Whatever part of the last line is there, all before it is read, and that it is torn is known."""
    whole = b"".join(LINES[:10])
    for cut in range(1, len(LINES[9])):
        reader = Reader(BytesIO(whole[:-cut]))
        assert (8, True) == (len(list(reader)), reader.torn)
    reader = Reader(BytesIO(whole))
    assert (9, False) == (len(list(reader)), reader.torn)
    reader = Reader(BytesIO(whole + b"\0" * 4096))
    assert (9, True) == (len(list(reader)), reader.torn)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ([], "there is no whole line in it: nothing was recorded."),
        ([HEAD[:-1]], "there is no whole line in it: nothing was recorded."),
        ([b"Dear board,\n"], "line 1: it is no trace ("),
        ([b'{"moves":["d4"]}\n'], "line 1: it is no trace ("),
        ([HEAD.replace(b'"v":1', b'"v":2')], "line 1: it is a trace of version 2, and this program knows 1; replay it"),
        ([HEAD.replace(b'"driver"', b'"drover"')], "line 1: damaged ("),
        ([HEAD.replace(b'"n":1', b'"n":2')], "line 1: it was line 2 when recorded: before it one is missing."),
        ([HEAD, HEAD], "line 2: it was line 1 when recorded: lines were added or moved."),
        ([HEAD, HEAD.replace(b'"n":1', b'"n":2')], "line 2: a second beginning."),
        ([*LINES[:20], *LINES[21:30]], "line 21: it was line 22 when recorded: before it one is missing."),
        ([*LINES[:20], LINES[21], LINES[20]], "line 21: it was line 22 when recorded: before it one is missing."),
        ([*LINES[:20], LINES[19], *LINES[20:]], "line 21: it was line 20 when recorded: lines were added or moved."),
        ([*LINES[:20], b"\n", *LINES[21:]], "line 21: damaged ("),
        ([*LINES[:20], b"\xff\0\n", *LINES[21:]], "line 21: damaged ("),
        ([*LINES[:20], b"[" * 5000 + b"\n"], "line 21: damaged ("),
        ([HEAD, b" " * MOST_LINE], "line 2: damaged, it is longer than any line of a trace."),
        ([HEAD, b'{"n":2,"do":"dance","t":1}\n'], "line 2: damaged ("),
        ([HEAD, b'{"n":2,"do":"check","t":1,"x":1}\n'], "line 2: damaged ("),
        ([HEAD, b'{"n":2,"do":"check","t":-1}\n'], "line 2: damaged ("),
        ([HEAD, b'{"n":2,"do":"frame","t":1,"p":1}\n'], "line 2: a frame has either its cells or their sum."),
        ([HEAD, b'{"n":2,"do":"hear","t":1,"scan":[1,[[1,49,true]],0,1,1,[]]}\n'], "line 2: a cell that is none of"),
        ([HEAD, b'{"n":2,"do":"hear","t":1,"scan":[1,[],1e99,1,1,[]]}\n'], "line 2: damaged ("),
        ([HEAD, b'{"n":2,"do":"hear","t":1,"scan":[1,[],562949953421312,1,1,[]]}\n'], "line 2: a cell that is none"),
        ([HEAD, b'{"n":2,"do":"act","t":1,"command":{"do":"act","action":"h9"}}\n'], "line 2: the table takes no such"),
        ([HEAD, b'{"n":2,"do":"act","t":1,"command":{"do":"restart"}}\n'], "line 2: the table takes no such command."),
    ],
)
def test_what_is_no_trace_is_refused_by_its_line(lines: list[bytes], text: str) -> None:
    """Another file, another version, damage, lines that are missing, moved or nobody's: one sentence with the line."""
    assert refused(lines).startswith(text)


def test_no_byte_that_is_wrong_ends_in_anything_but_a_sentence(seed: int) -> None:
    """Of a trace with random bytes turned over comes the same, a difference or a refusal, and no other error."""
    chance = Random(seed)
    for _ in range(150):
        data = bytearray(b"".join(LINES[:60]))
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(len(data))] = chance.choice(b'0123456789{}[],":aztrue\n\0\xff')
        text = "line 0."
        try:
            replayed([bytes(data)])
        except (TraceError, Difference) as said:
            text = str(said)
        assert "line" in text and text.endswith(".")
