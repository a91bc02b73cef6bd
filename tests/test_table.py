"""What touches mean, on wires: contacts that bounce go in, actions, refusals and phases come out."""

from __future__ import annotations

from itertools import combinations

import msgspec
import pytest

from firmware.clock import Limits
from firmware.games import morbak
from firmware.phases import PhaseTimes
from firmware.table import Played
from hal.profile import Profile, load, shipped
from sim.drive import Drive
from sim.faults import Faults
from sim.fingers import chord, hold, press, release, tap
from sim.flashes import Flashes
from tests.scene import BETWEEN_US, MS, NO_LIMITS, S, Scene, playing

OTHER = {"a": "b", "b": "a"}


# -- one finger ----------------------------------------------------------------------------------------------------


def test_releasing_an_empty_cell_lights_it() -> None:
    """A tap on an empty cell lights it in the mover's colour at its release."""
    scene = playing()
    mover = scene.table.game.mover
    assert [] == scene.do(press("d4", 0))
    assert ["d4"] == scene.do(release("d4", 0))
    assert morbak.cells(scene.table.game.state)[24] == mover


def test_every_cell_can_be_lit() -> None:
    """Each of the 49 cells lights by a tap, and by nothing shorter than a tap."""
    scene = playing(limits=NO_LIMITS)
    lit = 0
    for cell in range(49):
        if scene.table.phase == "result":
            break
        scene.wait(BETWEEN_US)
        name = morbak.cell_name(cell)
        assert [] == scene.tap(name, 6 * MS)
        assert [name] == scene.tap(name)
        lit += 1
    assert lit >= 7


def test_noise_is_no_move() -> None:
    """A contact closed for less than tap_min_us commits nothing and refuses nothing."""
    scene = playing()
    for closed_ms in range(1, 14):
        assert [] == scene.tap("c3", closed_ms * MS)
        assert scene.refusal is None


def test_a_press_of_30_ms_is_never_lost() -> None:
    """A touch of 30 ms acts wherever in an idle scan period it begins."""
    for offset_us in range(0, 5000, 250):
        scene = playing()
        scene.wait(1 * S + offset_us)
        assert ["c3"] == scene.tap("c3", 30 * MS)


def test_a_light_may_be_held_for_long() -> None:
    """An empty cell held longer than a hold still lights when it is released, up to 5 s."""
    assert ["c3"] == playing().do(hold("c3", 0, 4_900 * MS))


def test_a_cell_held_5_s_leaves_the_gesture() -> None:
    """A cell that stays down 5 s commits nothing when it is lifted at last, and play goes on meanwhile."""
    scene = playing()
    assert [] == scene.do(press("c3", 0), settle_us=5_050 * MS)
    assert ["d4"] == scene.tap("d4")
    assert [] == scene.do(release("c3", 0))
    scene.wait(BETWEEN_US)
    assert ["c3"] == scene.tap("c3")


# -- scarce actions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "action"),
    [(["d4"], "xd4"), (["d4", "a1"], "#d4"), (["d4", "xd4"], "!d4"), (["d4", "a1", "#d4"], "!d4")],
)
def test_scarce_actions_want_a_hold(before: list[str], action: str) -> None:
    """Permute, block and neutralise commit when the hold is complete, while the finger is still down."""
    scene = playing().moves(*before)
    cell = action[1:]
    begun_us = scene.now_us
    assert [] == scene.do(press(cell, 0), settle_us=790 * MS)
    (played,) = scene.wait(60 * MS)
    assert played.text == action
    assert 0 <= played.t_us - begun_us - 800 * MS <= 8 * MS
    assert [] == scene.do(release(cell, 0))


@pytest.mark.parametrize("held_ms", [30, 100, 400, 700, 785])
def test_a_hold_released_early_spends_nothing(held_ms: int) -> None:
    """A scarce action released early changes nothing and is answered with `hold`."""
    scene = playing().moves("d4")
    position = scene.position
    assert [] == scene.do(hold("d4", 0, held_ms * MS))
    assert ("hold", position) == (scene.refusal, scene.position)


def test_a_finished_hold_is_one_action() -> None:
    """A finger that stays down after its action is dead: it does not act for the opponent."""
    scene = playing().moves("d4", "a1")
    assert ["#d4"] == scene.do(hold("d4", 0, 4 * S))
    assert scene.refusal is None


