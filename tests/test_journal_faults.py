"""The journal when the power, the disk or the file fails: what was accepted is there, or the reason is said."""

from __future__ import annotations

import random
import re
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

import pytest

from firmware.journal import DATABASE, Found, Journal
from firmware.state_directory import StateDirectory
from tests.journal_play import WALL, Putter, index_of, saves

ROOT = Path(__file__).parent.parent
SIDES = ("", "-wal", "-shm", ".building", ".building-wal", ".building-journal")
CALLS = ("pwrite64", "fdatasync", "fsync", "pread64", "read", "rename", "openat", "ftruncate", "unlink")
# Calls that every game makes, as against those of setting up and setting aside.
OFTEN = {"pwrite64": "unplugged", "fdatasync": "unplugged"}
# The only failures that may pass without a word, as strace shows them.
UNTOLD = {
    r'openat\([^"]*"[^"]*-[a-z]+", O_RDONLY\|O_CLOEXEC\)': "SQLite opens the directory to sync it; so does the journal"
}  # fmt: skip


def player(path: Path, number: int, *before: str) -> subprocess.Popen[str]:
    """The player of known games as a program, `before` in front of its command."""
    command = [*before, sys.executable, "-m", "tests.journal_play", str(path), str(number)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)


def failing(path: Path, number: int, log: Path, *injections: str, sides: tuple[str, ...] = SIDES) -> str:
    """What the player prints while system calls on the journal's files fail as injected; it has to end well."""
    files = [f"{path / DATABASE}{side}" for side in sides]
    calls = {injection.split(":")[0] for injection in injections}
    options = ["-y", f"--trace={','.join(calls)}", *(f"--inject={injection}" for injection in injections)]
    traced = [f"--trace-path={name}" for name in (str(path), *files)]
    with player(path, number, "strace", "-f", "--seccomp-bpf", "-o", str(log), *options, *traced) as process:
        said, errors = process.communicate(timeout=60)
    assert (0, "") == (process.returncode, errors), said + errors
    assert "Traceback" not in said
    return said


def look(path: Path) -> tuple[Found, list[str]]:
    """What a start finds, and the records; nothing is written."""
    directory = StateDirectory.open(path)
    journal, found = Journal.open(directory, lambda: WALL)
    records = list(journal.records())
    assert journal.close()
    directory.close()
    return found, records


def finished_before(index: int) -> int:
    """How many of the first saves, up to that one, finish a game."""
    return sum(finished for _, finished in islice(saves(), index + 1))


def check(path: Path, index: int) -> None:
    """The journal holds exactly what it holds after save `index` was put as the last."""
    found, records = look(path)
    assert index == index_of(found)
    assert next(islice(saves(), index, None)) == (found.newest, found.finished)
    assert finished_before(index) == len(records)


@pytest.fixture(scope="module")
def unplugged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state directory of a board whose plug was pulled in its third game, with the log not yet in the table."""
    path, copy = tmp_path_factory.mktemp("before"), tmp_path_factory.mktemp("state") / "unplugged"
    putter = Putter(path)
    for save, finished in islice(saves(), 100):
        putter.put(save, finished)
    shutil.copytree(path, copy)
    putter.close()
    return copy


@pytest.fixture
def template(unplugged: Path, tmp_path: Path) -> Path:
    """A copy of that directory."""
    return Path(shutil.copytree(unplugged, tmp_path / "template"))


# -- the power -----------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_killed_board_has_the_last_save_or_the_one_before(tmp_path: Path, seed: int, prove: bool) -> None:
    """Killed at random moments, again and again in one directory, the journal never loses a save that was told saved,
    and never holds one that was not put (cases F15, F16, G5)."""
    chance = random.Random(seed)
    last = -1
    for _ in range(50 if prove else 8):
        with player(tmp_path, 100_000) as process:
            assert process.stdout is not None
            lines = list(islice(process.stdout, chance.randrange(2, 120)))
            until_ns = time.perf_counter_ns() + chance.randrange(3_000_000)  # anywhere within the next commit
            while time.perf_counter_ns() < until_ns:
                pass
            process.kill()
            lines += process.stdout
        assert [f"found {last}\n"] == [line for line in lines if line.startswith(("found", "said"))]
        put = max([last, *(int(line.split()[1]) for line in lines if line.startswith("put") and line.endswith("\n"))])
        saved = max([last, *(int(line.split()[1]) for line in lines if line.startswith("saved") and line[-1] == "\n")])
        found, records = look(tmp_path)
        last = index_of(found)
        assert saved <= last <= max(put, saved + 1)
        assert next(islice(saves(), last, None)) == (found.newest, found.finished)
        assert finished_before(last) == len(records)


# -- the disk ------------------------------------------------------------------------------------------------------


@pytest.mark.strace
@pytest.mark.long
@pytest.mark.parametrize("call", CALLS)
def test_any_call_may_fail_once(
    call: str, template: Path, tmp_path: Path, prove: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whichever write, sync, read, rename of a game fails, the game is saved to its end, and the failure is said.

    In full for every n until nothing needs an n-th call, from an empty directory, after a power cut, and while a
    damaged file is being set aside; else for a few n from one of them. A failure that says nothing has to be one of
    `UNTOLD`; the journal is complete all the same (case F15).
    """
    starts = ("empty", "unplugged", "damaged") if prove else (OFTEN.get(call, "damaged"),)
    untold, failed = Counter[str](), 0
    for number in count(1) if prove else (1, 6, 64, 512):
        injected = 0
        for start in starts:
            path = tmp_path / f"{call}-{number}-{start}"
            shutil.copytree(template, path)
            prepare(path, start)
            log = tmp_path / "log"
            said = failing(path, 45, log, f"{call}:error=EIO:when={number}")
            hits = [line for line in log.read_text().splitlines() if "INJECTED" in line]
            first = int(said[said.index("found ") :].split()[1])
            assert "closed True" in said
            assert first == (-1 if start == "empty" else 99) or (hits and "said" in said)
            assert "said" not in said or hits or start == "damaged"
            check(path, first + 45)
            if "said" not in said:
                untold.update(reason(line) for line in hits)
            injected += len(hits)
            shutil.rmtree(path)
        failed += injected
        if not injected:
            break
    with capsys.disabled():
        print(f"\n{call}: {failed} failures at n = 1 to {number}; told of all but {dict(untold)}")
    assert failed


