"""The self-test: every fault of a board is found and named, and no figure claims more than it rests on."""

# ruff: noqa: ARG005 - what replaces a method takes its arguments

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from firmware import chosen
from firmware.choosing import Chosen
from firmware.cli import main
from firmware.commands_map import walked
from firmware.commands_selftest import examined
from firmware.state_directory import StateDirectory
from firmware.station import sit
from hal import conformance_boards, mapped, selftest_text
from hal.conformance import Bench, Broken
from hal.errors import PartError
from hal.guide import Ask, Guide
from hal.pixels import Limiter, LimiterState
from hal.ports import Leds, Lines
from hal.profile import Profile, load, shipped
from hal.selftest import Answers
from hal.selftest_report import RESTS_ON, Facts, Report, histogram, report
from hal.ws2812 import wire_us
from sim.miswiring import parse
from sim.workbench import Workbench
from tests.test_conformance import (
    DroppedReleases,
    GhostGuessed,
    HidesWhatWasClosed,
    LostRow,
    PushPull,
    SwappedAxes,
    faults,
    pin_by_pin,
    simulator,
)
from tests.test_conformance_leds import ColoursSwapped, Driver, Late, OffByOne, board, rejected
from tests.test_conformance_leds import simulator as chain

Output = pytest.CaptureFixture[str]
SIM = load(shipped("sim"))


def found(*given: str, profile: Profile = SIM, seed: int = 0) -> Report:
    """What the test of a simulated board with these faults reports."""
    return examined(profile, quick(Workbench(profile, *parse(list(given)), seed=seed)), lambda _: None)


def quick(station: Workbench) -> Workbench:
    """Scanned as often as a board in play: enough for all but the finest figures."""
    station.scan_us = 1_000
    return station


# -- what is found ----------------------------------------------------------------------------------------------------


def test_a_healthy_board_has_no_fault(capsys: Output) -> None:
    """A healthy board: 49 cells, three colours, no fault, no warning, exit status 0."""
    assert 0 == main(["selftest"])
    told = capsys.readouterr().out
    assert "cells     49 ok" in told
    assert "LEDs      red: ok, green: ok, blue: ok" in told
    assert told.endswith("0 faults, 0 warnings.\n")


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("stuck=d4", "d4: closed with nobody touching"),
        ("dead=e5", "no answer from e5: a contact, a diode or a joint is bad"),
        ("turned=c2", "no answer from c2: a contact, a diode or a joint is bad"),
        ("lost_row=5", "no cell of row 5 answers"),
        ("lost_column=b", "no cell of column b answers"),
        ("no_pull_up=c", "c1, c2, c3, c4, c5, c6, c7: closed with nobody touching"),
        ("bridged=d3+e3", "d3, e3: one touch closes several contacts"),
        ("swap_rows=3+4", "a3 was lit, and a touch there is heard as a4"),
        ("order=serpentine", "a2 was lit, and a touch there is heard as g2"),
        ("rotate_deg=180", "a1 was lit, and a touch there is heard as g7"),
        ("diodes=off", "three corners held read as four: matrix.diodes = true is not so"),
        ("dark=e5", "e5 does not shine green"),
        ("dark=f6", "f6: nothing was lit when it should have been"),
        ("shift=1", "a1 does not shine red"),  # case A19
        ("colours=RGB", "red shows as green: leds.colour_order = 'GRB' does not fit"),
        ("bounce_us=20000", "longer than matrix.release_us = 10000, so one touch may count as two"),  # case D6
        ("settle_us=20", "one touch closes several contacts"),  # case D18
    ],
)
def test_a_fault_is_found(fault: str, sentence: str) -> None:
    """Each fault that is injected is said in a sentence that names the cells, the key or the colour (case A25, G21)."""
    assert any(sentence in told for told in found(fault).faults)


