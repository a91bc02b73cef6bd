"""The shells around the steps: the pace of scans, a queue that loses nothing, LEDs that are dark at every end."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from types import SimpleNamespace

import pytest

from firmware import app as shells
from firmware.app import QUEUE_SCANS, App, RealClock, ScanThread
from firmware.clock import Limits
from firmware.engine import Engine
from firmware.games import morbak
from firmware.gesture import TouchTimes
from firmware.lights import Lights
from firmware.match import Match
from firmware.phases import PhaseTimes
from firmware.sight import Unseen
from firmware.snapshot import Snapshot
from firmware.table import Table
from hal.errors import PartError
from hal.ports import Board, Capabilities, Edge, Measures, Note, Part, Scan
from hal.profile import load, shipped
from sim.board import SimBoard
from tests.live import running

MS = 1_000
DARK = bytes(147)
# Whatever a test waits for comes within milliseconds; only a broken shell makes it wait this long.
PATIENCE_S = 10


@pytest.fixture(autouse=True)
def _switching() -> Iterator[None]:
    """The app sets how soon threads give way; other tests keep theirs."""
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)


# -- a board and a clock to hold ---------------------------------------------------------------------------------------


class HandClock:
    """A clock that stands until somebody sleeps, and then wakes him `late_us` too late."""

    def __init__(self, late_us: int = 0) -> None:
        self.t_us, self.late_us = 0, late_us

    def now_us(self) -> int:
        return self.t_us

    def sleep(self, seconds: float) -> None:
        self.t_us += round(seconds * 1e6) + self.late_us


class Through(Exception):
    """The script of a board is over."""


class ScriptBoard:
    """A board whose scans find what a script says; what is shown is kept, with the thread that showed it."""

    capabilities = Capabilities("script", 7, 7)

    def __init__(self, script: Iterable[Scan], after: Scan | None = None) -> None:
        """After the script every scan is `after`; without it the scan raises Through."""
        self._script, self._after = iter(script), after
        self.scanned: list[int] = []
        self.frames: list[tuple[int, bytes]] = []
        self.owners: dict[str, set[int]] = {"scan": set(), "leds": set()}
        self.closed = 0
        self.on_show: Callable[[], None] = lambda: None

    def scan(self, t_us: int) -> Scan:
        self.scanned.append(t_us)
        self.owners["scan"].add(threading.get_ident())
        scan = next(self._script, self._after)
        if scan is None:
            raise Through
        return scan

    dimmed = False
    brightness_pct = 100

    def tone(self, notes: tuple[Note, ...], volume_pct: int) -> None:
        raise AssertionError("this board has no sound")

    def expect(self, stuck: int) -> None:
        self.stuck = stuck

    def dim(self, brightness_pct: int) -> None:
        self.brightness_pct = brightness_pct

    def show(self, frame: bytes, t_us: int) -> bool:
        self.owners["leds"].add(threading.get_ident())
        self.frames.append((t_us, frame))
        self.on_show()
        return True

    def wire(self) -> bytes:
        return self.frames[-1][1]

    def health(self) -> dict[str, Part]:
        return {"leds": Part(True, "ok")}

    def measures(self) -> Measures:
        return Measures()

    def close(self) -> None:
        self.owners["leds"].add(threading.get_ident())
        self.closed += 1


def scan(*edges: Edge, t_us: int = 0, ghosts: int = 0, period_us: int = 0) -> Scan:
    """What a scan has found; the next is due at once unless told."""
    return Scan(t_us, edges, ghosts, t_us - 10 * MS, period_us)


IDLE = scan(period_us=5 * MS)


def drumming(scans: int) -> list[Scan]:
    """Scans with one edge each: seven fingers down and up again, each edge 1 ms after the one before."""
    edges = [Edge(turn * MS, turn // 2 % 7, turn % 2 == 0) for turn in range(scans)]
    return [scan(edge, t_us=edge.t_us) for edge in edges]


def engine_on(board: Board, of: type[Engine] = Engine) -> Engine:
    """The real steps on a board."""
    table = Table(Match(morbak.STANDARD, Limits()), TouchTimes(), PhaseTimes(), lambda: "a")
    return of(table, board, Lights())


class Scanning:
    """A scan thread whose `run` is called by hand, in a time that only sleeping moves."""

    def __init__(self, script: Iterable[Scan], patch: pytest.MonkeyPatch, late_us: int = 0) -> None:
        self.clock = HandClock(late_us)
        self.board = ScriptBoard(script)
        self.engine = engine_on(self.board)
        self.heard = 0
        self.thread = ScanThread(self.board, self.engine, self.clock, self._hear, print)
        patch.setattr(shells, "time", SimpleNamespace(sleep=self.clock.sleep))

    def run(self) -> None:
        with pytest.raises(Through):
            self.thread.run()

    def _hear(self) -> None:
        self.heard += 1


# -- the pace of scans -------------------------------------------------------------------------------------------------


def busy(rig: list[Scanning], costs_us: Iterable[int]) -> Iterator[Scan]:
    """Scans a millisecond apart, each of which takes its time."""
    for cost_us in costs_us:
        rig[0].clock.t_us += cost_us
        yield scan(period_us=MS)


def starts_us(costs_us: list[int], patch: pytest.MonkeyPatch, late_us: int = 0) -> list[int]:
    """When scans that take so long begin."""
    rig: list[Scanning] = []
    rig.append(Scanning(busy(rig, costs_us), patch, late_us))
    rig[0].run()
    return rig[0].board.scanned


def test_scans_are_paced_by_absolute_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a scan takes, the next begins a period after the last was due, not after it ended (case D13)."""
    costs_us = [10, 400, 999, 0, 350, 1]
    assert [0, 1000, 2000, 3000, 4000, 5000, 6000] == starts_us(costs_us, monkeypatch)


