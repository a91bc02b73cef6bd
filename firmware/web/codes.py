"""QR codes: what a phone may take along without a network, as text in a picture. Pure."""

from __future__ import annotations

import io

import msgspec
import segno

from firmware.record import Record

# The page draws codes on a pale plate of its own; most phones read nothing else.
QUIET_MODULES = 2
# What a reader of records cannot work out again from the rest, in the order of a record.
_KEPT = ("v", "rules", "starter", "moves", "result", "reason", "timeouts", "date", "seq")


def svg(text: str) -> str:
    """A code that reads as `text`, as an SVG document of no size. Raises ValueError beyond 2953 bytes."""
    code = segno.make_qr(text, error="l")
    out = io.BytesIO()
    code.save(out, kind="svg", border=QUIET_MODULES, omitsize=True, xmldecl=False, svgclass=None, lineclass=None)
    return out.getvalue().decode()


def short_record(record: Record) -> str:
    """A record without what its moves say anyway, small enough for a code; `morbak replay` adds the rest."""
    whole = msgspec.to_builtins(record)
    kept = {key: whole[key] for key in _KEPT if whole.get(key)}
    if whole["reason"] in ("line", "stalemate"):
        del kept["result"], kept["reason"]
    return msgspec.json.encode(kept).decode()
