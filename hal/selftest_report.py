"""The report of `morbak selftest`: what was found, sentence by sentence and as data, and on what that rests. Pure.

Each figure says its rung: what a simulated board shows is never told as a real one's, what somebody has said is not
told as measured, and what follows from a model says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from hal import ws2812
from hal.guide import bits, mask, name
from hal.link import Stats
from hal.mapped import drawn, names, whole_lines
from hal.profile import Profile
from hal.selftest import COLOURS, Answers, missing

Rung = Literal["simulated", "pty", "ttyACM", "real"]
CABLES: tuple[Rung, ...] = ("pty", "ttyACM")
NOT_MEASURED = "not measured over a cable"
# Upper ends of the bounce histogram, ms; the last is open.
BUCKETS_MS = (1, 2, 3, 5, 10, 20)
# From the scan that sees a contact to the light that answers it: what the board promises from rest (README), with the
# LEDs of the reference board. A longer chain takes longer on its wire, and that long more is allowed.
LATENCY_US, PROMISED_LEDS = 12_000, 49
_CABLE = {
    "leds": "somebody looked and said so",
    "cells": "touches of whoever sat at the board, as the board debounced and told them",
    "latency": "this computer's clock, from when it heard of the touch until the board said that it shows the light",
    "current": "the model of what the board says of its LEDs, not measured",
    "supply": NOT_MEASURED,
}
RESTS_ON: dict[Rung, dict[str, str]] = {
    "pty": {"board": "a board behind a pseudo terminal: no cable, and no hardware that could be known of"} | _CABLE,
    "ttyACM": {"board": "a board at the end of a serial cable"} | _CABLE,
    "simulated": {
        "board": "a simulated board: nothing here was measured on hardware",
        "leds": "a simulated person looked at the simulated strip, which decodes its own data line",
        "cells": "a simulated person touched simulated contacts",
        "latency": "virtual time, from the scan to the simulated strip's latch",
        "current": "the model of the profile, not measured",
        "supply": "not tried: a simulated board has no supply",
    },
    "real": {
        "board": "a real board",
        "leds": "somebody looked and said so; the board cannot read its LEDs back",
        "cells": "touches of whoever sat at the board, through its own driver",
        "latency": "this machine's clock, from the scan until the driver had written; what the LEDs need is not in it",
        "current": "the model of the profile, not measured",
        "supply": "what the machine says of its own voltage",
    },
}


# Of a test board at a cable, at which nobody sits.
BY_ITSELF = {
    "leds": "the board read its chain back, and a program judged that",
    "cells": "the board moved its contacts by order, debounced them and told them",
}


class Facts(NamedTuple):
    """What the machine knows of a test.

    `scan_us`: between two scans on the average, `late_us` at most. `peak_ma`: the most that the model says; `supply`:
    None where unknown. Of a board at a cable `who` it says it is, what it has counted (`told`), and whether it was
    tested `by_itself`.
    """

    rung: Rung
    scan_us: int
    late_us: int
    peak_ma: float
    supply: bool | None = None
    who: str = ""
    told: Stats | None = None
    by_itself: bool = False


class Report(NamedTuple):
    """`faults` and `warnings` are sentences; `document` is all of it for programs; `out`: cells that cannot be used.

    `bounces`: the board drawn with the longest bounce of each cell, in ms.
    """

    faults: tuple[str, ...]
    warnings: tuple[str, ...]
    document: dict[str, Any]
    out: tuple[str, ...]
    bounces: tuple[str, ...]


def report(profile: Profile, answers: Answers, facts: Facts) -> Report:
    """The report of a test."""
    rows, columns = profile.board.rows, profile.board.columns
    cable = facts.rung in CABLES
    if cable:
        answers = _debounced(answers)
    dead = mask(cell for cell, found in answers.cells.items() if found.state == "dead")
    stuck = mask(cell for cell, found in answers.cells.items() if found.state in ("stuck", "stays closed"))
    latency = _latency(answers)
    faults = [
        *_colour_faults(profile, answers),
        *_dead_faults(dead, rows, columns),
        *_cell_faults(profile, answers),
        *_diode_faults(profile, answers),
        *_latency_faults(profile, answers, latency, judged=not cable),
        *_current_faults(profile, facts),
    ]
    document: dict[str, Any] = {
        "board": profile.board.name,
        "file": profile.file,
        "rung": facts.rung,
        "rests_on": RESTS_ON[facts.rung] | (BY_ITSELF if facts.by_itself else {}),
        "scan_us": NOT_MEASURED if cable else {"mean": facts.scan_us, "longest": facts.late_us},
        "leds": {colour: said or "ok" for colour, said in answers.colours.items()},
        "cells": {name(cell, columns): _cell(profile, answers, cell) for cell in sorted(answers.cells)},
        "bounce": NOT_MEASURED if cable else _histograms(answers),
        "latency": latency,
        "current": {
            "peak_ma": round(facts.peak_ma, 1),
            "budget_ma": profile.power.budget_ua / 1000,
            "supply_holds": facts.supply,
        },
        "diodes": answers.diodes,
    }
    if cable:
        document["says"] = facts.who
        document["counted"] = None if facts.told is None else facts.told._asdict()
    warnings = [*_warnings(profile, answers), *_link_warnings(facts.told)]
    out = tuple(name(cell, columns) for cell in bits(dead | stuck))
    lengths = {cell: f"{us / 1000:.1f}" for cell, us in _bounces(answers).items()}
    picture = tuple(drawn(lengths, dead, stuck, (rows, columns)))
    document |= {"faults": faults, "warnings": warnings}
    return Report(tuple(faults), tuple(warnings), document, out, picture)


# -- faults -----------------------------------------------------------------------------------------------------------


def _colour_faults(profile: Profile, answers: Answers) -> Iterator[str]:
    size = profile.board.rows, profile.board.columns
    for colour, said in answers.colours.items():
        cells = missing(said, size)
        if said == "nobody":
            yield f"nobody said whether the LEDs shine {colour}"
        elif said in COLOURS and said != colour:
            order = profile.leds.colour_order
            yield f"{colour} shows as {said}: leds.colour_order = {order!r} does not fit; `morbak map` finds what does"
        elif cells is not None:
            yield f"{names(mask(cells), size[1])} does not shine {colour}"
        elif said not in ("", "yes", "y", colour):
            yield f"{colour} was answered with {said!r}"


def _dead_faults(dead: int, rows: int, columns: int) -> Iterator[str]:
    full_rows, full_columns, cells = whole_lines(dead, rows, columns)
    for row in full_rows:
        yield f"no cell of row {row + 1} answers: a wire is off, or its diodes are turned"
    for column in full_columns:
        yield f"no cell of column {chr(ord('a') + column)} answers: a wire is off, or its diodes are turned"
    if cells:
        yield f"no answer from {names(cells, columns)}: a contact, a diode or a joint is bad"


def _cell_faults(profile: Profile, answers: Answers) -> Iterator[str]:
    columns = profile.board.columns
    heard = [(cell, found) for cell, found in answers.cells.items() if found.state == "elsewhere"]
    for cell, found in heard[:3]:
        yield f"{name(cell, columns)} was lit, and a touch there is heard as {names(found.heard, columns)}"
    if len(heard) > 3:
        yield f"so it is with {len(heard) - 3} cells more: `morbak map` finds how the board is wired"
    sentences = {
        "unlit": "{cells}: nothing was lit when it should have been",
        "several": "{cells}: one touch closes several contacts, which are bridged or lack a diode",
        "stays closed": "{cells}: does not open again after a touch",
        "stuck": "{cells}: closed with nobody touching",
        "unsteady": "{cells}: opened while it was held; the contact is worn or a joint is bad",
    }
    for state, sentence in sentences.items():
        if cells := mask(cell for cell, found in answers.cells.items() if found.state == state):
            yield sentence.format(cells=names(cells, columns))
    if answers.rest is not None and (noisy := answers.rest.noisy):
        yield f"{names(noisy, columns)}: moves with nobody touching; look for a loose wire or a missing pull-up"
    if worst := {cell: us for cell, us in _bounces(answers).items() if us > profile.matrix.release_us}:
        yield (
            f"{names(mask(worst), columns)}: bounces for up to {max(worst.values()) / 1000:.1f} ms, longer than "
            f"matrix.release_us = {profile.matrix.release_us}, so one touch may count as two"
        )


def _diode_faults(profile: Profile, answers: Answers) -> Iterator[str]:
    if answers.diodes == "missing" and profile.matrix.diodes:
        yield "three corners held read as four: matrix.diodes = true is not so, and a ghost would be taken for a touch"
    elif answers.diodes == "guessed":
        yield "a corner that was held was not read, and one that nobody touched was: the driver hides ghosts"


def _latency(answers: Answers) -> dict[str, int]:
    times = sorted(
        found.touch.lit_us
        for found in answers.cells.values()
        if found.touch is not None and found.touch.lit_us is not None
    )
    if not times:
        return {"count": 0}
    return {"count": len(times), "median_us": times[len(times) // 2], "max_us": times[-1]}


def light_us(profile: Profile) -> int:
    """How long light may take to answer a touch on this board."""
    wire_us = ws2812.wire_us(profile.led_count, profile.leds.spi_hz)
    return LATENCY_US + max(0, wire_us - ws2812.wire_us(PROMISED_LEDS))


def _latency_faults(profile: Profile, answers: Answers, latency: dict[str, int], *, judged: bool) -> Iterator[str]:
    touched = sum(found.touch is not None for found in answers.cells.values())
    if touched and not latency["count"]:
        yield "no touch was answered with light"
    elif judged and latency["count"] and latency["median_us"] > light_us(profile):
        yield (
            f"light answers a touch after {latency['median_us'] / 1000:.1f} ms, {light_us(profile) / 1000:.1f} ms are "
            f"allowed with {profile.led_count} LEDs: their driver is late"
        )


def _current_faults(profile: Profile, facts: Facts) -> Iterator[str]:
    budget_ma = profile.power.budget_ua / 1000
    if facts.peak_ma > budget_ma:
        yield f"{facts.peak_ma:.0f} mA were asked for, the budget is {budget_ma:.0f} mA: something passes the limit"
    if facts.supply is False:
        yield "the supply's voltage sags under white: use a stronger 5 V supply, with thicker wires"


def _debounced(answers: Answers) -> Answers:
    """The answers without bounces, which the board has kept to itself."""
    cells = {
        cell: found._replace(touch=found.touch._replace(bounces_us={})) if found.touch is not None else found
        for cell, found in answers.cells.items()
    }
    return replace(answers, cells=cells)


def _link_warnings(told: Stats | None) -> Iterator[str]:
    if told is None:
        return
    if told.lost:
        yield f"the board has lost {told.lost} edges since it started: the cable was out of order for too long"
    if told.bad:
        yield f"the board has heard {told.bad} messages that were none since it started: try another cable"


def _warnings(profile: Profile, answers: Answers) -> Iterator[str]:
    columns = profile.board.columns
    limit_us = profile.matrix.bounce_us
    long = {cell: us for cell, us in _bounces(answers).items() if limit_us < us <= profile.matrix.release_us}
    if long:
        yield (
            f"{names(mask(long), columns)}: bounces for up to {max(long.values()) / 1000:.1f} ms, longer than "
            f"matrix.bounce_us = {limit_us}"
        )
    if answers.diodes == "there" and not profile.matrix.diodes:
        yield "every corner has its diode: with matrix.diodes = true three fingers are told apart"


# -- figures ----------------------------------------------------------------------------------------------------------


def _bounces(answers: Answers) -> dict[int, int]:
    """The longest bounce of each cell that told one."""
    told = {cell: found.touch.bounces_us.get(cell) for cell, found in answers.cells.items() if found.touch is not None}
    return {cell: max(trains) for cell, trains in told.items() if trains is not None}


def _cell(profile: Profile, answers: Answers, cell: int) -> dict[str, Any]:
    found = answers.cells[cell]
    shown: dict[str, Any] = {"state": found.state}
    if found.state in ("elsewhere", "several"):
        shown["heard"] = [name(heard, profile.board.columns) for heard in bits(found.heard)]
    if found.touch is not None:
        trains = found.touch.bounces_us.get(cell)
        if trains is not None:
            shown |= {"press_bounce_us": trains[0], "release_bounce_us": trains[1]}
        shown["light_us"] = found.touch.lit_us
    if answers.rest is not None and (moves := answers.rest.moves.get(cell)):
        shown["moves_at_rest"] = moves
    return shown


def _histograms(answers: Answers) -> dict[str, dict[str, int]]:
    """How many presses and releases bounced how long."""
    trains = [
        trains
        for cell, found in answers.cells.items()
        if found.touch is not None and (trains := found.touch.bounces_us.get(cell)) is not None
    ]
    return {"press": histogram(press for press, _ in trains), "release": histogram(release for _, release in trains)}


def histogram(lengths_us: Iterable[int]) -> dict[str, int]:
    """How many lengths lie in each bucket, by its name: the first it is not longer than."""
    labels = [f"up to {end} ms" for end in BUCKETS_MS] + [f"over {BUCKETS_MS[-1]} ms"]
    counts = dict.fromkeys(labels, 0)
    for length_us in lengths_us:
        at = next((at for at, end in enumerate(BUCKETS_MS) if length_us <= 1000 * end), len(BUCKETS_MS))
        counts[labels[at]] += 1
    return counts
