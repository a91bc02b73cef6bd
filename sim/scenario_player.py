"""Plays a scenario on a jig, with the whole firmware on its board: fingers below, light read back, position above.

The clock is the jig's, be it virtual, a chip's or the machine's; so what is expected is waited for, and a busy machine
is no failure. Before anything is expected, all that the contacts did has been judged and a frame has been drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from firmware.engine import ALONE, Engine, Make
from firmware.games import morbak
from firmware.lights import Lights
from firmware.match import Match
from firmware.palette import DEFAULT, GAMMA, Colour
from firmware.sight import Sight
from firmware.table import Table
from hal.jig import Jig, Unsupported
from sim import scenario as steps
from sim.faults import HEALTHY
from sim.scenario import Scenario, Step, cells, named

MS = 1_000
CHECK_US = 500_000
# Time for what was judged to be drawn and latched: two frames, and one more on its way.
DRAWN_US = 50_000
# How often somebody touches a board, with a second between, until a game begins.
STARTS = 3
# A contact that moves now is felt as moved within this: it bounces first, and waits for the next scan.
FELT_US = 30_000
# A matrix that does not answer says nothing of its contacts; whoever waits for that waits no longer than this.
OUT_US = 1_500_000
# Up to this wire value a side's hue on an empty cell is the tide, 3 to 6 of 255.
TIDE = 8
_MENDED: dict[str, object] = {
    "stuck": HEALTHY.stuck, "dead": HEALTHY.dead, "bounce_us": HEALTHY.bounce_us,
}  # fmt: skip
RULES = {"standard": morbak.STANDARD, "lite": morbak.LITE}


class Failed(AssertionError):
    """A scenario did not come out as it says: one sentence with rung, file and step.

    `late_us`: by how much a scan came too late, or what it told of the contacts was older than it should be, at most
    and outside the scenario's own outages. On a real clock touches last longer or shorter by about that.
    """

    late_us = 0


def light(wire: bytes) -> str:
    """What a cell's light is, from its three linear wire values; one of the words that scenarios have for it."""
    if not any(wire):
        return "dark"
    lead = max(wire)
    share = [value / lead for value in wire]
    name = min(_HUES, key=lambda name: sum((a - b) ** 2 for a, b in zip(share, _HUES[name], strict=True)))
    return f"tide {name}" if name in ("a", "b") and lead <= TIDE else name


def _hue(colour: Colour) -> tuple[float, ...]:
    linear = [(byte / 255) ** GAMMA for byte in colour]
    return tuple(value / max(linear) for value in linear)


_HUES = {
    "a": _hue(DEFAULT.a),
    "b": _hue(DEFAULT.b),
    "pale a": _hue(DEFAULT.a_pale),
    "pale b": _hue(DEFAULT.b_pale),
    "white": _hue(DEFAULT.white),
    "violet": _hue(DEFAULT.fault),
    "grey": _hue(DEFAULT.neutralised),
}


def play(scenario: Scenario, jig: Jig, engine: Make = Engine) -> None:
    """Play to the end on an `engine`. Raises Failed, and Unsupported for what this jig's rung cannot do.

    Whatever comes of it, afterwards no finger is left on a contact and none is broken.
    """
    player = _Player(scenario, jig, engine)
    try:
        for number, step in enumerate(scenario.steps, 1):
            player.step(number, step)
    except Failed as failed:
        failed.late_us = player.late_us
        raise
    finally:
        player.lift()


