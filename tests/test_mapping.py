"""The guided walk of `morbak map`: whatever is wired wrongly is found, said, and written into the profile."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from random import Random

import msgspec
import pytest

from firmware.cli import main
from firmware.commands_map import walked
from firmware.station import RealStation
from hal import mapped, pinout, profile_text
from hal.errors import ProfileError
from hal.guide import PATIENCE_US, Ask, Guide
from hal.mapping_result import Mapped
from hal.profile import Profile, load, shipped
from hal.wiring import Degrees, EdgeStripsSection
from sim.miswiring import ORDERS, Miswiring, cells_of, chain_of, parse
from sim.workbench import Workbench

Output = pytest.CaptureFixture[str]
SIM = load(shipped("sim"))
ROWS = ("GPIO5", "GPIO6", "GPIO12", "GPIO13", "GPIO16", "GPIO19", "GPIO26")
COLUMNS = ("GPIO17", "GPIO27", "GPIO22", "GPIO23", "GPIO24", "GPIO25", "GPIO4")
WITH_PINS = SIM._replace(matrix=msgspec.structs.replace(SIM.matrix, rows=ROWS, columns=COLUMNS))
COLOURS = ("RGB", "RBG", "GRB", "GBR", "BRG", "BGR")


def walk(*faults: str, profile: Profile = SIM, seed: int = 0) -> Mapped:
    """What a simulated person finds on a board with these faults."""
    return walked(profile, Workbench(profile, *parse(list(faults)), seed=seed), lambda _: None)[0]


def text_with_pins() -> str:
    """The simulated board's profile, with the pins of the reference board."""
    pins = f"rows = {json.dumps(ROWS)}   # by the pinout\ncolumns = {json.dumps(COLUMNS)}\n"
    return shipped("sim").read_text(encoding="utf-8").replace("diodes = true", pins + "diodes = true", 1)


# -- what is found ----------------------------------------------------------------------------------------------------


def test_a_board_that_is_as_its_profile_says_is_found_so(capsys: Output) -> None:
    """A healthy board has no fault, nothing to change, and exit status 0; the drawing has its LEDs where they are."""
    assert 0 == main(["map"])
    told = capsys.readouterr().out
    assert "The board is as its profile says." in told
    assert " 7  42  43  44  45  46  47  48" in told
    assert "a simulated board: nothing here was measured on hardware" in told


def test_any_wiring_is_found_and_the_profile_then_says_it(seed: int, prove: bool, tmp_path: Path) -> None:
    """However lines, orientation, LEDs and colours are wired, the profile that is written has each pin at its cell."""
    random = Random(seed)
    for _ in range(200 if prove else 6):
        degrees: Degrees = random.choice((0, 90, 180, 270))
        wrong = Miswiring(
            swap_rows=(random.randrange(7), random.randrange(7)),
            swap_columns=(random.randrange(7), random.randrange(7)),
            rotate_deg=degrees,
            mirror=random.random() < 0.5,
            order=random.choice(ORDERS),
            colours=random.choice(COLOURS),
        )
        found, base = walked(WITH_PINS, Workbench(WITH_PINS, wrong=wrong, seed=seed), lambda _: None)
        changes = mapped.changes(WITH_PINS, base, found.wanted)
        path = tmp_path / "my.toml"
        path.write_text(profile_text.changed(text_with_pins(), changes, "my.toml"), encoding="utf-8")
        written = load(path)
        assert [] == found.faults, wrong
        assert wired_to(WITH_PINS, cells_of(WITH_PINS, wrong)) == wired_to(written, written.turned), wrong
        assert chain_of(WITH_PINS, wrong) == written.chain, wrong
        assert wrong.colours == written.leds.colour_order


@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize("rotate_deg", [0, 90, 180, 270])
def test_a_board_that_lies_turned_keeps_its_pins_in_order(rotate_deg: Degrees, mirror: bool) -> None:
    """What orientation alone explains is told as orientation, and no pins change places for it."""
    station = Workbench(WITH_PINS, wrong=Miswiring(rotate_deg=rotate_deg, mirror=mirror))
    wanted = walked(WITH_PINS, station, lambda _: None)[0].wanted
    assert (rotate_deg, mirror) == (wanted["board.rotate_deg"], wanted["board.mirror"])
    assert (list(ROWS), list(COLUMNS)) == (wanted["matrix.rows"], wanted["matrix.columns"])


