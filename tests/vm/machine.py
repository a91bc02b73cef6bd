"""Run a command inside the virtual Pi: ./run [options] -- CMD...

The guest's root is this machine's root, read-only, under a tmpfs overlay: the
command sees the same files and Python environments, keeps its working
directory, and nothing it writes outlives it, except in --bind and --data.

Returns the command's exit status; 124 after --timeout; 125 when the virtual
Pi stopped before the command ended; 143 when SIGTERM pulled the plug: the guest
is gone at once, and all that had left it by then has been passed on.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NoReturn

KIT = Path(__file__).resolve().parent
KEPT = ("PATH", "HOME", "LANG", "TZ", "USER", "VIRTUAL_ENV")
TIMED_OUT, STOPPED, UNPLUGGED = 124, 125, 128 + signal.SIGTERM
CARD_OPTIONS = "noauto_da_alloc,commit=60"  # what is not fsynced is really lost
TMP = "/tmp"  # noqa: S108 - sockets in the box have room for 108 bytes of path, so it cannot be $TMPDIR
SHM = "/dev/shm"  # noqa: S108
ROOM_BYTES = 2**30  # the guest's memory, 512 MB by default, with as much again to spare


def kernel() -> Path | None:
    """The virtual Pi's kernel: $MORBAK_VM_KERNEL, else the one beside this file; None where there is none to run."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return None
    named = os.environ.get("MORBAK_VM_KERNEL")
    found = Path(named) if named else KIT / "linux-board"
    return found.resolve() if found.is_file() and os.access(found, os.X_OK) else None


def main() -> int:
    """Run as the command line says; returns the exit status."""
    given = _options()
    signal.signal(signal.SIGTERM, _unplugged)
    box = Path(tempfile.mkdtemp(prefix="vpi-", dir=TMP))
    with _lifeline(box) as lifeline:
        _write_script(given, box)
        return _boot(given, box, lifeline)


def _unplugged(*_: object) -> NoReturn:
    sys.exit(UNPLUGGED)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        usage="run [options] -- CMD...", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--systemd", action="store_true", help="boot this machine's systemd, then run CMD as a oneshot service")
    add("--unit", action="append", default=[], metavar="FILE", help="unit file or folder to install; implies --systemd")
    add("--data", metavar="IMG", help=f"ext4 image mounted at /data ({CARD_OPTIONS})")
    add("--data-options", default=CARD_OPTIONS, metavar="OPTS", help="mount options of --data")
    add("--bind", action="append", default=[], metavar="HOSTDIR:GUESTDIR", help="share a folder, read-write")
    add("--env", action="append", default=[], metavar="NAME[=VALUE]", help="give CMD this variable")
    add("--stdin", action="store_true", help="give CMD our standard input, read to its end first")
    add("--time-travel", action="store_true", help="virtual clock: waiting costs nothing")
    add("--start", metavar="EPOCH", type=int, help="virtual wall clock at boot, in seconds (implies --time-travel)")
    add("--param", action="append", default=[], metavar="NAME=VALUE", help="kernel parameter: board_sim.num_leds=49")
    add("--cpu", type=int, metavar="N", help="processor to stay on (default: one picked by process id)")
    add("--mem", default="512M", help="guest memory (default 512M, taken when touched)")
    add("--timeout", type=float, default=600, metavar="S", help="seconds before the plug is pulled (default 600)")
    add("--console", metavar="FILE", type=Path, help="keep the kernel's console here")
    add("cmd", nargs="+", metavar="CMD")
    given = parser.parse_args()
    given.systemd |= bool(given.unit)
    given.time_travel |= given.start is not None
    if given.data and not os.path.isfile(given.data):
        parser.error(f"{given.data}: no such image; make one: truncate -s 64M {given.data}; mkfs.ext4 {given.data}")
    if kernel() is None:
        parser.error("no kernel to run: build one with build-kernel FOLDER and name it in $MORBAK_VM_KERNEL")
    return given


# -- what the guest reads ------------------------------------------------------------------------------------------


def _write_script(given: argparse.Namespace, box: Path) -> None:
    """Fill the box: the guest sources `setup`, then runs `cmd` with `stdin`."""
    exports = [f"export {name}={shlex.quote(value)}" for name, value in sorted(_environment(given.env).items())]
    command = f"cd {shlex.quote(os.getcwd())} && exec {shlex.join(given.cmd)}"
    (box / "cmd").write_text("\n".join([*exports, command, ""]))
    (box / "setup").write_text("\n".join([*_setup(given), ""]))
    (box / "stdin").write_bytes(sys.stdin.buffer.read() if given.stdin else b"")
    (box / "units").mkdir()
    for unit in map(Path, given.unit):
        for file in [unit] if unit.is_file() else sorted(file for file in unit.iterdir() if file.is_file()):
            shutil.copy(file, box / "units")


def _environment(asked: list[str]) -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if name in KEPT or name.startswith(("LC_", "PYTHON"))}
    path = os.pathsep.join(filter(None, [str(KIT), kept.get("PYTHONPATH")]))
    kept |= {"TERM": "dumb", "PYTHONPATH": path}
    for item in asked:
        name, given, text = item.partition("=")
        kept[name] = text if given else os.environ.get(name, "")
    return kept


