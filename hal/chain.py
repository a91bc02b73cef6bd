"""The LED chain of a profile: which place of the wiring each of its LEDs lies under. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hal.profile import BoardSection, LedsSection
    from hal.tables import Source


def places(source: Source, board: BoardSection, leds: LedsSection) -> tuple[int, ...]:
    """The place at each position of the chain, every place exactly once. Raises ProfileError naming the key."""
    (rows, columns), order = board.wired, leds.order
    if order == "row-major":
        return tuple(range(rows * columns))
    if order == "serpentine":
        return tuple(
            row * columns + (columns - 1 - at if row % 2 else at) for row in range(rows) for at in range(columns)
        )
    if isinstance(order, str):
        raise source.refuse("leds.order", order, "row-major, serpentine, a list of cells or a table is wanted")
    pairs = order.items() if isinstance(order, dict) else zip(order, range(len(order)), strict=True)
    return _placed(source, board, [(_place(source, board, cell), led) for cell, led in pairs])


def _place(source: Source, board: BoardSection, cell: int | str) -> int:
    """The number of a place given by name or number."""
    names = [_name(board, at) for at in range(board.rows * board.columns)]
    number = names.index(cell) if cell in names else cell
    if not isinstance(number, int) or not 0 <= number < len(names):
        raise source.refuse("leds.order", cell, f"no such cell; there are {names[0]} to {names[-1]}")
    return number


def _name(board: BoardSection, cell: int) -> str:
    row, column = divmod(cell, board.wired[1])
    return f"{chr(ord('a') + column)}{row + 1}"


def _placed(source: Source, board: BoardSection, pairs: list[tuple[int, int]]) -> tuple[int, ...]:
    """The chain that (cell, LED) pairs make, each cell and each LED exactly once."""
    led_of: dict[int, int] = {}
    cell_at: dict[int, int] = {}
    for cell, led in pairs:
        name = _name(board, cell)
        if cell in led_of:
            raise source.refuse("leds.order", name, f"two LEDs, {led_of[cell]} and {led}, for one cell")
        if led in cell_at:
            raise source.refuse("leds.order", led, f"two cells, {_name(board, cell_at[led])} and {name}, on one LED")
        led_of[cell], cell_at[led] = led, cell
    count = board.rows * board.columns
    missing = [_name(board, cell) for cell in range(count) if cell not in led_of]
    if missing:
        raise source.refuse("leds.order", None, f"no LED for {', '.join(missing)}")
    if sorted(cell_at) != list(range(count)):
        raise source.refuse("leds.order", max(cell_at), f"LEDs are numbered from 0 to {count - 1} without a gap")
    return tuple(cell_at[led] for led in range(count))
