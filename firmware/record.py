"""The game record: one game as one JSON object on one line, read, checked, completed and printed.

Reading plays the moves again. What they decide (result by line or stalemate, the line, the final position) is filled in
where it is absent; where it is given it has to agree. What they cannot decide (resignation, time, agreement) is kept.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final, Literal, NoReturn

import msgspec

from firmware.games import morbak
from firmware.games.morbak import Action, IllegalAction, Rules, Side, State, UnreadableText

VERSION: Final = 1

# Beyond 2**53 - 1 other readers of JSON lose digits.
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
_Limit = Annotated[int, msgspec.Meta(ge=1, le=2**53 - 1)]


class RuleOptions(msgspec.Struct, frozen=True):
    """Rules that are no named profile."""

    pool: int
    block: bool
    neutralisations: int


class TimeLimits(msgspec.Struct, frozen=True):
    """The limits of a match in milliseconds; None is none."""

    total_ms: _Limit | None
    move_ms: _Limit | None


class Takeback(msgspec.Struct, frozen=True):
    """One takeback: `at` moves were left standing just after it, `moves` had been undone."""

    at: _Count
    moves: tuple[str, ...]


class Players(msgspec.Struct, frozen=True):
    """The names of the players."""

    a: str
    b: str


class Record(msgspec.Struct, frozen=True):
    """One game, the fields in the order they are printed in; those that are UNSET are not printed.

    `moves`, `ms` (milliseconds used for each move) and `timeouts` (indices of passes that were time-outs) describe
    the final line of play; `takebacks` are in order of time.
    """

    v: int
    rules: str | RuleOptions
    starter: Side
    moves: tuple[str, ...]
    result: Literal["a", "b", "draw"] | None
    reason: Literal["line", "stalemate", "time", "resignation", "agreement"] | None
    line: tuple[str, ...] | None
    final: str
    time: TimeLimits | msgspec.UnsetType = msgspec.UNSET
    ms: tuple[_Count, ...] | msgspec.UnsetType = msgspec.UNSET
    timeouts: tuple[_Count, ...] | msgspec.UnsetType = msgspec.UNSET
    takebacks: tuple[Takeback, ...] | msgspec.UnsetType = msgspec.UNSET
    players: Players | msgspec.UnsetType = msgspec.UNSET
    date: str | msgspec.UnsetType = msgspec.UNSET
    seq: _Count | msgspec.UnsetType = msgspec.UNSET


class RecordError(ValueError):
    """A line that is no record; the text is one sentence.

    `index`: the offending move, from 0, where it is one. `code`: `unreadable`, `contradiction` (a field that
    disagrees with the moves or with another), or the reason code of the rule that a move breaks.
    """

    def __init__(self, text: str, code: str = "contradiction", index: int | None = None) -> None:
        super().__init__(text)
        self.code, self.index = code, index


def replay(lines: Iterable[str]) -> Iterator[tuple[int, Record | RecordError]]:
    """Each line that is not blank with its number from 1: the completed record, or why it is none."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield number, _read(line)


def _read(line: str) -> Record | RecordError:
    try:
        return parse_record(line)
    except RecordError as error:
        return error


def format_record(record: Record) -> str:
    """A record as one line of compact JSON, without a line end."""
    return msgspec.json.encode(record).decode()


def describe(record: Record) -> str:
    """A record in words: who won, how, in how many moves."""
    verdict = {None: "unfinished", "draw": "draw"}.get(record.result, f"{record.result} wins")
    how = f" by {record.reason}" if record.reason else ""
    where = f" ({' '.join(record.line)})" if record.line else ""
    return f"{verdict}{how}{where}, {len(record.moves)} moves"


