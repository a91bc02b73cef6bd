"""The suite notices: with a part broken on purpose the tests that should hold it go red."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.breakers import BREAKS

ROOT = Path(__file__).parent.parent
TABLE = "tests/test_table.py::"
SOAK = "tests/test_cli.py::test_a_short_soak_finds_nothing_and_repeats"
LATENCY = "tests/test_drive.py::test_a_press_is_answered_within_7_ms_while_scanning_fast"
# Which tests must notice which break: one in the part itself or on wires, and for what the promises hang on a second
# one that knows nothing of the code (the oracle of the soak).
CANARIES = [
    ("debouncer_gone", "tests/test_sim_board.py::test_every_cell_is_felt_once"),
    ("debouncer_gone", "tests/test_debounce.py::test_a_release_counts_once_it_has_lasted"),
    ("debouncer_slow", LATENCY),
    ("edges_stamped_when_handled", TABLE + "test_an_action_finished_before_the_limit_beats_it"),
    ("ghost_check_gone", "tests/test_matrix.py::test_ambiguous_cells_keep_their_state_until_the_rectangle_is_gone"),
    ("ghost_check_gone", "tests/test_sim_board.py::test_ghosts_are_flagged_on_a_board_without_diodes"),
    ("edges_lost_in_the_queue", "tests/test_app.py::test_a_slow_loop_loses_nothing_and_keeps_the_order"),
    ("losses_untold", "tests/test_app.py::test_a_full_queue_keeps_the_oldest_and_counts_the_rest"),
    ("guard_gone", TABLE + "test_a_quick_second_tap_plays_nothing"),
    ("guard_gone", SOAK),
    ("dead_fingers_live", TABLE + "test_a_finger_that_holds_through_the_limit_is_dead"),
    ("noise_accepted", TABLE + "test_noise_is_no_move"),
    ("noise_accepted", SOAK),
    ("second_cell_ignored", TABLE + "test_two_fingers_of_both_sides_cancel_each_other"),
    ("second_cell_ignored", SOAK),
    ("hold_too_short", TABLE + "test_scarce_actions_want_a_hold"),
    ("resting_hand_blocks", TABLE + "test_a_resting_hand_does_not_stop_play"),
    ("deadlines_do_not_wait", TABLE + "test_an_action_finished_before_the_limit_beats_it"),
    ("limits_beat_actions", TABLE + "test_an_action_finished_before_the_limit_beats_it"),
    ("preview_waits", LATENCY),
    ("refusal_code_wrong", TABLE + "test_a_refused_touch_names_its_rule"),
    ("clock_never_runs_out", TABLE + "test_a_missed_turn_passes_at_its_microsecond"),
    ("turn_kept", TABLE + "test_a_missed_turn_passes_at_its_microsecond"),
    ("winner_starts", TABLE + "test_a_line_wins_and_the_loser_starts_the_rematch"),
    ("waking_touch_plays", "tests/test_parking.py::test_a_touch_in_the_countdown_wakes_and_is_no_move"),
    ("parked_game_lost", "tests/test_parking.py::test_a_parked_game_is_never_lost"),
    ("consent_to_oneself", "tests/test_menu.py::test_nobody_can_agree_with_himself"),
    ("takeback_keeps_pools", "tests/test_takeback.py::test_everything_is_taken_back_to_the_first_action"),
    ("commit_not_awaited", "tests/test_keeper.py::test_the_next_action_waits_for_the_commit"),
    ("clock_not_saved", "tests/test_keeper.py::test_a_running_clock_is_never_5_s_behind"),
    ("result_played_on", "tests/test_restart.py::test_a_result_stands_after_a_restart_and_the_series_goes_on"),
    ("checksums_ignored", "tests/test_journal_rescue.py::test_no_bit_of_a_line_flips_unnoticed"),
    ("written_in_place", "tests/test_kept_file.py::test_a_power_cut_at_any_moment_leaves_the_old_or_the_new"),
    ("line_unseen", "tests/test_cli.py::test_every_known_game_replays_to_itself"),
    ("rise_gap_ignored", "tests/test_previews.py::test_a_refusal_waits_for_its_gap_and_is_not_restarted"),
    ("limiter_gone", "tests/test_sim_board.py::test_no_frame_asks_for_more_than_the_supply_gives"),
    ("limiter_gone", "tests/test_pixels.py::test_no_sequence_of_frames_asks_too_much"),
    ("ramp_gone", "tests/test_pixels.py::test_no_sequence_of_frames_asks_too_much"),
    ("leds_off_by_one", "tests/test_pixels.py::test_the_chain_gets_its_order"),
    ("colours_swapped", "tests/test_pixels.py::test_the_chain_gets_its_order"),
    ("latch_gap_short", "tests/test_ws2812.py::test_every_frame_includes_its_latch"),
    ("leds_left_lit", "tests/test_app.py::test_the_leds_are_dark_after_a_stop"),
    ("lease_never_ends", "tests/test_touches.py"),
]
# What these runs do without: a cache, and plugins that take longer to import than a canary to sing.
SPARED = [word for plugin in ("cacheprovider", "hypothesispytest", "anyio") for word in ("-p", f"no:{plugin}")]
Ended = subprocess.CompletedProcess[str]


def run(broken: str, tests: str) -> Ended:
    """Run some tests in a process of their own, with a part broken or none."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-rf", "-p", "tests.breakers", *SPARED, tests]
    environment = {**os.environ, "MORBAK_BREAK": broken, "MORBAK_SEED": "1", "MORBAK_PROVE": "0", "COLUMNS": "200"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture(scope="module")
def ended() -> Iterator[dict[tuple[str, str], Future[Ended]]]:
    """Every canary, two at a time."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        yield {canary: pool.submit(run, *canary) for canary in CANARIES}


@pytest.mark.parametrize("canary", CANARIES, ids=lambda canary: f"{canary[0]}-{canary[1].rpartition('::')[2]}")
def test_a_broken_part_turns_the_suite_red(
    canary: tuple[str, str], ended: dict[tuple[str, str], Future[Ended]]
) -> None:
    """A test that should hold the broken part fails, by a comparison and not by a crash of the break itself."""
    result = ended[canary].result()
    assert 1 == result.returncode, result.stdout + result.stderr
    failed = re.findall(r"^FAILED .*? - (.*)$", result.stdout, re.MULTILINE)
    assert 1 == len(failed), result.stdout
    assert re.match(r"assert |AssertionError", failed[0]), result.stdout


def test_the_harness_itself_breaks_nothing() -> None:
    """The same run without a break is green."""
    result = run("", TABLE + "test_noise_is_no_move")
    assert (0, "1 passed") == (result.returncode, result.stdout.splitlines()[-1].partition(" in ")[0])


def test_every_break_has_its_canary() -> None:
    """No break waits in vain for a test that notices it."""
    assert set(BREAKS) == {broken for broken, _ in CANARIES}