def test_late_wake_ups_do_not_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scan that begins late does not delay those after it (case C22)."""
    assert [0] + [turn * 1000 + 80 for turn in range(1, 101)] == starts_us([20] * 100, monkeypatch, late_us=80)


def test_a_short_stall_is_caught_up_and_a_long_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scans missed in a few milliseconds are made up at once; after 50 ms the pace starts anew."""
    assert [0, 4000, 4000, 4000, 4000, 5000] == starts_us([4000, 0, 0, 0, 0], monkeypatch)
    assert [0, 50_000, 51_000, 52_000] == starts_us([50_000, 0, 0], monkeypatch)


def test_the_board_sets_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each scan says when the next is due: 5 ms while idle, 1 ms while touched."""
    rig = Scanning([scan(period_us=us) for us in (5000, 5000, 1000, 1000, 5000)], monkeypatch)
    rig.run()
    assert [0, 5000, 10_000, 11_000, 12_000, 17_000] == rig.board.scanned


def test_the_lateness_of_scans_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """The meter counts every scan and how late it began (case D9)."""
    rig = Scanning([scan(period_us=MS)] * 10, monkeypatch, late_us=70)
    rig.run()
    assert {"count": 11, "p50_us": 70, "p99_us": 70, "max_us": 70} == rig.engine.meter.report()["scan_late"]


# -- the queue ---------------------------------------------------------------------------------------------------------


def test_only_what_matters_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    """Edges, a change of ghosts, and the scan that a deadline waits for reach the loop; quiet scans do not."""
    edge = scan(Edge(7, 3, True), t_us=7)
    ghost, still, clear = scan(ghosts=5, t_us=8), scan(ghosts=5, t_us=9), scan(t_us=10)
    rig = Scanning([scan(), edge, scan(), ghost, still, clear, scan()], monkeypatch)
    rig.run()
    assert [(edge, None), (ghost, None), (clear, None)] == rig.thread.take()
    assert 3 == rig.heard
    assert [] == rig.thread.take()


def test_a_loss_of_sight_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scan that shows that contacts are out of sight reaches the loop, and so does the one that ends it."""
    seen, unknown, again = scan(t_us=20 * MS), scan(t_us=10 * MS), scan(t_us=5000 * MS)
    dead = unknown._replace(t_us=1500 * MS)
    rig = Scanning([seen, unknown, dead, dead, again], monkeypatch)
    rig.run()
    assert [(dead, Unseen(10 * MS, None)), (again, Unseen(10 * MS, 5000 * MS))] == rig.thread.take()


