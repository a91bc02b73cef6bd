"""A read-only root with one directory that can be written: the board plays on it, and says what it stands on."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from firmware.ctl_socket import ask
from firmware.footing import footing
from tests.live import Json, Live

CARD = "/dev/mmcblk0p2 / ext4 rw,noatime 0 0\n"
FIXED = "/dev/mmcblk0p2 / ext4 ro,noatime 0 0\n"
OVERLAY = "overlayroot / overlay rw,lowerdir=/lower 0 0\n"
DATA = "/dev/mmcblk0p3 /var/lib/morbak-board ext4 rw,noatime 0 0\n"
FSTAB_RO = "PARTUUID=1-02  /  ext4  ro,noatime  0 1\n"
STATE = Path("/var/lib/morbak-board")


@pytest.mark.parametrize(
    ("mounts", "asks", "fstab", "ok", "says"),
    [
        (CARD, "", "", True, "The root is writable. Games are kept in"),
        (OVERLAY + DATA, "overlayroot=tmpfs", "", True, "forgotten, as was asked for. Games are kept in"),
        (OVERLAY, "overlayroot=tmpfs", "", False, "which is in memory: they are gone when the power goes"),
        (CARD, "overlayroot=tmpfs", "", False, "asked for (overlayroot=tmpfs) and is not in effect"),
        (FIXED + DATA, "", FSTAB_RO, True, "The root is read-only, as /etc/fstab asks for. Games are kept in"),
        (FIXED, "", FSTAB_RO, False, "which is on a read-only file system"),
        (CARD, "", FSTAB_RO, False, "asked for (ro in /etc/fstab) and is not in effect"),
        (CARD, "", "# " + FSTAB_RO, True, "The root is writable"),
    ],
)
def test_a_root_is_what_was_asked_for_or_that_is_said(
    tmp_path: Path, mounts: str, asks: str, fstab: str, ok: bool, says: str
) -> None:
    """A root that was asked for and is not in effect is named, and so are games that would not stay (F9, F11)."""
    for name, text in (("proc/mounts", mounts), ("proc/cmdline", f"root=x {asks}"), ("etc/fstab", fstab)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    part = footing(STATE, tmp_path)
    assert (ok, True) == (part.ok, says in part.text), part


@contextmanager
def on_a_read_only_root(state: Path) -> Iterator[Live]:
    """`morbak run` where "/" can only be read, but for the state directory; in a mount namespace of its own."""
    script = (
        'mount --rbind / "$1" && mount --bind "$0" "$1$0" && mount -o remount,ro,bind "$1" && exec chroot "$1" "${@:2}"'
    )
    root = state.with_name("root")
    root.mkdir(exist_ok=True)
    board = [sys.executable, "-m", "firmware.cli", "run", "--port", "0", "--seed", "1", "--state", str(state)]
    # In a chroot no mount is "/", and unshare cannot make it private.
    mounted = any(row.split()[4] == "/" for row in Path("/proc/self/mountinfo").read_text().splitlines())
    command = [
        "unshare",
        "--mount",
        "--propagation",
        "private" if mounted else "unchanged",
        "bash",
        "-c",
        script,
        str(state),
        str(root),
        *board,
    ]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "XDG_CONFIG_HOME": "/nonexistent", "MORBAK_CONFIG": ""}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    try:
        assert process.stdout is not None
        found = next(filter(None, (re.search(r"http://[^ ]+:(\d+)/", line) for line in process.stdout)))
        yield Live(process, int(found[1]))
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def do(state: Path, **command: object) -> Json:
    return ask(state / "ctl.sock", json.dumps(command).encode())


@pytest.mark.root
@pytest.mark.realtime
def test_a_board_plays_on_a_read_only_root(tmp_path: Path) -> None:
    """It starts, keeps games and choices in the one directory, is killed, and has both again; the disk is well (F9)."""
    state = tmp_path / "state"
    state.mkdir()
    with on_a_read_only_root(state) as live:
        with live.watch() as watch:
            while live.state()["phase"] == "attract":
                live.tap("d4")
            watch.phase("play")
        do(state, do="act", action="d4")
        do(state, do="settings", language="fr")
        kept = state / "board.json"
        while not kept.exists() or "fr" not in kept.read_text("utf-8"):  # a choice follows its answer to the disk
            assert live.process.poll() is None
            time.sleep(0.01)
        rows = [line.split() for line in Path(f"/proc/{live.process.pid}/mounts").read_text().splitlines()]
        assert "ro" in [row[3].split(",") for row in rows if row[1] == "/"][-1]
        assert {"ok": True, "text": "ok"} == do(state, do="status")["parts"]["journal"]
        live.process.send_signal(signal.SIGKILL)
        live.process.wait()
    with on_a_read_only_root(state) as live:
        told = live.state()
        assert ("paused", "d4", "fr") == (told["phase"], told["last_action"], told["chosen"]["language"])
