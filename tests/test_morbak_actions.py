"""Action texts and cell names, there and back, and what is neither."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.games import morbak

NAMES = [column + row for row in "1234567" for column in "abcdefg"]
TEXTS = [prefix + name for prefix in ("", "x", "#", "!") for name in NAMES] + ["--"]


def test_cells_are_named_row_by_row_from_a1() -> None:
    """The 49 names in order, read back in either case."""
    assert NAMES == [morbak.cell_name(cell) for cell in range(49)]
    assert list(range(49)) == [morbak.parse_cell(name) for name in NAMES]
    assert list(range(49)) == [morbak.parse_cell(f" {name.upper()}\n") for name in NAMES]


def test_each_of_the_197_actions_has_one_text_and_one_object() -> None:
    """Texts come back, cell names in either case; what is legal is the very object that its text stands for."""
    actions = [morbak.parse_action(text) for text in TEXTS]
    assert 197 == len(set(actions))
    assert TEXTS == [action.text for action in actions]
    assert [True] * 197 == [
        action is morbak.parse_action(f" {action.text[:-2]}{action.text[-2:].upper()}\n") for action in actions
    ]
    assert actions[:49] == morbak.legal(morbak.initial())
    assert all(action is morbak.parse_action(action.text) for action in morbak.legal(morbak.initial()))


def test_an_action_says_its_kind_and_cell() -> None:
    """The four kinds on their 49 cells, and the pass on none."""
    kinds = [kind for kind in ("light", "permute", "block", "neutralise") for _ in range(49)] + ["pass"]
    assert kinds == [morbak.parse_action(text).kind for text in TEXTS]
    assert [*range(49)] * 4 + [-1] == [morbak.parse_action(text).cell for text in TEXTS]


@pytest.mark.parametrize("text", ["", "d8", "h1", "d", "d44", "Xd4", "x d4", "xxd4", "-", "---", "pass", "D４"])
def test_an_unreadable_action_is_no_illegal_one(text: str) -> None:
    """The two errors are apart: a text that is no action is UnreadableText and names itself."""
    with pytest.raises(morbak.UnreadableText, match="is no action"):
        morbak.parse_action(text)
    with pytest.raises(morbak.UnreadableText, match="is no cell"):
        morbak.parse_cell(text)


@given(st.text() | st.text("abgh178xX#!- ", max_size=4))
def test_any_text_is_an_action_or_unreadable(text: str) -> None:
    """Whatever is read is one of the 197 texts, and nothing else than UnreadableText is ever raised."""
    try:
        assert text.strip().lower() == morbak.parse_action(text).text
        known = True
    except morbak.UnreadableText:
        known = False
    assert known == (text.strip()[:-2] + text.strip()[-2:].lower() in TEXTS)
