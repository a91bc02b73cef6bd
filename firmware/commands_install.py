"""`morbak install`: the service's files in their places, checked, enabled and started; and taken out again."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from firmware import service_files
from firmware.arguments import Misuse, port, profile
from firmware.cable_wait import CABLED
from firmware.service_files import BOARD_UNIT, ENVIRONMENT, KIOSK_UNIT, LEDS_UNIT, PLACES, PROFILE
from hal import machine, models

EXAMPLES: Final = """examples:
  sudo /opt/morbak/bin/morbak install                       the board of this Pi, now and at power-on
  sudo /opt/morbak/bin/morbak install --board my.toml       a board of your own
  sudo /opt/morbak/bin/morbak install --kiosk               with its page on the screen of this machine
  sudo /opt/morbak/bin/morbak install --dry-run             what would be done, without doing it
  sudo /opt/morbak/bin/morbak install --uninstall           out again; games and settings stay

exit status: 0 installed, 1 the system refused, 2 usage or configuration
"""
KIOSK_PROGRAMS: Final = {"cage": "cage", "chromium": "chromium", "Xwayland": "xwayland"}
# ProtectHome= and PrivateTmp= of the units.
HIDDEN: Final = ("/home/", "/root/", "/run/user/", "/tmp/", "/var/tmp/")  # noqa: S108
# Of the devices on the header, and of FTDI chips.
SUBSYSTEMS: Final = ("gpio", "spidev", "misc", "usb-serial")
_NAMES: Final = {"board": "MORBAK_BOARD", "host": "MORBAK_HOST", "port": "MORBAK_PORT"}


def add_install(parser: argparse.ArgumentParser) -> None:
    """`morbak install`."""
    parser.epilog, parser.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("--board", help="a board that ships, or the path of a profile (default: what suits this Pi)")
    parser.add_argument("--host", help="address the page is served on; 0.0.0.0 for the whole local network")
    parser.add_argument("--port", type=port, help="port of the page (default: 8700)")
    parser.add_argument("--kiosk", action="store_true", help="show the page on the screen of this machine")
    parser.add_argument("--uninstall", action="store_true", help="stop the service and remove its files")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    parser.add_argument("--root", type=Path, default=Path("/"), metavar="DIR", help="an image's root, not this system")
    parser.set_defaults(command=_install)


def _install(parsed: argparse.Namespace) -> int:
    system = System(parsed.root, dry=parsed.dry_run)
    _check(parsed)
    if parsed.uninstall:
        return _uninstall(system)
    kiosk = parsed.kiosk or system.text(f"{PLACES['system']}/{KIOSK_UNIT}") is not None
    wanted = service_files.placed(shipped(), sys.prefix, kiosk=kiosk) | _own(parsed, system)
    if not _verified({path: text for path, text in wanted.items() if path.startswith(PLACES["system"] + "/")}):
        return 1
    written = [path for path, text in wanted.items() if system.write(path, text)]
    done = True
    for command in _commands(system, written, _units(system, wanted, kiosk)):
        done = system.run(*command) and done  # what can be done is done
    print(_outcome(done, bool(written), dry=parsed.dry_run))
    return 0 if done else 1


def _outcome(done: bool, changed: bool, *, dry: bool) -> str:
    if dry:
        return "Nothing was installed: this is a dry run."
    if not done:
        return "The system refused; see above."
    return "Installed." if changed else "Installed. Nothing had changed."


class System:
    """The system that is installed into: its files below `root`, its commands; `dry` says them and does nothing."""

    def __init__(self, root: Path, *, dry: bool) -> None:
        self.root, self.dry = root, dry

    @property
    def live(self) -> bool:
        """Whether it is the one that runs."""
        return self.root == Path("/")

    def text(self, path: str) -> str | None:
        """The text of a file; None where there is none."""
        try:
            return (self.root / path).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def write(self, path: str, text: str) -> bool:
        """Have a text stand in a file, whole or not at all; False where it stands there already."""
        if self.text(path) == text:
            return False
        print(f"write /{path}")
        if not self.dry:
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            fresh = file.with_name(f".{file.name}.new")
            fresh.write_text(text, encoding="utf-8")
            fresh.chmod(0o644)
            fresh.replace(file)
        return True

    def remove(self, path: str) -> None:
        """Have no such file."""
        if self.text(path) is not None:
            print(f"remove /{path}")
            if not self.dry:
                (self.root / path).unlink()

    def run(self, *command: str) -> bool:
        """Run a command of the system; False, and what it said, where it fails."""
        print(" ".join(command))
        if self.dry:
            return True
        try:
            subprocess.run(command, check=True)  # noqa: S603 - commands of ours
        except FileNotFoundError:
            print(f"morbak: this system has no {command[0]}.", file=sys.stderr)
            return False
        except subprocess.CalledProcessError as error:
            print(f"morbak: {' '.join(command)}: exit status {error.returncode}.", file=sys.stderr)
            return False
        return True


def shipped() -> dict[str, str]:
    """The service's files as they ship, `folder/name` -> text: in the wheel beside this module, else in the tree."""
    inside = files("firmware") / "systemd"
    home: Traversable = inside if inside.is_dir() else Path(__file__).parent.parent / "systemd"
    found = ((folder, file) for folder in home.iterdir() if folder.is_dir() for file in folder.iterdir())
    return {f"{folder.name}/{file.name}": file.read_text("utf-8") for folder, file in found}


