"""The GPIO chips and who has which line, in the words of `gpiodetect` and `gpioinfo`, through the library gpiod."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

from hal.drivers import gpio_chips
from hal.errors import PartError


def version() -> str:
    """The generation of the installed gpiod: "2", the older "1", or "" for none that can be imported."""
    if importlib.util.find_spec("gpiod") is None:
        return ""
    try:
        import gpiod
    except (ImportError, OSError):
        return ""
    return "2" if hasattr(gpiod, "request_lines") else "1"


def listing() -> tuple[str, str]:
    """What `gpiodetect` and `gpioinfo` would print; ("", "") where gpiod 2 is not installed or there is no chip."""
    if version() != "2":
        return "", ""
    try:
        paths = gpio_chips.devices()
    except PartError:
        return "", ""
    detected, lines = [], []
    for path in paths:
        try:
            head, *rest = _chip(path)
        except OSError:  # not ours to open: the doctor says so from its permissions
            continue
        detected.append(head)
        lines += rest
    return "\n".join(detected), "\n".join(lines)


def _chip(path: str) -> Iterator[str]:
    """The line of `gpiodetect`, then those of `gpioinfo`. Raises OSError."""
    import gpiod

    with gpiod.Chip(path) as chip:
        info = chip.get_info()
        name = Path(path).name
        yield f"{name} [{info.label}] ({info.num_lines} lines)"
        yield f"{name} - {info.num_lines} lines:"
        for offset in range(info.num_lines):
            line = chip.get_line_info(offset)
            consumer = f' consumer="{line.consumer or "kernel"}"' if line.used else ""
            yield f'\tline {offset}:\t"{line.name or "unnamed"}"\t{line.direction.name.lower()}{consumer}'