def reason(line: str) -> str:
    """Why nobody needs to be told of a failed call, from its line in strace's log."""
    return next(why for shown, why in UNTOLD.items() if re.search(shown, line))


def prepare(path: Path, start: str) -> None:
    """Make the unplugged board in `path` one that starts in another way."""
    if start == "empty":
        shutil.rmtree(path)
    elif start == "damaged":
        data = (path / DATABASE).read_bytes()
        (path / DATABASE).write_bytes(b"X" + data[1:])


@pytest.mark.strace
@pytest.mark.parametrize(
    ("error", "sentence"),
    [("ENOSPC", "The disk is full"), ("EIO", "The disk fails"), ("EROFS", "The disk fails")],
)
def test_a_disk_that_takes_nothing_for_a_while(error: str, sentence: str, template: Path, tmp_path: Path) -> None:
    """A full, failing or read-only disk is said in a sentence; when it is back everything is saved (case F9)."""
    said = failing(template, 10, tmp_path / "log", f"pwrite64:error={error}:when=3..30", sides=("", "-wal"))
    assert sentence in said
    assert said.rindex(sentence) < said.rindex("The disk takes saves again.") < said.index("closed True")
    check(template, 109)


@pytest.mark.strace
def test_one_sync_a_save(template: Path, tmp_path: Path) -> None:
    """Each save is one sync, no more and no less; start and end have a fixed number of their own (case F10)."""
    counted = []
    for number in (10, 60):
        path, log = Path(shutil.copytree(template, tmp_path / str(number))), tmp_path / "log"
        failing(path, number, log, "fdatasync:delay_enter=0:when=1", "fsync:delay_enter=0:when=1")
        counted.append(log.read_text().count("sync("))
    assert 50 == counted[1] - counted[0]
    assert 20 > counted[0] - 10


@pytest.mark.strace
def test_a_disk_that_stalls(template: Path, tmp_path: Path) -> None:
    """A sync that takes 3 s delays the saves and loses none; nothing is called a fault."""
    said = failing(template, 10, tmp_path / "log", "fdatasync:delay_enter=3s:when=4")
    assert "said" not in said
    check(template, 109)


def test_a_file_that_must_not_grow(tmp_path: Path) -> None:
    """Where no file may grow beyond a limit, saving stops with a sentence and is caught up when the limit is gone."""
    putter = Putter(tmp_path)
    script = saves()
    for save, finished in islice(script, 5):
        putter.put(save, finished)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16384, limit[1]))
    try:
        ticket = 0
        for save, finished in islice(script, 40):
            ticket = putter.journal.put(save, finished)
        until = time.monotonic() + 30
        while putter.journal.fault is None and time.monotonic() < until:
            pass
        assert putter.journal.fault is not None and "The disk fails" in putter.journal.fault
        assert putter.journal.saved < ticket
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    putter.wait(ticket)
    assert putter.journal.fault is None
    assert putter.close()
    check(tmp_path, 44)


# -- the file ------------------------------------------------------------------------------------------------------


def truncated(data: bytes, at: int, _: random.Random) -> bytes:
    """The file ends early."""
    return data[:at]


def flipped(data: bytes, at: int, chance: random.Random) -> bytes:
    """One bit near there is the other one."""
    place = min(len(data) - 1, at + chance.randrange(64))
    return data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]


def emptied(data: bytes, at: int, _: random.Random) -> bytes:
    """64 bytes are zeros."""
    return data[:at] + bytes(len(data[at : at + 64])) + data[at + 64 :]