def wired_to(profile: Profile, cells: tuple[int, ...]) -> dict[tuple[object, object], int]:
    """The cell under each pair of pins."""
    pairs = [(row, column) for row in profile.matrix.rows for column in profile.matrix.columns]
    return dict(zip(pairs, cells, strict=True))


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("order=serpentine", "the LEDs run row by row from a1 towards g1, there and back"),
        ("order=columns", "the LEDs run column by column from a1 towards a7, always the same way"),
        ("order=reversed", "the LEDs run row by row from g7 towards a7, always the same way"),
        ("order=shuffled", "the LEDs run in no regular order"),
        ("rotate_deg=90", "the wiring lies turned by 90 degrees"),
        ("mirror=on", "the wiring lies mirrored, as one that is wired from beneath"),
        ("swap_rows=3+4", "rows 3, 4 of the wiring have changed places: change their wires"),
        ("swap_columns=c+g", "columns 3, 7 of the wiring have changed places: change their wires"),
        ("turned=d4+e5", "the diode is the other way round at d4, e5: turn it"),
        ("turned=all", "the diodes are the other way round: rows and columns of the wiring must change places"),
        ("diodes=off", "three corners read as four: not every cell has a diode"),
        ("lost_row=1", "no cell of row 1 answers: its wire is off"),
        ("lost_row=5", "no cell of row 5 answers: its wire is off"),
        ("lost_column=a", "no cell of column a answers: its wire is off"),
        ("lost_column=g", "no cell of column g answers: its wire is off"),
        (
            "no_pull_up=c",
            "column 3 of the wiring reads closed in every row with nobody touching: its pull-up is missing",
        ),
        ("bridged=d3+e3", "one touch closes d3, e3: their contacts are bridged"),
        ("bridged=a1+b1", "one touch closes a1, b1: their contacts are bridged"),
        ("joined_rows=3+4", "rows 3 and 4 of the wiring answer together: a bridge joins them"),
        ("joined_columns=c+f", "columns 3 and 6 of the wiring answer together: a bridge joins them"),
        ("stuck=d4", "d4: closed with nobody touching; the contact sticks or is bridged"),
        ("stuck=a1", "a1: closed with nobody touching; the contact sticks or is bridged"),
        ("dead=a1+e5", "no answer from a1, e5: a contact, a diode or a joint is bad"),
        ("dark=e5", "LED 32 was not seen, and e5 was not lit"),
        ("dark=all", "no LED lights, or no colour was told"),
        ("shift=1", "each LED lights the cell after its own, the last none, and a1 stays dark"),  # case A19
    ],
)
def test_what_is_wrong_is_said(fault: str, sentence: str) -> None:
    """Each fault of a wiring is said in a sentence that names lines, cells or LEDs (cases A19, D1, G21)."""
    assert any(sentence in finding.text for finding in walk(fault).findings)


def test_a_mirrored_board_that_is_not_turned_is_not_called_turned() -> None:
    """Wired from beneath is said alone, without a turn by 0 degrees."""
    assert not [finding for finding in walk("mirror=on").findings if "turned" in finding.text]


@pytest.mark.parametrize("fault", ["dead=a1+b1+c1+d1+e1+f1+g1+a2+a3+a4+a5+a6+a7", "lost_column=d", "stuck=a1+g1+a7"])
def test_dead_edges_do_not_hide_the_rest(fault: str) -> None:
    """A wiring is found by whatever still answers: a dead edge is walked round, a line that is alone left concluded."""
    assert SIM.leds.order == walk(fault).wanted["leds.order"]


def test_two_lost_lines_are_named_and_nothing_is_guessed() -> None:
    """With two columns off nobody knows which is which, so both are named and no profile comes of it."""
    wired = Workbench(SIM, *parse(["dead=" + "+".join(f"{c}{r}" for c in "bd" for r in range(1, 8))]))
    found = walked(SIM, wired, lambda _: None)[0]
    assert {} == found.wanted
    assert 2 == sum("does not answer: its wire is off" in fault for fault in found.faults)


def test_a_silent_matrix_says_what_it_may_be() -> None:
    """A board on which nothing answers, from either side, is told so after six cells, and not walked over."""
    found = walk("dead=" + "+".join(f"{c}{r}" for c in "abcdefg" for r in range(1, 8)))
    assert found.silent
    assert found.faults[0].startswith("no contact answers (a1, b1, a2, b2, a3, b3 were tried)")


