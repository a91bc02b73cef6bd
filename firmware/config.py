"""Settings: one TOML file, every key known and in range, checked against itself and against the board."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta

from firmware import quiet
from firmware.clock import Limits
from firmware.games import morbak
from firmware.gesture import TouchTimes
from firmware.match import Match
from firmware.menu import MenuTimes
from firmware.phases import PhaseTimes
from hal import tables
from hal.errors import ProfileError
from hal.profile import Profile

MS = 1_000
S = 1_000_000
LOBBY_MS = 5_000

Milliseconds = Annotated[int, Meta(ge=1, le=600_000)]
Seconds = Annotated[int, Meta(ge=1, le=86_400)]
SecondsOrNone = Annotated[int, Meta(ge=0, le=86_400)]
Count = Annotated[int, Meta(ge=0, le=morbak.MOST)]


def _is(text: str) -> Meta:
    """What a key is, for the people who set it."""
    return Meta(description=text)


class TouchSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[touch]`: how long a finger has to do what."""

    tap_min_ms: Annotated[Milliseconds, _is("a shorter touch is noise")] = 20
    hold_ms: Annotated[Milliseconds, _is("how long a special move is held")] = 800
    turn_guard_ms: Annotated[Milliseconds, _is("after a move new touches count for nothing this long")] = 250
    leave_ms: Annotated[Milliseconds, _is("a finger that rests this long counts for nothing until lifted")] = 5_000
    stuck_ms: Annotated[Milliseconds, _is("after this long it is reported")] = 20_000


class PhasesSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[phases]`: how long what is around a game lasts."""

    lobby_ms: Annotated[Milliseconds, _is("between the first touch and the lot")] = 2_000
    lot_ms: Annotated[Milliseconds, _is("how long the lot shows")] = 2_500
    result_deaf_ms: Annotated[Milliseconds, _is("a result cannot be touched away sooner")] = 3_000
    idle_s: Annotated[Seconds, _is("a result or a pause that nobody touches makes room for the invitation")] = 120
    low_time_s: Annotated[Seconds, _is("when the board warns of little time")] = 30
    urgent_time_s: Annotated[Seconds, _is("when it warns of very little time")] = 10
    park_s: Annotated[Seconds, _is("without a limit a move, a game that nobody touches is put by after this")] = 300
    park_countdown_s: Annotated[Seconds, _is("the last part of it shows as nightfall, which a touch ends")] = 20
    pips_hold_ms: Annotated[Milliseconds, _is("how long his own two corners are held to see what is left")] = 500
    pips_ms: Annotated[Milliseconds, _is("how long what is left shows")] = 1_500
    menu_hold_ms: Annotated[Milliseconds, _is("how long a1 and g7 are held for the menu or the options")] = 2_000
    menu_ask_s: Annotated[Seconds, _is("how long a request in the menu waits for the other side")] = 15
    menu_idle_s: Annotated[Seconds, _is("a menu that nobody touches closes after this")] = 30
    replay_step_ms: Annotated[Milliseconds, _is("how long each position of a replay shows")] = 900


class GameSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[game]`: the rules and the limits of time."""

    rules: Annotated[Literal["standard", "lite"], _is("lite has 6 special moves a side")] = "standard"
    pool: Annotated[Count | None, _is("special moves a side, if not as the rules say")] = None
    block: Annotated[bool | None, _is("whether cells can be blocked, if not as the rules say")] = None
    neutralisations: Annotated[Count | None, _is("neutralisations a side, if not as the rules say")] = None
    total_s: Annotated[SecondsOrNone, _is("thinking time of each side for a game; 0 = no limit")] = 900
    move_s: Annotated[SecondsOrNone, _is("time for one move; 0 = no limit")] = 120
    series: Annotated[Literal[1, 3, 5], _is("a match is the best of so many games")] = 1


class QuietSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[quiet]`: when nobody is there to see and hear the board."""

    hours: Annotated[str, Meta(pattern=quiet.PATTERN), _is("no sound, and little light while nobody plays")] = ""
    screen_off_s: Annotated[SecondsOrNone, _is("a screen is dark when nobody has touched for this long; 0 = never")] = 0


class Settings(NamedTuple):
    """Everything that may be set."""

    touch: TouchSection = TouchSection()
    phases: PhasesSection = PhasesSection()
    game: GameSection = GameSection()
    quiet: QuietSection = QuietSection()

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
            park_us=p.park_s * S,
            countdown_us=p.park_countdown_s * S,
            pips_hold_us=p.pips_hold_ms * MS,
            pips_us=p.pips_ms * MS,
            menu_hold_us=p.menu_hold_ms * MS,
            menu=MenuTimes(p.menu_ask_s * S, p.menu_idle_s * S),
            replay_step_us=p.replay_step_ms * MS,
        )

    @property
    def match(self) -> Match:
        """What is played where nobody chooses otherwise at the board."""
        return Match(self.rules, self.limits, self.game.series)

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


SECTIONS: Final[dict[str, type[msgspec.Struct]]] = {
    "touch": TouchSection,
    "phases": PhasesSection,
    "game": GameSection,
    "quiet": QuietSection,
}


def load(path: str | Path | None, profile: Profile) -> Settings:
    """The settings in a file (None: the built-in ones), fit for the board.

    Raises ProfileError for what cannot be used, and of that `hal.tables.Torn` for a file that is blank or no TOML.
    """
    source = tables.Source("the built-in settings", "", "settings file") if path is None else read(path)
    settings, faults = judge(source, profile)
    for fault in faults:
        raise fault
    return settings


