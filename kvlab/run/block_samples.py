"""What would a scrape of a vLLM engine read, every so many seconds?

The same `Sample` as SGLang's, so that both can stand in one figure: `used` are blocks
with an owner, `evictable` free ones with a hash, `available` free ones without.
"""

from __future__ import annotations

from typing import Protocol

from ..block_config import BlockConfig
from ..blocks.kv_cache_manager import KVCacheManager
from ..blocks.offload import CpuOffload
from ..schedule.block_lives import BlockLives
from .samples import Sample, Samples
from .tallies import Tallies


class Sampled(Protocol):
    """What is sampled: an engine with its pools, queues and sums."""

    config: BlockConfig
    manager: KVCacheManager
    offload: CpuOffload | None
    tallies: Tallies

    @property
    def scheduler(self) -> BlockLives:
        """The queues."""


class BlockSampler(Samples):
    """Takes samples of a vLLM engine.

    Units: tokens; `ratio`, which vLLM does not have, is 0. Cost: O(free blocks) a look.
    """

    def look(self, now: int, engine: Sampled) -> None:
        """Note the state, once for every moment passed. Changes: the samples."""
        size, pool = engine.config.block_size, engine.manager.pool
        evictable, free = pool.num_evictable, pool.num_free
        total = pool.num_blocks - 1
        l2 = engine.offload.l2 if engine.offload else None
        scheduler = engine.scheduler
        sample = Sample(
            now, len(scheduler.running),
            len(scheduler.waiting) + len(scheduler.deferred),
            (free - evictable) * size, evictable * size, (total - free) * size,
            total * size, l2.num_findable * size if l2 else 0,
            (l2.num_blocks - 1) * size if l2 else 0,
            engine.tallies.retractions, 0.0,
        )  # fmt: skip
        self.note(now, sample)
