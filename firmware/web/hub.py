"""Who watches: state to every socket in order, of frames the latest only, nobody slow may hold up the others."""

from __future__ import annotations

import asyncio
from collections import deque

from starlette.websockets import WebSocket

# A socket that is this many messages behind is dropped, not buffered.
BACKLOG = 64
# A watcher needs no more than the screen can show: one frame a gap on average, so that a wake-up a little late costs no
# frame, as a pause of this length after each one would.
FRAME_GAP_S = 1 / 60


class Watcher:
    """One socket: its texts in order, and the newest frame only."""

    def __init__(self, socket: WebSocket) -> None:
        self.socket = socket
        self._texts: deque[str] = deque()
        self._frame: bytes | None = None
        self._woken = asyncio.Event()
        self._next_s = 0.0
        self.slow = False

    def tell(self, text: str) -> None:
        """Queue a text; a watcher too far behind is marked slow and will be closed."""
        self._texts.append(text)
        self.slow = self.slow or len(self._texts) > BACKLOG
        self._woken.set()

    def show(self, frame: bytes) -> None:
        """Replace the frame that waits."""
        self._frame = frame
        self._woken.set()

    async def pump(self) -> None:
        """Send what there is, until the socket closes or is too slow."""
        while not self.slow:
            await self._woken.wait()
            self._woken.clear()
            while self._texts and not self.slow:
                await self.socket.send_text(self._texts.popleft())
            if self._frame is not None:
                frame, self._frame = self._frame, None
                await self.socket.send_bytes(frame)
                await self._pause()

    async def _pause(self) -> None:
        """Wait until the next frame may go; what was missed for more than a gap is not made up for."""
        now_s = asyncio.get_running_loop().time()
        self._next_s = max(self._next_s, now_s - FRAME_GAP_S) + FRAME_GAP_S
        await asyncio.sleep(max(0.0, self._next_s - now_s))


class Hub:
    """Every watcher."""

    def __init__(self) -> None:
        self.watchers: set[Watcher] = set()

    def tell(self, text: str) -> None:
        """A text to all."""
        for watcher in self.watchers:
            watcher.tell(text)
