"""The screen of the board's own machine: which browser is started how, and whether its page lives. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

# The page says every 4 s that it is painted. A browser on a small Pi takes half a minute to its first picture (F3).
SILENT_US: Final = 15_000_000
STARTS_US: Final = 45_000_000

Beat = int | Literal["away"] | None  # how old the last is, in microseconds; None: none yet; the board is away

# One window on a compositor for one window; nothing that asks, updates, restores or reports (cases F1, F2, F6, F7).
FLAGS: Final = (
    "--kiosk",
    "--ozone-platform=wayland",
    "--start-maximized",
    "--no-first-run",
    "--no-default-browser-check",
    "--noerrdialogs",
    "--disable-infobars",
    "--hide-crash-restore-bubble",
    "--disable-session-crashed-bubble",
    "--disable-features=Translate,TranslateUI,MediaRouter",
    "--disable-component-update",
    "--disable-background-networking",
    "--disable-sync",
    "--disable-pinch",
    "--overscroll-history-navigation=0",
    "--password-store=basic",
    "--check-for-update-interval=31536000",
)


def command(browser: str, address: str, profile: str) -> list[str]:
    """What starts the screen: cage with one browser in it, on a profile of its own.

    It ends with whoever has started it: a session of logind's outlives the service that it belongs to, and two
    compositors cannot have one screen.
    """
    cache = ["--disk-cache-size=1"]  # the profile lies in memory, and the page has 100 kB
    return [
        "setpriv",
        "--pdeathsig",
        "TERM",
        "cage",
        "-d",
        "--",
        browser,
        *FLAGS,
        *cache,
        f"--user-data-dir={profile}",
        address,
    ]


def complaint(line: str) -> str | None:
    """What cage complains of in a line of its own, `00:00:00.013 [ERROR] [libseat] [file:line] words`; else None."""
    found = re.match(r"\d\d:\d\d:\d\d\.\d{3} \[\w+\] (?:\[[^]]*\] )*(.+)", line)
    return found[1] if found else None


def obituary(status: int, complaints: Sequence[str]) -> str:
    """Why a browser has ended that has shown nothing, in a sentence, by what cage has complained of until then."""
    if not complaints:
        return f"the browser has ended with exit status {status} before it showed anything; another is started."
    words = "; ".join(dict.fromkeys((complaints[0], complaints[-1])))
    return (
        f"there is no screen to show the page on (cage: {words}): plug one in and turn it on, or do without: "
        "sudo systemctl disable --now morbak-kiosk."
    )


class Heart:
    """Whether the page on the screen lives, by its beats as the board has felt them."""

    def __init__(self, start_us: int) -> None:
        self._alive_us, self._patience_us = start_us, STARTS_US
        self.felt = False  # whether it has ever lived

    def step(self, t_us: int, beat: Beat) -> bool:
        """Whether the page lives at `t_us`, as far as can be known: while the board is away nobody can say."""
        if beat == "away":
            self._alive_us = t_us
        elif beat is not None and t_us - beat > self._alive_us:  # a beat of the page before this one does not count
            self._alive_us, self._patience_us, self.felt = t_us - beat, SILENT_US, True
        return t_us - self._alive_us <= self._patience_us
