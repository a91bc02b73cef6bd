"""Whether a thread waits for a device, which is the device's fault, or hangs, which is ours."""

from __future__ import annotations

import threading
from pathlib import Path


def sleeps_for_a_device(thread: threading.Thread) -> bool:
    """Whether the kernel has put a thread to sleep for a device (state D), where no signal and no restart reaches it.

    So a disk that does not answer is a part that failed, and no reason to end a board that can play without it.
    """
    try:
        fields = Path(f"/proc/self/task/{thread.native_id}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return fields.rpartition(")")[2].split()[:1] == ["D"]