@pytest.mark.parametrize(("rows", "columns"), [(9, 9), (3, 5), (5, 3)])
def test_boards_of_other_sizes_are_walked_over(rows: int, columns: int) -> None:
    """Boards that are larger, or longer than wide, are found too, turned or not."""
    size = SIM._replace(board=msgspec.structs.replace(SIM.board, rows=rows, columns=columns))
    size = size._replace(chain=tuple(range(rows * columns)))
    for faults in ([], ["rotate_deg=180"], ["mirror=on"]):
        found = walk(*faults, profile=size)
        assert [] == found.faults
        assert ("rotate_deg=180" in faults) * 180 == found.wanted["board.rotate_deg"]


def test_strips_and_several_leds_a_cell_are_walked_over() -> None:
    """A chain with two LEDs a cell and edge strips lights cell by cell."""
    leds = msgspec.structs.replace(SIM.leds, per_cell=2)
    wide = SIM._replace(leds=leds, edge_strips=EdgeStripsSection(a=7, b=7))
    assert "serpentine" == walk("order=serpentine", profile=wide).wanted["leds.order"]


@pytest.mark.parametrize("per_cell", [1, 3])
def test_leds_have_the_numbers_that_the_pinout_gives_them(per_cell: int) -> None:
    """What the walk draws and names is counted from 0 along the chain, as the sheet of the wiring counts it."""
    profile = SIM._replace(leds=msgspec.structs.replace(SIM.leds, per_cell=per_cell))
    found = walk("dark=e5", profile=profile)
    assert f"LED {32 * per_cell} was not seen, and e5 was not lit" in found.faults
    drawn = mapped.drawn(mapped.numbers(walk(profile=profile).cell_of, per_cell), 0, 0, (7, 7))
    assert [line.split() for line in pinout.chain(profile)[:8]] == [line.split() for line in drawn]


# -- people -----------------------------------------------------------------------------------------------------------


class Clumsy(Workbench):
    """Somebody who touches another cell first, names a cell that is none, and goes back once."""

    slips = 0

    def typed(self, ask: Ask) -> str | None:
        if "12 of 49" in ask.text and self.slips == 0:
            self.slips = 1
            return "k9"
        if "13 of 49" in ask.text and self.slips == 1:
            self.slips = 2
            return "back"
        if "20 of 49" in ask.text and self.slips == 2:
            self.slips = 3
            return "a1"  # another LED's
        return super().typed(ask)


def test_slips_are_asked_about_and_undone() -> None:
    """A name that is none, a step too far and a cell that was another LED's are asked about, and do no harm."""
    said: list[str] = []
    found = walked(SIM, Clumsy(SIM), said.append)[0]
    assert "row-major" == found.wanted["leds.order"]
    assert ["the LEDs run row by row from a1 towards g1, always the same way"] == [text for _, text in found.findings]
    asked = "\n".join(said)
    assert "'k9' is no cell. Touch the cell that is lit (12 of 49" in asked
    assert "a1 was lit by LED 0 already. Touch the cell that is lit (20 of 49" in asked
    assert 2 == sum(text.startswith("Touch the cell that is lit (12 of 49") for text in said)


def test_nobody_there_ends_the_walk() -> None:
    """With nobody at the board the walk ends by itself, and says that nothing answered."""

    class Nobody(Workbench):
        def typed(self, ask: Ask) -> str | None:
            return None

    station = Nobody(SIM)
    assert walked(SIM, station, lambda _: None)[0].silent
    assert station.now_us() <= 20 * PATIENCE_US


