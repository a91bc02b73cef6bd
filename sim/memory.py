"""What a process holds in memory, as far as it can be told from inside."""

from __future__ import annotations

import gc
import os
import sys
from typing import NamedTuple

from sim.flashes import light


class Memory(NamedTuple):
    """What the process holds: blocks of Python's, and resident bytes."""

    blocks: int
    rss_bytes: int


def memory() -> Memory:
    """Blocks that Python holds, and bytes that are resident; nothing is left to collect.

    Blocks are exact: no allocator's spare room, no page of a library. Bytes know of what C holds too, as SQLite does,
    and come in pages, by whatever the allocator has not given back.
    """
    light.cache_clear()  # the watch's, not the board's
    gc.collect()
    with open("/proc/self/statm", "rb") as file:
        pages = int(file.read().split()[1])
    return Memory(sys.getallocatedblocks(), pages * os.sysconf("SC_PAGE_SIZE"))
