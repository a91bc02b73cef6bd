"""Somebody at the bench: asked on a terminal, for each move of a contact."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator

import pytest

from hal import person
from hal.jig import Unsupported
from hal.person import Person, at_the_terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX")


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """The program's end of a terminal, and the person's."""
    person, program = os.openpty()
    yield program, person
    os.close(program)
    os.close(person)


@pytest.mark.parametrize(
    ("does", "asked"),
    [
        (lambda person: person.press(24), "Put a finger on d4 and leave it there"),
        (lambda person: person.release(6), "Lift the finger off g1"),
        (lambda person: person.unplug(), "Pull the board's cable out"),
        (lambda person: person.plug("ttyACM1"), "Put the board's cable back in, so that it is ttyACM1"),
    ],
)
def test_each_move_is_asked_for(terminal: tuple[int, int], does: Callable[[Person], None], asked: str) -> None:
    """A move is asked for in words, has been made once Enter is pressed, and meanwhile the cable is kept up."""
    somebody, looks = Person(terminal[0]), []

    def meanwhile() -> None:
        looks.append(1)
        if len(looks) == 3:
            os.write(terminal[1], b"\n")

    somebody.meanwhile = meanwhile
    does(somebody)
    assert (
        f"\r\n{asked}, then press Enter (n: that cannot be done): "
        == os.read(terminal[1], 1000).decode()[: -len("\r\n")]
    )
    assert len(looks) >= 3


def test_whoever_cannot_is_asked_again_and_whoever_has_left_is_not(terminal: tuple[int, int]) -> None:
    """ "n" is an answer to one question; silence for too long answers all that come."""
    somebody = Person(terminal[0], patience_s=0.05)
    os.write(terminal[1], b"no\n")
    with pytest.raises(Unsupported, match="nobody can press cell 1: somebody at the bench says that it cannot be done"):
        somebody.press(1)
    os.write(terminal[1], b"\n")
    somebody.press(1)
    for _ in range(2):
        with pytest.raises(Unsupported, match="nobody can lift off cell 1: nobody at the bench has answered"):
            somebody.release(1)
    asked = os.read(terminal[1], 1000).decode()
    assert (2, 1) == (asked.count("Put a finger on b1"), asked.count("Lift the finger off b1"))


def test_without_a_terminal_nobody_is_there(monkeypatch: pytest.MonkeyPatch, terminal: tuple[int, int]) -> None:
    """Who sits at the terminal is asked; where there is none nobody is."""
    monkeypatch.setattr(person, "TERMINAL", "/nowhere/tty")
    assert at_the_terminal() is None
    monkeypatch.setattr(person, "TERMINAL", os.ttyname(terminal[0]))
    assert at_the_terminal() is not None
