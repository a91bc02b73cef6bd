"""The report of `morbak selftest` for people. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from hal.selftest_report import CABLES, Report


def lines(report: Report) -> Iterator[str]:
    """What was found, line by line; each figure with what it rests on."""
    found, rests = report.document, report.document["rests_on"]
    states: dict[str, int] = {}
    for cell in found["cells"].values():
        states[cell["state"]] = states.get(cell["state"], 0) + 1
    yield f"Self-test of {found['board']} ({found['file']}): {rests['board']}."
    yield ""
    yield f"LEDs      {', '.join(f'{colour}: {said}' for colour, said in found['leds'].items())}"
    yield f"          ({rests['leds']})"
    yield f"cells     {', '.join(f'{count} {state}' for state, count in states.items())}"
    yield f"          ({rests['cells']})"
    yield from _cable(report) if found["rung"] in CABLES else _bounces(report)
    times = found["latency"]
    figures = f"median {times['median_us']} us, longest {times['max_us']} us" if times["count"] else "none"
    yield f"light     {times['count']} touches, {figures} from the scan to light"
    yield f"          ({rests['latency']})"
    yield f"current   at most {found['current']['peak_ma']:.0f} mA of {found['current']['budget_ma']:.0f} mA allowed"
    yield f"          ({rests['current']})"
    holds = {None: "unknown", True: "its voltage held", False: "its voltage sagged"}[found["current"]["supply_holds"]]
    yield f"supply    {holds} ({rests['supply']})"
    yield f"diodes    {found['diodes']} (told by the four corners alone)"
    yield ""
    yield from (f"fault     {fault}" for fault in report.faults)
    yield from (f"warning   {warning}" for warning in report.warnings)
    yield f"{_count(len(report.faults), 'fault')}, {_count(len(report.warnings), 'warning')}."


def _bounces(report: Report) -> Iterator[str]:
    found = report.document
    for what in ("press", "release"):
        buckets = ", ".join(f"{label}: {count}" for label, count in found["bounce"][what].items() if count)
        yield f"{'bounce' if what == 'press' else '':10}{what} {buckets or 'not seen'}"
    scans = found["scan_us"]
    yield f"          (at least: scanned every {scans['mean']} us, once after {scans['longest']} us)"
    yield "          the longest of each cell, in ms (-- none told, x no answer, ! closed all the time):"
    yield from (f"          {line}" for line in report.bounces)


def _cable(report: Report) -> Iterator[str]:
    """What the board says of itself instead of what cannot be measured from here."""
    found = report.document
    yield f"bounce    {found['bounce']}"
    counted = found["counted"]
    yield f"board     {found['says']}"
    if counted is None:
        yield "          (it has not said what it has counted)"
        return
    yield (
        f"          {counted['scan_hz']} scans a second, {counted['overruns']} late; {counted['bounces']} moves of "
        f"contacts that were no touch; {counted['lost']} edges lost, {counted['bad']} messages spoilt"
    )
    yield "          (counted by the board since it started)"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + "s" * (number != 1)