class _Player:
    def __init__(self, scenario: Scenario, jig: Jig, engine: Make) -> None:
        self._scenario, self._jig = scenario, jig
        self._table = Table(
            Match(RULES[scenario.rules], scenario.limits),
            scenario.touch_times,
            scenario.phase_times,
            lambda: scenario.lot,
            jig.now_us(),
            sound=jig.board.capabilities.sound,
        )
        self._engine = engine(self._table, jig.board, Lights(), ALONE)
        self._sight = Sight()
        self._known_us = self._check_us = 0
        self._down: set[int] = set()
        self._broken: dict[str, object] = {}
        self._thought_us = self.late_us = 0
        self._due_us: int | None = None
        self._out = False
        self._where = ""

    def step(self, number: int, step: Step) -> None:
        """Do or expect one thing."""
        self._where = f"{self._scenario.name} on {self._jig.rung}, step {number} ({named(step)})"
        _STEPS[type(step)](self, step)

    def lift(self) -> None:
        """Every finger leaves, and broken contacts are mended."""
        for cell in sorted(self._down):
            self._release(cell)
        if self._broken:
            self._jig.fault(**self._broken)

    # -- time ------------------------------------------------------------------------------------------------------

    def _play_for(self, us: int) -> None:
        end_us = self._jig.now_us() + us
        while self._jig.now_us() < end_us:
            self._scan()

    def _scan(self) -> None:
        """Scan, judge and light once, as the firmware's shells do."""
        jig, engine = self._jig, self._engine
        t_us = jig.now_us()
        scan = jig.board.scan(t_us)
        if (unseen := self._sight.step(scan)) is not None:
            engine.lost(unseen)
        engine.hear(scan, t_us)
        self._known_us = scan.known_us
        self._be_late(t_us)
        if engine.frame_due_us <= t_us:
            engine.light(t_us)
        if t_us >= self._check_us:
            engine.check(t_us)
            self._check_us = t_us + CHECK_US
        self._due_us = t_us + scan.period_us
        jig.wait(scan.period_us)

    def _be_late(self, t_us: int) -> None:
        if not self._out:
            due_us = t_us if self._due_us is None else self._due_us
            self.late_us = max(self.late_us, t_us - due_us, t_us - self._known_us if self._known_us > 0 else 0)

    def _judge(self) -> None:
        """Go on until all that the contacts have done is known; while the board is away nobody waits for that."""
        now_us = self._jig.now_us()
        while self._known_us < now_us + FELT_US and self._jig.now_us() < now_us + OUT_US:
            self._scan()
            link = self._jig.board.health().get("link")
            if link is not None and not link.ok:
                break

    def _go_on(self, true: Callable[[], bool], within_ms: int) -> bool:
        """Until something is so; False if it is not by then."""
        end_us = self._jig.now_us() + within_ms * MS
        while not (holds := true()) and self._jig.now_us() < end_us:
            self._scan()
        return holds

    def _until(self, true: Callable[[], bool], within_ms: int, found: Callable[[], object]) -> None:
        if not self._go_on(true, within_ms):
            raise Failed(f"{self._where}: after {within_ms} ms it is {found()!r}")

    # -- fingers ---------------------------------------------------------------------------------------------------

    def _press(self, cell: int) -> None:
        self._jig.press(cell)
        self._down.add(cell)

    def _release(self, cell: int) -> None:
        self._jig.release(cell)
        self._down.discard(cell)

    def _touch(self, which: list[int], us: int) -> None:
        for cell in which:
            self._press(cell)
        self._play_for(us)
        for cell in which:
            self._release(cell)

    def _rest(self) -> None:
        """Wait until the last touch is judged, and the guard after it is over."""
        self._judge()
        self._play_for(self._table.gesture.times.turn_guard_us)

    def start(self, step: steps.Start) -> None:
        """To play."""
        self._judge()
        for _ in range(STARTS):
            if self._table.phase in ("attract", "result", "paused"):
                self._touch([24], step.for_ms * MS)
            self._go_on(lambda: self._table.phase == "play", 1_000)
            if self._table.phase == "play":
                break
        game = self._table.game
        if self._table.phase != "play" or game is None or game.mover != step.start:
            raise Failed(f"{self._where}: the board stays in {self._table.phase}, or it is the other side's turn")
        self._rest()

    def press(self, step: steps.Press) -> None:
        for cell in cells(step.press):
            self._press(cell)

    def release(self, step: steps.Release) -> None:
        for cell in cells(step.release):
            self._release(cell)

    def tap(self, step: steps.Tap) -> None:
        self._touch(cells(step.tap), step.for_ms * MS)
        if step.guarded:
            self._rest()

    def hold(self, step: steps.Hold) -> None:
        us = self._table.gesture.times.hold_us + 80 * MS if step.for_ms is None else step.for_ms * MS
        self._touch(cells(step.hold), us)
        self._rest()

    def chord(self, step: steps.Chord) -> None:
        self._touch(cells(step.chord), step.for_ms * MS)
        self._rest()

    def wait(self, step: steps.Wait) -> None:
        self._play_for(step.wait_ms * MS)

    # -- what is wrong ---------------------------------------------------------------------------------------------

    def fault(self, step: steps.Fault) -> None:
        keys = step.fault.keys
        self._broken |= {name: _MENDED[name] for name in keys if name in _MENDED}
        self._out = self._out or bool(keys.keys() - _MENDED.keys())
        self._jig.fault(**keys)

    def unplug(self, _: steps.Unplug) -> None:
        self._thought_us, self._out = self._thought(), True
        self._jig.unplug()

    def replug(self, step: steps.Replug) -> None:
        self._jig.plug("other" if step.replug == "other name" else None)

    # -- what is expected ------------------------------------------------------------------------------------------

    def wait_for_light(self, step: steps.WaitForLight) -> None:
        self._see(step.wait_for_light, step.within_ms)

    def cells(self, step: steps.ExpectCells) -> None:
        self._judge()
        self._play_for(DRAWN_US)
        self._see(step.expect_cells, step.within_ms)

    def _see(self, wanted: dict[str, Any], within_ms: int) -> None:
        def seen() -> dict[str, str]:
            frame = self._jig.lit()
            if frame is None:
                raise Unsupported(f"nobody sees what the chain of the rung {self._jig.rung} shows")
            return {name: light(frame[3 * cell : 3 * cell + 3]) for name in wanted for cell in cells(name)}

        def right() -> bool:
            found = seen()
            return all(want in (found[name], "lit" if found[name] != "dark" else "") for name, want in wanted.items())

        self._until(right, within_ms, seen)

    def position(self, step: steps.ExpectPosition) -> None:
        wanted = morbak.parse_position(step.expect_position)
        self._told(lambda: morbak.format_position(self._state()), morbak.format_position(wanted), step.within_ms)

    def moves(self, step: steps.ExpectMoves) -> None:
        self._told(self._moves, step.expect_moves.split(), step.within_ms)

    def phase(self, step: steps.ExpectPhase) -> None:
        self._told(lambda: self._table.phase, step.expect_phase, step.within_ms)

    def refused(self, step: steps.ExpectRefused) -> None:
        def found() -> tuple[str, str] | None:
            refusal = self._table.refusal
            return None if refusal is None else (refusal.code, morbak.cell_name(refusal.cell))

        self._told(found, (step.expect_refused, step.on), step.within_ms)

    def result(self, step: steps.ExpectResult) -> None:
        def found() -> tuple[str, str] | None:
            ending = self._table.game.ending if self._table.game is not None else None
            return None if ending is None else (ending.result, ending.reason)

        self._told(found, (step.expect_result, step.by), step.within_ms)

    def clocks(self, step: steps.ExpectClocks) -> None:
        def found() -> str:
            game = self._table.game
            return "run" if game is not None and game.clocks.running is not None else "stand"

        self._told(found, step.expect_clocks, step.within_ms)

    def thought(self, step: steps.ExpectThought) -> None:
        self._judge()
        lost_ms = (self._thought() - self._thought_us) // MS
        if not 0 <= lost_ms <= step.expect_thought_ms:
            raise Failed(f"{self._where}: the clocks have lost {lost_ms} ms")

    def masked(self, step: steps.ExpectMasked) -> None:
        found = lambda: sorted(morbak.cell_name(cell) for cell in self._table.masked)  # noqa: E731
        self._told(found, sorted(step.expect_masked), step.within_ms)

    def part(self, step: steps.ExpectPart) -> None:
        def found() -> bool | str:
            part = (self._jig.board.health() | dict(self._engine.parts)).get(step.expect_part)
            return "there is no such part" if part is None else part.ok

        self._until(lambda: found() == step.works, step.within_ms, found)

    def _told(self, found: Callable[[], object], wanted: object, within_ms: int) -> None:
        self._judge()
        self._until(lambda: found() == wanted, within_ms, found)

    def _state(self) -> morbak.State:
        game = self._table.game
        if game is None:
            raise Failed(f"{self._where}: there is no game on the table")
        return game.state

    def _moves(self) -> list[str]:
        return [move.text for move in self._table.game.moves] if self._table.game is not None else []

    def _thought(self) -> int:
        """What both clocks have counted up to what is known."""
        game = self._table.game
        return 0 if game is None else sum(game.clocks.stop(max(self._known_us, game.clocks.since_us)).used_us)


_STEPS: dict[type[Step], Callable[[_Player, Any], None]] = {
    steps.Start: _Player.start,
    steps.Press: _Player.press,
    steps.Release: _Player.release,
    steps.Tap: _Player.tap,
    steps.Hold: _Player.hold,
    steps.Chord: _Player.chord,
    steps.Wait: _Player.wait,
    steps.WaitForLight: _Player.wait_for_light,
    steps.ExpectCells: _Player.cells,
    steps.ExpectPosition: _Player.position,
    steps.ExpectMoves: _Player.moves,
    steps.ExpectPhase: _Player.phase,
    steps.ExpectRefused: _Player.refused,
    steps.ExpectResult: _Player.result,
    steps.ExpectClocks: _Player.clocks,
    steps.ExpectThought: _Player.thought,
    steps.ExpectMasked: _Player.masked,
    steps.ExpectPart: _Player.part,
    steps.Fault: _Player.fault,
    steps.Unplug: _Player.unplug,
    steps.Replug: _Player.replug,
}
