"""Who has tried wrong tokens: after a few he has to wait, whatever he sends next. In bounded memory. Pure."""

from __future__ import annotations

from collections import OrderedDict

# A token has 128 bits and cannot be guessed anyway: this keeps guessing from costing the board anything.
TRIES = 10
WITHIN_S = 60.0
KEPT = 256


class Attempts:
    """Wrong tries by address, the last `KEPT` addresses."""

    def __init__(self) -> None:
        self._tries: OrderedDict[str, list[float]] = OrderedDict()

    def wait_s(self, host: str, now_s: float) -> float:
        """How long an address has to wait; 0 = it may try."""
        tries = [at_s for at_s in self._tries.get(host, ()) if at_s > now_s - WITHIN_S]
        return 0.0 if len(tries) < TRIES else tries[0] + WITHIN_S - now_s

    def failed(self, host: str, now_s: float) -> None:
        """An address has tried a wrong token."""
        self._tries[host] = [*self._tries.pop(host, ()), now_s][-TRIES:]
        while len(self._tries) > KEPT:
            self._tries.popitem(last=False)

    def passed(self, host: str) -> None:
        """An address has the token."""
        self._tries.pop(host, None)
