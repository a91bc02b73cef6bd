"""A slow second checker of the rules: rows of cells, no masks, straight from the text of the rules.

It knows nothing of the engine and is meant to be read beside the rules, sentence by sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

COLUMNS = "abcdefg"
ROWS = "1234567"
NAMES = [column + row for row in ROWS for column in COLUMNS]
OTHER = {"a": "b", "b": "a"}
PREFIXES = {"light": "", "permute": "x", "block": "#", "neutralise": "!"}

# What a cell is, as its character in the position text: (colour, mark).
CHARACTERS = {
    ".": (None, None),
    "a": ("a", None),
    "b": ("b", None),
    "A": ("a", "blocked"),
    "B": ("b", "blocked"),
    "x": ("a", "permuted"),
    "y": ("b", "permuted"),
    "*": (None, "neutralised"),
}
LOOKS = {look: character for character, look in CHARACTERS.items()}

# The rule that an action breaks on a cell, before any look at what is left to spend. The cell is as the side to move
# sees it. An empty text: allowed there.
KINDS = tuple(PREFIXES)
_WRONG = {
    #                   light          permute           block           neutralise
    "empty":           ("",            "empty",          "empty",        "empty"),
    "neutralised":     ("neutralised", "neutralised",    "neutralised",  "neutralised"),
    "own":             ("occupied",    "not_opponents",  "",             "not_opponents"),
    "own permuted":    ("occupied",    "not_opponents",  "own_permuted", "not_opponents"),
    "own blocked":     ("occupied",    "not_opponents",  "own_blocked",  "not_opponents"),
    "other":           ("occupied",    "",               "not_yours",    "not_special"),
    "other permuted":  ("occupied",    "other_permuted", "not_yours",    ""),
    "other blocked":   ("occupied",    "other_blocked",  "not_yours",    ""),
}  # fmt: skip
WRONG = {(seen, kind): code for seen, codes in _WRONG.items() for kind, code in zip(KINDS, codes, strict=True)}


def straight_fours() -> list[list[str]]:
    """Every four consecutive cells in a row, a column or a diagonal."""
    found = []
    for row in range(7):
        for column in range(7):
            for up, right in ((0, 1), (1, 0), (1, 1), (-1, 1)):
                places = [(row + up * step, column + right * step) for step in range(4)]
                if all(0 <= r < 7 and 0 <= c < 7 for r, c in places):
                    found.append([COLUMNS[c] + ROWS[r] for r, c in places])
    return found


LINES = straight_fours()


@dataclass
class Game:
    """A game under way; every change is made in place."""

    pool: dict[str, int]
    neutralisations: dict[str, int]
    may_block: bool = True
    mover: str = "a"
    colour: dict[str, str | None] = field(default_factory=lambda: dict.fromkeys(NAMES))
    mark: dict[str, str | None] = field(default_factory=lambda: dict.fromkeys(NAMES))

    @classmethod
    def from_text(cls, text: str, may_block: bool = True) -> Game:
        """The game that stands at a position."""
        board, mover, pools, neutralisations = text.split()
        game = cls(_pair(pools), _pair(neutralisations), may_block, mover)
        for row, cells in zip(reversed(ROWS), board.split("/"), strict=True):
            for column, character in zip(COLUMNS, cells, strict=True):
                game.colour[column + row], game.mark[column + row] = CHARACTERS[character]
        return game

    def text(self) -> str:
        """The position text."""
        rows = ["".join(LOOKS[self.colour[c + row], self.mark[c + row]] for c in COLUMNS) for row in reversed(ROWS)]
        return "{} {} {a}:{b} {c}:{d}".format(
            "/".join(rows), self.mover, **self.pool, c=self.neutralisations["a"], d=self.neutralisations["b"]
        )

    def line_of(self, side: str) -> list[str]:
        """Every cell of all completed lines of a side, sorted as text."""
        lit = {name for name in NAMES if self.colour[name] == side}
        return sorted({name for line in LINES if lit.issuperset(line) for name in line})

    def seen(self, name: str, side: str) -> str:
        """What a cell is to a side, in the words of the table above."""
        colour, mark = self.colour[name], self.mark[name]
        if colour is None:
            return mark or "empty"
        whose = "own" if colour == side else "other"
        return f"{whose} {mark}" if mark else whose

    def cell_refusal(self, kind: str, name: str, side: str) -> str:
        """Why a side may not do that on that cell, the end of the game apart; empty when it may."""
        wrong = WRONG[self.seen(name, side), kind]
        if wrong:
            return wrong
        if kind == "block" and not self.may_block:
            return "block_off"
        if kind in ("permute", "block") and self.pool[side] == 0:
            return "no_pool"
        if kind == "neutralise" and self.neutralisations[side] == 0:
            return "no_neutralisation"
        return ""

    def possible(self, side: str) -> Iterator[str]:
        """The texts of all that a side could do if it were to move and nobody had a line."""
        for name in NAMES:
            for kind in KINDS:
                if not self.cell_refusal(kind, name, side):
                    yield PREFIXES[kind] + name

    @cached_property
    def ending(self) -> tuple[str, str, list[str]] | None:
        """(result, reason, line), or None while the game goes on; with two lines whoever just moved has won."""
        for side in (OTHER[self.mover], self.mover):
            if line := self.line_of(side):
                return side, "line", line
        if not any(self.possible("a")) and not any(self.possible("b")):
            return "draw", "stalemate", []
        return None

    def legal(self) -> list[str]:
        """The texts of all legal actions, a forced pass included."""
        return [] if self.ending else list(self.possible(self.mover)) or ["--"]

    def refusal(self, text: str) -> str:
        """The code of the rule that an action breaks; empty when it is legal."""
        if self.ending:
            return "finished"
        if text == "--":
            return "must_move" if any(self.possible(self.mover)) else ""
        return self.cell_refusal(*split(text), self.mover)

    def touch(self, name: str) -> str:
        """What a touch of the mover on that cell means: the text of an action, or a reason code."""
        if self.ending:
            return "finished"
        seen = self.seen(name, self.mover)
        kind = next((kind for kind in KINDS if not WRONG[seen, kind]), "block")
        return self.cell_refusal(kind, name, self.mover) or PREFIXES[kind] + name

    def play(self, text: str) -> None:
        """Play an action that is legal, or lose the turn with `--`."""
        side = self.mover
        if text != "--":
            kind, name = split(text)
            if kind == "light":
                self.colour[name] = side
            elif kind == "permute":
                self.colour[name], self.mark[name] = side, "permuted"
                self.pool[side] -= 1
            elif kind == "block":
                self.mark[name] = "blocked"
                self.pool[side] -= 1
            else:
                self.colour[name], self.mark[name] = None, "neutralised"
                self.neutralisations[side] -= 1
        self.mover = OTHER[side]
        self.__dict__.pop("ending", None)


def split(text: str) -> tuple[str, str]:
    """(kind, cell name) of an action text."""
    kinds = {prefix: kind for kind, prefix in PREFIXES.items()}
    return kinds[text[:-2]], text[-2:]


def _pair(text: str) -> dict[str, int]:
    a, b = text.split(":")
    return {"a": int(a), "b": int(b)}
