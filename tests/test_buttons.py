"""The start button: bounce, power-up, and what it does in each phase."""

from __future__ import annotations

import pytest

from hal.board import MatrixBoard
from hal.buttons import POLL_US, ButtonWatch
from hal.errors import PartError
from hal.ports import Edge, Scan
from hal.profile import load, shipped
from sim.fingers import chord, hold
from sim.watch import Watch
from tests.scene import BETWEEN_US, MS, NO_LIMITS, S, Scene, playing

START = frozenset(("start",))
NONE: frozenset[str] = frozenset()
WON = ("d4", "a1", "d5", "a2", "d6", "a3", "d7")


class Pressed:
    """A button that is pressed when a test says so, or whose pin fails."""

    def __init__(self) -> None:
        self.down = False
        self.fault: str | None = None
        self.closed = 0

    def read(self) -> frozenset[str]:
        if self.fault is not None:
            raise PartError(self.fault)
        return START if self.down else NONE

    def close(self) -> None:
        self.closed += 1


def told(levels: str) -> list[int]:
    """At which readings a press is told, for levels read one poll apart."""
    button = Pressed()
    watch = ButtonWatch(button)
    found = []
    for at, level in enumerate(levels):
        button.down = level == "1"
        if watch.step(at * POLL_US):
            found.append(at)
    return found


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ("0011110000", [3]),
        ("0010100000", []),
        ("001011110000", [5]),
        ("0011101110", [3]),
        ("001100110", [3, 7]),
        ("1111100011", [9]),
        ("1010111", []),
    ],
)
def test_a_press_is_told_once(levels: str, expected: list[int]) -> None:
    """A button counts when it is read twice in a row, is up when it is not read twice, and held at power-up is none."""
    assert expected == told(levels)


def test_it_is_not_read_more_often_than_wanted() -> None:
    """Between two polls nothing is read, however fast the board scans."""
    button = Pressed()
    watch = ButtonWatch(button)
    reads = []
    button.read = lambda: reads.append(1) or NONE  # type: ignore[assignment,func-returns-value]
    for t_us in range(0, 100 * MS, MS):
        watch.step(t_us)
    assert 10 == len(reads)


class Still:
    """Lines and LEDs of a board that nobody touches."""

    def select(self, row: int | None) -> None: ...

    def read(self) -> int:
        return 0

    def write(self, frame: bytes) -> None: ...

    def close(self) -> None: ...


def test_a_button_that_fails_is_named_and_stops_nothing() -> None:
    """Scans go on without it, the health names it at every scan until it answers again."""
    button = Pressed()
    board = MatrixBoard(load(shipped("sim")), Still(), Still(), buttons=button)
    button.fault = "the pin is gone"
    failed = [(board.scan(at * MS).buttons, board.health()["buttons"]) for at in range(20)]
    assert [(NONE, (False, "the buttons: the pin is gone"))] * 20 == failed
    button.fault, button.down = None, True
    pressed = [board.scan(at * POLL_US).buttons for at in range(2, 6)]
    assert ([NONE, NONE, NONE, NONE], True) == (pressed, board.health()["buttons"].ok)  # it was down at power-up
    board.close()
    assert 1 == button.closed


def with_button(scene: Scene) -> tuple[Scene, Pressed]:
    button = Pressed()
    scene.drive.board._watch = ButtonWatch(button)
    scene.wait(100 * MS)
    return scene, button


def push(scene: Scene, button: Pressed) -> str:
    """Press the button as a person does; returns the phase that comes of it."""
    button.down = True
    scene.wait(120 * MS)
    button.down = False
    scene.wait(BETWEEN_US)
    return scene.table.phase


def test_it_starts_pauses_and_goes_on() -> None:
    """From attract a game begins; in play the clock stops and the next press goes on, without a move."""
    scene, button = with_button(Scene(limits=NO_LIMITS))
    assert "lobby" == push(scene, button)
    assert "lobby" == push(scene, button)
    scene.wait(5 * S)
    scene.moves("d4")
    assert "paused" == push(scene, button)
    assert scene.table.game.clocks.running is None
    assert "play" == push(scene, button)
    assert ["d4"] == [move.text for move in scene.table.game.moves]