def test_a_terminal_is_read_line_by_line_and_may_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is typed at a real board is taken without waiting, an end of it once."""
    read, write = os.pipe()
    with os.fdopen(read, encoding="utf-8") as terminal, os.fdopen(write, "w", encoding="utf-8") as keys:
        monkeypatch.setattr(sys, "stdin", terminal)
        station, ask = RealStation(), Ask("say", "", b"")
        before = station.typed(ask)
        keys.write("d4\n")
        keys.close()
        assert [None, "d4", None, None] == [before, *(station.typed(ask) for _ in range(3))]


# -- the file ---------------------------------------------------------------------------------------------------------


def test_the_profile_is_written_and_fits(tmp_path: Path, capsys: Output) -> None:
    """A new file has the board's profile with what was found, comments kept; the board is then as that says."""
    board, mine = tmp_path / "board.toml", tmp_path / "mine.toml"
    board.write_text(text_with_pins(), encoding="utf-8")
    wrong = ["--fault", "swap_rows=3+4", "--fault", "order=serpentine", "--fault", "colours=RGB"]
    assert 1 == main(["map", "--board", str(board), *wrong])
    assert 0 == main(["map", "--board", str(board), "--write", str(mine), *wrong])
    told = capsys.readouterr().out
    assert "rows 3, 4 of the wiring have changed places: GPIO12, GPIO13" in told
    assert f"{mine} says how the board is wired: morbak run --board {mine}" in told
    assert "# by the pinout" in mine.read_text(encoding="utf-8")
    assert ("GPIO13", "GPIO12") == load(mine).matrix.rows[2:4]
    assert ("serpentine", "RGB") == (load(mine).leds.order, load(mine).leds.colour_order)


def test_a_file_is_changed_only_by_force(tmp_path: Path, capsys: Output) -> None:
    """A file that is there is left alone; with --force its keys change and nothing else does."""
    mine = tmp_path / "mine.toml"
    mine.write_text("# my board\n" + text_with_pins().replace("3000", "5000", 1), encoding="utf-8")
    before = mine.read_text(encoding="utf-8")
    command = ["map", "--fault", "order=serpentine", "--write", str(mine)]
    assert 2 == main(command)
    assert f"{mine} is there already" in capsys.readouterr().err
    assert before == mine.read_text(encoding="utf-8")
    assert 0 == main([*command, "--force"])
    assert before.replace('order = "row-major"', 'order = "serpentine"') == mine.read_text(encoding="utf-8")


def test_nothing_is_written_of_what_is_not_known(tmp_path: Path, capsys: Output) -> None:
    """Of a walk that told too little no profile is made; one with a dead cell is written and stays exit status 1."""
    mine = tmp_path / "mine.toml"
    assert 2 == main(["map", "--fault", "shift=1", "--write", str(mine)])
    assert "is not written: too little is known" in capsys.readouterr().err
    assert not mine.exists()
    assert 1 == main(["map", "--fault", "dead=d4", "--fault", "mirror=on", "--write", str(mine)])
    assert load(mine).board.mirror


def test_what_was_found_is_told_to_programs(capsys: Output) -> None:
    """--json is one object and nothing else: LEDs by cell, findings, what to change, and that it was simulated."""
    assert 1 == main(["map", "--json", "--fault", "order=serpentine", "--fault", "dead=d4"])
    found = json.loads(capsys.readouterr().out)
    assert "simulated" == found["rung"]
    assert ["g2", "f2"] == found["leds"][7:9]
    assert (["d4"], []) == (found["dead"], found["stuck"])
    assert {"leds.order": "serpentine"} == found["changes"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--board", "reference"], "has no GPIO chip (/dev/gpiochip*): use a Raspberry Pi, or play on `morbak run"),
        (["--board", "pi5"], "has no GPIO chip (/dev/gpiochip*): use a Raspberry Pi, or play on `morbak run"),
        (["--board", "pwm"], "has no GPIO chip (/dev/gpiochip*): use a Raspberry Pi, or play on `morbak run"),
        (["--board", "reference", "--fault", "stuck=d4"], "--fault is for simulated boards"),
        (["--fault", "stuk=d4"], "no such fault; there are: bounce_us, bridged,"),
        (["--fault", "swap_rows=3"], "write two rows of the wiring, such as 3+4"),
        (["--fault", "leds_fail_rate=1"], "the LED chain does not take a frame"),
        (["--fault", "lines_fail_rate=1"], "matrix: row 0 cannot be driven"),
        (["--write", "/nowhere/my.toml", "--fault", "mirror=on"], "there is no directory /nowhere; make it"),
    ],
)
def test_what_cannot_be_walked_over_is_one_sentence(arguments: list[str], said: str, capsys: Output) -> None:
    """No hardware, wrong faults and parts that fail are one sentence and exit status 2."""
    assert 2 == main(["map", *arguments])
    told = capsys.readouterr().err
    assert said in told
    assert "Traceback" not in told


# -- the text of a profile --------------------------------------------------------------------------------------------

