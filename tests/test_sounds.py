"""What is heard on a board that can be heard."""

from __future__ import annotations

from dataclasses import dataclass, field

from firmware.choosing import Chosen
from firmware.clock import Limits
from firmware.sounds import NOTES, Sound, Sounds
from hal.board import MatrixBoard
from hal.errors import PartError
from hal.ports import Note
from hal.profile import load, shipped
from sim.fingers import chord, hold, tap
from tests.scene import BETWEEN_US, MS, NO_LIMITS, S, Scene
from tests.test_buttons import Still


@dataclass
class Sounder:
    """Keeps what it is given to play, or fails."""

    played: list[tuple[tuple[Note, ...], int]] = field(default_factory=list)
    fault: str | None = None
    closed: int = 0

    def play(self, notes: tuple[Note, ...], volume_pct: int) -> None:
        if self.fault is not None:
            raise PartError(self.fault)
        self.played.append((notes, volume_pct))

    def close(self) -> None:
        self.closed += 1

    def take(self) -> list[Sound]:
        names = {notes: name for name, notes in NOTES.items()}
        heard = [names[notes] for notes, _ in self.played]
        self.played.clear()
        return heard


def audible(**options: object) -> tuple[Scene, Sounder]:
    """A game on a board with a sounder."""
    scene, sounder = Scene(**options), Sounder()
    board = scene.drive.board
    board._sounder, board.capabilities = sounder, board.capabilities._replace(sound=True)
    scene.table.sound = True
    scene.play()
    sounder.take()
    return scene, sounder


def test_each_touch_is_heard_once() -> None:
    """A press sounds when it is felt, and its release does not; a special move sounds once too."""
    scene, sounder = audible(limits=NO_LIMITS)
    scene.tap("d4")
    assert ["press"] == sounder.take()
    scene.wait(BETWEEN_US)
    scene.do(hold("d4", 0, 900 * MS))
    assert ["press"] == sounder.take()


def test_a_quick_second_touch_is_heard() -> None:
    """A cell that is touched again before its light has gone out sounds again."""
    scene, sounder = audible(limits=NO_LIMITS)
    assert ["d4"] == scene.do(hold("d4", 0, 10 * MS), hold("d4", 100 * MS, 60 * MS))
    assert ["press", "press"] == sounder.take()


def test_of_several_sounds_the_weightiest_is_heard() -> None:
    """A press that comes with a win or with little time is not heard before them."""
    scene, _ = audible(limits=Limits(None, 60 * S))
    scene.wait(51 * S)
    contacts = scene.drive.board.contacts
    contacts.press(24, scene.now_us)
    scene.wait(50 * MS)
    assert "low" == Sounds().step(scene.table, scene.now_us)
    contacts.release(24, scene.now_us)
    scene.wait(50 * MS)
    scene.table.game.resign("a", scene.now_us)
    scene.table._ended(scene.now_us)
    scene.wait(4 * S)
    contacts.press(24, scene.now_us)
    scene.wait(50 * MS)
    assert 1 == len(scene.table.snapshot.touches)
    assert "win" == Sounds().step(scene.table, scene.now_us)


def test_a_refusal_is_heard() -> None:
    """A touch that the rules refuse sounds once more, another way, and not again while it shows."""
    scene, sounder = audible(limits=NO_LIMITS)
    scene.moves("d4", "xd4", "!d4")
    sounder.take()
    scene.tap("d4")
    assert ["press", "refused"] == sounder.take()
    scene.wait(S)
    assert [] == sounder.take()


def test_little_time_is_heard_twice() -> None:
    """One sound when time runs short, one when it runs very short, each once a turn."""
    scene, sounder = audible(limits=Limits(None, 60 * S))
    scene.wait(59 * S)
    assert ["low", "low"] == sounder.take()


def test_a_win_is_heard_and_a_draw_is_not() -> None:
    """The line that wins sounds; a game without a winner ends quietly."""
    scene, sounder = audible(limits=NO_LIMITS)
    scene.moves("d4", "a1", "d5", "a2", "d6", "a3")
    sounder.take()
    scene.moves("d7")
    assert ["press", "win"] == sounder.take()
    scene, sounder = audible(limits=NO_LIMITS)
    scene.table.game.agree(scene.now_us)
    scene.table._ended(scene.now_us)
    scene.wait(S)
    assert [] == sounder.take()


def test_the_volume_is_chosen_in_the_menu() -> None:
    """The menu of a board that can be heard has a volume, down to silence and round again."""
    scene, sounder = audible(limits=NO_LIMITS)
    scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
    scene.wait(BETWEEN_US)
    seen = []
    for _ in range(4):
        sounder.played.clear()
        scene.do(tap("d2", 0))
        scene.wait(BETWEEN_US)
        seen.append((scene.table.chosen.volume_pct, [pct for _, pct in sounder.played]))
    assert [(25, [50]), (0, [25]), (100, []), (50, [100])] == seen


def test_a_board_without_a_sounder_has_no_volume() -> None:
    """Where nothing can be heard the menu offers no volume, and nothing is played."""
    scene = Scene(limits=NO_LIMITS).play()
    scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
    assert "volume" not in scene.table.offers()


def test_a_sounder_that_fails_is_named_and_stops_nothing() -> None:
    """The health names it until it plays again."""
    sounder = Sounder(fault="no such pin")
    board = MatrixBoard(load(shipped("sim")), Still(), Still(), sounder=sounder)
    board.tone(NOTES["press"], 50)
    assert (False, "the sound: no such pin") == board.health()["sound"]
    sounder.fault = None
    board.tone(NOTES["press"], 50)
    assert board.health()["sound"].ok
    board.close()
    assert 1 == sounder.closed


def test_every_sound_is_short() -> None:
    """No sound lasts a second, so that it never speaks over what comes next."""
    assert all(sum(note.ms for note in notes) < 1_000 for notes in NOTES.values())
    assert 50 == Chosen().volume_pct