def _setup(given: argparse.Namespace) -> list[str]:
    lines = [f"MODE={'systemd' if given.systemd else 'plain'}"]
    if given.data:
        lines.append(f"DATA={shlex.quote(given.data_options)}")
    for bind in given.bind:
        here, _, there = bind.partition(":")
        here = os.path.abspath(here)
        lines.append(f"bind {shlex.quote(here)} {shlex.quote(there or here)}")
    return lines


# -- the guest -----------------------------------------------------------------------------------------------------


def _boot(given: argparse.Namespace, box: Path, lifeline: int) -> int:
    """Run the guest to its end, or to ours; what has left it is passed on in either case."""
    out, err = os.pipe(), os.pipe()
    console = given.console or box / "console"
    pumps = [_pump(out[0], sys.stdout.buffer), _pump(err[0], sys.stderr.buffer)]
    with _uninterrupted():
        guest = _start(_command_line(given, box, out[1], err[1]), console, (out[1], err[1]), given.cpu, _preload(box))
        os.write(lifeline, str(guest.pid).encode())
    try:
        guest.wait(given.timeout)
        return _status(box, console)
    except subprocess.TimeoutExpired:
        print(f"virtual Pi: no end after {given.timeout:g} s, plug pulled", file=sys.stderr)
        return TIMED_OUT
    finally:
        _kill_group(guest.pid)
        guest.wait()
        for pump in pumps:
            pump.join(2)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put SIGTERM off, so that no guest is started that the lifeline does not know."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


def _preload(box: Path) -> dict[str, str]:
    """What the kernel needs on this processor: with AMX, help with registers that are wider than it knows."""
    if " amx_tile " not in Path("/proc/cpuinfo").read_text():
        return {}
    library, compiler = box / "wide_registers.so", shutil.which("gcc")
    if compiler is None:
        sys.exit(
            "virtual Pi: on a processor with AMX it needs gcc: apt-get install --no-install-recommends gcc libc6-dev"
        )
    command = [compiler, "-shared", "-fPIC", "-O2", "-o", library, KIT / "kernel/wide_registers.c"]
    made = subprocess.run(command, stderr=subprocess.PIPE, text=True)  # quiet where the plug is pulled meanwhile
    if made.returncode != 0:
        sys.exit(f"virtual Pi: the compiler fails:\n{made.stderr}")
    return {"LD_PRELOAD": str(library)}


def _start(
    command: list[str], console: Path, lines: tuple[int, int], cpu: int | None, more: dict[str, str]
) -> subprocess.Popen[bytes]:
    """The guest's processes, all on one processor: it has only one, and they take turns."""
    ours = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(ours)[os.getpid() % len(ours)] if cpu is None else cpu})
    with console.open("wb") as log:
        guest = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=lines,
            start_new_session=True,
            env={**os.environ, "TMPDIR": _memory(), **more},
        )
    os.sched_setaffinity(0, ours)
    for line in lines:
        os.close(line)
    return guest


def _command_line(given: argparse.Namespace, box: Path, out: int, err: int) -> list[str]:
    arguments = [str(kernel()), f"mem={given.mem}", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro"]
    arguments += ["quiet", "noreboot", "panic=-1", f"uml_dir={box}", "umid=vm"]
    arguments += ["con0=null,fd:1", "con=null", "ssl=null", f"ssl0=null,fd:{out}", f"ssl1=null,fd:{err}"]
    arguments += [f'init="{KIT}/guest/init"', f"BOX={box}"]
    if given.data:
        arguments.append(f'ubd0="{os.path.abspath(given.data)}"')
    if given.time_travel:
        arguments.append("time-travel=inf-cpu")
    if given.start is not None:
        arguments.append(f"time-travel-start={given.start * 10**9}")
    return arguments + list(given.param)


def _memory() -> str:
    """Where the kernel keeps the guest's memory, a file: a tmpfs with room, if there is one."""
    fits = os.access(SHM, os.W_OK) and shutil.disk_usage(SHM).free > ROOM_BYTES
    return os.environ.get("TMPDIR") or (SHM if fits else TMP)


def _pump(source: int, sink: BinaryIO) -> threading.Thread:
    """Pass on what leaves the guest, at once and to its end."""

    def pump() -> None:
        while data := os.read(source, 65536):
            sink.write(data)
            sink.flush()

    thread = threading.Thread(target=pump, daemon=True)
    thread.start()
    return thread


def _status(box: Path, console: Path) -> int:
    """The command's exit status; without one the machine stopped first, and its console says why."""
    try:
        return int((box / "status").read_text())
    except (OSError, ValueError):
        tail = console.read_text(errors="replace")[-2000:]
        print(f"virtual Pi: stopped before the command ended; its console:\n{tail}", file=sys.stderr)
        return STOPPED


# -- the end, however it comes -------------------------------------------------------------------------------------


@contextmanager
def _lifeline(box: Path) -> Iterator[int]:
    """A pipe that wants the number of the guest's process group.

    When it closes, be it because we were killed, a child of ours kills that group and removes the box.
    """
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        os.close(theirs)
        _sweep(ours, box)
    os.close(ours)
    try:
        yield theirs
    finally:
        os.close(theirs)
        os.waitpid(child, 0)


def _sweep(lifeline: int, box: Path) -> NoReturn:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    group = os.read(lifeline, 16)
    while os.read(lifeline, 16):
        pass
    if group:
        _kill_group(int(group))
    shutil.rmtree(box, ignore_errors=True)
    os._exit(0)


def _kill_group(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
