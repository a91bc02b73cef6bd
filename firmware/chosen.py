"""stub"""

from __future__ import annotations

from typing import Literal

import msgspec


class Chosen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was chosen at the board."""

    brightness_pct: int | None = None
    language: Literal["fr", "en"] | None = None
    marks: bool = False
    volume_pct: int = 100
