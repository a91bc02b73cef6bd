"""The Pico's code under real MicroPython on an emulated RP2040: the same protocol files, keys and light, in its time.

One start serves all: the emulated chip is 20 to 30 times slower than the real one.
"""

from __future__ import annotations

from typing import Any

import pytest

from hal import link
from tests import pico_session
from tests.pico_rig import COPIED, HAL, PicoRig, moves

FRAME = bytes((5 * at + 7) % 61 for at in range(147))
CHANGED = FRAME[:60] + b"\x3c\2\1" + FRAME[63:]
CHAIN = [row * 7 + (6 - column if row % 2 else column) for row in range(7) for column in range(7)]


# Whole rows, then whole columns: what is closed together tells each cell, and on no matrix it is a rectangle.
LINES = [range(7 * row, 7 * row + 7) for row in range(7)] + [range(column, 49, 7) for column in range(7)]


# A message without an end, longer than any; greetings of another version; messages of a session that is none.
HOSTILE = b"".join((
    b"\xff" * 900, b"\0\0\0", *(link.frame(link.HELLO, 40 + at, 1, 0, link.hello(9)) for at in range(5)),
    *(link.frame(kind, 999, 1, 0, bytes(30)) for kind in range(10)), b"\3\2\1",
))  # fmt: skip


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """What somebody at the bench would see, in two seconds of the chip's time."""
    return pico_session.session(bench).bench


async def bench(rig: PicoRig) -> dict[str, Any]:
    """Look at each cell, at ghosts and at frames."""
    found: dict[str, Any] = {}
    host = rig.host
    await rig.until(lambda: host.report, 5_000)
    found["about"], found["start_ms"] = host.about, rig.now_us // 1000
    for diodes in (True, False):
        rig.copper.diodes = diodes
        rig.edges.clear()
        for cells in LINES[:7] if diodes else LINES:
            wanted = sum(1 << cell for cell in cells)
            rig.copper.press(*cells)
            await rig.until(lambda wanted=wanted: host.down == wanted, 600)  # type: ignore[misc]
        rig.copper.press()
        await rig.until(lambda: not host.down, 600)
        found[f"cells {diodes}"] = moves(rig.edges)
    rig.edges.clear()
    rig.copper.press(0, 3)
    await rig.until(lambda: host.down == 1 | 1 << 3, 600)
    rig.copper.press(0, 3, 21)  # the third corner of a rectangle
    await rig.until(lambda: host.report is not None and host.report.ghosts, 600)
    found["ghosts"], found["guessed"] = host.report.ghosts if host.report else 0, moves(rig.edges)
    rig.copper.press()
    await rig.until(lambda: host.report is not None and not host.report.ghosts, 600)
    for name, frame in (
        ("whole", FRAME),
        ("changed", FRAME[:60] + b"\x3c\2\1" + FRAME[63:]),
        ("white", b"\xff" * 147),
    ):
        shown, host.frames.wanted = rig.strip.frame_count, frame
        await rig.until(lambda shown=shown: host.frames.settled and rig.strip.frame_count > shown, 3_000)  # type: ignore[misc]
        await rig.until(lambda at=rig.now_us: rig.now_us > at + 5_000, 300)  # type: ignore[misc]
        found[name] = rig.pixels()
    host.ask()
    await rig.until(lambda: host.stats, 1_000)
    rig.edges.clear()
    rig.say(HOSTILE)
    rig.copper.press(8)
    await rig.until(lambda: host.down == 1 << 8, 3_000)
    rig.copper.press()
    await rig.until(lambda: not host.down, 3_000)
    found["after"] = moves(rig.edges), host.refusal, host.version
    found |= {"stats": host.stats, "sessions": host.sessions, "bad": host.splitter.bad, "flags": host.report}
    return found


def test_the_board_runs_the_hosts_own_protocol_files() -> None:
    """What is copied to a Pico for the link, debounce and ghosts is what the host runs, byte by byte."""
    for name in ("link", "link_device", "debounce", "matrix"):
        assert HAL / f"{name}.py" == COPIED[f"hal/{name}.py"]


@pytest.mark.pico
def test_a_pico_says_what_it_is(found: dict[str, Any]) -> None:
    """The handshake with the emulated chip tells geometry, order of the LEDs, firmware, id and why it started."""
    about = found["about"]
    assert (7, 7, b"GRB", 1000, tuple(CHAIN)) == (
        about.rows, about.columns, about.colour_order, about.scan_hz, about.lights,
    )  # fmt: skip
    assert ("MORBAK Pico board", "morbak-board pico 1", 16) == (about.name, about.firmware, len(about.unique))
    assert "power on" == link.RESETS[about.reset]


@pytest.mark.pico
@pytest.mark.parametrize("diodes", [True, False])
def test_all_49_cells_are_seen(found: dict[str, Any], diodes: bool) -> None:
    """Row after row is closed, without diodes column after column too: each cell goes down and up in its row, and in
    its column but for the one where both meet, and nothing else does.
    """
    seen, corner = found[f"cells {diodes}"], LINES[6][0]
    for way in (True, False):
        times = [[cell for cell, down in seen if down == way].count(cell) for cell in range(49)]
        assert [1 if diodes or cell == corner else 2 for cell in range(49)] == times


@pytest.mark.pico
def test_three_corners_without_diodes_are_not_guessed(found: dict[str, Any]) -> None:
    """A third corner of a rectangle makes all four cells ambiguous, and neither it nor the fourth is told (case D1)."""
    assert (1 | 1 << 3 | 1 << 21 | 1 << 24, [(0, True), (3, True)]) == (found["ghosts"], found["guessed"])


@pytest.mark.pico
def test_a_frame_is_decoded_from_the_data_pin_exactly(found: dict[str, Any]) -> None:
    """49 pixels leave the pin as they were sent, whole and as a change; white is dimmed to the limits as a whole."""

    def pixels(frame: bytes) -> list[tuple[int, ...]]:
        return [(frame[at + 1], frame[at], frame[at + 2]) for at in range(0, 147, 3)]

    assert pixels(FRAME) == found["whole"]
    assert pixels(CHANGED) == found["changed"]
    assert [(201, 201, 201)] * 49 == found["white"]
    assert found["flags"].flags == link.LIMITED


@pytest.mark.pico
def test_a_hostile_host_does_not_stop_a_pico(found: dict[str, Any]) -> None:
    """A flood without an end, greetings of another version and messages of no session: the next touch is told as ever,
    in the session that was."""
    assert ([(8, True), (8, False)], None, None) == found["after"]


@pytest.mark.pico
def test_one_session_holds_from_start_to_end(found: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing breaks off, and no byte is spoilt but for the newline with which the emulator wakes a prompt; how fast it
    scans is told.
    """
    assert (1, 2, 0, 0) == (found["sessions"], found["stats"].babble, found["stats"].lost, found["bad"])
    with capsys.disabled():
        print(
            f"\nan emulated Pico: {found['stats'].scan_hz} scans a second, {found['start_ms']} ms from power to play, "
            f"all in its own time"
        )
