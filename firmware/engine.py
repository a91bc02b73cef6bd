"""The firmware without threads: scans in, frames out, the same steps in real and in virtual time.

`hear` and `check` belong to one thread (the loop), `light` and `latched` to another (the LEDs); between them lies
one latest-only slot. Whoever calls them hands in the time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from firmware import quiet, state
from firmware.choosing import Chosen
from firmware.frames import Frames
from firmware.games import morbak
from firmware.keeper import Keeper, Store
from firmware.latency import LatencyMeter
from firmware.lights import Lights
from firmware.orders import Order
from firmware.quiet import QUIET_PCT, Hours, Screen
from firmware.sight import Unseen
from firmware.snapshot import Snapshot
from firmware.sounds import NOTES, Sound, Sounds
from firmware.strips import StripLights
from firmware.table import Answering, Table
from firmware.wear import Wear
from hal.ports import Board, Edge, Part, Scan


class Picture(NamedTuple):
    """What the LEDs should show from now on, how bright, and the press it answers: its time, when heard, its cell.

    `n`: how many pictures there were before it.
    """

    snapshot: Snapshot
    brightness_pct: int
    edge_us: int = 0
    heard_us: int = 0
    cell: int = 0
    n: int = 0


class Evening(NamedTuple):
    """When it is quiet: the hours of the settings, the local minute of the day (None: unknown), and after how long
    without a touch the screens of a board that nobody plays on go dark (0: never)."""

    hours: Hours | None = None
    minute: Callable[[], int | None] = lambda: None
    screen_off_us: int = 0


class Surroundings(NamedTuple):
    """What is around a board. `store`: where games are saved; without one nothing is. `notes`: health that stays as it
    was at the start. `choose` gets whatever is chosen at the board. `evening`: when it is quiet."""

    store: Store | None = None
    notes: Mapping[str, Part] = MappingProxyType({})
    choose: Callable[[Chosen], None] = lambda _: None
    evening: Evening = Evening()


ALONE = Surroundings()
# Puts table, lights and board together: an `Engine`, or one that is recorded.
Make = Callable[[Table, Board, Lights, Surroundings], "Engine"]


class Engine:
    """Table, lights and board put together."""

    def __init__(self, table: Table, board: Board, lights: Lights, around: Surroundings = ALONE) -> None:
        self.table, self.board = table, board
        self._keeper = Keeper(table, around.store) if around.store is not None else None
        self._known_us = 0
        self.meter = LatencyMeter()
        self.wear = Wear(board.capabilities.rows * board.capabilities.columns)
        self._evening = around.evening
        self.screen = Screen()
        self.lost_edges = 0
        self.seq = 0
        self.due_us = table.due_us  # when the table must judge next; read by the scan thread
        self.scanned_us = 0  # when the last scan began; written by the scan thread
        self._pressed_us: dict[int, int] = {}
        strips = board.capabilities.strips
        self._frames = Frames(StripLights(lights, strips) if any(strips) else lights)
        self._choose, self._chosen = around.choose, table.chosen
        self._sounds = Sounds()
        self._stuck: frozenset[int] = frozenset()
        self._picture = Picture(table.snapshot, self.brightness_pct)
        self._shone_pct: int | None = None  # the brightness that the board has been told
        self._measured_us = 0  # own time of the last press whose light was measured
        self._answered: Picture | None = None  # drawn, not latched yet
        self._drawn_us = 0
        self._parts: dict[str, Part] = {}
        self._notes = around.notes
        self._fault_us: int | None = None
        self._said: state.Document = {}

    # -- the loop's side ---------------------------------------------------------------------------------------------

    def begin(self, t_us: int) -> None:
        """The first scan was at `t_us`: fingers that are down in it are dead until lifted. For the scan thread."""
        self.table.gesture.guard(t_us + 1)

    def lost(self, unseen: Unseen) -> None:
        """Nothing was known of the contacts, as the scan has shown that is heard next."""
        self.table.unseen(*unseen)

    def hear(self, scan: Scan, t_us: int) -> bool:
        """Feed one scan to the table at `t_us`; True if anything that shines or is told may have changed."""
        before = self.table.snapshot
        for edge in scan.edges:
            if edge.down:
                self._pressed_us[edge.cell] = edge.t_us
                self.wear.touched(edge.cell)
                self.screen = self.screen._replace(dark=False)
        self.table.feed(scan)
        for _ in scan.buttons:
            self.table.order(scan.t_us, self.table.press_button)
        self._known_us = scan.known_us
        self._judge(t_us)
        if self.table.snapshot is before:
            return False
        presses = [edge for edge in scan.edges if edge.down and self.table.previews.answers(edge.cell)]
        self._publish(max(presses, key=lambda edge: edge.t_us, default=None), t_us)
        return True

    def felt(self, cell: int, since_us: int) -> bool:
        """Whether a press of `cell` since `since_us` has been scanned for as long as a touch lasts that is no noise."""
        pressed_us = self._pressed_us.get(cell, since_us - 1)
        return pressed_us >= since_us and self.scanned_us >= pressed_us + self.table.gesture.times.tap_min_us

    def act(self, action: morbak.Action | Order, t_us: int, answer: Answering) -> None:
        """An operator's action or order at `t_us`, judged in its turn."""
        self.table.operate(action, t_us, answer)
        self.saved(t_us)

    def saved(self, t_us: int) -> bool:
        """The disk has come further: judge what waited for it; True if anything may have changed."""
        before = self.table.snapshot
        self._judge(t_us)
        if self.table.snapshot is not before:
            self._publish(None, t_us)
        return self.table.snapshot is not before

    def check(self, t_us: int) -> None:
        """Ask every part for its health; a failed part shows in a corner of the board."""
        if self._keeper is not None:
            self._keeper.beat(t_us)
        self._sound(t_us)  # time runs short without anything happening
        health, lost_edges = self._outside()
        self._parts = {**health, **self._own_parts(t_us, lost_edges)}
        self._look_at_the_hour(t_us)
        failed = not all(part.ok for part in self._parts.values())
        if failed != (self._fault_us is not None):
            self._fault_us = t_us if failed else None
            self._publish(None, t_us)

    def note(self, name: str, part: Part) -> None:
        """Learn of the health of something that stays as it is. For any thread."""
        self._notes = {**self._notes, name: part}

    def document(self, t_us: int) -> state.Document:
        """The state as `GET /api/v1/state` tells it; `seq` rises by one at every change, clocks alone excepted."""
        document = state.document(self.table, t_us, self._parts) | {"screen": self.screen._asdict()}
        lasting = _lasting(document)
        if lasting != self._said:
            self._said = lasting
            self.seq += 1
        return {"seq": self.seq, **document}

    def sentence(self) -> str:
        """What the board is doing, and what fails, in one line."""
        return state.sentence(self.table.phase, self._parts)

    @property
    def failing(self) -> dict[str, Part]:
        """The parts that somebody should look after; cells that were put out of use on purpose are none of them."""
        parts = self._parts.items()
        return {name: part for name, part in parts if not part.ok and (name != "cells" or self.table.stuck)}

    @property
    def parts(self) -> Mapping[str, Part]:
        """The health of every part, as it was at the last check."""
        return self._parts

    def clocks(self, t_us: int) -> state.Document:
        """The clocks alone, for the message once a second."""
        return state.clocks(self.table, t_us)

    # -- the LEDs' side ----------------------------------------------------------------------------------------------

    @property
    def frame_due_us(self) -> int:
        """When the next frame is to be drawn; a time that has passed = now."""
        return self._frames.due_us(self._picture.snapshot)

    def light(self, t_us: int) -> bool:
        """Draw what is due at `t_us` and put it on the board; True if a frame was sent."""
        return self._draw(self._picture, self.board.dimmed, t_us) is not None

    def latched(self, t_us: int) -> None:
        """The frame sent last has latched at `t_us`: measure the newest press it answers, once."""
        picture = self._answered
        if picture is not None and picture.edge_us > self._measured_us:
            self._measured_us = picture.edge_us
            self.meter.touch(picture.edge_us, picture.heard_us, self._drawn_us, t_us)
            self.wear.answered(picture.cell, t_us - picture.edge_us)

    def _draw(self, picture: Picture, dimmed: bool, t_us: int) -> bytes | None:
        """Send the frame that is due of a picture, if one is; `dimmed`: the current limit held the last one back."""
        turned = picture.brightness_pct != self._shone_pct
        if turned:
            self.board.dim(picture.brightness_pct)
            self._shone_pct = picture.brightness_pct
        frame = self._frames.step(picture.snapshot, t_us, dimmed or turned)
        if frame is not None:
            self._drawn_us, self._answered = t_us, picture if self.board.show(frame, t_us) else None
        return frame

    # -- between them ------------------------------------------------------------------------------------------------

    def _publish(self, press: Edge | None, t_us: int) -> None:
        snapshot = self.table.snapshot
        if self._fault_us is not None:
            snapshot = snapshot._replace(fault_us=self._fault_us)
        last, pct = self._picture, self.brightness_pct
        if press is None:
            self._picture = last._replace(snapshot=snapshot, brightness_pct=pct, n=last.n + 1)
        else:
            self._picture = Picture(snapshot, pct, press.t_us, t_us, press.cell, last.n + 1)

    @property
    def brightness_pct(self) -> int:
        """What was chosen at the board, or what its profile says; in quiet hours less while nobody plays."""
        chosen_pct = self.table.chosen.brightness_pct
        usual_pct = self.table.brightness_pct if chosen_pct is None else chosen_pct
        return min(usual_pct, QUIET_PCT) if self.screen.quiet and self.table.phase == "attract" else usual_pct

    @property
    def quiet_hours(self) -> str:
        """The quiet hours that count, such as "22:00-08:00"; "" for none."""
        chosen = self.table.chosen.quiet
        return chosen if chosen is not None else quiet.text(self._evening.hours)

    @property
    def knows_the_hour(self) -> bool:
        """Whether the time of day is known; while it is not, it is never quiet."""
        return self._evening.minute() is not None

    def _look_at_the_hour(self, t_us: int) -> None:
        chosen, table = self.table.chosen.quiet, self.table
        hours = self._evening.hours if chosen is None else quiet.hours(chosen)
        minute = self._evening.minute() if hours is not None else None
        untouched_us = table.untouched_us(t_us)
        self.screen = quiet.screen(hours, minute, table.phase, untouched_us, self._evening.screen_off_us)
        if self.brightness_pct != self._picture.brightness_pct:
            self._publish(None, t_us)

    def _judge(self, t_us: int) -> None:
        if self._keeper is not None:
            self._keeper.judge(self._known_us, t_us)
        else:
            self.table.advance(self._known_us)
        self.due_us = self.table.due_us
        self._sound(t_us)
        if self.table.stuck != self._stuck:
            self._stuck = self.table.stuck
            self._expect(sum(1 << cell for cell in self._stuck))
        if self.table.chosen is not self._chosen:
            self._chosen = self.table.chosen
            self._choose(self._chosen)

    def _sound(self, t_us: int) -> None:
        sound, volume_pct = self._sounds.step(self.table, t_us), self.table.chosen.volume_pct
        if sound is not None and volume_pct and self.board.capabilities.sound and not self.screen.quiet:
            self._tone(sound, volume_pct)

    def _tone(self, sound: Sound, volume_pct: int) -> None:
        self.board.tone(NOTES[sound], volume_pct)

    def _expect(self, stuck: int) -> None:
        self.board.expect(stuck)

    def _outside(self) -> tuple[Mapping[str, Part], int]:
        """The health of the board and of what stays as it is, and how many edges the scan thread has lost."""
        return self.board.health() | dict(self._notes), self.lost_edges

    def _own_parts(self, t_us: int, lost_edges: int) -> dict[str, Part]:
        stuck, out = _names(self.table.stuck), _names(self.table.out - self.table.stuck)
        pressed = f"{stuck}: pressed for 20 s and more; lift what lies there, or clean the contact."
        masked = f"{out}: out of use; play there with two cells of the edge, or with the menu's cursor."
        lost = f"{lost_edges} touches were lost: the computer was too slow."
        return {
            "cells": Part(False, pressed) if stuck else Part(not out, masked if out else "ok"),
            "queue": Part(False, lost) if lost_edges else Part(True, "ok"),
        } | ({"journal": self._keeper.part(t_us)} if self._keeper is not None else {})


def _names(cells: frozenset[int]) -> str:
    return ", ".join(morbak.cell_name(cell) for cell in sorted(cells))


def _lasting(document: state.Document) -> state.Document:
    """What is left of a document without the clocks, which are told once a second and count as no change."""
    lasting = {key: value for key, value in document.items() if key not in state.CLOCKS}
    lasting["cleans_ms"] = document["cleans_ms"] is None
    if lasting["menu"] and lasting["menu"]["asked"]:
        menu = lasting["menu"]
        lasting["menu"] = menu | {"asked": menu["asked"] | {"left_ms": None}}
    return lasting
