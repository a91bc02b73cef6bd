"""States that a board rarely has, in words on the page: told by a stub, so that each is there at once."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from firmware.menu import HOLDS
from tests.browser import opened
from tests.stub_board import EMPTY, StubBoard, stub_board
from tests.test_browser_page import misfits

pytestmark = [pytest.mark.browser, pytest.mark.realtime]

PLAY = {"phase": "play", "starter": "a", "to_move": "a", "legal": ["d4"]}
REPLAYED = "......./......./......./...a.../......./......./....... b 7:7 1:1"
OPTIONS = ["total_15", "total_10", "total_5", "total_none", "move_2", "move_1", "move_none"]
MORE = ["rules_standard", "rules_lite", None, "series_1", "series_3", "series_5", "close"]


def options(on: str) -> dict[str, object]:
    """Open options as the board tells them, one item of which is chosen."""
    items = dict(zip([*(f"{c}1" for c in "abcdefg"), *(f"{c}2" for c in "abcdefg")], [*OPTIONS, *MORE], strict=True))
    mirrored = {"gfedcba"["abcdefg".index(cell[0])] + str(8 - int(cell[1])): item for cell, item in items.items()}
    cells = {
        cell: {"side": side, "item": item, "on": item == on}
        for side, half in (("a", items), ("b", mirrored))
        for cell, item in half.items()
        if item
    }
    return {"kind": "options", "cells": cells, "asked": None}


def test_options_are_words_on_their_cells() -> None:
    """Options stand on their cells from both seats; what is chosen says so, what is not says what a tap does."""
    with stub_board() as board, opened(board) as page:
        board.say(phase="menu", menu=options("series_3"))
        expect(page.locator("#past")).to_have_text("Options, for the two of you.")
        words = {cell: page.locator(f"[data-cell={cell}] .word") for cell in ("a1", "g7", "e2", "c2", "g2")}
        assert ["15 min each", "15 min each", "best of 3", "", "close"] == [
            " ".join(word.text_content().split()) for word in words.values()
        ]
        page.locator("[data-cell=e2]").hover()
        expect(page.locator("#hint")).to_have_text("best of 3: chosen")
        page.locator("[data-cell=f2]").hover()
        expect(page.locator("#hint")).to_have_text("tap to choose a match in 5 games")
        assert [] == misfits(page)


def test_what_the_menu_wants_held_says_what_for() -> None:
    """A tap on any item that wants a hold is answered with what the hold would do."""
    told = {"resign": "hold to resign", "operator": "hold for the code"}
    assert HOLDS == set(told)
    with stub_board() as board, opened(board) as page:
        for n, (item, words) in enumerate(told.items(), 1):
            menu = {"kind": "menu", "cells": {"d4": {"side": "a", "item": item, "on": False}}, "asked": None}
            board.say(phase="menu", menu=menu, refusal={"code": "hold", "cell": "d4", "n": n})
            expect(page.locator("#hint")).to_have_text(f"let go too soon: {words}")


def test_a_match_is_told_with_its_score() -> None:
    """In a match of several games both rails tell the points in halves, and its end is told."""
    with stub_board() as board, opened(board) as page:
        board.say(**PLAY)
        expect(page.locator("#score-a")).to_have_text("")
        board.say(match={"series": 3, "score": {"a": 1.5, "b": 0.5}, "over": False})
        expect(page.locator("#score-a")).to_have_text("1½ points, best of 3")
        expect(page.locator("#score-b")).to_have_text("½ points, best of 3")
        over = {"series": 3, "score": {"a": 2, "b": 0}, "over": True}
        board.say(phase="result", result="a", reason="line", line=["a1", "b1", "c1", "d1"], match=over)
        expect(page.locator("#past")).to_have_text("Orange wins the match, 2 to 0.")
        expect(page.locator("#hint")).to_have_text("touch for a new match: by lot")
        assert [] == misfits(page)


def test_a_replay_is_told_action_by_action() -> None:
    """A replay shows its own position in words for ears, counts its actions, and says what ends it."""
    with stub_board() as board, opened(board) as page:
        board.say(phase="attract", replay={"seq": 12, "at": 1, "of": 30, "position": REPLAYED})
        expect(page.locator("#past")).to_have_text("Game 12, action 1 of 30.")
        expect(page.locator("#hint")).to_have_text("tap to end")
        expect(page.locator("[data-cell=d4]")).to_have_attribute("aria-label", "d4: orange.")
        expect(page.locator("#welcome")).to_be_hidden()


def test_a_countdown_to_parking_is_a_quiet_line() -> None:
    """A game that nobody touches says how long it still waits, and stops saying so once somebody does."""
    with stub_board() as board, opened(board) as page:
        board.say(**PLAY)
        board.clocks(parks_in_ms=20_000)
        expect(page.locator("#hint")).to_have_text("touch a cell to stay: 20 s")
        expect(page.locator("#hint")).to_have_text("touch a cell to stay: 19 s")
        board.clocks()
        expect(page.locator("#hint")).to_have_text("")


def test_what_is_chosen_at_the_board_counts_on_the_page() -> None:
    """A language or marks chosen at the board are the page's too; the page may still choose otherwise, until then."""
    with stub_board() as board, opened(board) as page:
        html, marks = page.locator("html"), page.locator("#marks")
        board.say(chosen={**CHOSEN, "language": "fr", "marks": True})
        expect(html).to_have_attribute("lang", "fr")
        expect(marks).to_have_attribute("aria-pressed", "true")
        page.locator("#lang").click()
        board.say(seq=7)
        expect(html).to_have_attribute("lang", "en")
        board.say(chosen={**CHOSEN, "language": None, "marks": False})
        expect(marks).to_have_attribute("aria-pressed", "false")
        expect(html).to_have_attribute("lang", "en")


