"""A trace gives the same actions and the same frames again; what is not the same is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from firmware import quiet
from firmware.choosing import Chosen
from firmware.clock import Limits
from firmware.engine import ALONE, Engine, Evening, Surroundings
from firmware.games import morbak
from firmware.gesture import TouchTimes
from firmware.lights import Lights
from firmware.match import Match
from firmware.orders import Order
from firmware.phases import PhaseTimes
from firmware.save import Save
from firmware.sight import Sight
from firmware.table import Table
from firmware.trace import TraceError
from firmware.trace_replay import Difference
from firmware.trace_tape import Recorded
from hal.ports import Board, Part
from sim.board import SimBoard
from sim.cable import CableFaults
from sim.clock import VirtualClock
from sim.day import Day
from sim.drive import Drive
from sim.faults import Faults
from sim.fingers import wander
from sim.hall import Hall
from tests.serial_rig import World
from tests.tape import Held, replayed

MS = 1_000
S = 1_000_000
TRACES = sorted((Path(__file__).parent / "traces").glob("*.jsonl"))
TOUCH = TouchTimes(hold_us=120 * MS, turn_guard_us=20 * MS)
PHASES = PhaseTimes(lobby_us=50 * MS, lot_us=50 * MS, result_deaf_us=50 * MS, idle_us=5 * S, park_us=22 * S)
CELLS = morbak.CELLS
RULES = (morbak.STANDARD, morbak.LITE)


class Card:
    """A disk and a store on it, in virtual time: what is put is there after a while, now and then a long one."""

    def __init__(self, clock: VirtualClock, chance: Random) -> None:
        self.saved, self.fault = 0, None
        self._clock, self._chance, self._coming = clock, chance, list[int]()

    @property
    def due_us(self) -> int | None:
        return self._coming[0] if self._coming else None

    def step(self, t_us: int) -> None:
        while self._coming and self._coming[0] <= t_us:
            self._coming.pop(0)
            self.saved += 1
        self.fault = "The disk is full." if self._chance.random() < 0.1 else None

    def put(self, save: Save, finished: bool) -> int:
        delay_us = self._chance.choice((2, 5, 30, 200, 1500)) * MS
        self._coming.append(max([self._clock.now_us() + delay_us, *self._coming]))
        return self.saved + len(self._coming)

    def heartbeat(self, save: Save) -> None: ...


class Waiting:
    """An operator who waits for an answer, or has gone."""

    def __init__(self, waits: bool) -> None:
        self._waits = waits

    def waits(self) -> bool:
        return self._waits

    def give(self, refused: str | None) -> None: ...


class Evenings:
    """A board that is recorded in virtual time, with everything that may happen to one."""

    def __init__(self, seed: int) -> None:
        self.chance, self.tape = Random(f"{seed}/trace"), Held()
        self.minute: int | None = None
        choice = self.chance.choice
        faults = Faults(
            glitch_hz=choice((0, 3)),
            lines_fail_rate=choice((0, 0.002)),
            leds_fail_rate=choice((0, 0.05)),
            diodes=choice((None, False)),
            stuck=choice((frozenset(), frozenset({self.chance.randrange(CELLS)}))),
        )
        start_us = self.chance.randrange(10 * S)
        self.drive = Drive(seed=seed, faults=faults, assemble=self._assemble, start_us=start_us)

    def _assemble(self, board: SimBoard, clock: VirtualClock) -> tuple[Engine, Card]:
        card = Card(clock, Random(self.chance.random()))
        table = Table(
            Match(
                self.chance.choice((morbak.STANDARD, morbak.LITE)), Limits(self.chance.choice((None, 20 * S)), 5 * S)
            ),
            TOUCH,
            PHASES,
            lambda: self.chance.choice(("a", "b")),
            start_us=clock.now_us(),
            games=7,
            chosen=Chosen(marks=True),
            brightness_pct=board.brightness_pct,
            sound=True,
            coded=True,
        )
        evening = Evening(quiet.hours("22:00-08:00"), lambda: self.minute, 10 * S)
        notes = {"settings": Part(True, "ok")}
        return recorded(self.tape, table, board, Surroundings(card, notes, lambda _: None, evening)), card

    def live(self, seconds: int) -> None:
        """Two pairs of hands, an operator, the hour."""
        chance, engine = self.chance, self.drive.engine
        hands = wander(Random(chance.random()), self.drive.now_us)
        end_us = self.drive.now_us + seconds * S
        while self.drive.now_us < end_us:
            until_us = self.drive.now_us + chance.randrange(S, 4 * S)
            while (move := next(hands)).t_us < until_us:
                self.drive.fingers([move])
            self.drive.run_until(until_us)
            self.minute = chance.choice((None, 0, 720))
            what = chance.choice(self._orders())
            if what is not None:
                engine.act(what, self.drive.now_us, Waiting(chance.random() < 0.8))
            if chance.random() < 0.1:
                engine.lost_edges += 1
            if chance.random() < 0.2:
                engine.begin(self.drive.now_us + 400 * MS)  # whoever is on the board until then counts for nothing

    def _orders(self) -> list[morbak.Action | Order | None]:
        cell, game = self.chance.randrange(CELLS), self.drive.table.game
        actions = list(morbak.legal(game.state)) if game is not None and game.ending is None else []
        return [
            None,
            *(action for action in actions[:3] if action is not morbak.PASS),
            Order("mask", cell),
            Order("unmask", cell),
            self.chance.choice((Order("clean"), Order("end"), Order("pause"), Order("resume"))),
            Order("choose", changes=(("brightness_pct", self.chance.choice((None, 20, 80))), ("quiet", None))),
        ]


def recorded(tape: Held, table: Table, board: Board, around: Surroundings = ALONE) -> Recorded:
    return Recorded(table, board, Lights(), around, tape=tape, software="0", driver="sim")


@pytest.mark.long
def test_whatever_happens_to_a_board_happens_again(seed: int, prove: bool) -> None:
    """Wild hands, faults of every part, a slow disk, an operator and quiet hours: every action and frame is the same
    when it is played again from what was recorded."""
    actions = frames = 0
    for number in range(40 if prove else 6):
        evening = Evenings(seed + number)
        evening.live(30 if prove else 20)
        count = replayed(evening.tape.lines())
        actions, frames = actions + count.actions, frames + count.frames
    print(f"{actions} actions, {frames} frames")
    assert actions > 10
    assert frames > 1000


class TapedHall(Hall):
    """A hall whose board is recorded anew after each start."""

    tapes: list[Held]

    def _engine(self, table: Table, board: SimBoard) -> Engine:
        self.tapes = [*getattr(self, "tapes", []), Held()]
        return recorded(self.tapes[-1], table, board, Surroundings(self._store, choose=self._keeper.put))


class TapedDay(Day):
    def make_hall(self, seed: int, directory: Path) -> Hall:
        return TapedHall(seed, directory, self.report, self._digest.update)


@pytest.mark.long
def test_a_day_of_visitors_happens_again(seed: int, prove: bool, tmp_path: Path) -> None:
    """Games, menus, parked games, restarts and power cuts, from one start of the board to the next: a trace that begins
    with a game found on the disk gives the same as one that begins with nothing."""
    day = TapedDay(seed, 1 if prove else 0.1, tmp_path)
    assert [] == day.run().violations
    assert isinstance(day.hall, TapedHall)
    counts = [replayed(tape.lines()) for tape in day.hall.tapes]
    print(counts)
    assert len(counts) >= 3


class TapedCable(World):
    """A recorded board at the end of a bad cable, and somebody who pulls at it."""

    def __init__(self, seed: int) -> None:
        super().__init__(CableFaults(byte_error_rate=0.001), seed)
        self.chance, self.tape, self._sight = Random(f"{seed}/trace"), Held(), Sight()
        board, lot = self.open(), self.chance.choice
        table = Table(
            Match(morbak.STANDARD, Limits()),
            TOUCH,
            PHASES,
            lambda: lot(("a", "b")),
            start_us=self.clock.now_us(),
            brightness_pct=board.brightness_pct,
        )
        self.engine = recorded(self.tape, table, board)

    def play_for(self, us: int) -> None:
        """As the firmware's shells do."""
        assert self.board is not None
        end_us = self.clock.now_us() + us
        check_us = 0
        while (t_us := self.clock.now_us()) < end_us:
            scan = self.board.scan(t_us)
            if (unseen := self._sight.step(scan)) is not None:
                self.engine.lost(unseen)
            self.engine.hear(scan, t_us)
            if self.engine.frame_due_us <= t_us:
                self.engine.light(t_us)
            if t_us >= check_us:
                self.engine.check(t_us)
                check_us = t_us + S // 2
            self.step(scan.period_us)

    def touch(self, cell: int, us: int) -> None:
        contacts = self.device.board.contacts
        contacts.press(cell, self.board_clock.now_us())
        self.play_for(us)
        contacts.release(cell, self.board_clock.now_us())
        self.play_for(60 * MS)

    def live(self, touches: int) -> None:
        for _ in range(touches):
            self.touch(self.chance.randrange(CELLS), self.chance.choice((40, 60, 180)) * MS)
            if self.chance.random() < 0.1:
                self.unplug()
                self.play_for(self.chance.randrange(20 * MS, 3 * S))
                self.plug(self.chance.choice(("/dev/ttyACM0", "/dev/ttyACM1")))
                self.play_for(S)