def test_a_full_queue_keeps_the_oldest_and_counts_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the queue cannot take is counted edge by edge and told; what it holds stays in order (promise 3)."""
    kept = drumming(QUEUE_SCANS)
    lost = [scan(Edge(9, 1, True), Edge(9, 2, False), Edge(9, 3, True))] * 5
    rig = Scanning([*kept, *lost], monkeypatch)
    rig.run()
    assert ([(scan, None) for scan in kept], 15) == (rig.thread.take(), rig.engine.lost_edges)
    rig.engine.check(0)
    health = rig.engine.document(0)["health"]
    assert not health["ok"]
    assert "15 touches were lost" in health["parts"]["queue"]["text"]


def test_a_change_of_ghosts_outlasts_a_full_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ambiguous cells that found the queue full are told as soon as there is room."""
    rigs: list[Scanning] = []

    def script() -> Iterator[Scan]:
        yield from drumming(QUEUE_SCANS)
        yield scan(ghosts=3)
        rigs[0].thread.take()
        yield scan(ghosts=3, t_us=1)
        yield scan(ghosts=3, t_us=2)

    rigs.append(Scanning(script(), monkeypatch))
    rigs[0].run()
    assert ([(scan(ghosts=3, t_us=1), None)], 0) == (rigs[0].thread.take(), rigs[0].engine.lost_edges)


def test_a_deadline_takes_one_place_in_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the loop stands still a deadline that has passed does not push the edges out of the queue."""
    edges = drumming(100)
    quiet = [scan(t_us=time_us) for time_us in range(0, 3_000 * MS, MS)]
    rig = Scanning([*quiet, *edges], monkeypatch)
    rig.engine.due_us = -10 * MS
    rig.run()
    taken = [scan for scan, _ in rig.thread.take()]
    assert (edges, 0) == (taken[-100:], rig.engine.lost_edges)
    assert [quiet[0]] == taken[:-100]


# -- the loop ----------------------------------------------------------------------------------------------------------


class Listener(Engine):
    """The real steps, with an ear at `hear`."""

    on_hear: Callable[[Scan], None] = staticmethod(lambda _: None)

    def hear(self, scan: Scan, t_us: int) -> bool:
        self.on_hear(scan)
        return super().hear(scan, t_us)


def threads() -> set[str]:
    """Which threads of an app are running."""
    return {thread.name for thread in threading.enumerate()} & {"scan", "leds"}


def play(app: App, until: threading.Event) -> None:
    """Run the app until something has happened, then stop it."""

    async def playing() -> None:
        run = asyncio.create_task(app.run())
        assert await asyncio.to_thread(until.wait, PATIENCE_S)
        app.stop()
        await asyncio.wait_for(run, PATIENCE_S)

    asyncio.run(playing())


def fail(app: App) -> None:
    """Run the app until it ends by itself."""
    asyncio.run(asyncio.wait_for(app.run(), PATIENCE_S))


class SlowLoop:
    """An app whose loop stands in the first scan it hears until every scan of the script is queued."""

    def __init__(self, script: list[Scan]) -> None:
        self.script, self.queued, self.heard_all = script, threading.Event(), threading.Event()
        self.board = ScriptBoard(self._scans(), IDLE)
        self.engine = engine_on(self.board, Listener)
        assert isinstance(self.engine, Listener)
        self.engine.on_hear = self._hear
        self.heard: list[Scan] = []
        self.listeners: set[int] = set()
        self.app = App(self.engine, RealClock())

    def _scans(self) -> Iterator[Scan]:
        yield from self.script
        self.queued.set()

    def _hear(self, scan: Scan) -> None:
        assert self.queued.wait(PATIENCE_S)
        self.heard.append(scan)
        self.listeners.add(threading.get_ident())
        if scan == self.script[-1]:
            self.heard_all.set()


def test_a_slow_loop_loses_nothing_and_keeps_the_order() -> None:
    """Every edge that came while the loop stood still is heard once, in order, in the loop's own thread (case C15)."""
    script = drumming(900)
    slow = SlowLoop(script)
    play(slow.app, slow.heard_all)
    assert len(script) == len([heard for heard in slow.heard if heard.edges])
    assert script == [heard for heard in slow.heard if heard.edges]
    assert ({threading.get_ident()}, 0) == (slow.listeners, slow.engine.lost_edges)


