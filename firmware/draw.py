"""A position drawn in characters, for a terminal."""

from __future__ import annotations

from firmware.games import morbak
from firmware.record import Record, describe, record_rules

# Capital letters are blocked cells, x and y permuted ones, as in the position text.
LEGEND = "a b lit, A B blocked, x y permuted (now a's, b's), * neutralised"


def board(position: str) -> str:
    """Seven rows with their numbers, row 7 on top, and the columns below; raises UnreadableText for no position."""
    rows = morbak.format_position(morbak.parse_position(position)).split(" ")[0].split("/")
    lines = [f"{7 - index} {' '.join(row)}" for index, row in enumerate(rows)]
    return "\n".join([*lines, "  a b c d e f g"])


def game(record: Record) -> str:
    """A whole game: what became of it, its moves two a line, and the final board."""
    moves = [f"{index + 1:3}. {' '.join(record.moves[index : index + 2])}" for index in range(0, len(record.moves), 2)]
    rules = record_rules(record)
    head = f"{describe(record)}; {record.starter} began; pool {rules.pool}, neutralisations {rules.neutralisations}"
    return "\n".join([head, *moves, "", board(record.final), LEGEND])
