"""How long are copies under way, and who waits for them?

Each direction of the link moves one copy after the other at its rate. A write is in the
background: nobody waits, but its pages stay locked until it is done. An engine that
*completes* a copy early (write_back, which frees what it writes) waits for it: the link
says until when, and the engine's clock goes there.
Left out: latency of a copy, small beside its bytes.
"""

from __future__ import annotations

from collections.abc import Callable

from ..memory.transfer import HandTransfer, Stream
from .cost import FS

NEVER = 1 << 100
"""Later than any clock."""


class ClockedLink(HandTransfer):
    """Two streams on the engine's clock.

    `next_done` is when the next copy is done; NEVER, if none is under way.
    Units: these, `now` and `waited_until` are femtoseconds; `rate` bytes a second, each
    direction.

    >>> link = ClockedLink(rate=2.0)
    >>> link.submit("write", 7, 4, lambda: None)
    >>> link.next_done // FS, link.collect("write")
    (2, [])
    >>> link.now = 2 * FS
    >>> link.poll(); link.collect("write")
    [7]
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.now = 0
        self.waited_until = 0
        self.next_done = NEVER
        self._rate = rate
        self._busy: dict[Stream, int] = {"write": 0, "load": 0}

    @property
    def has_news(self) -> bool:
        """Is a copy done that its owner has not heard of?"""
        return self.next_done <= self.now or any(self._done.values())

    def busy_until(self, stream: Stream) -> int:
        """When the last copy of the stream is done; the past, if it is."""
        return self._busy[stream]

    def submit(
        self, stream: Stream, tag: int, num_bytes: int, move: Callable[[], None]
    ) -> None:
        """Queue a copy behind those of its stream. Changes: the stream."""
        begin = max(self.now, self.waited_until, self._busy[stream])
        self._busy[stream] = begin + round(num_bytes * FS / self._rate)
        self.next_done = min(self.next_done, self._busy[stream])
        super().submit(stream, tag, num_bytes, move)

    def complete(self, stream: Stream, count: int | None = None) -> int:
        """Wait for the first `count` copies, or all. Changes: `waited_until`."""
        queue = list(self._queues[stream])[:count]
        if queue:
            self.waited_until = max(self.waited_until, queue[-1].due)
        return self._finish(stream, count)

    def poll(self) -> None:
        """Notice what is done by now."""
        now = max(self.now, self.waited_until)
        if self.next_done > now:
            return
        for stream, queue in self._queues.items():
            due = 0
            for copy in queue:
                if copy.due > now:
                    break
                due += 1
            if due:
                self._finish(stream, due)

    def _finish(self, stream: Stream, count: int | None) -> int:
        done = super().complete(stream, count)
        heads = [queue[0].due for queue in self._queues.values() if queue]
        self.next_done = min(heads, default=NEVER)
        return done

    def _due(self, stream: Stream) -> int:
        return self._busy[stream]