def zeroed(data: bytes, at: int, _: random.Random) -> bytes:
    """Everything from there on is zeros, as after a cut on some file systems."""
    return data[:at] + bytes(len(data) - at)


def fuzzed(path: Path, damage: object, step: int, seed: int) -> Iterator[bytes]:
    """The file at `path`, damaged at each place in turn."""
    data, chance = path.read_bytes(), random.Random(seed)
    for at in range(0, len(data), step):
        yield damage(data, at, chance)  # type: ignore[operator]


@pytest.mark.long
@pytest.mark.parametrize("damage", [truncated, flipped, emptied, zeroed])
def test_a_damaged_database(damage: object, template: Path, tmp_path: Path, seed: int, prove: bool) -> None:
    """Whatever happens to the file: all is as it was, or a sentence says what became of it; what is found is what was
    once put; the damaged file is kept as it is; play goes on and is saved (cases F15, F16)."""
    look(template)  # brings the log into the table
    whole, whole_records = look(template)
    known = dict(islice(saves(), 100))
    for number, data in enumerate(fuzzed(template / DATABASE, damage, 64 if prove else 64 * 17, seed)):
        path = tmp_path / str(number)
        path.mkdir()
        (path / DATABASE).write_bytes(data)
        found, records = look(path)
        if not found.sentences:
            assert (whole, whole_records) == (found, records)
        else:
            kept = [file for file in path.iterdir() if "-1" in file.name and not file.name.endswith(("-wal", "-shm"))]
            assert [data] == [file.read_bytes() for file in kept]
        assert set(records) <= set(whole_records)
        assert found.newest is None or (found.newest in known and known[found.newest] == found.finished)
        putter = Putter(path)
        assert (found.newest, found.games, ()) == (putter.found.newest, putter.found.games, putter.found.sentences)
        putter.put(*next(saves()))
        assert putter.journal.fault is None
        assert putter.close()
        shutil.rmtree(path)


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A board whose plug was pulled after 20 saves, all of them in the log, and where in it the last of them begins."""
    path, copy = tmp_path_factory.mktemp("before"), tmp_path_factory.mktemp("state") / "short"
    putter = Putter(path)
    for save, finished in islice(saves(), 20):
        last = (path / f"{DATABASE}-wal").stat().st_size
        putter.put(save, finished)
    shutil.copytree(path, copy)
    putter.close()
    return copy, last


@pytest.mark.long
@pytest.mark.parametrize("damage", [truncated, flipped, emptied, zeroed])
def test_a_damaged_log(damage: object, short: tuple[Path, int], tmp_path: Path, seed: int, prove: bool) -> None:
    """A damaged write-ahead log leaves a table as it once was, none that never was; whole saves behind the damage are
    taken over, with a sentence.

    Two kinds of damage are silent, for nobody can tell them from the real thing: of the very last save, which is what
    a power cut leaves in the middle of it; and a log that ends early, or in zeros, which is the log as it once was.
    """
    (template, last), log = short, DATABASE + "-wal"
    known, step = dict(islice(saves(), 20)), 64 if prove else 64 * 97
    for number, data in enumerate(fuzzed(template / log, damage, step, seed)):
        path = tmp_path / str(number)
        shutil.copytree(template, path)
        (path / log).write_bytes(data)
        found, records = look(path)
        assert found.newest is None or known[found.newest] == found.finished
        assert finished_before(index_of(found)) >= len(records)
        if damage in (flipped, emptied):
            assert 18 <= index_of(found)
            assert found.sentences or index_of(found) == 19 or (number + 1) * step > last
        shutil.rmtree(path)


@pytest.mark.long
@pytest.mark.parametrize("damage", [truncated, flipped, emptied, zeroed])
def test_a_damaged_index(damage: object, template: Path, tmp_path: Path, seed: int, prove: bool) -> None:
    """The index of the log beside it is made anew at every start: whatever happens to it, all is as it was."""
    whole = look(Path(shutil.copytree(template, tmp_path / "whole")))
    index = DATABASE + "-shm"
    for number, data in enumerate(fuzzed(template / index, damage, 64 if prove else 64 * 29, seed)):
        path = tmp_path / str(number)
        shutil.copytree(template, path)
        (path / index).write_bytes(data)
        assert whole == look(path)
        shutil.rmtree(path)


def test_the_journal_is_made_anew_again_and_again(tmp_path: Path) -> None:
    """Every damaged database gets a name of its own."""
    for _ in range(3):
        (tmp_path / DATABASE).write_bytes(b"no database at all")
        assert "is damaged (it is no SQLite database)" in look(tmp_path)[0].sentences[0]
    names = {f"{DATABASE}.damaged-{number}" for number in (1, 2, 3)}
    assert names <= {file.name for file in tmp_path.iterdir()}
    assert {b"no database at all"} == {(tmp_path / name).read_bytes() for name in names}
