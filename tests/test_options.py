"""The options of the lobby, by touch on wires, from both seats."""

from __future__ import annotations

import pytest

from firmware import picture
from firmware.clock import Limits
from firmware.games import morbak
from firmware.match import Match
from firmware.menu import OPTIONS, PLACES, Item
from firmware.snapshot import Side
from firmware.state import document
from sim.fingers import chord, tap
from tests.scene import BETWEEN_US, MS, S, Scene, playing

SIDES: list[Side] = ["a", "b"]
SET: frozenset[Item] = frozenset(("total_15", "move_2", "rules_standard", "series_1"))
WON = ("d4", "a1", "d5", "a2", "d6", "a3", "d7")


def cell_of(side: Side, item: Item) -> int:
    return next(cell for cell, place in PLACES["options"].items() if (place.side, place.item) == (side, item))


def in_lobby(**options: object) -> Scene:
    """A board that has just been touched."""
    scene = Scene(**options)
    scene.wait(50 * MS)
    scene.tap("d4")
    scene.wait(BETWEEN_US)
    assert "lobby" == scene.table.phase
    return scene


def opened(scene: Scene) -> Scene:
    scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
    assert ("menu", "options") == (scene.table.phase, scene.table.menu and scene.table.menu.kind)
    scene.wait(BETWEEN_US)
    return scene


def choose(scene: Scene, side: Side, item: Item) -> None:
    scene.do(tap(cell_of(side, item), 0))
    scene.wait(BETWEEN_US)


def told(scene: Scene) -> dict[str, set[str]]:
    """Items offered to each side, and those that are set."""
    cells = document(scene.table, scene.now_us, {})["menu"]["cells"].values()
    return {
        "a": {cell["item"] for cell in cells if cell["side"] == "a"},
        "b": {cell["item"] for cell in cells if cell["side"] == "b"},
        "on": {cell["item"] for cell in cells if cell["on"]},
    }


def test_the_rows_read_from_both_seats() -> None:
    """Times stand in the first row, rules, series and the way out in the second, for b turned half round."""
    rows = {
        "a": ("a1 b1 c1 d1 e1 f1 g1", "a2 b2 c2 d2 e2 f2 g2"),
        "b": ("g7 f7 e7 d7 c7 b7 a7", "g6 f6 e6 d6 c6 b6 a6"),
    }
    for side, (first, second) in rows.items():
        cells = [morbak.parse_cell(name) for name in (first + " " + second).split()]
        places = [PLACES["options"].get(cell) for cell in cells]
        assert list(OPTIONS) == [place.item if place else None for place in places]
        assert {side} == {place.side for place in places if place}
    assert 26 == len(PLACES["options"])


def test_a_chord_held_in_the_lobby_stops_its_countdown() -> None:
    """The two corners open the options even where the lobby would have ended meanwhile."""
    scene = in_lobby()
    scene.wait(1_500 * MS)
    scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
    assert ("menu", None) == (scene.table.phase, scene.table.game)


def test_a_chord_let_go_early_starts_the_lobby_anew() -> None:
    """Corners lifted before their time open nothing; the lot is drawn 2 s after that, and play begins."""
    scene = in_lobby()
    scene.do(chord(["a1", "g7"], 0, 1_900 * MS), settle_us=100 * MS)
    assert "lobby" == scene.table.phase
    scene.wait(1_700 * MS)
    assert scene.table.lot_us is None
    scene.wait(400 * MS)
    assert scene.table.lot_us is not None
    scene.wait(2_600 * MS)
    assert "play" == scene.table.phase


def test_the_chord_opens_the_options_while_the_lot_shows() -> None:
    """Whoever starts is decided already and stays so when the options close."""
    scene = in_lobby()
    scene.wait(2_200 * MS)
    starter = scene.table.game.starter
    choose(opened(scene), "a", "close")
    assert ("lobby", starter) == (scene.table.phase, scene.table.game.starter)
    scene.wait(2_700 * MS)
    assert ("play", starter) == (scene.table.phase, scene.table.game.starter)


@pytest.mark.parametrize("side", SIDES)
def test_each_option_is_set_by_a_tap(side: Side) -> None:
    """A tap on an option sets it and unsets the others of its group, and the game is played by them."""
    scene = opened(in_lobby())
    assert {"a": {item for item in OPTIONS if item}, "b": {item for item in OPTIONS if item}, "on": set(SET)} == told(
        scene
    )
    groups = (
        ("total_15", "total_10", "total_5", "total_none"),
        ("move_2", "move_1", "move_none"),
        ("rules_standard", "rules_lite"),
        ("series_1", "series_3", "series_5"),
    )
    on = set(SET)
    for group in groups:
        for item in (*group, *reversed(group)):
            choose(scene, side, item)
            on = (on - set(group)) | {item}
            assert on == told(scene)["on"]
    for item in ("total_5", "move_1", "rules_lite", "series_5"):
        choose(scene, side, item)
    choose(scene, side, "close")
    assert "lobby" == scene.table.phase
    scene.wait(5 * S)
    game = scene.table.game
    assert ("play", morbak.LITE, Limits(300 * S, 60 * S)) == (scene.table.phase, game.rules, game.clocks.limits)
    assert {"series": 5, "score": {"a": 0, "b": 0}, "over": False} == document(scene.table, 0, {})["match"]


def test_no_limits_can_be_chosen() -> None:
    """Both limits can be switched off at the board (rules, "Time")."""
    scene = opened(in_lobby())
    choose(scene, "b", "total_none")
    choose(scene, "a", "move_none")
    choose(scene, "b", "close")
    scene.wait(5 * S)
    assert ("play", Limits(None, None)) == (scene.table.phase, scene.table.game.clocks.limits)