@pytest.mark.long
def test_what_happens_at_the_end_of_a_cable_happens_again(seed: int, prove: bool) -> None:
    """A bad cable that is pulled out now and then: sight lost and found again, actions and frames are the same."""
    actions = unseen = 0
    for number in range(10 if prove else 2):
        cable = TapedCable(seed + number)
        cable.live(100 if prove else 30)
        lines = cable.tape.lines()
        actions += replayed(lines).actions
        unseen += sum(b'"do":"unseen"' in line for line in lines)
    print(f"{actions} actions, {unseen} times out of sight")
    assert actions > 5
    assert not prove or unseen > 10


# -- traces that lie in the tree -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_traces_of_earlier_programs_give_the_same(path: Path) -> None:
    """What was recorded at a simulated board and at one behind a serial port gives the same with this program."""
    count = replayed(path.read_bytes().splitlines(keepends=True))
    assert count.actions >= 5
    assert count.frames >= 100


def test_traces_come_from_more_than_one_kind_of_board() -> None:
    """One from the simulator, one from the end of a cable."""
    assert {"serial", "sim"} == {json.loads(path.read_bytes().splitlines()[0])["driver"] for path in TRACES}


Told = dict[str, object]


def changed(change: Callable[[Told], bool]) -> tuple[str, int, Told]:
    """What the replay says of a trace in which the first line that `change` takes is another, and which that is."""
    lines = TRACES[-1].read_bytes().splitlines(keepends=True)
    for number, line in enumerate(lines):
        told = json.loads(line)
        if change(told):
            lines[number] = json.dumps(told).encode() + b"\n"
            with pytest.raises((Difference, TraceError)) as caught:
                replayed(lines)
            return str(caught.value), number + 1, told
    raise AssertionError("no line was changed")