class Flickers:
    """A matrix whose contact a3 never rests."""

    def __init__(self, lines: Lines) -> None:
        self.lines, self.row, self.turn = lines, 0, 0

    def select(self, row: int | None) -> None:
        self.row = row
        self.lines.select(row)

    def read(self) -> int:
        self.turn += 1
        return self.lines.read() | int(self.row == 2 and self.turn // 7 % 5 == 0)

    def close(self) -> None:
        self.lines.close()


def test_noise_is_found() -> None:
    """A contact that moves with nobody touching is named, and does not disturb the test of others (cases C13, D29)."""
    told = examined(SIM, quick(Workbench(SIM, lines_as=Flickers)), lambda _: None)
    assert "a3: moves with nobody touching; look for a loose wire or a missing pull-up" in told.faults
    assert ("a3",) == told.out


def test_a_bounce_longer_than_the_profile_says_is_a_warning() -> None:
    """Contacts that bounce longer than they should, and shorter than the debounce, are no fault yet."""
    told = found("bounce_us=9000")
    assert () == told.faults
    assert "longer than matrix.bounce_us = 5000" in told.warnings[0]


def test_each_cell_has_its_longest_bounce_in_the_picture() -> None:
    """The board is drawn with what every cell's contact did, and with those that did nothing."""
    told = found("stuck=d4", "dead=e5")
    rows = [line.split() for line in told.bounces]
    assert ["d4", "e5"] == [
        f"{'abcdefg'[at - 1]}{row[0]}" for row in rows[::-1] for at, text in enumerate(row) if "--" in text
    ]
    assert ("--!", "--x") == (rows[3][4], rows[2][5])
    a1 = told.document["cells"]["a1"]
    assert f"{max(a1['press_bounce_us'], a1['release_bounce_us']) / 1000:.1f}" == rows[6][1]
    assert all(line.strip() in "\n".join(selftest_text.lines(told)) for line in told.bounces)


def test_bounces_are_counted_by_their_length() -> None:
    """The histogram has every press and release in the bucket of its length; the contacts were made for 3."""
    bounce = examined(SIM, Workbench(SIM), lambda _: None).document["bounce"]
    assert 49 == sum(bounce["press"].values()) == sum(bounce["release"].values())
    assert 0 == sum(
        count for label, count in bounce["press"].items() if label not in ("up to 1 ms", "up to 2 ms", "up to 3 ms")
    )
    assert [2, 1, 0, 0, 0, 0, 1] == list(histogram((0, 1_000, 1_001, 20_001)).values())


def test_light_answers_within_its_time_on_the_wire() -> None:
    """From the scan to the strip's latch passes what a frame takes on the wire, and no more."""
    latency = found().document["latency"]
    wire = wire_us(SIM.led_count, SIM.leds.spi_hz, idles_high=False)
    assert 49 == latency["count"]
    assert latency["median_us"] <= latency["max_us"] <= wire + 1_000


def test_a_long_chain_may_take_as_long_as_its_wire() -> None:
    """392 LEDs keep the wire for longer than 49 may take in all: no fault, and a driver that is late on top is one."""
    leds = msgspec.structs.replace(SIM.leds, per_cell=8)
    long = SIM._replace(leds=leds, power=msgspec.structs.replace(SIM.power, supply_ma=20_000))
    healthy = found(profile=long)
    assert (12_000 < healthy.document["latency"]["median_us"]) and () == healthy.faults
    station = quick(Workbench(long))
    station._leds_as = lambda driver: late(driver, station)
    told = examined(long, station, lambda _: None).faults
    assert any("ms are allowed with 392 LEDs: their driver is late" in fault for fault in told)


def test_white_stays_within_the_budget_and_uses_it() -> None:
    """The most that was asked for is the model's figure for white under the limit, and is told with the budget."""
    current = found().document["current"]
    assert 0.9 * 2100 < current["peak_ma"] <= current["budget_ma"] == 2100
    assert current["supply_holds"] is None


@pytest.mark.parametrize("profile", [SIM._replace(matrix=msgspec.structs.replace(SIM.matrix, diodes=False))])
def test_a_board_without_diodes_is_tested_too(profile: Profile) -> None:
    """Without diodes a board has no fault, and one whose profile forgets them is told."""
    assert () == found(profile=profile).faults
    assert "missing" == found(profile=profile).document["diodes"]
    assert any("every corner has its diode" in told for told in found("diodes=on", profile=profile).warnings)


def test_a_touch_that_was_no_good_is_asked_for_again() -> None:
    """Somebody who touches another cell once is asked once more, and the board is not blamed."""

    class Clumsy(Workbench):
        slipped = False

        def typed(self, ask: Ask) -> str | None:
            if "(9 of 49" in ask.text and not self.slipped:
                self.slipped = True
                self.contacts.press(40, self.now_us())
                self.contacts.release(40, self.now_us() + 150_000)
                return None
            return super().typed(ask)

    said: list[str] = []
    assert () == examined(SIM, quick(Clumsy(SIM)), said.append).faults
    assert any(text.startswith("Once more, one finger") and "(9 of 49" in text for text in said)


def test_a_cell_that_nobody_touches_is_dead_after_a_while() -> None:
    """A time-out marks a cell dead, and what nobody looked at is told as that."""

    class Nobody(Workbench):
        scan_us = 500_000

        def typed(self, ask: Ask) -> str | None:
            return None

    station = Nobody(SIM)
    report = examined(SIM, station, lambda _: None)
    assert 49 == len(report.out)
    assert "nobody said whether the LEDs shine red" in report.faults
    assert station.now_us() < 15 * 60 * 1_000_000


# -- the report -------------------------------------------------------------------------------------------------------


def test_the_report_is_kept_as_text_and_json(tmp_path: Path, capsys: Output) -> None:
    """--report writes what is printed, and beside it the same for programs."""
    assert 1 == main(["selftest", "--fault", "dead=e5", "--report", str(tmp_path / "board.txt")])
    told = capsys.readouterr().out
    assert (tmp_path / "board.txt").read_text(encoding="utf-8") in told
    kept = json.loads((tmp_path / "board.json").read_text(encoding="utf-8"))
    assert "dead" == kept["cells"]["e5"]["state"]
    assert "ok" == kept["cells"]["d4"]["state"]
    assert kept["cells"]["d4"]["press_bounce_us"] <= 3_000
    assert 1 == main(["selftest", "--fault", "dead=e5", "--json"])
    assert kept == json.loads(capsys.readouterr().out)


def test_a_simulated_board_is_never_told_as_a_real_one() -> None:
    """The report of a simulated board says so of every figure, and none of its rungs reads as measured."""
    told = found()
    assert "simulated" == told.document["rung"]
    assert RESTS_ON["simulated"] == told.document["rests_on"]
    assert "nothing here was measured on hardware" in next(selftest_text.lines(told))
    assert all("simulated" in why or "model" in why or "not tried" in why for why in told.document["rests_on"].values())


def test_a_real_boards_report_says_what_somebody_said() -> None:
    """Of a real board colours are what somebody said, current is the model's, and a sagging supply is a fault."""
    told = report(SIM, Answers(colours={"red": ""}), Facts("real", 500, 900, 2000.0, supply=False))
    assert "somebody looked and said so" in told.document["rests_on"]["leds"]
    assert "not measured" in told.document["rests_on"]["current"]
    assert ("the supply's voltage sags under white: use a stronger 5 V supply, with thicker wires",) == told.faults


# -- out of use -------------------------------------------------------------------------------------------------------


def test_cells_are_put_out_of_use_when_that_is_wanted(tmp_path: Path, capsys: Output) -> None:
    """Dead and stuck cells join those that are out of use, all else that was chosen stays; unasked nothing changes."""
    chosen.save(tmp_path, Chosen(brightness_pct=35, out=("a1",)))
    command = ["selftest", "--fault", "stuck=d4", "--fault", "dead=e5", "--state", str(tmp_path)]
    assert 1 == main(command)
    assert "d4, e5: out of use with --put-out." in capsys.readouterr().out
    assert Chosen(brightness_pct=35, out=("a1",)) == chosen.load(tmp_path)[0]
    assert 1 == main([*command, "--put-out"])
    assert Chosen(brightness_pct=35, out=("a1", "d4", "e5")) == chosen.load(tmp_path)[0]


def test_nothing_is_put_out_of_use_under_a_running_board(tmp_path: Path, capsys: Output) -> None:
    """A state directory that a board has is left alone, and its holder is named."""
    with closing(StateDirectory.open(tmp_path)):
        assert 2 == main(["selftest", "--fault", "dead=e5", "--state", str(tmp_path), "--put-out"])
    told = capsys.readouterr().err
    assert "e5 not put out of use: The state directory" in told
    assert "is in use by process" in told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--board", "reference"], "morbak: "),
        (["--board", "reference", "--fault", "stuck=d4"], "--fault is for simulated boards"),
        (["--fault", "lines_fail_rate=1"], "matrix: row 0 cannot be driven"),
        (["--fault", "leds_fail_rate=1"], "the LED chain does not take a frame"),
        (["--report", "/nowhere/board.txt"], "there is no directory /nowhere; make it"),
    ],
)
def test_what_cannot_be_tested_is_one_sentence(arguments: list[str], said: str, capsys: Output) -> None:
    """A board that cannot be tested is one sentence and exit status 2."""
    assert 2 == main(["selftest", *arguments])
    told = capsys.readouterr().err
    assert said in told
    assert "Traceback" not in told


