"""The command line: what it prints, and what it exits with."""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from firmware.cli import main

TABLES = Path(__file__).parent / "tables"
GAMES = TABLES / "morbak_games.jsonl"
Output = pytest.CaptureFixture[str]


def test_perft_prints_the_count_alone(capsys: Output) -> None:
    """`morbak perft 3` is one number and nothing else."""
    assert 0 == main(["perft", "3"])
    assert ("117649\n", "") == capsys.readouterr()


def test_perft_of_nothing_is_one(capsys: Output) -> None:
    """There is one sequence of no actions."""
    assert 0 == main(["perft", "0"])
    assert "1\n" == capsys.readouterr().out


def test_perft_counts_every_known_position(capsys: Output) -> None:
    """Every position of the table has its counts, by the command, for one and two plies."""
    positions = json.loads((TABLES / "morbak_perft.json").read_text(encoding="utf-8"))["positions"]
    for position in positions:
        for depth in (1, 2):
            options = ["--rules", position["rules"] or "standard", "--position", position["position"]]
            assert 0 == main(["perft", str(depth), *options])
            assert f"{position['counts'][depth - 1]}\n" == capsys.readouterr().out


def test_divide_adds_up(capsys: Output) -> None:
    """`--divide` prints each first action with its count, then the sum."""
    assert 0 == main(["perft", "2", "--divide"])
    *lines, total = capsys.readouterr().out.splitlines()
    assert 49 == len(lines)
    assert int(total) == sum(int(line.split()[1]) for line in lines)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["perft"],
        ["perft", "-1"],
        ["perft", "x"],
        ["perft", "2", "--position", "nonsense"],
        ["perft", "2", "--rules", "chess"],
        ["run", "--port", "99999"],
        ["run", "--port", "x"],
        ["run", "--board", "nowhere"],
        ["run", "--board", "missing.toml"],
        ["run", "--config", "missing.toml"],
        ["run", "--host", "no.such.host.invalid"],
        ["replay", "missing.jsonl"],
        ["soak", "--games", "-1"],
        ["config"],
        ["config", "check", "missing.toml"],
        ["config", "check", "--board", "nowhere"],
        ["config", "show", "missing.toml"],
        ["state"],
        ["state", "export"],
        ["state", "import", "missing.jsonl"],
    ],
)
def test_misuse_exits_with_2_and_a_sentence(arguments: list[str], capsys: Output) -> None:
    """Usage and configuration that cannot be carried out exit with 2 and say why, without a traceback."""
    try:
        status = main(arguments)
    except SystemExit as ended:
        status = int(ended.code or 0)
    assert 2 == status
    told = capsys.readouterr().err
    assert told
    assert "Traceback" not in told


def test_the_version_is_told(capsys: Output) -> None:
    """One line, as it is in the package."""
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert (0, f"morbak {metadata.version('morbak-board')}\n") == (ended.value.code, capsys.readouterr().out)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "say what to do, such as `morbak run`; all of it: morbak --help"),
        (["perft", "x"], "'x': a whole number of 0 and more is wanted"),
        (["run", "--port", "x"], "'x' is no port; ports are 0 to 65535"),
        (["run", "--host", "192.0.2.77", "--port", "0"], "192.0.2.77 port 0: this machine has no such address; "),
        (["board", "serve", "--port", "/dev/ttyNONE"], "/dev/ttyNONE: there is no such port; look in /dev"),
        (["run", "--board", "mine"], "a file of your own ends in .toml"),
    ],
)  # fmt: skip
def test_a_mistake_is_said_in_words_of_the_user(
    arguments: list[str], words: str, tmp_path: Path, capsys: Output
) -> None:
    """What was given and what would do, and no name of a function of the program."""
    state = ["--state", str(tmp_path)] if "run" in arguments else []
    try:
        status = main([*arguments, *state])
    except SystemExit as ended:
        status = int(ended.code or 0)
    assert (2, True) == (status, words in capsys.readouterr().err)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('[board]\nname = "x"\nrows = 7\ncolumns = 7\n[matrix]\ndriver = "sim"\n[leds]\ndriver = "sim"\n'
         "[power]\nsupply_ma = 40\n", "power.supply_ma"),
        ('[board]\nname = "x"\nrows = 7\ncolumns = 7\n[matrix]\ndriver = "sim"\n[leds]\ndriver = "sim"\n'
         "[leds.order]\na1 = 0\nb1 = 0\n[power]\nsupply_ma = 4000\n", "leds.order"),
        ('[board]\nname = "x"\nrows = 9\ncolumns = 9\n[matrix]\ndriver = "sim"\n[leds]\ndriver = "sim"\n'
         "[power]\nsupply_ma = 4000\n", "board.rows"),
    ],
)  # fmt: skip
def test_a_board_that_contradicts_itself_is_refused(tmp_path: Path, text: str, key: str, capsys: Output) -> None:
    """Two cells on one LED, a supply below idle, a board of another size: exit 2 with file, key, value and reason."""
    profile = tmp_path / "mine.toml"
    profile.write_text(text, encoding="utf-8")
    assert 2 == main(["run", "--board", str(profile)])
    told = capsys.readouterr().err
    assert "mine.toml" in told
    assert key in told


