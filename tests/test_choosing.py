"""What is chosen at the board in its menu: brightness, language, marks; from both seats, on wires."""

from __future__ import annotations

import pytest

from firmware.choosing import BRIGHTNESS_PCT, Chosen, choose
from firmware.menu import PLACES, Item
from firmware.snapshot import Side
from firmware.state import document
from sim.fingers import chord, tap
from tests.scene import BETWEEN_US, MS, Scene, playing


def opened(scene: Scene) -> Scene:
    scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
    assert "menu" == scene.table.phase
    scene.wait(BETWEEN_US)
    return scene


def tap_on(scene: Scene, side: Side, item: Item) -> None:
    cell = next(cell for cell, place in PLACES["menu"].items() if (place.side, place.item) == (side, item))
    scene.do(tap(cell, 0))
    scene.wait(BETWEEN_US)


@pytest.mark.parametrize("side", ["a", "b"])
def test_brightness_goes_round(side: Side) -> None:
    """Each tap dims the board a step, and after the darkest comes the brightest; the menu stays open."""
    scene = opened(playing().moves("d4"))
    seen = []
    for _ in range(len(BRIGHTNESS_PCT) + 1):
        tap_on(scene, side, "brightness")
        seen.append(document(scene.table, scene.now_us, {})["chosen"]["brightness_pct"])
        assert (seen[-1], "menu") == (scene.drive.board.brightness_pct, scene.table.phase)
    assert [60, 35, 20, 10, 100, 60] == seen


def test_the_light_dims_with_the_brightness() -> None:
    """The wire carries less light at each step, within a frame of the tap, and every lit cell stays visible."""
    scene = opened(playing().moves("d4"))
    light = [sum(scene.drive.board.wire())]
    for _ in range(4):
        cell = next(cell for cell, place in PLACES["menu"].items() if place.item == "brightness")
        scene.do(tap(cell, 0))
        scene.wait(400 * MS)
        wire = scene.drive.board.wire()
        light.append(sum(wire))
        lit = [max(wire[at : at + 3]) for at in range(0, 147, 3) if any(wire[at : at + 3])]
        assert min(lit) >= 3
    assert light == sorted(light, reverse=True)
    assert light[0] > 2 * light[-1]


def test_what_is_chosen_is_told_once() -> None:
    """Whoever keeps it gets each choice when it is made, and nothing before."""
    scene = opened(playing())
    told: list[Chosen] = []
    scene.drive.engine._choose = told.append
    for item in ("marks", "language", "language", "brightness", "marks"):
        tap_on(scene, "b", item)
    expected = [
        Chosen(marks=True),
        Chosen(marks=True, language="fr"),
        Chosen(marks=True, language="en"),
        Chosen(marks=True, language="en", brightness_pct=60),
        Chosen(marks=False, language="en", brightness_pct=60),
    ]
    assert expected == told


def test_marks_show_in_the_menu_while_they_are_set() -> None:
    """The cell of the marks is on as long as they are."""
    scene = opened(playing())
    on = []
    for _ in range(3):
        tap_on(scene, "a", "marks")
        cells = document(scene.table, scene.now_us, {})["menu"]["cells"]
        on.append({cells[name]["on"] for name in ("c2", "e6")})
    assert [{True}, {False}, {True}] == on


def test_the_first_step_starts_from_the_board() -> None:
    """Where nothing is chosen, the next darker step than the board's own brightness is taken."""
    steps = [(100, 60), (80, 60), (60, 35), (50, 35), (10, 100), (5, 100)]
    assert [after for _, after in steps] == [choose(Chosen(), "brightness", pct).brightness_pct for pct, _ in steps]


def test_no_choice_is_an_action() -> None:
    """Choosing in the menu leaves the game alone, and the game goes on where it was."""
    scene = opened(playing().moves("d4"))
    for item in ("brightness", "language", "marks"):
        tap_on(scene, "a", item)
    tap_on(scene, "a", "close")
    assert ("play", ["d4"]) == (scene.table.phase, [move.text for move in scene.table.game.moves])
    assert ["e5"] == scene.tap("e5")