def at(told: Told) -> str:
    start = json.loads(TRACES[-1].read_bytes().splitlines()[0])["t"]
    return f"{(int(str(told['t'])) - start) / 1e6:.6f} s"


def test_another_action_is_named() -> None:
    """Where the table did something else, the sentence has line, time, what was expected and what came."""

    def change(told: Told) -> bool:
        did = told.get("did", [])
        assert isinstance(did, list)
        found = [text for text in did if text.startswith("played ")]
        if found:
            did[did.index(found[0])] = "played g7 at 5"
        return bool(found)

    text, number, told = changed(change)
    assert text.startswith(f"line {number}, {at(told)} after the start: expected played g7 at 5, got played ")


def test_an_action_that_came_of_nothing_is_named() -> None:
    """Where a step does more than was recorded, that is said too."""

    def change(told: Told) -> bool:
        return any(str(text).startswith("phase lobby") for text in told.get("did", ())) and bool(told.pop("did"))  # type: ignore[attr-defined]

    text, number, _ = changed(change)
    assert text.startswith(f"line {number}, ") and "expected nothing, got phase lobby" in text


def test_another_frame_is_named_by_its_first_cell() -> None:
    """Where one byte of a frame is another, its cell and both colours are named."""

    def change(told: Told) -> bool:
        if "cells" in told and int(str(told["n"])) > 30:
            cells = str(told["cells"])
            told["cells"] = ("AAAA" if cells[8:12] != "AAAA" else "AAAB").join((cells[:8], cells[12:]))
            return True
        return False

    text, number, told = changed(change)
    assert text.startswith(f"line {number}, {at(told)} after the start: expected c1 to be 00000")


