"""Starts that die: how many in a row, why, and when it is enough. Pure.

Five starts in a row that die within 30 s end in safe mode, which lasts until somebody restarts the board by hand; a
minute without dying clears the count. What is known of them is one `Record`, which outlives the process but neither
the machine nor an end in order: a power cut, a restart by hand and an update begin anew.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

# A start that dies sooner than this counts; one that lives this long is sound.
QUICK_US: Final = 30_000_000
SOUND_US: Final = 60_000_000
ENOUGH: Final = 5
# Before the second, third, ... start in a row; in safe mode twice as long each time, so that what dies even there
# does not take the machine along.
PAUSES_S: Final = (0.0, 0.0, 0.5, 1.0, 2.0)
LONGEST_PAUSE_S: Final = 60.0

Code = Literal["failed", "hung", "killed", "slow", "unknown"]


class Reason(msgspec.Struct, frozen=True):
    """Why a start died: a code for programs, a sentence for people."""

    code: Code
    text: str


class Record(msgspec.Struct, frozen=True):
    """What a start knows of those before it.

    `deaths`: how many in a row died quickly before this one. `quick`: whether this one would count if it died now.
    `reason`: of the last death. `dying`: what this start has said of its own death. `stalled`: the parts that had
    stopped moving when it was last looked at.
    """

    deaths: int = 0
    quick: bool = True
    reason: Reason | None = None
    dying: Reason | None = None
    stalled: tuple[str, ...] = ()

    @property
    def safe(self) -> bool:
        """Whether this start is one in safe mode."""
        return self.deaths >= ENOUGH

    @property
    def pause_s(self) -> float:
        """How long to wait before this start touches anything."""
        if self.deaths < len(PAUSES_S):
            return PAUSES_S[self.deaths]
        return float(min(2.0 ** (self.deaths - ENOUGH), LONGEST_PAUSE_S)) if self.deaths > ENOUGH else 0.0


def following(last: Record | None, end: str) -> Record:
    """The record of a start. `last`: that of the start before, if it did not end in order; `end`: how, by systemd.

    `end` is `$SERVICE_RESULT $EXIT_CODE $EXIT_STATUS` as a unit's ExecStopPost gets them; "" where that is not known.
    """
    if last is None:
        return Record()
    counts = last.quick or last.safe
    return Record(deaths=last.deaths + 1 if counts else last.deaths, reason=last.dying or _told(end, last.stalled))


def aged(record: Record, age_us: int) -> Record:
    """The record of a start that has lived so long. Safe mode is left by hand alone."""
    if record.safe:
        return record
    if age_us >= SOUND_US:
        return Record(quick=False)
    return msgspec.structs.replace(record, quick=False) if age_us >= QUICK_US else record


def failed(error: BaseException) -> Reason:
    """The reason of a start that ends with an error; ours are sentences, others are named by their kind too."""
    text = str(error) or type(error).__name__
    return Reason("failed", text if _is_ours(error) else f"{type(error).__name__}: {text}")


def _is_ours(error: BaseException) -> bool:
    return type(error).__module__.split(".")[0] in ("firmware", "hal")


def _told(end: str, stalled: tuple[str, ...]) -> Reason:
    """The reason as systemd knows it."""
    result, _, how = end.partition(" ")
    if result == "watchdog":
        what = " and ".join(stalled) if stalled else "loop"
        return Reason("hung", f"The {what} stood still, and the watchdog ended the program.")
    if result == "timeout":
        return Reason("slow", "The program was not ready in time.")
    if result == "oom-kill":
        return Reason("killed", "The program was ended because the machine had no memory left.")
    if result in ("signal", "core-dump"):
        return Reason("killed", f"The program was ended by the signal {how.split()[-1]}.")
    if result == "exit-code":
        return Reason("failed", f"The program ended with exit status {how.split()[-1]}; its log says why.")
    return Reason("unknown", "The program ended without a word; the system's log may say why.")