def test_the_loop_is_woken_once_however_much_is_queued() -> None:
    """A loop that has been told to listen is not told again before it has listened."""
    slow = SlowLoop(drumming(900))
    woken: list[str] = []

    async def playing() -> None:
        loop = asyncio.get_running_loop()
        soon = loop.call_soon_threadsafe

        def counted(call: Callable[..., object], *args: object, **context: object) -> asyncio.Handle:
            woken.append(getattr(call, "__name__", ""))
            return soon(call, *args, **context)  # type: ignore[arg-type]

        loop.call_soon_threadsafe = counted  # type: ignore[method-assign, assignment]
        run = asyncio.create_task(slow.app.run())
        assert await asyncio.to_thread(slow.heard_all.wait, PATIENCE_S)
        slow.app.stop()
        await run

    asyncio.run(playing())
    assert 900 == len([heard for heard in slow.heard if heard.edges])
    assert 1 <= woken.count("_hear") <= 3
    assert 0 == woken.count("_show"), "nobody watches"


def test_an_error_in_the_steps_ends_the_app() -> None:
    """A touch that cannot be judged is no touch to go on without: the app ends with the error, and dark."""
    board = ScriptBoard(drumming(2), IDLE)
    engine = engine_on(board, Listener)
    assert isinstance(engine, Listener)

    def stumble(scan: Scan) -> None:
        raise ArithmeticError("no such touch")

    engine.on_hear = stumble
    with pytest.raises(ArithmeticError, match="no such touch"):
        fail(App(engine, RealClock()))
    assert (1, set()) == (board.closed, threads())


def test_an_error_in_the_health_ends_the_app() -> None:
    """A check that cannot be made once play has begun ends the app with its error."""

    class Ill(Engine):
        checks = 0

        def check(self, t_us: int) -> None:
            self.checks += 1
            if self.checks > 1:
                raise LookupError("no such part")
            super().check(t_us)

    board = ScriptBoard([], IDLE)
    with pytest.raises(LookupError, match="no such part"):
        fail(App(engine_on(board, Ill), RealClock()))
    assert 1 == board.closed


def test_a_watcher_that_fails_does_not_stop_the_game(caplog: pytest.LogCaptureFixture) -> None:
    """A page that cannot be told is logged, the others are told, and play goes on (promise 5)."""
    slow = SlowLoop(drumming(40))
    told = []

    def stumble() -> None:
        raise OSError("no such page")

    slow.app.changed = [stumble, lambda: told.append(slow.engine.table.phase)]
    play(slow.app, slow.heard_all)
    assert told
    assert "no such page" in caplog.text


# -- the LEDs ----------------------------------------------------------------------------------------------------------


def test_slow_leds_get_the_latest_picture_only() -> None:
    """What changed while a frame was on its way is shown as it is in the end, in one frame."""
    on_its_way, heard_all, shown = threading.Event(), threading.Event(), threading.Event()
    presses = [scan(Edge(cell, cell, True), t_us=cell + 1) for cell in range(1, 30)]

    def script() -> Iterator[Scan]:
        assert on_its_way.wait(PATIENCE_S)
        yield from presses

    board = ScriptBoard(script(), IDLE)
    engine = engine_on(board, Listener)
    assert isinstance(engine, Listener)
    snapshots = []

    def block() -> None:
        if len(board.frames) == 1:
            on_its_way.set()
            assert heard_all.wait(PATIENCE_S)
        else:
            snapshots.append(engine.table.snapshot)
            shown.set()

    board.on_show = block
    app = App(engine, RealClock())
    app.changed.append(lambda: heard_all.set() if len(engine.table.snapshot.touches) == len(presses) else None)
    play(app, shown)
    t_us, frame = board.frames[1]
    assert len(presses) == len(snapshots[0].touches)
    assert Lights().frame(snapshots[0], t_us) == frame


class Patient(Engine):
    """The real steps, but what shows already is due again in a minute."""

    asked = 0

    @property
    def frame_due_us(self) -> int:
        self.asked += 1
        return 0 if self._picture is not self._answered else RealClock().now_us() + 60_000 * MS