def test_a_match_nobody_starts_is_left() -> None:
    """Options that nobody touches for 2 min lead back to attract, and what was chosen in them is forgotten."""
    scene = opened(in_lobby())
    choose(scene, "a", "total_5")
    scene.wait(119 * S)
    assert "menu" == scene.table.phase
    scene.wait(2 * S)
    assert ("attract", None, Limits()) == (scene.table.phase, scene.table.game, scene.table.match.limits)


def test_a_new_match_has_the_usual_options() -> None:
    """What was chosen for a match ends with it: the next visitors find the settings."""
    scene = opened(in_lobby())
    choose(scene, "a", "move_none")
    choose(scene, "a", "close")
    scene.wait(5 * S)
    scene.moves(*WON)
    assert "result" == scene.table.phase
    scene.wait(125 * S)
    assert ("attract", Limits()) == (scene.table.phase, scene.table.match.limits)


def test_a_rematch_keeps_the_options() -> None:
    """The next game of the same players has the same times and rules, and its lobby offers the options again."""
    scene = opened(in_lobby())
    choose(scene, "a", "total_none")
    choose(scene, "a", "rules_lite")
    choose(scene, "a", "close")
    scene.wait(5 * S)
    scene.moves(*WON)
    scene.wait(3_500 * MS)
    scene.tap("d4")
    scene.wait(BETWEEN_US)
    game, number = scene.table.game, scene.table.number
    assert ("lobby", None, morbak.LITE) == (scene.table.phase, game.clocks.limits.total_us, game.rules)
    choose(opened(scene), "b", "total_10")
    choose(scene, "b", "close")
    scene.wait(3 * S)
    again = scene.table.game
    assert ("play", 600 * S, morbak.LITE) == (scene.table.phase, again.clocks.limits.total_us, again.rules)
    assert (game.starter, number) == (again.starter, scene.table.number)


def test_a_series_is_played_to_its_end() -> None:
    """Best of 3: the score counts, the loser starts, rules and length stand from the second game on."""
    scene = opened(in_lobby())
    choose(scene, "a", "series_3")
    choose(scene, "a", "close")
    scene.wait(5 * S)
    first = scene.table.game.starter
    scene.moves(*WON)
    match = document(scene.table, scene.now_us, {})["match"]
    assert {"series": 3, "score": {first: 1, "ab".replace(first, ""): 0}, "over": False} == match
    scene.wait(3_500 * MS)
    scene.tap("d4")
    scene.wait(BETWEEN_US)
    assert told(opened(scene))["a"] == {
        "total_15",
        "total_10",
        "total_5",
        "total_none",
        "move_2",
        "move_1",
        "move_none",
        "close",
    }
    choose(scene, "a", "close")
    scene.wait(3 * S)
    loser = scene.table.game.starter
    assert ("play", first) == (scene.table.phase, "ab".replace(loser, ""))
    scene.moves("a1", "d4", "a2", "d5", "a3", "d6", "b7", "d7")  # the loser starts, and loses again
    assert {first: 2, loser: 0} == document(scene.table, scene.now_us, {})["match"]["score"]
    assert scene.table.match.over
    scene.wait(3_500 * MS)
    scene.tap("d4")
    assert ((0, 0), 3) == (scene.table.match.halves, scene.table.match.series)


def test_taps_beside_the_options_do_nothing() -> None:
    """In the open options a dark cell means nothing, and a hold sets nothing."""
    scene = opened(in_lobby())
    for name in ("c2", "d4", "a3", "g5"):
        scene.tap(name)
        scene.wait(BETWEEN_US)
    assert ("menu", set(SET)) == (scene.table.phase, told(scene)["on"])


def test_each_win_is_one_full_light() -> None:
    """The score of whole wins has no pale light, and each side's own number of full ones."""
    match = Match(morbak.STANDARD, Limits(), 5, (2, 4))
    full = {side: [light.chosen for light in picture._score(match) if light.side == side] for side in SIDES}
    assert {"a": [True, False, False, False, False], "b": [True, True, False, False, False]} == full
    assert not any(light.pale for light in picture._score(match))


def test_no_options_in_play() -> None:
    """In play the same corners open the menu, whose items have nothing of the options."""
    scene = playing()
    scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
    assert ("menu", "menu") == (scene.table.phase, scene.table.menu.kind)


def test_the_score_shows_in_the_lobby_of_a_series() -> None:
    """Before the next game of a series each side's second row tells its points: full a win, pale half a point."""
    scene = opened(in_lobby())
    choose(scene, "a", "series_5")
    choose(scene, "a", "move_none")
    choose(scene, "a", "close")
    assert () == scene.table.snapshot.menu
    scene.wait(5 * S)
    winner: Side = scene.table.game.starter
    scene.moves(*WON)
    scene.table.match = scene.table.match.ended("draw")
    scene.wait(3_500 * MS)
    scene.tap("d4")
    assert "lobby" == scene.table.phase
    shown = {
        (light.side, morbak.cell_name(light.cell)): (light.chosen, light.pale) for light in scene.table.snapshot.menu
    }
    rows = {"a": ["d2", "c2", "e2", "b2", "f2"], "b": ["d6", "e6", "c6", "f6", "b6"]}
    loser: Side = "b" if winner == "a" else "a"
    none = (False, False)
    assert [(True, False), (False, True), none, none, none] == [shown[winner, cell] for cell in rows[winner]]
    assert [(False, True), none, none, none, none] == [shown[loser, cell] for cell in rows[loser]]
    assert 10 == len(shown)
    full, pale, rest = (
        sum(scene.drive.board.wire()[3 * cell : 3 * cell + 3]) for cell in map(morbak.parse_cell, rows[winner][:3])
    )
    assert full > pale > rest > 0
