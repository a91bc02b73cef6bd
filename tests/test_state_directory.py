"""The state directory: found, made, owned by one process, and explained where it cannot be used."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from firmware.journal import DATABASE, Found
from firmware.state_directory import StateDirectory, StateError, default
from tests.journal_play import Putter, play, saves

ROOT = Path(__file__).parent.parent
SCRIPT = list(islice(saves(), 3))


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({"STATE_DIRECTORY": "/var/lib/morbak", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/var/lib/morbak"),
        ({"STATE_DIRECTORY": "/var/lib/one:/var/lib/two"}, "/var/lib/one"),
        ({"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/morbak-board"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, "/h/.local/state/morbak-board"),
        ({"HOME": "/h"}, "/h/.local/state/morbak-board"),
    ],
)
def test_the_default_directory(environ: dict[str, str], path: str) -> None:
    """systemd's directory comes first, then XDG's, then the home directory."""
    assert Path(path) == default(environ)


def test_a_missing_directory_is_made(tmp_path: Path) -> None:
    """The directory is made with all its parents, and nothing troubles it."""
    directory = StateDirectory.open(None, {"STATE_DIRECTORY": str(tmp_path / "a" / "b")})
    assert (tmp_path / "a" / "b", True, None) == (directory.path, directory.path.is_dir(), directory.trouble)
    directory.close()


def test_a_second_process_is_refused_and_told_who_was_first(tmp_path: Path) -> None:
    """A directory has one owner; the sentence names its process and command; afterwards it is free again."""
    hold = "import sys; from firmware.state_directory import *; d = StateDirectory.open(Path(sys.argv[1])); print(1)"
    command = [sys.executable, "-c", f"{hold}; sys.stdout.flush(); sys.stdin.read()", str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as first:
        assert first.stdout is not None and first.stdin is not None
        first.stdout.readline()
        with pytest.raises(StateError, match=rf"in use by process {first.pid} \(-c {tmp_path}\)") as caught:
            StateDirectory.open(tmp_path)
        assert str(caught.value).endswith("end that first, or choose another with --state.")
        first.stdin.close()
    StateDirectory.open(tmp_path).close()


AS_NOBODY = """
import logging, os, sys
from pathlib import Path
from firmware.journal import Journal
from firmware.state_directory import StateDirectory
os.setgid(65534); os.setuid(65534)
logging.disable()
directory = StateDirectory.open(Path(sys.argv[1]))
journal, found = Journal.open(directory, lambda: ("", False))
print(directory.trouble, found.sentences[0] if found.sentences else None, journal.fault, sep="\\n")
sys.stdout.flush()
os._exit(0)
"""


@pytest.mark.root
@pytest.mark.parametrize("what", ["directory", "database", "parent"])
def test_what_root_left_behind_is_said(what: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A directory or a file of root's, as one run with sudo leaves them, ends no game: the sentence says whose it is
    and how to get it back (case G22)."""
    path = Path("/tmp") / f"morbak-test-{os.getpid()}-{what}"  # noqa: S108 - must be reached by another user
    path.mkdir()
    try:
        if what == "database":
            play(path, SCRIPT[:3])
            (path / "lock").unlink()
            os.chown(path, 65534, 65534)
        asked = path / "new" if what == "parent" else path
        command = [sys.executable, "-c", AS_NOBODY, str(asked)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    finally:
        shutil.rmtree(path)
    sentence = {
        "directory": f"{path} belongs to root and cannot be written by nobody: sudo chown -R nobody {path}.",
        "database": f"{path / DATABASE} belongs to root and cannot be written by nobody: sudo chown -R nobody {path}.",
        "parent": f"The state directory {path / 'new'} cannot be made; make it, and give it to nobody.",
    }[what]
    trouble = "None" if what == "database" else sentence
    assert ("", [trouble, sentence, sentence]) == (done.stderr, done.stdout.splitlines())


@pytest.mark.root
def test_root_writes_nothing_into_the_directory_of_another(tmp_path: Path) -> None:
    """Root is refused in somebody's directory, whose next start would fail on root's files (case G22)."""
    os.chown(tmp_path, 65534, 65534)
    with pytest.raises(StateError, match="belongs to nobody: start as nobody, not as root"):
        StateDirectory.open(tmp_path)
    assert [] == list(tmp_path.iterdir())


def test_a_file_in_place_of_the_directory_is_said(tmp_path: Path) -> None:
    """A path that is a file is no directory; the journal says so and does not stop the game."""
    path = tmp_path / "file"
    path.write_text("")
    putter = Putter(path)
    sentence = f"The state directory {path} is no directory; move that file away, or choose another with --state."
    assert (sentence, Found(sentences=(sentence,))) == (putter.directory.trouble, putter.found)
    path.unlink()
    putter.put(*SCRIPT[0])
    assert putter.journal.fault is None
    assert putter.close()


@pytest.mark.realtime
def test_a_directory_that_cannot_be_is_said_once(tmp_path: Path) -> None:
    """A board whose state directory cannot be made plays, and its log warns of that once, of no file in it."""
    (tmp_path / "file").write_text("")
    state = tmp_path / "file" / "state"
    command = [sys.executable, "-m", "firmware.cli", "run", "--port", "0", "--state", str(state)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    try:
        assert "The board is at http://127.0.0.1:" in process.stdout.readline()
        assert process.poll() is None
    finally:
        process.terminate()
        _, log = process.communicate(timeout=30)
    sentence = (
        f"The state directory {state} cannot be made, as {state.parent} is no directory; choose another with --state."
    )
    warned = [line for line in log.splitlines() if line.startswith("WARNING") and " part_failed " not in line]
    assert [f"WARNING morbak: {sentence}"] == warned