def _check(parsed: argparse.Namespace) -> None:
    """Refuse what cannot work before anything is touched. Raises Misuse."""
    if not parsed.dry_run and os.geteuid() != 0:
        raise Misuse(f"it writes into /etc: sudo {sys.argv[0]} install.")
    if shutil.which("systemd-analyze") is None:
        raise Misuse("this machine has no systemd, so there is nothing to install into.")
    if parsed.uninstall:
        return
    if sys.prefix.startswith(HIDDEN):
        raise Misuse(
            f"{sys.prefix} is hidden from services, which see no home and no /tmp of others: put the program into "
            "/opt/morbak, as the README says (Install, step 2)."
        )
    if (closed := _closed(Path(sys.prefix))) is not None:
        raise Misuse(f"{closed} is closed to other users, and the board has one of its own: chmod a+rX {closed}.")
    missing = [package for program, package in KIOSK_PROGRAMS.items() if shutil.which(program) is None]
    if parsed.kiosk and parsed.root == Path("/") and missing:
        raise Misuse(f"the screen needs {' and '.join(missing)}: sudo apt install {' '.join(missing)}.")


def _closed(path: Path) -> Path | None:
    """The first folder on the way to a path that others may not enter."""
    return next((folder for folder in (path, *path.parents) if not folder.stat().st_mode & 0o001), None)


def _own(parsed: argparse.Namespace, system: System) -> dict[str, str]:
    """What is this board's own: its profile, if it is no shipped one, and what it is started with."""
    before = service_files.settings(system.text(ENVIRONMENT) or "")
    board = parsed.board or before.get(_NAMES["board"]) or _suiting()
    own: dict[str, str] = {}
    if not board.startswith(CABLED):  # one at the end of a cable need not be there yet
        profile(_inside(system, board))
    if parsed.board is not None and board.endswith(".toml"):
        own[PROFILE] = Path(board).read_text(encoding="utf-8")
        board = f"/{PROFILE}"
    given = {"board": board, "host": parsed.host, "port": None if parsed.port is None else str(parsed.port)}
    return own | {ENVIRONMENT: service_files.environment(before, {_NAMES[key]: given[key] for key in given})}


def _inside(system: System, board: str) -> str:
    """The name of a board, or where its profile lies from here."""
    return str(system.root / PROFILE) if board == f"/{PROFILE}" else board


