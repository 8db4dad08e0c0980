"""Which chunks stay on the CPU when the offloading connector runs out of room?

The pool keeps chunks by key. A chunk whose store is pending, or that is being read,
cannot be evicted; a store that cannot make room is refused as a whole. Who goes first
is the policy's to say (chunk_order.py). Left out: when the connector offers and reads
chunks; vLLM's bound of 64,000 keys whose offers it counts.
Source: vLLM 0.33.0, v1/kv_offload/cpu/manager.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import chain
from typing import NamedTuple

from ..block_config import ChunkPolicy
from ..record import block_events as ev
from ..record.chunk_state import Key
from ..record.trace import QUIET, Emitter
from .chunk_order import ArcOrder, ChunkOrder, Lists, LruOrder, Use


class Answer(StrEnum):
    """What a lookup says of one chunk; pending: its store is not done."""

    HIT = "HIT"
    PENDING = "HIT_PENDING"
    MISS = "MISS"


class Stored(NamedTuple):
    """What a store took in, and what had to go for it."""

    stored: list[Key]
    evicted: list[Key]


class ChunkPool:
    """A CPU pool of `num_chunks` chunks.

    `store_threshold` n above 1 stores a chunk the n-th time it is offered. A chunk's
    entry in `refs` is -1 while its store is pending, else how often it is being read.

    >>> pool = ChunkPool(2)
    >>> pool.store("r1", {1: 0, 2: 1}), pool.store("r2", {3: 0})
    (Stored(stored=[1, 2], evicted=[]), None)
    >>> pool.store_done([1, 2]); pool.store("r2", {3: 0})
    Stored(stored=[3], evicted=[2])
    """

    def __init__(
        self,
        num_chunks: int,
        policy: ChunkPolicy = "lru",
        store_threshold: int = 0,
        emit: Emitter = QUIET,
    ) -> None:
        self.num_chunks = num_chunks
        self.policy: ChunkPolicy = policy
        self.refs: dict[Key, int] = {}
        order = ArcOrder if policy == "arc" else LruOrder
        self.order: ChunkOrder = order(num_chunks, self._is_ready, emit)
        self._threshold = store_threshold
        self._offers: Counter[Key] = Counter()
        self._uses: dict[str, Use] = {}
        self._emit = emit

    # --- questions

    @property
    def lists(self) -> Lists:
        """The orders of the policy."""
        return self.order.lists

    @property
    def free(self) -> int:
        """Chunks that nothing occupies."""
        return self.num_chunks - len(self.refs)

    @property
    def evictable(self) -> int:
        """Chunks that could go. Cost: O(chunks)."""
        return sum(ref == 0 for ref in self.refs.values())

    @property
    def write_pending(self) -> int:
        """Chunks whose store is not done. Cost: O(chunks)."""
        return sum(ref == -1 for ref in self.refs.values())

    def lookup(self, keys: Iterable[Key]) -> list[Answer]:
        """Say of each key whether its chunk is here. Changes nothing."""
        return [self._answer(key) for key in keys]

    def wants(self, key: Key) -> bool:
        """Is the key not here, and was it offered often enough?"""
        often = self._threshold <= 1 or self._offers[key] >= self._threshold
        return often and key not in self.refs

    # --- changes

    def store(self, request: str, positions: dict[Key, int]) -> Stored | None:
        """Make room for the chunks that are not here yet; None if there is none.

        Changes: on success the chunks are here, their stores pending; in any case
        offers count, and the request has asked for what is here. The request's own
        chunks are not evicted for each other.
        """
        use = self._use(request, positions)
        if self._threshold > 1:
            self._offers.update(positions.keys())
        wanted = [key for key in positions if self.wants(key)]
        missed = [key for key in wanted if key not in use.missed]
        if missed:
            self.order.missed(missed)
            use.missed.update(missed)
        found = [key for key in positions if self._is_ready(key)]
        self._ask(use, [key for key in positions if key in {*wanted, *found}], found)
        evicted = self._evict(len(wanted) - self.free, kept=positions)
        if evicted is None:
            return None
        self._hold(wanted, -1)
        if wanted:
            self.order.insert(use, wanted)
        use.stored.update(wanted)
        return Stored(wanted, evicted)

    def store_done(self, keys: Iterable[Key], *, ok: bool = True) -> None:
        """The stores are done; those that failed leave nothing behind."""
        pending = [key for key in dict.fromkeys(keys) if self.refs.get(key) == -1]
        self._hold(pending, 0 if ok else None)
        if not ok:
            self.order.remove(pending)

    def load(self, request: str, positions: dict[Key, int]) -> None:
        """The chunks are being read. Changes: refs, the order."""
        for key in positions:
            self._hold([key], self.refs[key] + 1)
        self._ask(self._use(request, positions), list(positions), positions)

    def load_done(self, keys: Iterable[Key]) -> None:
        """The chunks have been read. Changes: refs."""
        for key in keys:
            self._hold([key], self.refs[key] - 1)

    def touch(self, keys: Sequence[Key]) -> None:
        """The chunks were used. Changes: the order, and arc's shares."""
        self.order.touch(keys)

    def finish(self, request: str) -> None:
        """The request is over. Changes: the order: what it asked for is the last to
        go."""
        use = self._uses.pop(request, None)
        if use is not None:
            self.order.finish(use)

    def reset(self) -> None:
        """Drop everything. Changes: all of it but the offers."""
        self._hold(list(self.refs), None)
        self.order.clear()
        self._uses.clear()

    def check(self) -> None:
        """Print the lists and raise AssertionError if they are not what is here."""
        listed: Sequence[Key] = list(chain(self.lists.t1, self.lists.t2))
        sound = sorted(map(str, listed)) == sorted(map(str, self.refs))
        if not sound or self.free < 0:
            print(self.lists, self.refs, sep="\n")
        assert sound, "the lists and the chunks differ"
        assert self.free >= 0, f"{len(self.refs)} chunks in {self.num_chunks} places"

    # --- the terms

    def _answer(self, key: Key) -> Answer:
        if key not in self.refs:
            return Answer.MISS
        return Answer.HIT if self._is_ready(key) else Answer.PENDING

    def _is_ready(self, key: Key) -> bool:
        return self.refs.get(key, -1) >= 0

    def _use(self, request: str, positions: dict[Key, int]) -> Use:
        use = self._uses.setdefault(request, Use())
        use.positions.update(positions)
        return use

    def _ask(self, use: Use, keys: Sequence[Key], found: Iterable[Key]) -> None:
        """The request asks for the keys, of which some are found here."""
        fresh = [key for key in keys if key not in use.seen]
        use.seen.update(dict.fromkeys(fresh))
        if fresh:
            self.order.asked(use, fresh)
        use.read.update(key for key in found if key not in use.stored)

    def _evict(self, count: int, kept: dict[Key, int]) -> list[Key] | None:
        """Evict `count` chunks that nobody holds, or none at all and return None."""
        if count <= 0:
            return []
        evicted = self.order.evict(
            count, lambda key: self.refs[key] == 0 and key not in kept
        )
        if evicted is not None:
            for key in evicted:
                self._hold([key], None)
        return evicted

    def _hold(self, keys: Sequence[Key], ref: int | None) -> None:
        for key in keys:
            if ref is None:
                del self.refs[key]
            else:
                self.refs[key] = ref
        if keys:
            self._emit(ev.ChunkHold, tuple(keys), ref)