# -- refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "before", "cell", "code"),
    [
        (morbak.STANDARD, ["d4", "xd4", "a1"], "d4", "own_permuted"),
        (morbak.STANDARD, ["d4", "a1", "#d4", "a2"], "d4", "own_blocked"),
        (morbak.STANDARD, ["d4", "xd4", "!d4"], "d4", "neutralised"),
        (morbak.Rules(0, True, 1), ["d4"], "d4", "no_pool"),
        (morbak.Rules(0, True, 1), ["d4", "a1"], "d4", "no_pool"),
        (morbak.Rules(7, False, 1), ["d4", "a1"], "d4", "block_off"),
        (morbak.Rules(7, True, 0), ["d4", "xd4"], "d4", "no_neutralisation"),
        (morbak.Rules(7, True, 0), ["d4", "a1", "#d4"], "d4", "no_neutralisation"),
    ],
)
def test_a_refused_touch_names_its_rule(rules: morbak.Rules, before: list[str], cell: str, code: str) -> None:
    """A touch the rules refuse changes nothing and names the rule, tapped or held."""
    scene = playing(rules=rules).moves(*before)
    position = scene.position
    for n, held_ms in enumerate((60, 1500), 1):
        assert [] == scene.do(hold(cell, 0, held_ms * MS))
        assert (code, n, position) == (scene.table.refusal.code, scene.table.refusal.n, scene.position)


def test_a_refusal_is_gone_at_the_next_press() -> None:
    """The reason stands until the next finger comes down, and the count goes on."""
    scene = playing().moves("d4")
    scene.tap("d4")
    scene.wait(10 * S)
    assert "hold" == scene.refusal
    scene.do(press("e5", 0))
    assert scene.refusal is None
    scene.do(release("e5", 0))
    scene.moves("#d4")
    scene.do(hold("e5", 0, 60 * MS))
    assert 2 == scene.table.refusal.n


# -- several fingers -------------------------------------------------------------------------------------------------


def test_two_fingers_of_both_sides_cancel_each_other() -> None:
    """While two cells are down nothing commits, whoever touches, until both are up; then play goes on."""
    scene = playing()
    assert [] == scene.do(hold("a1", 0, 900 * MS), hold("g7", 300 * MS, 300 * MS), hold("d4", 700 * MS, 900 * MS))
    assert ["d4"] == scene.tap("d4")


@pytest.mark.long
def test_no_pair_of_cells_ever_acts(prove: bool) -> None:
    """Two cells down together never act, whichever they are and whichever is lifted first."""
    scene = playing(limits=NO_LIMITS).moves("d4", "xd4", "c3", "c4")
    pairs = list(combinations(range(49), 2))
    for one, other in pairs if prove else pairs[::12]:
        assert [] == scene.do(hold(one, 0, 1000 * MS), hold(other, 10 * MS, 900 * MS))
        assert [] == scene.do(hold(other, 0, 50 * MS), hold(one, 10 * MS, 1000 * MS))


def test_a_second_finger_in_the_same_scan_cancels_too() -> None:
    """Two contacts that close in the same microsecond are two cells."""
    assert [] == playing().do(hold("a1", 0, 60 * MS), hold("b1", 0, 60 * MS))


def test_a_palm_is_ignored() -> None:
    """Four cells and more at once do nothing and refuse nothing."""
    scene = playing()
    assert [] == scene.do(chord(["c3", "c4", "d3", "d4", "e4"], 0, 700 * MS))
    assert (None, "play") == (scene.refusal, scene.table.phase)
    assert ["c3"] == scene.tap("c3")


def test_a_resting_hand_does_not_stop_play() -> None:
    """Cells that rest for 5 s count for nothing: neither as second cell nor as palm."""
    scene = playing()
    assert [] == scene.do(press("a1", 0), press("a2", 0), press("b1", 0), settle_us=5_100 * MS)
    scene.moves("d4", "xd4", "!d4")


def test_lifting_and_pressing_in_one_scan_keeps_the_move() -> None:
    """A finger that is lifted in the scan in which another comes down has acted; the other one is too quick."""
    scene = playing()
    assert ["a1"] == scene.do(hold("a1", 0, 100 * MS), hold("b2", 104 * MS, 60 * MS))


# -- turn and guard --------------------------------------------------------------------------------------------------


def test_a_quick_second_tap_plays_nothing() -> None:
    """After a commit presses are dead for 250 ms, so nobody plays the opponent's move."""
    for gap_ms in range(5, 236, 10):
        assert ["a1"] == playing().do(tap("a1", 0), tap("b2", (60 + gap_ms) * MS))


def test_a_press_after_the_guard_plays() -> None:
    """A press 260 ms after a commit is the opponent's move."""
    assert ["a1", "b2"] == playing().do(tap("a1", 0), tap("b2", 60 * MS + 262 * MS))