TEXT = """[board]
name = "a [strange] # name"   # with a comment
rows = 7

[leds]  # light
order = [
    "a1", "b1",   # the first two ]
]
[leds.other]
x = 1

[matrix]
rows = ["GPIO1"]
"""


def test_keys_are_changed_in_place() -> None:
    """A value on one line keeps its comment, one on several goes as a whole, a new key joins its section."""
    new = profile_text.changed(
        TEXT, {"board.name": "x", "leds.order": "row-major", "board.mirror": True, "power.supply_ma": 3000}, "f"
    )
    wanted = TEXT.replace('"a [strange] # name"', '"x"').replace("rows = 7\n", "rows = 7\nmirror = true\n")
    wanted = wanted.replace('[\n    "a1", "b1",   # the first two ]\n]', '"row-major"')
    assert wanted + "\n[power]\nsupply_ma = 3000\n" == new


def test_an_order_that_is_a_table_becomes_a_key() -> None:
    """`[leds.order]` goes, and the order is a key of `[leds]`."""
    text = '[leds]\ndriver = "sim"\n\n[leds.order]\na1 = 0\nb1 = 1\n\n[matrix]\nx = 1\n'
    assert '[leds]\ndriver = "sim"\norder = "serpentine"\n\n[matrix]\nx = 1\n' == profile_text.changed(
        text, {"leds.order": "serpentine"}, "f"
    )


@pytest.mark.parametrize("text", ['board = { name = "x" }\n', 'board.name = "x"\n', '[board]\n"name" = "x"\n'])
def test_a_text_of_another_shape_is_refused(text: str) -> None:
    """A profile that says its keys in a way that is not understood is refused and never half changed."""
    with pytest.raises(ProfileError, match=r"f: board\.name: these keys cannot be changed"):
        profile_text.changed(text, {"board.name": "y"}, "f")


# -- touches ----------------------------------------------------------------------------------------------------------


def heard(*moves: tuple[int, int]) -> object:
    """What a guide makes of masks from times on, scanned each millisecond."""

    def script():  # type: ignore[no-untyped-def]
        return (yield Ask("touch", "", b""))

    guide: Guide[object] = Guide(script())
    for t_us in range(0, moves[-1][0] + 200_000, 1_000):
        closed = [mask for at_us, mask in moves if at_us <= t_us]
        guide.step(t_us, closed[-1] if closed else 0)
    return guide.result


def test_a_touch_tells_how_its_contact_bounced() -> None:
    """A press and a release are told apart, each with how long it surely bounced; the time is the first scan's."""
    touch = heard((1_000, 2), (2_000, 0), (4_000, 2), (100_000, 0), (101_000, 2), (107_000, 0))
    assert (1_000, 2, {1: (2_000, 6_000)}, 0, True) == touch[:5]  # type: ignore[index]


def test_glitches_are_no_touch_and_no_second_contact() -> None:
    """What is shorter than a finger is left out, alone and beside a touch (case C13)."""
    assert heard((1_000, 4), (4_000, 0)) is None
    assert 2 == heard((1_000, 2), (50_000, 6), (54_000, 2), (100_000, 0)).places  # type: ignore[attr-defined]


def test_a_contact_that_opens_under_a_finger_is_told() -> None:
    """A contact that is open for a while in the middle of a touch is broken."""
    touch = heard((0, 3), (100_000, 1), (160_000, 3), (260_000, 0))
    assert 2 == touch.broken  # type: ignore[attr-defined]


def test_a_touch_that_does_not_end_is_told() -> None:
    """A contact that is closed after five seconds does not open again."""
    touch = heard((0, 1), (5_100_000, 1))
    assert (1, False) == (touch.places, touch.lifted)  # type: ignore[attr-defined]


def test_the_command_can_be_given_no_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """A real board without a terminal is asked nothing that it could answer."""
    monkeypatch.setattr(sys, "stdin", None)
    assert RealStation().typed(Ask("say", "", b"")) is None


@pytest.mark.parametrize("name", ["my.txt", "gone/my.toml", ".", "a b"])
def test_a_name_that_cannot_be_written_is_refused_before_the_walk(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody walks over a board for a file that could not be written, or not be used."""
    assert 2 == main(["map", "--write", str(tmp_path / name)])
    told = capsys.readouterr()
    assert ("", 1) == (told.out, len(told.err.splitlines()))
