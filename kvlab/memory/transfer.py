"""When does a copy between the tiers count as done, and when do the bytes move?

Two streams: "write" takes L1 to L2, "load" takes L2 to L1. Copies of a stream are done
in the order of their submission. Who says that a copy is done is the one thing that
differs: `HandTransfer` waits for a hand, `InstantTransfer` says it at the next poll.

The bytes move when the copy is done, so that whoever forgets the lock that protects a
copy in flight reads wrong bytes. Recorded runs moved them at submission; `eager` does.
A forward pass that reads what a load brings waits for it, layer by layer: `wait_layer`.
Left out: CUDA streams (streams.py) and a link that knows its bandwidth
(run/clocked_link.py), which keep this interface.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

Stream = Literal["write", "load"]


Move = Callable[[], None]


class Steps(Struct, frozen=True):
    """A move in steps, the first layer first; called, it makes all of them."""

    steps: list[Move]

    def __call__(self) -> None:
        for step in self.steps:
            step()


class Copy(Struct, frozen=True):
    """One submitted copy: `tag` names it to its owner, `move` moves its bytes; `due` is
    when it is done, by the clock of a link that has one."""

    tag: int
    num_bytes: int
    move: Move
    due: int = 0


class HandTransfer:
    """Copies are done when `complete` is called.

    >>> moved = []
    >>> link = HandTransfer()
    >>> link.submit("write", 7, 0, lambda: moved.append(7))
    >>> moved, link.collect("write")
    ([], [])
    >>> link.complete("write"), moved, link.collect("write")
    (1, [7], [7])
    """

    def __init__(self, eager: bool = False) -> None:
        self._eager = eager
        self._queues: dict[Stream, deque[Copy]] = {"write": deque(), "load": deque()}
        self._done: dict[Stream, list[int]] = {"write": [], "load": []}

    def submit(self, stream: Stream, tag: int, num_bytes: int, move: Move) -> None:
        """Queue a copy of `num_bytes`. Changes: the stream; with `eager` the bytes."""
        if self._eager:
            move()
        self._queues[stream].append(Copy(tag, num_bytes, move, self._due(stream)))

    def pending(self, stream: Stream) -> int:
        """Return how many copies of the stream are not done."""
        return len(self._queues[stream])

    def complete(self, stream: Stream, count: int | None = None) -> int:
        """Finish the first `count` copies, or all. Returns how many were finished."""
        queue = self._queues[stream]
        count = len(queue) if count is None else min(count, len(queue))
        for _ in range(count):
            copy = queue.popleft()
            if not self._eager:
                copy.move()
            self._done[stream].append(copy.tag)
        return count

    def poll(self) -> None:
        """Notice by itself what is done; a hand never does."""

    def wait_layer(self, layer: int) -> None:
        """Let the forward pass that follows find layer `layer` of every load submitted.

        Changes: here the loads are finished, all layers of them.
        """
        self.complete("load")

    def collect(self, stream: Stream) -> list[int]:
        """Return the tags of copies done since the last call, oldest first."""
        done, self._done[stream] = self._done[stream], []
        return done

    def _due(self, stream: Stream) -> int:
        return 0


class InstantTransfer(HandTransfer):
    """Every copy is done at the next poll."""

    def poll(self) -> None:
        self.complete("write")
        self.complete("load")
