"""Positions of MORBAK: the rule options, the one-line text there and back, and every invariant of a state."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.games import morbak
from firmware.games.morbak import Rules

EMPTY = "......./......./......./......./......./......./......."

numbers = st.integers(0, 49)
positions = st.builds(
    lambda cells, side, left: (
        "/".join(cells[first : first + 7] for first in range(0, 49, 7)) + " {} {}:{} {}:{}".format(side, *left)
    ),
    st.text(".abABxy*", min_size=49, max_size=49),
    st.sampled_from("ab"),
    st.tuples(numbers, numbers, numbers, numbers),
)


def test_rules_options_set_what_a_side_has() -> None:
    """The start shows the pool and the neutralisations of its rules; a profile is named."""
    assert f"{EMPTY} a 7:7 1:1" == morbak.format_position(morbak.initial())
    assert f"{EMPTY} b 6:6 1:1" == morbak.format_position(morbak.initial(morbak.LITE, "b"))
    assert f"{EMPTY} a 49:49 3:3" == morbak.format_position(morbak.initial(Rules(49, False, 3)))
    assert {"standard": Rules(7, True, 1), "lite": Rules(6, True, 1)} == morbak.PROFILES


@pytest.mark.parametrize(
    "rules", [(-1, True, 1), (50, True, 1), (True, True, 1), (7, 1, 1), (7, True, 50), (7, True, "1")]
)
def test_rules_out_of_range_are_refused(rules: tuple[Any, Any, Any]) -> None:
    """The error names the option and its range, for a start as for a position."""
    with pytest.raises(ValueError, match=r"(pool|block|neutralisations) = .*: must be"):
        morbak.initial(Rules(*rules))
    with pytest.raises(ValueError, match="must be"):
        morbak.parse_position(f"{EMPTY} a 7:7 1:1", Rules(*rules))


def test_only_a_or_b_starts() -> None:
    """Another starter is an error that names it."""
    with pytest.raises(ValueError, match="starter = 'c': must be a or b"):
        morbak.initial(starter="c")  # type: ignore[arg-type]


@given(positions)
def test_a_position_text_comes_back_as_it_was(text: str) -> None:
    """Any well-formed text is read, sound, and printed the same; white space at the ends does not matter."""
    state = morbak.parse_position(f" {text}\n")
    board, side, pools, left = text.split()
    assert text == morbak.format_position(state)
    assert [] == morbak.problems(state)
    assert "".join(reversed(board.split("/"))) == morbak.cells(state)
    assert (side, pools, left) == (
        morbak.mover(state),
        "{}:{}".format(*morbak.pools(state)),
        "{}:{}".format(*morbak.neutralisations(state)),
    )


UNREADABLE = {
    "": "must be four fields",
    f"{EMPTY}  a 7:7 1:1": "must be four fields",
    f"{EMPTY} a 7:7": "must be four fields",
    f"{EMPTY}\ta 7:7 1:1": "must be four fields",
    f"{EMPTY[8:]} a 7:7 1:1": "must be 7 rows separated by /, not 6",
    f"{EMPTY[:-1]} a 7:7 1:1": "row 1 '......' must be 7 characters",
    f"c{EMPTY[1:]} a 7:7 1:1": "row 7 'c......' must be 7 characters",
    f"X{EMPTY[1:]} a 7:7 1:1": "row 7 'X......' must be 7 characters",
    f"{EMPTY} A 7:7 1:1": "side to move 'A' must be a or b",
    f"{EMPTY} a 50:7 1:1": "pools '50:7' must be two numbers a:b, each from 0 to 49",
    f"{EMPTY} a 7:07 1:1": "pools '7:07' must be",
    f"{EMPTY} a 07:7 1:1": "pools '07:7' must be",
    f"{EMPTY} a 7:-1 1:1": "pools '7:-1' must be",
    f"{EMPTY} a ٧:7 1:1": "pools '٧:7' must be",
    f"{EMPTY} a 7:7 1:1:1": "neutralisations '1:1:1' must be",
    f"{EMPTY} a 7:7 1:50": "neutralisations '1:50' must be",
}


@pytest.mark.parametrize("text", UNREADABLE)
def test_an_unreadable_position_is_an_error_that_names_the_place(text: str) -> None:
    """Fields, rows, characters, side and numbers: the error shows the part and what it must be."""
    with pytest.raises(morbak.UnreadableText) as caught:
        morbak.parse_position(text)
    assert UNREADABLE[text] in str(caught.value)


@given(st.text() | st.text(".abABxy*/ :0159-", max_size=90) | positions.map(lambda text: text[1:]))
def test_any_text_is_a_position_or_unreadable(text: str) -> None:
    """No text makes another error than UnreadableText, which is one short line."""
    try:
        read = morbak.format_position(morbak.parse_position(text))
    except morbak.UnreadableText as error:
        refused = str(error)
        read = text.strip()
    else:
        refused = ""
    assert text.strip() == read
    assert "\n" not in refused
    assert 300 > len(refused)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"own": 1 << 49}, "own holds a bit that is no cell"),
        ({"blocked": -1}, "blocked holds a bit that is no cell"),
        ({"other": 1}, "empty and other share cells"),
        ({"own_special": 1 << 24}, "own and own_special share cells"),
        ({"blocked": 1 << 24}, "blocked holds cells that are not special"),
        ({"pool": 50}, "pool = 50 is outside 0 to 49"),
        ({"other_neutralisations": -1}, "other_neutralisations = -1 is outside 0 to 49"),
        ({"side": "c"}, "side = 'c' is neither a nor b"),
        ({"line": 1}, "line is not the cells of the winner's completed lines"),
    ],
)
def test_each_broken_invariant_is_told_in_a_sentence(change: dict[str, Any], sentence: str) -> None:
    """A sound state has no problem, a broken one its own."""
    state = morbak.parse_position(f"{EMPTY[:27]}a{EMPTY[28:]} a 7:7 1:1")
    assert [] == morbak.problems(state)
    assert sentence in morbak.problems(state._replace(**change))


def test_every_problem_is_told_not_only_the_first() -> None:
    """Three broken invariants are three sentences."""
    broken = morbak.parse_position(f"{EMPTY[:27]}a{EMPTY[28:]} a 7:7 1:1")._replace(pool=-1, other_pool=99, side="c")  # type: ignore[arg-type]
    assert 3 == len(morbak.problems(broken))
