"""The menu on the board alone: chords, requests and answers, from both seats, on wires."""

from __future__ import annotations

import pytest

from firmware.clock import Limits
from firmware.games import morbak
from firmware.menu import CONSENT, ITEMS, Choice, Item, Menu, MenuTimes
from firmware.menu import PLACES as ALL_PLACES
from firmware.snapshot import Side
from firmware.state import document
from sim.fingers import chord, hold, tap
from tests.scene import BETWEEN_US, MS, NO_LIMITS, S, Scene, playing

PLACES = ALL_PLACES["menu"]
OTHER: dict[Side, Side] = {"a": "b", "b": "a"}
SIDES: list[Side] = ["a", "b"]


def cell_of(side: Side, item: Item) -> int:
    return next(cell for cell, place in PLACES.items() if (place.side, place.item) == (side, item))


def opened(scene: Scene) -> Scene:
    """Hold the opposite corners until the menu is open, and lift."""
    scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
    assert "menu" == scene.table.phase
    scene.wait(BETWEEN_US)
    return scene


def told(scene: Scene) -> dict[str, object]:
    return dict(document(scene.table, scene.now_us, {})["menu"])


def ask(scene: Scene, side: Side, item: Item) -> None:
    scene.do(tap(cell_of(side, item), 0))
    assert scene.table.menu is not None
    assert scene.table.menu.asked is not None
    assert (item, side) == scene.table.menu.asked[:2]


def agree(scene: Scene, side: Side, item: Item) -> None:
    scene.do(hold(cell_of(side, item), 0, 900 * MS))
    scene.wait(BETWEEN_US)


# -- geometry --------------------------------------------------------------------------------------------------


def test_the_rows_are_those_of_the_design() -> None:
    """Side a reads row 1 from a1, side b row 7 from g7, and each his second row the same way."""
    first = ["pause", "takeback", "draw", "resign", "new_game", "brightness", "close"]
    second = ["replay", "language", "marks", "volume", "cursor", "operator", "free"]
    for side, cells in (("a", "a1 b1 c1 d1 e1 f1 g1"), ("b", "g7 f7 e7 d7 c7 b7 a7")):
        assert [(side, item) for item in first] == [PLACES[morbak.parse_cell(name)] for name in cells.split()]
    for side, cells in (("a", "a2 b2 c2 d2 e2 f2 g2"), ("b", "g6 f6 e6 d6 c6 b6 a6")):
        assert [(side, item) for item in second] == [PLACES[morbak.parse_cell(name)] for name in cells.split()]
    assert (28, 14) == (len(PLACES), len(ITEMS))


# -- opening and closing ---------------------------------------------------------------------------------------


def test_opposite_corners_open_the_menu_after_2_s() -> None:
    """The chord of a1 and g7 opens the menu after 2 s, not sooner, and the fingers that made it are dead."""
    scene = playing()
    assert [] == scene.do(chord(["a1", "g7"], 0, 1_980 * MS))
    assert "play" == scene.table.phase
    assert [] == scene.do(chord(["a1", "g7"], 0, 6 * S))
    assert "menu" == scene.table.phase
    assert told(scene)["asked"] is None


@pytest.mark.parametrize("corners", [("a1", "a7"), ("g1", "g7"), ("g1", "a7"), ("a1", "g6"), ("b1", "g7")])
def test_other_pairs_open_nothing(corners: tuple[str, str]) -> None:
    """Only the corners a1 and g7 are the menu's chord."""
    scene = playing()
    assert [] == scene.do(chord(corners, 0, 3 * S))
    assert "play" == scene.table.phase


@pytest.mark.parametrize("side", SIDES)
def test_close_returns_to_play(side: Side) -> None:
    """Either side's close ends the menu, and the tap on it is no move."""
    scene = opened(playing().moves("d4"))
    assert [] == scene.do(tap(cell_of(side, "close"), 0))
    assert ("play", 1) == (scene.table.phase, len(scene.table.game.moves))
    scene.wait(BETWEEN_US)
    assert ["e5"] == scene.tap("e5")