def record_rules(record: Record) -> Rules:
    """The rules that a record was played by. Raises RecordError for an unknown profile and options out of range."""
    if isinstance(record.rules, RuleOptions):
        rules = Rules(record.rules.pool, record.rules.block, record.rules.neutralisations)
    elif record.rules in morbak.PROFILES:
        rules = morbak.PROFILES[record.rules]
    else:
        nearest = _nearest(record.rules, morbak.PROFILES)
        raise RecordError(f"rules {record.rules!r} are no profile; the nearest is {nearest!r}", "unreadable")
    try:
        morbak.check_rules(rules)
    except ValueError as error:
        raise RecordError(f"rules: {error}", "unreadable") from error
    return rules


def parse_record(line: str) -> Record:
    """The checked and completed record of one line. Raises RecordError, and nothing else whatever the line."""
    given = _object(line)
    record = _shaped(given)
    _check_lists(record)
    states = _played(record)
    _check_takebacks(record, states)
    completed = _completed(record, states[-1])
    for name in _DECIDED:
        claim, truth = getattr(record, name), getattr(completed, name)
        if name in given and claim != truth:
            raise RecordError(f"{name} is {_shown(claim)}, but the moves make it {_shown(truth)}")
    return completed


# --- the line as JSON of the right shape

# Stand-ins for what the moves decide, while it is absent.
_DECIDED: Final[dict[str, object]] = {"result": None, "reason": None, "line": None, "final": ""}
_NESTED: Final[dict[str, type[msgspec.Struct]]] = {"rules": RuleOptions, "time": TimeLimits, "players": Players}


def _object(line: str) -> dict[str, object]:
    try:
        value = json.loads(line, object_pairs_hook=_unique, parse_constant=_no_constant)
        json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair could never be printed again
    except (ValueError, RecursionError) as error:
        raise RecordError(f"the line is no JSON: {error}", "unreadable") from error
    if not isinstance(value, dict):
        raise RecordError("the line is JSON, but no object", "unreadable")
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"key {max(names, key=names.count)!r} is there twice")
    return found


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


def _shaped(given: dict[str, Any]) -> Record:
    _check_keys(given, Record, "the record")
    for name, shape in _NESTED.items():
        _check_keys(given.get(name), shape, name)
    takebacks = given.get("takebacks")
    for takeback in takebacks if isinstance(takebacks, list) else ():
        _check_keys(takeback, Takeback, "takebacks")
    try:
        record = msgspec.convert(_DECIDED | given, Record)
    except msgspec.ValidationError as error:
        move = re.search(r"at `\$\.moves\[(\d+)\]`", str(error))
        raise RecordError(f"the record is unreadable: {error}", "unreadable", int(move[1]) if move else None) from error
    if record.v != VERSION:
        raise RecordError(f"v is {record.v}, but only version {VERSION} can be read", "unreadable")
    line = None if record.line is None else tuple(name.strip().lower() for name in record.line)
    return msgspec.structs.replace(record, line=line, final=record.final.strip())


def _check_keys(given: object, shape: type[msgspec.Struct], where: str) -> None:
    known = shape.__struct_fields__
    for name in given if isinstance(given, dict) else ():
        if name not in known:
            text = f"{where} has an unknown key {name[:80]!r}; the nearest is {_nearest(name, known)!r}"
            raise RecordError(text, "unreadable")


def _nearest(name: str, known: Iterable[str]) -> str:
    return difflib.get_close_matches(name[:80], list(known), n=1, cutoff=0)[0]


def _shown(value: object) -> str:
    return msgspec.json.encode(value).decode()


# --- the moves


def _check_lists(record: Record) -> None:
    """Check the lists beside the moves against them, as far as that needs no playing."""
    count = len(record.moves)
    if record.ms is not msgspec.UNSET and len(record.ms) != count:
        raise RecordError(f"ms has {len(record.ms)} times for {count} moves, but there is one for each")
    timeouts = record.timeouts or ()
    if list(timeouts) != sorted(set(timeouts)):
        raise RecordError("timeouts are not ascending, each once")
    if timeouts and timeouts[-1] >= count:
        raise RecordError(f"timeouts name move {timeouts[-1]}, but the last move is {count - 1}")


