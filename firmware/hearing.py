"""What has been heard and waits for its turn: edges and ghosts in the order of their own times."""

from __future__ import annotations

from bisect import insort
from typing import NamedTuple

from hal.ports import Edge

# At the same time a lifted finger comes first: a touch that ends now beats one that begins now.
RELEASE, PRESS, GHOSTS = range(3)


class Heard(NamedTuple):
    """An edge (`what` a cell) or a change of the ambiguous cells (`what` their mask)."""

    t_us: int
    order: int
    what: int


class Hearing:
    """A queue that is always in order, whenever something is put in."""

    def __init__(self) -> None:
        self._waiting: list[Heard] = []

    @property
    def due_us(self) -> int | None:
        """The time of what comes next; None while nothing waits."""
        return self._waiting[0].t_us if self._waiting else None

    def edge(self, edge: Edge) -> None:
        """A finger came down or was lifted."""
        insort(self._waiting, Heard(edge.t_us, PRESS if edge.down else RELEASE, edge.cell))

    def ghosts(self, mask: int, t_us: int) -> None:
        """Other cells than before cannot be told apart."""
        insort(self._waiting, Heard(t_us, GHOSTS, mask))

    def pop(self) -> Heard:
        """What comes next. Raises IndexError while nothing waits."""
        return self._waiting.pop(0)