def test_a_menu_nobody_touches_closes_after_30_s() -> None:
    """30 s after the last touch the menu closes by itself."""
    scene = opened(playing(limits=NO_LIMITS))
    scene.wait(25 * S)
    scene.tap("d4")
    scene.wait(29 * S)
    assert "menu" == scene.table.phase
    scene.wait(2 * S)
    assert "play" == scene.table.phase


def test_cells_that_mean_nothing_do_nothing() -> None:
    """In the menu no cell beside the offered ones does anything, tapped or held."""
    scene = opened(playing(limits=NO_LIMITS))
    offered = set(told(scene)["cells"])  # type: ignore[call-overload]
    for cell in range(49):
        if morbak.cell_name(cell) not in offered:
            assert [] == scene.do(hold(cell, 0, 60 * MS))
            assert [] == scene.do(hold(cell, 0, 900 * MS))
    assert ("menu", None) == (scene.table.phase, scene.table.menu.asked)


def test_no_takeback_is_offered_where_there_is_none() -> None:
    """Before the first action, and right after a time-out, takeback is dark."""
    scene = opened(playing(limits=NO_LIMITS))
    assert "b1" not in told(scene)["cells"]  # type: ignore[operator]
    scene = playing(limits=Limits(None, 3 * S)).moves("d4")
    scene.wait(3 * S)
    assert "--" == scene.table.game.moves[-1].text
    assert "b1" not in told(opened(scene))["cells"]  # type: ignore[operator]


# -- consent ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("item", sorted(CONSENT))
def test_consent_is_a_hold_on_the_other_sides_cell(side: Side, item: Item) -> None:
    """A request waits on the other side's same cell; a hold there carries it out."""
    scene = opened(playing(limits=NO_LIMITS).moves("d4", "e5"))
    ask(scene, side, item)
    assert {"item": item, "by": side, "left_ms": pytest.approx(15_000, abs=100)} == told(scene)["asked"]
    agree(scene, OTHER[side], item)
    after = {"pause": "paused", "takeback": "play", "draw": "result", "new_game": "lobby"}
    assert after[item] == scene.table.phase
    if item == "takeback":
        assert ["d4"] == [move.text for move in scene.table.game.moves]
    if item == "draw":
        assert ("draw", "agreement") == scene.table.game.ending[:2]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("item", sorted(CONSENT))
def test_a_tap_refuses_what_is_asked(side: Side, item: Item) -> None:
    """A tap on the other side's cell refuses; nothing changes and the menu stays open."""
    scene = opened(playing(limits=NO_LIMITS).moves("d4", "e5"))
    ask(scene, side, item)
    scene.do(tap(cell_of(OTHER[side], item), 0))
    assert ("menu", None) == (scene.table.phase, scene.table.menu.asked)
    assert 2 == len(scene.table.game.moves)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("item", sorted(CONSENT))
def test_nobody_can_agree_with_himself(side: Side, item: Item) -> None:
    """The asker's own cell, held, carries nothing out; tapped, it takes the request back."""
    scene = opened(playing(limits=NO_LIMITS).moves("d4", "e5"))
    ask(scene, side, item)
    scene.do(hold(cell_of(side, item), 0, 900 * MS))
    assert ("menu", 2) == (scene.table.phase, len(scene.table.game.moves))
    scene.wait(BETWEEN_US)
    if scene.table.menu.asked is None:
        ask(scene, side, item)
    scene.do(tap(cell_of(side, item), 0))
    assert scene.table.menu.asked is None


@pytest.mark.parametrize("item", sorted(CONSENT))
def test_15_s_refuse(item: Item) -> None:
    """A request without an answer is refused after 15 s; there are 30 s more for another, then the menu closes."""
    scene = opened(playing(limits=NO_LIMITS).moves("d4", "e5"))
    ask(scene, "a", item)
    scene.wait(scene.table.menu.asked.since_us + 15 * S - MS - scene.now_us)
    assert scene.table.menu.asked is not None
    scene.wait(50 * MS)
    assert ("menu", None) == (scene.table.phase, scene.table.menu.asked)
    scene.wait(29 * S)
    assert "menu" == scene.table.phase
    scene.wait(S)
    assert "play" == scene.table.phase