def test_a_finger_down_when_the_turn_changes_is_dead() -> None:
    """A finger put down within the guard stays dead until lifted, however long it is held."""
    scene = playing()
    assert ["a1"] == scene.do(tap("a1", 0), hold("b2", 150 * MS, 2000 * MS))
    scene.wait(BETWEEN_US)
    assert ["b2"] == scene.tap("b2")


def test_fingers_on_the_board_at_power_up_are_dead() -> None:
    """A hand that lies on the board at power-up does nothing until lifted (case D27)."""
    drive = Drive()
    for cell in (24, 25):
        drive.board.contacts.press(cell, 0)
    scene = Scene(drive)
    scene.wait(1 * S)
    scene.do(release(24, 0), release(25, 0))
    assert "attract" == scene.table.phase
    scene.tap("d4")
    assert "lobby" == scene.table.phase


# -- broken contacts -------------------------------------------------------------------------------------------------


def test_a_stuck_contact_does_not_stop_the_game() -> None:
    """A contact that is closed for ever is dead, reported after 20 s, and every other cell plays (case G11)."""
    scene = Scene(faults=Faults(stuck=frozenset({24})))
    scene.wait(1 * S)
    scene.tap("a1")
    scene.wait(5 * S)
    assert ["a1"] == scene.tap("a1")
    assert frozenset() == scene.table.stuck
    scene.wait(14 * S)
    assert frozenset({24}) == scene.table.stuck
    scene.drive.engine.check(scene.now_us)
    assert "d4" in scene.drive.engine.document(scene.now_us)["health"]["parts"]["cells"]["text"]
    assert ["b1"] == scene.tap("b1")


def test_a_ghost_rectangle_is_never_a_move() -> None:
    """Without diodes three fingers show four cells: nothing acts until all are up (case D1)."""
    scene = playing(faults=Faults(diodes=False), profile=without_diodes())
    assert [] == scene.do(hold("a1", 0, 900 * MS), hold("b1", 20 * MS, 900 * MS), hold("a2", 40 * MS, 900 * MS))
    assert scene.table.snapshot.ghosts_until_us is not None
    assert ["b2"] == scene.tap("b2")


def test_ghosts_that_come_and_go_do_not_flash() -> None:
    """A finger that makes a ghost again and again lights no cell more than three times in any second."""
    scene = playing(faults=Faults(diodes=False), profile=without_diodes())
    flashes = Flashes(wire=True)
    scene.drive.board.strip.on_latch.append(flashes.see)
    drumming = [hold("a7", 500 * MS + turn * 220 * MS, 198 * MS) for turn in range(20)]
    assert [] == scene.do(hold("a1", 0, 10 * S), hold("g1", 10 * MS, 10 * S), *drumming)
    assert flashes.worst <= 3


@pytest.mark.parametrize("early_ms", range(20, 101, 10))
def test_a_touch_at_the_end_of_a_pattern_does_not_blink(early_ms: int) -> None:
    """A short touch that ends as a refusal ends keeps its light for its least time, or shows none."""
    scene = playing(limits=NO_LIMITS).moves("d4", "xd4", "!d4")
    scene.tap("d4")
    (pattern,) = scene.table.snapshot.patterns
    flashes = Flashes(wire=True)
    scene.drive.board.strip.on_latch.append(flashes.see)
    end_us = pattern.start_us + 1 * S - scene.now_us
    scene.do(hold("d4", end_us - early_ms * MS, (early_ms - 2) * MS), hold("d4", end_us + 12 * MS, 60 * MS))
    scene.wait(2 * S)
    assert flashes.gap_us() >= 320 * MS  # 340 ms, seen in frames 1/60 s apart


def test_three_fingers_in_one_scan_are_no_hold() -> None:
    """Fingers that make a ghost in the very scan they come in spoil the touch that was under way."""
    scene = playing(faults=Faults(diodes=False, bounce_us=0), profile=without_diodes()).moves("a1")
    assert [] == scene.do(hold("a1", 0, 1500 * MS), hold("b1", 100 * MS, 1200 * MS), hold("a2", 100 * MS, 1200 * MS))
    assert ["xa1"] == scene.do(hold("a1", 0, 900 * MS))


# -- time ------------------------------------------------------------------------------------------------------------


def test_a_missed_turn_passes_at_its_microsecond() -> None:
    """When the move time is over the turn passes, at the limit itself, and the time counts in the total."""
    scene = playing(limits=Limits(900 * S, 3 * S))
    begun_us, mover = scene.table.phase_us, scene.table.game.mover
    assert [Played(begun_us + 3 * S, "--")] == scene.wait(4 * S)
    assert (OTHER[mover], [0]) == (scene.table.game.mover, scene.table.game.timeouts)
    assert 897 * S == scene.table.game.clocks.left_us(mover, scene.now_us)


