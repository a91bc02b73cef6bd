"""The import table of the design, checked on the source."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted(path for top in ("firmware", "hal", "sim") for path in (ROOT / top).rglob("*.py"))
PURE = {
    "hal/corners.py", "hal/guide.py", "hal/mapped.py", "hal/mapping.py", "hal/mapping_result.py", "hal/profile_text.py",
    "hal/selftest.py", "hal/selftest_report.py", "hal/selftest_text.py",
    "hal/bounces.py", "firmware/operator_commands.py", "firmware/orders.py", "firmware/quiet.py", "firmware/wear.py",
    "hal/agreement.py", "hal/chain.py", "hal/claims.py", "hal/noise.py",
    "hal/conformance_boards.py", "hal/pins.py", "hal/wiring.py",
    "hal/debounce.py", "hal/jig.py", "hal/bench.py", "hal/conformance_jig.py",
    "hal/device_board.py", "hal/link.py", "hal/link_clock.py", "hal/link_device.py",
    "hal/link_frames.py", "hal/link_host.py",
    "hal/link_profile.py", "hal/link_trouble.py", "hal/matrix.py", "hal/models.py", "hal/pixels.py", "hal/ports.py",
    "hal/ws2812.py",
    "hal/doctor.py", "hal/doctor_access.py", "hal/doctor_boot.py", "hal/doctor_finding.py", "hal/doctor_leds.py",
    "hal/doctor_machine.py", "hal/doctor_pins.py", "hal/doctor_python.py", "hal/doctor_services.py", "hal/pinout.py",
    "firmware/clock.py", "firmware/engine.py", "firmware/frames.py", "firmware/game.py", "firmware/gesture.py",
    "firmware/game_record.py", "firmware/journal_lines.py", "firmware/keeper.py", "firmware/latency.py",
    "firmware/attract.py", "firmware/cleaning.py", "firmware/grounds.py", "firmware/miniature.py",
    "firmware/nightfall.py",
    "firmware/choosing.py", "firmware/course.py", "firmware/detours.py", "firmware/judging.py", "firmware/match.py",
    "firmware/options.py", "firmware/replay.py", "firmware/sounds.py", "firmware/strips.py",
    "hal/buttons.py",
    "firmware/lights.py", "firmware/menu.py", "firmware/moments.py", "firmware/palette.py", "firmware/phases.py",
    "firmware/picture.py", "firmware/hearing.py", "firmware/draw.py",
    "firmware/previews.py", "firmware/record.py", "firmware/rhythm.py", "firmware/scenes.py",
    "firmware/save.py", "firmware/settings_text.py", "firmware/sight.py", "firmware/snapshot.py", "firmware/state.py",
    "firmware/starts.py", "firmware/state_archive.py", "firmware/table.py", "firmware/watchdog.py",
    "firmware/kiosk.py", "firmware/service_files.py",
    "firmware/trace.py", "firmware/trace_replay.py", "firmware/trace_tape.py", "firmware/trace_witness.py",
}  # fmt: skip
IMPURE_MODULES = {
    "asyncio", "datetime", "io", "logging", "multiprocessing", "os", "pathlib", "queue", "random", "secrets",
    "select", "selectors", "shutil", "signal", "socket", "sqlite3", "subprocess", "tempfile", "threading", "time",
}  # fmt: skip
IMPURE_CALLS = {"open", "print", "input", "exec", "eval"}
DEVICE_LIBRARIES = {
    "adafruit_blinka",
    "board",
    "gpiod",
    "gpiozero",
    "lgpio",
    "neopixel",
    "rpi_ws281x",
    "serial",
    "spidev",
}
MAY_IMPORT = {
    "firmware": {"firmware", "hal"},
    "hal": {"hal"},
    "sim": {"firmware", "hal", "sim"},
}
OURS = {"firmware", "hal", "sim", "tests"}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def is_pure(path: Path) -> bool:
    return name_of(path) in PURE or name_of(path).startswith("firmware/games/")


def imported(path: Path) -> set[str]:
    """Every module that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def tops(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imported(path)}


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_imports_point_one_way(path: Path) -> None:
    """Hal knows nothing of the firmware, the firmware nothing of the simulator but in its command line."""
    allowed = MAY_IMPORT[path.relative_to(ROOT).parts[0]]
    if name_of(path) in ("firmware/cli.py", "hal/testing.py"):
        allowed = OURS - {"tests"}
    assert set() == (tops(path) & OURS) - allowed


@pytest.mark.parametrize("path", [path for path in SOURCES if is_pure(path)], ids=name_of)
def test_pure_parts_have_no_clock_no_chance_and_no_io(path: Path) -> None:
    """The pure parts import and call nothing whose answer is not in their arguments."""
    calls = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert set() == tops(path) & IMPURE_MODULES
    assert set() == calls & IMPURE_CALLS


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_device_libraries_stay_in_the_drivers(path: Path) -> None:
    """No file outside hal/drivers imports a device library, but for the simulated pins of one."""
    if not name_of(path).startswith("hal/drivers/") and name_of(path) != "sim/pins.py":
        assert set() == tops(path) & DEVICE_LIBRARIES


@pytest.mark.parametrize("path", sorted((ROOT / "tests").glob("test_*.py")), ids=name_of)
def test_a_test_waits_for_events_and_not_for_the_clock(path: Path) -> None:
    """A sleep stands in a loop that looks for something, or in a file of tests that are marked realtime (case C17)."""
    text = path.read_text(encoding="utf-8")
    sleeps, polls = (
        {
            call.lineno
            for node in ast.walk(ast.parse(text))
            if isinstance(node, kinds)
            for call in ast.walk(node)
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "time.sleep"
        }
        for kinds in (ast.Module, (ast.While, ast.For))
    )
    assert "realtime" in text or set() == sleeps - polls


def test_every_pure_part_is_there() -> None:
    """The list of pure parts names no file that is gone."""
    assert [] == sorted(name for name in PURE if not (ROOT / name).exists())


def test_every_source_is_listed_by_its_standing() -> None:
    """A file that imports nothing impure is in the list of pure parts, so that it stays so."""
    shells = {"firmware/__init__.py", "firmware/web/__init__.py", "hal/__init__.py", "hal/drivers/__init__.py"}
    shells |= {
        "firmware/app.py",
        "firmware/cli.py",
        "firmware/commands_rules.py",
        "firmware/version.py",
        "hal/board.py",
        "hal/board_suite.py",
        "hal/opening.py",
        "hal/errors.py",
    }
    unlisted = [
        name_of(path)
        for path in SOURCES
        if not name_of(path).startswith(("sim/", "firmware/web/", "hal/drivers/", "hal/pico/"))
        and not is_pure(path)
        and name_of(path) not in shells
        and not tops(path) & IMPURE_MODULES
    ]
    assert [] == unlisted


def test_nothing_else_lies_at_the_top() -> None:
    """The top of the tree holds what the layout names, and nothing else."""
    allowed = {
        "pyproject.toml", "README.md", "Makefile", "CHANGELOG.md", "LICENSE", ".gitignore", ".ci",
        "firmware", "hal", "sim", "tests", "systemd",
    }  # fmt: skip
    ignored = {".git", ".venv", "shots", "build", "dist", "__pycache__"}
    found = {path.name for path in ROOT.iterdir() if not path.name.endswith("_cache") and path.name != ".hypothesis"}
    assert set() == found - allowed - ignored


def test_the_standard_library_names_are_known() -> None:
    """Every impure module that is banned exists, so that a slip of the pen bans nothing by mistake."""
    assert set() == IMPURE_MODULES - sys.stdlib_module_names