@pytest.mark.parametrize("side", SIDES)
def test_a_request_shows_on_both_sides(side: Side) -> None:
    """The asker's cell is full while he waits and the other side's same cell asks; no other cell does either."""
    scene = opened(playing(limits=NO_LIMITS).moves("d4"))
    ask(scene, side, "draw")
    lights = scene.table.snapshot.menu
    own, other = cell_of(side, "draw"), cell_of(OTHER[side], "draw")
    assert [own] == [light.cell for light in lights if light.chosen]
    assert [other] == [light.cell for light in lights if light.asked]


def test_only_one_thing_is_asked_at_a_time() -> None:
    """While a request waits no other item can be chosen."""
    scene = opened(playing(limits=NO_LIMITS).moves("d4", "e5"))
    ask(scene, "a", "draw")
    scene.do(tap(cell_of("a", "takeback"), 0))
    scene.do(hold(cell_of("b", "resign"), 0, 900 * MS))
    assert ("menu", "draw") == (scene.table.phase, scene.table.menu.asked.item)


@pytest.mark.parametrize("side", SIDES)
def test_resigning_wants_a_hold(side: Side) -> None:
    """A tap on resign is answered with `hold`; a hold loses the game for that side."""
    scene = opened(playing(limits=NO_LIMITS).moves("d4"))
    scene.do(tap(cell_of(side, "resign"), 0))
    assert ("menu", "hold") == (scene.table.phase, scene.refusal)
    scene.do(hold(cell_of(side, "resign"), 0, 900 * MS))
    assert ("result", OTHER[side], "resignation") == (scene.table.phase, *scene.table.game.ending[:2])


# -- time ------------------------------------------------------------------------------------------------------


def test_the_clock_runs_until_a_pause_is_accepted() -> None:
    """The mover's clock runs while the menu is open, and stands in the pause."""
    scene = playing()
    mover = scene.table.game.mover
    opened(scene)
    left_us = scene.table.game.clocks.left_us(mover, scene.now_us)
    scene.wait(2 * S)
    assert left_us - 2 * S == scene.table.game.clocks.left_us(mover, scene.now_us)
    ask(scene, "a", "pause")
    agree(scene, "b", "pause")
    left_us = scene.table.game.clocks.left_us(mover, scene.now_us)
    scene.wait(60 * S)
    assert left_us == scene.table.game.clocks.left_us(mover, scene.now_us)
    scene.tap("d4")
    assert ("play", []) == (scene.table.phase, scene.table.game.moves)


def test_a_time_out_ends_a_request() -> None:
    """A missed turn passes while the menu is open, and ends what was asked."""
    scene = opened(playing(limits=Limits(None, 10 * S)).moves("d4"))
    ask(scene, "a", "takeback")
    scene.wait(10 * S)
    assert ("menu", None, "--") == (scene.table.phase, scene.table.menu.asked, scene.table.game.moves[-1].text)


def test_a_loss_on_time_closes_the_menu() -> None:
    """A result closes the menu."""
    scene = opened(playing(limits=Limits(8 * S, None)))
    scene.wait(8 * S)
    assert ("result", None) == (scene.table.phase, scene.table.menu)


def test_takebacks_repeat_to_the_first_action() -> None:
    """Takeback after takeback brings back position, pools and clocks, down to the empty board."""
    scene = playing(limits=NO_LIMITS)
    start = scene.position
    scene.moves("d4", "xd4", "!d4", "c3")
    for left in (3, 2, 1, 0):
        opened(scene)
        ask(scene, "b", "takeback")
        agree(scene, "a", "takeback")
        assert ("play", left) == (scene.table.phase, len(scene.table.game.moves))
    assert start == scene.position


