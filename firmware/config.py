"""Settings: one TOML file, every key known and in range, checked against itself and against the board."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from firmware.clock import Limits
from firmware.games import morbak
from firmware.gesture import TouchTimes
from firmware.phases import PhaseTimes
from hal import tables
from hal.profile import Profile

MS = 1_000
S = 1_000_000
LOBBY_MS = 5_000

Milliseconds = Annotated[int, Meta(ge=1, le=600_000)]
Seconds = Annotated[int, Meta(ge=1, le=86_400)]
Count = Annotated[int, Meta(ge=0, le=morbak.MOST)]
NoneOr = Annotated[int, Meta(ge=0, le=86_400)]


class TouchSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[touch]`: how long a finger has to do what."""

    tap_min_ms: Milliseconds = 20
    hold_ms: Milliseconds = 800
    turn_guard_ms: Milliseconds = 250
    leave_ms: Milliseconds = 5_000
    stuck_ms: Milliseconds = 20_000


class PhasesSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[phases]`: how long what is around a game lasts."""

    lobby_ms: Milliseconds = 2_000
    lot_ms: Milliseconds = 2_500
    result_deaf_ms: Milliseconds = 3_000
    idle_s: Seconds = 120
    low_time_s: Seconds = 30
    urgent_time_s: Seconds = 10


class GameSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[game]`: the rules and the limits of time; `total_s` and `move_s` 0 = none."""

    rules: Literal["standard", "lite"] = "standard"
    pool: Count | None = None
    block: bool | None = None
    neutralisations: Count | None = None
    total_s: NoneOr = 900
    move_s: NoneOr = 120


class Settings(NamedTuple):
    """Everything that may be set."""

    touch: TouchSection = TouchSection()
    phases: PhasesSection = PhasesSection()
    game: GameSection = GameSection()

    @property
    def touch_times(self) -> TouchTimes:
        """As the gesture wants it, in microseconds."""
        t = self.touch
        return TouchTimes(t.tap_min_ms * MS, t.hold_ms * MS, t.turn_guard_ms * MS, t.leave_ms * MS, t.stuck_ms * MS)

    @property
    def phase_times(self) -> PhaseTimes:
        """As the table wants it, in microseconds."""
        p = self.phases
        return PhaseTimes(
            lobby_us=p.lobby_ms * MS,
            lot_us=p.lot_ms * MS,
            result_deaf_us=p.result_deaf_ms * MS,
            idle_us=p.idle_s * S,
            low_us=p.low_time_s * S,
            urgent_us=p.urgent_time_s * S,
        )

    @property
    def limits(self) -> Limits:
        """The limits of both clocks."""
        return Limits(self.game.total_s * S or None, self.game.move_s * S or None)

    @property
    def rules(self) -> morbak.Rules:
        """The named rules, with the options that are given."""
        game, named = self.game, morbak.PROFILES[self.game.rules]
        return morbak.Rules(
            named.pool if game.pool is None else game.pool,
            named.block if game.block is None else game.block,
            named.neutralisations if game.neutralisations is None else game.neutralisations,
        )


def load(path: str | Path | None, profile: Profile) -> Settings:
    """The settings in a file (None: the defaults), fit for the board. Raises ProfileError for what cannot be used."""
    if path is None:
        settings, source = Settings(), tables.Source("settings", "", "settings")
    else:
        source = tables.read(Path(path), "settings")
        found = tables.parse(source, Settings._fields)
        settings = Settings(
            tables.section(source, found, "touch", TouchSection),
            tables.section(source, found, "phases", PhasesSection),
            tables.section(source, found, "game", GameSection),
        )
    _check(source, settings, profile)
    return settings


def _check(source: tables.Source, settings: Settings, profile: Profile) -> None:
    """Values that contradict each other or the board are refused, naming the one to change."""
    touch, phases = settings.touch, settings.phases
    seen_us = profile.matrix.bounce_us + profile.matrix.idle_period_us
    relations = (
        (
            "touch.hold_ms",
            touch.hold_ms,
            touch.hold_ms * MS > seen_us,
            f"a hold must be longer than contact bounce and a scan period together ({seen_us / MS:g} ms)",
        ),
        (
            "phases.lot_ms",
            phases.lot_ms,
            phases.lobby_ms + phases.lot_ms <= LOBBY_MS,
            f"with lobby_ms it passes {LOBBY_MS} ms, within which a first touch leads to play",
        ),
        ("touch.hold_ms", touch.hold_ms, touch.hold_ms > touch.tap_min_ms, "a hold must be longer than tap_min_ms"),
        ("touch.leave_ms", touch.leave_ms, touch.leave_ms > touch.hold_ms, "a rest must be longer than hold_ms"),
        ("touch.stuck_ms", touch.stuck_ms, touch.stuck_ms >= touch.leave_ms, "must not be shorter than leave_ms"),
        (
            "phases.urgent_time_s",
            phases.urgent_time_s,
            phases.urgent_time_s <= phases.low_time_s,
            "must not be longer than low_time_s",
        ),
    )
    for key, value, holds, reason in relations:
        if not holds:
            raise source.refuse(key, value, reason)
