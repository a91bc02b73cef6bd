"""Contacts out of sight: the time in which nobody could touch anything is nobody's (cases E1, E6, G16)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from firmware.clock import Limits
from firmware.orders import Order
from firmware.replay import Replay
from firmware.sight import Sight, Unseen
from firmware.state import document
from hal.ports import Edge, Scan
from sim.faults import HEALTHY
from sim.fingers import Finger, chord, hold
from tests.scene import MS, NO_LIMITS, S, Scene, playing

BROKEN = replace(HEALTHY, lines_fail_rate=1)
# A scan while idle, the release debounce, and that a virtual scan comes when it is due.
SLACK_US = 50 * MS


def breaks(scene: Scene, for_us: int) -> None:
    """The contacts do not answer for so long, and then do again."""
    scene.drive.board.change(BROKEN)
    scene.wait(for_us)
    scene.drive.board.change(HEALTHY)
    scene.wait(SLACK_US)


def order(scene: Scene, act: Callable[[int], object]) -> None:
    """Have something done now, in its turn."""
    scene.table.order(scene.now_us, act)
    scene.drive.engine.saved(scene.now_us)
    scene.wait(SLACK_US)


def left_ms(scene: Scene) -> tuple[int, int]:
    told = document(scene.table, scene.now_us, {})
    return told["clocks_ms"]["b"], told["move_left_ms"]


# -- what is out of sight ------------------------------------------------------------------------------------------


def scans(*times: tuple[int, int]) -> list[Unseen | None]:
    """What scans at so many ms that know up to so many ms show."""
    sight = Sight()
    return [sight.step(Scan(t_ms * MS, (), 0, known_ms * MS, 1)) for t_ms, known_ms in times]


def test_scans_that_come_in_time_lose_nothing() -> None:
    """A second between two scans is none too much, whether or not scans between them know nothing."""
    assert [None] * 3 == scans((30, 10), (1030, 1010), (2030, 2010))
    assert [None] * 3 == scans((30, 10), (1010, 10), (1030, 1010))


def test_a_board_that_was_never_seen_cannot_be_lost() -> None:
    """Before the first scan that knows anything, as in the deaf half second at power-up, nothing is told."""
    assert [None] * 3 == scans((30, -10), (5000, 0), (9000, 8990))


def test_a_loss_is_told_once_and_once_its_end() -> None:
    """From the last time that is known to the first scan that knows more."""
    lost = scans((30, 10), (1010, 10), (1011, 10), (1500, 10), (9000, 8990), (9010, 9000))
    assert [None, None, Unseen(10 * MS, None), None, Unseen(10 * MS, 9000 * MS), None] == lost


def test_scans_that_did_not_come_are_a_loss_as_well() -> None:
    """A computer that stood still for longer than a second has seen nothing meanwhile."""
    assert [None, Unseen(10 * MS, 1031 * MS), None] == scans((30, 10), (1031, 1011), (1032, 1012))


# -- what becomes of the game --------------------------------------------------------------------------------------


def test_clocks_stand_still_while_the_contacts_are_dead() -> None:
    """Ten minutes out of sight cost no time and no turn, and are shown as standing clocks; then the game goes on."""
    scene = playing().moves("d4")
    before = left_ms(scene)
    scene.drive.board.change(BROKEN)
    scene.wait(2 * S)
    lost = left_ms(scene)
    assert all(abs(was - now) <= SLACK_US // MS for was, now in zip(before, lost, strict=True))
    assert [] == scene.wait(600 * S)
    assert lost == left_ms(scene)
    scene.drive.board.change(HEALTHY)
    scene.wait(SLACK_US)
    assert all(abs(was - now) <= SLACK_US // MS for was, now in zip(lost, left_ms(scene), strict=True))
    assert ["e5"] == scene.tap("e5")
    scene.wait(119 * S)
    assert ("play", []) == (scene.table.phase, scene.wait(0))
    assert ["--"] == [played.text for played in scene.wait(2 * S)]


def test_the_time_is_not_running_low_while_nobody_can_touch() -> None:
    """The lights warn of a time that runs out, not of one that stands."""
    scene = playing().moves("d4")
    scene.wait(60 * S)
    assert scene.table.snapshot.low_us is not None
    left_us = scene.table.snapshot.low_us - scene.now_us
    scene.drive.board.change(BROKEN)
    scene.wait(100 * S)
    assert None is scene.table.snapshot.low_us
    scene.drive.board.change(HEALTHY)
    scene.wait(SLACK_US)
    assert scene.table.snapshot.low_us is not None
    assert abs(left_us - (scene.table.snapshot.low_us - scene.now_us)) <= SLACK_US


def test_nobody_falls_asleep_out_of_sight() -> None:
    """The five minutes without a touch go on where they were; so does the countdown at their end."""
    scene = playing(limits=NO_LIMITS).moves("d4")
    touched_us = scene.table._touched_us
    scene.wait(290 * S)
    scene.drive.board.change(BROKEN)
    scene.wait(100 * S)
    assert ("play", None, None) == (scene.table.phase, scene.table.countdown, scene.table.snapshot.countdown)
    scene.drive.board.change(HEALTHY)
    scene.wait(SLACK_US)
    assert "play" == scene.table.phase
    scene.wait(touched_us + 399 * S - scene.now_us)
    assert "play" == scene.table.phase
    scene.wait(2 * S)
    assert "paused" == scene.table.phase


def test_fingers_that_were_out_of_sight_are_dead() -> None:
    """Neither a hold that was not seen to its end acts, nor a finger that came down unseen; the next touch does."""
    scene = playing().moves("d4", "e5", "a1")  # b may permute d4
    start_us = scene.now_us
    scene.drive.fingers([Finger(start_us, 24, True), Finger(start_us + 3 * S, 0, True)])
    scene.wait(400 * MS)
    scene.drive.board.change(BROKEN)
    scene.wait(2 * S)
    assert () == scene.table.snapshot.touches
    breaks(scene, 20 * S)
    scene.wait(2 * S)
    scene.drive.fingers([Finger(scene.now_us, 24, False), Finger(scene.now_us, 0, False)])
    assert [] == scene.wait(S)
    assert () == scene.table.snapshot.touches
    assert ["xd4"] == scene.do(hold("d4", 0, 900 * MS))


def test_a_finger_out_of_sight_has_rested_since_it_was_seen() -> None:
    """It is reported as stuck after 20 s in which the contact was seen to be closed."""
    scene = playing()
    scene.drive.fingers([Finger(scene.now_us, 0, True)])
    scene.wait(400 * MS)
    breaks(scene, 30 * S)
    scene.wait(19 * S)
    assert frozenset() == scene.table.masked
    scene.wait(2 * S)
    assert {0} == scene.table.masked


def test_what_is_asked_in_the_menu_waits() -> None:
    """A request is refused after 15 s in which it could be answered."""
    scene = playing().moves("d4")
    scene.do(chord(("a1", "g7"), 0, 2100 * MS))
    scene.wait(S)
    scene.tap("a1")  # pause, please
    assert scene.table.menu is not None and scene.table.menu.asked is not None
    breaks(scene, 60 * S)
    assert scene.table.menu is not None and scene.table.menu.asked is not None
    scene.wait(13 * S)
    assert scene.table.menu is not None and scene.table.menu.asked is not None
    scene.wait(2 * S)
    assert scene.table.menu is not None and scene.table.menu.asked is None
    scene.wait(20 * S)
    breaks(scene, 60 * S)
    assert scene.table.menu is not None
    scene.wait(10 * S)
    assert None is scene.table.menu


def test_a_game_does_not_start_out_of_sight() -> None:
    """The lobby and its lot wait for contacts; then the first turn has all of its time."""
    scene = Scene()
    scene.wait(50 * MS)
    scene.tap("d4")
    scene.wait(4 * S)
    lot_us = scene.table.lot_us
    assert lot_us is not None
    breaks(scene, 60 * S)
    assert "lobby" == scene.table.phase
    scene.wait(S)
    assert "play" == scene.table.phase
    assert 119 * S < 1000 * left_ms(scene)[1]


def test_the_lot_is_not_drawn_out_of_sight() -> None:
    """Whoever can still open the options with two corners is given all of the time for it."""
    scene = Scene()
    scene.wait(50 * MS)
    scene.tap("d4")
    scene.wait(S)
    breaks(scene, 60 * S)
    scene.wait(100 * MS)
    assert ("lobby", None) == (scene.table.phase, scene.table.lot_us)


def test_the_start_button_pauses_out_of_sight() -> None:
    """A game that was paused while the contacts did not answer stays so, and its clocks stand."""
    scene = playing().moves("d4")
    scene.drive.board.change(BROKEN)
    scene.wait(10 * S)
    scene.table.order(scene.now_us, scene.table.press_button)
    scene.wait(10 * S)
    scene.drive.board.change(HEALTHY)
    scene.wait(SLACK_US)
    before = left_ms(scene)
    scene.wait(5 * S)
    assert ("paused", before) == (scene.table.phase, left_ms(scene))


def test_an_operator_may_act_before_the_contacts_are_back() -> None:
    """The turn that begins out of sight has all of its time from when the contacts are back."""
    scene = playing(limits=Limits(None, 120 * S)).moves("d4")
    scene.drive.board.change(BROKEN)
    scene.wait(10 * S)
    game = scene.table.game
    assert game is not None
    scene.table.order(scene.now_us, lambda t_us: scene.table._play(20, t_us))
    scene.wait(300 * S)
    scene.drive.board.change(HEALTHY)
    assert ["g3"] == [played.text for played in scene.wait(SLACK_US)]
    assert 120 * S - 2 * SLACK_US <= 1000 * (document(scene.table, scene.now_us, {})["move_left_ms"] or 0)


@pytest.mark.parametrize("story", ["menu", "pause", "clean", "resume"])
def test_what_is_ordered_out_of_sight_leaves_no_clock_that_stands_in_play_or_runs_beside_it(story: str) -> None:
    """The button closes a menu, an operator pauses, has the board wiped, goes on: a clock runs where a game does, with
    the time it had."""
    scene = playing().moves("d4")
    if story == "menu":
        scene.do(chord(("a1", "g7"), 0, 2100 * MS))
    elif story == "resume":
        order(scene, scene.table.press_button)
    scene.wait(S)
    before = left_ms(scene)
    scene.drive.board.change(BROKEN)
    scene.wait(10 * S)
    refused = []
    if story == "menu":
        order(scene, scene.table.press_button)
    else:
        ordered = Order(story)  # type: ignore[arg-type]
        order(scene, lambda t_us: refused.append(scene.table.obey(ordered, t_us)))
    scene.wait(10 * S)
    scene.drive.board.change(HEALTHY)
    scene.wait(SLACK_US)
    assert {None} >= set(refused)
    assert all(abs(was - now) <= SLACK_US // MS for was, now in zip(before, left_ms(scene), strict=True))
    scene.wait(5 * S)
    goes_on = story in ("menu", "resume")
    assert scene.table.game is not None
    running = scene.table.game.clocks.running
    assert ("play", "paused")[not goes_on] == scene.table.phase
    assert (scene.table.game.mover if goes_on else None) == running


def test_a_result_that_nobody_has_touched_waits() -> None:
    """The two minutes after a game that was lost on time go on where they were."""
    scene = playing(limits=Limits(60 * S, None)).moves("d4")
    scene.wait(65 * S)
    assert "result" == scene.table.phase
    breaks(scene, 100 * S)
    scene.wait(100 * S)
    assert "result" == scene.table.phase
    scene.wait(20 * S)
    assert "attract" == scene.table.phase


def test_a_replay_goes_on_where_it_was() -> None:
    """Positions that could not be shown are not passed over."""
    scene = playing(limits=NO_LIMITS).moves("d4", "e5", "a1", "b2", "c6", "f3")
    game = scene.table.game
    assert game is not None
    order(scene, scene.table.press_button)
    order(scene, lambda t_us: scene.table.show(Replay(game, 1, t_us, 900 * MS)))
    scene.wait(S)
    assert scene.table.replay is not None
    assert 1 == scene.table.replay.at
    breaks(scene, 60 * S)
    assert scene.table.replay is not None
    assert 1 == scene.table.replay.at


@pytest.mark.parametrize("late", [False, True])
def test_edges_from_out_of_sight_do_not_act(late: bool) -> None:
    """A device that tells later what was touched meanwhile is too late: a tap that nobody saw lit is no move."""
    scene = playing().moves("d4")
    table, t_us = scene.table, scene.now_us
    edges = (Edge(t_us + 3 * S, 0, True), Edge(t_us + 4 * S, 0, False))
    if late:
        table.unseen(t_us, None)
        table.advance(t_us)
        table.feed(Scan(t_us + 5 * S, edges[:1], 0, t_us + 5 * S, 1))
        assert () == table.snapshot.touches
        table.feed(Scan(t_us + 5 * S, edges[1:], 0, t_us + 5 * S, 1))
        table.unseen(t_us, t_us + 5 * S)
    else:
        table.unseen(t_us, t_us + 5 * S)
        table.feed(Scan(t_us + 5 * S, edges, 0, t_us + 5 * S, 1))
    table.advance(t_us + 5 * S)
    assert [] == table.take_played()
    assert not table.gesture.down
