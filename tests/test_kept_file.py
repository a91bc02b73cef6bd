"""Small files that survive power cuts: the old content or the new one, whatever happens in between."""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from firmware import kept_file
from firmware.kept_file import KeptFile, NotKept, replace

OLDER, OLD, NEW = b"older\n", b"old content\n", b"the new content, longer\n"
DAMAGE = (b"", b"\0" * 24, b" \n\t\n", b"the new con", b"\xff\xfe")


def whole(data: bytes) -> bytes:
    """A content that ends with its line; anything else is torn."""
    if not data.endswith(b"\n") or b"\0" in data:
        raise ValueError("torn")
    return data


def kept(path: Path) -> KeptFile[bytes]:
    return KeptFile(path / "kept", whole)


class Disk:
    """The operations of a write as they were made, and what a power cut leaves of each beginning of them.

    The model: data that was not synced may be missing, NUL or cut short; of the names changed since the directory was
    synced any may have kept their old meaning.
    """

    def __init__(self, names: dict[str, bytes]) -> None:
        self.names = names
        self.made: list[tuple[Any, ...]] = []

    def left(self, count: int) -> Iterator[dict[str, bytes]]:
        """Every directory that may be there after the first `count` operations."""
        self._lasting: dict[str, Any] = dict(self.names)
        self._pending: list[tuple[str, str]] = []
        self._data: dict[str, bytes] = {}  # of files that were written, by the name they were opened with
        self._synced: set[str] = set()
        for kind, *what in self.made[:count]:
            getattr(self, f"_{kind}")(*what)
        for chosen in itertools.product((False, True), repeat=len(self._pending)):
            names = dict(self._lasting)
            for change, lasts in zip(self._pending, chosen, strict=True):
                if lasts:
                    rename(names, *change)
            yield from self._contents(names)

    def _open(self, name: str) -> None:
        self._data[name] = b""
        self._synced.discard(name)
        if name in self._lasting:  # emptied, and the same file still
            self._lasting[name] = ("inode", name)
        else:
            self._lasting[f"unnamed {name}"] = ("inode", name)
            self._pending.append((f"unnamed {name}", name))

    def _write(self, name: str, data: bytes) -> None:
        self._data[name] += data

    def _sync(self, name: str) -> None:
        if name != ".":
            self._synced.add(name)
            return
        for change in self._pending:
            rename(self._lasting, *change)
        self._pending = []

    def _rename(self, source: str, target: str) -> None:
        self._pending.append((source, target))

    def _contents(self, names: dict[str, Any]) -> Iterator[dict[str, bytes]]:
        for cut in (lambda _: b"", lambda full: bytes(len(full)), lambda full: full[: len(full) // 2]):
            made = {inode: data if inode in self._synced else cut(data) for inode, data in self._data.items()}
            yield {
                name: made[inode[1]] if isinstance(inode, tuple) else inode
                for name, inode in names.items()
                if not name.startswith("unnamed")
            }


def rename(names: dict[str, Any], source: str, target: str) -> None:
    """Change a directory; a file that was written is ("inode", NAME IT WAS OPENED WITH)."""
    if source in names:
        names[target] = names.pop(source)


class Recorder:
    """Stands for `os`, notes what is done to files, and can fail the n-th of it."""

    def __init__(self, fail_at: int | None = None, number: int = 0) -> None:
        self.made: list[tuple[Any, ...]] = []
        self._names: dict[int, str] = {}
        self._fail_at, self._number, self.calls = fail_at, number, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def _count(self) -> None:
        self.calls += 1
        if self._fail_at == self.calls:
            raise OSError(self._number, os.strerror(self._number))

    def open(self, path: Path, flags: int, mode: int = 0o777) -> int:
        self._count()
        file = os.open(path, flags, mode)
        self._names[file] = "." if flags & os.O_DIRECTORY else Path(path).name
        if flags & os.O_CREAT:
            self.made.append(("open", Path(path).name))
        return file

    def write(self, file: int, data: bytes) -> int:
        self._count()
        count = os.write(file, bytes(data)[:9])  # a disk may take less than it is given
        self.made.append(("write", self._names[file], bytes(data)[:count]))
        return count

    def fsync(self, file: int) -> None:
        self._count()
        os.fsync(file)
        self.made.append(("sync", self._names[file]))

    def rename(self, source: Path, target: Path) -> None:
        self._count()
        os.rename(source, target)
        self.made.append(("rename", Path(source).name, Path(target).name))


def directory(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir()}


def lay(path: Path, names: dict[str, bytes]) -> Path:
    """A directory with exactly these files."""
    path.mkdir(exist_ok=True)
    for file in path.iterdir():
        file.unlink()
    for name, data in names.items():
        (path / name).write_bytes(data)
    return path


def write(path: Path, data: bytes) -> None:
    kept(path).write(data)


def overwrite(path: Path, data: bytes) -> None:
    replace(path / "kept", data)


BEFORE: dict[str, dict[str, bytes]] = {
    "nothing": {},
    "one": {"kept": OLD},
    "two": {"kept": OLD, "kept.last": OLDER},
    "torn": {"kept": b"old con", "kept.last": OLD},
    "only the copy": {"kept.last": OLD},
    "an old try": {"kept": OLD, ".kept.new": b"half of"},
}


@pytest.mark.parametrize("names", BEFORE.values(), ids=BEFORE)
def test_a_power_cut_at_any_moment_leaves_the_old_or_the_new(
    names: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The operations of a write are recorded, and every beginning of them replayed without what was not synced: the
    old or the new content is read, and the new one once the write has returned (case F13)."""
    recorder = Recorder()
    monkeypatch.setattr(kept_file, "os", recorder)
    write(lay(tmp_path / "live", names), NEW)
    monkeypatch.undo()
    disk = Disk(names)
    disk.made = recorder.made
    old = OLD if names else None
    seen = 0
    for count in range(len(disk.made) + 1):
        for left in disk.left(count):
            found = kept(lay(tmp_path / "cut", left)).read().value
            assert found in ((NEW,) if count == len(disk.made) else (old, NEW)), (count, left)
            seen += 1
    assert len(disk.made) >= 6
    assert seen >= 20


@pytest.mark.parametrize("damage", DAMAGE, ids=repr)
def test_what_a_cut_leaves_counts_as_missing(damage: bytes, tmp_path: Path) -> None:
    """An empty, NUL, white or torn file is passed over for the last good copy, with a sentence that says so."""
    file = kept(tmp_path)
    file.write(OLD)
    file.write(NEW)
    (tmp_path / "kept").write_bytes(damage)
    found = file.read()
    assert OLD == found.value
    assert found.sentence is not None
    assert found.sentence.endswith("the last good copy, kept.last, is used.")
    (tmp_path / "kept.last").write_bytes(damage)
    found = file.read()
    assert (None, True) == (found.value, found.sentence is not None and "it counts as missing" in found.sentence)


def test_nothing_at_all_is_nothing_to_speak_of(tmp_path: Path) -> None:
    """A file that was never written is None without a sentence; a good one is its content without a sentence."""
    assert (None, None, None) == kept(tmp_path).read()
    kept(tmp_path).write(OLD)
    assert (OLD, None, None) == kept(tmp_path).read()
    assert {"kept": OLD} == directory(tmp_path)


def test_a_missing_file_with_a_copy_is_said(tmp_path: Path) -> None:
    """Where only the last good copy is left it is used, and that is said."""
    (tmp_path / "kept.last").write_bytes(OLD)
    found = kept(tmp_path).read()
    assert OLD == found.value
    assert f"{tmp_path / 'kept'} is missing: the last good copy, kept.last, is used." == found.sentence


def test_a_torn_file_does_not_become_the_last_good_copy(tmp_path: Path) -> None:
    """A content that cannot be read is replaced, the good copy stays."""
    lay(tmp_path, {"kept": b"tor", "kept.last": OLD})
    kept(tmp_path).write(NEW)
    assert {"kept": NEW, "kept.last": OLD} == directory(tmp_path)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EROFS])
@pytest.mark.parametrize("action", [write, overwrite])
def test_a_write_that_fails_leaves_the_old_content(
    action: Callable[[Path, bytes], None], number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each operation fails in turn until the write goes through: one typed error with a sentence, the old content,
    no litter; only when the directory itself cannot be made last the new content shows already."""
    for at in itertools.count(1):
        lay(tmp_path, {"kept": OLD})
        recorder = Recorder(at, number)
        monkeypatch.setattr(kept_file, "os", recorder)
        try:
            action(tmp_path, NEW)
        except NotKept as error:
            told = str(error)
        else:
            break
        finally:
            monkeypatch.undo()
        assert (f"{tmp_path / 'kept'} cannot be written", ".") == (told.split(":")[0], told[-1])
        renamed = ("rename", ".kept.new", "kept") in recorder.made
        assert (NEW if renamed else OLD, None, None) == kept(tmp_path).read()
        assert ".kept.new" not in directory(tmp_path)
    assert at >= 8
    assert NEW == kept(tmp_path).read().value


def test_a_link_is_written_through(tmp_path: Path) -> None:
    """Replacing a file by the name of a symbolic link changes the file, and leaves the link."""
    (tmp_path / "real").write_bytes(OLD)
    (tmp_path / "kept").symlink_to(tmp_path / "real")
    replace(tmp_path / "kept", NEW)
    assert (True, NEW) == ((tmp_path / "kept").is_symlink(), (tmp_path / "real").read_bytes())


@pytest.mark.parametrize("action", [write, overwrite])
def test_a_link_in_the_way_is_not_followed(action: Callable[[Path, bytes], None], tmp_path: Path) -> None:
    """A link under the name of the file being written is cleared away with an error, and its target left alone."""
    (tmp_path / "victim").write_bytes(OLDER)
    (tmp_path / ".kept.new").symlink_to(tmp_path / "victim")
    with pytest.raises(NotKept, match="kept cannot be written"):
        action(tmp_path, NEW)
    action(tmp_path, NEW)
    assert {"victim": OLDER, "kept": NEW} == directory(tmp_path)


def test_what_is_set_aside_is_kept(tmp_path: Path) -> None:
    """Setting aside takes the first free name and overwrites nothing; without a file there is nothing to set aside."""
    lay(tmp_path, {"kept": OLD, "kept.damaged-1": OLDER})
    assert tmp_path / "kept.damaged-2" == kept(tmp_path).set_aside("damaged")
    assert {"kept.damaged-1": OLDER, "kept.damaged-2": OLD} == directory(tmp_path)
    assert None is kept(tmp_path).set_aside("damaged")
