"""A running board whose disk is full, may only be read, or stands still: play goes on, it shows, and nothing is lost.

The disk is a real ext4 of the test's own, the board the command `morbak run` as its users start it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from firmware.games import morbak
from tests.browser import opened
from tests.live import Json, Live, running
from tests.live_play import QUICK, guard, quiet, to_play, touch, until
from tests.small_disk import Disk, disk
from tests.test_journal_faults import look

pytestmark = [pytest.mark.disk, pytest.mark.realtime]

CORNERS = ("a1", "g1", "a7", "g7")
SWELL_S = 2.2  # the violet corner rises and falls once in 2 s
WELL_S = 30
LATCHED_S = 0.2  # from a change of the state to the frame that shows it, on a busy machine
# An action waits for the disk 1 s at most. Light, and an action that does not wait, take a tenth of that here; whatever
# took longer than half of it has waited.
WAITED_MS = 500
STALL_S = 3.0


@pytest.fixture
def small(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Disk]:
    """A disk of 16 MB, with blocks of 4096 bytes where nothing else is asked for."""
    with disk(tmp_path, getattr(request, "param", 4096)) as mounted:
        yield mounted


@pytest.fixture
def options(tmp_path: Path, small: Disk) -> tuple[str, ...]:
    """Of a quick board that saves on the small disk."""
    config = tmp_path / "quick.toml"
    config.write_text(QUICK, encoding="utf-8")
    return ("--seed", "1", "--state", str(small.state), "--config", str(config))


class Players:
    """Both players of one game, who touch no corner, remember what they did and how long the board took."""

    def __init__(self, live: Live, seed: int, actions: list[str]) -> None:
        self.live, self.actions = live, actions
        self.waits_ms: list[int] = []  # from each action's touch to its acceptance
        self.presses = self.before = 0
        self._random = Random(seed)
        self._state = to_play(live)
        self.before = self.light()["count"]

    def play(self, number: int) -> None:
        """So many actions, each when the one before was accepted."""
        for _ in range(number):
            self.touch()
            self.accepted()

    def touch(self) -> None:
        """One tap that is an action."""
        action = quiet(self._state, self._random, frozenset(CORNERS))
        assert action is not None
        guard(self.live)
        self.actions.append(action)
        self.presses += 1
        touch(self.live, action)

    def accepted(self) -> None:
        """Wait until the last action stands on the board."""
        touched_s = time.monotonic()
        self._state = until(self.live, lambda state: state["last_action"] == self.actions[-1])
        self.waits_ms.append(round(1000 * (time.monotonic() - touched_s)))

    def light(self) -> Json:
        """What the board's own meter tells: from a touch to the latched frame that answers it."""
        total: Json = self.live.json("GET", "/api/v1/latency")[1]["total"]
        return total


def journal(state: Json) -> Json:
    """The health of the part that saves."""
    part: Json = state["health"]["parts"]["journal"]
    return part


def is_violet(live: Live) -> bool:
    """Whether a corner of the board is violet now; nothing else there is that colour."""
    shown = live.json("GET", "/api/v1/frame")[1]["cells"]
    lights = [bytes.fromhex(shown[morbak.parse_cell(corner)][1:]) for corner in CORNERS]
    return any(blue > red > 2 * green > 0 for red, green, blue in lights)


def swell(live: Live) -> tuple[list[bool], list[bool]]:
    """What looks at a corner's light and at the health of the board found, for as long as a swell lasts."""
    violet, healthy = [], []
    deadline_s = time.monotonic() + SWELL_S
    while time.monotonic() < deadline_s:
        healthy.append(bool(live.state()["health"]["ok"]))
        violet.append(is_violet(live))
    return violet, [*healthy, bool(live.state()["health"]["ok"])]


def is_told(live: Live, sentence: str) -> None:
    """The state names the journal with a sentence, and a corner of the board is violet."""
    state = until(live, lambda state: bool(re.search(sentence, journal(state)["text"])))
    assert (False, False) == (journal(state)["ok"], state["health"]["ok"])
    assert "not saved" in journal(state)["text"].lower()
    assert any(swell(live)[0])


def is_well(live: Live) -> None:
    """Everything is well again and stays so for a swell, and a corner is violet only while something is not.

    A disk shared with others may take more than a second for a save, which is told, and no failure of the board.
    """
    deadline_s = time.monotonic() + WELL_S
    while True:
        until(live, lambda state: {"ok": True, "text": "ok"} == journal(state))
        time.sleep(LATCHED_S)
        violet, healthy = swell(live)
        if all(healthy):
            break
        assert time.monotonic() < deadline_s, live.state()["health"]
    assert not any(violet), live.state()["health"]


def stands_in(state: Path, actions: list[str]) -> None:
    """A process that was not there finds every action of the game on the disk."""
    found, _ = look(state)
    assert found.save is not None
    assert actions == [move for move in found.save.record.moves if move != "--"]


def no_light_waited(players: Players, what: str) -> None:
    """Each press of these players was answered with light once, and none of them waited for the disk."""
    light = until_measured(players)
    print(f"{what}: {players.presses} presses, all so far p50 {light['p50_us']} us, p99 {light['p99_us']} us,"
          f" longest {light['max_us']} us; actions waited {sorted(players.waits_ms)[-3:]} ms")  # fmt: skip
    assert players.presses == light["count"] - players.before
    assert light["max_us"] < 1000 * WAITED_MS