def read(path: str | Path) -> tables.Source:
    """The text of a file of settings. Raises ProfileError, and of that Torn for a blank one and one that is no text."""
    source = tables.read(Path(path), "settings file")
    if not source.text.strip("\0 \t\r\n"):
        reason = "the settings file is empty; for the built-in ones remove the file, or leave a comment in it"
        raise tables.Torn(source.file, "", None, reason)
    return source


def judge(source: tables.Source, profile: Profile) -> tuple[Settings, list[ProfileError]]:
    """The settings of a text, the built-in values in the place of bad ones, and all that is wrong with it, by line.

    Raises Torn for what is no TOML.
    """
    found = tables.load(source)
    faults = list(tables.unknown(source, "", found, SECTIONS))
    sections = {}
    for name, kind in SECTIONS.items():
        values, wrong = tables.values_of(source, found, name, kind)
        sections[name] = kind(**values)
        faults += wrong
    settings = Settings(**sections)  # type: ignore[arg-type]  # by its own annotations
    bad = {fault.key for fault in faults}
    faults += [fault for keys, fault in _contradictions(source, found, settings, profile) if not keys & bad]
    return settings, sorted(faults, key=lambda fault: fault.line or 0)


def changes(before: Settings, after: Settings) -> list[str]:
    """Each key whose value differs, with both values, as `touch.hold_ms 800 -> 900`."""
    return [
        f"{name}.{key} {getattr(old, key)} -> {getattr(new, key)}"
        for name, old, new in zip(SECTIONS, before, after, strict=True)
        for key in old.__struct_fields__
        if getattr(old, key) != getattr(new, key)
    ]


class _Relation(NamedTuple):
    """Values that must agree: `key` is told `reason` where they do not; if the file gives only the `other`, it is."""

    key: str
    holds: bool
    reason: str
    other: str = ""
    other_reason: str = ""


def _contradictions(
    source: tables.Source, found: Mapping[str, Any], settings: Settings, profile: Profile
) -> Iterator[tuple[set[str], ProfileError]]:
    """Values that contradict each other or the board: the keys, and the error, which names what the file gives."""
    for relation in _relations(settings, profile):
        if relation.holds:
            continue
        key, reason = relation.key, relation.reason
        if relation.other and tables.gives(found, relation.other) and not tables.gives(found, key):
            key, reason = relation.other, relation.other_reason
        name, _, last = key.partition(".")
        value = getattr(getattr(settings, name), last)
        yield {relation.key, relation.other}, source.refuse(key, value, reason)


def _relations(settings: Settings, profile: Profile) -> Iterator[_Relation]:
    touch, phases = settings.touch, settings.phases
    seen_us = profile.matrix.bounce_us + profile.matrix.idle_period_us
    yield _Relation(
        "touch.hold_ms",
        touch.hold_ms * MS > seen_us,
        f"a hold must be longer than contact bounce and a scan period together ({seen_us / MS:g} ms)",
    )
    yield _Relation(
        "phases.lot_ms",
        phases.lobby_ms + phases.lot_ms <= LOBBY_MS,
        f"with lobby_ms ({phases.lobby_ms}) it passes {LOBBY_MS} ms, within which a first touch leads to play",
        "phases.lobby_ms",
        f"with lot_ms ({phases.lot_ms}) it passes {LOBBY_MS} ms, within which a first touch leads to play",
    )
    yield _Relation(
        "touch.hold_ms",
        touch.hold_ms > touch.tap_min_ms,
        f"a hold must be longer than tap_min_ms ({touch.tap_min_ms})",
        "touch.tap_min_ms",
        f"must be shorter than hold_ms ({touch.hold_ms})",
    )
    yield _Relation(
        "touch.leave_ms",
        touch.leave_ms > touch.hold_ms,
        f"a rest must be longer than hold_ms ({touch.hold_ms})",
        "touch.hold_ms",
        f"a hold must be shorter than leave_ms ({touch.leave_ms}), or the finger has left",
    )
    yield _Relation(
        "touch.stuck_ms",
        touch.stuck_ms >= touch.leave_ms,
        f"must not be shorter than leave_ms ({touch.leave_ms})",
        "touch.leave_ms",
        f"must not be longer than stuck_ms ({touch.stuck_ms})",
    )
    for key, value in (("menu_hold_ms", phases.menu_hold_ms), ("pips_hold_ms", phases.pips_hold_ms)):
        yield _Relation(
            f"phases.{key}",
            value < touch.leave_ms,
            f"must be shorter than leave_ms ({touch.leave_ms}), or the fingers have left",
            "touch.leave_ms",
            f"must be longer than {key} ({value}), or the fingers have left before that",
        )
    yield _Relation(
        "phases.menu_ask_s",
        phases.menu_ask_s * 1000 > touch.hold_ms,
        f"must be longer than hold_ms ({touch.hold_ms}), or nobody can agree",
        "touch.hold_ms",
        f"must be shorter than menu_ask_s ({phases.menu_ask_s}), or nobody can agree",
    )
    yield _Relation(
        "phases.park_countdown_s",
        phases.park_countdown_s < phases.park_s,
        f"must be shorter than park_s ({phases.park_s}), of which it is the end",
        "phases.park_s",
        f"must be longer than park_countdown_s ({phases.park_countdown_s}), which is its end",
    )
    yield _Relation(
        "phases.urgent_time_s",
        phases.urgent_time_s <= phases.low_time_s,
        f"must not be longer than low_time_s ({phases.low_time_s})",
        "phases.low_time_s",
        f"must not be shorter than urgent_time_s ({phases.urgent_time_s})",
    )
