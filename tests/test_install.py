"""`morbak install`: what goes where, what is refused before anything is touched, and what systemd thinks of it."""

from __future__ import annotations

import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from firmware import commands_install, service_files
from firmware.cli import main
from firmware.commands_install import shipped
from firmware.service_files import PLACES, environment, placed, settings

ROOT = Path(__file__).parent.parent
SYSTEMD = ROOT / "systemd"
FILES = sorted(path for path in SYSTEMD.rglob("*") if path.is_file())
UNITS = [path for path in FILES if path.parent.name == "system"]
Output = pytest.CaptureFixture[str]
pytestmark = pytest.mark.systemd


@pytest.fixture
def prefix(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program where everybody may run it, or so it seems."""
    folder = tmp_path_factory.mktemp("program")
    (folder / "bin").mkdir()
    for name in ("morbak", "python"):
        (folder / "bin" / name).symlink_to("/bin/true")
    monkeypatch.setattr(sys, "prefix", str(folder))
    monkeypatch.setattr(commands_install, "HIDDEN", ("/home/", "/root/"))
    monkeypatch.setattr(commands_install, "_closed", lambda _: None)


def install(root: Path, *arguments: str) -> int:
    """Install into the root of an image."""
    return main(["install", "--root", str(root), *arguments])


def written(root: Path) -> dict[str, str]:
    """Every file below a root; a link tells where it leads."""
    return {
        path.relative_to(root).as_posix(): str(path.readlink()) if path.is_symlink() else path.read_text()
        for path in sorted(root.rglob("*"))
        if path.is_file() or path.is_symlink()
    }


# -- the files ---------------------------------------------------------------------------------------------------------


def test_what_is_shipped_is_what_lies_in_the_tree() -> None:
    """There is one copy of each file, and each has a place in the system."""
    assert {path.relative_to(SYSTEMD).as_posix() for path in FILES} == set(shipped())
    assert set(PLACES) == {path.parent.name for path in FILES}


def test_only_the_programs_folder_is_put_in() -> None:
    """A file is installed as it ships but for the program's folder; the screen's only where it is asked for (F4)."""
    texts = shipped()
    for prefix, kiosk in (("/opt/morbak", True), ("/srv/board/", True), ("/opt/morbak", False)):
        files = placed(texts, prefix, kiosk=kiosk)
        assert kiosk == ("etc/systemd/system/morbak-kiosk.service" in files)
        for name, text in texts.items():
            folder, _, file = name.partition("/")
            there = files.get(f"{PLACES[folder]}/{file}")
            assert there is None or text == there.replace(f"{prefix.rstrip('/')}/bin/", "/opt/morbak/bin/")


def test_what_a_board_is_started_with_is_kept_from_one_install_to_the_next() -> None:
    """What is given replaces what stood there; the rest stays; comments and rubbish are passed over."""
    before = settings("# MORBAK_HOST=x\nMORBAK_BOARD = pi5\n\nrubbish\nOTHER=1\n")
    assert {"MORBAK_BOARD": "pi5", "OTHER": "1"} == before
    after = environment(before, {"MORBAK_BOARD": None, "MORBAK_HOST": "0.0.0.0", "OTHER": "2"})  # noqa: S104
    assert {"MORBAK_BOARD": "pi5", "OTHER": "2", "MORBAK_HOST": "0.0.0.0"} == settings(after)  # noqa: S104


@pytest.mark.parametrize("unit", [unit for unit in UNITS if unit.name.endswith(".service")], ids=lambda path: path.name)
def test_exposure_is_small(unit: Path) -> None:
    """systemd gives the board's unit, and that of its LEDs, an exposure of at most 2.0."""
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (exposure,) = re.findall(r"exposure level for \S+: ([\d.]+)", told)
    wanted = 2.0 if unit.name != "morbak-kiosk.service" else 5.0
    assert float(exposure) <= wanted, told
    # What is left out has its reason in the file.
    if wanted == 2.0:
        for name in re.findall(
            r"^✗ (PrivateDevices|PrivateNetwork|PrivateUsers|ProcSubset|RootDirectory)=", told, re.M
        ):
            assert re.search(rf"^#   .*{name}=?", unit.read_text(), re.M), name


def test_the_web_has_no_root() -> None:
    """Only the helper of the LEDs is root, with one capability."""
    for unit in UNITS:
        lines = unit.read_text().splitlines()
        root = unit.name == "morbak-leds@.service"
        if unit.suffix == ".service":
            assert root == ("User=root" in lines)
            assert ("CapabilityBoundingSet=CAP_SYS_RAWIO" if root else "CapabilityBoundingSet=") in lines


# -- installing --------------------------------------------------------------------------------------------------------


@pytest.mark.root
@pytest.mark.usefixtures("prefix")
def test_an_image_is_installed_into_and_cleared_again(tmp_path: Path, capsys: Output) -> None:
    """Files in their places, the board enabled at boot; a second time nothing changes; uninstalled nothing is left."""
    assert 0 == install(tmp_path, "--board", "reference")
    first = written(tmp_path)
    enabled = "etc/systemd/system/multi-user.target.wants/morbak-board.service"
    assert {"etc/systemd/system/morbak-board.service", enabled, "etc/udev/rules.d/60-morbak-board.rules"} <= set(first)
    assert "etc/systemd/system/morbak-kiosk.service" not in first
    assert "etc/systemd/system/sockets.target.wants/morbak-leds.socket" not in first
    assert "MORBAK_BOARD=reference\n" in first["etc/morbak-board/environment"]
    modes = {stat.S_IMODE((tmp_path / path).stat().st_mode) for path in first if path != enabled}
    assert {0o644} == modes
    capsys.readouterr()
    assert 0 == install(tmp_path)
    assert first == written(tmp_path)
    assert "Nothing had changed" in capsys.readouterr().out
    assert 0 == install(tmp_path, "--host", "0.0.0.0", "--kiosk")  # noqa: S104
    assert "MORBAK_BOARD=reference\nMORBAK_HOST=0.0.0.0\n" in written(tmp_path)["etc/morbak-board/environment"]
    assert 0 == install(tmp_path, "--uninstall")
    assert {} == written(tmp_path)
    assert 0 == install(tmp_path, "--uninstall")


@pytest.mark.root
@pytest.mark.usefixtures("prefix")
def test_a_board_of_ones_own_goes_where_the_service_sees_it(tmp_path: Path) -> None:
    """Its profile is copied; LEDs that need root get their socket enabled."""
    own = tmp_path / "my.toml"
    own.write_text((ROOT / "hal/profiles/pwm.toml").read_text())
    assert 0 == install(tmp_path / "root", "--board", str(own))
    files = written(tmp_path / "root")
    assert own.read_text() == files["etc/morbak-board/board.toml"]
    assert "MORBAK_BOARD=/etc/morbak-board/board.toml\n" in files["etc/morbak-board/environment"]
    assert "etc/systemd/system/sockets.target.wants/morbak-leds.socket" in files
    assert 0 == install(tmp_path / "root")
    assert files == written(tmp_path / "root")
    assert 0 == install(tmp_path / "root", "--board", "serial:auto")
    assert "MORBAK_BOARD=serial:auto\n" in written(tmp_path / "root")["etc/morbak-board/environment"]


@pytest.mark.usefixtures("prefix")
def test_a_dry_run_touches_nothing(tmp_path: Path, capsys: Output) -> None:
    """It says each file and each command, and does none."""
    assert 0 == install(tmp_path, "--dry-run", "--board", "reference")
    told = capsys.readouterr().out
    assert [] == list(tmp_path.iterdir())
    assert "write /etc/systemd/system/morbak-board.service\n" in told
    assert "enable morbak-board.service\n" in told
    assert "Nothing was installed: this is a dry run." == told.splitlines()[-1]
    assert 0 == install(tmp_path, "--dry-run", "--uninstall")
    assert "Nothing was removed: this is a dry run." in capsys.readouterr().out


@pytest.mark.usefixtures("prefix")
def test_units_that_systemd_refuses_are_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    """A unit with a command that is not there is refused with systemd's words, and nothing is written."""
    broken = {
        name: text.replace("/opt/morbak/bin/morbak run", "/nowhere/morbak run") for name, text in shipped().items()
    }
    monkeypatch.setattr(commands_install, "shipped", lambda: broken)
    monkeypatch.setattr(commands_install.os, "geteuid", lambda: 0)
    assert 1 == install(tmp_path, "--board", "reference")
    assert [] == list(tmp_path.iterdir())
    assert "/nowhere/morbak" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("prefix", "words"),
    [("/home/pi/morbak", "hidden from services"), ("/root/morbak", "hidden from services"), ("closed", "chmod a+rX")],
)
def test_a_program_that_the_service_could_not_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output, prefix: str, words: str
) -> None:
    """A program in somebody's home, or in a folder closed to others, is refused with what to do."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(sys, "prefix", str(closed) if prefix == "closed" else prefix)
    monkeypatch.setattr(commands_install, "HIDDEN", ("/home/", "/root/"))
    assert 2 == install(tmp_path / "root", "--dry-run")
    assert words in capsys.readouterr().err
    assert not (tmp_path / "root").exists()


@pytest.mark.usefixtures("prefix")
@pytest.mark.parametrize(("arguments", "words"), [(("--board", "nowhere"), "nowhere"), (("--port", "x"), "")])
def test_bad_arguments_change_nothing(tmp_path: Path, arguments: tuple[str, ...], words: str, capsys: Output) -> None:
    """A board that does not exist, or a port that is none, is refused."""
    try:
        status = install(tmp_path, "--dry-run", *arguments)
    except SystemExit as end:
        status = int(end.code or 0)
    assert 2 == status
    assert words in capsys.readouterr().err
    assert [] == list(tmp_path.iterdir())


def test_who_is_not_root_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    """Without root nothing is tried."""
    monkeypatch.setattr(commands_install.os, "geteuid", lambda: 1000)
    assert 2 == install(tmp_path)
    assert "sudo" in capsys.readouterr().err


def test_the_service_files_module_names_every_unit() -> None:
    """The units that are enabled are among those that ship."""
    names = {unit.name for unit in UNITS}
    assert {service_files.BOARD_UNIT, service_files.KIOSK_UNIT, service_files.LEDS_UNIT} <= names