def test_leds_that_fail_under_way_end_the_test() -> None:
    """A chain that stops to answer ends the test in a sentence, and is left to its close."""

    class Fails:
        def __init__(self, leds: Leds) -> None:
            self.leds, self.left = leds, 5

        def write(self, frame: bytes) -> None:
            self.left -= 1
            if not self.left:
                raise PartError("the bus is gone")
            self.leds.write(frame)

        def close(self) -> None:
            self.leds.close()

    with pytest.raises(PartError, match="the LEDs do not answer: the bus is gone"):
        examined(SIM, Workbench(SIM, leds_as=Fails), lambda _: None)


def test_the_loop_leaves_the_board_dark(monkeypatch: pytest.MonkeyPatch) -> None:
    """However a test ends, the chain is dark after it (case A28)."""
    station = Workbench(SIM)

    def say(text: str) -> None:
        if "(3 of 49" in text:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        examined(SIM, station, say)
    station.wait_until(station.strip.busy_until_us + 1_000)
    station.strip.settle(station.now_us())
    assert not any(station.strip.latched.frame)


@pytest.mark.parametrize("command", ["map", "selftest"])
def test_whoever_stops_is_told_that_nothing_was_written(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    """Ctrl-C ends a walk or a test in a sentence, with exit status 2, and leaves no file."""

    def typed(self: Workbench, ask: Ask) -> str | None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Workbench, "typed", typed)
    option = {"map": "--write", "selftest": "--report"}[command]
    assert 2 == main([command, option, str(tmp_path / "x.toml")])
    assert "morbak: stopped on the way: the board is dark, and nothing was written.\n" == capsys.readouterr().err
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize(("typed", "out"), [("y\n", ("e5",)), ("n\n", ()), ("", ())])
def test_somebody_at_a_real_board_is_asked(
    typed: str, out: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a real board cells are put out of use on a yes alone, and nobody there is no yes."""
    monkeypatch.setattr(Workbench, "rung", "real")
    monkeypatch.setattr(Workbench, "person", True)
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert 1 == main(["selftest", "--fault", "dead=e5", "--state", str(tmp_path)])
    assert out == chosen.load(tmp_path)[0].out


def test_a_late_scan_makes_no_bounce_longer() -> None:
    """A board that is scanned late now and then is not told that its contacts bounce for that long."""

    class Stalls(Workbench):
        seen, opened = 0, False

        def wait_until(self, t_us: int) -> None:
            super().wait_until(t_us + (13_000 if self.opened else 0))
            closed = self.contacts.closed(self.now_us())
            self.opened, self.seen = closed < self.seen, closed

    told = examined(SIM, quick(Stalls(SIM)), lambda _: None)
    assert () == told.faults + told.warnings
    assert 13_000 <= told.document["scan_us"]["longest"]


# -- ten drivers and wirings that are wrong ----------------------------------------------------------------------------


class Sends:
    """Sends other bytes than it is given."""

    def __init__(self, leds: Leds, wire: Callable[[bytes], bytes]) -> None:
        self.leds, self.wire = leds, wire

    def write(self, frame: bytes) -> None:
        self.leds.write(self.wire(frame))

    def close(self) -> None:
        self.leds.close()


def late(leds: Leds, station: Workbench) -> Leds:
    """Waits for 20 ms before each frame."""

    def wire(frame: bytes) -> bytes:
        station.strip.transfer(bytes(6_000), station.now_us())
        return frame

    return Sends(leds, wire)


def swapped(frame: bytes) -> bytes:
    """Red and green change places."""
    return b"".join(bytes((frame[at + 1], frame[at], frame[at + 2])) for at in range(0, len(frame), 3))


class Wrong(NamedTuple):
    """One thing that is wrong, as each suite meets it; None where a suite has nothing to do with it.

    `lines`: a driver over right lines. `pins`: one on gpiozero's pins. `chain`: a driver of LEDs. `wired`: a board
    whose chain is not its profile's. `leds`, `faults`: the same before whoever walks or tests. `no_limit`: the limiter
    lets all through. `diodes`: whether the board has them.
    """

    rejected_by: str
    lines: Callable[[Lines], Lines] | None = None
    pins: Callable[..., Lines] | None = None
    chain: Driver | None = None
    wired: Profile | None = None
    leds: Callable[[Leds, Workbench], Leds] | None = None
    faults: tuple[str, ...] = ()
    no_limit: bool = False
    diodes: bool = True


TEN = {
    "swapped axes": Wrong("lines map selftest", lines=SwappedAxes),
    "LED order off by one": Wrong(
        "leds board map selftest",
        chain=OffByOne,
        wired=SIM._replace(chain=(48, *range(48))),
        leds=lambda leds, _: Sends(leds, lambda frame: frame[-3:] + frame[:-3]),
    ),
    "dropped releases": Wrong("lines map selftest", lines=DroppedReleases),
    "lost row": Wrong("lines map selftest", lines=LostRow),
    "push-pull rows": Wrong("lines", pins=PushPull),
    "late frames": Wrong("leds selftest", chain=Late, leds=late),
    "wrong colour order": Wrong(
        "leds board map selftest",
        chain=ColoursSwapped,
        wired=SIM._replace(leds=msgspec.structs.replace(SIM.leds, colour_order="RGB")),
        leds=lambda leds, _: Sends(leds, swapped),
    ),
    "limiter bypassed": Wrong("board selftest", no_limit=True),
    "ghost guessed": Wrong("lines map selftest", lines=GhostGuessed, diodes=False),
    "stuck cell unnoticed": Wrong("lines map selftest", lines=HidesWhatWasClosed, faults=("stuck=d4",)),
}


def rejecting(wrong: Wrong) -> set[str]:
    """The suites that reject it."""
    profile = SIM._replace(matrix=msgspec.structs.replace(SIM.matrix, diodes=wrong.diodes))

    def station() -> Workbench:
        made = Workbench(profile, *parse(list(wrong.faults)), lines_as=wrong.lines or (lambda lines: lines))
        if wrong.leds is not None:
            made = Workbench(profile, leds_as=lambda leds: wrong.leds(leds, made))  # type: ignore[misc]
        return quick(made)

    walk, base = walked(profile, station(), lambda _: None)
    suites = {
        "lines": any(list(faults(bench)) for bench in _benches(wrong)),
        "leds": wrong.chain is not None and bool(rejected(chain(wrong.chain))),
        "board": _rejected_board(profile, wrong),
        "map": bool(walk.faults) or not walk.wanted or bool(mapped.changes(profile, base, walk.wanted)),
        "selftest": bool(examined(profile, station(), lambda _: None).faults),
    }
    return {suite for suite, rejects in suites.items() if rejects}


def _benches(wrong: Wrong) -> list[Bench]:
    if wrong.pins is not None:
        return [pin_by_pin(False, wrong.pins)]
    bench = simulator(wrong.diodes)
    return [bench._replace(open=lambda: wrong.lines(bench.open()))] if wrong.lines is not None else []


def _rejected_board(profile: Profile, wrong: Wrong) -> bool:
    try:
        for check in conformance_boards.BOARDS:
            check(board(profile, wrong.wired))
    except Broken:
        return True
    return False


@pytest.mark.parametrize("name", TEN)
def test_ten_wrong_drivers_and_wirings_are_rejected(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is rejected by the suites that are named with it, and by no other: the table tells what each can see."""
    if TEN[name].no_limit:
        monkeypatch.setattr(Limiter, "step", lambda self, chain, t_us, state: (chain, LimiterState(t_us, 0)))
    assert set(TEN[name].rejected_by.split()) == rejecting(TEN[name])


def test_what_is_right_is_rejected_by_none() -> None:
    """The same suites let a right driver on a right board pass, with diodes and without."""
    assert 10 == len(TEN)
    for diodes in (True, False):
        assert set() == rejecting(Wrong("", lines=lambda lines: lines, diodes=diodes))


def test_a_guide_without_anything_to_ask_is_over() -> None:
    """A script that asks nothing ends at once, and the loop with it."""

    def script():  # type: ignore[no-untyped-def]
        return 3
        yield

    guide: Guide[int] = Guide(script())
    station = Workbench(SIM)
    with closing(station.lines(SIM, exchanged=False)) as lines:
        sit(guide, station, SIM, (lines, station.leds(SIM)), None, lambda _: None, 1_000)
    assert 3 == guide.result
