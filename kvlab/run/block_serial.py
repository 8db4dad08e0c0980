"""What would vLLM's blocks have saved, had the requests come one by one?

Each request of a trace is looked up, given its blocks and finished before the next
begins. Nothing waits, so the figures show the block pool alone, and equal those of the
real engine driven the same way. Left out: time, queues, outputs, L2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..block_config import BlockConfig
from ..blocks.block_pool import BlockPool
from ..blocks.hashing import Hasher
from ..blocks.kv_cache_manager import Demand, KVCacheManager
from ..errors import OutOfPool
from ..record import block_events as ev
from ..record.events import Arrive, Finish, Step, Tokens
from ..record.request_trace import TracedRequest, check_prompts, prompts_of
from ..record.trace import QUIET, BlockHeader, BlockTrace, Emitter
from .stopwatch import Stopwatch

Figures = dict[str, Any]


@dataclass
class BlockSums:
    """Sums over the requests served. Units: tokens, but for `allocated_blocks`."""

    requests: int = 0
    input_tokens: int = 0
    device_hit_tokens: int = 0
    computed_tokens: int = 0
    allocated_blocks: int = 0


class BlockSerialReplay:
    """One block manager that serves whole requests, one after the other.

    With `unit` the whole list may match, as if one more token stood behind it;
    otherwise all but the last token. Names are chain64 unless the config says more.

    >>> config = BlockConfig(num_gpu_blocks=9, block_size=4, hash_algo="chain64")
    >>> replay = BlockSerialReplay(config)
    >>> replay.serve(np.arange(10)); replay.serve(np.arange(12))
    >>> replay.sums.device_hit_tokens, replay.sums.computed_tokens
    (8, 14)
    """

    def __init__(
        self, config: BlockConfig, emit: Emitter = QUIET, *, unit: bool = False
    ) -> None:
        self.manager = KVCacheManager(config, emit)
        self.hasher = Hasher(config.hash_algo, config.block_size)
        self.sums = BlockSums()
        self.lines = sha256()
        self._first_token = np.full(config.num_gpu_blocks, -1)
        self._unit = unit
        self._emit = emit

    def serve_all(self, prompts: Iterable[Tokens]) -> BlockSums:
        """Serve the prompts in order; return the sums so far. Changes: the pool."""
        for tokens in prompts:
            self.serve(tokens)
        return self.sums

    def serve(self, tokens: Tokens) -> None:
        """Serve one prompt from lookup to release. Changes: the pool, the sums.

        Raises: OutOfPool if the prompt is larger than the pool.
        """
        id = f"r{self.sums.requests}"
        with self._emit.of(Step, self.sums.requests, "request", id):
            self._emit(Arrive, id, len(tokens), 0, 0)
            hits, new = self._place(id, tokens)
            self.manager.free(id)
            self._emit(Finish, id)
        self._count(len(tokens), hits, new)

    def queue_digest(self) -> str:
        """Return the `queue_digest` of the pool."""
        return queue_digest(self.manager.pool, self._first_token)

    def _place(self, id: str, tokens: Tokens) -> tuple[int, int]:
        """Give the prompt its blocks; return how many were found and how many taken."""
        manager, length = self.manager, len(tokens)
        names = self.hasher.extend([], tokens)
        hits = manager.lookup(names, length + self._unit)
        found = len(hits) * manager.block_size
        self._emit(ev.Lookup, id, length, found, None)
        demand = Demand(
            id, length, 0, length - found, names, hits, whole_must_fit=not self._unit
        )
        new = manager.allocate_slots(demand)
        if new is None:
            usable = manager.config.usable_tokens
            raise OutOfPool(
                f"request {self.sums.requests} has {length} tokens, the pool {usable}; "
                "use a larger pool"
            )
        self._emit(ev.Run, id)
        self._emit(ev.Compute, id, length)
        starts = tokens[found :: manager.block_size]
        self._first_token[new] = starts
        return len(hits), len(new)

    def _count(self, length: int, hits: int, new: int) -> None:
        sums, found = self.sums, hits * self.manager.block_size
        self.lines.update(b"%d %d %d\n" % (sums.requests, found, new))
        sums.requests += 1
        sums.input_tokens += length
        sums.device_hit_tokens += found
        sums.computed_tokens += length - found
        sums.allocated_blocks += new


def replay_blocks(
    requests: Sequence[TracedRequest],
    config: BlockConfig,
    *,
    unit: bool = False,
    record: bool = False,
    name: str = "",
    seed: int = 0,
    progress: Callable[[int], object] = lambda _: None,
) -> tuple[Figures, BlockTrace | None]:
    """Serve the requests in order; return the figures and, with `record`, the trace.

    `unit` makes each hash id one token; `progress` is told how many more were served.
    The clock runs while the engine works, and stands while token arrays are made.
    Raises: OutOfPool, before the first is served, if a prompt is larger than the pool.
    """
    check_prompts(requests, config.usable_tokens, config.block_size, unit=unit)
    trace = None
    if record:
        trace = BlockTrace(BlockHeader(name=name, config=config, seed=seed))
    replay = BlockSerialReplay(config, QUIET if trace is None else trace, unit=unit)
    watch = Stopwatch()
    for batch in watch.batches(prompts_of(requests, unit=unit)):
        replay.serve_all(batch)
        progress(len(batch))
    watch.pause()
    figures = _figures(replay, 0 if trace is None else len(trace))
    return figures | watch.speed(len(requests)), trace


def queue_digest(pool: BlockPool, first_token: NDArray[np.int64]) -> str:
    """Return the SHA-256 of the free queue, head to tail: a line for each block, the
    first token of its content, or -1 if it cannot be found."""
    named = (
        int(first_token[b]) if pool.block_hash[b] is not None else -1
        for b in pool.free_queue()
    )
    return sha256("".join(f"{token}\n" for token in named).encode()).hexdigest()


def _figures(replay: BlockSerialReplay, events: int) -> Figures:
    """Return the sums under the names that both engines share."""
    sums, pool = replay.sums, replay.manager.pool
    evicted = pool.num_evicted * replay.manager.block_size
    hit = sums.device_hit_tokens
    return {
        "requests": sums.requests,
        "input_tokens": sums.input_tokens,
        "output_tokens": 0,
        "device_hit_tokens": hit,
        "host_hit_tokens": 0,
        "loaded_back_tokens": 0,
        "computed_tokens": sums.computed_tokens,
        "hit_rate": hit / sums.input_tokens if sums.input_tokens else None,
        "evicted_tokens": evicted,
        "backed_up_tokens": 0,
        "host_evicted_tokens": 0,
        "lost_tokens": evicted,
        "allocated_blocks": sums.allocated_blocks,
        "evicted_blocks": pool.num_evicted,
        "retractions": 0,
        "preemptions": 0,
        "peak_running": min(1, sums.requests),
        "peak_waiting": min(1, sums.requests),
        "l2_peak_usage": 0.0,
        "ttft_s": None,
        "events": events,
        "queue_sha256": replay.queue_digest(),
        "requests_sha256": replay.lines.hexdigest(),
    }
