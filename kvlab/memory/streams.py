"""How do copies run beside the computation on a real device?

On two streams of the device, one for each direction. A copy is queued the moment it is
submitted, behind what was computed up to then, and moves while the next forward pass
computes. An event after every step says how far it is: the pass waits for the event of
a layer right before it reads that layer; a copy is done when its last event is.

        load     | layer 0 | layer 1 | layer 2 | prints |
        compute            | layer 0 | layer 1 | layer 2 |
                           ^ waits for the event of layer 0, not for the others

Here the bytes move when the device comes to it, so whoever forgets a lock may be lucky.
On a CPU torch's streams are empty shells: a copy is over when it is submitted.
Left out: link speeds, which the device has and tells nobody.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import torch

from ..errors import ConfigError
from .transfer import Copy, HandTransfer, Move, Steps, Stream


class StreamTransfer(HandTransfer):
    """Copies that a device makes on its own streams.

    `module` is torch's module of the device (torch.cuda), or what behaves like it.
    Raises: ConfigError for a device that is not the current one of its kind.
    Source: SGLang 0.5.14, managers/cache_controller.py, write_stream, load_stream and
    the layer-done counter.

    >>> link, moved = StreamTransfer("cpu"), []
    >>> link.submit("load", 7, 0, lambda: moved.append(7))
    >>> link.poll(); link.collect("load"), moved
    ([7], [7])
    """

    def __init__(self, device: str = "cuda", module: Any = None) -> None:
        super().__init__(eager=True)
        self._module = module or torch.get_device_module(device)
        index = torch.device(device).index
        if index is not None and index != self._module.current_device():
            raise ConfigError(
                f"copies run on the current device, which {device} is not; call "
                f"torch.cuda.set_device({index}) first"
            )
        self._streams = {
            "write": self._module.Stream(),
            "load": self._module.Stream(),
        }
        self._events: dict[Stream, deque[list[Any]]] = {
            "write": deque(),
            "load": deque(),
        }

    def submit(self, stream: Stream, tag: int, num_bytes: int, move: Move) -> None:
        """Queue a copy on the device, an event behind each step. Changes: the stream;
        the bytes move from now on."""
        here = self._streams[stream]
        here.wait_stream(self._module.current_stream())
        steps = move.steps if isinstance(move, Steps) else [move]
        events = []
        with self._module.stream(here):
            for step in steps:
                step()
                events.append(self._module.Event())
                events[-1].record(here)
        self._events[stream].append(events)
        self._queues[stream].append(Copy(tag, num_bytes, move))

    def complete(self, stream: Stream, count: int | None = None) -> int:
        """Wait until the first `count` copies, or all, are done. Returns how many."""
        waiting = self._events[stream]
        done = super().complete(stream, count)
        for _ in range(done):
            for event in waiting.popleft()[-1:]:
                event.synchronize()
        return done

    def poll(self) -> None:
        """Notice what is done; wait for nothing."""
        streams: tuple[Stream, ...] = ("write", "load")
        for stream in streams:
            waiting = self._events[stream]
            while waiting and all(event.query() for event in waiting[0][-1:]):
                self.complete(stream, 1)

    def wait_layer(self, layer: int) -> None:
        """Let the computation queued from here on wait for the layer's event of the
        last load; the loads before it came earlier on the same stream.

        Changes: the current stream; the caller waits for nothing.
        """
        loads = [events for events in self._events["load"] if events]
        if loads:
            event = loads[-1][min(layer, len(loads[-1]) - 1)]
            self._module.current_stream().wait_event(event)
