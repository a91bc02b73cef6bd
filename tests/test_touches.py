"""Contacts that are moved from outside: how long they stay closed, and what ends them."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, NamedTuple

from firmware.web.touches import Felt, Touches

MS = 1_000


class Skipping(selectors.SelectSelector):
    """Waits for nothing: the time that it would have waited is over at once."""

    now_s = 1_000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "the loop would wait for ever"
            self.now_s += timeout
        return ready


class QuickLoop(asyncio.SelectorEventLoop):
    """A real loop in a time of its own, in which sleeping takes none; implements `hal.ports.Clock` too."""

    def __init__(self) -> None:
        self._skipping = Skipping()
        super().__init__(self._skipping)
        self._start_s = self._skipping.now_s

    def time(self) -> float:
        return self._skipping.now_s

    def now_us(self) -> int:
        """Microseconds since the loop began, to the nearest."""
        return round((self._skipping.now_s - self._start_s) * 1e6)


class Moved(NamedTuple):
    """A holder's contact closed, or opened."""

    t_ms: float
    holder: Hashable
    cell: int
    down: bool


class Metal:
    """Contacts that remember how they were moved, in milliseconds."""

    def __init__(self) -> None:
        self.moved: list[Moved] = []

    def hold(self, holder: Hashable, cell: int, t_us: int) -> None:
        self.moved.append(Moved(round(t_us / MS, 1), holder, cell, True))

    def let_go(self, holder: Hashable, cell: int, t_us: int) -> None:
        self.moved.append(Moved(round(t_us / MS, 1), holder, cell, False))


Script = Callable[[Touches], Coroutine[Any, Any, None]]


def moved_by(script: Script, felt: Felt = lambda _cell, _since_us: True) -> list[Moved]:
    """What a script of touches does to the contacts, until nothing is due any more."""
    metal = Metal()
    with asyncio.Runner(loop_factory=QuickLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, QuickLoop)

        async def whole() -> None:
            await script(Touches(metal, loop, felt))
            await asyncio.sleep(60)

        runner.run(whole())
    return metal.moved


async def ms(time: float) -> None:
    await asyncio.sleep(time / 1_000)


def test_a_contact_closes_and_opens_at_once() -> None:
    """A touch of more than 30 ms moves its contact when it is told to, and says that nothing is to be waited for."""

    async def script(touches: Touches) -> None:
        touches.down("page", 24)
        await ms(40)
        assert touches.up("page", 24).is_set()

    assert [Moved(0, "page", 24, True), Moved(40, "page", 24, False)] == moved_by(script)


def test_an_up_within_30_ms_is_delayed() -> None:
    """A contact stays closed 30 ms at least, and whoever lifts it is told how long that still takes."""

    async def script(touches: Touches) -> None:
        for gap_ms in (0, 12, 29):
            touches.down("page", gap_ms)
            await ms(gap_ms)
            opened = touches.up("page", gap_ms)
            assert not opened.is_set()
            await opened.wait()
            await ms(100 - 30)

    expected = [Moved(t, "page", cell, down) for turn, cell in enumerate((0, 12, 29)) for t, down in span(turn * 100)]
    assert expected == moved_by(script)


def span(start_ms: int) -> list[tuple[float, bool]]:
    return [(start_ms, True), (start_ms + 30, False)]


def test_a_second_up_changes_nothing() -> None:
    """Lifting a contact that is about to open, has opened or was never pressed opens nothing twice."""

    async def script(touches: Touches) -> None:
        assert touches.up("page", 3).is_set()
        touches.down("page", 3)
        await ms(10)
        touches.up("page", 3)
        await ms(10)
        assert not touches.up("page", 3).is_set()
        await ms(20)
        assert touches.up("page", 3).is_set()

    assert [Moved(0, "page", 3, True), Moved(30, "page", 3, False)] == moved_by(script)


