"""The firmware put together on a board, with what its state directory holds; and taken apart in the right order."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from random import Random
from types import MappingProxyType

from firmware import chosen, quiet
from firmware.app import App
from firmware.choosing import Chosen
from firmware.config import S, Settings
from firmware.engine import Engine, Evening, Make, Surroundings
from firmware.game_record import game_from, match_from
from firmware.journal import Found, Journal
from firmware.lights import Lights
from firmware.operator_token import token_in
from firmware.settings_file import Started
from firmware.state_directory import StateDirectory
from firmware.table import Table
from firmware.wall import minute, wall
from hal.ports import Board, Clock, Part

log = logging.getLogger("morbak")


NOTHING_FOUND, NOTHING_CHOSEN = Found(), Chosen()


def new_table(
    board: Board,
    clock: Clock,
    settings: Settings,
    chance: Random,
    found: Found = NOTHING_FOUND,
    chosen: Chosen = NOTHING_CHOSEN,
    *,
    coded: bool = False,
) -> Table:
    """A table by the settings, with the game or the result that was on it before a restart."""
    start_us = clock.now_us()
    table = Table(
        settings.match,
        settings.touch_times,
        settings.phase_times,
        draw_lot=lambda: chance.choice(("a", "b")),
        start_us=start_us,
        games=found.games,
        chosen=chosen,
        brightness_pct=board.brightness_pct,
        sound=board.capabilities.sound,
        coded=coded,
    )
    if found.save is not None:
        table.resume(game_from(found.save), match_from(found.save), found.save.game, start_us)
    return table


class Assembly:
    """A board that plays and keeps what must outlive a restart: `app`, its `journal`, what was chosen, the `token`."""

    def __init__(
        self,
        board: Board,
        clock: Clock,
        started: Started,
        state: StateDirectory,
        chance: Random,
        notes: Mapping[str, Part] = MappingProxyType({}),
        make: Make = Engine,
    ) -> None:
        """Waits for the disk; raises nothing that the disk could be the cause of.

        `notes`: the health of what stays as it is while the board runs. `make`: what makes an engine of its parts.
        """
        last, chosen_sentence = chosen.load(state.path)
        self.token, token_sentence = token_in(state.path)
        state.tell(chosen_sentence, token_sentence)
        self._waits = 0
        self._chosen = chosen.ChosenKeeper(state.path, last)
        self.journal, found = Journal.open(state, wall, self._saved)
        table = new_table(board, clock, started.settings, chance, found, last, coded=True)
        settings = started.settings
        evening = Evening(quiet.hours(settings.quiet.hours), minute, settings.quiet.screen_off_s * S)
        parts = {"settings": started.part, **notes}
        engine = make(table, board, Lights(), Surroundings(self.journal, parts, self._chosen.put, evening))
        self.app = App(engine, clock)

    def rounds(self) -> dict[str, int]:
        """How often each part of the board has come round; a journal that waits for the disk counts as moving."""
        self.journal.prod()
        self._waits += self.journal.hangs_on_disk()
        return {**self.app.rounds(), "journal": self.journal.rounds + self._waits}

    def close(self) -> None:
        """Write what waits; what could not be saved is logged. Waits for the disk, each part 5 s at most."""
        if not self.journal.close():
            log.error("not saved: %s", self.journal.fault or "the disk did not answer in time.")
        if not self._chosen.close():
            log.error("not kept: %s", self._chosen.fault or "the disk did not answer in time.")

    def _saved(self, _ticket: int) -> None:
        self.app.saved_soon()  # nothing is put before it is there
