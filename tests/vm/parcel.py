"""The built wheel, installed on a virtual Pi without a network: made once, and shared with the guest as /opt/morbak."""

from __future__ import annotations

import atexit
import functools
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent.parent
EXTRAS = ("", "pi")
# Debian's, which every user of the virtual Pi may run; a Python below somebody's home is hidden from services.
SYSTEM_PYTHON = "/usr/bin/python3"
PROGRAM = "/opt/morbak"


@functools.cache
def program() -> Path:
    """A virtual environment with the wheel of this tree and what it runs with, as it will lie in /opt/morbak."""
    folder = Path(tempfile.mkdtemp(prefix="morbak-program-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    there = folder / "morbak"
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    _run(SYSTEM_PYTHON, "-m", "venv", "--without-pip", str(there))
    (wheel,), (site,) = folder.glob("*.whl"), there.glob("lib/python*/site-packages")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(there / "bin/python")]
    _run(*pip, "install", "--quiet", "--no-index", "--no-deps", str(wheel))
    for name in _closure("morbak-board", set()) - {"morbak-board"}:
        _copy(name, site)
    command = there / "bin/morbak"
    command.write_text(command.read_text().replace(str(there), PROGRAM))
    _run(SYSTEM_PYTHON, "-m", "compileall", "-q", str(site))
    _run("chmod", "-R", "a+rX", str(folder))
    return there


def _run(*command: str) -> None:
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)


def _copy(name: str, site: Path) -> None:
    """The files of a distribution of this Python's."""
    for file in metadata.distribution(name).files or ():
        if ".." not in file.parts and "__pycache__" not in file.parts:
            (site / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(str(file.locate()), site / file)


def _closure(name: str, known: set[str]) -> set[str]:
    """A distribution and all that it needs on this machine."""
    try:
        needs = metadata.requires(name) or ()
    except metadata.PackageNotFoundError:  # spidev has no wheel, and our driver does without it
        return known
    known.add(name)
    for text in needs:
        needed = Requirement(text)
        extras = EXTRAS if name == "morbak-board" else ("",)
        applies = needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras)
        if applies and needed.name.lower() not in known:
            _closure(needed.name.lower(), known)
    return known


def system_python() -> bool:
    """Whether the system's Python is there, with venv, and takes the packages of this one."""
    if not Path(SYSTEM_PYTHON).exists():
        return False
    code = "import ensurepip, sys, venv; print(*sys.version_info[:2])"
    told = subprocess.run([SYSTEM_PYTHON, "-c", code], capture_output=True, text=True)
    return told.stdout.split() == [str(part) for part in sys.version_info[:2]]