def test_every_known_game_replays_to_itself(capsys: Output) -> None:
    """All 385 games come back from `replay --json` with the same result, reason, line and final position."""
    assert 0 == main(["replay", str(GAMES), "--json"])
    out = capsys.readouterr().out.splitlines()
    wanted = GAMES.read_text(encoding="utf-8").splitlines()
    assert (385, 385) == (len(wanted), len(out))
    for given, found in zip(map(json.loads, wanted), map(json.loads, out), strict=True):
        assert given == {key: found[key] for key in given}


def test_replay_names_line_and_index_and_goes_on(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unreadable and an illegal line are named by line and index; the others are still done; exit 1."""
    good = '{"v":1,"rules":"standard","starter":"a","moves":["d4","xd4"]}'
    illegal = '{"v":1,"rules":"standard","starter":"a","moves":["d4","d4"]}'
    lines = io.TextIOWrapper(io.BytesIO(f"{good}\nnot json\n\n{illegal}\n{good}\n".encode()), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", lines)
    assert 1 == main(["replay", "-", "--json"])
    told = capsys.readouterr()
    assert 2 == len(told.out.splitlines())
    first, second = told.err.splitlines()
    assert first.startswith("line 2: ")
    assert second.startswith("line 4: ")
    assert "1" in second.removeprefix("line 4: ")


def test_replay_survives_bytes_that_are_no_text(tmp_path: Path, capsys: Output) -> None:
    """Bytes that are not UTF-8 are an unreadable line, not a crash."""
    file = tmp_path / "games.jsonl"
    file.write_bytes(b'\xff\xfe{"v":1}\n{"v":1,"rules":"lite","starter":"b","moves":[]}\n')
    assert 1 == main(["replay", str(file)])
    told = capsys.readouterr()
    assert told.err.startswith("line 1: ")
    assert told.out.startswith("line 2: ")


def test_a_short_soak_finds_nothing_and_repeats(capsys: Output) -> None:
    """Two games through wires lose no touch, break no rule, and repeat to the same digest."""
    reports = []
    for _ in range(2):
        assert 0 == main(["soak", "--games", "2", "--seed", "7", "--json"])
        reports.append(json.loads(capsys.readouterr().out))
    first, second = ({key: value for key, value in report.items() if key != "cpu_s"} for report in reports)
    assert first == second
    assert (2, 0, 0) == (first["games"], first["lost_touches"], first["violations"])
    assert first["touches"] >= first["virtual_s"]


def test_help_has_examples() -> None:
    """The installed command explains itself."""
    shown = subprocess.run([sys.executable, "-m", "firmware.cli", "--help"], capture_output=True, text=True, check=True)
    for words in ("run", "records", "config", "state", "perft", "replay", "soak", "examples:", "exit status"):
        assert words in shown.stdout


@pytest.mark.parametrize("command", [["records"], ["config"], ["state"]])
def test_help_of_a_command_has_examples(command: list[str], capsys: Output) -> None:
    """Commands that have commands of their own show how they are used."""
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    assert 0 == ended.value.code
    assert f"examples:\n  morbak {command[0]} " in capsys.readouterr().out


@pytest.mark.parametrize("command", [["config", "show"], ["perft", "2"], ["replay", str(GAMES), "--json"]])
def test_a_full_standard_output_is_said(command: list[str]) -> None:
    """Where nothing more can be printed a command ends with 1 and a sentence, or quietly where its reader has left."""
    run = [sys.executable, "-m", "firmware.cli", *command]
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(run, stdout=full, stderr=subprocess.PIPE, text=True, env=buffered, check=False)
    assert (1, "morbak: standard output: No space left on device.\n") == (ended.returncode, ended.stderr)
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as broken:
        ended = subprocess.run(run, stdout=broken, stderr=subprocess.PIPE, text=True, env=buffered, check=False)
    assert (1, "") == (ended.returncode, ended.stderr)


def test_a_port_that_is_taken_is_said(capsys: Output, tmp_path: Path) -> None:
    """A second program on the page's port is told so in one sentence, before the board is touched (case C8)."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        assert 2 == main(["run", "--port", port, "--state", str(tmp_path / "state")])
    told = capsys.readouterr().err.strip().splitlines()
    assert (
        f"morbak: cannot listen on 127.0.0.1 port {port}: another program has it "
        "(`sudo ss -ltnp` says which); stop that, or choose another with --port." == told[-1]
    )
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("command", ["run", "config"])
def test_a_command_waits_for_no_other(command: str) -> None:
    """What other commands need is not imported, nor the page's server before the board plays: starts are short."""
    code = f"""
import sys
from firmware import cli
cli._parser({command!r})
print(*sorted(name for name in sys.modules if name.startswith(("firmware.commands_", "uvicorn", "starlette"))))"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ([] if command == "run" else ["firmware.commands_config"]) == ran.stdout.split()
