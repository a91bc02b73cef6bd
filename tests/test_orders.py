"""What an operator orders at the table: in its turn, through the journal, and never against whoever plays."""

from __future__ import annotations

import pytest

from firmware.choosing import Chosen
from firmware.clock import Limits
from firmware.games import morbak
from firmware.orders import CLEAN_US, Order
from firmware.state import document
from tests.scene import BETWEEN_US, MS, NO_LIMITS, S, Scene, playing
from tests.test_operator import Answer


def order(scene: Scene, kind: str, cell: str = "a1", **changes: object) -> list[str | None]:
    """Give an order, let it have its turn, and return the answers."""
    answer = Answer()
    given = Order(kind, morbak.parse_cell(cell), tuple(changes.items()))  # type: ignore[arg-type]
    scene.drive.engine.act(given, scene.now_us, answer)
    scene.wait(50 * MS)
    return answer.given


def told(scene: Scene, key: str) -> object:
    return document(scene.table, scene.now_us, {})[key]


def test_a_masked_cell_counts_for_nothing_until_it_is_back() -> None:
    """Put out of use a cell refuses touches and is kept as chosen; put back it plays (case G11)."""
    scene = playing(limits=NO_LIMITS)
    assert [None] == order(scene, "mask", "d4")
    assert (["d4"], ("d4",)) == (told(scene, "masked"), scene.table.chosen.out)
    assert ([], "masked") == (scene.tap("d4"), scene.refusal)
    scene.wait(BETWEEN_US)
    assert [None] == order(scene, "unmask", "d4")
    assert ["d4"] == scene.tap("d4")


def test_a_finger_on_a_cell_that_is_masked_is_forgotten() -> None:
    """A finger that lies on the cell meanwhile makes no move, is not taken for a stuck contact, and harms no other."""
    scene = playing(limits=NO_LIMITS)
    scene.drive.board.contacts.press(24, scene.now_us)
    scene.wait(100 * MS)
    assert [None] == order(scene, "mask", "d4")
    scene.wait(25 * S)
    assert frozenset() == scene.table.stuck
    scene.drive.board.contacts.release(24, scene.now_us)
    scene.wait(BETWEEN_US)
    assert (["e5"], ["e5"]) == (scene.tap("e5"), [move.text for move in scene.table.game.moves])


def test_a_board_that_is_wiped_feels_nothing_for_30_s() -> None:
    """A running game is paused, touches and the button count for nothing, after 30 s a tap goes on (no move made)."""
    scene = playing(limits=NO_LIMITS)
    assert [None] == order(scene, "clean")
    left_us = scene.table.game.clocks.used_us
    for cell in ("a1", "d4", "g7"):
        assert [] == scene.tap(cell)
    scene.table.order(scene.now_us, scene.table.press_button)
    scene.wait(CLEAN_US - 2 * S)
    assert ("paused", left_us) == (scene.table.phase, scene.table.game.clocks.used_us)
    assert 0 < int(str(told(scene, "cleans_ms"))) < 2000
    scene.wait(2 * S)
    assert None is told(scene, "cleans_ms")
    scene.tap("d4")
    assert ("play", 0) == (scene.table.phase, len(scene.table.game.moves))


def test_wiping_before_the_lot_clears_the_board_and_wakes_nobody() -> None:
    """In the lobby there is no game to wait: the board is free, and no game begins under the cloth."""
    scene = Scene(limits=NO_LIMITS)
    scene.wait(50 * MS)
    scene.tap("d4")
    assert "lobby" == scene.table.phase
    assert [None] == order(scene, "clean")
    for _ in range(5):
        scene.tap("d4")
        scene.wait(5 * S)
    assert "attract" == scene.table.phase


@pytest.mark.parametrize("kind", ["end", "pause", "resume"])
def test_orders_without_a_game_are_refused(kind: str) -> None:
    """Where there is nothing to end, to pause or to go on with, the order says so and changes nothing."""
    scene = Scene(limits=NO_LIMITS)
    scene.wait(50 * MS)
    revision = scene.table.revision
    codes = {"end": "no_game", "pause": "not_in_play", "resume": "not_parked"}
    assert ([codes[kind]], revision) == (order(scene, kind), scene.table.revision)


def test_a_game_is_paused_goes_on_and_is_ended_by_order() -> None:
    """Paused by order the clocks stand, resumed they run, also of a parked game; ended the board is free (case G7)."""
    scene = playing()
    scene.moves("d4")
    assert ([None], "paused", None) == (order(scene, "pause"), scene.table.phase, scene.table.game.clocks.running)
    scene.wait(130 * S)
    assert "attract" == scene.table.phase
    assert ([None], "play") == (order(scene, "resume"), scene.table.phase)
    assert ["e5"] == [move for move in scene.tap("e5") if scene.wait(BETWEEN_US) is not None]
    assert ([None], "attract", None) == (order(scene, "end"), scene.table.phase, scene.table.game)


def test_what_an_operator_sets_counts_for_the_next_match() -> None:
    """Times and rules that are set leave the game in play alone; null goes back to the settings."""
    scene = playing()
    before = scene.table.match
    assert [None] == order(scene, "choose", total_s=300, move_s=0, rules="lite", series=3)
    assert before == scene.table.match
    order(scene, "end")
    wanted = (morbak.LITE, Limits(300 * S, None), 3)
    assert wanted == scene.table.match[:3]
    order(scene, "choose", total_s=None, move_s=None, rules=None, series=None)
    assert before == scene.table.match


def test_what_was_set_is_there_at_the_next_start() -> None:
    """A table that starts with what was set plays by it."""
    table = Scene(limits=NO_LIMITS).table
    again = type(table)(
        table.match, table.gesture.times, table.times, lambda: "a", chosen=Chosen(total_s=60, rules="lite")
    )
    assert (60 * S, morbak.LITE) == (again.match.limits.total_us, again.match.rules)


def test_the_code_for_operators_wants_a_hold_in_the_menu() -> None:
    """A tap on the menu's operator cell shows nothing, a hold shows the code until the menu closes."""
    scene = playing(limits=NO_LIMITS)
    scene.table.coded = True
    from sim.fingers import hold

    scene.do(hold("a1", 0, 2300 * MS), hold("g7", 0, 2300 * MS))
    assert "menu" == scene.table.phase
    scene.wait(BETWEEN_US)
    scene.tap("f2")
    assert scene.table.menu is not None
    assert (False, "hold") == (scene.table.menu.code, scene.refusal)
    scene.wait(BETWEEN_US)
    scene.tap("f2", 900 * MS)
    assert scene.table.menu.code
    scene.wait(31 * S)
    assert None is scene.table.menu
