"""The page on the board's own screen: how its browser is started, when its page counts as dead, and what it shows."""

from __future__ import annotations

import os
import signal
import struct
import time

import pytest

from firmware.kiosk import SILENT_US, STARTS_US, Heart, command, complaint, obituary
from tests.kiosk import beat_ms, beating, screen
from tests.live import running

S = 1_000_000
SIZES = [(1280, 720), (800, 480), (1080, 1920)]


def test_a_page_has_time_to_start() -> None:
    """A browser without a first picture is left alone for three quarters of a minute, and no longer (case F3)."""
    heart = Heart(0)
    assert [True, False] == [heart.step(t_us, None) for t_us in (STARTS_US, STARTS_US + 1)]
    assert not heart.felt


def test_a_page_that_falls_silent_is_dead() -> None:
    """After its first beat a page is given fifteen seconds of silence."""
    heart = Heart(0)
    assert heart.step(10 * S, 1 * S)
    assert heart.felt
    assert [True, False] == [heart.step(9 * S + SILENT_US + more, SILENT_US + more) for more in (0, 1)]


def test_the_beat_of_the_page_before_does_not_count() -> None:
    """A browser that was just started is not taken for alive because the last one was."""
    heart = Heart(100 * S)
    assert heart.step(101 * S, 2 * S)
    assert not heart.felt


def test_nobody_is_dead_while_the_board_is_away() -> None:
    """Without a board no page can be heard: the browser stays, and has its time once the board is back."""
    heart = Heart(0)
    assert all(heart.step(t_us, "away") for t_us in range(0, 600 * S, 10 * S))
    assert [True, False] == [heart.step(590 * S + STARTS_US + more, None) for more in (0, 1)]


def test_the_browser_asks_nobody_anything() -> None:
    """One window in one compositor, on a profile of its own; nothing that restores, translates or reports (F2, F6)."""
    line = command("chromium", "http://127.0.0.1:8700/?kiosk", "/run/x/profile")
    assert ["setpriv", "--pdeathsig", "TERM", "cage", "-d", "--", "chromium"] == line[:7]
    assert "http://127.0.0.1:8700/?kiosk" == line[-1]
    wanted = {"--kiosk", "--start-maximized", "--hide-crash-restore-bubble", "--user-data-dir=/run/x/profile"}
    assert wanted <= set(line)
    assert "--no-sandbox" not in line


def test_a_missing_screen_is_one_sentence() -> None:
    """What cage says without a seat is told as what is missing; a browser's own lines are not cage's."""
    said = """\
00:00:00.013 [ERROR] [libseat] [libseat/backend/logind.c:660] Could not get primary session for user: No data available
00:00:00.015 [ERROR] [libseat] [common/terminal.c:162] Could not open target tty: Permission denied
[190:190:1130/222726.688417:ERROR:ui/ozone/platform/wayland/x.cc:40] drmGetDevices2() has not found any devices
00:00:10.001 [ERROR] [backend/session/session.c:362] Timeout waiting session to become active
"""
    complaints = [words for line in said.splitlines() if (words := complaint(line)) is not None]
    assert 3 == len(complaints)
    sentence = obituary(1, complaints)
    assert "(cage: Could not get primary session for user: No data available; Timeout waiting session" in sentence
    assert "sudo systemctl disable --now morbak-kiosk." in sentence
    assert "exit status 3 before it showed anything" in obituary(3, [])


@pytest.mark.realtime
def test_the_board_feels_the_page() -> None:
    """The heartbeat is a POST of this machine; GET tells how old it is, and null before the first."""
    with running("--seed", "1") as live:
        assert (200, {"age_ms": None}) == live.json("GET", "/api/v1/kiosk")
        assert 200 == live.request("POST", "/api/v1/kiosk")[0]
        age = beat_ms(live)
        assert age is not None and age < 60_000
        assert 403 == live.request("POST", "/api/v1/kiosk", headers={"Origin": "http://elsewhere.example"})[0]


@pytest.mark.browser
@pytest.mark.realtime
@pytest.mark.kiosk
@pytest.mark.systemd
def test_the_screen_shows_the_page_and_comes_back_when_its_browser_is_killed() -> None:
    """Under cage the page fills screens of three sizes; its browser killed, it is back within 5 s (or, on a busy
    machine, the time of its first start), and the board plays on as if nothing had been (cases F1, F3).
    """
    with running("--seed", "1") as live, live.watch() as watch:
        began_s = time.monotonic()
        with screen(live) as shown:
            first_s = beating(live, 60, began_s)
            live.tap("d4")
            watch.phase("play", 30)
            for width, height in SIZES:
                shown.size(width, height)
                time.sleep(0.5)
                picture = shown.picture()
                assert (width, height) == struct.unpack(">II", picture[16:24])
                assert len(picture) > 20_000  # a blank screen of any size has less
            before = live.state()
            assert shown.browsers()
            for process in shown.browsers():
                os.kill(process, signal.SIGKILL)
            killed_s = time.monotonic()
            back_s = beating(live, 60, killed_s + 0.2)
            after = live.state()
    print(f"first picture after {first_s:.1f} s, back after {back_s:.1f} s")
    assert back_s <= max(5, 1.5 * first_s)
    assert [before[key] for key in ("phase", "position", "to_move")] == [
        after[key] for key in ("phase", "position", "to_move")
    ]
    assert after["health"]["ok"]
