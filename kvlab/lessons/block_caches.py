"""How many blocks of a trace does a cache of so many blocks hit?

Three reference procedures over block ids, with one global pool and no time: *flat LRU*
(an ordered map), *leaf-LRU* (only a leaf outside the request's own path may go, as in a
radix tree) and *Belady* (the block that is needed last goes; nobody can do better). A
hit is a block of the leading run that is resident when its request comes.
Left out: an engine's own tree, pages and locks (run/replay_trace.py).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import islice
from typing import Any, NamedTuple

from msgspec import Struct

from ..record.request_trace import TracedRequest

NEVER = 1 << 62

Hits = Iterator[int]
Procedure = Callable[[Sequence[TracedRequest], int], Hits]


class Figures(Struct, frozen=True):
    """What a procedure came to. Units: `hits`, `blocks` blocks; the others tokens, a
    hit of a prompt's last block counting what the prompt has of it."""

    hits: int
    blocks: int
    hit_tokens: int
    tokens: int

    @property
    def ratio(self) -> float:
        """Hits per block asked for."""
        return self.hits / self.blocks

    @property
    def token_ratio(self) -> float:
        """The same, weighted by tokens."""
        return self.hit_tokens / self.tokens


def count(
    procedure: Procedure, requests: Sequence[TracedRequest], capacity: int,
    *, start: int = 0,
) -> Figures:  # fmt: skip
    """Return what a cache of `capacity` blocks comes to, from request `start` on; the
    cache is filled by those before. Cost: O(blocks log blocks)."""
    hits = tokens = 0
    shown = requests[start:]
    for request, run in zip(
        shown, islice(procedure(requests, capacity), start, None), strict=True
    ):
        hits += run
        tokens += min(request.block * run, request.input_length)
    return Figures(
        hits, sum(len(request.hash_ids) for request in shown), tokens,
        sum(request.input_length for request in shown),
    )  # fmt: skip


def flat_lru(requests: Iterable[TracedRequest], capacity: int) -> Hits:
    """Yield each request's hits in an ordered map of block ids, touched root first.

    >>> asks = [TracedRequest(0, 1024, 1, ids) for ids in ((1, 2), (1, 3), (1, 2))]
    >>> list(flat_lru(asks, 3)), list(flat_lru(asks, 2))
    ([0, 1, 2], [0, 1, 1])
    """
    held: OrderedDict[int, None] = OrderedDict()
    for request in requests:
        yield _leading(request.hash_ids, held)
        for block in request.hash_ids:
            if block in held:
                held.move_to_end(block)
                continue
            held[block] = None
            if len(held) > capacity:
                held.popitem(last=False)


class Block(NamedTuple):
    """A block as a key of `leaf_cache` sees it, at its last use.

    Units: `depth` blocks above it, `prompt` blocks of the request; `hits` how often it
    was found resident; `created`, `last_use` numbers of accesses.
    """

    depth: int
    prompt: int
    hits: int
    created: int
    last_use: int


def leaf_lru(requests: Iterable[TracedRequest], capacity: int) -> Hits:
    """Yield each request's hits in a tree of blocks where only leaves are evicted, the
    least recently touched first, none of the request's own path."""
    return leaf_cache(requests, capacity, lambda block: block.last_use)


def leaf_cache(
    requests: Iterable[TracedRequest], capacity: int, key: Callable[[Block], Any]
) -> Hits:
    """Yield the same for any order of eviction: the leaf with the smallest key goes.

    `key` is asked at each use of a block. Blocks that find no place are not kept.
    """
    tree = _Tree(capacity, key)
    for request in requests:
        yield _leading(request.hash_ids, tree.blocks)
        tree.take(request.hash_ids)


class _Tree:
    """The resident blocks of a leaf cache; a block's rank is its key, `at` its heap
    entry's number."""

    def __init__(self, capacity: int, key: Callable[[Block], Any]) -> None:
        self.blocks: dict[int, Block] = {}
        self._capacity, self._key = capacity, key
        self._above: dict[int, int | None] = {}
        self._below: dict[int, int] = {}
        self._rank: dict[int, Any] = {}
        self._leaves: list[tuple[Any, int, int]] = []
        self._clock = 0

    def take(self, ids: Sequence[int]) -> None:
        """Touch a request's blocks, root first. Changes: the tree."""
        path, above = set(ids), None
        for depth, id in enumerate(ids):
            self._clock += 1
            old = self.blocks.get(id)
            if old is None:
                if len(self.blocks) >= self._capacity and not self._evict(path):
                    return
                self._above[id], self._below[id] = above, 0
                if above is not None:
                    self._below[above] += 1
            hits, created = (old.hits + 1, old.created) if old else (0, self._clock)
            block = Block(depth, len(ids), hits, created, self._clock)
            self.blocks[id], self._rank[id] = block, self._key(block)
            self._offer(id)
            above = id

    def _offer(self, id: int) -> None:
        if not self._below[id]:
            use = self.blocks[id].last_use
            heappush(self._leaves, (self._rank[id], use, id))

    def _evict(self, path: set[int]) -> bool:
        """Remove the leaf with the smallest key; False if all lie on the path."""
        kept = []
        found = None
        while self._leaves and found is None:
            entry = heappop(self._leaves)
            _, use, id = entry
            block = self.blocks.get(id)
            if block is None or block.last_use != use or self._below[id]:
                continue
            if id in path:
                kept.append(entry)
            else:
                found = id
        for entry in kept:
            heappush(self._leaves, entry)
        if found is not None:
            self._remove(found)
        return found is not None

    def _remove(self, id: int) -> None:
        """Remove a leaf; its parent may become one."""
        above = self._above.pop(id)
        del self.blocks[id], self._below[id], self._rank[id]
        if above is not None:
            self._below[above] -= 1
            self._offer(above)


def belady(requests: Sequence[TracedRequest], capacity: int) -> Hits:
    """Yield each request's hits if the block that is needed last always goes.

    A block is needed no later than those below it, so with ties the deepest goes.
    """
    nexts = _next_uses(requests)
    due: dict[int, int] = {}
    latest: list[tuple[int, int, int]] = []
    at = 0
    for request in requests:
        yield _leading(request.hash_ids, due)
        for depth, block in enumerate(request.hash_ids):
            due[block] = nexts[at]
            heappush(latest, (-nexts[at], -depth, block))
            at += 1
            while len(due) > capacity:
                when, _, last = heappop(latest)
                if due.get(last) == -when:
                    del due[last]


def _next_uses(requests: Sequence[TracedRequest]) -> list[int]:
    """Return for each access the number of the next one to that block."""
    blocks = [block for request in requests for block in request.hash_ids]
    nexts = [NEVER] * len(blocks)
    seen: dict[int, int] = {}
    for at in range(len(blocks) - 1, -1, -1):
        nexts[at] = seen.get(blocks[at], NEVER)
        seen[blocks[at]] = at
    return nexts


def _leading(blocks: Iterable[int], held: Container[int]) -> int:
    run = 0
    for block in blocks:
        if block not in held:
            break
        run += 1
    return run
