"""A device on which a copy is made as late as it can be: for tests of streams.

Whoever reads what no event was waited for reads old bytes. The names are those of
torch's module of a device.
"""

from __future__ import annotations

from collections import deque
from functools import partial

from current_stream import CurrentStream

from kvlab.memory.streams import StreamTransfer
from kvlab.memory.transfer import Steps


class LazyStream:
    """A queue of work; `run_to` does what was queued before an event, and the event."""

    def __init__(self) -> None:
        self.queue = deque()

    def wait_stream(self, other) -> None:
        """What was computed is there: computing is not lazy."""

    def wait_event(self, event) -> None:
        event.stream.run_to(event)

    def run_to(self, event) -> None:
        while not event.done:
            self.queue.popleft()()


class LazyEvent:
    def __init__(self) -> None:
        self.done, self.asked = False, 0

    def record(self, stream) -> None:
        self.stream = stream
        stream.queue.append(self._reached)

    def _reached(self) -> None:
        self.done = True

    def query(self) -> bool:
        """Not done at the first questions; then the device comes to it."""
        self.asked += 1
        if self.asked > 2:
            self.stream.run_to(self)
        return self.done

    def synchronize(self) -> None:
        self.stream.run_to(self)


class LazyDevice(CurrentStream):
    def __init__(self) -> None:
        self._current = LazyStream()
        self.Stream, self.Event = LazyStream, LazyEvent

    def enqueue(self, step) -> None:
        """Do the step when the current stream comes to it."""
        self._current.queue.append(step)


class LazyTransfer(StreamTransfer):
    """Streams of a lazy device. With `waits` False no pass waits for a layer."""

    def __init__(self, waits: bool = True) -> None:
        self._device = LazyDevice()
        super().__init__(module=self._device)
        self._waits = waits

    def submit(self, stream, tag, num_bytes, move) -> None:
        steps = move.steps if isinstance(move, Steps) else [move]
        late = Steps([partial(self._device.enqueue, step) for step in steps])
        super().submit(stream, tag, num_bytes, late)

    def wait_layer(self, layer) -> None:
        if self._waits:
            super().wait_layer(layer)
