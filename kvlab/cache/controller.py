"""How do pages travel between the device and the host?

The controller hands out target pages and submits copies; it owns no cache state. Both
ways copies are queued and go as one batch when their owner says so: a write at once or
at the end of the step, loads right before the prefill that needs them. At most three
batches of loads are under way.
Left out: which node deserves a copy (demotion.py, hiradix.py), and when a copy is done
(memory/transfer.py).
"""

from __future__ import annotations

from ..memory.allocator import PageAllocator
from ..memory.pool import KVPool
from ..memory.transfer import HandTransfer, Steps, Stream
from ..pages import Pages, join

MAX_LOAD_BATCHES = 3
"""Source: SGLang 0.5.14, managers/cache_controller.py, the layer-done counters."""

_Queued = tuple[int, Pages, Pages]
"""The node, the pages that are read, the pages that are written."""


class HiCacheController:
    """Moves KV between two pools over one link.

    Units: `bytes_per_token` scales copies for a link with a clock.
    Source: SGLang 0.5.14, managers/cache_controller.py, HiCacheController.
    """

    def __init__(
        self,
        device: PageAllocator,
        host: PageAllocator,
        device_pool: KVPool,
        host_pool: KVPool,
        link: HandTransfer,
        bytes_per_token: int = 0,
    ) -> None:
        self.device = device
        self.host = host
        self.link = link
        self._device_pool = device_pool
        self._host_pool = host_pool
        self.bytes_per_token = bytes_per_token
        self._batches: dict[int, list[int]] = {}
        self._last_batch = 0
        self._writes: list[_Queued] = []
        self._loads: list[_Queued] = []

    def write(self, node: int, pages: Pages) -> Pages | None:
        """Queue a copy of a node's device pages to the host; None if it has no room. No
        byte moves before `start_writing`.

        Changes: the host free list, the queue of writes.
        """
        target = self.host.alloc(len(pages))
        if target is not None:
            self._writes.append((node, pages, target))
        return target

    def start_writing(self) -> list[int]:
        """Submit the queued writes, if any, as one batch; return their nodes.

        Changes: the write stream.
        """
        if not self._writes:
            return []
        queued, self._writes = self._writes, []
        return self._submit("write", self._host_pool, self._device_pool, queued)

    def load(self, node: int, host_pages: Pages) -> Pages | None:
        """Queue a copy of host pages to the device; None if it has no room. No byte
        moves before `start_loading`.

        Changes: the device free list, the queue of loads.
        """
        target = self.device.alloc(len(host_pages))
        if target is not None:
            self._loads.append((node, host_pages, target))
        return target

    @property
    def has_queued(self) -> bool:
        """True when loads wait to be submitted."""
        return bool(self._loads)

    @property
    def batches_in_flight(self) -> int:
        """Load batches submitted and not done."""
        return self.link.pending("load")

    def start_loading(self) -> None:
        """Submit what is queued, at least one load, as one batch.

        Changes: the load stream.
        """
        queued, self._loads = self._loads, []
        self._submit("load", self._device_pool, self._host_pool, queued)

    def _submit(
        self, stream: Stream, to_pool: KVPool, from_pool: KVPool, queued: list[_Queued]
    ) -> list[int]:
        nodes = [node for node, _, _ in queued]
        self._last_batch += 1
        self._batches[self._last_batch] = nodes
        source = join([source for _, source, _ in queued])
        target = join([target for _, _, target in queued])
        move = Steps(to_pool.moves(from_pool, source, target))
        size = len(source) * self.device.page_size * self.bytes_per_token
        self.link.submit(stream, self._last_batch, size, move)
        return nodes

    def acked_writes(self) -> list[int]:
        """Return the nodes whose write was done since the last call, in order."""
        return self._acked("write")

    def acked_loads(self) -> list[int]:
        """Return the nodes whose load was done since the last call, in order."""
        return self._acked("load")

    def _acked(self, stream: Stream) -> list[int]:
        self.link.poll()
        done = self.link.collect(stream)
        return [node for batch in done for node in self._batches.pop(batch)]