def test_another_sum_of_a_frame_is_named() -> None:
    """Where only the digest of a frame was recorded, both digests are named."""

    def change(told: Told) -> bool:
        return "sum" in told and bool(told.update(sum="0" * 16) or True)

    text, number, told = changed(change)
    assert f"line {number}, {at(told)} after the start: expected a frame with the sum 0000000000000000, got" in text


@pytest.mark.parametrize("what", ["edge", "lot", "saved", "pct"])
def test_another_input_leads_to_a_difference(what: str) -> None:
    """An edge at another time, another lot, a disk that came less far, another brightness: none goes unnoticed."""

    def change(told: Told) -> bool:
        if what == "edge" and told["do"] == "hear" and told["scan"][1]:  # type: ignore[index]
            told["scan"][1][0][1] = (told["scan"][1][0][1] + 1) % CELLS  # type: ignore[index]
        elif what == "lot" and "lots" in told:
            told["lots"] = ["b" if told["lots"] == ["a"] else "a"]
        elif what == "saved" and int(str(told.get("saved", 0))) > 3:
            del told["saved"]
        elif what == "pct" and "pct" in told:
            told["pct"] = 55
        else:
            return False
        return True

    text, number, _ = changed(change)
    assert int(text.split()[1].rstrip(",:")) >= number and "expected" in text


def test_a_lot_that_nobody_recorded_is_named() -> None:
    """A lot that is drawn again but is not in the file, and one that is in it but is not drawn."""
    text, number, told = changed(lambda told: bool(told.pop("lots", ())))
    assert f"line {number}, {at(told)} after the start: expected no lot drawn, got one." == text
    text, number, told = changed(lambda told: told["do"] == "hear" and bool(told.update(lots=["a"]) or True))
    assert f"line {number}, {at(told)} after the start: expected a lot drawn, got nothing." == text


def test_a_step_that_failed_fails_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error inside a step is in the trace as what came of it, and comes again; one that does not is named."""
    evening = Evenings(1)
    evening.drive.run_for(S)
    with monkeypatch.context() as broken:
        broken.setattr(Engine, "_look_at_the_hour", lambda *_: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            evening.drive.engine.check(evening.drive.now_us)
        lines = evening.tape.lines()
        assert b'"did":["failed ZeroDivisionError"]' in lines[-1]
        # Only the last step may fail while it is replayed: the others are another trace.
        assert 2 == replayed([lines[0], lines[-1].replace(b'"n":%d,' % len(lines), b'"n":2,')]).lines
    with pytest.raises(Difference, match="expected failed ZeroDivisionError, got nothing"):
        replayed(lines)
