"""How do pages travel between the device and the host?

The controller hands out target pages and submits copies; it owns no cache state. A
write is submitted at once; loads are queued and go as one batch when the scheduler
says so, right before the prefill that needs them. At most three batches are under way.
Left out: which node deserves a copy (hiradix.py), and when a copy is done (transfer).
"""

from __future__ import annotations

from functools import partial

from ..memory.allocator import PageAllocator
from ..memory.pool import KVPool
from ..memory.transfer import HandTransfer
from ..pages import Pages, join

MAX_LOAD_BATCHES = 3
"""Source: SGLang 0.5.14, managers/cache_controller.py, the layer-done counters."""


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
        self._page_bytes = bytes_per_token * device.page_size
        self._queued: list[tuple[int, Pages, Pages]] = []
        self._batches: dict[int, list[int]] = {}
        self._last_batch = 0

    def write(self, node: int, pages: Pages) -> Pages | None:
        """Begin to copy device pages of a node to the host; None if it has no room.

        Changes: the host free list, the write stream.
        """
        target = self.host.alloc(len(pages))
        if target is not None:
            move = partial(self._host_pool.copy_from, self._device_pool, pages, target)
            self.link.submit("write", node, len(pages) * self._page_bytes, move)
        return target

    def load(self, node: int, host_pages: Pages) -> Pages | None:
        """Queue a copy of host pages to the device; None if it has no room. No byte
        moves before `start_loading`.

        Changes: the device free list, the queue of loads.
        """
        target = self.device.alloc(len(host_pages))
        if target is not None:
            self._queued.append((node, host_pages, target))
        return target

    @property
    def has_queued(self) -> bool:
        """True when loads wait to be submitted."""
        return bool(self._queued)

    @property
    def batches_in_flight(self) -> int:
        """Load batches submitted and not done."""
        return self.link.pending("load")

    def start_loading(self) -> None:
        """Submit what is queued, at least one load, as one batch.

        Changes: the load stream.
        """
        self._last_batch += 1
        nodes, sources, targets = zip(*self._queued, strict=True)
        self._batches[self._last_batch] = list(nodes)
        source, target = join(sources), join(targets)
        self._queued = []
        move = partial(self._device_pool.copy_from, self._host_pool, source, target)
        self.link.submit("load", self._last_batch, len(source) * self._page_bytes, move)

    def acked_writes(self) -> list[int]:
        """Return the nodes whose write was done since the last call, in order."""
        self.link.poll()
        return self.link.collect("write")

    def acked_loads(self) -> list[int]:
        """Return the nodes whose load was done since the last call, in order."""
        self.link.poll()
        done = self.link.collect("load")
        return [node for batch in done for node in self._batches.pop(batch)]