def test_a_press_before_a_delayed_up_keeps_the_contact_closed() -> None:
    """A press that comes before the contact has opened goes on with it; the up before it is void."""

    async def script(touches: Touches) -> None:
        touches.down("page", 3)
        await ms(10)
        touches.up("page", 3)
        await ms(10)
        touches.down("page", 3)
        await ms(480)
        touches.up("page", 3)

    assert [Moved(0, "page", 3, True), Moved(500, "page", 3, False)] == moved_by(script)


def test_a_touch_that_is_not_renewed_ends_after_a_second() -> None:
    """A page that falls silent lets go of what it holds 1 s after its last word."""

    async def script(touches: Touches) -> None:
        touches.down("page", 3)

    assert [Moved(0, "page", 3, True), Moved(1_000, "page", 3, False)] == moved_by(script)


def test_a_renewed_touch_stays_and_closes_once() -> None:
    """Renewed every 400 ms a touch stays; the contact moves once, and ends 1 s after the last renewal."""

    async def script(touches: Touches) -> None:
        for _ in range(10):
            touches.down("page", 3)
            await ms(400)

    assert [Moved(0, "page", 3, True), Moved(4_600, "page", 3, False)] == moved_by(script)


def test_a_posted_touch_stays_until_its_up() -> None:
    """A contact without a lease stays closed for as long as nobody lifts it."""

    async def script(touches: Touches) -> None:
        touches.down("post", 3, lease_s=None)
        await ms(30_000)
        touches.up("post", 3)

    assert [Moved(0, "post", 3, True), Moved(30_000, "post", 3, False)] == moved_by(script)


def test_what_a_holder_held_ends_with_him() -> None:
    """When a page is gone all its contacts open, the last one after its 30 ms; those of others stay."""

    async def script(touches: Touches) -> None:
        touches.down("page", 1)
        touches.down("other", 1)
        touches.down("post", 2, lease_s=None)
        await ms(100)
        touches.down("page", 5)
        await ms(10)
        touches.gone("page")
        touches.gone("nobody")
        await ms(500)
        touches.up("other", 1)
        touches.up("post", 2)

    assert [
        Moved(0, "page", 1, True),
        Moved(0, "other", 1, True),
        Moved(0, "post", 2, True),
        Moved(100, "page", 5, True),
        Moved(110, "page", 1, False),
        Moved(130, "page", 5, False),
        Moved(610, "other", 1, False),
        Moved(610, "post", 2, False),
    ] == moved_by(script)


def test_a_cell_can_be_pressed_again() -> None:
    """After a contact has opened, the next press closes it again with a lease of its own."""

    async def script(touches: Touches) -> None:
        touches.down("page", 3)
        await ms(10)
        touches.up("page", 3)
        await ms(890)
        touches.down("page", 3)
        await ms(70)
        touches.up("page", 3)
        await ms(30)
        touches.down("page", 3)

    assert [(0, True), (30, False), (900, True), (970, False), (1_000, True), (2_000, False)] == [
        (m.t_ms, m.down) for m in moved_by(script)
    ]


def test_a_contact_stays_closed_until_it_was_felt() -> None:
    """Where the scan is late a lifted contact stays closed until the board has felt it, and no longer than 250 ms."""

    async def script(touches: Touches) -> None:
        touches.down("page", 5)
        await touches.up("page", 5).wait()

    looks = iter([False, False, False, True])
    assert [Moved(0, "page", 5, True), Moved(45, "page", 5, False)] == moved_by(script, lambda _cell, _us: next(looks))
    pressed, opened = moved_by(script, lambda _cell, _us: False)
    assert Moved(0, "page", 5, True) == pressed
    assert 250 <= opened.t_ms <= 255


def test_a_press_right_after_an_opening_waits_until_the_board_can_tell() -> None:
    """A contact stays open 25 ms at least, so that two quick touches are two; another cell does not wait."""

    async def script(touches: Touches) -> None:
        for _ in range(2):
            touches.down("page", 5)
            await touches.up("page", 5).wait()
        assert 0.0 == touches.down("post", 6)

    expected = [(0, 5, True), (30, 5, False), (55, 5, True), (85, 5, False), (85, 6, True)]
    assert expected == [(move.t_ms, move.cell, move.down) for move in moved_by(script)][:5]
