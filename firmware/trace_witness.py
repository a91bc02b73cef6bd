"""An engine that tells what comes of each of its steps: for the recorder of a trace, and for its replay. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from firmware.choosing import Chosen
from firmware.course import Played
from firmware.engine import ALONE, Engine, Surroundings
from firmware.games import morbak
from firmware.keeper import Store
from firmware.lights import Lights
from firmware.save import Save, encode
from firmware.sounds import Sound
from firmware.table import Answering, Table
from firmware.trace import digest
from hal.ports import Board


class _Look(NamedTuple):
    """What of a table shows that something has come of a step."""

    phase: str
    number: int
    refusals: int
    undone: int
    ended: bool
    last: Played | None


class ToldStore:
    """A store that tells what is put into it; `saved` and `fault` are those of the last `look`."""

    def __init__(self, store: Store, tell: Callable[[str], None]) -> None:
        self._store, self._tell = store, tell
        self.saved, self.fault = store.saved, store.fault

    def look(self) -> None:
        """See how far the disk has come; during a step it comes no further."""
        self.saved, self.fault = self._store.saved, self._store.fault

    def put(self, save: Save, finished: bool) -> int:
        """As the store does."""
        self._tell(f"put {_sum(save)}{' finished' * finished}")
        return self._store.put(save, finished)

    def heartbeat(self, save: Save) -> None:
        """As the store does."""
        self._tell(f"beat {_sum(save)}")
        self._store.heartbeat(save)


class ToldAnswer:
    """Tells what comes of an operator's action."""

    def __init__(
        self, number: int, answer: Answering, tell: Callable[[str], None], gone: Callable[[int], None]
    ) -> None:
        self._number, self._answer, self._tell, self._gone = number, answer, tell, gone

    def waits(self) -> bool:
        """As the answer does."""
        waits = self._answer.waits()
        if not waits:
            self._gone(self._number)
        return waits

    def give(self, refused: str | None) -> None:
        """As the answer does."""
        self._tell(f"answer {self._number} {refused or 'ok'}")
        self._answer.give(refused)


class Witness(Engine):
    """An engine whose steps, each within `_witnessed`, leave in `_did` what came of them."""

    def __init__(self, table: Table, board: Board, lights: Lights, around: Surroundings = ALONE) -> None:
        self._did: list[str] = []
        self._store = None if around.store is None else ToldStore(around.store, self._did.append)

        def told(chosen: Chosen) -> None:
            self._did.append(f"chosen {msgspec.json.encode(chosen).decode()}")
            around.choose(chosen)

        super().__init__(table, board, lights, around._replace(store=self._store, choose=told))

    @contextmanager
    def _witnessed(self) -> Iterator[None]:
        """Look at the table before and after a step."""
        if self._store is not None:
            self._store.look()
        self._did.clear()
        before = self._look()
        try:
            yield
        except Exception as error:
            self._did.append(f"failed {type(error).__name__}")
            raise
        finally:
            self._tell_changes(before)

    def _tone(self, sound: Sound, volume_pct: int) -> None:
        self._did.append(f"tone {sound} {volume_pct}")
        super()._tone(sound, volume_pct)

    def _expect(self, stuck: int) -> None:
        self._did.append(f"stuck {' '.join(morbak.cell_name(cell) for cell in sorted(self._stuck)) or 'none'}")
        super()._expect(stuck)

    def _look(self) -> _Look:
        table = self.table
        game, last = table.game, table.played[-1] if table.played else None
        undone, ended = (0, False) if game is None else (len(game.undone), game.ending is not None)
        return _Look(table.phase, table.number, 0 if table.refusal is None else table.refusal.n, undone, ended, last)

    def _tell_changes(self, before: _Look) -> None:
        table, after = self.table, self._look()
        new: list[str] = []
        for played in reversed(table.played):
            if played is before.last:
                break
            new.append(f"played {played.text} at {played.t_us}")
        self._did += reversed(new)
        if table.refusal is not None and after.refusals != before.refusals:
            self._did.append(f"refused {table.refusal.code} {morbak.cell_name(table.refusal.cell)}")
        if after.undone > before.undone:
            self._did.append("taken back")
        if after.number != before.number:
            self._did.append(f"game {after.number}")
        if table.game is not None and table.game.ending is not None and not before.ended:
            self._did.append(f"ended {table.game.ending.result} {table.game.ending.reason}")
        if after.phase != before.phase:
            self._did.append(f"phase {after.phase}")


def _sum(save: Save) -> str:
    return f"game {save.game} moves {len(save.record.moves)} {digest(encode(save))}"