def until_measured(players: Players) -> Json:
    """What the meter tells once it has counted every press."""
    deadline_s = time.monotonic() + 5
    while (light := players.light())["count"] < players.before + players.presses and time.monotonic() < deadline_s:
        pass
    return light


def slow(players: Players) -> int:
    """How many actions had to wait."""
    return sum(ms > WAITED_MS for ms in players.waits_ms)


def test_a_disk_that_stalls_for_3_s(small: Disk, options: tuple[str, ...], seed: int) -> None:
    """The action under way counts at once, the next after a second and its light at once, those after it do not wait;
    "not saved" shows until the disk is back, and then all is saved (cases F9, G22; promise 5)."""
    actions: list[str] = []
    with running(*options) as live:
        before = Players(live, seed, actions)
        before.play(12)
        no_light_waited(before, "before")
        is_well(live)
        during = Players(live, seed + 1, actions)
        with small.stalled():
            stalled_s = time.monotonic()
            during.play(1)
            first = actions[-1]
            during.touch()
            assert 2 == until_measured(during)["count"] - during.before
            assert first == live.state()["last_action"], "an action must wait for the one before it to be saved"
            during.accepted()
            is_told(live, "not saved: the disk has not answered")
            while time.monotonic() < stalled_s + STALL_S or len(during.waits_ms) < 12:
                during.play(1)
        assert 1 == slow(during)
        no_light_waited(during, "stalled")
        is_well(live)
        assert 0 == live.stop()
    stands_in(small.state, actions)


@pytest.mark.parametrize("small", [4096, 1024], indirect=True)
def test_a_full_disk(small: Disk, options: tuple[str, ...], seed: int) -> None:
    """Play goes on for as long as the disk is full, and says so; when there is room, all is saved (case F9).

    Blocks of 1024 bytes are what mkfs chooses below 512 MB; there SQLite's shared index would kill the board (SIGBUS).
    """
    actions: list[str] = []
    with running(*options) as live:
        before = Players(live, seed, actions)
        before.play(8)
        no_light_waited(before, "before")
        is_well(live)
        assert 0 == live.stop()
    with running(*options) as live:
        small.fill()
        during = Players(live, seed + 1, actions)
        during.play(3)
        is_told(live, "The disk is full: games are not saved until there is room in ")
        during.play(17)
        assert slow(during) <= 1
        no_light_waited(during, "full")
        small.free()
        is_well(live)
        assert 0 == live.stop()
    stands_in(small.state, actions)


def test_a_disk_that_fills_up_in_play(small: Disk, options: tuple[str, ...], seed: int) -> None:
    """Whatever the journal still finds room for: no action waits for more than a second, and nothing is lost."""
    actions: list[str] = []
    with running(*options) as live:
        players = Players(live, seed, actions)
        players.play(4)
        small.fill()
        players.play(16)
        assert max(players.waits_ms) < 1000 + WAITED_MS
        no_light_waited(players, "filling up")
        small.free()
        is_well(live)
        assert 0 == live.stop()
    stands_in(small.state, actions)


def test_a_disk_that_may_only_be_read(small: Disk, options: tuple[str, ...], seed: int) -> None:
    """A board that starts on a read-only disk finds its game there, plays on, says that nothing is saved, and saves
    all of it when the disk may be written (cases F9, G22)."""
    actions: list[str] = []
    with running(*options) as live:
        Players(live, seed, actions).play(6)
        assert 0 == live.stop()
    small.read_only()
    with running(*options) as live:
        assert "paused" == live.state()["phase"]
        is_told(live, "read-only file system; mount it writable")
        during = Players(live, seed + 1, actions)
        during.play(20)
        assert slow(during) <= 1
        no_light_waited(during, "read-only")
        small.writable()
        is_well(live)
        assert 0 == live.stop()
    stands_in(small.state, actions)


def test_a_full_disk_that_becomes_read_only(small: Disk, options: tuple[str, ...], seed: int) -> None:
    """What is in the way is told as it is now; each action since is saved in the end (cases F9, G22)."""
    actions: list[str] = []
    with running(*options) as live:
        small.fill()
        players = Players(live, seed, actions)
        players.play(4)
        is_told(live, "The disk is full")
        small.read_only()
        is_told(live, "read-only file system")
        players.play(4)
        small.writable()
        is_told(live, "The disk is full")
        small.free()
        is_well(live)
        assert 0 == live.stop()
    stands_in(small.state, actions)


@pytest.mark.browser
def test_the_page_says_that_nothing_is_saved(small: Disk, options: tuple[str, ...], seed: int) -> None:
    """The page says "Not saved. Play goes on." while the disk is full, and no more when it is not."""
    with running(*options) as live, opened(live) as page:
        small.fill()
        Players(live, seed, []).play(2)
        page.get_by_text("Not saved. Play goes on.").wait_for(timeout=8000)
        small.free()
        page.get_by_text("Not saved. Play goes on.").wait_for(state="hidden", timeout=8000)
