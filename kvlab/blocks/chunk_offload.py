"""When does vLLM's own offloading connector copy blocks to the CPU and back?

It is what `kv_offloading_size` selects. L2 is a pool of chunks, a block each, that
evicts by its own policy (chunk_pool.py); L1 never asks it for anything:

        step computes blocks -> offered at once, each once; unless told, only prompts
        request is over      -> what was not offered yet, in the step after
        lookup               -> consecutive chunks; one that is still being stored, or
                                being read for another request, is waited for

Blocks under copy get no owner, so L1 looks as full as its requests make it. But a copy
must end before its blocks are used again: those of a preempted request, or of one that
is over, when somebody is given them. The step then waits: a flush.
Left out: chunks of several blocks, loads within a step (sync_load_budget_bytes), caps
by request, disks and remote stores.
Source: vLLM 0.33.0, distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from ..block_config import BlockConfig, L2Config
from ..pages import as_pages
from ..record import block_events as ev
from ..record.chunk_state import Key
from ..record.trace import QUIET, Emitter
from .block_pool import BlockPool
from .chunk_pool import Answer, ChunkPool, Stored
from .connector import Computed, Copies, Pairs
from .hashing import BlockHash


@dataclass
class ChunkJob:
    """One store of a request: the chunks, and their blocks on both tiers.

    `fenced`: its request is over, so others may be given its blocks.
    """

    id: str
    names: dict[Key, BlockHash]
    pairs: Pairs
    fenced: bool = False


@dataclass
class Progress:
    """How much of a request was offered, and how much of its table was seen.

    Units: blocks.
    """

    offered: int = 0
    seen: int = 0


class ChunkOffload:
    """The pool of chunks beside L1, and the copies between them.

    `l2` says which block of the CPU holds which chunk; who goes first is `pool`'s to
    say, not the order of its queue. `pending`: requests for which chunks were found
    and no load has begun.
    """

    def __init__(
        self, config: BlockConfig, l1: BlockPool, emit: Emitter = QUIET
    ) -> None:
        l2 = config.l2 or L2Config(num_cpu_blocks=2, connector="offloading")
        places = l2.num_cpu_blocks - 1
        self.l2 = BlockPool("L2", l2.num_cpu_blocks, emit, tell=l1.tell)
        self.pool = ChunkPool(places, l2.eviction_policy, l2.store_threshold, emit)
        self.pending: dict[str, list[Key]] = {}
        self.loads: dict[str, Pairs] = {}
        self.stores: dict[int, ChunkJob] = {}
        self.places: dict[Key, int] = {}
        self._key = l1.tell
        self._size = config.block_size
        self._prompt_only = l2.offload_prompt_only
        self._fresh = places
        self._reading: dict[str, list[Key]] = {}
        self._progress: dict[str, Progress] = {}
        self._given: set[int] = set()
        self._ended: list[Computed] = []
        self._new_loads: dict[str, Pairs] = {}
        self._number = 0
        self._emit = emit

    # --- admission

    def matched(
        self, id: str, names: Sequence[BlockHash], length: int, local: int
    ) -> int | None:
        """Return the tokens beyond `local` that consecutive chunks hold; None if one
        of them is being stored, or read for another request, or if a store of this
        request's is under way.

        The whole prompt may be found: its last token is computed again. Changes
        nothing in the pool.
        """
        if any(job.id == id for job in self.stores.values()):
            return None
        first, found = local // self._size, list[Key]()
        keys = [self._key(name) for name in names[first : length // self._size]]
        for key, answer in zip(keys, self.pool.lookup(keys), strict=True):
            if answer is Answer.PENDING:
                return None
            if answer is Answer.MISS:
                break
            found.append(key)
        if not set(found).isdisjoint(chain.from_iterable(self._reading.values())):
            return None
        self.pending.pop(id, None)
        if found:
            self.pending[id] = found
        return len(found) * self._size

    def started(self, id: str, blocks: Sequence[int], local: int) -> None:
        """The request was given `blocks`: begin to read what was matched.

        Changes: the pool; the chunks are held until they are read.
        """
        self._given.update(blocks)
        found = self.pending.pop(id, None)
        if found is None:
            return
        first = local // self._size
        end = first + len(found)
        self.pool.load(id, {key: at for at, key in enumerate(found, first)})
        self._reading[id] = found
        self._of(id).offered = end
        pairs = Pairs(list(blocks[first:end]), [self.places[key] for key in found])
        self.l2.share(pairs.l2)
        self.loads[id] = self._new_loads[id] = pairs
        self._number += 1
        self._emit(ev.CopyIn, id, as_pages(pairs.l1), as_pages(pairs.l2))

    # --- the step

    def plan(self, scheduled: Iterable[Computed], preempted: Collection[str]) -> Copies:
        """Return the copies that begin with this step, and those that must end first.

        Changes: the pool; a store that it refuses is offered again in the next step.
        """
        requests, ended = list(scheduled), self._ended
        for request in requests:
            progress = self._of(request.id)
            self._given.update(request.blocks[progress.seen :])
            progress.seen = len(request.blocks)
        copies = Copies(self._new_loads, flushed=self._must_end(preempted))
        for id in preempted:
            self._progress.pop(id, None)
        for request in requests:
            self._offer(request, copies)
        for request in ended:
            self._offer(request, copies, fenced=True)
        for request in ended:
            self._progress.pop(request.id, None)
            self.pool.finish(request.id)
        self._given, self._ended, self._new_loads = set(), [], {}
        return copies

    def finished(self, request: Computed) -> None:
        """The request is over: fence its blocks that are still being copied."""
        self.pending.pop(request.id, None)
        self._ended.append(request)
        for job in self.stores.values():
            job.fenced |= job.id == request.id

    def loaded(self, id: str) -> None:
        """The request's chunks have been read. Changes: the pool."""
        pairs = self.loads.pop(id)
        self._emit(ev.CopiedIn, id)
        self.pool.load_done(self._reading.pop(id))
        self.l2.release(pairs.l2)

    def stored(self, number: int) -> None:
        """The store is done: its chunks can be found. Changes: the pool."""
        job = self.stores.pop(number)
        self._emit(ev.CopiedOut, number)
        self.pool.store_done(job.names)
        self.l2.register(job.pairs.l2, list(job.names.values()))
        self.l2.release(job.pairs.l2)

    # --- stores

    def _of(self, id: str) -> Progress:
        return self._progress.setdefault(id, Progress())

    def _must_end(self, preempted: Collection[str]) -> set[int]:
        """Return the stores under way whose blocks are given up or given away."""
        return {
            number
            for number, job in self.stores.items()
            if job.id in preempted
            or (job.fenced and not self._given.isdisjoint(job.pairs.l1))
        }

    def _offer(
        self, request: Computed, copies: Copies, *, fenced: bool = False
    ) -> None:
        """Offer the full blocks that are computed by the end of the step and new."""
        progress, known = self._of(request.id), request.computed
        if self._prompt_only:
            known = min(known, request.prompt_len)
        end = min(known // self._size, progress.seen, len(request.names))
        fresh = request.names[progress.offered : end]
        names: dict[Key, BlockHash] = {self._key(name): name for name in fresh}
        if not names:
            return
        positions = {key: at for at, key in enumerate(names, progress.offered)}
        free, stored = self.pool.free, self.pool.store(request.id, positions)
        if stored is None:
            wanted = sum(self.pool.wants(key) for key in names)
            self._emit(ev.Offer, request.id, wanted, free, False)
            return
        progress.offered = end
        if not stored.stored:
            return
        self._emit(ev.Offer, request.id, len(stored.stored), free, True)
        pairs = Pairs(
            [request.blocks[positions[key]] for key in stored.stored],
            self._place(stored),
        )
        chosen = {key: names[key] for key in stored.stored}
        number, self._number = self._number, self._number + 1
        self.stores[number] = ChunkJob(request.id, chosen, pairs, fenced)
        copies.stores[number] = pairs
        self._emit(ev.CopyOut, number, as_pages(pairs.l1), as_pages(pairs.l2))
        if fenced and not self._given.isdisjoint(pairs.l1):
            copies.flushed.add(number)

    def _place(self, stored: Stored) -> list[int]:
        """Return blocks of L2 for the chunks: those never used, then those of the
        evicted, the last evicted first. Changes: `l2`."""
        wanted = len(stored.stored)
        fresh = self.l2.take(min(wanted, self._fresh))
        self._fresh -= len(fresh)
        for key in stored.evicted:
            gone = [self.places.pop(key)]
            self.l2.share(gone)
            self.l2.forget(gone)
            self.l2.release(gone)
        self.l2.num_evicted += len(stored.evicted)
        blocks = fresh + self.l2.take(wanted - len(fresh))
        self.places |= zip(stored.stored, blocks, strict=True)
        return blocks