def test_three_time_outs_running_park_the_game() -> None:
    """After three missed turns in a row the game is paused and its clocks stand; a tap goes on, and is no move."""
    scene = playing(limits=Limits(900 * S, 3 * S))
    assert ["--", "--", "--"] == [played.text for played in scene.wait(10 * S)]
    assert "paused" == scene.table.phase
    left_us = [scene.table.game.clocks.left_us(side, scene.now_us) for side in "ab"]
    scene.wait(60 * S)
    assert left_us == [scene.table.game.clocks.left_us(side, scene.now_us) for side in "ab"]
    assert [] == scene.tap("d4")
    assert ("play", 3) == (scene.table.phase, len(scene.table.game.moves))
    scene.wait(BETWEEN_US)
    assert ["d4"] == scene.tap("d4")


def test_an_action_between_breaks_the_row_of_time_outs() -> None:
    """Only time-outs running count: an action in between starts the count anew."""
    scene = playing(limits=Limits(900 * S, 3 * S))
    scene.wait(7 * S)
    assert ["d4"] == scene.tap("d4")
    scene.wait(7 * S)
    assert "play" == scene.table.phase


def test_the_total_time_loses_the_game() -> None:
    """A side whose total time is over has lost, and in the same instant as the move time too."""
    for limits in (Limits(4 * S, None), Limits(4 * S, 4 * S)):
        scene = playing(limits=limits)
        mover = scene.table.game.mover
        assert [] == scene.wait(5 * S)
        assert ("result", OTHER[mover], "time") == (scene.table.phase, *scene.table.game.ending[:2])


