"""How do vLLM's offloading connector and LMCache use the CPU? (Mostly unverified.)

There are no recorded states of these two: this is built from the rules alone. Only
what a lookup answers was compared with the real connector.

        modelled: chunks stored as soon as a step computes them, each once; by default
            of the prompt only; consecutive prefix lookups that wait for a pending
            chunk, or for one that another request loads; replacement lru or arc; a
            refused store that is tried again; a flush when a block whose copy is under
            way is used again
        not modelled: a job for each request (here one for each step, and a flush ends
            all), the last offer of a request that is over, copies that a preemption
            calls back, blocks read by several workers, disks and remote stores, chunks
            that straddle layers

Stored blocks get no owner: L1 does not look fuller than its requests make it.
The offloading connector has chunks of a block; `lmcache` makes chunks of 256 tokens,
outputs included.
Source: vLLM 0.33.0, distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py;
LMCache's documentation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from ..record import block_events as ev
from ..record.chunk_state import Key
from ..record.trace import QUIET, Emitter
from .block_pool import BlockPool
from .chunk_pool import Answer, ChunkPool
from .connector import Computed, Copies, Pairs
from .hashing import BlockHash, short_name

LMCACHE_CHUNK = 256
"""Tokens of LMCache's chunks, unless it is told otherwise."""


@dataclass
class ChunkJob:
    """One store: the chunks, and the L1 blocks that they are read from."""

    keys: list[Key] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)


class ChunkOffload:
    """A pool of chunks beside L1, unverified against the real connectors; by default as
    the one that `kv_offloading_size` selects.

    Units: `chunk_blocks` blocks make a chunk.
    """

    def __init__(
        self,
        l1: BlockPool,
        pool: ChunkPool,
        block_size: int,
        *,
        chunk_blocks: int = 1,
        prompt_only: bool = True,
        emit: Emitter = QUIET,
    ) -> None:
        self.l1 = l1
        self.pool = pool
        self.loads: dict[str, Pairs] = {}
        self.stores: dict[int, ChunkJob] = {}
        self._size = block_size
        self._chunk_blocks = chunk_blocks
        self._prompt_only = prompt_only
        self._matched: dict[str, list[Key]] = {}
        self._reading: dict[str, list[Key]] = {}
        self._offered: dict[str, int] = {}
        self._fenced: dict[int, set[int]] = {}
        self._new_loads: dict[str, Pairs] = {}
        self._number = 0
        self._emit = emit

    @classmethod
    def lmcache(
        cls, l1: BlockPool, pool: ChunkPool, block_size: int, emit: Emitter = QUIET
    ) -> ChunkOffload:
        """Return a connector in LMCache's manner."""
        blocks = max(LMCACHE_CHUNK // block_size, 1)
        return cls(
            l1, pool, block_size, chunk_blocks=blocks, prompt_only=False, emit=emit
        )

    # --- admission

    def matched(
        self, id: str, names: Sequence[BlockHash], length: int, local: int
    ) -> int | None:
        """Return the tokens beyond `local` that consecutive chunks hold; None if one
        of them is still being stored, or being read for another request.

        Less than a chunk beyond `local` is not worth a load. The whole prompt may be
        found: its last token is computed again. Changes nothing in the pool.
        """
        tokens = self._size * self._chunk_blocks
        first = local // tokens
        keys = self._keys(names, length // tokens)[first:]
        found: list[Key] = []
        for key, answer in zip(keys, self.pool.lookup(keys), strict=True):
            if answer is Answer.PENDING:
                return None
            if answer is Answer.MISS:
                break
            found.append(key)
        beyond = (first + len(found)) * tokens - local
        if beyond < tokens:
            found, beyond = [], 0
        if not set(found).isdisjoint(chain.from_iterable(self._reading.values())):
            return None
        self._matched[id] = found
        return beyond

    def started(self, id: str, blocks: Sequence[int], local: int) -> None:
        """The request was given `blocks`: begin to read what was matched."""
        self._offered[id] = 0
        found = self._matched.pop(id, [])
        if not found:
            return
        tokens = self._size * self._chunk_blocks
        first = local // tokens
        end = (first + len(found)) * self._chunk_blocks
        self.pool.load(id, _places(found, first))
        self._reading[id] = found
        self._offered[id] = first + len(found)
        pairs = Pairs(list(blocks[local // self._size : end]), [])
        self.loads[id] = self._new_loads[id] = pairs

    # --- the step

    def plan(self, scheduled: Iterable[Computed], *, flush: bool) -> Copies:
        """Return the copies that begin with this step.

        Changes: the pool; a store that it refuses is offered again in the next step.
        """
        job = ChunkJob()
        for request in scheduled:
            self._offer(request, job)
        again = any(
            self.l1.ref_cnt[b] for group in self._fenced.values() for b in group
        )
        copies = Copies(self._new_loads, flush=flush or again)
        self._new_loads = {}
        if job.keys:
            copies.job, copies.store = self._number, Pairs(job.blocks, [])
            self.stores[self._number] = job
            self._number += 1
        return copies

    def finished(self, request: Computed) -> None:
        """The request is done: fence its blocks that are still being copied."""
        self._offered.pop(request.id, None)
        self._matched.pop(request.id, None)
        self.pool.finish(request.id)
        for number, job in self.stores.items():
            mine = set(job.blocks) & set(request.blocks)
            self._fenced.setdefault(number, set()).update(mine)

    def loaded(self, id: str) -> None:
        """The request's chunks have been read. Changes: the pool."""
        del self.loads[id]
        self.pool.load_done(self._reading.pop(id))

    def stored(self, job: int) -> None:
        """The store is done: its chunks can be found. Changes: the pool."""
        self._fenced.pop(job, None)
        self.pool.store_done(self.stores.pop(job).keys)

    # --- stores

    def _offer(self, request: Computed, job: ChunkJob) -> None:
        """Offer the full chunks that the step completes and that are still new."""
        size = self._chunk_blocks
        known = min(request.computed, len(request.names) * self._size)
        if self._prompt_only:
            known = min(known, request.prompt_len)
        first = self._offered.get(request.id, 0)
        end = known // (self._size * size)
        keys = self._keys(request.names, end)
        if first >= end:
            return
        stored = self.pool.store(request.id, _places(keys[first:], first))
        verdict = stored is not None
        self._emit(ev.Offer, request.id, end - first, self.pool.free, verdict)
        if stored is None:
            return
        self._offered[request.id] = end
        for at, key in enumerate(keys):
            if key in stored.stored:
                job.keys.append(key)
                job.blocks += request.blocks[at * size : (at + 1) * size]

    def _keys(self, names: Sequence[BlockHash], count: int) -> list[Key]:
        """Return the keys of the first chunks: a chunk is named by its last block."""
        size = self._chunk_blocks
        ends = names[size - 1 : count * size : size]
        return [short_name(name) for name in ends]


def _places(keys: Sequence[Key], first: int) -> dict[Key, int]:
    return {key: at for at, key in enumerate(keys, first)}