def test_a_change_wakes_the_leds() -> None:
    """What has happened is drawn at once, however long the LEDs would have slept, and so is the dark at the end."""
    first, second, later = threading.Event(), threading.Event(), threading.Event()

    def script() -> Iterator[Scan]:
        assert first.wait(PATIENCE_S)
        yield scan(Edge(1, 24, True), t_us=1)
        assert second.wait(PATIENCE_S)
        yield from [IDLE] * 4
        later.set()

    board = ScriptBoard(script(), IDLE)
    board.on_show = lambda: (first if len(board.frames) == 1 else second).set()
    engine = engine_on(board, Patient)
    assert isinstance(engine, Patient)
    play(App(engine, RealClock()), later)
    assert (2, 1, set()) == (len(board.frames), board.closed, threads())
    assert 1 == engine.meter.report()["total"]["count"]
    assert engine.asked < 20, "the LED thread ran in circles"


def test_one_thread_owns_the_leds_and_one_the_contacts() -> None:
    """Frames and the dark end come from one thread, scans from another, and neither is the loop's (case A30)."""
    through = threading.Event()
    board = ScriptBoard(drumming(60), IDLE)
    board.on_show = lambda: through.set() if len(board.frames) >= 5 else None
    play(App(engine_on(board), RealClock()), through)
    (scanning,), (lighting,) = board.owners["scan"], board.owners["leds"]
    assert 3 == len({scanning, lighting, threading.get_ident()})


def test_watchers_get_new_frames_and_latecomers_too() -> None:
    """A frame is told to those who watch when it is a new one, also to who comes after nobody has watched."""
    board = ScriptBoard([], IDLE)
    app = App(engine_on(board), RealClock())

    async def playing() -> None:
        run = asyncio.create_task(app.run())
        for _ in range(2):
            frames: asyncio.Queue[bytes] = asyncio.Queue()
            app.shown.append(frames.put_nowait)
            told = [await asyncio.wait_for(frames.get(), PATIENCE_S) for _ in range(3)]
            app.shown.remove(frames.put_nowait)
            assert all(one != other for one, other in pairwise(told))
        app.stop()
        await run

    asyncio.run(playing())


def test_the_same_frame_is_told_once() -> None:
    """A frame that is sent again, as a refresh is, is no news to those who watch."""

    class Still(Lights):
        def frame(self, snapshot: Snapshot, t_us: int) -> bytes:
            return b"\x05" * 147

    sent = threading.Event()
    board = ScriptBoard([], IDLE)
    board.on_show = lambda: sent.set() if len(board.frames) == 4 else None
    app = App(Engine(engine_on(board).table, board, Still()), RealClock())
    told: list[bytes] = []
    app.shown.append(told.append)
    play(app, sent)
    assert [b"\x05" * 147] == told


# -- the end -----------------------------------------------------------------------------------------------------------


class Lamp:
    """A simulated board that tells when it is lit, and an app on it."""

    def __init__(self, board: type[SimBoard] = SimBoard, engine: type[Engine] = Engine) -> None:
        self.clock, self.lit = RealClock(), threading.Event()
        self.board = board(load(shipped("sim")), self.clock, pause=lambda _: None)
        self.board.strip.on_latch.append(lambda _, frame: self.lit.set() if any(frame) else None)
        self.engine = engine_on(self.board, engine)
        self.app = App(self.engine, self.clock)

    @property
    def dark(self) -> bool:
        """Whether nothing shines after the last latch; the app must have lit the board, and its threads be gone."""
        assert self.lit.is_set()
        assert set() == threads()
        self.board.strip.settle(self.board.strip.busy_until_us + MS)
        return self.board.strip.latched.frame == DARK


def test_the_leds_are_dark_after_a_stop() -> None:
    """An app that is told to stop leaves the LEDs dark; telling it twice does no harm."""
    lamp = Lamp()
    play(lamp.app, lamp.lit)
    lamp.app.stop()
    assert lamp.dark


def test_the_leds_are_dark_after_a_cancel() -> None:
    """An app whose task is cancelled leaves the LEDs dark."""
    lamp = Lamp()

    async def playing() -> None:
        run = asyncio.create_task(lamp.app.run())
        assert await asyncio.to_thread(lamp.lit.wait, PATIENCE_S)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(playing())
    assert lamp.dark