@pytest.mark.parametrize("before_us", range(-2_000, 12_001, 500))
def test_an_action_finished_before_the_limit_beats_it(before_us: int) -> None:
    """A release before the limit acts even if it is debounced after it; one after the limit does not."""
    scene = playing(limits=Limits(900 * S, 3 * S), faults=Faults(bounce_us=0))
    limit_us = scene.table.phase_us + 3 * S
    scene.wait(limit_us - before_us - 60 * MS - scene.now_us)
    scene.do(tap("d4", 0))
    # a scan a millisecond sees the release up to 1 ms late; what it sees at the limit itself is in time
    scanned_us = -(-(limit_us - before_us) // MS) * MS
    assert ("d4" if scanned_us <= limit_us else "--") == scene.table.game.moves[0].text


def test_a_hold_that_is_complete_at_the_limit_beats_it() -> None:
    """A hold complete before the limit acts although it is judged after it."""
    scene = playing(limits=Limits(900 * S, 3 * S), faults=Faults(bounce_us=0)).moves("d4")
    limit_us = scene.table.game.clocks.deadline.t_us
    scene.wait(limit_us - 806 * MS - scene.now_us)
    assert ["xd4"] == scene.do(hold("d4", 0, 900 * MS))


def test_a_finger_that_holds_through_the_limit_is_dead() -> None:
    """A hold that is not complete at the limit does not act for the opponent."""
    scene = playing(limits=Limits(900 * S, 3 * S)).moves("d4", "a1")
    limit_us = scene.table.game.clocks.deadline.t_us
    scene.wait(limit_us - 400 * MS - scene.now_us)
    assert ["--"] == scene.do(hold("d4", 0, 2 * S))


def test_both_limits_may_be_off() -> None:
    """Without limits nobody is ever out of time."""
    scene = playing(limits=NO_LIMITS, phase_times=PhaseTimes(park_us=7_200 * S))
    assert [] == scene.wait(3600 * S)
    assert "play" == scene.table.phase


# -- around a game -----------------------------------------------------------------------------------------------------


def test_a_tap_leads_from_attract_to_play_within_5_s() -> None:
    """One tap on any cell leads through lobby and lot to play within 5 s, and is no move."""
    for cell in range(0, 49, 8):
        scene = Scene(seed=cell)
        scene.wait(100 * MS)
        assert [] == scene.do(tap(cell, 0))
        assert ("lobby", None) == (scene.table.phase, scene.table.game)
        assert [] == scene.wait(5 * S)
        assert ("play", []) == (scene.table.phase, scene.table.game.moves)


def test_the_lot_is_drawn_for_either_side() -> None:
    """Over some seeds both sides start, and the same seed draws the same lot."""
    starters = [playing(seed=seed).table.game.starter for seed in range(12)]
    assert {"a", "b"} == set(starters)
    assert starters[:4] == [playing(seed=seed).table.game.starter for seed in range(4)]


def test_other_taps_in_the_lobby_do_nothing() -> None:
    """Taps while the lobby or the lot shows change nothing, and one held into play is dead."""
    scene = Scene()
    scene.wait(100 * MS)
    scene.tap("d4")
    for _ in range(10):
        assert [] == scene.tap("d4", 300 * MS)
    assert [] == scene.do(hold("d4", 0, 3 * S))
    assert ("play", []) == (scene.table.phase, scene.table.game.moves)


def test_a_line_wins_and_the_loser_starts_the_rematch() -> None:
    """Four in a line end the game; deaf for 3 s, then a tap is a rematch, which the loser starts without a lot."""
    scene = playing().moves("a1", "a7", "b1", "b7", "c1", "c7")
    starter = scene.table.game.starter
    assert ["d1"] == scene.tap("d1")
    assert ("result", starter, "line") == (scene.table.phase, *scene.table.game.ending[:2])
    assert (0, 1, 2, 3) == scene.table.game.ending.line
    for _ in range(8):
        assert [] == scene.tap("e4", 200 * MS)
    assert "result" == scene.table.phase
    scene.wait(1500 * MS)
    assert [] == scene.tap("e4")
    assert ("lobby", OTHER[starter]) == (scene.table.phase, scene.table.game.starter)
    assert scene.table.snapshot.lot_us is None
    scene.wait(5 * S)
    assert ("play", OTHER[starter]) == (scene.table.phase, scene.table.game.mover)


def test_a_result_nobody_touches_returns_to_attract() -> None:
    """A result is shown for 2 min after the last touch, then the board invites again."""
    scene = playing(limits=Limits(4 * S, None))
    scene.wait(60 * S)
    assert "result" == scene.table.phase
    scene.wait(70 * S)
    assert ("attract", None) == (scene.table.phase, scene.table.game)


def test_a_pause_nobody_touches_parks_the_game() -> None:
    """After 2 min a paused game is parked under the invitation; one tap leads back to it, a second one to play."""
    scene = playing(limits=Limits(900 * S, 3 * S))
    scene.wait(10 * S)
    assert "paused" == scene.table.phase
    position, left_us = scene.position, scene.table.game.clocks.used_us
    scene.wait(130 * S)
    assert "attract" == scene.table.phase
    scene.wait(3600 * S)
    assert (position, left_us) == (scene.position, scene.table.game.clocks.used_us)
    assert [] == scene.tap("d4")
    assert "paused" == scene.table.phase
    scene.wait(BETWEEN_US)
    assert [] == scene.tap("d4")
    assert ("play", position) == (scene.table.phase, scene.position)


def test_a_side_without_an_action_passes_at_once() -> None:
    """A forced pass is played by the board, costs no time and is told; with none on both sides it is a draw."""
    rules = morbak.Rules(pool=0, block=False, neutralisations=0)
    scene = playing(rules=rules, limits=NO_LIMITS)
    # columns in pairs of two rows: no four in a line for either side
    order = [cell for cell in range(49) if pattern(cell) == "a"], [cell for cell in range(49) if pattern(cell) == "b"]
    first, second = order if len(order[0]) >= len(order[1]) else order[::-1]
    played: list[str] = []
    for turn in range(49):
        cells = first if turn % 2 == 0 else second
        scene.wait(BETWEEN_US)
        played += scene.do(tap(cells[turn // 2], 0))
    assert 49 == len(played)
    assert ("result", "draw", "stalemate") == (scene.table.phase, *scene.table.game.ending[:2])
    starter = scene.table.game.starter
    scene.wait(4 * S)
    scene.tap("d4")
    assert OTHER[starter] == scene.table.game.starter


def pattern(cell: int) -> str:
    """A full board without four in a line for either side."""
    row, column = divmod(cell, 7)
    return "ab"[(column // 2 + row) % 2]


def without_diodes() -> Profile:
    profile = load(shipped("sim"))
    return profile._replace(matrix=msgspec.structs.replace(profile.matrix, diodes=False))


def test_a_win_by_a_special_move_shows_its_line_at_once() -> None:
    """What is left to both sides does not lie over a result."""
    scene = playing(limits=NO_LIMITS).moves("a1", "d1", "b1", "d7", "c1", "g7")
    assert ["xd1"] == scene.do(hold("d1", 0, 900 * MS))
    assert ("result", None) == (scene.table.phase, scene.table.snapshot.pips)
