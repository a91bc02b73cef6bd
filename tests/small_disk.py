"""A small real disk to be filled, made read-only and brought to a standstill: ext4 in a file, on a loop device."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from tests.vm.power_cut import blank_card, mkfs

SIZE_MB = 16


@cache
def mountable() -> bool:
    """Whether such a disk can be had here: root, and loop devices."""
    if os.geteuid() != 0 or mkfs() is None or not shutil.which("fsfreeze", path=_PATH):
        return False
    with tempfile.TemporaryDirectory() as folder, suppress(OSError, subprocess.CalledProcessError), disk(Path(folder)):
        return True
    return False


class Disk:
    """A mounted file system of its own, all of it for root too."""

    def __init__(self, mount: Path) -> None:
        self.state = mount / "state"
        self._mount, self._filler = mount, mount / "filler"

    def fill(self) -> None:
        """Take the last free block."""
        with self._filler.open("wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                with suppress(OSError):
                    while file.write(bytes(size)):
                        pass
            os.fsync(file.fileno())
        assert 0 == os.statvfs(self._mount).f_bavail

    def free(self) -> None:
        """Give back what `fill` took."""
        self._filler.unlink()

    def read_only(self) -> None:
        """Allow no writing any more; waits until no file is open for it."""
        while _run("mount", "-o", "remount,ro", self._mount) != 0:
            pass

    def writable(self) -> None:
        """Allow writing again."""
        assert 0 == _run("mount", "-o", "remount,rw", self._mount)

    @contextmanager
    def stalled(self) -> Iterator[None]:
        """Let every write wait, for as long as the block lasts."""
        assert 0 == _run("fsfreeze", "--freeze", self._mount)
        try:
            yield
        finally:
            assert 0 == _run("fsfreeze", "--unfreeze", self._mount)


@contextmanager
def disk(folder: Path, block_bytes: int = 4096) -> Iterator[Disk]:
    """A new disk, mounted below `folder`, gone at the end. Raises OSError where it cannot be mounted."""
    mount, image = folder / "disk", blank_card(folder / "disk.img", SIZE_MB, "-m", "0", "-b", str(block_bytes))
    mount.mkdir()
    if _run("mount", "-o", "loop", image, mount) != 0:
        raise OSError(errno.EPERM, "no loop device can be mounted here")
    try:
        yield Disk(mount)
    finally:
        _run("fsfreeze", "--unfreeze", mount)  # whatever a test left behind
        assert 0 == _run("umount", mount)


_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def _run(*command: str | Path) -> int:
    environment = {**os.environ, "PATH": _PATH}
    return subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
