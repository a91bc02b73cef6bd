"""Game records: all known games come back, gaps are filled, and every disagreement is an error that names its place."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.games import morbak
from firmware.record import Record, RecordError, describe, format_record, parse_record, record_rules, replay

GAMES = (Path(__file__).parent / "tables" / "morbak_games.jsonl").read_text().splitlines()
DECIDED = ("result", "reason", "line", "final")

WON = ["a1", "a7", "b1", "b7", "c1", "c7", "d1"]
OPEN = ["d4", "xd4", "c3"]

# The longest known game with a forced pass in it, up to that pass.
FORCED = max((json.loads(line) for line in GAMES if '"--"' in line), key=lambda game: len(game["moves"]))
FORCED_PASS = FORCED["moves"].index("--")


def record(moves: list[str], **more: object) -> dict[str, Any]:
    """The JSON object of a record by the standard rules, started by a."""
    return {"v": 1, "rules": "standard", "starter": "a", "moves": moves} | more


def read(given: object) -> Record:
    """What reading that JSON value gives."""
    return parse_record(json.dumps(given))


def refused(given: object) -> tuple[str, int | None, str]:
    """(code, index, text) of the error that reading that JSON value gives."""
    with pytest.raises(RecordError) as caught:
        read(given)
    return caught.value.code, caught.value.index, str(caught.value)


# --- complete records


def test_all_known_games_come_back_identical() -> None:
    """385 records are read, checked and printed as they stood."""
    assert 385 == len(GAMES)
    assert [*enumerate(GAMES, 1)] == [
        (number, format_record(game)) for number, game in replay(GAMES) if isinstance(game, Record)
    ]


def test_what_the_moves_decide_is_filled_in_where_it_is_absent() -> None:
    """Without result, reason, line and final every known game is completed to the same record."""
    for line in GAMES:
        bare = {name: value for name, value in json.loads(line).items() if name not in DECIDED}
        assert line == format_record(read(bare))


def test_every_field_is_kept_in_the_order_of_the_format() -> None:
    """A record with all fields, in any order, is printed in one order; names and dates may be of any script."""
    full = record(WON) | {
        "result": "a",
        "reason": "line",
        "line": ["a1", "b1", "c1", "d1"],
        "final": "bbb..../......./......./......./......./......./aaaa... b 7:7 1:1",
        "time": {"total_ms": 900000, "move_ms": None},
        "ms": [100, 0, 2500, 1, 1, 1, 9],
        "timeouts": [],
        "takebacks": [{"at": 0, "moves": ["d4"]}],
        "players": {"a": "Zoé", "b": "\u5c0f\u660e\n"},
        "date": "2026-03-01",
        "seq": 12,
    }
    shuffled = dict(sorted(full.items(), reverse=True))
    assert json.dumps(full, ensure_ascii=False, separators=(",", ":")) == format_record(read(shuffled))


def test_rules_of_ones_own_are_played_and_kept() -> None:
    """An object of the three options stands for itself."""
    own = {"pool": 1, "block": False, "neutralisations": 0}
    kept = read(record(["d4", "xd4", "d5"]) | {"rules": own})
    assert morbak.Rules(1, False, 0) == record_rules(kept)
    assert own == json.loads(format_record(kept))["rules"]
    assert ("block_off", 2) == refused(record(["d4", "e4", "#d4"]) | {"rules": own})[:2]
    assert ("no_neutralisation", 2) == refused(record(["d4", "xd4", "!d4"]) | {"rules": own})[:2]


def test_texts_are_brought_to_their_one_form() -> None:
    """Upper-case cell names and white space at the ends are read, and printed as they should be."""
    given = record([" A1", "a7", "B1", "b7", "C1", "c7", "D1 "], takebacks=[{"at": 0, "moves": ["D4"]}])
    kept = read(given | {"line": ["A1", "b1", "C1", "d1"]})
    assert tuple(WON) == kept.moves
    assert ("a1", "b1", "c1", "d1") == kept.line
    assert '"takebacks":[{"at":0,"moves":["d4"]}]' in format_record(kept)


def test_a_record_is_told_in_words() -> None:
    """Who won, how and in how many moves."""
    assert "a wins by line (a1 b1 c1 d1), 7 moves" == describe(read(record(WON)))
    assert "unfinished, 3 moves" == describe(read(record(OPEN)))
    assert "draw by agreement, 3 moves" == describe(read(record(OPEN, reason="agreement")))


# --- the end of a game

ABSENT = "absent"
REASONS = [ABSENT, None, "line", "stalemate", "time", "resignation", "agreement"]
RESULTS = [ABSENT, None, "a", "b", "draw"]
OVER = {(result, reason) for result in (ABSENT, "a") for reason in (ABSENT, "line")}
STANDING = (
    {(result, reason) for result in (ABSENT, None) for reason in (ABSENT, None)}
    | {(result, reason) for result in "ab" for reason in ("time", "resignation")}
    | {(result, "agreement") for result in (ABSENT, "draw")}
)


@pytest.mark.parametrize(("moves", "accepted"), [(WON, OVER), (OPEN, STANDING)], ids=["over", "standing"])
def test_result_and_reason_agree_with_the_moves_and_each_other(moves: list[str], accepted: set[Any]) -> None:
    """Every pair of result and reason, absent and null included, on a finished and an unfinished line of play."""
    for result, reason in itertools.product(RESULTS, REASONS):
        given = record(moves) | {
            name: value for name, value in (("result", result), ("reason", reason)) if value is not ABSENT
        }
        if (result, reason) in accepted:
            kept = read(given)
            assert result in (kept.result, ABSENT)
            assert reason in (kept.reason, ABSENT)
        else:
            assert ("contradiction", None) == refused(given)[:2], (result, reason)


@pytest.mark.parametrize("reason", ["time", "resignation", "agreement"])
def test_an_end_that_moves_cannot_show_is_kept_without_a_line(reason: str) -> None:
    """Resignation, time and agreement stay as given; a line beside them is a contradiction."""
    result = "draw" if reason == "agreement" else "b"
    given = record(OPEN, result=result, reason=reason, line=None)
    kept = read(given)
    assert (result, reason, None) == (kept.result, kept.reason, kept.line)
    assert ("contradiction", None) == refused(given | {"line": ["a1"]})[:2]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("result", "b"), ("reason", "stalemate"), ("reason", "time"), ("line", None), ("line", []),
        ("line", ["a1", "b1", "c1"]), ("line", ["b1", "a1", "c1", "d1"]), ("final", ""), ("final", "?"),
        ("final", "bbb..../......./......./......./......./......./aaaa... a 7:7 1:1"),
    ],
)  # fmt: skip
def test_a_given_value_that_disagrees_is_an_error(name: str, value: object) -> None:
    """Each decided field, changed on its own, is refused by its name."""
    code, index, text = refused(record(WON) | {name: value})
    assert ("contradiction", None) == (code, index)
    assert text.startswith(f"{name} is ")
    assert ", but the moves make it " in text


# --- moves, time-outs, times


@pytest.mark.parametrize(
    ("moves", "code", "index", "text"),
    [
        (["d4", "zz"], "unreadable", 1, "move 1 is unreadable: 'zz' is no action"),
        (["d4", 5], "unreadable", 1, "the record is unreadable: Expected `str`, got `int` - at `$.moves[1]`"),
        (["d4", "d4"], "occupied", 1, "move 1 is illegal: d4 is refused (occupied)"),
        (["d4", "d5", "xd4"], "not_opponents", 2, "move 2 is illegal: xd4 is refused (not_opponents)"),
        ([*WON, "e5"], "finished", 7, "move 7 is illegal: e5 is refused (finished)"),
        (["--"], "must_move", 0, "move 0 is illegal: -- is refused (must_move)"),
        (["d4\ud800"], "unreadable", None, "the line is no JSON"),
    ],
)
def test_a_move_that_cannot_be_is_named_with_its_index_and_reason(
    moves: list[object], code: str, index: int | None, text: str
) -> None:
    """Unreadable and illegal moves are told apart, counted from 0."""
    given = refused({"v": 1, "rules": "standard", "starter": "a", "moves": moves})
    assert (code, index) == given[:2]
    assert given[2].startswith(text)


def test_a_pass_at_will_is_a_time_out_and_must_be_listed() -> None:
    """A `--` while actions were legal is read only where timeouts name it, and is kept."""
    given = record(["d4", "--", "c3", "--"])
    assert ("must_move", 1) == refused(given)[:2]
    assert ("must_move", 3) == refused(given | {"timeouts": [1]})[:2]
    assert (1, 3) == read(given | {"timeouts": [1, 3]}).timeouts


@pytest.mark.parametrize(
    ("timeouts", "index", "text"),
    [
        ([0, 1, 3], 0, "timeouts name move 0, but that is d4 and no --"),
        ([3, 1], None, "timeouts are not ascending, each once"),
        ([1, 1, 3], None, "timeouts are not ascending, each once"),
        ([1, 3, 4], None, "timeouts name move 4, but the last move is 3"),
    ],
)
def test_time_outs_name_passes_in_order(timeouts: list[int], index: int | None, text: str) -> None:
    """Indices that are no pass, not ascending or beyond the moves are errors."""
    assert ("contradiction", index, text) == refused(record(["d4", "--", "c3", "--"], timeouts=timeouts))


def test_a_forced_pass_is_no_time_out() -> None:
    """A `--` that was the only action may not be listed."""
    given = {name: FORCED[name] for name in ("v", "rules", "starter", "moves")}
    text = f"timeouts name move {FORCED_PASS}, but that -- was forced"
    assert ("contradiction", FORCED_PASS, text) == refused(given | {"timeouts": [FORCED_PASS]})
    assert () == read(given | {"timeouts": []}).timeouts


def test_no_turn_is_lost_after_the_end() -> None:
    """A listed time-out in a finished game is illegal as any move is."""
    assert ("finished", 7) == refused(record([*WON, "--"], timeouts=[7]))[:2]


def test_there_is_one_time_used_for_each_move() -> None:
    """Too few and too many entries in ms are refused."""
    assert (0, 0, 0) == read(record(OPEN, ms=[0, 0, 0])).ms
    for count in (2, 4):
        text = f"ms has {count} times for 3 moves, but there is one for each"
        assert ("contradiction", None, text) == refused(record(OPEN, ms=[0] * count))


# --- takebacks


def taken(moves: list[str], *takebacks: tuple[int, list[str]], **more: object) -> dict[str, Any]:
    """A record with these takebacks."""
    return record(moves, takebacks=[{"at": at, "moves": undone} for at, undone in takebacks], **more)


@pytest.mark.parametrize(
    "given",
    [
        taken(OPEN, (2, ["d5"])),
        taken(OPEN, (3, ["d5"])),
        taken(OPEN, (1, ["xd4"]), (0, ["d4"]), (1, ["e5"])),
        taken(["d4", "--", "e5"], (2, ["c3"]), timeouts=[1]),
        taken(["d4", "e5", "--"], (1, ["xd4"]), timeouts=[2]),
        # xd4 can only have been undone after d4, which an older takeback put there
        taken(["e4"], (1, ["xd4"]), (0, ["d4"])),
    ],
)
def test_the_line_before_each_takeback_is_rebuilt_backwards(given: dict[str, Any]) -> None:
    """What was undone is legal where it was played: several in a row, one after another, behind a time-out."""
    assert given["takebacks"] == json.loads(format_record(read(given)))["takebacks"]


def test_forced_passes_are_undone_with_the_action_before_them() -> None:
    """An action and the pass it forced go together."""
    moves, at = FORCED["moves"], FORCED_PASS - 1
    given = {name: FORCED[name] for name in ("v", "rules", "starter", "moves")}
    undone = {"at": at, "moves": moves[at : FORCED_PASS + 1]}
    assert "--" == undone["moves"][-1]
    assert [undone] == json.loads(format_record(read(given | {"takebacks": [undone]})))["takebacks"]


@pytest.mark.parametrize(
    ("given", "code", "text"),
    [
        (taken(OPEN, (4, ["d5"])), "contradiction", "takeback 0 leaves 4 moves, but only 3 were played after it"),
        (taken(OPEN, (2, [])), "contradiction", "takeback 0 must undo one chosen action and the forced passes"),
        (taken(OPEN, (2, ["--"])), "contradiction", "takeback 0 must undo one chosen action"),
        (taken(OPEN, (2, ["d5", "e5"])), "contradiction", "takeback 0 must undo one chosen action"),
        (taken(OPEN, (2, ["d5", "--"])), "must_move", "move 1 of takeback 0 is illegal: -- is refused (must_move)"),
        (taken(["d4", "--"], (1, ["--"]), timeouts=[1]), "contradiction", "takeback 0 must undo one chosen"),
        (taken(OPEN, (2, ["d4"])), "occupied", "move 0 of takeback 0 is illegal: d4 is refused (occupied)"),
        (taken(OPEN, (2, ["d9"])), "unreadable", "move 0 of takeback 0 is unreadable: 'd9' is no action"),
        (taken(["e4"], (0, ["d4"]), (1, ["xd4"])), "empty", "move 0 of takeback 1 is illegal"),
        (taken(["e4"], (2, ["d5"]), (0, ["d4"])), "contradiction", "takeback 0 leaves 2 moves, but only 1 were"),
        (taken([*WON[:6], "e5"], (6, ["d1"])), "contradiction", "takeback 0 undoes the end of the game"),
    ],
)
def test_a_takeback_that_cannot_have_been_is_an_error(given: dict[str, Any], code: str, text: str) -> None:
    """Lengths, what may be undone, its legality and the result it would cross are checked for each takeback."""
    found = refused(given)
    assert (code, None) == found[:2]
    assert found[2].startswith(text)


# --- the line as JSON


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"v": 2}, "v is 2, but only version 1 can be read"),
        ({"v": True}, "Expected `int`, got `bool` - at `$.v`"),
        ({"v": 1.0}, "Expected `int`, got `float` - at `$.v`"),
        ({"rules": "standart"}, "rules 'standart' are no profile; the nearest is 'standard'"),
        ({"rules": {"pool": 7}}, "Object missing required field `block` - at `$.rules`"),
        ({"rules": {"pool": 50, "block": True, "neutralisations": 1}}, "rules: pool = 50: must be a whole number"),
        ({"rules": {"pool": 7, "block": 1, "neutralisations": 1}}, "Expected `bool`, got `int` - at `$.rules.block`"),
        ({"rules": {"poool": 7}}, "rules has an unknown key 'poool'; the nearest is 'pool'"),
        ({"starter": "A"}, "Invalid enum value 'A' - at `$.starter`"),
        ({"moves": "d4"}, "Expected `array`, got `str` - at `$.moves`"),
        ({"result": "c"}, "Invalid enum value 'c' - at `$.result`"),
        ({"reason": "boredom"}, "Invalid enum value 'boredom' - at `$.reason`"),
        ({"line": "a1"}, "Expected `array | null`, got `str` - at `$.line`"),
        ({"final": None}, "Expected `str`, got `null` - at `$.final`"),
        ({"time": None}, "Expected `object`, got `null` - at `$.time`"),
        ({"time": {"total_ms": 0, "move_ms": None}}, "Expected `int` >= 1 - at `$.time.total_ms`"),
        ({"time": {"total": 1}}, "time has an unknown key 'total'; the nearest is 'total_ms'"),
        ({"ms": [1, -1, 1]}, "Expected `int` >= 0 - at `$.ms[1]`"),
        ({"ms": [1, 10**400, 1]}, "Expected `int` <= 9007199254740991 - at `$.ms[1]`"),
        ({"timeouts": {}}, "Expected `array`, got `object` - at `$.timeouts`"),
        ({"takebacks": [{"at": -1, "moves": ["d4"]}]}, "Expected `int` >= 0 - at `$.takebacks[0].at`"),
        ({"takebacks": [{"att": 1}]}, "takebacks has an unknown key 'att'; the nearest is 'at'"),
        ({"players": {"a": "Ann", "b": None}}, "Expected `str`, got `null` - at `$.players.b`"),
        ({"players": {"c": "Ann"}}, "players has an unknown key 'c'; the nearest is"),
        ({"date": 2026}, "Expected `str`, got `int` - at `$.date`"),
        ({"seq": "1"}, "Expected `int`, got `str` - at `$.seq`"),
        ({"move": []}, "the record has an unknown key 'move'; the nearest is 'moves'"),
    ],
)
def test_a_field_of_the_wrong_shape_is_named(change: dict[str, Any], text: str) -> None:
    """Types, ranges and unknown keys, with the place and the nearest known key."""
    code, index, found = refused(record(OPEN) | change)
    assert ("unreadable", None) == (code, index)
    assert text in found


@pytest.mark.parametrize("name", ["v", "rules", "starter", "moves"])
def test_a_field_that_must_be_there_is_missed_by_name(name: str) -> None:
    """Version, rules, starter and moves have no default."""
    given = {key: value for key, value in record(OPEN).items() if key != name}
    assert f"the record is unreadable: Object missing required field `{name}`" == refused(given)[2]


HORRORS = {
    "": "the line is no JSON",
    "[]": "the line is JSON, but no object",
    "null": "the line is JSON, but no object",
    '{"v":1,"v":1}': "the line is no JSON: key 'v' is there twice",
    '{"v":1,"time":{"move_ms":1,"move_ms":1}}': "the line is no JSON: key 'move_ms' is there twice",
    '{"v":NaN}': "the line is no JSON: NaN is no number of JSON",
    '{"v":-Infinity}': "the line is no JSON: -Infinity is no number of JSON",
    '{"v":' + "9" * 5000 + "}": "the line is no JSON",
    '{"v":1e999}': "the record is unreadable: Expected `int`, got `float` - at `$.v`",
    "[" * 100_000: "the line is no JSON",
    '{"v":' * 100_000: "the line is no JSON",
    '{"date":"\\ud83d"}': "the line is no JSON",
    '{"date":"\udce9"}': "the line is no JSON",
    "\ufeff{}": "the line is no JSON",
    "\x00": "the line is no JSON",
    '{"v":1,"rules":"standard","starter":"a","moves":["d4"]': "the line is no JSON",
}


@pytest.mark.parametrize("line", HORRORS, ids=range(len(HORRORS)))
def test_a_line_that_is_no_record_at_all_is_an_error_of_its_own(line: str) -> None:
    """Broken, doubled, endless, nested and half-encoded input ends in a RecordError."""
    with pytest.raises(RecordError) as caught:
        parse_record(line)
    assert ("unreadable", None) == (caught.value.code, caught.value.index)
    assert str(caught.value).startswith(HORRORS[line])


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["d4", "--", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
fields = st.sampled_from([*Record.__struct_fields__, "move"])


@given(st.dictionaries(fields, values, max_size=3), st.sampled_from([OPEN, WON, ["d4", "--"]]))
def test_any_object_is_a_record_or_an_error(change: dict[str, Any], moves: list[str]) -> None:
    """Fields of any value make a record that comes back the same, or a RecordError, never anything else."""
    for _, found in replay([json.dumps(record(moves) | change)]):
        if isinstance(found, Record):
            assert found == parse_record(format_record(found))


@given(st.text())
def test_any_line_is_a_record_or_an_error(line: str) -> None:
    """Text at large is never anything else than a RecordError."""
    assert all(isinstance(found, RecordError) for _, found in replay([line]))


def test_bad_lines_do_not_stop_the_rest() -> None:
    """Lines are numbered from 1, blank ones are counted and left out, bad ones told in their place."""
    lines = [GAMES[0], "", "nonsense", "  \n", json.dumps(record(["d4", "d4"])), GAMES[1]]
    found = [(number, getattr(game, "code", "record")) for number, game in replay(iter(lines))]
    assert [(1, "record"), (3, "unreadable"), (5, "occupied"), (6, "record")] == found