def test_a_scan_that_fails_ends_the_app_dark() -> None:
    """A scan thread that fails ends the app with its own error, and the LEDs are dark."""

    class Numb(SimBoard):
        def scan(self, t_us: int) -> Scan:
            if lamp.lit.is_set():
                raise ZeroDivisionError("no such row")
            return super().scan(t_us)

    lamp = Lamp(Numb)
    with pytest.raises(ZeroDivisionError, match="no such row"):
        fail(lamp.app)
    assert lamp.dark


def test_a_light_that_fails_ends_the_app_dark() -> None:
    """An LED thread that fails ends the app with its own error, and the LEDs are dark."""

    class Blind(Engine):
        def light(self, t_us: int) -> bool:
            if lamp.lit.is_set():
                raise ZeroDivisionError("no such colour")
            return super().light(t_us)

    lamp = Lamp(engine=Blind)
    with pytest.raises(ZeroDivisionError, match="no such colour"):
        fail(lamp.app)
    assert lamp.dark


def test_leds_that_do_not_go_dark_are_said(caplog: pytest.LogCaptureFixture) -> None:
    """A board that fails to close is named in the log, and the app still ends."""

    class Unplugged(SimBoard):
        def close(self) -> None:
            super().close()
            raise PartError("the LED chain does not take a frame: unplugged")

    lamp = Lamp(Unplugged)
    play(lamp.app, lamp.lit)
    assert lamp.dark
    assert "the board did not close: the LED chain does not take a frame: unplugged" in caplog.text


def test_a_bus_that_hangs_does_not_hold_up_the_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A thread that does not come back is left behind and named, and the app ends."""
    monkeypatch.setattr(shells, "STOP_S", 0.05)
    hanging, free = threading.Event(), threading.Event()

    def hang() -> None:
        hanging.set()
        assert free.wait(PATIENCE_S)

    board = ScriptBoard([], IDLE)
    board.on_show = hang
    app = App(engine_on(board), RealClock())
    play(app, hanging)
    assert "the thread leds does not end" in caplog.text
    assert 0 == board.closed
    left_behind = [thread for thread in threading.enumerate() if thread.name == "leds"]
    free.set()
    left_behind[0].join(PATIENCE_S)
    assert (1, 1, set()) == (len(left_behind), board.closed, threads())


@pytest.mark.realtime
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_command(how: signal.Signals) -> None:
    """`morbak run` that is told to end, or interrupted at the keyboard, ends with status 0."""
    with running("--seed", "1") as live:
        live.tap("d4")
        live.process.send_signal(how)
        assert 0 == live.process.wait(PATIENCE_S)


def test_hands_on_the_board_at_power_up_are_dead() -> None:
    """What is closed in the first scan that succeeds counts for nothing until lifted, whenever that is (case D27)."""
    drawn = threading.Event()
    t_us = RealClock().now_us() + 5_000_000
    scans = [
        Scan(t_us - 1_000, (), 0, -10_000, 1_000),  # the lines fail
        Scan(t_us, (Edge(t_us, 24, True),), 0, t_us - 10_000, 1_000),
        Scan(t_us + 100_000, (Edge(t_us + 90_000, 24, False),), 0, t_us + 90_000, 1_000),
        Scan(t_us + 400_000, (Edge(t_us + 400_000, 9, True),), 0, t_us + 390_000, 1_000),
        Scan(t_us + 500_000, (Edge(t_us + 490_000, 9, False),), 0, t_us + 490_000, 1_000),
    ]
    phases: list[str] = []

    def script() -> Iterator[Scan]:
        yield from scans
        assert drawn.wait(PATIENCE_S)

    engine = engine_on(ScriptBoard(script(), IDLE))
    app = App(engine, RealClock())

    def told() -> None:
        phases.append(engine.table.phase)
        if engine.table.phase == "lobby":
            drawn.set()
            app.stop()

    app.changed.append(told)
    asyncio.run(app.run())
    assert "lobby" == phases[-1]
    assert [] == [phase for phase in phases[:-1] if phase != "attract"]
    assert 9 == engine.table.phase_us - t_us - 490_000 + 9
