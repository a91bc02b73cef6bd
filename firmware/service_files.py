"""The service's files: where each belongs in the system, and what stands in it on this machine. Pure.

They lie in `systemd/` of the tree, and in the wheel, as they are installed; only the folder of the program is put in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# Folder of `systemd/` -> folder of the system.
PLACES: Final = {
    "system": "etc/systemd/system",
    "system.conf.d": "etc/systemd/system.conf.d",
    "journald.conf.d": "etc/systemd/journald.conf.d",
    "sysusers.d": "etc/sysusers.d",
    "tmpfiles.d": "etc/tmpfiles.d",
    "rules.d": "etc/udev/rules.d",
}
# What stands in the files for the folder of the program.
PREFIX: Final = "/opt/morbak"
BOARD_UNIT, KIOSK_UNIT, LEDS_UNIT = "morbak-board.service", "morbak-kiosk.service", "morbak-leds.socket"
ENVIRONMENT: Final = "etc/morbak-board/environment"
PROFILE: Final = "etc/morbak-board/board.toml"
_HEAD: Final = "# What the board is started with; `sudo morbak install` writes it, and keeps what it is not told.\n"


def placed(shipped: Mapping[str, str], prefix: str, *, kiosk: bool) -> dict[str, str]:
    """Path below the root of the system -> text, for each of the `shipped` files (`folder/name` -> text)."""
    files = {}
    for name, text in shipped.items():
        folder, _, file = name.partition("/")
        if file != KIOSK_UNIT or kiosk:
            files[f"{PLACES[folder]}/{file}"] = text.replace(f"{PREFIX}/", f"{prefix.rstrip('/')}/")
    return files


def settings(text: str) -> dict[str, str]:
    """What an environment file sets; what is no assignment is passed over."""
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line and not line.lstrip().startswith("#"))
    return {name.strip(): value.strip() for name, _, value in pairs}


def environment(before: Mapping[str, str], given: Mapping[str, str | None]) -> str:
    """The text of the environment file: what was `given`, and what stood in it `before` for the rest."""
    values = {**before, **{name: value for name, value in given.items() if value is not None}}
    return _HEAD + "".join(f"{name}={value}\n" for name, value in sorted(values.items()))
