"""Which version of the firmware this is."""

from __future__ import annotations

from importlib import metadata


def version() -> str:
    """The version that is installed; "unknown" where the program runs without having been installed."""
    try:
        return metadata.version("morbak-board")
    except metadata.PackageNotFoundError:
        return "unknown"