def _played(record: Record) -> list[State]:
    """The position before each move, and the last one."""
    timeouts = frozenset(record.timeouts or ())
    states = [morbak.initial(record_rules(record), record.starter)]
    for index, text in enumerate(record.moves):
        place = f"move {index}"
        action = _action(text, place, index)
        step = _lost_turn if index in timeouts else _step
        states.append(step(states[-1], action, place, index))
    return states


def _action(text: str, place: str, index: int | None = None) -> Action:
    try:
        return morbak.parse_action(text)
    except UnreadableText as error:
        raise RecordError(f"{place} is unreadable: {error}", "unreadable", index) from error


def _step(state: State, action: Action, place: str, index: int | None = None) -> State:
    try:
        return morbak.apply(state, action)
    except IllegalAction as error:
        raise RecordError(f"{place} is illegal: {error}", error.code, index) from error


def _lost_turn(state: State, action: Action, place: str, index: int) -> State:
    if action is not morbak.PASS:
        raise RecordError(f"timeouts name {place}, but that is {action.text} and no --", index=index)
    if morbak.legal(state) == [morbak.PASS]:
        raise RecordError(f"timeouts name {place}, but that -- was forced", index=index)
    try:
        return morbak.pass_turn(state)
    except IllegalAction as error:
        raise RecordError(f"{place} is illegal: {error}", error.code, index) from error


def _check_takebacks(record: Record, states: list[State]) -> None:
    """Rebuild the line of play before each takeback, the last one first, and play what was undone.

    Time-outs need no look here: only chosen actions and forced passes are ever undone.
    """
    takebacks = list(enumerate(record.takebacks or ()))
    for number, takeback in reversed(takebacks):
        place = f"takeback {number}"
        if takeback.at >= len(states):
            raise RecordError(f"{place} leaves {takeback.at} moves, but only {len(states) - 1} were played after it")
        states = states[: takeback.at + 1]
        states += _undone(states[-1], takeback, place)


def _undone(state: State, takeback: Takeback, place: str) -> list[State]:
    actions = [_action(text, f"move {step} of {place}") for step, text in enumerate(takeback.moves)]
    if not actions or actions[0] is morbak.PASS or any(action is not morbak.PASS for action in actions[1:]):
        raise RecordError(f"{place} must undo one chosen action and the forced passes after it, nothing else")
    states = [state]
    for step, action in enumerate(actions):
        states.append(_step(states[-1], action, f"move {step} of {place}"))
    if morbak.outcome(states[-1]):
        raise RecordError(f"{place} undoes the end of the game, but a result stands")
    return states[1:]


# --- what the moves decide


def _completed(record: Record, state: State) -> Record:
    """The same record with everything that the moves decide, and the texts in their one form."""
    result, reason, line = _ending(record, state)
    takebacks = record.takebacks
    if takebacks is not msgspec.UNSET:
        takebacks = tuple(Takeback(takeback.at, _texts(takeback.moves)) for takeback in takebacks)
    return msgspec.structs.replace(
        record,
        moves=_texts(record.moves),
        takebacks=takebacks,
        result=result,
        reason=reason,
        line=line,
        final=morbak.format_position(state),
    )


def _texts(moves: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(morbak.parse_action(text).text for text in moves)


def _ending(record: Record, state: State) -> tuple[Any, Any, tuple[str, ...] | None]:
    outcome = morbak.outcome(state)
    if outcome:
        names = tuple(sorted(morbak.cell_name(cell) for cell in outcome.line))
        return outcome.result, outcome.reason, names or None
    if record.reason == "agreement":
        return "draw", record.reason, None
    if record.reason in ("resignation", "time"):
        if record.result not in ("a", "b"):
            raise RecordError(f"result is {_shown(record.result)}, but a game ended by {record.reason} has a winner")
        return record.result, record.reason, None
    return None, None, None