def test_an_answer_is_what_was_asked_and_ends_it() -> None:
    """Consent makes the asker's choice, once; to resign wants a hold, and what is not offered nothing does."""
    menu, offers = Menu("menu", MenuTimes(), 0), frozenset(ITEMS)
    assert None is menu.tap(cell_of("a", "draw"), 1, offers)
    assert Choice("draw", "a", held=True) == menu.hold(cell_of("b", "draw"), 2, offers)
    assert (None, 2 + MenuTimes().idle_us) == (menu.asked, menu.due_us)
    assert None is menu.hold(cell_of("b", "draw"), 3, offers)
    assert None is menu.tap(cell_of("a", "resign"), 4, offers)
    assert Choice("resign", "b", held=True) == menu.hold(cell_of("b", "resign"), 5, offers)
    assert None is menu.hold(cell_of("b", "resign"), 6, offers - {"resign"})


def test_nobody_resigns_a_game_that_has_ended() -> None:
    """After a result a hold on the cell that gives up does nothing, and nothing counts twice."""
    scene = playing(limits=NO_LIMITS).moves("d4", "a1", "d5", "a2", "d6", "a3", "d7")
    scene.wait(3_500 * MS)
    before = scene.table.game.ending, scene.table.match
    for side in SIDES:
        agree(opened(scene) if scene.table.phase == "result" else scene, side, "resign")
    assert ("menu", *before) == (scene.table.phase, scene.table.game.ending, scene.table.match)


def test_a_parked_game_can_be_left_for_a_new_one() -> None:
    """From a paused game the menu opens too, and a new game goes through lobby and lot (case G7)."""
    scene = playing(limits=Limits(None, 3 * S))
    scene.wait(10 * S)
    assert "paused" == scene.table.phase
    opened(scene)
    assert "a1" not in told(scene)["cells"]  # type: ignore[operator]
    ask(scene, "a", "new_game")
    agree(scene, "b", "new_game")
    assert ("lobby", None) == (scene.table.phase, scene.table.game)
    scene.wait(5 * S)
    assert ("play", []) == (scene.table.phase, scene.table.game.moves)


def test_a_takeback_in_a_pause_stays_paused() -> None:
    """What is agreed in a paused game does not start its clock."""
    scene = playing().moves("d4")
    opened(scene)
    ask(scene, "a", "pause")
    agree(scene, "b", "pause")
    opened(scene)
    ask(scene, "a", "takeback")
    agree(scene, "b", "takeback")
    assert ("paused", None, []) == (scene.table.phase, scene.table.game.clocks.running, scene.table.game.moves)


# -- pips ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("corners", [("a1", "g1"), ("a7", "g7")])
def test_own_corners_show_the_pools(corners: tuple[str, str]) -> None:
    """Two own corners held for 0.5 s show what is left to both sides for 1.5 s, and are no move (case G13)."""
    scene = playing().moves("d4", "xd4")
    scene.wait(2 * S)
    assert [] == scene.do(chord(corners, 0, 520 * MS), settle_us=0)
    scene.wait(30 * MS)
    pips = scene.table.snapshot.pips
    assert pips is not None
    assert [6, 7] == sorted(pips.pools)
    scene.wait(1_500 * MS)
    assert scene.table.snapshot.pips is None


def test_pips_show_after_a_scarce_action_until_a_press() -> None:
    """After each scarce action the pools show, and the next press ends them."""
    scene = playing().moves("d4", "xd4")
    assert scene.table.snapshot.pips is not None
    scene.tap("e5")
    assert scene.table.snapshot.pips is None


def test_a_consent_that_comes_too_late_asks_for_nothing() -> None:
    """A hold that is under way when a request times out neither agrees nor becomes a request when it is lifted."""
    scene = opened(playing(limits=NO_LIMITS).moves("d4"))
    ask(scene, "a", "draw")
    scene.wait(14_500 * MS)
    scene.do(hold(cell_of("b", "draw"), 0, 900 * MS))
    assert ("menu", None) == (scene.table.phase, scene.table.menu.asked)
