"""Cells that cannot be touched: stuck ones mask themselves, others are put out of use; both stay playable."""

from __future__ import annotations

import msgspec
import pytest

from firmware.choosing import Chosen
from firmware.detours import cell_of, detours
from firmware.games import morbak
from firmware.menu import PLACES
from firmware.snapshot import Side
from firmware.state import document
from hal.matrix import detour
from hal.profile import load, shipped
from sim.fingers import Finger, chord, hold, tap
from tests.scene import BETWEEN_US, MS, NO_LIMITS, S, Scene, playing

cell = morbak.parse_cell


@pytest.fixture
def no_diodes() -> Scene:
    """A game on a matrix without diodes that knows it has none."""
    sim = load(shipped("sim"))
    profile = sim._replace(matrix=msgspec.structs.replace(sim.matrix, diodes=False))
    return playing(profile=profile, limits=NO_LIMITS)


def without(*names: str, **options: object) -> Scene:
    """A game on a board some of whose cells are out of use."""
    scene = playing(limits=NO_LIMITS, **options)
    scene.table.put_out(frozenset(map(cell, names)))
    return scene


def test_every_cell_inside_has_four_pairs_of_its_own() -> None:
    """Each pair of edge cells stands for one cell: its row's and its column's; cells on the edge have none."""
    found = detours(range(49), 1)
    assert 4 * 25 == len(found)
    for pair, made in found.items():
        masked = cell_of(made.name)
        first, second = sorted(pair, key=lambda edge: edge // 7 != masked // 7)
        assert (masked // 7, masked % 7) == (first // 7, second % 7)
        assert first % 7 in (0, 6)
        assert second // 7 in (0, 6)
        assert masked not in pair


@pytest.mark.parametrize("pair", [("a4", "d1"), ("a4", "d7"), ("g4", "d1"), ("g4", "d7")])
def test_a_masked_cell_is_lit_by_its_edges(pair: tuple[str, str]) -> None:
    """Either edge cell of its row and either of its column, held together for 1 s, play a masked cell."""
    scene = without("d4")
    assert [] == scene.do(chord(pair, 0, 980 * MS))
    scene.wait(BETWEEN_US)
    assert ["d4"] == scene.do(chord(pair, 0, 1_050 * MS))


def test_a_masked_cell_does_not_answer_a_finger_with_light() -> None:
    """Its contact says nothing that can be trusted; every other cell lights up."""
    scene = without("d4")
    for cell_down, lit in (("d4", []), ("e5", [cell("e5")])):
        scene.drive.fingers([Finger(scene.now_us, cell(cell_down), True)])
        scene.wait(100 * MS)
        assert lit == [touch.cell for touch in scene.table.snapshot.touches]


def test_every_action_can_be_played_by_the_edges() -> None:
    """The masked cell gets the one action it allows: light, permute, neutralise, block."""
    scene = without("d4", "c3")
    d4, c3 = ("a4", "d1"), ("g3", "c7")
    for expected, pair in (("d4", d4), ("xd4", d4), ("!d4", d4), ("c3", c3), ("xc3", c3)):
        assert [expected] == scene.do(chord(pair, 0, 1_050 * MS))
        scene.wait(BETWEEN_US)
    b2 = chord(("a2", "b1"), 0, 1_050 * MS)
    scene = without("b2").moves("e5", "e6")
    assert ["b2"] == scene.do(b2)
    scene.moves("g7")
    assert ["#b2"] == scene.do(b2)


def test_what_the_rules_forbid_is_refused_on_the_masked_cell() -> None:
    """The reason is that of the rule, and shows on the cell that was meant."""
    scene = without("d4")
    for pair in (("a4", "d1"),) * 3:  # lit, permuted, neutralised
        scene.do(chord(pair, 0, 1_050 * MS))
        scene.wait(BETWEEN_US)
    assert [] == scene.do(chord(("a4", "d1"), 0, 1_050 * MS))
    assert ("neutralised", cell("d4")) == scene.table.refusal[:2]


def test_the_masked_cell_fills_while_its_edges_are_held() -> None:
    """The light is on the cell that is played, in the mover's colour, complete when the second is; the edges go out."""
    scene = without("d4")
    start_us = scene.now_us
    scene.drive.fingers(move._replace(t_us=start_us + move.t_us) for move in sorted(chord(("a4", "d1"), 0, 1_500 * MS)))
    scene.drive.run_until(start_us + 500 * MS)
    touches = {touch.cell: touch for touch in scene.table.snapshot.touches if touch.until_us is None}
    assert [cell("d4")] == list(touches)
    assert (scene.table.game.mover, 1) == (
        touches[cell("d4")].side,
        round((touches[cell("d4")].full_us - start_us) / S),
    )
    scene.drive.run_until(start_us + 1_600 * MS)
    assert ["d4"] == [move.text for move in scene.table.game.moves]


def test_lifting_early_spends_nothing() -> None:
    """A pair let go before its second, or joined by a third finger, plays nothing, and the masked cell goes out."""
    scene = without("d4")
    for fingers in (chord(("a4", "d1"), 0, 900 * MS), [*chord(("a4", "d1"), 0, 1_500 * MS), *tap("f6", 400 * MS)]):
        assert [] == scene.do(fingers)
        scene.wait(500 * MS)
        assert [] == [touch for touch in scene.table.snapshot.touches if touch.until_us is None]
    assert [] == scene.table.game.moves


def test_a_healthy_cell_has_no_detour() -> None:
    """The same two cells cancel each other where the cell between them can be touched."""
    scene = without("c3")
    assert [] == scene.do(chord(("a4", "d1"), 0, 1_500 * MS))


def test_there_is_no_detour_in_a_pause() -> None:
    """Two edge cells that are held while the game is paused play nothing."""
    scene = without("d4")
    scene.table.press_button(scene.now_us)
    scene.wait(BETWEEN_US)
    assert [] == scene.do(chord(("a4", "d1"), 0, 1_050 * MS))
    assert ("paused", []) == (scene.table.phase, scene.table.game.moves)


def test_a_stuck_cell_masks_itself_and_heals() -> None:
    """A contact closed for 20 s is masked, told of and playable by its edges; opened, it is an ordinary cell again."""
    scene = playing(limits=NO_LIMITS)
    contacts = scene.drive.board.contacts
    contacts.press(cell("d4"), scene.now_us)
    scene.wait(21 * S)
    scene.drive.engine.check(scene.now_us)
    told = scene.drive.engine.document(scene.now_us)
    assert (["d4"], False) == (told["masked"], told["health"]["parts"]["cells"]["ok"])
    assert ["e5"] == scene.tap("e5")
    scene.wait(BETWEEN_US)
    assert ["d4"] == scene.do(chord(("a4", "d1"), 0, 1_050 * MS))
    contacts.release(cell("d4"), scene.now_us)
    scene.wait(BETWEEN_US)
    assert frozenset() == scene.table.masked
    assert ["xd4"] == scene.do(hold(cell("d4"), 0, 900 * MS))


@pytest.mark.parametrize("rested_us", [6 * S, 21 * S])
def test_a_stuck_contact_that_flickers_plays_nothing(rested_us: int) -> None:
    """A contact that has rested opens and closes faster than a finger lifts: neither tap nor hold comes of it (case
    G11); a finger that comes back later plays."""
    scene = playing(limits=NO_LIMITS)
    moves = hold("d4", 0, rested_us) + hold("d4", rested_us + 20 * MS, 100 * MS)
    moves += hold("d4", rested_us + 140 * MS, 1_500 * MS)
    assert [] == scene.do(moves)
    assert [] == scene.do(hold("d4", 100 * MS, 60 * MS))
    scene.wait(BETWEEN_US)
    assert ["d4"] == scene.tap("d4")


def test_contacts_that_fail_play_no_masked_cell() -> None:
    """Two edge contacts that stick one after the other are no two fingers: the masked cell between them stays empty."""
    scene = without("d4")
    contacts = scene.drive.board.contacts
    contacts.press(cell("a4"), scene.now_us)
    scene.wait(1_100 * MS)
    contacts.press(cell("d1"), scene.now_us)
    scene.wait(30 * S)
    assert ([], {cell(name) for name in ("a4", "d1", "d4")}) == (scene.table.game.moves, scene.table.masked)


def test_contacts_that_were_stuck_play_no_masked_cell_until_they_are_touched() -> None:
    """Edge contacts that have been stuck and let go are no detour the first time, whatever they do together: noise does
    not mend them, nor does a contact that rests; touched as fingers do, they are again.
    """
    scene = without("d4")
    both, noise = chord(("a4", "d1"), 0, 1_050 * MS), [*tap("a4", 0, 10 * MS), *tap("d1", 300 * MS, 10 * MS)]
    assert [] == scene.do(hold(cell("a4"), 0, 21 * S)) + scene.do(hold(cell("d1"), 0, 21 * S))
    assert [] == scene.do(noise, settle_us=BETWEEN_US) + scene.do(hold(cell("a4"), 0, 6 * S), settle_us=BETWEEN_US)
    assert [] == scene.do(both, settle_us=BETWEEN_US)
    assert ["d4"] == scene.do(both)


def test_contacts_that_were_stuck_leave_the_other_pairs() -> None:
    """The other edge cells of the row and the column play the masked cell meanwhile."""
    scene = without("d4")
    assert [] == scene.do(hold(cell("a4"), 0, 21 * S)) + scene.do(hold(cell("d1"), 0, 21 * S))
    assert ["d4"] == scene.do(chord(("g4", "d7"), 0, 1_050 * MS))


def test_a_touch_of_a_masked_cell_is_told_and_counts_for_nothing() -> None:
    """Whoever taps a cell out of use reads why; it is no second finger, and a flickering contact is told of rarely."""
    scene = without("d4")
    assert [] == scene.tap("d4")
    assert ("masked", cell("d4"), 1) == scene.table.refusal
    assert ["e5"] == scene.do(tap("e5", 0), hold(cell("d4"), 10 * MS, 20 * MS))
    for _ in range(20):
        scene.tap("d4")
        scene.wait(100 * MS)
    assert 2 >= scene.table._refusals
    assert ["c3"] == scene.do(hold(cell("d4"), 0, 3 * S), tap("c3", 500 * MS))


def test_a_flickering_contact_does_not_keep_a_game_awake() -> None:
    """A game is parked after five minutes, whatever a cell out of use does."""
    scene = without("d4")
    for _ in range(31):
        scene.do(tap("d4", 0))
        scene.wait(10 * S)
    assert "paused" == scene.table.phase


def test_cells_out_of_use_are_so_from_the_start() -> None:
    """What was put out of use earlier is masked when the board starts."""
    scene = Scene()
    again = type(scene.table)(
        scene.table.match, scene.table.gesture.times, scene.table.times, lambda: "a", chosen=Chosen(out=("d4", "a1"))
    )
    assert {cell("d4"), cell("a1")} == again.masked


@pytest.mark.parametrize("side", ["a", "b"])
def test_the_cursor_plays_masked_cells_of_the_edge(side: Side) -> None:
    """In the menu a tap on the cursor steps through the masked cells, and the mover's hold plays the one shown."""
    scene = without("a4", "d1", "e5")
    if scene.table.game.mover != side:
        scene.moves("b6")
    scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
    scene.wait(BETWEEN_US)
    own, other = (
        next(at for at, place in PLACES["menu"].items() if place == (who, "cursor"))
        for who in (side, "b" if side == "a" else "a")
    )
    seen = []
    for _ in range(4):
        scene.do(tap(own, 0))
        scene.wait(BETWEEN_US)
        seen.append(document(scene.table, scene.now_us, {})["menu"]["cursor"])
        shown = [
            light.cell for light in scene.table.snapshot.menu if light.side == side and light.chosen and light.pale
        ]
        assert [cell(seen[-1])] == shown
    assert ["d1", "a4", "e5", "d1"] == seen
    assert [] == scene.do(hold(other, 0, 900 * MS))  # it is not his turn: to him it is a long tap
    assert ("menu", "a4") == (scene.table.phase, document(scene.table, scene.now_us, {})["menu"]["cursor"])
    scene.wait(BETWEEN_US)
    assert ["a4"] == scene.do(hold(own, 0, 900 * MS))
    assert "play" == scene.table.phase


def test_a_cell_that_the_rules_refuse_leaves_the_cursor_where_it_is() -> None:
    """A hold on a masked cell that cannot be played says why on that cell; the menu stays open, for another one."""
    scene = playing(limits=NO_LIMITS).moves("a4", "xa4", "!a4")
    scene.table.put_out(frozenset((cell("a4"), cell("d1"))))
    own = next(at for at, place in PLACES["menu"].items() if place == (scene.table.game.mover, "cursor"))
    shown = lambda: document(scene.table, scene.now_us, {})["menu"]["cursor"]  # noqa: E731
    scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
    for expected in ("d1", "a4"):
        scene.wait(BETWEEN_US)
        scene.do(tap(own, 0))
        assert expected == shown()
    scene.wait(BETWEEN_US)
    assert [] == scene.do(hold(own, 0, 900 * MS))
    assert ("neutralised", cell("a4")) == scene.table.refusal[:2]
    assert ("menu", "a4") == (scene.table.phase, shown())
    scene.do(tap(own, 0))
    scene.wait(BETWEEN_US)
    assert ["d1"] == scene.do(hold(own, 0, 900 * MS))
    assert "play" == scene.table.phase


def test_the_cursor_leaves_a_cell_that_can_be_touched_again() -> None:
    """A masked cell that heals under an open menu is no longer pointed at, and a hold plays nothing there."""
    scene = without("a4", "d1")
    scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
    scene.wait(BETWEEN_US)
    own = next(at for at, place in PLACES["menu"].items() if place == (scene.table.game.mover, "cursor"))
    scene.do(tap(own, 0))
    assert "d1" == document(scene.table, scene.now_us, {})["menu"]["cursor"]
    scene.table.put_out(frozenset((cell("a4"),)))
    assert None is document(scene.table, scene.now_us, {})["menu"]["cursor"]
    scene.wait(BETWEEN_US)
    assert [] == scene.do(hold(own, 0, 900 * MS))


def test_no_cursor_without_masked_cells() -> None:
    """Where every cell can be touched the menu has no cursor."""
    scene = playing()
    scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
    assert "cursor" not in {place["item"] for place in document(scene.table, 0, {})["menu"]["cells"].values()}


@pytest.mark.parametrize("name", ["a1", "g7"])
def test_the_other_corners_open_the_menu_where_one_is_masked(name: str) -> None:
    """With a1 or g7 out of use a7 and g1 open menu and options."""
    scene = without(name)
    scene.do(chord(["a7", "g1"], 0, 2_100 * MS))
    assert "menu" == scene.table.phase


# -- without diodes ----------------------------------------------------------------------------------------------


def test_the_ghost_corner_of_a_detour_is_expected(no_diodes: Scene) -> None:
    """Without diodes the stuck cell and the two that are held for it read as a rectangle; it is played all the same."""
    scene = no_diodes
    scene.drive.board.contacts.press(cell("d4"), scene.now_us)
    scene.wait(21 * S)
    for expected, pair in (("d4", ("a4", "d1")), ("xd4", ("g4", "d7")), ("!d4", ("a4", "d7"))):
        assert [expected] == scene.do(chord(pair, 0, 1_100 * MS))
        assert 0 == scene.table.haze.cells
        scene.wait(BETWEEN_US)


def test_other_ghosts_stay_ghosts(no_diodes: Scene) -> None:
    """A rectangle that no detour explains is shown and never guessed, with and without a stuck cell."""
    scene = no_diodes
    assert [] == scene.do(hold(cell("a1"), 0, 2 * S), hold(cell("b1"), 0, 2 * S), hold(cell("a2"), 0, 2 * S))
    assert 0 != scene.table.haze.cells
    scene.wait(2 * S)
    scene.drive.board.contacts.press(cell("d4"), scene.now_us)
    scene.wait(21 * S)
    assert [] == scene.do(hold(cell("b4"), 0, 2 * S), hold(cell("d2"), 0, 2 * S))
    assert {cell(name) for name in ("b4", "d4", "b2", "d2")} == {
        at for at in range(49) if scene.table.haze.cells >> at & 1
    }


def test_every_detour_of_every_cell_is_told_from_its_reading() -> None:
    """For each stuck cell and each of its pairs the reading with the ghost corner comes to the pair alone."""
    pairs = detours(range(49), 1)
    for pair, made in pairs.items():
        masked = cell_of(made.name)
        rows, columns = ({at // 7 for at in (*pair, masked)}, {at % 7 for at in (*pair, masked)})
        corners = sum(1 << row * 7 + column for row in rows for column in columns)
        meant = sum(1 << at for at in pair) | 1 << masked
        assert meant == detour(corners, 1 << masked, 7, 7)
        assert None is detour(corners, 0, 7, 7)
        other = next(at for at in range(49) if not corners >> at & 1)
        assert None is detour(corners | 1 << other, 1 << masked, 7, 7)