CHOSEN = {"brightness_pct": 60, "language": None, "marks": False, "volume_pct": 50}
FAILED = {"leds": "x", "matrix": "x", "cells": "x", "queue": "x", "journal": "x", "settings": "x"}


@pytest.mark.parametrize("part", FAILED)
def test_a_part_that_failed_is_named_in_words_that_fit(part: str) -> None:
    """Each part that fails is a sentence in both languages that fits every screen, in attract and in play."""
    with stub_board() as board, opened(board) as page:
        notice = page.locator("#notice")
        told = set()
        for phase in ({"phase": "attract"}, PLAY):
            board.say(**phase)
            board.fail(**{part: FAILED[part]})
            expect(notice).not_to_be_empty()
            told |= {notice.text_content()}
            assert [] == misfits(page)
            page.locator("#lang").click()
            told |= {notice.text_content()}
            board.fail()
            expect(notice).to_be_empty()
        assert 2 == len(told)


def test_clocks_stand_while_nothing_is_known_of_the_contacts() -> None:
    """The mover's clock runs on between two tellings, but not while the board feels no touch."""
    with stub_board() as board, opened(board) as page:
        clock = page.locator("#clock-a")
        board.say(**PLAY, clocks_ms={"a": 600_000, "b": 600_000})
        expect(clock).to_have_text("9:59")
        board.fail(matrix="x")
        expect(clock).to_have_text("10:00")
        page.wait_for_timeout(1200)
        expect(clock).to_have_text("10:00")
        expect(page.locator("#turn-a")).to_have_text("your turn")


def test_a_part_without_words_is_told_in_the_boards_own() -> None:
    """A part that the page has no words for is named with what the board says of it."""
    with stub_board() as board, opened(board) as page:
        board.fail(serial="the cable is out.")
        expect(page.locator("#notice")).to_have_text("serial: the cable is out.")


def resting(board: StubBoard) -> None:
    """A game in which nothing happens."""
    board.say(**PLAY, position=EMPTY)


def test_who_wants_less_motion_sees_the_light_rest() -> None:
    """With reduced motion the light follows what happens for a moment, then rests; the small pictures stand still."""
    with stub_board() as board, opened(board, reduced_motion="reduce") as page:
        assert 0 == page.evaluate("() => document.getAnimations().length")
        resting(board)
        board.shine(bytes.fromhex("ff3202"))
        page.wait_for_timeout(2000)
        lit = page.locator("#slab").screenshot()
        board.shine(bytes.fromhex("501000"))
        page.wait_for_timeout(200)
        assert lit == page.locator("#slab").screenshot()
        board.say(last_action="d4")
        board.shine(bytes.fromhex("501000"))
        page.wait_for_timeout(200)
        assert lit != page.locator("#slab").screenshot()