def test_it_asks_for_a_rematch_when_the_result_has_been_seen() -> None:
    """As a tap it is deaf for the first 3 s of a result, and a rematch after them."""
    scene, button = with_button(playing(limits=NO_LIMITS))
    scene.moves(*WON)
    assert "result" == push(scene, button)
    scene.wait(3 * S)
    assert "lobby" == push(scene, button)


def test_it_closes_a_menu_and_leads_to_a_parked_game() -> None:
    """In a menu it leads back to what lay below; a parked game goes first."""
    scene, button = with_button(playing(limits=NO_LIMITS))
    scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
    assert "play" == push(scene, button)
    assert "paused" == push(scene, button)
    scene.wait(130 * S)
    assert "attract" == scene.table.phase
    assert "paused" == push(scene, button)


def test_it_is_judged_in_the_order_of_touches() -> None:
    """A tap that ends before the button is pressed counts, though its end is certain only after that."""
    scene, _ = with_button(playing(limits=NO_LIMITS))
    engine, t_us = scene.drive.engine, scene.now_us
    engine.hear(Scan(t_us, (Edge(t_us, 24, True),), 0, t_us, MS), t_us)
    pressed_us = t_us + 61 * MS
    engine.hear(Scan(pressed_us, (), 0, t_us + 59 * MS, MS, START), pressed_us)
    assert "play" == scene.table.phase
    end_us = t_us + 70 * MS
    engine.hear(Scan(end_us, (Edge(t_us + 60 * MS, 24, False),), 0, t_us + 65 * MS, MS), end_us)
    assert ("paused", ["d4"]) == (scene.table.phase, [move.text for move in scene.table.game.moves])


def test_a_finger_that_is_down_does_not_play_on() -> None:
    """A hold under way when the button pauses the game commits nothing, neither then nor after."""
    scene, button = with_button(playing(limits=NO_LIMITS))
    scene.moves("d4")
    start_us = scene.now_us
    scene.drive.fingers(move._replace(t_us=start_us + move.t_us) for move in hold("d4", 0, 2 * S))
    scene.wait(500 * MS)
    assert "paused" == push(scene, button)
    assert "play" == push(scene, button)
    scene.wait(2 * S)
    assert ["d4"] == [move.text for move in scene.table.game.moves]


def in_options(scene: Scene) -> None:
    scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
    scene.wait(BETWEEN_US)
    assert "options" == scene.table.menu.kind


def test_it_closes_options_as_their_own_cell_does() -> None:
    """Out of the options of a rematch the game is played by what was chosen, and no clock has run meanwhile."""
    scene, button = with_button(playing(limits=NO_LIMITS))
    scene.moves(*WON)
    scene.wait(3_500 * MS)
    scene.tap("d4")
    scene.wait(BETWEEN_US)
    in_options(scene)
    for name in ("c1", "f1", "b2"):  # 5 minutes, 1 a move, lite
        scene.tap(name)
        scene.wait(BETWEEN_US)
    assert "lobby" == push(scene, button)
    scene.wait(5 * S)
    game = scene.table.game
    assert (scene.table.match.limits, scene.table.match.rules) == (game.clocks.limits, game.rules)
    assert 300 * S == game.clocks.limits.total_us


def test_options_over_the_lot_start_no_clock() -> None:
    """However long the options are open, the first turn has all of its time."""
    scene, button = with_button(Scene())
    scene.tap("d4")
    scene.wait(2_300 * MS)
    in_options(scene)
    scene.wait(60 * S)
    assert "lobby" == push(scene, button)
    scene.wait(3 * S)
    assert "play" == scene.table.phase
    assert 899 * S < min(scene.table.game.clocks.left_us(side, scene.now_us) for side in ("a", "b"))


@pytest.mark.parametrize("period_ms", [80, 120, 200])
def test_drumming_on_it_flashes_no_more_than_three_times_a_second(period_ms: int) -> None:
    """However fast the button is pressed, the board stays within the flash limit."""
    scene, button = with_button(playing(limits=NO_LIMITS))
    scene.moves("d4", "e5", "a1", "g7")
    found: list[str] = []
    Watch(scene.drive, found.append, lambda _: None)
    for at in range(40):
        button.down = at % 2 == 0
        scene.wait(period_ms * MS // 2)
    assert [] == found