def _suiting() -> str:
    """The shipped board that suits this machine."""
    return {0: "sim", 5: "pi5"}.get(machine.model().generation, "reference")


def _verified(units: Mapping[str, str]) -> bool:
    """Whether systemd finds no fault in the units; they are looked at apart, before any is in place."""
    with tempfile.TemporaryDirectory() as folder:
        staged = [Path(folder) / Path(path).name for path in units]
        for file, text in zip(staged, units.values(), strict=True):
            file.write_text(text, encoding="utf-8")
        command = ["systemd-analyze", "verify", "--recursive-errors=no", "--man=no", *map(str, staged)]
        ran = subprocess.run(command, capture_output=True, text=True)  # noqa: S603 - a command of ours
    if ran.returncode != 0:
        print(f"morbak: systemd refuses the units, so nothing was installed:\n{ran.stderr}", file=sys.stderr)
    return ran.returncode == 0


def _units(system: System, wanted: Mapping[str, str], kiosk: bool) -> list[str]:
    """The units to enable; the way to the LEDs' root only where the board has LEDs that need it."""
    board = service_files.settings(wanted[ENVIRONMENT])[_NAMES["board"]]
    board = _inside(system, board)
    known = not board.startswith(CABLED) and (not board.endswith(".toml") or Path(board).exists())
    leds = profile(board).leds if known else None
    rooted = leds is not None and leds.driver in ("rpi_ws281x", "auto") and leds.gpio != models.SPI_PIN
    return [BOARD_UNIT, *([LEDS_UNIT] if rooted else []), *([KIOSK_UNIT] if kiosk else [])]


def _commands(system: System, written: list[str], units: list[str]) -> Iterator[tuple[str, ...]]:
    """What the system must be told, in order; of an image that does not run, only what will be done at its boot."""
    if not system.live:
        yield "systemctl", f"--root={system.root}", "enable", *units
        return
    yield "systemd-sysusers", "/" + PLACES["sysusers.d"] + "/morbak-board.conf"
    yield "systemd-tmpfiles", "--create", "/" + PLACES["tmpfiles.d"] + "/morbak-board.conf"
    if any(path.startswith(PLACES["rules.d"]) for path in written) and Path("/run/udev/control").exists():
        yield "udevadm", "control", "--reload"
        yield "udevadm", "trigger", "--settle", *(f"--subsystem-match={name}" for name in SUBSYSTEMS)
        yield "udevadm", "trigger", "--settle", "--subsystem-match=tty", "--property-match=ID_BUS=usb"
    if any(path.startswith(PLACES["system.conf.d"]) for path in written):
        yield "systemctl", "daemon-reexec"
    if any(path.startswith(PLACES["journald.conf.d"]) for path in written):
        yield "systemctl", "try-restart", "systemd-journald"
    if any(path.startswith(PLACES["system"] + "/") for path in written):
        yield "systemctl", "daemon-reload"
    yield "systemctl", "enable", *units
    yield "systemctl", "restart" if written else "start", *units


def _uninstall(system: System) -> int:
    paths = [f"{PLACES[folder]}/{file}" for folder, _, file in (name.partition("/") for name in shipped())]
    units = [Path(path).name for path in paths if "@" not in path and path.startswith(PLACES["system"] + "/")]
    there = [unit for unit in units if system.text(f"{PLACES['system']}/{unit}") is not None]
    stop = ("--now",) if system.live else (f"--root={system.root}",)
    done = not there or system.run("systemctl", "disable", *stop, *there)
    for path in [*paths, ENVIRONMENT]:
        system.remove(path)
    if system.live and there:
        done = system.run("systemctl", "daemon-reload") and done
    word = "Nothing was removed: this is a dry run." if system.dry else "Removed."
    print(f"{word} Games stay in /var/lib/morbak-board, settings in /etc/morbak-board.")
    return 0 if done else 1
