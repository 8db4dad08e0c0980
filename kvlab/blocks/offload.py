"""How does a block come to lie on the CPU, and how does it come back?

L2 is a second block pool. Nothing in L1 is demoted: blocks are *copied* while they are
safe in L1, early or late:

        eager: what a request has computed by the last step, at once
        lazy:  what stands near the head of L1's free queue, before it is evicted

A block under copy has the connector as one more owner, on both tiers, so L1 looks
fuller than its requests make it until the copy is done.
Left out: which requests may load (schedule/block_scheduler.py); how long copies take.
Source: vLLM 0.33.0, v1/simple_kv_offload/manager.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from ..block_config import BlockConfig, L2Config
from ..pages import NO_PAGES, as_pages
from ..record import block_events as ev
from ..record.trace import QUIET, Emitter
from .block_pool import BlockPool
from .connector import Computed, Copies, Pairs
from .hashing import BlockHash


@dataclass
class Job:
    """One store: its pairs, and the names that the L2 blocks will have."""

    pairs: Pairs = field(default_factory=lambda: Pairs([], []))
    names: list[BlockHash] = field(default_factory=list)

    def append(self, other: Job) -> None:
        """Take over another job's blocks, behind one's own. Changes: the pairs."""
        self.pairs.l1.extend(other.pairs.l1)
        self.pairs.l2.extend(other.pairs.l2)
        self.names.extend(other.names)


class CpuOffload:
    """The L2 pool and the copies between it and L1.

    `pending`: L2 blocks found and pinned for a request that has not started to load.
    """

    def __init__(
        self, config: BlockConfig, l1: BlockPool, emit: Emitter = QUIET
    ) -> None:
        l2 = config.l2 or L2Config(num_cpu_blocks=1)
        self.l1 = l1
        self.l2 = BlockPool("L2", l2.num_cpu_blocks, emit, tell=l1.tell)
        self.block_size = config.block_size
        self.pending: dict[str, list[int]] = {}
        self.loads: dict[str, Pairs] = {}
        self.stores: dict[int, Job] = {}
        self._lazy = l2.lazy
        self._target = 2 * -(-config.max_num_batched_tokens // config.block_size)
        self._cursor: int | None = None
        self._offered: dict[str, int] = {}
        self._storing: set[int] = set()
        self._new_loads: dict[str, Pairs] = {}
        self._next = Job()
        self._number = 0
        self._emit = emit

    # --- admission

    def matched(
        self, id: str, names: Sequence[BlockHash], length: int, local: int
    ) -> int:
        """Return how many tokens beyond the `local` ones L2 can give the request.

        What is found is pinned until the load starts, or until the next call: also
        while the request cannot be admitted. Changes: L2's ref_cnt, its queue.
        """
        self._unpin(id)
        size = self.block_size
        found = self.l2.find_prefix(names[local // size : (length - 1) // size])
        if found:
            self.l2.share(found)
            self.pending[id] = found
            self._emit(ev.Pin, id, as_pages(found))
        return len(found) * size

    def started(self, id: str, blocks: Sequence[int], local: int) -> None:
        """The request was given `blocks`: begin the load behind `local` tokens.

        Changes: L1's ref_cnt of the blocks to load into.
        """
        self._offered[id] = 0
        found = self.pending.pop(id, None)
        if found is None:
            return
        first = local // self.block_size
        pairs = Pairs(list(blocks[first : first + len(found)]), found)
        self.l1.share(pairs.l1)
        self.loads[id] = self._new_loads[id] = pairs
        self._emit(ev.CopyIn, id, as_pages(pairs.l1), as_pages(pairs.l2))

    # --- the step

    def plan(self, scheduled: Iterable[Computed], preempted: Collection[str]) -> Copies:
        """Return the copies that begin with this step.

        Changes: both pools; blocks to be stored get an owner on both.
        """
        left = self._next
        self._next = Job()
        if self._lazy:
            self._store_lazily()
        else:
            for request in sorted(scheduled, key=attrgetter("turn")):
                self._store(request)
        self._next.append(left)
        copies = Copies(self._new_loads, flush=bool(preempted))
        self._new_loads = {}
        if self._next.pairs.l1:
            copies.stores[self._number] = self._next.pairs
            self.stores[self._number], self._next = self._next, Job()
            self._number += 1
        return copies

    def finished(self, request: Computed) -> None:
        """The request is done, its blocks still its own: offer what is left of it.

        Changes: as a store; the copy begins with the next step.
        """
        self._unpin(request.id)
        if not self._lazy:
            self._store(request)
            self._offered.pop(request.id, None)

    def loaded(self, id: str) -> None:
        """The request's load is done. Changes: both pools lose the connector's hold."""
        pairs = self.loads.pop(id)
        self._emit(ev.CopiedIn, id)
        self.l2.release(pairs.l2)
        self.l1.release(pairs.l1)

    def stored(self, number: int) -> None:
        """The store is done: its blocks can be found in L2 and are nobody's."""
        job = self.stores.pop(number)
        self._emit(ev.CopiedOut, number)
        self._storing.difference_update(job.pairs.l1)
        self.l2.register(job.pairs.l2, job.names)
        self.l2.release(job.pairs.l2)
        self.l1.release(job.pairs.l1)

    # --- stores

    def _store(self, request: Computed) -> None:
        """Offer the request's confirmed blocks that were not offered before."""
        first, room = self._offered.get(request.id), self.l2.num_free
        if first is None or not room:
            return
        end, wanted = request.confirmed // self.block_size, list[int]()
        for block in request.blocks[first:end]:
            if self._is_new(block) and block not in wanted:
                if len(wanted) == room:
                    break
                wanted.append(block)
            first += 1
        self._offered[request.id] = first
        self._storing.update(wanted)
        self._begin(wanted)

    def _store_lazily(self) -> None:
        """Walk on through L1's free queue from where the last walk ended."""
        if self._cursor is not None and self.l1.ref_cnt[self._cursor]:
            self._cursor = None
        room, wanted = self.l2.num_free, list[int]()
        for block in self.l1.free_behind(self._cursor)[: self._target]:
            if len(wanted) == room:
                break
            self._cursor = block
            if self._is_new(block):
                wanted.append(block)
        self._begin(wanted)

    def _is_new(self, block: int) -> bool:
        """Has the block a name that neither L2 knows nor a copy is bringing there?"""
        name = self.l1.block_hash[block]
        return (
            name is not None
            and block not in self._storing
            and self.l2.find(name) is None
        )

    def _begin(self, blocks: list[int]) -> None:
        """Hold the blocks, and as many of L2, for the store that is being put
        together."""
        if not blocks:
            return
        names = [name for b in blocks if (name := self.l1.block_hash[b]) is not None]
        job = Job(Pairs(blocks, self.l2.take(len(blocks))), names)
        self.l1.share(blocks)
        self._emit(
            ev.CopyOut, self._number, as_pages(job.pairs.l1), as_pages(job.pairs.l2)
        )
        self._next.append(job)

    def _unpin(self, id: str) -> None:
        if (found := self.pending.pop(id, None)) is not None:
            self._emit(ev.Pin, id, NO_PAGES)
            self.l2.release(found)
