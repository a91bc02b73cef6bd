"""How fast the rules are: random playouts with the full legal list, and perft, in CPU time."""

from __future__ import annotations

import random
from time import process_time

from firmware.games.morbak import apply, initial, legal, outcome, perft


def plies_per_second(seed: int, seconds: float) -> float:
    """Plies of random playouts a second of CPU time; each ply calls outcome, legal (the full list) and apply."""
    chance = random.Random(seed).random
    plies, start = 0, process_time()
    while (spent := process_time() - start) < seconds:
        state = initial()
        while outcome(state) is None:
            actions = legal(state)
            state = apply(state, actions[int(chance() * len(actions))])
            plies += 1
    return plies / spent


def perft_s(depth: int = 4) -> float:
    """CPU time of perft from the start in seconds."""
    start = process_time()
    perft(initial(), depth)
    return process_time() - start


if __name__ == "__main__":
    print(f"rules, playouts       {plies_per_second(1, 3.0):9,.0f} plies/s")
    print(f"rules, perft(4)       {perft_s():9.3f} s")
