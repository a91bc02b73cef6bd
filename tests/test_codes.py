"""Codes that a phone reads without a network: the rules, and the game that has just ended."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import segno
import zxingcpp
from hypothesis import given
from hypothesis import strategies as st

from firmware.record import format_record, parse_record
from firmware.web import codes
from firmware.web.messages import BadInput
from firmware.web.server import LANGUAGES, STATIC, _code
from tests.live import running

# A code of more modules a side than this is hard to read from a small screen.
MODULES = 97
SCALE = 4
GAME = ["d4", "d5", "c4", "e5", "xd5", "xc4", "!c4", "#e5", "a1", "b7", "b1", "c7", "c1", "g6", "d1"]


def read(svg: str) -> str:
    """What a reader of codes makes of the dark modules of a picture."""
    side = int(re.search(r'viewBox="0 0 (\d+) ', svg)[1])  # type: ignore[index]
    dark = [[False] * side for _ in range(side)]
    x = y = 0.0
    path = re.search(r' d="([^"]+)"', svg)[1]  # type: ignore[index]
    for command, numbers in re.findall(r"([Mmhlv])([-\d. ]*)", path):
        values = [float(number) for number in re.findall(r"-?\d*\.?\d+", numbers)]
        if command == "M":
            x, y = values
        elif command == "m":
            x, y = x + values[0], y + values[1]
        elif command == "h":
            for at in range(int(values[0])):
                dark[int(y)][int(x) + at] = True
            x += values[0]
    wide = (side + 8) * SCALE
    quiet = [[False] * side] * 4
    lines = []
    for row in (*quiet, *dark, *quiet):
        cells = [False] * 4 + row + [False] * 4
        lines += [b"".join((b"\0" if cell else b"\xff") * SCALE for cell in cells)] * SCALE
    found = zxingcpp.read_barcodes(memoryview(b"".join(lines)).cast("B", (len(lines), wide)))
    assert 1 == len(found)
    text: str = found[0].text
    return text


def longest() -> str:
    """A record with as many moves as a game can have, and a few lost turns."""
    cells = [f"{column}{row}" for row in range(1, 8) for column in "abcdefg"]
    return json.dumps({"v": 1, "rules": "standard", "starter": "a", "moves": cells + ["xd4", "#d4"] * 8 + ["--"] * 3})


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_rules_fit_a_code_and_read_back(lang: str) -> None:
    """The rules of each language are read from their code letter by letter, and it is no larger than a screen wants."""
    text = (STATIC / f"rules.{lang}.txt").read_text("utf-8")
    assert text == read(codes.svg(text))
    assert segno.make_qr(text, error="l").symbol_size(border=0)[0] <= MODULES


@given(st.text(min_size=1, max_size=300))
def test_any_text_is_a_code(text: str) -> None:
    """Whatever is written becomes a picture without styles, scripts or sizes of its own."""
    svg = codes.svg(text)
    assert svg.startswith("<svg")
    assert not re.search(r"<script|style=|width=|href", svg)


def test_a_short_record_says_all_that_its_moves_do_not() -> None:
    """A record read from a code is the same game once it is completed; times and takebacks are left out."""
    line = json.dumps({"v": 1, "rules": "standard", "starter": "a", "moves": ["d4", "a1", "d5", "b1"],
                       "result": "b", "reason": "resignation", "ms": [1, 2, 3, 4], "seq": 9})  # fmt: skip
    whole = parse_record(line)
    short = codes.short_record(whole)
    again = parse_record(short)
    assert (whole.moves, whole.result, whole.reason, whole.final, whole.seq) == (
        again.moves,
        again.result,
        again.reason,
        again.final,
        again.seq,
    )
    assert "final" not in short and "ms" not in short


def test_the_longest_game_fits_a_code() -> None:
    """A game in which every cell was lit and every special move made still fits a code a phone can read."""
    assert segno.make_qr(longest(), error="l").symbol_size(border=0)[0] <= MODULES


@pytest.mark.realtime
def test_the_board_serves_its_codes(tmp_path: Path) -> None:
    """The rules in each language, and after a game its record, without a network; before one, a sentence."""
    settings = tmp_path / "morbak.toml"
    settings.write_text("[touch]\nturn_guard_ms = 1\n[phases]\nlobby_ms = 50\nlot_ms = 50\n")
    with running("--seed", "3", "--config", str(settings)) as live:
        for lang in LANGUAGES:
            status, svg, headers = live.request("GET", f"/api/v1/qr/rules?lang={lang}")
            assert (200, "image/svg+xml") == (status, headers["content-type"])
            assert read(svg.decode()) == (STATIC / f"rules.{lang}.txt").read_text("utf-8")
        for path in ("/api/v1/qr/rules?lang=xx", "/api/v1/qr/record"):
            status, error = live.json("GET", path)
            assert (404, "not_found") == (status, error["error"]["code"])
        while live.state()["phase"] != "play":
            if live.state()["phase"] == "attract":
                live.tap("d4")
        for cell in ("a1", "g7", "b1", "g6", "c1", "g5", "d1"):
            while live.state()["last_action"] != cell:
                live.tap(cell)
        record = parse_record(read(live.request("GET", "/api/v1/qr/record")[1].decode()))
        assert ("line", live.state()["position"]) == (record.reason, record.final)
        assert format_record(record)


def test_a_record_too_long_for_a_code_is_said() -> None:
    """A game with more missed turns than a code holds is answered in a sentence."""
    with pytest.raises(BadInput, match="too long for a code"):
        _code("x" * 3_000)
