"""What every board must do, from contact to edge and from frame to light: the suite that runs on every rung.

A check gets a jig (`hal.jig`) and raises `hal.conformance.Broken`, one sentence that says what the board did wrong, or
`Unsupported` where the rung cannot tell. Without pytest:

    for check in conformance_jig.JIGS:
        check(jig)

With it: `pytest -p hal.testing --board serial:auto --pyargs hal.board_suite`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from hal.bench import BenchClock, Fingers, Lights
from hal.conformance import Broken
from hal.guide import name
from hal.jig import Jig
from hal.mapped import names
from hal.ports import Scan
from hal.profile import Profile

JigCheck = Callable[[Jig], None]

REST_US, HELD_US, SHORT_US = 300_000, 300_000, 60_000


def at_rest_nothing_is_told(jig: Jig) -> None:
    """With nobody touching the board tells no touch and no ghost, and every part of it is well."""
    for _, scan in _scans(jig, REST_US):
        if scan.edges or scan.ghosts:
            edges = [(edge.cell, edge.down) for edge in scan.edges]
            unsure = names(scan.ghosts, jig.profile.board.columns) or "nothing"
            raise Broken(f"with nobody touching {_moves(jig, edges)} is told, and {unsure} is unsure")
    if ill := [f"{part}: {health.text}" for part, health in jig.board.health().items() if not health.ok]:
        raise Broken("; ".join(ill))


def each_cell_is_told_once(jig: Jig) -> None:
    """Each cell, touched alone, is told once when the finger comes and once when it leaves, and no other is."""
    for cell in range(jig.profile.cells):
        _held(jig, [cell], SHORT_US)


def a_held_cell_is_told_once(jig: Jig) -> None:
    """A finger that stays is told once however long it stays, until it leaves."""
    _held(jig, [jig.profile.cells // 2], HELD_US)


def two_cells_are_both_told(jig: Jig) -> None:
    """Two corners of which one is held before and after the other are told in the order in which they moved."""
    clock, moves = BenchClock(jig), []
    fingers, corners = Fingers(jig, clock), (0, jig.profile.cells - 1)
    for move, down in ((fingers.press, True), (fingers.release, False)):
        for cell in corners:
            move(cell)
            moves.append((cell, down))
            clock.until(lambda: len(clock.edges) >= len(moves))
    clock.scan(SHORT_US)
    if (heard := [(edge.cell, edge.down) for edge in clock.edges]) != moves:
        raise Broken(f"{_moves(jig, moves)} is told as {_moves(jig, heard)}")


def a_whole_row_is_told(jig: Jig) -> None:
    """All cells of a row held together are told, each once, and none of another row (case D18)."""
    _held(jig, [*range(jig.profile.board.columns)], HELD_US)


def times_are_the_edges_own(jig: Jig) -> None:
    """No edge is told of a time to come, or of one when all was known, and what is known never falls back."""
    known_us, told = -1, False
    cell = jig.profile.cells // 2
    jig.press(cell)
    for t_us, scan in _scans(jig, HELD_US):
        for edge in scan.edges:
            if not known_us < edge.t_us <= t_us:
                raise Broken(f"an edge of {edge.t_us} us is told at {t_us} us, when all up to {known_us} us were known")
            told = True
        if scan.known_us < known_us or scan.known_us > t_us:
            raise Broken(f"at {t_us} us all up to {scan.known_us} us is known, before it was {known_us} us")
        known_us = scan.known_us
    jig.release(cell)
    if not told:
        raise Broken(f"a finger on {name(cell, jig.profile.board.columns)} is not told")
    for _ in _scans(jig, HELD_US):
        pass


def each_cell_lights_alone(jig: Jig) -> None:
    """Each cell in red, green or blue lights in that colour, and nothing else does."""
    lights = Lights(jig, BenchClock(jig))
    for cell in range(jig.profile.cells):
        channel = cell % 3
        colour = (255 * (channel == 0), 255 * (channel == 1), 255 * (channel == 2))
        seen = lights.show({cell: colour})
        wanted = name(cell, jig.profile.board.columns)
        if list(seen) != [wanted] or [at for at in range(3) if seen[wanted][at]] != [channel]:
            raise Broken(f"{wanted} alone in {colour} shows as {seen}")


def white_keeps_to_the_budget(jig: Jig) -> None:
    """White over the whole board asks for no more current than the supply allows, by the model, and for most of it."""
    cells = jig.profile.cells
    lights = Lights(jig, BenchClock(jig))
    lights.frame(b"\xff" * 3 * cells)
    drawn_ma, budget_ma = draws_ma(jig.profile, lights.all()), jig.profile.power.budget_ua / 1000
    full_ma = draws_ma(jig.profile, [(255, 255, 255)] * cells)
    if drawn_ma > budget_ma or drawn_ma < 0.8 * min(budget_ma, full_ma):
        raise Broken(f"white draws {drawn_ma:.0f} mA of {budget_ma:.0f} mA that it may")


def darkness_is_dark(jig: Jig) -> None:
    """A dark frame leaves nothing lit, also after white."""
    lights = Lights(jig, BenchClock(jig))
    lights.frame(b"\xff" * 3 * jig.profile.cells)
    if seen := lights.show({}):
        raise Broken(f"in the dark {', '.join(seen)} shine")


JIGS: tuple[JigCheck, ...] = (
    at_rest_nothing_is_told,
    each_cell_is_told_once,
    a_held_cell_is_told_once,
    two_cells_are_both_told,
    a_whole_row_is_told,
    times_are_the_edges_own,
    each_cell_lights_alone,
    white_keeps_to_the_budget,
    darkness_is_dark,
)


def draws_ma(profile: Profile, light: Iterable[tuple[int, int, int]]) -> float:
    """What a board whose cells have this light draws, by the model of its profile."""
    power = profile.power
    lit = sum(sum(ua * level for ua, level in zip(power.channel_ua, rgb, strict=True)) for rgb in light)
    ua = profile.led_count * power.idle_ua + profile.leds.per_cell * lit / 255
    return ua * power.model_scale_pct / 100_000


def _scans(jig: Jig, us: int) -> Iterator[tuple[int, Scan]]:
    """Scans at the board's own pace for so long, each with the time by which it was made: a board at the end of a cable
    is read somewhat later than it is asked.
    """
    end_us = jig.now_us() + us
    while (t_us := jig.now_us()) < end_us:
        scan = jig.board.scan(t_us)
        if not t_us <= scan.t_us <= jig.now_us():
            raise Broken(f"asked at {t_us} us, a scan says that it was made at {scan.t_us} us")
        yield scan.t_us, scan
        jig.wait(scan.period_us)


def _held(jig: Jig, cells: list[int], us: int) -> None:
    """Hold cells together for so long: each comes once and leaves once, all of them before any leaves."""
    clock = BenchClock(jig)
    Fingers(jig, clock).chord([*cells], us)
    clock.scan(SHORT_US)
    heard = [(edge.cell, edge.down) for edge in clock.edges]
    count, columns = len(cells), jig.profile.board.columns
    if sorted(heard[:count]) != [(cell, True) for cell in cells] or sorted(heard[count:]) != [
        (cell, False) for cell in cells
    ]:
        held = ", ".join(name(cell, columns) for cell in cells)
        raise Broken(f"{held} held for {us / 1000:.0f} ms is told as {_moves(jig, heard)}")


def _moves(jig: Jig, moves: list[tuple[int, bool]]) -> str:
    """Moves for people."""
    columns = jig.profile.board.columns
    return ", ".join(f"{name(cell, columns)} {'down' if down else 'up'}" for cell, down in moves) or "nothing"
